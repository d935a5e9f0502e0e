// SPDX-License-Identifier: Apache-2.0
#include "hosts/atp/server.h"

#include <stdlib.h>
#include <string.h>

#include "hosts/atp/server_impl.h"
#include "hosts/core/rto.h"

// ---- making and freeing ----------------------------------------------------------------------

void atp_server_config_init(struct atp_server_config *config) {
    *config = (struct atp_server_config){
        .type = ATP_F32,
        .indices = ATP_INDICES,
        .rehash = true,
        .window_max = 4096,
        .repeat_every = 500000,
        .restart_every = 10000000,
    };
}

static const char *shape_fault(const struct atp_shape *shape) {
    if (shape->workers < 1 || shape->workers > ATP_MAX_WORKERS || shape->entities < 1 ||
        shape->entities > ATP_MAX_RACKS)
        return "the job's shape must come from atp_places()";
    return NULL;
}

static const char *atp_server_config_fault(const struct atp_server_config *c) {
    const char *fault = atp_flow_fault(&c->flow);

    if (fault || (fault = shape_fault(&c->shape)) != NULL)
        return fault;
    if (c->indices < 1 || c->indices > ATP_INDICES || c->first_index > ATP_INDICES - c->indices)
        return "the aggregators must be at least one and lie within 0..65535";
    if (c->window_max < 1 || c->window_max > ATP_WINDOW_LIMIT)
        return "window_max must be 1..16384";
    if (c->restart_every < 1)
        return "the time between two restart packets must be above 0";
    return c->type == ATP_F32 || c->type == ATP_I32 ? NULL : "the type must be float32 or int32";
}

// What follows from the shape.
static void atp_server_take_shape(struct atp_server *s, const struct atp_shape *shape) {
    s->config.shape = *shape;
    memset(s->rack_bits, 0, sizeof s->rack_bits);
    memset(&s->all, 0, sizeof s->all);
    for (uint32_t i = 0; i < shape->workers; i++) {
        s->all.word[i / 64] |= UINT64_C(1) << i % 64;
        if (!shape->beside[i])
            s->rack_bits[shape->entity[i]] |= UINT32_C(1) << shape->bit[i];
    }
}

static struct atp_server *atp_server_allocate(const struct atp_server_config *config) {
    struct atp_server *s = calloc(1, sizeof *s);
    size_t ring = 1;

    if (!s)
        return NULL;
    while (ring < 2 * (size_t)config->window_max)
        ring *= 2;
    s->ring_mask = ring - 1;
    s->words = (config->shape.workers + 63) / 64;
    s->fragments = calloc(ring, sizeof *s->fragments);
    s->have = calloc(ring * s->words, sizeof *s->have);
    s->sums = calloc(ring, sizeof *s->sums);
    s->queue = calloc(ring, sizeof *s->queue);
    if (!s->fragments || !s->have || !s->sums || !s->queue) {
        atp_server_free(s);
        return NULL;
    }
    return s;
}

int atp_server_new(struct atp_server **out, const struct atp_server_config *config,
                   const char **why) {
    const char *fault = atp_server_config_fault(config);
    struct atp_server *s;

    if (fault) {
        if (why)
            *why = fault;
        return SILKEN_ERR_INVALID;
    }
    s = atp_server_allocate(config);
    if (!s)
        return SILKEN_ERR_NOMEM;
    s->config = *config;
    s->numbers = atp_numbers_best();
    s->first = config->first_fragment;
    atp_server_take_shape(s, &config->shape);
    atp_scale_init(s);
    atp_frame_init(s->header, &config->flow, false);
    *out = s;
    return 0;
}

void atp_server_enter(struct atp_server *s, uint16_t session) {
    size_t ring = s->ring_mask + 1;

    s->config.flow.session = session;
    atp_frame_init(s->header, &s->config.flow, false);
    memset(s->fragments, 0, ring * sizeof *s->fragments);
    memset(s->have, 0, ring * s->words * sizeof *s->have);
    s->queue_head = s->queue_length = 0;
    s->first = s->config.first_fragment;
    atp_scale_init(s);
    s->restarting = s->restart_due = false;
    s->restart_from = s->restart_to = 0;
}

