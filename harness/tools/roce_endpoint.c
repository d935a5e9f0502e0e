// SPDX-License-Identifier: Apache-2.0
//
// roce_endpoint: our endpoint of RoCEv2 (hosts/roce/frame.h, pair.h) against Linux' RDMA over
// Ethernet (harness/guests/rxe_peer.c): writes messages to it, one after the other, takes what it
// writes back, and compares every byte.
//
//     roce_endpoint INTERFACE MAC/IP PEER-MAC/IP QPN RKEY ADDRESS MESSAGES SECONDS HARM SEED
//         [short]
//
// QPN, RKEY and ADDRESS are the peer's. One of HARM frames (0: none), in each direction, is lost,
// sent twice, held back behind the next one (only what we send), or has a bit changed. A message
// without an answer is sent again, with new numbers. With "short" messages have one packet. Prints
// "verified: ..." and ends with status 0 if all have been answered within SECONDS.
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/if_packet.h>

#include "harness/guests/roce_peers.h"
#include "hosts/roce/frame.h"
#include "hosts/roce/pair.h"

#define OUR_QPN    0x321u
#define OUR_RKEY   0x53494c4bu
#define AGAIN_MS   300
#define PAYLOAD    1024u
#define ETHER_IPV4 0x0800

struct frame {
    uint8_t bytes[2048];
    size_t length;
};

struct run {
    int fd;
    struct sk_endpoint us, them;
    uint32_t qpn, rkey, psn, harm;
    uint64_t address, random;
    struct frame held; // of those to send
    struct roce_memory memory;
    struct roce_inbox inbox;
    uint64_t sent, again, harmed, damaged, heard[ROCE_REASON_COUNT], wrong;
};

static uint32_t endpoint_draw(struct run *r, uint32_t below) {
    r->random = r->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->random >> 33) % below;
}

static void endpoint_put_out(struct run *r, const struct frame *f) {
    if (send(r->fd, f->bytes, f->length, 0) < 0 && errno != ENOBUFS) {
        perror("send");
        exit(1);
    }
}

// Gives the frame to 'sink', harmed or not; 'held' is one that waits for the next.
static void endpoint_pass(struct run *r, struct frame *f, struct frame *held,
                          void (*sink)(struct run *, const struct frame *)) {
    const uint32_t kind = r->harm && endpoint_draw(r, r->harm) == 0 ? endpoint_draw(r, 4) : 4;
    r->harmed += kind < 4;
    if (kind == 0)
        return;
    if (kind == 2 && held && held->length == 0) {
        *held = *f;
        return;
    }
    r->damaged += kind == 3 && held;
    if (kind == 3)
        f->bytes[14 + endpoint_draw(r, (uint32_t)f->length - 14)] ^=
            (uint8_t)(1u << endpoint_draw(r, 8));
    sink(r, f);
    if (kind == 1)
        sink(r, f);
    if (held && held->length > 0) {
        sink(r, held);
        held->length = 0;
    }
}

static void endpoint_send(struct run *r, uint32_t m) {
    const uint32_t length = peer_length(m), packets = (length + PAYLOAD - 1) / PAYLOAD;
    uint8_t body[PEER_ROOM];
    for (uint32_t i = 0; i < length; i++)
        body[i] = peer_byte(m, i);
    for (uint32_t n = 0; n < packets; n++) {
        const bool last = n == packets - 1;
        struct roce_packet p = {
            .opcode = packets == 1 ? ROCE_WRITE_ONLY_IMMEDIATE
                      : n == 0     ? ROCE_WRITE_FIRST
                      : last       ? ROCE_WRITE_LAST_IMMEDIATE
                                   : ROCE_WRITE_MIDDLE,
            .qpn = r->qpn,
            .psn = r->psn++ & ROCE_PSN_MASK,
            .address = r->address + peer_offset(m),
            .rkey = r->rkey,
            .length = length,
            .immediate = {(uint8_t)(m >> 24), (uint8_t)(m >> 16), (uint8_t)(m >> 8), (uint8_t)m},
            .payload = body + n * PAYLOAD,
            .bytes = last ? length - n * PAYLOAD : PAYLOAD};
        struct frame f;
        f.length = roce_frame_write(f.bytes, &r->us, &r->them, &p);
        r->sent++;
        endpoint_pass(r, &f, &r->held, endpoint_put_out);
    }
}

static uint32_t answered; // the last whole message's number; 0: none yet

