// SPDX-License-Identifier: Apache-2.0
//
// The memif driver with a peer of ours (raw.h): right, and wrong in every field of messages and of
// memory, by seed. Whatever the peer does, the device lives, nothing behind the region is read or
// written, and the next peer is served.
//
//     test_memif [--seeds N]     N of each kind (2,000; QUICK=1: 300)
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "harness/memif/raw.h"
#include "memif/memif_impl.h"

#define ROOM   9216u
#define FRAMES 32u

static unsigned seeds = 2000;
static char folder[] = "/tmp/silken-memif-XXXXXX";
static char path[64];
static char said[MEMIF_LINE];
static uint64_t lines;

static void hear_line(void *aux, const char *line) {
    (void)aux;
    snprintf(said, sizeof said, "%s", line);
    lines++;
}

// ---- devices ----

static uint8_t room[FRAMES][ROOM + 64];
static struct memif_frame frames[FRAMES];

static struct memif *open_device(const char *arguments) {
    struct memif_options o;
    char text[256], error[200] = "";
    snprintf(text, sizeof text, "socket=%s,socket-abstract=no,%s", path, arguments);
    assert_true(memif_options_parse(text, &o, error, sizeof error));
    o.say = hear_line;
    struct memif *m = memif_open(&o, error, sizeof error);
    if (!m)
        fail_msg("%s", error);
    return m;
}

static bool wait_link(const struct memif *m, bool up) {
    for (int i = 0; i < 5000 && memif_link(m) != up; i++)
        usleep(1000);
    return memif_link(m) == up;
}

// What came in is copied whole, and has bytes from inside the region only.
static unsigned receive(struct memif *m) {
    for (unsigned i = 0; i < FRAMES; i++) {
        frames[i] = (struct memif_frame){room[i], 0};
        memset(room[i] + ROOM, 0xA5, 64);
    }
    const unsigned n = memif_receive(m, 0, frames, FRAMES, ROOM);
    assert_true(n <= FRAMES);
    for (unsigned i = 0; i < n; i++) {
        assert_in_range(frames[i].length, 1, ROOM);
        for (unsigned j = 0; j < 64; j++)
            assert_int_equal(room[i][ROOM + j], 0xA5);
    }
    return n;
}

static void assert_inside(unsigned n) {
    for (unsigned i = 0; i < n; i++)
        assert_null(memchr(frames[i].data, RAW_OUTSIDE, frames[i].length));
}

static unsigned send_frames(struct memif *m, unsigned n, uint32_t length) {
    for (unsigned i = 0; i < n; i++) {
        frames[i] = (struct memif_frame){room[i], length};
        memset(room[i], 0x11, length);
    }
    return memif_send(m, frames, n);
}

static void assert_outside_untouched(const struct raw *r) {
    for (uint32_t i = RAW_SIZE; i < RAW_FILE; i++)
        if (r->at[i] != RAW_OUTSIDE)
            fail_msg("byte %u behind the region was written", (unsigned)(i - RAW_SIZE));
}

// A client that is connected. The device may have its last peer still for a moment.
static void connect_client(struct memif *m, struct raw *r) {
    bool up = false;
    for (int i = 0; i < 5000 && !up; i++) {
        assert_true(raw_client(r, path));
        up = raw_connect(r, 0);
        if (!up) {
            raw_close(r);
            usleep(1000);
        }
    }
    assert_true(up && wait_link(m, true));
}

// A well-behaved client: frames there and back.
static void client_works(struct memif *m) {
    struct raw r;
    connect_client(m, &r);
    r.s2m->desc[0].length = 60;
    __atomic_store_n(&r.s2m->head, 1, __ATOMIC_RELEASE);
    assert_int_equal(receive(m), 1);
    assert_int_equal(frames[0].length, 60);
    assert_int_equal(room[0][59], RAW_INSIDE);
    assert_int_equal(r.s2m->tail, 1);
    assert_int_equal(send_frames(m, 4, 100), 0); // there are no buffers yet
    __atomic_store_n(&r.m2s->head, RAW_SLOTS, __ATOMIC_RELEASE);
    assert_int_equal(send_frames(m, 4, 100), 4);
    assert_int_equal(r.m2s->tail, 4);
    assert_int_equal(r.m2s->desc[3].length, 100);
    raw_close(&r);
    assert_true(wait_link(m, false));
}