void atp_server_free(struct atp_server *s) {
    if (!s)
        return;
    free(s->fragments);
    free(s->have);
    free(s->sums);
    free(s->queue);
    free(s);
}

// ---- sets of workers -------------------------------------------------------------------------

static uint64_t *have_at(const struct atp_server *s, uint64_t number) {
    return &s->have[(number & s->ring_mask) * s->words];
}

// The sum over all, as it comes from the switches.
static bool is_of_all(const struct atp_server *s, const struct atp_packet *p) {
    uint32_t entities = s->config.shape.entities;

    if (entities == 1)
        return p->bitmap1 == 1 && p->bitmap0 == s->rack_bits[0];
    return p->bitmap1 == (entities == 32 ? UINT32_MAX : (UINT32_C(1) << entities) - 1);
}

static uint32_t count_members(const struct atp_server *s, const struct atp_members *m) {
    uint32_t n = 0;

    for (unsigned i = 0; i < s->words; i++)
        n += (uint32_t)__builtin_popcountll(m->word[i]);
    return n;
}

enum overlap { APART, INCLUDES, OVERLAPS };

// How a packet's workers are to those that are there already.
static enum overlap overlap(const struct atp_server *s, const uint64_t *have,
                            const struct atp_members *m) {
    uint64_t common = 0, lost = 0, more = 0;

    for (unsigned i = 0; i < s->words; i++) {
        common |= have[i] & m->word[i];
        lost |= have[i] & ~m->word[i];
        more |= m->word[i] & ~have[i];
    }
    if (!common)
        return APART;
    return lost || !more ? OVERLAPS : INCLUDES;
}

// ---- sums ------------------------------------------------------------------------------------

static void begin_sum(struct atp_server *s, const struct atp_fragment *f, const uint8_t *values) {
    union atp_sum *sum = atp_sum_at(s, f->number);

    if (f->floats)
        s->numbers->begin_floats(sum->real, values);
    else if (s->config.type == ATP_F32)
        s->numbers->begin(sum->integer, values);
    else
        s->numbers->begin_integers(sum->integer, values);
}

static void add_to_sum(struct atp_server *s, const struct atp_fragment *f, const uint8_t *values) {
    union atp_sum *sum = atp_sum_at(s, f->number);

    if (f->floats)
        s->numbers->add_floats(sum->real, values);
    else if (s->config.type == ATP_F32)
        s->numbers->add(sum->integer, values);
    else
        s->numbers->add_integers(sum->integer, values);
}

// Turns the sum into what is sent.
static void finish_sum(struct atp_server *s, const struct atp_fragment *f) {
    union atp_sum *sum = atp_sum_at(s, f->number), from = *sum;

    if (f->floats)
        s->numbers->doubles_to_floats(sum->wire, from.real);
    else if (s->config.type == ATP_F32)
        s->numbers->sums_to_floats(sum->wire, from.integer, 1 / atp_scale_of(s, f->number));
    else
        s->numbers->sums_to_integers(sum->wire, from.integer);
}

// The same for one packet that has it all.
static void finish_at_once(struct atp_server *s, const struct atp_fragment *f,
                           const uint8_t *values) {
    union atp_sum *sum = atp_sum_at(s, f->number);

    if (f->floats || s->config.type == ATP_I32)
        memcpy(sum->wire, values, 4 * ATP_VALUES);
    else
        s->numbers->to_floats(sum->wire, values, 1 / atp_scale_of(s, f->number));
}

// ---- fragments -------------------------------------------------------------------------------

// Begins a fragment again, with nobody in its sum.
static void clear_fragment(struct atp_server *s, struct atp_fragment *f, uint64_t number) {
    bool queued = f->queued;

    *f = (struct atp_fragment){
        .number = number, .missing = s->config.shape.workers, .queued = queued};
    memset(have_at(s, number), 0, s->words * sizeof(uint64_t));
}

