// SPDX-License-Identifier: Apache-2.0
#include "hosts/dlcp/station.h"

#include <stdlib.h>
#include <string.h>

#include "hosts/dlcp/frame.h"
#include "silken/error.h"

#define BUCKETS    256u
#define PARKED     256u       // signals of flows that nobody has asked for yet
#define ENDED      1024u      // flows that are over: the last iteration of each
#define LATE       32u        // answers to be sent
#define OTHER_HALF 0x80000000 // of the numbers of signals: receivers' ones

struct station_peer {
    struct station_peer *next;
    struct sk_endpoint end;
    struct dlcp_peer peer;
    uint64_t turn; // when data went there last, in numbers of packets
};

struct dlcp_flow {
    struct dlcp_flow *next, **at; // in the station's list
    struct dlcp_flow *same;       // in the bucket
    struct dlcp_flow *next_done;  // in the list of those that have ended
    struct station_peer *peer;
    struct dlcp_sender *sender;     // owned; either is null
    struct dlcp_receiver *receiver; // owned
    struct dlcp_name name;
    void *cookie;
    uint64_t signal_at, data_at; // deadlines
    uint8_t class;
    bool done, given_back;
};

struct station_parked {
    uint32_t ip; // 0: no signal is kept here
    struct dlcp_name name;
    bool started, stopped;
    uint32_t start, stop; // numbers of the signals
    struct dlcp_entry entry[DLCP_START_ENTRIES];
};

struct station_ended {
    bool used;
    uint32_t ip;
    struct dlcp_name name; // with the last iteration
};

struct station_late {
    struct sk_endpoint to;
    struct dlcp_packet packet;
};

struct dlcp_station {
    struct dlcp_station_config config;
    struct station_peer *peers;      // owned
    struct dlcp_flow *first, **last; // owned: flows, the oldest first
    struct dlcp_flow *bucket[BUCKETS];
    struct dlcp_flow *done_first, **done_last;
    struct station_parked *parked; // owned, as the next two
    unsigned next_parked;
    struct station_ended *ended;
    struct station_late *late;
    unsigned late_n;
    uint64_t link_at; // when the link is free
    uint64_t turns;   // packets of data
    struct dlcp_packet packet;
    struct dlcp_station_stats stats;
};

// ---- made and freed ----

static const char *station_refuse(const struct dlcp_station_config *c) {
    if (c->ports < 1 || c->ports > DLCP_PATHS || c->first_port + c->ports > 65536)
        return "the ports to send from are not 1 to 16, or end after 65535";
    if (c->link < 1000 || c->period == 0 || c->hard_limit == 0)
        return "link, period or hard_limit is 0";
    if (c->rto_min == 0 || c->rto_min > c->rto_max)
        return "rto_min is 0 or above rto_max";
    return NULL;
}

int dlcp_station_new(struct dlcp_station **st, const struct dlcp_station_config *config,
                     const char **why) {
    const char *refused = station_refuse(config);
    if (why)
        *why = refused;
    if (refused)
        return SILKEN_ERR_INVALID;
    struct dlcp_station *new = calloc(1, sizeof *new);
    if (!new)
        return SILKEN_ERR_NOMEM;
    new->config = *config;
    new->last = &new->first;
    new->done_last = &new->done_first;
    new->parked = calloc(PARKED, sizeof *new->parked);
    new->ended = calloc(ENDED, sizeof *new->ended);
    new->late = calloc(LATE, sizeof *new->late);
    if (!new->parked || !new->ended || !new->late) {
        dlcp_station_free(new);
        return SILKEN_ERR_NOMEM;
    }
    *st = new;
    return 0;
}

static void station_free_flow(struct dlcp_flow *f) {
    dlcp_sender_free(f->sender);
    dlcp_receiver_free(f->receiver);
    free(f);
}

void dlcp_station_free(struct dlcp_station *st) {
    if (!st)
        return;
    while (st->first) {
        struct dlcp_flow *f = st->first;
        st->first = f->next;
        station_free_flow(f);
    }
    while (st->peers) {
        struct station_peer *p = st->peers;
        st->peers = p->next;
        free(p);
    }
    free(st->parked);
    free(st->ended);
    free(st->late);
    free(st);
}

// ---- peers and flows ----

static struct station_peer *station_peer_of(const struct dlcp_station *st, uint32_t ip) {
    struct station_peer *p = st->peers;
    while (p && p->end.ip != ip)
        p = p->next;
    return p;
}