// ---- a right peer ----

static void test_client(void **state) {
    struct memif *m = open_device("role=server");
    (void)state;
    for (int i = 0; i < 20; i++)
        client_works(m);
    memif_close(m);
    assert_int_equal(access(path, F_OK), -1);
}

// Frames longer than a buffer, both ways, around the ring's end.
static void test_chains(void **state) {
    struct memif *m = open_device("role=server");
    struct raw r;
    (void)state;
    connect_client(m, &r);
    for (unsigned round = 0; round < 40; round++) {
        const uint16_t at = (uint16_t)(round * 5);
        for (unsigned i = 0; i < 5; i++) {
            struct memif_desc *d = &r.s2m->desc[(at + i) % RAW_SLOTS];
            d->flags = i < 4 ? MEMIF_CHAINED : 0;
            d->length = i < 4 ? 2048 : 100;
        }
        __atomic_store_n(&r.s2m->head, (uint16_t)(at + 3), __ATOMIC_RELEASE);
        assert_int_equal(receive(m), 0); // its end is to come
        __atomic_store_n(&r.s2m->head, (uint16_t)(at + 5), __ATOMIC_RELEASE);
        assert_int_equal(receive(m), 1);
        assert_int_equal(frames[0].length, 4 * 2048 + 100);
        for (unsigned i = 0; i < RAW_SLOTS; i++)
            r.m2s->desc[i].length = RAW_BUFFER;
        __atomic_store_n(&r.m2s->head, (uint16_t)(at + 4), __ATOMIC_RELEASE);
        assert_int_equal(send_frames(m, 1, 9000), 0); // too few, and they stay as they are
        assert_int_equal(r.m2s->desc[at % RAW_SLOTS].length, RAW_BUFFER);
        __atomic_store_n(&r.m2s->head, (uint16_t)(at + 5), __ATOMIC_RELEASE);
        assert_int_equal(send_frames(m, 1, 9000), 1);
        assert_int_equal(r.m2s->tail, at + 5);
        assert_int_equal(r.m2s->desc[(at + 4) % RAW_SLOTS].length, 9000 - 4 * 2048);
    }
    assert_outside_untouched(&r);
    raw_close(&r);
    memif_close(m);
}

// Both roles are ours.
static void test_both_ends(void **state) {
    struct memif *client = open_device("role=client,rsize=4,bsize=64");
    struct memif *server = open_device("role=server");
    (void)state;
    assert_true(wait_link(server, true) && wait_link(client, true));
    for (unsigned i = 0, got = 0; i < 1000; i++, got = 0) {
        const unsigned sent = send_frames(i & 1 ? client : server, 1 + i % FRAMES, 1 + i % 700);
        assert_true(sent > 0);
        while (got < sent) {
            const unsigned n = receive(i & 1 ? server : client);
            assert_true(n > 0);
            assert_int_equal(frames[0].length, 1 + i % 700);
            got += n;
        }
    }
    // longer than all buffers together
    struct memif_counts counts;
    assert_int_equal(send_frames(server, 1, 64 * 16 + 1), 1);
    memif_counts(server, &counts);
    assert_int_equal(counts.tx_errors, 1);
    // a server that comes back is found again
    memif_close(server);
    assert_true(wait_link(client, false));
    server = open_device("role=server");
    assert_true(wait_link(server, true) && wait_link(client, true));
    memif_close(client);
    assert_true(wait_link(server, false));
    memif_close(server);
}

