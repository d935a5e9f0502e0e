// SPDX-License-Identifier: Apache-2.0
#include "harness/memif/raw.h"

#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

void raw_put(uint8_t *message, unsigned at, unsigned bytes, uint64_t value) {
    memcpy(message + at, &value, bytes);
}

uint64_t raw_get(const uint8_t *message, unsigned at, unsigned bytes) {
    uint64_t value = 0;
    memcpy(&value, message + at, bytes);
    return value;
}

bool raw_say(const struct raw *r, const struct raw_message *m) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(RAW_FDS * sizeof(int))] = {0};
    struct iovec part = {(void *)(uintptr_t)m->bytes, m->length};
    struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1};
    if (m->n_fds) {
        h.msg_control = control;
        h.msg_controllen = CMSG_SPACE(m->n_fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&h);
        c->cmsg_len = CMSG_LEN(m->n_fds * sizeof(int));
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(c), m->fds, m->n_fds * sizeof(int));
    }
    return sendmsg(r->fd, &h, MSG_NOSIGNAL) == (ssize_t)m->length;
}

static void raw_keep(struct raw *r, unsigned type, const uint8_t *message, int fd) {
    int *place = type == MEMIF_ADD_REGION                                    ? &r->memory
                 : raw_get(message, MEMIF_AT_RING_FLAGS, 2) & MEMIF_RING_S2M ? &r->bells[0]
                                                                             : &r->bells[1];
    if (*place >= 0)
        close(*place);
    *place = fd;
}

