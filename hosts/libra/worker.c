// SPDX-License-Identifier: Apache-2.0
#include "hosts/libra/worker.h"

#include <stdlib.h>

#include "hosts/core/rto.h"
#include "hosts/core/timers.h"
#include "hosts/core/window.h"

#define SLOTS LIBRA_WINDOW_MOST
#define STEP  8u // packets of 186 bytes in 1,500

// A push or pull, as packets. In a pull's packets each pair's value is its place in 'out'. With a
// server packet i has the pairs from i * LIBRA_COLD_PAIRS on.
struct request {
    struct request *next; // in the list of those that are sent, or are done
    enum libra_kind kind;
    struct libra_packet *packets; // owned; with a switch
    struct libra_cold_pair *cold; // owned; with a server
    uint32_t barrier;             // its number
    size_t n, sent, left;         // packets; begun; without an answer
    size_t pairs;
    uint32_t *out; // of a pull
    void *cookie;
};
struct request_list {
    struct request *first, **last;
};

// A packet on the way, by its sequence number modulo SLOTS.
struct slot {
    struct request *request;     // null: none, or it was answered
    struct libra_packet *packet; // the request's; with a switch
    size_t first;                // pair of the request; with a server
    uint64_t sent_at;
    uint32_t tries; // that had no answer
    bool due;       // is in the queue of those to be repeated
};

// Pairs that the switch gave up on: they wait for a new number.
struct rest {
    struct request *request;
    struct libra_packet *packet;
    size_t first;
};

struct libra_worker {
    struct libra_worker_config config;
    struct slot slot[SLOTS];
    uint32_t base, next;     // the first without an answer, the first not used
    uint32_t on_the_way;     // slots in use
    uint64_t unsent;         // packets of requests that have no number yet, and rests
    struct rest rest[SLOTS]; // a ring; with the slots in use they are SLOTS at most
    uint32_t rest_first, rest_n;
    uint32_t repeat[SLOTS], repeat_first, repeat_n; // sequence numbers, a ring
    uint32_t ack[SLOTS], ack_first, ack_n;          // of answers, to be sent: the same
    struct sk_timers timers;
    struct sk_rto rto;
    struct sk_window window;
    struct sk_watch watch;
    struct request_list waiting, done; // waiting: with packets that have no number
    size_t open;                       // requests that are not done
    bool heard_move;                   // is to be said
    bool failed;
    struct libra_worker_stats stats;
};

// ---- lists ----

static void worker_list_clear(struct request_list *list) {
    *list = (struct request_list){.last = &list->first};
}

static void worker_list_add(struct request_list *list, struct request *r) {
    r->next = NULL;
    *list->last = r;
    list->last = &r->next;
}

static struct request *worker_list_take(struct request_list *list) {
    struct request *r = list->first;
    if (r && !(list->first = r->next))
        list->last = &list->first;
    return r;
}

static void worker_request_free(struct request *r) {
    if (r) {
        free(r->packets);
        free(r->cold);
    }
    free(r);
}

// ---- made and freed ----

static const char *worker_refuse(const struct libra_worker_config *c) {
    if (c->first_sequence < 1 || c->first_sequence > LIBRA_SEQUENCE_LAST)
        return "first_sequence is not from 1 to 2^31 - 1";
    if (c->window < 1 || c->window > c->window_max || c->window_max > LIBRA_WINDOW_MOST)
        return "window is not from 1 to window_max, or window_max is above 512";
    if (c->rto_min == 0 || c->rto_min > c->rto_max)
        return "rto_min is 0 or above rto_max";
    if (c->hard_limit == 0)
        return "hard_limit is 0";
    return NULL;
}

int libra_worker_new(struct libra_worker **w, const struct libra_worker_config *config,
                     const char **why) {
    const char *refused = worker_refuse(config);
    if (why)
        *why = refused;
    if (refused)
        return SILKEN_ERR_INVALID;
    struct libra_worker *new = calloc(1, sizeof *new);
    if (!new || sk_timers_init(&new->timers, SLOTS)) {
        free(new);
        return SILKEN_ERR_NOMEM;
    }
    new->config = *config;
    new->base = new->next = config->first_sequence;
    new->watch.warning = SK_TIME_NEVER;
    new->watch.limit = config->hard_limit;
    sk_rto_init(&new->rto, config->rto_initial, config->rto_min, config->rto_max);
    sk_window_init(&new->window, config->window, config->window_max, STEP, false);
    worker_list_clear(&new->waiting);
    worker_list_clear(&new->done);
    *w = new;
    return 0;
}

