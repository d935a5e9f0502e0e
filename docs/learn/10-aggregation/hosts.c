// SPDX-License-Identifier: Apache-2.0
//
// The workers of exercise 10, for `silken sim` and `silken lab` (silken/station.h). Each has PIECES
// pieces of 8 numbers and wants their sums over all workers. The numbers are a function of the
// seed, so that each worker knows what a sum must be, and says so if it is not.
//
// A piece has a slot of the switch: piece p has slot p % SLOTS, in round p / SLOTS + 1. What has
// not been answered after TIMEOUT_NS is sent again.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "silken/station.h"

#define TYPE       0x88b5u
#define VALUES     8u
#define HEADER     22u // Ethernet 14, sum_h 8
#define FRAME      (HEADER + 4 * VALUES)
#define PIECES     400u
#define SLOTS      8u
#define TIMEOUT_NS 500000u

struct worker {
    uint64_t seed;
    uint32_t number, workers;
    struct silken_station_address self, at_switch;
    struct {
        uint32_t piece; // from PIECES on: the slot has no more
        bool unsent;
        uint64_t again; // when to send it again
    } slot[SLOTS];
    uint32_t done;
    uint64_t sent, repeated;
    enum silken_station_state state;
    char why[128];
};

// ---- numbers ----

static uint32_t learn_number(uint64_t seed, uint32_t worker, uint32_t piece, uint32_t i) {
    uint64_t x = seed ^ ((uint64_t)worker << 48 | (uint64_t)piece << 8 | i);
    x = (x ^ x >> 31) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 29) * 0xd6e8feb86659fd93u;
    return (uint32_t)(x >> 32);
}

static uint32_t learn_sum(const struct worker *w, uint32_t piece, uint32_t i) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < w->workers; k++)
        sum += learn_number(w->seed, k, piece, i);
    return sum;
}

// ---- bytes ----

static void learn_put(uint8_t *at, uint32_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * (bytes - 1 - i));
}

static uint32_t learn_get(const uint8_t *at, unsigned bytes) {
    uint32_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

// ---- the worker ----

static void *learn_open(const struct silken_station_info *info, char *error, size_t size) {
    struct worker *w = calloc(1, sizeof *w);
    if (!w || info->stations > 32 || strcmp(info->options, "{}") != 0) {
        snprintf(error, size, "%s", !w ? "out of memory" : "at most 32 workers, and no options");
        free(w);
        return NULL;
    }
    w->seed = info->seed;
    w->number = info->number;
    w->workers = info->stations;
    w->self = info->address[info->number];
    w->at_switch = info->at_switch;
    for (uint32_t i = 0; i < SLOTS; i++) {
        w->slot[i].piece = i;
        w->slot[i].unsent = true;
    }
    return w;
}

static bool learn_wants(const void *worker, const uint8_t *frame, uint32_t length) {
    (void)worker;
    return length >= FRAME && learn_get(frame + 12, 2) == TYPE;
}

static void learn_verify(struct worker *w, const uint8_t *frame, uint32_t piece) {
    for (uint32_t i = 0; i < VALUES && w->state == SILKEN_STATION_BUSY; i++) {
        const uint32_t is = learn_get(frame + HEADER + 4 * i, 4), must = learn_sum(w, piece, i);
        if (is == must)
            continue;
        w->state = SILKEN_STATION_WRONG;
        snprintf(w->why, sizeof w->why, "value %u of piece %u (slot %u, round %u) is %u, not %u", i,
                 piece, piece % SLOTS, piece / SLOTS + 1, is, must);
    }
}

static void learn_deliver(void *worker, const uint8_t *frame, uint32_t length, uint64_t now) {
    (void)now;
    struct worker *w = worker;
    if (!learn_wants(w, frame, length) || frame[14] != 1)
        return;
    const uint32_t slot = learn_get(frame + 16, 2), round = learn_get(frame + 18, 4);
    if (slot >= SLOTS || w->slot[slot].piece >= PIECES ||
        round != w->slot[slot].piece / SLOTS + 1) // a result that it has
        return;
    learn_verify(w, frame, w->slot[slot].piece);
    w->slot[slot].piece += SLOTS;
    w->slot[slot].unsent = w->slot[slot].piece < PIECES;
    if (++w->done == PIECES && w->state == SILKEN_STATION_BUSY)
        w->state = SILKEN_STATION_DONE;
}

static size_t learn_next(void *worker, uint8_t *frame, size_t size, uint64_t now) {
    struct worker *w = worker;
    uint32_t i = 0;
    while (i < SLOTS && !w->slot[i].unsent)
        i++;
    if (i == SLOTS || size < FRAME || w->state != SILKEN_STATION_BUSY)
        return 0;
    w->slot[i].unsent = false;
    w->slot[i].again = now + TIMEOUT_NS;
    w->sent++;
    memcpy(frame, w->at_switch.mac, 6);
    memcpy(frame + 6, w->self.mac, 6);
    learn_put(frame + 12, TYPE, 2);
    learn_put(frame + 14, 0, 2);
    learn_put(frame + 16, i, 2);
    learn_put(frame + 18, w->slot[i].piece / SLOTS + 1, 4);
    for (uint32_t v = 0; v < VALUES; v++)
        learn_put(frame + HEADER + 4 * v, learn_number(w->seed, w->number, w->slot[i].piece, v), 4);
    return FRAME;
}

static bool learn_waits(const struct worker *w, uint32_t i) {
    return w->state == SILKEN_STATION_BUSY && w->slot[i].piece < PIECES && !w->slot[i].unsent;
}

static uint64_t learn_deadline(const void *worker) {
    const struct worker *w = worker;
    uint64_t first = SILKEN_STATION_NEVER;
    for (uint32_t i = 0; i < SLOTS; i++)
        if (learn_waits(w, i) && w->slot[i].again < first)
            first = w->slot[i].again;
    return first;
}

static void learn_expire(void *worker, uint64_t now) {
    struct worker *w = worker;
    for (uint32_t i = 0; i < SLOTS; i++) {
        if (!learn_waits(w, i) || w->slot[i].again > now)
            continue;
        w->slot[i].unsent = true;
        w->repeated++;
    }
}

static enum silken_station_state learn_state(const void *worker, char *why, size_t size) {
    const struct worker *w = worker;
    snprintf(why, size, "%s", w->why);
    return w->state;
}

static void learn_counts(const void *worker,
                         void (*tell)(void *to, const char *name, uint64_t value), void *to) {
    const struct worker *w = worker;
    tell(to, "verified", (uint64_t)w->done * VALUES);
    tell(to, "sent", w->sent);
    tell(to, "repeated", w->repeated);
}

const struct silken_stations *silken_stations(void) {
    static const struct silken_stations workers = {
        .version = SILKEN_STATION_VERSION,
        .open = learn_open,
        .wants = learn_wants,
        .deliver = learn_deliver,
        .next = learn_next,
        .deadline = learn_deadline,
        .expire = learn_expire,
        .state = learn_state,
        .counts = learn_counts,
        .close = free,
    };
    return &workers;
}