static struct station_peer *station_meet(struct dlcp_station *st, const struct sk_endpoint *end) {
    const struct dlcp_station_config *c = &st->config;
    struct station_peer *p = station_peer_of(st, end->ip);
    if (p || !(p = calloc(1, sizeof *p)))
        return p;
    p->end = *end;
    dlcp_peer_init(&p->peer, c->first_port, c->ports, c->rto_initial, c->rto_min, c->rto_max);
    p->next = st->peers;
    st->peers = p;
    return p;
}

static unsigned station_hash(uint32_t ip, struct dlcp_name n, bool sends, unsigned buckets) {
    uint64_t h = (uint64_t)ip << 32 | n.iteration;
    h = (h ^ ((uint64_t)n.tensor << 17 | (uint64_t)n.job << 40 | n.pull | (unsigned)sends << 1)) *
        UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(h >> 40) % buckets;
}

static struct dlcp_flow *station_find(const struct dlcp_station *st, uint32_t ip,
                                      struct dlcp_name name, bool sends) {
    struct dlcp_flow *f = st->bucket[station_hash(ip, name, sends, BUCKETS)];
    while (f && !(f->peer->end.ip == ip && dlcp_name_is(f->name, name) && !f->receiver == sends))
        f = f->same;
    return f;
}

static void station_append(struct dlcp_station *st, struct dlcp_flow *f) {
    f->next = NULL;
    f->at = st->last;
    *st->last = f;
    st->last = &f->next;
}

static void station_unlink(struct dlcp_station *st, struct dlcp_flow *f) {
    *f->at = f->next;
    if (f->next)
        f->next->at = f->at;
    else
        st->last = f->at;
}

static void station_add(struct dlcp_station *st, struct dlcp_flow *f) {
    struct dlcp_flow **bucket =
        &st->bucket[station_hash(f->peer->end.ip, f->name, f->sender != NULL, BUCKETS)];
    f->same = *bucket;
    *bucket = f;
    station_append(st, f);
}

static struct station_ended *station_ended_of(const struct dlcp_station *st, uint32_t ip,
                                              struct dlcp_name name) {
    name.iteration = 0;
    return &st->ended[station_hash(ip, name, false, ENDED)];
}

// Of two flows with one place the later one is known.
static void station_note_end(struct dlcp_station *st, const struct dlcp_flow *f) {
    *station_ended_of(st, f->peer->end.ip, f->name) =
        (struct station_ended){true, f->peer->end.ip, f->name};
}

static bool station_is_old(const struct dlcp_station *st, uint32_t ip, struct dlcp_name name) {
    const struct station_ended *e = station_ended_of(st, ip, name);
    struct dlcp_name same = e->name;
    const bool before = (int32_t)(name.iteration - e->name.iteration) <= 0;
    same.iteration = name.iteration;
    return e->used && e->ip == ip && dlcp_name_is(same, name) && before;
}

static void station_count_sent(struct dlcp_station_stats *all, const struct dlcp_sender *s) {
    const struct dlcp_sender_stats one = dlcp_sender_stats(s);
    all->sent.data += one.data;
    all->sent.repeated += one.repeated;
    all->sent.important += one.important;
    all->sent.signals += one.signals;
    all->sent.rounds += one.rounds;
    all->sent.halved += one.halved;
    all->sent.least += one.least;
    all->marked += dlcp_sender_marked(s);
    all->segments += dlcp_sender_segments(s);
}

static void station_count_received(struct dlcp_station_stats *all, const struct dlcp_receiver *r) {
    const struct dlcp_receiver_stats one = dlcp_receiver_stats(r);
    all->received.data += one.data;
    all->received.bytes += one.bytes;
    all->received.needless += one.needless;
    all->received.signals += one.signals;
    all->received.reports += one.reports;
    all->received.missing += one.missing;
    all->expected += one.sequence_end;
    all->came += one.came;
}

static void station_remove(struct dlcp_station *st, struct dlcp_flow *f) {
    struct dlcp_flow **at =
        &st->bucket[station_hash(f->peer->end.ip, f->name, f->sender != NULL, BUCKETS)];
    while (*at != f)
        at = &(*at)->same;
    *at = f->same;
    station_unlink(st, f);
    if (f->sender)
        station_count_sent(&st->stats, f->sender);
    else {
        station_count_received(&st->stats, f->receiver);
        station_note_end(st, f);
    }
    station_free_flow(f);
}

// ---- a flow after each event ----

static bool station_flow_has_ended(const struct dlcp_flow *f) {
    return f->sender ? dlcp_sender_state(f->sender) >= DLCP_SENDER_ENOUGH
                     : dlcp_receiver_is_complete(f->receiver);
}