// Of a request all of whose packets have a number, one packet is given up: is it the last one.
static bool worker_drop(struct request *r) {
    return r->sent == r->n && --r->left == 0;
}

// Some request, complete or not: it is the caller's. Null: all have ended. Each is in 'waiting', in
// 'done', or has all its packets on the way or among the rests.
static struct request *worker_take_any(struct libra_worker *w) {
    struct request *r = worker_list_take(&w->done);
    for (uint32_t i = 0; !r && i < SLOTS; i++) {
        struct request *of = w->slot[i].request;
        w->slot[i].request = NULL;
        r = of && worker_drop(of) ? of : NULL;
    }
    for (; !r && w->rest_n > 0; w->rest_n--) {
        struct request *of = w->rest[w->rest_first].request;
        w->rest_first = (w->rest_first + 1) % SLOTS;
        r = worker_drop(of) ? of : NULL;
    }
    return r ? r : worker_list_take(&w->waiting);
}

bool libra_worker_end(struct libra_worker *w, void **cookie) {
    struct request *r = worker_take_any(w);
    if (!r)
        return false;
    *cookie = r->cookie;
    worker_request_free(r);
    return true;
}

void libra_worker_free(struct libra_worker *w) {
    void *ignored;
    if (!w)
        return;
    while (libra_worker_end(w, &ignored))
        continue;
    sk_timers_free(&w->timers);
    free(w);
}

// ---- requests ----

static int worker_submit(struct libra_worker *w, struct request *r, uint64_t now) {
    uint64_t numbers = (uint64_t)w->next + w->unsent + r->n;
    if (w->failed || numbers > (uint64_t)LIBRA_SEQUENCE_LAST + 1) {
        worker_request_free(r);
        return SILKEN_ERR_STALLED;
    }
    if (r->n == 0) {
        worker_list_add(&w->done, r);
        return 0;
    }
    if (w->open++ == 0)
        sk_watch_start(&w->watch, now);
    w->unsent += r->n;
    worker_list_add(&w->waiting, r);
    return 0;
}

// With room for the packets of these pairs; null: no memory.
static struct request *worker_request(enum libra_kind kind, const struct libra_pair *pairs,
                                      size_t n, bool any, void *cookie) {
    struct request *r = calloc(1, sizeof *r);
    size_t most = libra_pack_most(pairs, n, any);
    if (!r || !(r->packets = calloc(most ? most : 1, sizeof *r->packets))) {
        free(r);
        return NULL;
    }
    r->kind = kind;
    r->n = r->left = libra_pack(pairs, n, any, r->packets);
    r->pairs = n;
    r->cookie = cookie;
    return r;
}

// Of a server; null: no memory.
static struct request *worker_cold_request(enum libra_kind kind, size_t n, void *cookie) {
    struct request *r = calloc(1, sizeof *r);
    if (!r || !(r->cold = calloc(n ? n : 1, sizeof *r->cold))) {
        free(r);
        return NULL;
    }
    r->kind = kind;
    r->n = r->left = (n + LIBRA_COLD_PAIRS - 1) / LIBRA_COLD_PAIRS;
    r->pairs = n;
    r->cookie = cookie;
    return r;
}

int libra_worker_push_keys(struct libra_worker *w, const struct libra_cold_pair *pairs, size_t n,
                           void *cookie, uint64_t now) {
    if (n > LIBRA_REQUEST_MOST || !w->config.cold)
        return SILKEN_ERR_INVALID;
    struct request *r = worker_cold_request(LIBRA_PUSH, n, cookie);
    if (!r)
        return SILKEN_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        r->cold[i] = pairs[i];
    return worker_submit(w, r, now);
}

