// SPDX-License-Identifier: Apache-2.0
//
// rxe_peer: the kernel's end of a test of our endpoint (harness/tools/roce_endpoint.c): an
// unreliable connection of Linux' RDMA over Ethernet, by libibverbs. What is written to it with
// immediate data it compares with what that message has to be, and writes back, each byte XOR
// PEER_XOR, to the same offset.
//
//     rxe_peer GID ADDRESS QPN RKEY [renew]      of the other end: its IPv4 address and numbers
//
// Prints "peer QPN PSN RKEY ADDRESS", and at SIGTERM "messages N wrong W renewed R". With "renew"
// the queue pair begins anew when nothing has come for half a second: rxe takes no message any more
// once one that is written in several packets had no end.
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/verbs.h>

#include "roce_peers.h"

#define RECEIVES 64

static volatile sig_atomic_t over;

static void peer_end(int signal) {
    (void)signal;
    over = 1;
}

static void peer_die(const char *what) {
    perror(what);
    exit(1);
}

struct peer {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_mr *mr, *answers;
    struct ibv_qp *qp;
    uint8_t *memory, *answer;
    int gid;
    uint32_t address, qpn, rkey; // the other's
    uint32_t psn;                // of the next packet to send
    unsigned long messages, wrong, renewed;
};

static void peer_make(struct peer *p) {
    int n = 0;
    struct ibv_device **list = ibv_get_device_list(&n);
    if (n < 1 || !(p->context = ibv_open_device(list[0])))
        peer_die("no device");
    p->pd = ibv_alloc_pd(p->context);
    p->cq = ibv_create_cq(p->context, 4 * RECEIVES, NULL, NULL, 0);
    p->memory = aligned_alloc(4096, PEER_MEMORY);
    p->answer = aligned_alloc(4096, PEER_MEMORY);
    memset(p->memory, 0, PEER_MEMORY);
    p->mr =
        ibv_reg_mr(p->pd, p->memory, PEER_MEMORY, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    p->answers = ibv_reg_mr(p->pd, p->answer, PEER_MEMORY, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_qp_init_attr init = {.send_cq = p->cq,
                                    .recv_cq = p->cq,
                                    .qp_type = IBV_QPT_UC,
                                    .sq_sig_all = 1,
                                    .cap = {RECEIVES, 2 * RECEIVES, 1, 1, 0}};
    p->qp = ibv_create_qp(p->pd, &init);
    if (!p->mr || !p->answers || !p->qp)
        peer_die("no queue pair");
}

static void peer_receive(struct peer *p) {
    struct ibv_recv_wr wr = {.wr_id = 1}, *bad;
    if (ibv_post_recv(p->qp, &wr, &bad))
        peer_die("ibv_post_recv");
}

// From whatever it is to one that receives and sends.
static void peer_connect_it(struct peer *p) {
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    struct ibv_qp_attr init = {
        .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
                              .dest_qp_num = p->qpn,
                              .rq_psn = 0,
                              .path_mtu = IBV_MTU_1024,
                              .ah_attr = {.is_global = 1,
                                          .port_num = 1,
                                          .grh = {.sgid_index = (uint8_t)p->gid, .hop_limit = 64}}};
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .sq_psn = p->psn & 0xffffff};
    uint8_t *gid = rtr.ah_attr.grh.dgid.raw;
    gid[10] = gid[11] = 0xff;
    memcpy(gid + 12, &p->address, 4);
    if (ibv_modify_qp(p->qp, &reset, IBV_QP_STATE) ||
        ibv_modify_qp(p->qp, &init,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ||
        ibv_modify_qp(p->qp, &rtr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                          IBV_QP_RQ_PSN) ||
        ibv_modify_qp(p->qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN))
        peer_die("ibv_modify_qp");
    for (int i = 0; i < RECEIVES; i++)
        peer_receive(p);
}

static void peer_answer(struct peer *p, uint32_t m) {
    const uint32_t length = peer_length(m), at = peer_offset(m);
    for (uint32_t i = 0; i < length; i++) {
        p->wrong += p->memory[at + i] != peer_byte(m, i);
        p->answer[at + i] = p->memory[at + i] ^ PEER_XOR;
    }
    struct ibv_sge part = {(uintptr_t)p->answer + at, length, p->answers->lkey};
    struct ibv_send_wr wr = {.wr_id = 2,
                             .sg_list = &part,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                             .imm_data = htonl(m),
                             .wr.rdma = {.remote_addr = at, .rkey = p->rkey}},
                       *bad;
    if (ibv_post_send(p->qp, &wr, &bad))
        peer_die("ibv_post_send");
    p->psn += (length + 1023) / 1024;
    p->messages++;
}

static double peer_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void peer_serve(struct peer *p, bool renew) {
    double since = peer_now();
    while (!over) {
        struct ibv_wc wc;
        const int n = ibv_poll_cq(p->cq, 1, &wc);
        if (n < 0)
            peer_die("ibv_poll_cq");
        if (n > 0 && wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
            peer_receive(p);
            peer_answer(p, ntohl(wc.imm_data));
            since = peer_now();
        }
        if (n == 0 && renew && p->messages && peer_now() - since > 0.5) {
            peer_connect_it(p);
            p->renewed++;
            since = peer_now();
        }
        if (n == 0)
            nanosleep(&(struct timespec){0, 200000}, NULL);
    }
}

int main(int argc, char **argv) {
    struct peer p = {.gid = argc > 4 ? atoi(argv[1]) : 0};
    if (argc < 5 || inet_pton(AF_INET, argv[2], &p.address) != 1)
        return 2;
    p.qpn = (uint32_t)strtoul(argv[3], NULL, 0);
    p.rkey = (uint32_t)strtoul(argv[4], NULL, 0);
    signal(SIGTERM, peer_end);
    peer_make(&p);
    peer_connect_it(&p);
    printf("peer %u 0 %u %llu\n", p.qp->qp_num, p.mr->rkey,
           (unsigned long long)(uintptr_t)p.memory);
    fflush(stdout);
    peer_serve(&p, argc > 5);
    printf("messages %lu wrong %lu renewed %lu\n", p.messages, p.wrong, p.renewed);
    return p.wrong > 0;
}