static void atp_server_complete(struct atp_server *s, struct atp_fragment *f, uint64_t now) {
    f->state = ATP_SLOT_COMPLETE;
    s->stats.completed++;
    while (atp_fragment_at(s, s->first)->state == ATP_SLOT_COMPLETE &&
           atp_fragment_at(s, s->first)->number == s->first)
        s->first++;
    f->scale = atp_scale_judge(s, f);
    memset(have_at(s, f->number), 0, s->words * sizeof(uint64_t)); // from now on: who has asked
    atp_send(s, f, ATP_ALL_INDICES, now);
}

// A value may have been beyond its range: what is there is thrown away.
static void ask_for_floats(struct atp_server *s, struct atp_fragment *f, uint64_t now) {
    f->missing = s->config.shape.workers;
    memset(have_at(s, f->number), 0, s->words * sizeof(uint64_t));
    f->floats = true;
    f->burst = true;
    f->state = ATP_SLOT_SUMMING;
    s->stats.overflows++;
    s->scaling.overflows++;
    atp_send(s, f, ATP_ALL_INDICES, now);
}

static void note_collision(struct atp_server *s, struct atp_fragment *f,
                           const struct atp_packet *p) {
    uint32_t at = (uint32_t)p->index - s->config.first_index;

    if (s->config.rehash && p->collision && !f->rehash && p->index >= s->config.first_index &&
        at < s->config.indices && s->config.indices > 1) {
        f->rehash = ATP_NEW | (s->config.first_index +
                               atp_rehash(at, s->config.indices,
                                          (uint32_t)p->job << ATP_SEQUENCE_BITS | p->sequence));
        s->stats.rehashed++;
    }
}

// Adds a packet whose workers are all missing, or takes it for what is there.
static void atp_server_add(struct atp_server *s, struct atp_fragment *f, const struct atp_packet *p,
                           const struct atp_members *m, enum overlap how, uint64_t now) {
    uint32_t n = count_members(s, m);
    uint64_t *have = have_at(s, f->number);
    bool alone =
        f->state == ATP_SLOT_EMPTY || how == INCLUDES || f->missing == s->config.shape.workers;

    for (unsigned i = 0; i < s->words; i++)
        have[i] = alone ? m->word[i] : have[i] | m->word[i];
    f->missing = alone ? s->config.shape.workers - n : f->missing - n;
    f->state = ATP_SLOT_SUMMING;
    s->stats.gradients++;
    s->stats.values_from[n == 1 ? 0 : n < s->config.shape.workers ? 1 : 2]++;
    if (f->floats)
        atp_scale_see_floats(s, p->values);
    else
        atp_scale_see_sum(s, p->values);
    if (alone && f->missing == 0) {
        finish_at_once(s, f, p->values);
        atp_server_complete(s, f, now);
        return;
    }
    if (alone)
        begin_sum(s, f, p->values);
    else
        add_to_sum(s, f, p->values);
    if (f->missing == 0) {
        finish_sum(s, f);
        atp_server_complete(s, f, now);
    }
}

// ---- receiving -------------------------------------------------------------------------------

// Of a complete fragment: whether one of these workers has asked since it was answered last. Its
// answer was lost then: it asks again only after what it sent later than its question has come
// back.
static bool asks_again(struct atp_server *s, const struct atp_fragment *f,
                       const struct atp_members *m) {
    uint64_t *asked = have_at(s, f->number), again = 0;

    for (unsigned i = 0; i < s->words; i++) {
        again |= asked[i] & m->word[i];
        asked[i] |= m->word[i];
    }
    return again != 0;
}