int libra_worker_pull_keys(struct libra_worker *w, const uint64_t *keys, size_t n, uint32_t *out,
                           void *cookie, uint64_t now) {
    if (n > LIBRA_REQUEST_MOST || !w->config.cold)
        return SILKEN_ERR_INVALID;
    struct request *r = worker_cold_request(LIBRA_PULL, n, cookie);
    if (!r)
        return SILKEN_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        r->cold[i].key = keys[i];
    r->out = out;
    return worker_submit(w, r, now);
}

int libra_worker_barrier(struct libra_worker *w, uint32_t number, void *cookie, uint64_t now) {
    if (!w->config.cold)
        return SILKEN_ERR_INVALID;
    struct request *r = worker_cold_request(LIBRA_BARRIER, 0, cookie);
    if (!r)
        return SILKEN_ERR_NOMEM;
    r->n = r->left = 1;
    r->barrier = number;
    return worker_submit(w, r, now);
}

int libra_worker_push(struct libra_worker *w, const struct libra_pair *pairs, size_t n,
                      void *cookie, uint64_t now) {
    if (n > LIBRA_REQUEST_MOST || w->config.cold)
        return SILKEN_ERR_INVALID;
    struct request *r = worker_request(LIBRA_PUSH, pairs, n, w->config.floats, cookie);
    return r ? worker_submit(w, r, now) : SILKEN_ERR_NOMEM;
}

static int worker_ask(struct libra_worker *w, enum libra_kind kind, const uint32_t *ranks, size_t n,
                      uint32_t *out, void *cookie, uint64_t now) {
    if (n > LIBRA_REQUEST_MOST || w->config.cold)
        return SILKEN_ERR_INVALID;
    struct libra_pair *pairs = malloc((n ? n : 1) * sizeof *pairs);
    for (size_t i = 0; pairs && i < n; i++)
        pairs[i] = (struct libra_pair){ranks[i], (uint32_t)i};
    struct request *r = pairs ? worker_request(kind, pairs, n, false, cookie) : NULL;
    free(pairs);
    if (!r)
        return SILKEN_ERR_NOMEM;
    r->out = out;
    return worker_submit(w, r, now);
}

int libra_worker_pull(struct libra_worker *w, const uint32_t *ranks, size_t n, uint32_t *out,
                      void *cookie, uint64_t now) {
    return worker_ask(w, LIBRA_PULL, ranks, n, out, cookie, now);
}

int libra_worker_collect(struct libra_worker *w, const uint32_t *ranks, size_t n, uint32_t *out,
                         void *cookie, uint64_t now) {
    return worker_ask(w, LIBRA_COLLECT, ranks, n, out, cookie, now);
}

bool libra_worker_done(struct libra_worker *w, void **cookie) {
    struct request *r = worker_list_take(&w->done);
    if (!r)
        return false;
    *cookie = r->cookie;
    worker_request_free(r);
    return true;
}

bool libra_worker_busy(const struct libra_worker *w) {
    return w->open > 0;
}

struct libra_worker_stats libra_worker_stats(const struct libra_worker *w) {
    return w->stats;
}

// ---- sending ----

static struct slot *worker_slot(struct libra_worker *w, uint32_t sequence) {
    return &w->slot[sequence % SLOTS];
}

// The pairs of a server's packet.
static unsigned worker_cold_pairs(const struct slot *s) {
    size_t left = s->request->pairs - s->first;
    return (unsigned)(left < LIBRA_COLD_PAIRS ? left : LIBRA_COLD_PAIRS);
}

static size_t worker_write_frame(const struct libra_worker *w, const struct slot *s,
                                 uint32_t sequence, uint8_t *buf) {
    struct libra_header header = {.kind = s->request->kind,
                                  .again = s->tries > 0,
                                  .sequence = sequence,
                                  .clock = s->request->barrier};
    if (w->config.cold)
        return libra_cold_write(buf, &w->config.flow, &header, s->request->cold + s->first,
                                worker_cold_pairs(s));
    struct libra_packet packet = *s->packet;
    header.kind = packet.any ? LIBRA_PUSH_ANY : header.kind;
    for (unsigned p = 0; header.kind != LIBRA_PUSH && !packet.any && p < LIBRA_PLACES; p++)
        packet.places[p].value = 0;
    libra_frame_write(buf, &w->config.flow, &header, &packet);
    return LIBRA_FRAME_BYTES;
}