unsigned raw_hear(struct raw *r, uint8_t message[MEMIF_MESSAGE]) {
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {message, MEMIF_MESSAGE};
    struct msghdr h = {.msg_iov = &part,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    if (recvmsg(r->fd, &h, MSG_CMSG_CLOEXEC) != MEMIF_MESSAGE)
        return 0;
    const unsigned type = (unsigned)raw_get(message, MEMIF_AT_TYPE, 2);
    const struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    if (c && c->cmsg_type == SCM_RIGHTS) {
        int fd;
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
        raw_keep(r, type, message, fd);
    }
    return type;
}

// ---- both ----

static void raw_clear(struct raw *r) {
    const int listener = r->listener;
    *r = (struct raw){.fd = -1, .listener = listener, .memory = -1, .bells = {-1, -1}};
}

static void raw_patient(int fd) {
    const struct timeval patience = {.tv_sec = 5};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

void raw_close(struct raw *r) {
    const int fds[] = {r->fd, r->memory, r->bells[0], r->bells[1]};
    for (unsigned i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    if (r->at)
        munmap(r->at, r->size);
    raw_clear(r);
}

void raw_end(struct raw *r) {
    raw_close(r);
    if (r->listener >= 0)
        close(r->listener);
    r->listener = -1;
}

static struct sockaddr_un raw_address(const char *path) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strncpy(a.sun_path, path, sizeof a.sun_path - 1);
    return a;
}

// ---- a client ----

static void raw_lay_ring(struct memif_head *ring, unsigned first) {
    ring->cookie = MEMIF_COOKIE;
    ring->flags = MEMIF_MASK_BELL;
    for (unsigned i = 0; i < RAW_SLOTS; i++)
        ring->desc[i] = (struct memif_desc){
            .length = RAW_BUFFER, .offset = (uint32_t)(RAW_BUFFERS + (first + i) * RAW_BUFFER)};
}

static bool raw_make_memory(struct raw *r) {
    r->memory = memfd_create("raw", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    r->size = RAW_FILE;
    if (ftruncate(r->memory, RAW_FILE) || fcntl(r->memory, F_ADD_SEALS, F_SEAL_SHRINK))
        return false;
    void *at = mmap(NULL, RAW_FILE, PROT_READ | PROT_WRITE, MAP_SHARED, r->memory, 0);
    if (at == MAP_FAILED)
        return false;
    r->at = at;
    memset(r->at + RAW_BUFFERS, RAW_INSIDE, RAW_SIZE - RAW_BUFFERS);
    memset(r->at + RAW_SIZE, RAW_OUTSIDE, RAW_FILE - RAW_SIZE);
    r->s2m = at;
    void *second = r->at + RAW_RING;
    r->m2s = second;
    raw_lay_ring(r->s2m, 0);
    raw_lay_ring(r->m2s, RAW_SLOTS);
    r->bells[0] = eventfd(0, EFD_CLOEXEC);
    r->bells[1] = eventfd(0, EFD_CLOEXEC);
    return true;
}

bool raw_client(struct raw *r, const char *socket_path) {
    const struct sockaddr_un a = raw_address(socket_path);
    uint8_t hello[MEMIF_MESSAGE];
    r->listener = -1;
    raw_clear(r);
    if (!raw_make_memory(r))
        return false;
    r->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    raw_patient(r->fd);
    return connect(r->fd, (const struct sockaddr *)&a, sizeof a) == 0 &&
           raw_hear(r, hello) == MEMIF_HELLO;
}

void raw_step(const struct raw *r, unsigned step, uint32_t id, struct raw_message *out) {
    static const uint16_t types[RAW_STEPS] = {MEMIF_INIT, MEMIF_ADD_REGION, MEMIF_ADD_RING,
                                              MEMIF_ADD_RING, MEMIF_CONNECT};
    uint8_t *m = out->bytes;
    *out = (struct raw_message){.length = MEMIF_MESSAGE};
    raw_put(m, MEMIF_AT_TYPE, 2, types[step]);
    if (step == 0) {
        raw_put(m, MEMIF_AT_INIT_VERSION, 2, MEMIF_VERSION);
        raw_put(m, MEMIF_AT_INIT_ID, 4, id);
        memcpy(m + MEMIF_AT_INIT_NAME, "raw", 3);
    } else if (step == 1) {
        raw_put(m, MEMIF_AT_REGION_SIZE, 8, RAW_SIZE);
        out->fds[out->n_fds++] = r->memory;
    } else if (step < 4) {
        raw_put(m, MEMIF_AT_RING_FLAGS, 2, step == 2 ? MEMIF_RING_S2M : 0);
        raw_put(m, MEMIF_AT_RING_OFFSET, 4, step == 2 ? 0 : RAW_RING);
        raw_put(m, MEMIF_AT_RING_LOG2, 1, RAW_LOG2);
        out->fds[out->n_fds++] = r->bells[step - 2];
    }
}

bool raw_connect(struct raw *r, uint32_t id) {
    uint8_t answer[MEMIF_MESSAGE];
    for (unsigned step = 0; step < RAW_STEPS; step++) {
        struct raw_message m;
        raw_step(r, step, id, &m);
        if (!raw_say(r, &m) ||
            raw_hear(r, answer) != (step + 1 < RAW_STEPS ? MEMIF_ACK : MEMIF_CONNECTED))
            return false;
    }
    return true;
}

// ---- a server ----

bool raw_server(struct raw *r, const char *path) {
    const struct sockaddr_un a = raw_address(path);
    raw_clear(r);
    unlink(path);
    r->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    raw_patient(r->listener);
    return bind(r->listener, (const struct sockaddr *)&a, sizeof a) == 0 &&
           listen(r->listener, 8) == 0;
}

static bool raw_greet(struct raw *r) {
    struct raw_message hello = {.length = MEMIF_MESSAGE};
    r->fd = accept(r->listener, NULL, NULL);
    if (r->fd < 0)
        return false;
    raw_patient(r->fd);
    raw_put(hello.bytes, MEMIF_AT_TYPE, 2, MEMIF_HELLO);
    raw_put(hello.bytes, MEMIF_AT_HELLO_LEAST, 2, MEMIF_VERSION);
    raw_put(hello.bytes, MEMIF_AT_HELLO_MOST, 2, MEMIF_VERSION);
    raw_put(hello.bytes, MEMIF_AT_HELLO_LOG2_RING, 1, RAW_LOG2);
    return raw_say(r, &hello);
}

static bool raw_map(struct raw *r, const uint64_t places[2]) {
    struct stat st;
    if (fstat(r->memory, &st))
        return false;
    r->size = (uint64_t)st.st_size;
    void *at = mmap(NULL, r->size, PROT_READ | PROT_WRITE, MAP_SHARED, r->memory, 0);
    if (at == MAP_FAILED)
        return false;
    r->at = at;
    void *rings[] = {r->at + places[0], r->at + places[1]};
    r->s2m = rings[0];
    r->m2s = rings[1];
    return true;
}

bool raw_serve(struct raw *r) {
    uint8_t m[MEMIF_MESSAGE];
    uint64_t places[2] = {0};
    struct raw_message answer = {.length = MEMIF_MESSAGE};
    if (!raw_greet(r))
        return false;
    for (unsigned type; (type = raw_hear(r, m)) != MEMIF_CONNECT;) {
        if (type == MEMIF_ADD_RING)
            places[!(raw_get(m, MEMIF_AT_RING_FLAGS, 2) & MEMIF_RING_S2M)] =
                raw_get(m, MEMIF_AT_RING_OFFSET, 4);
        raw_put(answer.bytes, MEMIF_AT_TYPE, 2, MEMIF_ACK);
        if (type == 0 || !raw_say(r, &answer))
            return false;
    }
    raw_put(answer.bytes, MEMIF_AT_TYPE, 2, MEMIF_CONNECTED);
    return raw_map(r, places) && raw_say(r, &answer);
}
