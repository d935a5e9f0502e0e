// SPDX-License-Identifier: Apache-2.0
//
// The process that carries a lab's frames: each cable is two links of the simulator, in real time,
// between packet sockets at the far ends of both stations' interfaces. The jobs of hosts run in it,
// at their ends of the links. It writes result.json every second and when the jobs are over, with
// "state" besides what `silken sim --json` writes.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/lab/lab.h"
#include "cli/lab/place.h"
#include "control/socket/socket.h"
#include "sim/real.h"
#include "sim/result.h"

#define TAG           4u // bytes of a tag
#define BURST         32
#define SECONDS       2                   // for a switch to answer
#define LONG_NS       UINT64_C(200000000) // between two looks at whether it is to end
#define REPORT_NS     UINT64_C(1000000000)
#define SOCKET_BUFFER (8 << 20)

struct carrier {
    struct lab *lab;
    int *sockets; // by link: where it ends, and where what goes into its other half comes from
    int epoll;
    struct epoll_event ready[BURST]; // sockets with frames
    int n_ready, at_ready;
    unsigned from_one; // frames taken from the first of these
    uint8_t frame[TAG + SIM_MAX_FRAME + 1], *first;
    uint64_t began, reported;
    const char *state;
    int orders; // to the lab's process
};

static volatile sig_atomic_t carrier_ended;
static void carrier_on_end(int signal) {
    (void)signal;
    carrier_ended = 1;
}

// ---- what the run asks for ----

static uint64_t carrier_now(void *aux) {
    const struct carrier *c = aux;
    return (uint64_t)((double)(sk_clock_now() - c->began) / c->lab->slower);
}

static bool carrier_leave(void *aux, uint32_t link, const uint8_t *frame, uint32_t length) {
    const struct carrier *c = aux;
    return send(c->sockets[link], frame, length, MSG_DONTWAIT) == (ssize_t)length;
}

// The kernel takes the first tag of 802.1Q out of a frame before packet sockets see it. The length
// with the tag back in its place; -1: there is no frame.
static ssize_t carrier_receive(struct carrier *c, int socket) {
    struct iovec part = {c->frame + TAG, sizeof c->frame - TAG};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
    } control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    const ssize_t n = recvmsg(socket, &message, MSG_DONTWAIT | MSG_TRUNC);
    c->first = c->frame + TAG;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(&message); n >= ETH_HLEN && h;
         h = CMSG_NXTHDR(&message, h)) {
        struct tpacket_auxdata aux;
        if (h->cmsg_level != SOL_PACKET || h->cmsg_type != PACKET_AUXDATA)
            continue;
        memcpy(&aux, CMSG_DATA(h), sizeof aux);
        if (!(aux.tp_status & TP_STATUS_VLAN_VALID))
            continue;
        const bool has_type = aux.tp_status & TP_STATUS_VLAN_TPID_VALID;
        const uint16_t tag[2] = {htons(has_type ? aux.tp_vlan_tpid : ETH_P_8021Q),
                                 htons(aux.tp_vlan_tci)};
        c->first = c->frame;
        memmove(c->frame, c->frame + TAG, 12);
        memcpy(c->frame + 12, tag, TAG);
        return n + (ssize_t)TAG;
    }
    return n;
}

// A socket gives a burst and then the next one has its turn; epoll names those that have more.
static bool carrier_enter(void *aux, uint32_t *link, const uint8_t **frame, uint32_t *length) {
    struct carrier *c = aux;
    while (c->at_ready < c->n_ready) {
        const uint32_t end = c->ready[c->at_ready].data.u32;
        const ssize_t n = carrier_receive(c, c->sockets[end]);
        if (n < 0 || ++c->from_one == BURST) {
            c->at_ready++;
            c->from_one = 0;
        }
        if (n < ETH_HLEN || n > SIM_MAX_FRAME)
            continue;
        *link = end ^ 1; // what comes from where a link ends goes into the one that leads back
        *frame = c->first;
        *length = (uint32_t)n;
        return true;
    }
    return false;
}

static void carrier_tell(struct carrier *c) {
    struct sk_error err;
    json_t *result = sim_result(c->lab->sim);
    json_object_set_new(result, "state", json_string(c->state));
    json_object_set_new(result, "slower", json_real(c->lab->slower));
    if (place_write(c->lab->folder, "result.json", result, &err) < 0)
        fprintf(stderr, "%s\n", err.text);
    json_decref(result);
    c->reported = sk_clock_now();
}

static bool carrier_rest(void *aux, uint64_t until) {
    struct carrier *c = aux;
    const uint64_t now = carrier_now(c);
    uint64_t left = until <= now ? 0 : LONG_NS;
    if (until > now && (double)(until - now) * c->lab->slower < LONG_NS)
        left = (uint64_t)((double)(until - now) * c->lab->slower);
    const struct timespec time = {.tv_nsec = (long)left};
    c->n_ready = epoll_pwait2(c->epoll, c->ready, BURST, &time, NULL);
    c->at_ready = 0;
    if (strcmp(c->state, "running") == 0 && sk_clock_now() - c->reported > REPORT_NS)
        carrier_tell(c);
    return !carrier_ended;
}

