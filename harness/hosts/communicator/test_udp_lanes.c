// SPDX-License-Identifier: Apache-2.0
//
// Lanes of a communicator on one device udp:, each with a thread and sockets of its own, on the
// loopback interface. The job has one worker, so a switch sends each packet back as it came: here a
// socket for each of the switch's ports, one by one or as segments. Sums are the worker's tensors;
// every lane's packets come to that lane's port, and counters can be asked for meanwhile.
#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "hosts/transport/segments.h"
#include "silken/allreduce.h"

#define LANES 3u
#define PORT  0xbee0u
#define COUNT 50000u
#define LARGE 65536u

struct echo {
    struct sockaddr_in at[LANES];
    int fd[LANES];
    _Atomic uint64_t messages[LANES];
    _Atomic bool over;
    bool joins; // what came as one goes as one
    pthread_t thread;
};

static struct echo echo;
static char ours[32], theirs[32];
static uint8_t message[LARGE];

// As one message, or each datagram apart.
static void echo_send(int fd, const struct sockaddr_in *to, uint32_t length, uint32_t size) {
    union sk_segments_control control;
    struct iovec part = {message, length};
    struct msghdr m = {.msg_name = (void *)(uintptr_t)to,
                       .msg_namelen = sizeof *to,
                       .msg_iov = &part,
                       .msg_iovlen = 1};

    if (echo.joins && size < length) {
        sk_segments_put(&m, &control, (uint16_t)size);
        if (sendmsg(fd, &m, 0) == (ssize_t)length)
            return;
    }
    m.msg_control = NULL;
    m.msg_controllen = 0;
    for (uint32_t at = 0; at < length; at += size) {
        part = (struct iovec){message + at, length - at < size ? length - at : size};
        sendmsg(fd, &m, 0); // one that is lost is asked for again
    }
}

static void echo_one(unsigned lane) {
    union sk_segments_control control;
    struct sockaddr_in from;
    struct iovec part = {message, sizeof message};
    struct msghdr m = {.msg_name = &from,
                       .msg_namelen = sizeof from,
                       .msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control.room,
                       .msg_controllen = sizeof control.room};
    const ssize_t n = recvmsg(echo.fd[lane], &m, MSG_DONTWAIT);
    struct sk_segments s;

    if (n <= 0 || !sk_segments_received(&s, &m, (uint32_t)n))
        return;
    atomic_fetch_add(&echo.messages[lane], 1);
    echo_send(echo.fd[lane], &from, (uint32_t)n, s.size);
}

static void *echo_run(void *aux) {
    struct pollfd fds[LANES];

    (void)aux;
    for (unsigned i = 0; i < LANES; i++)
        fds[i] = (struct pollfd){.fd = echo.fd[i], .events = POLLIN};
    while (!atomic_load(&echo.over)) {
        poll(fds, LANES, 10);
        for (unsigned i = 0; i < LANES; i++)
            if (fds[i].revents)
                echo_one(i);
    }
    return NULL;
}

static void echo_start(bool joins) {
    const unsigned host = (unsigned)getpid() & 0xffff;
    int on = 1, size = 4 << 20;

    memset(&echo, 0, sizeof echo);
    echo.joins = joins;
    snprintf(ours, sizeof ours, "127.%u.%u.31", host >> 8, host & 255);
    snprintf(theirs, sizeof theirs, "127.%u.%u.32", host >> 8, host & 255);
    for (unsigned i = 0; i < LANES; i++) {
        echo.at[i] = (struct sockaddr_in){.sin_family = AF_INET,
                                          .sin_port = htons((uint16_t)(PORT + i)),
                                          .sin_addr.s_addr = inet_addr(theirs)};
        echo.fd[i] = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        assert_int_not_equal(-1, echo.fd[i]);
        setsockopt(echo.fd[i], SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
        setsockopt(echo.fd[i], IPPROTO_UDP, SK_UDP_GRO, &on, sizeof on);
        assert_int_equal(0,
                         bind(echo.fd[i], (const struct sockaddr *)&echo.at[i], sizeof echo.at[i]));
    }
    assert_int_equal(0, pthread_create(&echo.thread, NULL, echo_run, NULL));
}

static void echo_stop(void) {
    atomic_store(&echo.over, true);
    pthread_join(echo.thread, NULL);
    for (unsigned i = 0; i < LANES; i++)
        close(echo.fd[i]);
}

static struct silken_config config_of(uint32_t lanes) {
    struct silken_config c;

    silken_config_init(&c);
    c.workers = 1;
    c.pool_size = 96;
    c.no_session = true;
    c.device = "udp:";
    c.worker_ip = ours;
    c.switch_ip = theirs;
    c.lanes = lanes;
    return c;
}

static struct silken_comm *open_or_fail(const struct silken_config *c) {
    struct silken_comm *comm = NULL;
    char why[256];

    if (silken_open(&comm, c, why, sizeof why) != 0)
        fail_msg("%s", why);
    return comm;
}

static _Atomic bool asking;

// Somebody else looks at the counters all the time.
static void *ask(void *comm) {
    struct silken_stats stats;
    uint64_t sent, received;

    while (atomic_load(&asking)) {
        silken_stats(comm, &stats);
        silken_segments(comm, &sent, &received);
    }
    return NULL;
}

static void sum_with(bool joins, bool single) {
    struct silken_config c = config_of(LANES);
    uint64_t sent, received;
    struct silken_comm *comm;
    pthread_t asker;
    int32_t *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out);

    assert_true(in && out);
    echo_start(joins);
    c.no_segments = single;
    comm = open_or_fail(&c);
    atomic_store(&asking, true);
    assert_int_equal(0, pthread_create(&asker, NULL, ask, comm));
    for (int round = 0; round < 10; round++) {
        const size_t n = round == 0 ? 1 : COUNT - (size_t)round;
        for (size_t i = 0; i < n; i++)
            in[i] = (int32_t)(i * 7919u) - round;
        memset(out, 0xee, n * sizeof *out);
        assert_int_equal(0, silken_allreduce_i32(comm, in, out, n));
        assert_memory_equal(in, out, n * sizeof *out);
    }
    atomic_store(&asking, false);
    pthread_join(asker, NULL);
    silken_segments(comm, &sent, &received);
    if (single)
        assert_int_equal(0, sent);
    if (single || !joins)
        assert_int_equal(0, received);
    silken_close(comm);
    echo_stop();
    for (unsigned i = 0; i < LANES; i++)
        assert_true(atomic_load(&echo.messages[i]) > 0);
    free(in);
    free(out);
}

static void test_lanes_sum(void **state) {
    (void)state;
    sum_with(true, false);
    sum_with(false, false);
    sum_with(true, true);
}

static void refused(struct silken_config c, const char *says) {
    struct silken_comm *comm;
    char why[256] = "";

    assert_int_equal(SILKEN_ERR_INVALID, silken_open(&comm, &c, why, sizeof why));
    if (!strstr(why, says))
        fail_msg("\"%s\" does not say \"%s\"", why, says);
}

static void test_refused_lanes(void **state) {
    struct silken_config c = config_of(16);

    (void)state;
    echo_start(true);
    silken_close(open_or_fail(&c));
    c.switch_port++;
    refused(c, "16 lanes from port 48865 on do not fit");
    c = config_of(17);
    refused(c, "of 48864 to 48879");
    c = config_of(2);
    c.device = "afpacket:lo";
    refused(c, "unless the device is udp:");
    c = config_of(2);
    c.pool_size = 1;
    refused(c, "not enough for 2 lanes");
    echo_stop();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_sum),
        cmocka_unit_test(test_refused_lanes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