static void test_secret_and_ids(void **state) {
    struct memif *one = open_device("role=server,id=1,secret=sesame"),
                 *two = open_device("role=server,id=2"),
                 *wrong = open_device("role=client,id=1,secret=sesamf");
    (void)state;
    for (int i = 0; i < 5000 && !strstr(said, "does not know the secret"); i++)
        usleep(1000);
    assert_non_null(strstr(said, "does not know the secret"));
    assert_false(memif_link(one));
    memif_close(wrong);
    struct memif *right = open_device("role=client,id=1,secret=sesame"),
                 *other = open_device("role=client,id=2");
    assert_true(wait_link(one, true) && wait_link(two, true));
    struct raw r;
    uint8_t answer[MEMIF_MESSAGE];
    struct raw_message init;
    assert_true(raw_client(&r, path));
    raw_step(&r, 0, 2, &init);
    assert_true(raw_say(&r, &init)); // it has a peer
    assert_int_equal(raw_hear(&r, answer), MEMIF_DISCONNECT);
    raw_close(&r);
    assert_true(memif_link(two));
    memif_close(right);
    memif_close(other);
    memif_close(one);
    memif_close(two);
}

// ---- memory that is not what it should be ----

static int make_memory(unsigned flags, unsigned seals) {
    const int fd = memfd_create("odd", flags | MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, flags & MFD_HUGETLB ? 2 << 20 : (off_t)RAW_FILE))
        return -1;
    if (seals)
        fcntl(fd, F_ADD_SEALS, seals);
    return fd;
}

static int lingering_socket(void) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct linger l = {.l_onoff = 1, .l_linger = 100};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
    return fd;
}

static void refused_memory(struct memif *m, int fd, uint64_t size, const char *why) {
    struct raw r;
    uint8_t answer[MEMIF_MESSAGE];
    if (fd < 0) // no huge pages in this kernel
        return;
    assert_true(raw_client(&r, path));
    for (unsigned step = 0; step < 2; step++) {
        struct raw_message message;
        raw_step(&r, step, 0, &message);
        if (step == 1) {
            message.fds[0] = fd;
            raw_put(message.bytes, MEMIF_AT_REGION_SIZE, 8, size);
        }
        assert_true(raw_say(&r, &message));
        assert_int_equal(raw_hear(&r, answer), step ? MEMIF_DISCONNECT : MEMIF_ACK);
    }
    answer[MEMIF_MESSAGE - 1] = 0;
    const char *text = (const char *)answer + MEMIF_AT_DISCONNECT_REASON;
    if (!strstr(text, why))
        fail_msg("'%s' and not '%s'", text, why);
    assert_false(memif_link(m));
    raw_close(&r);
    close(fd);
}

static void test_memory(void **state) {
    struct memif *m = open_device("role=server");
    (void)state;
    char fds[64];
    refused_memory(m, make_memory(MFD_ALLOW_SEALING, 0), RAW_SIZE, "not sealed");
    refused_memory(m, make_memory(MFD_ALLOW_SEALING, F_SEAL_GROW), RAW_SIZE, "not sealed");
    refused_memory(m, make_memory(MFD_ALLOW_SEALING | MFD_HUGETLB, F_SEAL_SHRINK), 2 << 20,
                   "huge pages");
    refused_memory(m, make_memory(MFD_ALLOW_SEALING, F_SEAL_SHRINK | F_SEAL_WRITE), RAW_SIZE,
                   "cannot be mapped");
    refused_memory(m, make_memory(MFD_ALLOW_SEALING, F_SEAL_SHRINK), RAW_FILE + 1, "shorter");
    refused_memory(m, make_memory(MFD_ALLOW_SEALING, F_SEAL_SHRINK), 0, "of 0 bytes");
    refused_memory(m, make_memory(MFD_ALLOW_SEALING, F_SEAL_SHRINK), UINT64_MAX, "bytes; all");
    refused_memory(m, make_memory(MFD_ALLOW_SEALING, F_SEAL_SHRINK), (UINT64_C(1) << 30) + 1,
                   "bytes; all");
    refused_memory(m, open("/dev/zero", O_RDWR | O_CLOEXEC), RAW_SIZE, "not sealed");
    refused_memory(m, eventfd(0, EFD_CLOEXEC), RAW_SIZE, "not sealed");
    refused_memory(m, lingering_socket(), RAW_SIZE, "not sealed");
    const int whole = make_memory(MFD_ALLOW_SEALING, F_SEAL_SHRINK);
    snprintf(fds, sizeof fds, "/proc/self/fd/%d", whole);
    refused_memory(m, open(fds, O_RDONLY | O_CLOEXEC), RAW_SIZE, "cannot be mapped");
    close(whole);
    client_works(m);
    memif_close(m);
}