static void endpoint_take(struct run *r, const struct frame *f) {
    struct roce_packet p;
    bool whole = false;
    enum roce_reason why = roce_frame_read(f->bytes, f->length, &r->us, &r->them, &p);
    if (why == ROCE_ACCEPTED && p.qpn != OUR_QPN)
        why = ROCE_UNKNOWN_PAIR;
    if (why == ROCE_ACCEPTED)
        why = roce_inbox_take(&r->inbox, &r->memory, &p, &whole);
    r->heard[why]++;
    if (whole)
        answered = (uint32_t)p.immediate[0] << 24 | (uint32_t)p.immediate[1] << 16 |
                   (uint32_t)p.immediate[2] << 8 | p.immediate[3];
}

static uint64_t endpoint_now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

// Whether the answer to message m is there in time.
static bool endpoint_await(struct run *r, uint32_t m, uint64_t until) {
    while (answered != m) {
        const uint64_t now = endpoint_now_ms();
        struct pollfd p = {.fd = r->fd, .events = POLLIN};
        struct sockaddr_ll from;
        socklen_t size = sizeof from;
        struct frame f;
        if (now >= until)
            return false;
        if (poll(&p, 1, (int)(until - now)) <= 0)
            continue;
        const ssize_t n =
            recvfrom(r->fd, f.bytes, sizeof f.bytes, 0, (struct sockaddr *)&from, &size);
        if (n <= 14 || from.sll_pkttype == PACKET_OUTGOING)
            continue;
        f.length = (size_t)n;
        endpoint_pass(r, &f, NULL, endpoint_take);
    }
    return true;
}

static bool endpoint_exchange(struct run *r, uint32_t m, uint64_t end) {
    bool good = false;
    for (uint64_t tries = 0; !good && endpoint_now_ms() < end; tries++) {
        r->again += tries > 0;
        endpoint_send(r, m);
        good = endpoint_await(r, m, endpoint_now_ms() + AGAIN_MS * (tries < 4 ? tries + 1 : 5));
    }
    for (uint32_t i = 0; good && i < peer_length(m); i++)
        r->wrong += r->memory.bytes[peer_offset(m) + i] != (peer_byte(m, i) ^ PEER_XOR);
    return good;
}

static bool endpoint_of(char *text, struct sk_endpoint *e) {
    char *ip = strchr(text, '/');
    if (!ip)
        return false;
    *ip++ = '\0';
    return sk_endpoint_parse(e, text, ip, ROCE_UDP_PORT);
}

static int endpoint_open(const char *interface) {
    const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETHER_IPV4));
    struct sockaddr_ll a = {.sll_family = AF_PACKET,
                            .sll_protocol = htons(ETHER_IPV4),
                            .sll_ifindex = (int)if_nametoindex(interface)};
    return fd >= 0 && a.sll_ifindex && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 ? fd : -1;
}

static void endpoint_report(const struct run *r, unsigned long done) {
    printf("%s: %lu messages, wrong bytes %llu, packets %llu, messages again %llu, frames harmed "
           "%llu, damaged on the way out %llu;",
           r->wrong ? "WRONG" : "verified", done, (unsigned long long)r->wrong,
           (unsigned long long)r->sent, (unsigned long long)r->again, (unsigned long long)r->harmed,
           (unsigned long long)r->damaged);
    for (unsigned i = 0; i < ROCE_REASON_COUNT; i++)
        if (r->heard[i])
            printf(" %s %llu", roce_reason_name((enum roce_reason)i),
                   (unsigned long long)r->heard[i]);
    printf("\n");
}

int main(int argc, char **argv) {
    static uint8_t memory[PEER_MEMORY];
    struct run r = {.memory = {memory, sizeof memory, OUR_RKEY}};
    if (argc < 11 || !endpoint_of(argv[2], &r.us) || !endpoint_of(argv[3], &r.them) ||
        (r.fd = endpoint_open(argv[1])) < 0) {
        fprintf(stderr, "roce_endpoint: wrong arguments, or no interface: %s\n", strerror(errno));
        return 2;
    }
    r.qpn = (uint32_t)strtoul(argv[4], NULL, 0);
    r.rkey = (uint32_t)strtoul(argv[5], NULL, 0);
    r.address = strtoull(argv[6], NULL, 0);
    const unsigned long messages = strtoul(argv[7], NULL, 0);
    const uint64_t end = endpoint_now_ms() + 1000 * strtoull(argv[8], NULL, 0);
    r.harm = (uint32_t)strtoul(argv[9], NULL, 0);
    r.random = strtoull(argv[10], NULL, 0);
    const uint32_t first = 1 | (argc > 11 ? PEER_SHORT : 0);
    unsigned long done = 0;
    while (done < messages && endpoint_exchange(&r, first + (uint32_t)done, end))
        done++;
    endpoint_report(&r, done);
    return done == messages && r.wrong == 0 ? 0 : 1;
}