// Answers about a fragment that it has answered before, but not all of a burst. What was complete
// without anybody sending it again is asked for because parameters were lost: that is the first.
static void atp_server_answer(struct atp_server *s, struct atp_fragment *f,
                              const struct atp_members *m, uint16_t index, uint64_t now) {
    uint8_t known = f->indices;
    unsigned bit = atp_note_index(f, index);
    bool again = f->state == ATP_SLOT_COMPLETE && asks_again(s, f, m);

    if (f->indices == known && f->burst && !again &&
        now < sk_time_add(f->answered_at, s->config.repeat_every))
        return;
    if (f->state == ATP_SLOT_COMPLETE)
        memcpy(have_at(s, f->number), m->word, s->words * sizeof(uint64_t));
    f->burst = true;
    s->stats.repeated += f->state == ATP_SLOT_COMPLETE;
    atp_send(s, f, bit, now);
}

static void atp_server_hear(struct atp_server *s, const struct atp_members *m) {
    uint64_t missing = 0;

    for (unsigned i = 0; i < s->words; i++) {
        s->heard.word[i] |= m->word[i];
        missing |= s->all.word[i] & ~s->heard.word[i];
    }
    s->restarting = s->restarting && missing != 0;
}

// For one who uses numbers of before the restart.
static void repeat_restart(struct atp_server *s, uint64_t now) {
    if (now >= sk_time_add(s->restart_at, s->config.repeat_every))
        s->restart_due = true;
}

static enum atp_reason take_old(struct atp_server *s, const struct atp_packet *p, uint64_t number,
                                uint64_t now) {
    struct atp_fragment *f = atp_fragment_at(s, number);
    struct atp_members m;

    if (f->number == number && f->state == ATP_SLOT_COMPLETE) {
        atp_members(&s->config.shape, p, &m); // nobody, if its bits are of another shape
        atp_server_answer(s, f, &m, p->index, now);
    } else if (number >= s->restart_from && number < s->restart_to) {
        repeat_restart(s, now);
    }
    return ATP_OLD;
}

// A gradient of a fragment in the window, of these workers.
static enum atp_reason take_gradient(struct atp_server *s, const struct atp_packet *p,
                                     uint64_t number, const struct atp_members *m, uint64_t now) {
    struct atp_fragment *f = atp_fragment_at(s, number);
    enum overlap how;

    if (f->number == number && f->state == ATP_SLOT_COMPLETE) {
        atp_server_answer(s, f, m, p->index, now);
        return ATP_OLD;
    }
    if (f->number != number || f->state == ATP_SLOT_EMPTY)
        clear_fragment(s, f, number);
    if (f->floats && !p->overflow) {
        atp_server_answer(s, f, m, p->index, now);
        return ATP_NOT_FLOAT;
    }
    if (p->overflow && s->config.type != ATP_F32)
        return ATP_NOT_FLOAT;
    if (p->overflow && !f->floats) { // a worker's own values did not fit: all send floats
        atp_note_index(f, p->index);
        ask_for_floats(s, f, now);
    }
    how = overlap(s, have_at(s, number), m);
    f->ecn = f->ecn || p->ecn;
    s->stats.marks += p->ecn;
    note_collision(s, f, p);
    atp_note_index(f, p->index);
    f->burst = f->burst || (p->resend && !p->collision);
    if (how == OVERLAPS)
        return ATP_DUPLICATE;
    if (!f->floats && s->config.type == ATP_F32 && s->numbers->saturated(p->values)) {
        ask_for_floats(s, f, now);
        return ATP_ACCEPTED;
    }
    atp_server_add(s, f, p, m, how, now);
    if (f->state == ATP_SLOT_COMPLETE && p->resend && !p->collision)
        memcpy(have_at(s, number), m->word, s->words * sizeof(uint64_t)); // those have asked
    return ATP_ACCEPTED;
}