static size_t worker_write_slot(struct libra_worker *w, uint32_t sequence, uint8_t *buf,
                                uint64_t now) {
    struct slot *s = worker_slot(w, sequence);
    const size_t length = worker_write_frame(w, s, sequence, buf);
    s->sent_at = now;
    sk_timers_arm(&w->timers, sequence % SLOTS,
                  sk_time_add(now, sk_rto_backed_off(&w->rto, s->tries)));
    w->stats.sent++;
    w->stats.repeated += s->tries > 0;
    return length;
}

// Pairs that were left, else the next packet of the first waiting request.
static struct rest worker_next(struct libra_worker *w) {
    struct request *r = w->waiting.first;
    struct rest rest = w->rest[w->rest_first];
    if (w->rest_n > 0) {
        w->rest_first = (w->rest_first + 1) % SLOTS;
        w->rest_n--;
        return rest;
    }
    rest = (struct rest){r, r->packets ? &r->packets[r->sent] : NULL, r->sent * LIBRA_COLD_PAIRS};
    if (++r->sent == r->n)
        worker_list_take(&w->waiting);
    return rest;
}

// Gives the next packet a number.
static uint32_t worker_begin(struct libra_worker *w) {
    uint32_t sequence = w->next++;
    struct rest next = worker_next(w);

    *worker_slot(w, sequence) =
        (struct slot){.request = next.request, .packet = next.packet, .first = next.first};
    w->on_the_way++;
    w->unsent--;
    return sequence;
}

size_t libra_worker_write(struct libra_worker *w, uint8_t *buf, size_t cap, uint64_t now) {
    if (w->failed || cap < (w->config.cold ? LIBRA_COLD_BYTES : LIBRA_FRAME_BYTES))
        return 0;
    if (w->heard_move) {
        w->heard_move = false;
        libra_frame_write_moved(buf, &w->config.flow);
        return LIBRA_HEADERS;
    }
    if (w->ack_n > 0) {
        libra_frame_write_ack(buf, &w->config.flow, w->ack[w->ack_first]);
        w->ack_first = (w->ack_first + 1) % SLOTS;
        w->ack_n--;
        return LIBRA_HEADERS;
    }
    while (w->repeat_n > 0) {
        uint32_t sequence = w->repeat[w->repeat_first];
        struct slot *s = worker_slot(w, sequence);
        w->repeat_first = (w->repeat_first + 1) % SLOTS;
        w->repeat_n--;
        if (s->request && s->due) { // else it was answered meanwhile
            s->due = false;
            return worker_write_slot(w, sequence, buf, now);
        }
    }
    if (w->unsent == 0 || w->on_the_way >= w->window.packets || w->next - w->base >= SLOTS)
        return 0;
    if (w->next > LIBRA_SEQUENCE_LAST) { // more was left than there are numbers
        w->failed = true;
        return 0;
    }
    return worker_write_slot(w, worker_begin(w), buf, now);
}

// ---- receiving ----

// An answer has the pairs that were asked for; that of a collect may lack some.
static bool worker_same_pairs(const struct request *r, const struct libra_packet *asked,
                              const struct libra_packet *got) {
    if (r->kind == LIBRA_COLLECT ? got->used & ~asked->used : asked->used != got->used)
        return false;
    for (unsigned p = 0; p < LIBRA_PLACES; p++)
        if (got->used >> p & 1 && asked->places[p].rank != got->places[p].rank)
            return false;
    return true;
}

static void worker_take_values(struct request *r, const struct libra_packet *asked,
                               const struct libra_packet *got) {
    for (unsigned p = 0; p < LIBRA_PLACES; p++)
        if (got->used >> p & 1)
            r->out[asked->places[p].value] = got->places[p].value;
}

// It has an answer, not an ack.
static bool worker_asks(const struct request *r) {
    return r->kind == LIBRA_PULL || r->kind == LIBRA_COLLECT;
}