// Truncated or with holes in mid-traffic.
static void test_truncated(void **state) {
    struct memif *m = open_device("role=server");
    struct raw r;
    (void)state;
    connect_client(m, &r);
    for (uint16_t i = 0; i < 500; i++) {
        assert_int_equal(ftruncate(r.memory, 0), -1);
        if (i % 5 == 0)
            assert_int_equal(fallocate(r.memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                       (off_t)RAW_BUFFERS / 4096 * 4096 + 4096, 64 * 4096),
                             0);
        r.s2m->desc[i % RAW_SLOTS].length = 1000;
        __atomic_store_n(&r.s2m->head, (uint16_t)(i + 1), __ATOMIC_RELEASE);
        assert_int_equal(receive(m), 1);
        r.m2s->desc[i % RAW_SLOTS].length = RAW_BUFFER;
        __atomic_store_n(&r.m2s->head, (uint16_t)(i + 1), __ATOMIC_RELEASE);
        assert_int_equal(send_frames(m, 1, 1000), 1);
    }
    raw_close(&r);
    memif_close(m);
}

// ---- bells ----

static void test_full_bell(void **state) {
    struct memif *m = open_device("role=server");
    struct raw r;
    uint64_t rung = 0;
    (void)state;
    connect_client(m, &r);
    r.m2s->flags = 0; // it sleeps
    __atomic_store_n(&r.m2s->head, 2, __ATOMIC_RELEASE);
    assert_int_equal(send_frames(m, 1, 60), 1);
    assert_int_equal(read(r.bells[1], &rung, sizeof rung), sizeof rung);
    assert_int_equal(rung, 1);
    const uint64_t full = UINT64_MAX - 1; // the next write(2) blocks
    assert_int_equal(write(r.bells[1], &full, sizeof full), sizeof full);
    alarm(20);
    assert_int_equal(send_frames(m, 1, 60), 1);
    alarm(0);
    raw_close(&r);
    memif_close(m);
}

// ---- peers that stay without saying who they are ----

static void test_silent(void **state) {
    struct memif *m = open_device("role=server");
    struct raw silent[40];
    (void)state;
    for (unsigned i = 0; i < 40; i++)
        assert_true(raw_client(&silent[i], path));
    client_works(m);
    for (unsigned i = 0; i < 40; i++)
        raw_close(&silent[i]);
    client_works(m);
    memif_close(m);
}

// ---- by seed ----

static uint64_t random_state;
static uint32_t any(uint32_t below) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % below);
}

static uint64_t odd_number(void) {
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   15,
                                   16,
                                   63,
                                   64,
                                   65,
                                   127,
                                   128,
                                   2047,
                                   2048,
                                   2049,
                                   RAW_RING,
                                   RAW_BUFFERS,
                                   RAW_SIZE - 1,
                                   RAW_SIZE,
                                   RAW_SIZE + 1,
                                   RAW_FILE,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x10000,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   UINT64_C(0x100000000),
                                   UINT64_MAX - RAW_SIZE,
                                   UINT64_MAX};
    const uint64_t n = odd[any(sizeof odd / sizeof *odd)];
    return any(4) ? n : n ^ any(UINT32_MAX);
}