static bool station_flow_is_over(const struct dlcp_flow *f) {
    return f->sender ? dlcp_sender_state(f->sender) >= DLCP_SENDER_OVER
                     : dlcp_receiver_state(f->receiver) >= DLCP_RECEIVER_OVER;
}

// Its deadlines; it may have ended, and one that was given back and is over is gone.
static void station_look(struct dlcp_station *st, struct dlcp_flow *f) {
    f->data_at = f->sender ? dlcp_sender_data_at(f->sender) : SK_TIME_NEVER;
    f->signal_at =
        f->sender ? dlcp_sender_signal_at(f->sender) : dlcp_receiver_deadline(f->receiver);
    if (!f->done && station_flow_has_ended(f)) {
        f->done = true;
        f->next_done = NULL;
        *st->done_last = f;
        st->done_last = &f->next_done;
    }
    if (f->given_back && station_flow_is_over(f) && f->signal_at == SK_TIME_NEVER)
        station_remove(st, f);
}

struct dlcp_flow *dlcp_station_done(struct dlcp_station *st) {
    struct dlcp_flow *f = st->done_first;
    if (f && !(st->done_first = f->next_done))
        st->done_last = &st->done_first;
    return f;
}

void *dlcp_flow_cookie(const struct dlcp_flow *f) {
    return f->cookie;
}

bool dlcp_flow_failed(const struct dlcp_flow *f) {
    return f->sender ? dlcp_sender_state(f->sender) == DLCP_SENDER_FAILED
                     : dlcp_receiver_state(f->receiver) == DLCP_RECEIVER_FAILED;
}

const struct dlcp_sender *dlcp_flow_sender(const struct dlcp_flow *f) {
    return f->sender;
}

const struct dlcp_receiver *dlcp_flow_receiver(const struct dlcp_flow *f) {
    return f->receiver;
}

// Out of the list of those that have ended.
static void station_take_done(struct dlcp_station *st, const struct dlcp_flow *f) {
    struct dlcp_flow **at = &st->done_first;
    while (*at && *at != f)
        at = &(*at)->next_done;
    if (!*at)
        return;
    *at = f->next_done;
    if (st->done_last == &f->next_done)
        st->done_last = at;
}

void dlcp_station_give_back(struct dlcp_station *st, struct dlcp_flow *f) {
    const bool ended = station_flow_has_ended(f);
    station_take_done(st, f);
    f->given_back = true;
    f->done = true;
    if (!ended)
        station_remove(st, f);
    else
        station_look(st, f);
}

void *dlcp_station_take_any(struct dlcp_station *st) {
    for (struct dlcp_flow *f = st->first; f; f = f->next)
        if (!f->given_back) {
            void *cookie = f->cookie;
            dlcp_station_give_back(st, f);
            return cookie;
        }
    return NULL;
}

// ---- beginning ----

static void station_hear_parked(struct dlcp_station *st, struct dlcp_flow *f, uint64_t now) {
    struct dlcp_packet *p = &st->packet;
    for (unsigned i = 0; i < PARKED; i++) {
        struct station_parked *kept = &st->parked[i];
        if (kept->ip != f->peer->end.ip || !dlcp_name_is(kept->name, f->name))
            continue;
        kept->ip = 0;
        *p = (struct dlcp_packet){.name = f->name, .kind = DLCP_START, .sequence = kept->start};
        p->count = DLCP_START_ENTRIES;
        memcpy(p->entry, kept->entry, sizeof kept->entry);
        if (kept->started)
            dlcp_receiver_hear(f->receiver, p, now);
        *p = (struct dlcp_packet){.name = f->name, .kind = DLCP_STOP, .sequence = kept->stop};
        if (kept->stopped)
            dlcp_receiver_hear(f->receiver, p, now);
    }
}

static int station_new_flow(struct dlcp_station *st, const struct sk_endpoint *end,
                            struct dlcp_name name, bool sends, void *cookie,
                            struct dlcp_flow **flow, const char **why) {
    struct station_peer *peer = station_meet(st, end);
    struct dlcp_flow *f = peer ? calloc(1, sizeof *f) : NULL;
    if (why)
        *why = f ? "there is such a flow already" : "out of memory";
    if (!f)
        return SILKEN_ERR_NOMEM;
    if (station_find(st, end->ip, name, sends)) {
        free(f);
        return SILKEN_ERR_INVALID;
    }
    f->peer = peer;
    f->name = name;
    f->cookie = cookie;
    *flow = f;
    return 0;
}