static void worker_complete(struct libra_worker *w, struct request *r) {
    *(worker_asks(r) ? &w->stats.pairs_pulled : &w->stats.pairs_pushed) += r->pairs;
    w->open--;
    worker_list_add(&w->done, r);
}

// The packet of this number has its answer; 'rest' is what the switch has left of it, or null.
static void worker_answered(struct libra_worker *w, const struct libra_header *header,
                            struct libra_packet *rest, uint64_t now) {
    struct slot *s = worker_slot(w, header->sequence);
    struct request *r = s->request;

    if (s->tries == 0)
        sk_rto_measure(&w->rto, now - s->sent_at);
    if (header->congested) {
        w->stats.marks++;
        sk_window_cut(&w->window, header->sequence, w->next);
    } else {
        sk_window_grow(&w->window);
    }
    *(worker_asks(r) ? &w->stats.answers : &w->stats.acks) += 1;
    sk_timers_cancel(&w->timers, header->sequence % SLOTS);
    sk_watch_start(&w->watch, now);
    s->request = NULL;
    w->on_the_way--;
    while (w->base != w->next && !worker_slot(w, w->base)->request)
        w->base++;
    if (rest) {
        w->stats.pairs_left += (unsigned)__builtin_popcount(rest->used);
        w->rest[(w->rest_first + w->rest_n++) % SLOTS] = (struct rest){r, rest, 0};
        w->unsent++;
    } else if (--r->left == 0) {
        worker_complete(w, r);
    }
}

// Is it the reply to a packet that is on the way.
static enum libra_reason worker_expects(struct libra_worker *w, const struct libra_header *header) {
    uint32_t place = header->sequence - w->base;
    const struct slot *s = worker_slot(w, header->sequence);

    if (w->failed || place >= w->next - w->base || !s->request)
        return LIBRA_NOT_EXPECTED;
    if (header->kind == LIBRA_LOST ? s->request->kind != LIBRA_COLLECT
                                   : (header->kind == LIBRA_ANSWER) != worker_asks(s->request))
        return LIBRA_WRONG_KIND;
    return LIBRA_ACCEPTED;
}

static enum libra_reason worker_take(struct libra_worker *w, const struct libra_header *header,
                                     const struct libra_packet *packet, uint64_t now) {
    enum libra_reason reason = worker_expects(w, header);
    struct slot *s = worker_slot(w, header->sequence);

    if (reason != LIBRA_ACCEPTED)
        return reason;
    if (header->kind == LIBRA_LOST) {
        w->failed = w->stats.lost = true;
        return LIBRA_ACCEPTED;
    }
    if (header->kind == LIBRA_ANSWER && !worker_same_pairs(s->request, s->packet, packet))
        return LIBRA_OTHER_PAIRS;
    if (header->kind == LIBRA_ACK && packet->used & ~s->packet->used)
        return LIBRA_OTHER_PAIRS;
    const uint16_t left =
        header->kind == LIBRA_ANSWER ? s->packet->used & (uint16_t)~packet->used : packet->used;
    if (header->kind == LIBRA_ANSWER)
        worker_take_values(s->request, s->packet, packet);
    s->packet->used = left ? left : s->packet->used;
    worker_answered(w, header, left ? s->packet : NULL, now);
    return LIBRA_ACCEPTED;
}

// An answer has the keys that were asked for.
static bool worker_same_keys(const struct slot *s, const struct libra_cold_pair *got, unsigned n) {
    const struct libra_cold_pair *asked = s->request->cold + s->first;
    if (n != worker_cold_pairs(s))
        return false;
    for (unsigned i = 0; i < n; i++)
        if (asked[i].key != got[i].key)
            return false;
    return true;
}