// One thing about a message is not as it should be.
static void spoil(struct raw_message *m, const struct raw *r) {
    static const struct {
        uint8_t at, bytes;
    } fields[] = {{0, 2}, {2, 2}, {4, 2}, {4, 4},  {4, 8},  {6, 2},
                  {8, 1}, {8, 4}, {9, 8}, {12, 1}, {13, 2}, {33, 8}};
    const unsigned kind = any(10), f = any(sizeof fields / sizeof *fields);
    if (kind < 6)
        raw_put(m->bytes, fields[f].at, fields[f].bytes, odd_number());
    else if (kind == 6)
        m->bytes[any(MEMIF_MESSAGE)] ^= (uint8_t)(1 + any(255));
    else if (kind == 7)
        m->length = any(MEMIF_MESSAGE + 64);
    else if (kind == 8)
        m->n_fds = any(2) ? 0 : m->n_fds + 1 < RAW_FDS ? m->n_fds + 1 : m->n_fds;
    else
        m->fds[0] = any(2) ? r->bells[any(2)] : any(2) ? r->memory : r->fd;
    for (unsigned i = 1; i < m->n_fds; i++)
        m->fds[i] = r->memory;
    if (m->n_fds && m->fds[0] == 0)
        m->fds[0] = r->bells[0];
}

static void test_messages_by_seed(void **state) {
    struct memif *m = open_device("role=server");
    unsigned connected = 0;
    (void)state;
    for (unsigned seed = 0; seed < seeds; seed++) {
        struct raw r;
        uint8_t answer[MEMIF_MESSAGE];
        random_state = seed;
        assert_true(raw_client(&r, path));
        const unsigned spoilt = any(RAW_STEPS + 1);
        bool good = true;
        for (unsigned step = 0; step < RAW_STEPS && good; step++) {
            struct raw_message message;
            raw_step(&r, step, 0, &message);
            if (step == spoilt)
                spoil(&message, &r);
            good = raw_say(&r, &message) && raw_hear(&r, answer) != MEMIF_DISCONNECT;
        }
        connected += good;
        receive(m);
        send_frames(m, 4, 200);
        assert_outside_untouched(&r);
        raw_close(&r);
        assert_true(wait_link(m, false));
    }
    assert_true(connected > 0 && connected < seeds);
    client_works(m);
    memif_close(m);
}

// What a peer writes into memory, at random; now and then as it should be.
static void spoil_memory(const struct raw *r) {
    struct memif_head *ring = any(2) ? r->s2m : r->m2s;
    struct memif_desc *d = &ring->desc[any(RAW_SLOTS)];
    switch (any(12)) {
    case 0:
        ring->head = (uint16_t)odd_number();
        break;
    case 1:
        ring->tail = (uint16_t)odd_number();
        break;
    case 2:
        ring->flags = (uint16_t)odd_number();
        break;
    case 3:
        d->region = (uint16_t)odd_number();
        break;
    case 4:
        d->offset = (uint32_t)odd_number();
        break;
    case 5:
        d->length = (uint32_t)odd_number();
        break;
    case 6:
        for (unsigned i = 0; i < RAW_SLOTS; i++)
            ring->desc[i].flags = MEMIF_CHAINED;
        break;
    case 7:
        d->flags = (uint16_t)any(4);
        break;
    case 8:
        d->offset = RAW_SIZE - any(300);
        d->length = any(600);
        break;
    default:
        ring->head = (uint16_t)(ring->head + any(8));
    }
}

static void test_memory_by_seed(void **state) {
    struct memif *m = open_device("role=server");
    struct memif_counts counts;
    (void)state;
    for (unsigned seed = 0; seed < seeds; seed++) {
        struct raw r;
        random_state = seed;
        connect_client(m, &r);
        // what bytes of the rings are is anybody's guess: frames may be made of them
        for (unsigned i = 0; i < 100 && memif_link(m); i++) {
            const bool rings_are_sane = i < 1;
            spoil_memory(&r);
            const unsigned n = receive(m);
            if (rings_are_sane)
                assert_inside(n);
            send_frames(m, 1 + any(FRAMES), 1 + any(9000));
        }
        assert_outside_untouched(&r);
        raw_close(&r);
        assert_true(wait_link(m, false));
    }
    memif_counts(m, &counts);
    assert_true(counts.closed > seeds / 4);
    client_works(m);
    memif_close(m);
}

