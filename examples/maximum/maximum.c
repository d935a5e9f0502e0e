// SPDX-License-Identifier: Apache-2.0
//
// The hosts of maximum.p4, for `silken sim` and `silken lab` (silken/station.h). Each has vectors
// of numbers and wants, for each element, the greatest of all hosts' numbers. The vectors are a
// function of the seed, so each host knows what the result must be, and says so if it is not.
//
// Options: "pieces" (of 16 numbers; 100), "slots" (in use at once; 8), "rto_us" (until a piece is
// sent again; 1000), "give_up_ms" (without a result; 0: never).
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "silken/station.h"

#define TYPE   0x88b5u
#define VALUES 16u
#define HEADER 22u // Ethernet 14, ours 8
#define FRAME  (HEADER + 4 * VALUES)
#define SLOTS  1024u

struct slot {
    uint32_t piece; // that it is at; at or above 'pieces': it has no more
    bool unsent;
    uint64_t again; // when to send it again
};

struct station {
    uint64_t seed;
    uint32_t number, stations, pieces, slots;
    uint64_t rto, give_up, progress; // ns
    struct silken_station_address self, at_switch;
    struct slot slot[SLOTS];
    uint32_t turn, done;
    uint64_t sent, repeated, late;
    enum silken_station_state state;
    char why[160];
};

// ---- numbers ----

static int32_t value_of(uint64_t seed, uint32_t station, uint32_t piece, uint32_t i) {
    uint64_t x = seed * 0x9e3779b97f4a7c15u ^ ((uint64_t)station << 48 | (uint64_t)piece << 8 | i);
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (int32_t)(x ^ x >> 31);
}

static int32_t maximum_of(const struct station *s, uint32_t piece, uint32_t i) {
    int32_t most = value_of(s->seed, 0, piece, i);
    for (uint32_t k = 1; k < s->stations; k++) {
        const int32_t v = value_of(s->seed, k, piece, i);
        most = v > most ? v : most;
    }
    return most;
}

// ---- frames ----

static void maximum_put(uint8_t *at, uint32_t v, unsigned bytes) {
    while (bytes-- > 0) {
        at[bytes] = (uint8_t)v;
        v >>= 8;
    }
}

static uint32_t maximum_get(const uint8_t *at, unsigned bytes) {
    uint32_t v = 0;
    for (unsigned i = 0; i < bytes; i++)
        v = v << 8 | at[i];
    return v;
}

static uint32_t round_of(const struct station *s, uint32_t piece) {
    return piece / s->slots + 1;
}

// ---- the station ----

// The member 'key', or 'otherwise'. What is no number from 'least' to 'most' is an error.
static uint64_t option(const json_t *o, const char *key, uint64_t least, uint64_t most,
                       uint64_t otherwise, char *error, size_t size) {
    const json_t *v = json_object_get(o, key);
    const json_int_t n = json_integer_value(v);
    if (!v)
        return otherwise;
    if (json_is_integer(v) && n >= (json_int_t)least && n <= (json_int_t)most)
        return (uint64_t)n;
    snprintf(error, size, "\"%s\" is %llu to %llu", key, (unsigned long long)least,
             (unsigned long long)most);
    return otherwise;
}

static void only_options(json_t *o, char *error, size_t size) {
    const char *key;
    json_t *value;
    json_object_foreach(o, key, value) {
        if (strcmp(key, "pieces") != 0 && strcmp(key, "slots") != 0 && strcmp(key, "rto_us") != 0 &&
            strcmp(key, "give_up_ms") != 0)
            snprintf(error, size, "there is no option \"%s\"", key);
    }
}

static void *maximum_open(const struct silken_station_info *info, char *error, size_t size) {
    json_t *o = json_loads(info->options, 0, NULL);
    struct station *s = calloc(1, sizeof *s);
    if (!s || info->stations > 32) {
        snprintf(error, size, "%s", s ? "the switch has bits for 32 hosts" : "out of memory");
        free(s);
        json_decref(o);
        return NULL;
    }
    s->seed = info->seed;
    s->number = info->number;
    s->stations = info->stations;
    *error = 0;
    only_options(o, error, size);
    s->pieces = (uint32_t)option(o, "pieces", 1, 100000000, 100, error, size);
    s->slots = (uint32_t)option(o, "slots", 1, SLOTS, 8, error, size);
    s->rto = option(o, "rto_us", 1, 1000000000, 1000, error, size) * 1000;
    s->give_up = option(o, "give_up_ms", 0, 1000000000, 0, error, size) * 1000000;
    s->self = info->address[info->number];
    s->at_switch = info->at_switch;
    json_decref(o);
    if (*error) {
        free(s);
        return NULL;
    }
    for (uint32_t i = 0; i < s->slots; i++)
        s->slot[i] = (struct slot){.piece = i, .unsent = i < s->pieces};
    return s;
}