static enum libra_reason worker_read_cold(struct libra_worker *w, const uint8_t *frame, size_t len,
                                          uint64_t now) {
    struct libra_cold_pair pairs[LIBRA_COLD_PAIRS];
    struct libra_header header;
    unsigned n;
    enum libra_reason reason = libra_cold_read(frame, len, &w->config.flow, &header, pairs, &n);

    if (reason == LIBRA_ACCEPTED)
        reason = worker_expects(w, &header);
    if (reason != LIBRA_ACCEPTED)
        return reason;
    const struct slot *s = worker_slot(w, header.sequence);
    if (header.kind == LIBRA_ANSWER && !worker_same_keys(s, pairs, n))
        return LIBRA_OTHER_PAIRS;
    for (unsigned i = 0; i < n; i++)
        s->request->out[s->first + i] = pairs[i].value;
    worker_answered(w, &header, NULL, now);
    return LIBRA_ACCEPTED;
}

// The switch has the job under another epoch: what is on the way was refused there, and goes again
// under the same numbers, which the switch knows.
static void worker_move(struct libra_worker *w, uint16_t epoch, uint64_t now) {
    w->heard_move = true;
    if (epoch == w->config.flow.epoch)
        return; // heard before
    w->config.flow.epoch = epoch;
    w->stats.moves++;
    for (uint32_t sequence = w->base; sequence != w->next; sequence++)
        if (worker_slot(w, sequence)->request)
            sk_timers_arm(&w->timers, sequence % SLOTS, now);
}

// Whether it was for the worker; epochs only rise, in a circle.
static bool worker_read_moved(struct libra_worker *w, const uint8_t *frame, size_t len,
                              uint64_t now) {
    uint16_t epoch;
    const unsigned kind = libra_frame_read_moved(frame, len, &w->config.flow, &epoch);
    if (kind == LIBRA_ENDED)
        w->failed = w->stats.lost = true;
    else if (kind == LIBRA_MOVED && (int16_t)(epoch - w->config.flow.epoch) >= 0)
        worker_move(w, epoch, now);
    return kind;
}

static enum libra_reason worker_read_hot(struct libra_worker *w, const uint8_t *frame, size_t len,
                                         uint64_t now) {
    struct libra_packet packet;
    struct libra_header header = {0};
    enum libra_reason reason = libra_frame_read(frame, len, &w->config.flow, &header, &packet);

    if (reason == LIBRA_WRONG_KIND && w->config.cpu && worker_read_moved(w, frame, len, now))
        return LIBRA_ACCEPTED;

    if (reason == LIBRA_ACCEPTED)
        reason = worker_take(w, &header, &packet, now);
    // one that came before, too: the CPU has its copy until the ack
    if (w->config.cpu && header.kind == LIBRA_ANSWER && header.sequence < w->next &&
        (reason == LIBRA_ACCEPTED || reason == LIBRA_NOT_EXPECTED) && w->ack_n < SLOTS)
        w->ack[(w->ack_first + w->ack_n++) % SLOTS] = header.sequence;
    return reason;
}

enum libra_reason libra_worker_read(struct libra_worker *w, const uint8_t *frame, size_t len,
                                    uint64_t now) {
    enum libra_reason reason =
        w->config.cold ? worker_read_cold(w, frame, len, now) : worker_read_hot(w, frame, len, now);

    if (reason != LIBRA_ACCEPTED)
        w->stats.ignored[reason]++;
    return reason;
}

// ---- time ----

uint64_t libra_worker_deadline(struct libra_worker *w) {
    if (w->failed || w->open == 0)
        return LIBRA_NEVER;
    return sk_time_earlier(sk_timers_next(&w->timers), sk_watch_deadline(&w->watch));
}

bool libra_worker_expire(struct libra_worker *w, uint64_t now) {
    uint32_t id;

    if (!w->failed && w->open > 0 && sk_watch_is_over(&w->watch, now))
        w->failed = true;
    while (!w->failed && sk_timers_expire(&w->timers, now, &id)) {
        // which of the numbers that have this slot is on the way
        uint32_t sequence = w->base + (id - w->base) % SLOTS;
        struct slot *s = &w->slot[id];
        if (!s->request || s->due)
            continue;
        s->tries++;
        s->due = true;
        w->repeat[(w->repeat_first + w->repeat_n++) % SLOTS] = sequence;
        sk_window_cut(&w->window, sequence, w->next);
    }
    return w->failed;
}