int dlcp_station_send(struct dlcp_station *st, const struct sk_endpoint *to,
                      const struct dlcp_sender_config *c, void *cookie, uint64_t now,
                      struct dlcp_flow **flow, const char **why) {
    const struct dlcp_station_config *own = &st->config;
    struct dlcp_sender_config config = *c;
    struct dlcp_flow *f;
    int rc = station_new_flow(st, to, c->name, true, cookie, &f, why);
    if (rc)
        return rc;
    config.peer = &f->peer->peer;
    config.nonce = own->nonce;
    config.link = own->link;
    config.period = own->period;
    config.burst = own->burst;
    config.hard_limit = own->hard_limit;
    rc = dlcp_sender_new(&f->sender, &config, now, why);
    if (rc) {
        free(f);
        return rc;
    }
    f->class = c->class;
    station_add(st, f);
    station_look(st, f);
    *flow = f;
    return 0;
}

int dlcp_station_recv(struct dlcp_station *st, const struct sk_endpoint *from,
                      const struct dlcp_receiver_config *c, void *cookie, uint64_t now,
                      struct dlcp_flow **flow, const char **why) {
    const struct dlcp_station_config *own = &st->config;
    struct dlcp_receiver_config config = *c;
    struct dlcp_flow *f;
    int rc = station_new_flow(st, from, c->name, false, cookie, &f, why);
    if (rc)
        return rc;
    config.peer = &f->peer->peer;
    config.nonce = own->nonce ^ OTHER_HALF;
    config.period = own->period;
    config.hard_limit = own->hard_limit;
    rc = dlcp_receiver_new(&f->receiver, &config, now, why);
    if (rc) {
        free(f);
        return rc;
    }
    station_add(st, f);
    station_hear_parked(st, f, now);
    station_look(st, f);
    *flow = f;
    return 0;
}

// ---- sending ----

static size_t station_frame(struct dlcp_station *st, uint8_t *frame, const struct sk_endpoint *to) {
    return dlcp_frame_write(frame, &st->config.self, to, &st->packet);
}

// Of the flows whose data may go: peers take turns, so that hosts do not all send to the same one
// at a time, and to a peer the lowest class goes first, and in it the oldest flow. If flows of a
// class took turns, they would all end late at the same time; each step of a ring waits for the
// last one.
static struct dlcp_flow *station_choose(struct dlcp_station *st, uint64_t now) {
    struct dlcp_flow *best = NULL;
    for (struct dlcp_flow *f = st->first; f; f = f->next)
        if (f->data_at <= now && (!best || f->peer->turn < best->peer->turn ||
                                  (f->peer == best->peer && f->class < best->class)))
            best = f;
    return best;
}

static size_t station_write_signal(struct dlcp_station *st, uint8_t *frame, uint64_t now) {
    for (struct dlcp_flow *f = st->first, *next; f; f = next) {
        next = f->next;
        if (f->signal_at > now)
            continue;
        const struct sk_endpoint to = f->peer->end;
        const bool there = f->sender ? dlcp_sender_next_signal(f->sender, now, &st->packet)
                                     : dlcp_receiver_next(f->receiver, now, &st->packet);
        station_look(st, f);
        if (there)
            return station_frame(st, frame, &to);
    }
    return 0;
}

static size_t station_write_data(struct dlcp_station *st, uint8_t *frame, uint64_t now) {
    const uint64_t burst = st->config.burst, earliest = now > burst ? now - burst : 0;
    struct dlcp_flow *f = st->link_at <= now ? station_choose(st, now) : NULL;
    if (!f || !dlcp_sender_next(f->sender, now, &st->packet))
        return 0;
    const struct sk_endpoint to = f->peer->end;
    const uint32_t bytes = dlcp_packet_bytes(&st->packet);
    st->link_at = (st->link_at > earliest ? st->link_at : earliest) +
                  (uint64_t)bytes * 8 * UINT64_C(1000000000) / st->config.link;
    f->peer->turn = ++st->turns;
    station_look(st, f);
    return station_frame(st, frame, &to);
}

size_t dlcp_station_write(struct dlcp_station *st, uint8_t *frame, size_t cap, uint64_t now) {
    if (cap < DLCP_FRAME_BYTES)
        return 0;
    if (st->late_n > 0) {
        const struct station_late *late = &st->late[--st->late_n];
        return dlcp_frame_write(frame, &st->config.self, &late->to, &late->packet);
    }
    const size_t length = station_write_signal(st, frame, now);
    return length ? length : station_write_data(st, frame, now);
}

