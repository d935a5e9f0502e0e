// SPDX-License-Identifier: Apache-2.0
//
// memif_impl: what the room's files share. memif.h lists them.
#ifndef SILKEN_MEMIF_MEMIF_IMPL_H
#define SILKEN_MEMIF_MEMIF_IMPL_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "memif/memif.h"
#include "memif/protocol.h"

// ---- memory.c ----
struct memif_region {
    uint8_t *at;
    uint64_t size;
};
// Maps what a peer passed. Null when it is good; else what is wrong with it, as in "a region that
// ...". 'fd' stays open.
const char *memif_region_take(int fd, uint64_t size, struct memif_region *out);
// Memory of our own, sealed as we ask it of others. Returns its descriptor, or -1 with errno set.
int memif_region_make(uint64_t size, struct memif_region *out);
void memif_region_drop(struct memif_region *r); // one that is not there allowed
// Closes a descriptor in a thread of its own: to close one that a peer chose may take for ever (a
// socket that lingers, a file of a file system that the peer runs). -1 allowed.
void memif_let_go(int fd);
// Descriptors that are being closed so. With as many as MEMIF_MOST_CLOSING nobody else's are taken.
unsigned memif_closing(void);
#define MEMIF_MOST_CLOSING 32u

// ---- bell.c ----
struct memif_bell_ringer {
    unsigned long context; // of aio(7); 0: none
    int file;              // that there is nothing to read from
};
void memif_bell_open(struct memif_bell_ringer *b);
void memif_bell_close(struct memif_bell_ringer *b);
// Never waits, whatever the peer did to its eventfd.
void memif_bell_ring(const struct memif_bell_ringer *b, int eventfd);
bool memif_bell_is_eventfd(int fd);

// ---- session.c: a conversation, of one thread ----
struct memif_ring_place {
    uint16_t region;
    uint32_t offset;
    uint8_t log2;
    int bell;
};
enum memif_step {
    MEMIF_WANTS_INIT, // of a server
    MEMIF_WANTS_SETUP,
    MEMIF_WANTS_HELLO, // of a client
    MEMIF_WANTS_ACK,
    MEMIF_WANTS_CONNECTED,
    MEMIF_IS_UP,
};
struct memif_session {
    enum memif_step step;
    const struct memif_options *o; // of a server's session only after INIT
    // Of a server: the device that a client asks for; null, with why not.
    const struct memif_options *(*find)(void *aux, uint32_t id, const char **why);
    void *aux;
    struct memif_region regions[MEMIF_MOST_REGIONS];
    unsigned n_regions;
    uint64_t bytes;
    struct memif_ring_place s2m[MEMIF_QUEUES], m2s[MEMIF_QUEUES];
    unsigned n_s2m, n_m2s;
    // of a client
    int memory;       // its descriptor, until it was sent
    unsigned sent;    // messages since INIT
    uint32_t buffers; // where they begin in the region
    char peer[MEMIF_NAME + 1];
    char wrong[160]; // what the peer did, after MEMIF_BROKEN; what it said, after MEMIF_OVER
};
struct memif_reply {
    bool there;
    uint8_t bytes[MEMIF_MESSAGE];
    int fd; // -1: none; stays the session's
};
enum memif_result {
    MEMIF_GO_ON,
    MEMIF_UP,     // from here on the rings are used
    MEMIF_OVER,   // the peer says goodbye, or we to one who did nothing wrong: 'wrong' says why
    MEMIF_BROKEN, // the peer broke a rule
};
// A server's first message is in 'reply'; 'o' is a client's.
void memif_session_begin(struct memif_session *s, const struct memif_options *o,
                         struct memif_reply *reply);
// The session owns 'fds' from here on.
enum memif_result memif_session_hear(struct memif_session *s, const uint8_t *message, size_t length,
                                     const int *fds, unsigned n_fds, struct memif_reply *reply);
void memif_session_end(struct memif_session *s);
// The last message: why the connection ends.
void memif_session_goodbye(const char *why, struct memif_reply *reply);
// Copies 'n' bytes up to a 0; what is no printable ASCII becomes '?'.
void memif_clean(char *out, size_t size, const uint8_t *text, size_t n);

// ---- rings.c ----
struct memif_ring {
    struct memif_head *shared;
    uint32_t size, mask;
    uint16_t at; // our position
    int bell;
    bool due; // the peer may have gone to sleep before it saw what we sent last
    // of a client's: a slot's buffer is always the same
    uint8_t *buffers;
    uint32_t buffer; // bytes
};
struct memif_link {
    bool server;
    unsigned n_rx, n_regions;
    struct memif_region regions[MEMIF_MOST_REGIONS];
    struct memif_ring rx[MEMIF_QUEUES], tx;
};
// Of a session that is up.
void memif_link_begin(struct memif_link *l, const struct memif_session *s);

enum memif_fault {
    MEMIF_NO_FAULT,
    MEMIF_FAULT_POSITION, // 'a' descriptors ahead, 'b' in the ring
    MEMIF_FAULT_REGION,   // 'a' of a descriptor, 'b' are there
    MEMIF_FAULT_PLACE,    // 'a' offset, 'b' length
    MEMIF_FAULT_LENGTH,   // 'a' of a descriptor, 'b' the buffer has
    MEMIF_FAULT_CHAIN,    // 'a' descriptors in a frame
};

// ---- device.c ----
struct memif_peer;
struct memif_listener;
struct memif {
    struct memif_options o;
    atomic_bool up;   // there is a link
    atomic_bool held; // by who uses the link, or takes it away
    struct memif_link *link;
    struct memif_bell_ringer bell;
    // written once by who holds it, before 'fault'
    uint64_t a, b;
    atomic_int fault;
    _Atomic uint64_t closed, rx_errors, tx_errors;
    // of the room's thread, under its lock
    struct memif_listener *listener;
    struct memif_peer *peer;
    uint64_t next_try;  // of a client
    uint64_t next_line; // of 'say'
    uint64_t unsaid;    // lines since the last
    char last_said[MEMIF_LINE];
    struct memif *next;
};
// A burst that finds it held is skipped, so that no core ever waits.
static inline bool memif_hold(struct memif *m) {
    return atomic_load_explicit(&m->up, memory_order_relaxed) &&
           !atomic_exchange_explicit(&m->held, true, memory_order_acquire);
}
static inline void memif_release(struct memif *m) {
    atomic_store_explicit(&m->held, false, memory_order_release);
}
// Of the room's thread: bursts use the session's rings, or nothing any more.
bool memif_link_up(struct memif *m, const struct memif_session *s);
void memif_link_down(struct memif *m);
// Tells the room's thread, and ends all use of the rings. While the link is held.
void memif_blame(struct memif *m, enum memif_fault fault, uint64_t a, uint64_t b);
// What the peer did, for a sentence that begins with "it".
void memif_fault_text(const struct memif *m, char *out, size_t size);
// At most one line a second; the others are counted in the next.
void memif_say(struct memif *m, uint64_t now, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- sockets.c ----
bool memif_sockets_add(struct memif *m, char *error, size_t error_size);
void memif_sockets_remove(struct memif *m);
void memif_sockets_wake(void);

#endif