static bool maximum_wants(const void *station, const uint8_t *frame, uint32_t length) {
    (void)station;
    return length >= FRAME && maximum_get(frame + 12, 2) == TYPE;
}

static void maximum_deliver(void *station, const uint8_t *frame, uint32_t length, uint64_t now) {
    struct station *s = station;
    if (!maximum_wants(s, frame, length) || frame[14] != 1)
        return;
    const uint32_t at = maximum_get(frame + 16, 2), round = maximum_get(frame + 18, 4);
    struct slot *slot = at < s->slots ? &s->slot[at] : NULL;
    if (!slot || slot->piece >= s->pieces || round != round_of(s, slot->piece)) {
        s->late++; // a result that it has
        return;
    }
    for (uint32_t i = 0; i < VALUES; i++) {
        const int32_t is = (int32_t)maximum_get(frame + HEADER + 4 * i, 4),
                      must = maximum_of(s, slot->piece, i);
        if (is != must && s->state != SILKEN_STATION_WRONG) {
            s->state = SILKEN_STATION_WRONG;
            snprintf(s->why, sizeof s->why, "number %u of piece %u is %d and must be %d", i,
                     slot->piece, is, must);
        }
    }
    s->done++;
    s->progress = now;
    slot->piece += s->slots;
    slot->unsent = slot->piece < s->pieces;
    if (s->done == s->pieces && s->state == SILKEN_STATION_BUSY)
        s->state = SILKEN_STATION_DONE;
}

static size_t maximum_next(void *station, uint8_t *frame, size_t size, uint64_t now) {
    struct station *s = station;
    if (s->state != SILKEN_STATION_BUSY || size < FRAME)
        return 0;
    for (uint32_t k = 0; k < s->slots; k++) {
        const uint32_t i = (s->turn + k) % s->slots;
        struct slot *slot = &s->slot[i];
        if (!slot->unsent)
            continue;
        s->turn = i + 1;
        slot->unsent = false;
        slot->again = now + s->rto;
        s->sent++;
        memcpy(frame, s->at_switch.mac, 6);
        memcpy(frame + 6, s->self.mac, 6);
        maximum_put(frame + 12, TYPE, 2);
        maximum_put(frame + 14, 0, 2);
        maximum_put(frame + 16, i, 2);
        maximum_put(frame + 18, round_of(s, slot->piece), 4);
        for (uint32_t v = 0; v < VALUES; v++)
            maximum_put(frame + HEADER + 4 * v,
                        (uint32_t)value_of(s->seed, s->number, slot->piece, v), 4);
        return FRAME;
    }
    return 0;
}

static uint64_t maximum_deadline(const void *station) {
    const struct station *s = station;
    uint64_t first = SILKEN_STATION_NEVER;
    for (uint32_t i = 0; i < s->slots && s->state == SILKEN_STATION_BUSY; i++)
        if (s->slot[i].piece < s->pieces && !s->slot[i].unsent && s->slot[i].again < first)
            first = s->slot[i].again;
    return first;
}

static void maximum_expire(void *station, uint64_t now) {
    struct station *s = station;
    for (uint32_t i = 0; i < s->slots && s->state == SILKEN_STATION_BUSY; i++) {
        struct slot *slot = &s->slot[i];
        if (slot->piece < s->pieces && !slot->unsent && slot->again <= now) {
            slot->unsent = true;
            s->repeated++;
        }
    }
    if (s->state == SILKEN_STATION_BUSY && s->give_up && now > s->progress + s->give_up) {
        s->state = SILKEN_STATION_FAILED;
        snprintf(s->why, sizeof s->why, "no result for %llu ms",
                 (unsigned long long)(s->give_up / 1000000));
    }
}

static enum silken_station_state maximum_state(const void *station, char *why, size_t size) {
    const struct station *s = station;
    snprintf(why, size, "%s", s->why);
    return s->state;
}

static void maximum_counts(const void *station,
                           void (*tell)(void *to, const char *name, uint64_t value), void *to) {
    const struct station *s = station;
    tell(to, "verified", (uint64_t)s->done * VALUES);
    tell(to, "sent", s->sent);
    tell(to, "repeated", s->repeated);
    tell(to, "late", s->late);
}

const struct silken_stations *silken_stations(void) {
    static const struct silken_stations maximum = {
        .version = SILKEN_STATION_VERSION,
        .open = maximum_open,
        .wants = maximum_wants,
        .deliver = maximum_deliver,
        .next = maximum_next,
        .deadline = maximum_deadline,
        .expire = maximum_expire,
        .state = maximum_state,
        .counts = maximum_counts,
        .close = free,
    };
    return &maximum;
}
