// SPDX-License-Identifier: Apache-2.0
//
// Where workers are, and of whom a packet is (frame.h, PLACES and MEMBERS).
#include <string.h>

#include "hosts/atp/frame.h"
#include "silken/error.h"

static int atp_places_refused(const char **why, const char *text) {
    if (why)
        *why = text;
    return SILKEN_ERR_INVALID;
}

// The racks in the order in which workers name them.
struct racks {
    uint32_t count;
    uint32_t rack[ATP_MAX_RACKS]; // its number
    uint8_t entity[ATP_MAX_RACKS];
    uint8_t members[ATP_MAX_RACKS];
};

static uint32_t rack_at(const struct racks *r, uint32_t rack) {
    uint32_t i = 0;

    while (i < r->count && r->rack[i] != rack)
        i++;
    return i;
}

static bool atp_places_in_one_rack(const uint32_t *rack_of, uint32_t workers) {
    for (uint32_t i = 1; i < workers; i++)
        if (rack_of[i] != rack_of[0])
            return false;
    return true;
}

static int put_in_rack(struct racks *r, uint32_t rack, uint32_t worker, struct atp_shape *shape,
                       const char **why) {
    uint32_t at = rack_at(r, rack);
    uint8_t entity, bit;

    if (at == r->count) {
        if (shape->entities == ATP_MAX_RACKS) {
            return atp_places_refused(why,
                                      "more than 32 racks and workers below the server's switch");
        }
        r->rack[at] = rack;
        r->entity[at] = (uint8_t)shape->entities++;
        r->members[at] = 0;
        r->count++;
    }
    if (r->members[at] == ATP_MAX_FAN_IN)
        return atp_places_refused(why, "more than 32 workers in a rack");
    entity = r->entity[at];
    bit = r->members[at]++;
    shape->entity[worker] = entity;
    shape->bit[worker] = bit;
    shape->worker_at[entity][bit] = (uint16_t)worker;
    return 0;
}

static int put_beside(uint32_t worker, struct atp_shape *shape, const char **why) {
    if (shape->entities == ATP_MAX_RACKS)
        return atp_places_refused(why, "more than 32 racks and workers below the server's switch");
    shape->entity[worker] = (uint8_t)shape->entities;
    shape->beside[worker] = true;
    shape->worker_at[shape->entities++][0] = (uint16_t)worker;
    return 0;
}

static struct atp_place atp_places_of(const struct atp_shape *shape, const struct racks *racks,
                                      uint32_t worker) {
    struct atp_place place = {.edge = shape->beside[worker],
                              .bitmap1 = UINT32_C(1) << shape->entity[worker],
                              .fan_in0 = 1,
                              .fan_in1 = (uint8_t)shape->entities};

    if (place.edge)
        return place;
    place.bitmap0 = UINT32_C(1) << shape->bit[worker];
    for (uint32_t i = 0; i < racks->count; i++)
        if (racks->entity[i] == shape->entity[worker])
            place.fan_in0 = racks->members[i];
    return place;
}

int atp_places(const uint32_t *rack_of, uint32_t workers, uint32_t server_rack,
               struct atp_shape *shape, struct atp_place *places, const char **why) {
    struct racks racks = {0};
    bool one_rack;

    if (workers < 1 || workers > ATP_MAX_WORKERS)
        return atp_places_refused(why, "the number of workers must be 1..1024");
    one_rack = atp_places_in_one_rack(rack_of, workers);
    memset(shape, 0, sizeof *shape);
    memset(shape->worker_at, 0xff, sizeof shape->worker_at);
    shape->workers = workers;
    for (uint32_t i = 0; i < workers; i++) {
        int rc = !one_rack && rack_of[i] == server_rack
                     ? put_beside(i, shape, why)
                     : put_in_rack(&racks, rack_of[i], i, shape, why);
        if (rc != 0)
            return rc;
    }
    for (uint32_t i = 0; places && i < workers; i++)
        places[i] = atp_places_of(shape, &racks, i);
    return 0;
}

// ---- members ---------------------------------------------------------------------------------

static void add_member(struct atp_members *members, uint32_t worker) {
    members->word[worker / 64] |= UINT64_C(1) << worker % 64;
}

// The workers of these bits below one entity; false if a bit is nobody's.
static bool atp_places_add_bits(const struct atp_shape *shape, uint32_t entity, uint32_t bits,
                                struct atp_members *members) {
    for (; bits; bits &= bits - 1) {
        uint16_t worker = shape->worker_at[entity][__builtin_ctz(bits)];
        if (worker == UINT16_MAX)
            return false;
        add_member(members, worker);
    }
    return true;
}

// All below one entity.
static void atp_places_add_all(const struct atp_shape *shape, uint32_t entity,
                               struct atp_members *members) {
    for (uint32_t bit = 0; bit < ATP_MAX_FAN_IN; bit++)
        if (shape->worker_at[entity][bit] != UINT16_MAX)
            add_member(members, shape->worker_at[entity][bit]);
}

bool atp_members(const struct atp_shape *shape, const struct atp_packet *packet,
                 struct atp_members *members) {
    uint32_t entities = packet->bitmap1;
    uint32_t first = entities ? (uint32_t)__builtin_ctz(entities) : 0;

    memset(members, 0, sizeof *members);
    if (!entities || (shape->entities < 32 && entities >> shape->entities != 0))
        return false;
    if ((entities & (entities - 1)) != 0) {
        for (; entities; entities &= entities - 1)
            atp_places_add_all(shape, (uint32_t)__builtin_ctz(entities), members);
        return true;
    }
    if (shape->worker_at[first][0] != UINT16_MAX && shape->beside[shape->worker_at[first][0]]) {
        add_member(members, shape->worker_at[first][0]);
        return true;
    }
    if (!packet->bitmap0 || !atp_places_add_bits(shape, first, packet->bitmap0, members)) {
        memset(members, 0, sizeof *members);
        return false;
    }
    return true;
}