uint64_t dlcp_station_deadline(const struct dlcp_station *st) {
    uint64_t signal = SK_TIME_NEVER, data = SK_TIME_NEVER;
    if (st->late_n > 0)
        return 0;
    for (const struct dlcp_flow *f = st->first; f; f = f->next) {
        signal = sk_time_earlier(signal, f->signal_at);
        data = sk_time_earlier(data, f->data_at);
    }
    return sk_time_earlier(signal, data > st->link_at ? data : st->link_at);
}

bool dlcp_station_busy(const struct dlcp_station *st) {
    return st->first || st->late_n > 0;
}

// ---- receiving ----

static bool station_is_senders(enum dlcp_kind kind) {
    return kind == DLCP_DATA || kind == DLCP_START || kind == DLCP_STOP || kind == DLCP_FINISHED;
}

// START and STOP of one flow share a place; what was kept longest makes room.
static void station_park(struct dlcp_station *st, uint32_t ip) {
    const struct dlcp_packet *p = &st->packet;
    struct station_parked *kept = NULL;
    for (unsigned i = 0; i < PARKED && !kept; i++)
        if (st->parked[i].ip == ip && dlcp_name_is(st->parked[i].name, p->name))
            kept = &st->parked[i];
    if (!kept) {
        kept = &st->parked[st->next_parked++ % PARKED];
        *kept = (struct station_parked){.ip = ip, .name = p->name};
    }
    if (p->kind == DLCP_STOP) {
        kept->stop = p->sequence;
        kept->stopped = true;
    } else if (p->count == DLCP_START_ENTRIES) {
        kept->start = p->sequence;
        kept->started = true;
        memcpy(kept->entry, p->entry, sizeof kept->entry);
    }
}

// Of a flow that is not here.
static enum dlcp_reason station_hear_stranger(struct dlcp_station *st,
                                              const struct sk_endpoint *from, uint64_t now) {
    struct station_peer *peer = station_peer_of(st, from->ip);
    const bool old = station_is_old(st, from->ip, st->packet.name);
    if (!peer)
        return DLCP_UNKNOWN_FLOW;
    if (st->late_n < LATE &&
        dlcp_answer_late(&st->packet, &st->late[st->late_n].packet, &peer->peer, now)) {
        st->late[st->late_n++].to = peer->end;
        return DLCP_ACCEPTED;
    }
    if (old)
        return DLCP_OLD;
    if (st->packet.kind != DLCP_START && st->packet.kind != DLCP_STOP)
        return DLCP_UNKNOWN_FLOW;
    station_park(st, from->ip);
    return DLCP_NOT_STARTED;
}

static enum dlcp_reason station_hear(struct dlcp_station *st, struct dlcp_flow *f, uint64_t now) {
    const enum dlcp_reason reason = f->sender ? dlcp_sender_hear(f->sender, &st->packet, now)
                                              : dlcp_receiver_hear(f->receiver, &st->packet, now);
    station_look(st, f);
    return reason;
}

enum dlcp_reason dlcp_station_read(struct dlcp_station *st, const uint8_t *frame, size_t len,
                                   uint64_t now) {
    struct dlcp_packet *p = &st->packet;
    struct sk_endpoint from;
    enum dlcp_reason reason = dlcp_frame_read(frame, len, &st->config.self, p, &from);
    if (reason == DLCP_ACCEPTED) {
        struct dlcp_flow *to_receiver = station_find(st, from.ip, p->name, false);
        struct dlcp_flow *to_sender = station_find(st, from.ip, p->name, true);
        if (station_is_senders(p->kind))
            to_sender = NULL;
        else if (p->kind != DLCP_ACK || (p->sequence - st->config.nonce) < OTHER_HALF)
            to_receiver = NULL; // ACKs go by the number of the signal
        else
            to_sender = NULL;
        struct dlcp_flow *f = to_receiver ? to_receiver : to_sender;
        reason = f ? station_hear(st, f, now) : station_hear_stranger(st, &from, now);
    }
    if (reason != DLCP_ACCEPTED)
        st->stats.refused[reason]++;
    return reason;
}

struct dlcp_station_stats dlcp_station_stats(const struct dlcp_station *st) {
    struct dlcp_station_stats all = st->stats;
    for (const struct dlcp_flow *f = st->first; f; f = f->next)
        if (f->sender)
            station_count_sent(&all, f->sender);
        else
            station_count_received(&all, f->receiver);
    for (const struct station_peer *p = st->peers; p; p = p->next)
        all.left += p->peer.left;
    return all;
}