static void carrier_power(void *aux, uint32_t station, bool on) {
    const struct carrier *c = aux;
    struct sk_error err;
    char line[32];
    if (on && lab_switch_configure(c->lab, station, &err) < 0)
        sim_violate(c->lab->sim, NULL, "%s", err.text);
    const int n = snprintf(line, sizeof line, "%u%c\n", station, on ? '+' : '-');
    if (write(c->orders, line, (size_t)n) != n)
        carrier_ended = 1; // the lab is not there any more
}

static json_t *carrier_ask(void *aux, uint32_t station, json_t *request, struct sk_error *err) {
    const struct carrier *c = aux;
    char path[256];
    lab_path(c->lab, c->lab->sc->stations[station].name, ".sock", path);
    struct sk_client *client = sk_client_open_within(path, SECONDS, err);
    json_t *reply = client ? sk_client_call(client, request, err) : NULL;
    if (!client)
        json_decref(request);
    sk_client_close(client);
    return reply;
}

static void carrier_over(void *aux) {
    struct carrier *c = aux;
    if (c->lab->sim->violated)
        sim_tell(c->lab->sim, c->lab->o->file, stderr);
    fflush(stderr);
    c->state = c->lab->o->jobs ? "done" : "none";
    carrier_tell(c);
}

// ---- sockets ----

static int carrier_socket(const char *interface) {
    const int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    const struct sockaddr_ll at = {.sll_family = AF_PACKET,
                                   .sll_protocol = htons(ETH_P_ALL),
                                   .sll_ifindex = (int)if_nametoindex(interface)};
    const int one = 1, bytes = SOCKET_BUFFER;
    if (fd < 0)
        return -1;
    // the first is a privilege; what the second gives has to do without it
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) < 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    if (at.sll_ifindex &&
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) == 0 &&
        setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof one) == 0 &&
        bind(fd, (const struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

static int carrier_open(struct carrier *c, struct sk_error *err) {
    const struct lab *l = c->lab;
    c->sockets = calloc(l->sim->n_links + 1, sizeof *c->sockets);
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!c->sockets || c->epoll < 0)
        abort();
    spaces_enter(&l->spaces, lab_carrier_space(l));
    int status = 0;
    for (uint32_t link = 0; link < l->sim->n_links && status == 0; link++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = link};
        char name[LAB_INTERFACE];
        lab_far_end(link, name);
        c->sockets[link] = carrier_socket(name);
        if (c->sockets[link] < 0 ||
            epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->sockets[link], &event) < 0)
            status = sk_fail(err, "cannot open %s: %s", name, strerror(errno));
    }
    spaces_leave(&l->spaces);
    return status;
}

// ---- the process ----

static int carrier_main(struct lab *l, int orders) {
    struct carrier c = {.lab = l, .orders = orders, .state = l->o->jobs ? "running" : "none"};
    const struct sim_real real = {.now = carrier_now,
                                  .leave = carrier_leave,
                                  .enter = carrier_enter,
                                  .rest = carrier_rest,
                                  .power = carrier_power,
                                  .ask = carrier_ask,
                                  .over = carrier_over,
                                  .aux = &c};
    const struct sigaction end = {.sa_handler = carrier_on_end};
    struct sk_error err;
    sigset_t none;
    char log[256];
    sigaction(SIGTERM, &end, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    lab_path(l, "carrier", ".log", log);
    if (!freopen(log, "a", stderr) || setvbuf(stderr, NULL, _IONBF, 0))
        return 1;
    if (carrier_open(&c, &err) < 0) {
        if (write(orders, err.text, strlen(err.text)) < 0)
            fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    if (write(orders, "ready", 5) != 5)
        return 1;
    c.began = sk_clock_now();
    carrier_tell(&c);
    real_run(l->sim, &real);
    if (strcmp(c.state, "running") == 0) {
        c.state = "ended";
        carrier_tell(&c);
    }
    return 0;
}

int lab_carrier_start(struct lab *l, struct sk_error *err) {
    char said[400] = "";
    int orders[2];
    if (pipe2(orders, O_CLOEXEC) < 0)
        return sk_fail(err, "no descriptor is left for the cables");
    l->carrier = fork();
    if (l->carrier == 0) {
        close(orders[0]);
        _exit(carrier_main(l, orders[1]));
    }
    close(orders[1]);
    l->ordered = orders[0];
    if (l->carrier < 0)
        return sk_fail(err, "no process is left for the cables");
    // that its sockets are open, or why they are not
    const ssize_t n = read(orders[0], said, 5); // orders may follow at once
    if (n == 5 && strcmp(said, "ready") == 0)
        return 0;
    if (n == 5 && read(orders[0], said + 5, sizeof said - 6) < 0)
        said[5] = 0;
    return sk_fail(err, "the cables: %s", n > 0 ? said : "their process has ended");
}
