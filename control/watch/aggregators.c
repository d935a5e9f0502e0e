// SPDX-License-Identifier: Apache-2.0
#include "control/watch/aggregators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/names.h"

#define OWNERS  "owner.owners"
#define JOBS    128u
#define UNIT_NS 65536u

struct held {
    uint32_t n, oldest; // units since something was added
    uint32_t index;
    uint8_t pipe;
};
struct sk_aggregators {
    struct sk_switch *sw; // of 'owners'; another one is looked at again
    const struct sk_program_desc *program;
    bool found;
    struct sk_object owners;
    uint32_t fragment, time; // words of a cell
    unsigned pipe;
    uint64_t index;
    struct held now[JOBS], whole[JOBS]; // being counted; of the last time
};

struct sk_aggregators *sk_aggregators_new(void) {
    struct sk_aggregators *a = calloc(1, sizeof *a);
    if (!a)
        abort();
    return a;
}

void sk_aggregators_free(struct sk_aggregators *a) {
    free(a);
}

static int aggregators_word_of(const struct sk_register_desc *d, const char *name) {
    for (uint32_t i = 0; i < d->words; i++)
        if (d->word_names[i] && strcmp(d->word_names[i], name) == 0)
            return (int)i;
    return -1;
}

static void aggregators_begin(struct sk_aggregators *a, struct sk_switch *sw) {
    struct sk_error ignored;
    *a = (struct sk_aggregators){.sw = sw, .program = sk_switch_program(sw)};
    if (sk_find_object(sw, SK_REGISTER, OWNERS, &a->owners, &ignored))
        return;
    const struct sk_register_desc *d = &a->owners.desc->registers[a->owners.index];
    const int fragment = aggregators_word_of(d, "fragment"), time = aggregators_word_of(d, "time");
    a->found = !d->wide && fragment >= 0 && time >= 0;
    a->fragment = (uint32_t)fragment;
    a->time = (uint32_t)time;
}

static void aggregators_look_at(struct sk_aggregators *a, struct sk_switch *sw, uint32_t now) {
    const struct sk_pipeline_desc *d = a->owners.desc;
    struct sk_pipe *pipe = sk_switch_pipe(sw, a->pipe);
    const uint64_t fragment = d->register_read(pipe, a->owners.index, a->index, a->fragment);
    if (fragment == 0)
        return;
    struct held *h = &a->now[fragment >> 24 & (JOBS - 1)];
    const uint32_t age = now - (uint32_t)d->register_read(pipe, a->owners.index, a->index, a->time);
    // one that was added to after 'now' was read is as good as new
    const uint32_t units = age > UINT32_MAX / 2 ? 0 : age;
    if (h->n++ == 0 || units > h->oldest) {
        h->oldest = units;
        h->pipe = (uint8_t)a->pipe;
        h->index = (uint32_t)a->index;
    }
}

static void next_pipe(struct sk_aggregators *a) {
    a->index = 0;
    if (++a->pipe < SK_PIPES)
        return;
    a->pipe = 0;
    memcpy(a->whole, a->now, sizeof a->whole);
    memset(a->now, 0, sizeof a->now);
}

bool sk_aggregators_scan(struct sk_aggregators *a, struct sk_switch *sw, uint64_t now, uint32_t n) {
    if (a->sw != sw || a->program != sk_switch_program(sw))
        aggregators_begin(a, sw);
    const uint64_t size = a->found ? a->owners.desc->registers[a->owners.index].size : 0;
    for (; a->found && n > 0; n--) {
        if (!sk_object_in_pipe(sw, &a->owners, a->pipe) || a->index >= size) {
            next_pipe(a);
            continue;
        }
        aggregators_look_at(a, sw, (uint32_t)(now >> 16));
        a->index++;
    }
    return a->found;
}

// In all pipes that have them.
static uint64_t aggregators_size(const struct sk_aggregators *a) {
    const uint64_t size = a->found ? a->owners.desc->registers[a->owners.index].size : 0;
    unsigned pipes = 0;
    for (unsigned pipe = 0; a->found && pipe < SK_PIPES; pipe++)
        pipes += sk_object_in_pipe(a->sw, &a->owners, pipe);
    return size * pipes;
}

json_t *sk_aggregators_json(const struct sk_aggregators *a) {
    json_t *list = json_array();
    for (unsigned job = 0; job < JOBS; job++) {
        const struct held *h = &a->whole[job];
        char name[8];
        if (h->n == 0)
            continue;
        snprintf(name, sizeof name, "%u", job);
        json_array_append_new(list, json_pack("{s:s, s:s, s:I, s:I, s:I, s:i, s:I}", "name", name,
                                              "kind", "atp", "held", (json_int_t)h->n, "of",
                                              (json_int_t)aggregators_size(a), "oldest_ms",
                                              (json_int_t)((uint64_t)h->oldest * UNIT_NS / 1000000),
                                              "pipe", (int)h->pipe, "index", (json_int_t)h->index));
    }
    return list;
}