// The same of a server that we are the client of.
static void test_server_by_seed(void **state) {
    struct raw r = {.fd = -1, .listener = -1, .memory = -1, .bells = {-1, -1}};
    (void)state;
    assert_true(raw_server(&r, path));
    for (unsigned seed = 0; seed < seeds / 4; seed++) {
        struct memif *m = open_device("role=client,rsize=6,bsize=2048");
        random_state = seed;
        // the last one may have tried again before it was closed
        for (int tries = 5; !raw_serve(&r) && tries > 0; tries--)
            raw_close(&r);
        assert_true(wait_link(m, true));
        for (unsigned i = 0; i < 100 && memif_link(m); i++) {
            spoil_memory(&r);
            r.m2s->tail = any(4) ? (uint16_t)(r.m2s->tail + any(8)) : r.m2s->tail;
            receive(m);
            send_frames(m, 1 + any(FRAMES), 1 + any(9000));
        }
        memif_close(m);
        raw_close(&r);
    }
    raw_end(&r);
    unlink(path);
}

// ---- arguments ----

static void test_arguments(void **state) {
    static const char *const wrong[][2] = {
        {"role=king", "role is 'king', and must be server or client"},
        {"rsize=15", "rsize is '15', and must be 1 to 14"},
        {"rsize=0", "1 to 14"},
        {"bsize=63", "64 to 65535"},
        {"bsize=2k", "64 to 65535"},
        {"id=4294967296", "below 4294967296"},
        {"id=", "below 4294967296"},
        {"secret=1234567890123456789012345", "1 to 24 bytes"},
        {"zero-copy=yes", "must be no"},
        {"socket-abstract=perhaps", "yes or no"},
        {"mac=02:00:00:00:00", "an address like"},
        {"colour=red", "memif does not have it"},
    };
    struct memif_options o;
    char error[200];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(memif_options_parse(wrong[i][0], &o, error, sizeof error));
        if (!strstr(error, wrong[i][1]))
            fail_msg("%s: '%s'", wrong[i][0], error);
    }
    assert_true(memif_options_parse(",id=7,role=master,mac=02:00:00:00:00:0a,secret=s,zero-copy=no",
                                    &o, error, sizeof error));
    assert_true(o.server && o.id == 7 && o.abstract && o.log2_ring == 10 && o.buffer == 2048);
    assert_string_equal(o.socket, "/run/memif.sock");
    // an id of a socket is one device's
    struct memif *m = open_device("role=server,id=3");
    assert_true(memif_options_parse("role=server,id=3", &o, error, sizeof error));
    o.abstract = false;
    snprintf(o.socket, sizeof o.socket, "%s", path);
    assert_null(memif_open(&o, error, sizeof error));
    assert_non_null(strstr(error, "another device has id 3"));
    memif_close(m);
    o.server = false;
    o.must_connect = true;
    assert_null(memif_open(&o, error, sizeof error));
    assert_non_null(strstr(error, "no process listens at"));
}

int main(int argc, char **argv) {
    const char *quick = getenv("QUICK");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),      cmocka_unit_test(test_client),
        cmocka_unit_test(test_chains),         cmocka_unit_test(test_both_ends),
        cmocka_unit_test(test_secret_and_ids), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_truncated),      cmocka_unit_test(test_full_bell),
        cmocka_unit_test(test_silent),         cmocka_unit_test(test_messages_by_seed),
        cmocka_unit_test(test_memory_by_seed), cmocka_unit_test(test_server_by_seed),
    };
    seeds = argc == 3 && strcmp(argv[1], "--seeds") == 0 ? (unsigned)atoi(argv[2])
            : quick && strcmp(quick, "1") == 0           ? 300
                                                         : 2000;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.sock", folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