static enum atp_reason atp_server_take(struct atp_server *s, const struct atp_packet *p,
                                       uint64_t now) {
    uint64_t number = atp_unwrap(&s->config.flow, p->sequence, s->first);
    struct atp_members m;

    if (p->is_ack)
        return ATP_WRONG_WAY;
    if (!atp_is_of(&s->config.flow, p))
        return ATP_WRONG_JOB;
    if ((int64_t)(number - s->first) < 0)
        return take_old(s, p, number, now);
    if (number - s->first >= s->config.window_max)
        return ATP_AHEAD;
    if (is_of_all(s, p))
        m = s->all;
    else if (!atp_members(&s->config.shape, p, &m))
        return ATP_WRONG_MEMBERS;
    if (s->restarting)
        atp_server_hear(s, &m);
    return take_gradient(s, p, number, &m, now);
}

enum atp_reason atp_server_read(struct atp_server *s, const uint8_t *frame, size_t len,
                                uint64_t now) {
    struct atp_packet packet;
    enum atp_reason reason =
        atp_frame_check_known(&s->config.flow.server, &s->known, frame, len, &packet);

    if (reason == ATP_ACCEPTED)
        reason = atp_server_take(s, &packet, now);
    s->stats.ignored[reason] += reason != ATP_ACCEPTED;
    return reason;
}

// ---- restarts --------------------------------------------------------------------------------

// Who has not heard of it after so many packets is told when something comes with an old number.
#define RESTARTS 10

// What is complete behind `first` keeps that under its new number, in the same slot, but for what
// has no meaning after a restart. All else is empty.
static void renumber(struct atp_server *s, uint64_t jump) {
    for (uint64_t n = s->first; n < s->first + s->config.window_max; n++) {
        struct atp_fragment *f = atp_fragment_at(s, n);
        if (f->number == n && f->state == ATP_SLOT_COMPLETE) {
            f->number = n + jump;
            f->rehash = f->scale = 0;
            f->indices = 0;
            f->pending = 0;
        } else {
            f->state = ATP_SLOT_EMPTY;
        }
    }
}

int atp_server_reshape(struct atp_server *s, const struct atp_shape *shape, uint64_t now,
                       const char **why) {
    const char *fault = shape_fault(shape);

    if (!fault && shape->workers != s->config.shape.workers)
        fault = "the number of a job's workers cannot change";
    if (fault) {
        if (why)
            *why = fault;
        return SILKEN_ERR_INVALID;
    }
    atp_server_take_shape(s, shape);
    s->restart_from = s->first;
    s->restart_to = s->first + s->ring_mask + 1;
    renumber(s, s->ring_mask + 1);
    s->first = s->restart_to;
    atp_scale_init(s);
    memset(&s->heard, 0, sizeof s->heard);
    s->restarting = true;
    s->restart_due = true;
    s->restart_at = now;
    s->restart_every = s->config.restart_every;
    s->restarts_left = RESTARTS;
    return 0;
}

uint64_t atp_server_deadline(const struct atp_server *s) {
    return s->restarting && !s->restart_due ? sk_time_add(s->restart_at, s->restart_every)
                                            : ATP_NEVER;
}

void atp_server_expire(struct atp_server *s, uint64_t now) {
    if (now >= atp_server_deadline(s)) {
        s->restart_due = true;
        s->restart_every = sk_time_add(s->restart_every, s->restart_every);
        s->restarting = --s->restarts_left > 0;
    }
}

// ---- looking inside --------------------------------------------------------------------------

uint64_t atp_server_first(const struct atp_server *s) {
    return s->first;
}

struct atp_server_stats atp_server_stats(const struct atp_server *s) {
    return s->stats;
}

bool atp_server_look(const struct atp_server *s, uint64_t number, struct atp_members *members,
                     bool *complete) {
    const struct atp_fragment *f = atp_fragment_at(s, number);

    if (f->number != number || f->state == ATP_SLOT_EMPTY)
        return false;
    memset(members, 0, sizeof *members);
    *complete = f->state == ATP_SLOT_COMPLETE;
    memcpy(members->word, *complete ? s->all.word : have_at(s, number),
           s->words * sizeof(uint64_t));
    return true;
}
