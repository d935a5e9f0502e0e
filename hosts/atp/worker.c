// SPDX-License-Identifier: Apache-2.0
#include "hosts/atp/worker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/atp/numbers.h"
#include "hosts/atp/worker_impl.h"
#include "hosts/core/fetch.h"

// ---- making and freeing ----------------------------------------------------------------------

static bool is_one_bit(uint32_t bits) {
    return bits != 0 && (bits & (bits - 1)) == 0;
}

static const char *place_fault(const struct atp_place *p) {
    if (!is_one_bit(p->bitmap1) || (!p->edge && !is_one_bit(p->bitmap0)))
        return "a worker has one bit for each switch on its path";
    if (p->fan_in0 < 1 || p->fan_in0 > ATP_MAX_FAN_IN || p->fan_in1 < 1 ||
        p->fan_in1 > ATP_MAX_FAN_IN)
        return "fan-ins must be 1..32";
    return NULL;
}

static const char *atp_worker_config_fault(const struct atp_worker_config *c) {
    const char *fault = atp_flow_fault(&c->flow);

    if (fault || (fault = place_fault(&c->place)) != NULL)
        return fault;
    if (c->indices < 1 || c->indices > ATP_INDICES || c->first_index > ATP_INDICES - c->indices)
        return "the aggregators must be at least one and lie within 0..65535";
    if (c->window < 1 || c->window > c->window_max || c->window_max > ATP_WINDOW_LIMIT)
        return "the window must be at least 1, and within window_max, which is at most 16384";
    if (c->rto_min < 1 || c->rto_min > c->rto_max || c->rto_max > ATP_NEVER / 4)
        return "the timeout's bounds must be 0 < rto_min <= rto_max";
    if (c->stall_warning < 1 || c->hard_limit < 1)
        return "the stall warning and hard limit must be above 0";
    return NULL;
}

void atp_worker_config_init(struct atp_worker_config *config) {
    *config = (struct atp_worker_config){
        .indices = ATP_INDICES,
        .window = 200,
        .window_max = 4096,
        .rto_initial = 10000000,
        .rto_min = 1000000,
        .rto_max = 1000000000,
        .stall_warning = ATP_NEVER,
        .hard_limit = ATP_NEVER,
    };
}

static struct atp_worker *atp_worker_allocate(const struct atp_worker_config *config) {
    struct atp_worker *w = calloc(1, sizeof *w);
    size_t ring = 1;

    if (!w)
        return NULL;
    while (ring < config->window_max)
        ring *= 2;
    w->ring_mask = ring - 1;
    w->slots = calloc(ring, sizeof *w->slots);
    w->queue = calloc(ring, sizeof *w->queue);
    w->remaps = calloc(config->indices, sizeof *w->remaps);
    if (!w->slots || !w->queue || !w->remaps) {
        atp_worker_free(w);
        return NULL;
    }
    return w;
}

// What follows from the place. Between two switches no sum may saturate (worker.h, NUMBERS).
static void atp_worker_take_place(struct atp_worker *w) {
    bool two_levels = !w->config.place.edge && w->config.place.fan_in1 > 1;
    struct atp_packet packet = {.bitmap0 = w->config.place.bitmap0,
                                .bitmap1 = w->config.place.bitmap1,
                                .edge = w->config.place.edge,
                                .fan_in0 = w->config.place.fan_in0,
                                .fan_in1 = w->config.place.fan_in1,
                                .job = w->config.flow.job};

    w->largest_at = 0;
    w->greatest = two_levels ? INT32_MAX / w->config.place.fan_in0 : INT32_MAX - 1;
    atp_frame_init(w->header, &w->config.flow, true);
    atp_frame_set(w->header, &packet);
}

int atp_worker_new(struct atp_worker **out, const struct atp_worker_config *config,
                   const char **why) {
    const char *fault = atp_worker_config_fault(config);
    struct atp_worker *w;

    if (fault) {
        if (why)
            *why = fault;
        return SILKEN_ERR_INVALID;
    }
    w = atp_worker_allocate(config);
    if (!w)
        return SILKEN_ERR_NOMEM;
    w->config = *config;
    w->next_place = config->place;
    w->quantise = config->quantise ? config->quantise : sk_quantise_best();
    w->base = w->next = w->end = w->restarted_at = config->first_fragment;
    w->scale = ATP_SCALE;
    sk_window_init(&w->window, config->window, config->window_max, ATP_MTU_PACKETS,
                   config->fixed_window);
    sk_rto_init(&w->rto, config->rto_initial, config->rto_min, config->rto_max);
    w->watch = (struct sk_watch){.warning = config->stall_warning, .limit = config->hard_limit};
    atp_worker_take_place(w);
    *out = w;
    return 0;
}

void atp_worker_enter(struct atp_worker *w, uint16_t session, uint64_t now) {
    if (w->config.flow.session != session) {
        w->config.flow.session = session;
        atp_worker_take_place(w);
        sk_watch_start(&w->watch, now);
    }
}

void atp_worker_free(struct atp_worker *w) {
    if (!w)
        return;
    while (w->jobs) {
        struct atp_job *job = w->jobs;
        w->jobs = job->next;
        free(job);
    }
    free(w->slots);
    free(w->queue);
    free(w->remaps);
    free(w);
}

void atp_worker_move(struct atp_worker *w, const struct atp_place *place) {
    w->next_place = *place;
}

// ---- tensors ---------------------------------------------------------------------------------

static bool atp_worker_tensor_is_valid(const struct atp_tensor *t) {
    bool known = t->type == ATP_F32 || t->type == ATP_I32;

    return known && t->count <= SIZE_MAX / 8 && (t->count == 0 || (t->in && t->out));
}

bool atp_worker_busy(const struct atp_worker *w) {
    return w->base < w->end;
}

int atp_worker_submit(struct atp_worker *w, const struct atp_tensor *tensor, uint64_t now) {
    struct atp_job *job;

    if (w->failed)
        return SILKEN_ERR_STALLED;
    if (!atp_worker_tensor_is_valid(tensor))
        return SILKEN_ERR_INVALID;
    job = calloc(1, sizeof *job);
    if (!job)
        return SILKEN_ERR_NOMEM;
    if (!atp_worker_busy(w))
        sk_watch_start(&w->watch, now);
    job->tensor = *tensor;
    job->number = w->next_number++;
    job->first = w->end;
    job->fragments = job->missing = tensor->count / ATP_VALUES + (tensor->count % ATP_VALUES != 0);
    w->end += job->fragments;
    *(w->jobs ? &w->jobs_last->next : &w->jobs) = job;
    w->jobs_last = job;
    if (!w->sending && job->fragments > 0)
        w->sending = job;
    if (job->fragments == 0)
        w->stats.tensors_done++;
    return 0;
}

bool atp_worker_done(struct atp_worker *w, void **cookie) {
    struct atp_job *job = w->jobs;

    if (!job || job->missing > 0)
        return false;
    *cookie = job->tensor.cookie;
    w->jobs = job->next;
    free(job);
    return true;
}

// The elements of a fragment of a tensor: where they begin, and how many there are.
static size_t fragment_offset(const struct atp_job *job, uint64_t position) {
    return (size_t)(position - job->first) * ATP_VALUES;
}

static size_t fragment_elements(const struct atp_job *job, uint64_t position) {
    size_t left = job->tensor.count - fragment_offset(job, position);

    return left < ATP_VALUES ? left : ATP_VALUES;
}

// ---- the flow's numbers ----------------------------------------------------------------------

static uint32_t sequence_of(const struct atp_worker *w, uint64_t position) {
    return atp_sequence(&w->config.flow, position + w->shift);
}

// The position of a number of the present; it may be before 0 as well as after what is there.
static uint64_t position_of(const struct atp_worker *w, uint32_t sequence) {
    return atp_unwrap(&w->config.flow, sequence, w->base + w->shift) - w->shift;
}

static bool is_before(uint64_t position, uint64_t other) {
    return (int64_t)(position - other) < 0;
}

// Finds the fragment in flight that was sent with a number.
static bool find_sent(const struct atp_worker *w, uint32_t sequence, uint64_t *position) {
    uint64_t p = position_of(w, sequence);

    if (p >= w->base && p < w->next && atp_slot_at(w, p)->sequence == sequence) {
        *position = p;
        return atp_slot_at(w, p)->tries > 0;
    }
    for (p = w->base; p < w->restarted_at && p < w->next; p++) {
        if (atp_slot_at(w, p)->sequence == sequence) {
            *position = p;
            return atp_slot_at(w, p)->tries > 0;
        }
    }
    return false;
}

static uint32_t atp_worker_hash_of(const struct atp_worker *w, uint32_t sequence) {
    return atp_hash(w->config.flow.job, sequence, w->config.indices, w->config.linear);
}

static uint16_t atp_worker_index_of(const struct atp_worker *w, uint32_t sequence) {
    uint32_t at = atp_worker_hash_of(w, sequence);

    return w->remaps[at].stamp ? w->remaps[at].index : (uint16_t)(w->config.first_index + at);
}

// ---- sending ---------------------------------------------------------------------------------

// Fragments of a tensor are read in order; those so many bytes behind are fetched into the
// cache.
#define FETCH_AHEAD 4096

static void atp_worker_fetch_ahead(const struct atp_job *job, size_t offset) {
    size_t at = 4 * offset + FETCH_AHEAD;
    const char *in = job->tensor.in;

    if (at + 4 * ATP_VALUES <= 4 * job->tensor.count)
        sk_fetch(in + at, 4 * ATP_VALUES);
}

// Whether the floats are small enough to be sent as fixed point numbers.
static bool are_small(struct atp_worker *w, const float *in, size_t n, double scale) {
    if (scale != w->largest_at) {
        w->largest_at = scale;
        w->largest = atp_largest_bits(w->greatest, scale);
    }
    return w->quantise->max_abs_bits(in, n) <= w->largest;
}

// Writes the values; false if they are floats of which some are too large for fixed point
// numbers.
static bool write_values(struct atp_worker *w, const struct atp_slot *slot, uint64_t position,
                         uint8_t *out) {
    const struct atp_job *job = slot->job;
    size_t n = fragment_elements(job, position), offset = fragment_offset(job, position);
    const char *in = (const char *)job->tensor.in + 4 * offset;

    atp_worker_fetch_ahead(job, offset);
    if (job->tensor.type == ATP_F32 && !slot->floats) {
        if (!are_small(w, (const float *)(const void *)in, n, slot->scale))
            return false;
        w->quantise->f32_to_wire(out, (const float *)(const void *)in, n, slot->scale);
    } else {
        w->quantise->i32_to_wire(out, (const int32_t *)(const void *)in, n);
    }
    if (n < ATP_VALUES)
        memset(out + 4 * n, 0, 4 * (ATP_VALUES - n));
    return true;
}

static void atp_worker_write_fragment(struct atp_worker *w, uint64_t position, uint8_t *buf,
                                      uint64_t now) {
    struct atp_slot *slot = atp_slot_at(w, position);
    struct atp_mark mark = {
        .sequence = slot->sequence, .index = slot->index, .resend = slot->tries > 0};

    if (!write_values(w, slot, position, buf + ATP_HEADER_BYTES)) {
        slot->floats = true;
        w->stats.floats++;
        write_values(w, slot, position, buf + ATP_HEADER_BYTES);
    }
    mark.overflow = slot->floats;
    memcpy(buf, w->header, ATP_HEADER_BYTES);
    atp_frame_mark(buf, &w->config.flow, &mark);
    w->stats.packets_sent++;
    w->stats.retransmissions += mark.resend;
    slot->tries++;
    slot->sent_at = now;
    slot->serial = ++w->serial;
}

// What is to be sent again, if anything is.
static bool next_queued(struct atp_worker *w, uint64_t *position) {
    while (w->queue_length > 0) {
        uint32_t index = w->queue[w->queue_head];
        struct atp_slot *slot = &w->slots[index];

        w->queue_head = (w->queue_head + 1) & (uint32_t)w->ring_mask;
        w->queue_length--;
        if (slot->queued) {
            slot->queued = false;
            *position = w->base + ((index - w->base) & w->ring_mask);
            return true;
        }
    }
    return false;
}

void atp_resend(struct atp_worker *w, uint64_t position) {
    struct atp_slot *slot = atp_slot_at(w, position);
    uint32_t tail = (w->queue_head + w->queue_length) & (uint32_t)w->ring_mask;

    if (!slot->queued) {
        slot->queued = true;
        w->queue[tail] = (uint32_t)(position & w->ring_mask);
        w->queue_length++;
    }
}

// Makes the slot of the next fragment ready for its first transmission.
static void atp_worker_enter_fragment(struct atp_worker *w, uint64_t position) {
    struct atp_slot *slot = atp_slot_at(w, position);

    if (w->coming_scale != 0 && position >= w->scale_from) {
        w->scale = w->coming_scale;
        w->coming_scale = 0;
    }
    slot->job = w->sending;
    slot->floats = slot->floats && w->sending->tensor.type == ATP_F32;
    slot->scale = w->scale;
    slot->sequence = sequence_of(w, position);
    slot->index = atp_worker_index_of(w, slot->sequence);
}

// Goes on after the fragment `next`.
static void atp_worker_step(struct atp_worker *w) {
    w->next++;
    while (w->sending && w->next >= w->sending->first + w->sending->fragments)
        w->sending = w->sending->next;
}

static bool may_send_new(const struct atp_worker *w) {
    return w->next < w->end && w->next < w->base + w->window.packets;
}

// The next new fragment, passing over those that were complete before a restart.
static bool next_new(struct atp_worker *w, uint64_t *position) {
    while (may_send_new(w)) {
        *position = w->next;
        if (!atp_slot_at(w, w->next)->acked) {
            atp_worker_enter_fragment(w, w->next);
            atp_worker_step(w);
            return true;
        }
        atp_worker_step(w);
    }
    return false;
}

size_t atp_worker_write(struct atp_worker *w, uint8_t *buf, size_t cap, uint64_t now) {
    uint64_t position;

    if (cap < ATP_FRAME_BYTES || w->failed)
        return 0;
    if (!next_queued(w, &position) && !next_new(w, &position))
        return 0;
    atp_worker_write_fragment(w, position, buf, now);
    return ATP_FRAME_BYTES;
}

uint32_t atp_worker_queued(const struct atp_worker *w) {
    uint64_t limit = w->base + w->window.packets < w->end ? w->base + w->window.packets : w->end;

    if (w->failed)
        return 0;
    return w->queue_length + (uint32_t)(limit > w->next ? limit - w->next : 0);
}

// ---- receiving: parameters -------------------------------------------------------------------

static void take_rehash(struct atp_worker *w, uint64_t position, uint32_t sequence, uint32_t word) {
    uint32_t stamp = (uint32_t)position + 1, index = word & ~ATP_NEW;
    struct atp_remap *remap;

    if (!(word & ATP_NEW) || index < w->config.first_index ||
        index >= w->config.first_index + w->config.indices)
        return;
    remap = &w->remaps[atp_worker_hash_of(w, sequence)];
    stamp = stamp ? stamp : 1;
    if (remap->stamp == 0 || (int32_t)(stamp - remap->stamp) > 0) {
        *remap = (struct atp_remap){stamp, (uint16_t)index};
        w->stats.rehashed++;
    }
}

static void take_scale(struct atp_worker *w, uint64_t position, uint32_t word) {
    struct atp_scale scale;

    if (atp_scale_unpack(word, &scale) && position + scale.after >= w->next) {
        w->coming_scale = ldexp(1.0, scale.exponent);
        w->scale_from = position + scale.after;
    }
}

static void atp_worker_store(const struct atp_worker *w, const struct atp_job *job,
                             uint64_t position, const uint8_t *values) {
    char *out = (char *)job->tensor.out + 4 * fragment_offset(job, position);

    w->quantise->wire_to_i32((int32_t *)(void *)out, values, fragment_elements(job, position));
}

// Moves the base over what is acknowledged, also what was so before a restart took back the
// rest.
static void slide(struct atp_worker *w) {
    while (w->base < w->end && atp_slot_at(w, w->base)->acked) {
        *atp_slot_at(w, w->base) = (struct atp_slot){0};
        if (w->base == w->next)
            atp_worker_step(w);
        w->base++;
    }
}

// After a restart there may be fragments that were acknowledged before it. They are passed over as
// soon as they are next: their tensor may be complete with this acknowledgement, and is then
// gone.
static void pass_over(struct atp_worker *w) {
    slide(w);
    while (w->next < w->end && w->next - w->base <= w->ring_mask &&
           atp_slot_at(w, w->next)->acked) {
        atp_worker_step(w);
        slide(w);
    }
}

static void acknowledge(struct atp_worker *w, uint64_t position, const struct atp_packet *packet,
                        uint64_t now) {
    struct atp_slot *slot = atp_slot_at(w, position), sent = *slot;
    struct atp_job *job = slot->job;

    atp_worker_store(w, job, position, packet->values);
    if (position >= w->restarted_at) {
        take_rehash(w, position, packet->sequence, packet->bitmap0);
        take_scale(w, position, packet->bitmap1);
    }
    slot->acked = true;
    slot->queued = false;
    w->stats.acks++;
    w->stats.marks += packet->ecn;
    if (--job->missing == 0) {
        w->stats.tensors_done++;
        w->stats.elements_done += job->tensor.count;
    }
    if (sent.tries == 1 && now >= sent.sent_at)
        sk_rto_measure(&w->rto, now - sent.sent_at);
    if (packet->ecn)
        sk_window_cut(&w->window, position, w->next);
    else
        sk_window_grow(&w->window);
    w->last_ack = now;
    pass_over(w);
    atp_judge_losses(w, &sent);
    sk_watch_start(&w->watch, now);
}

// ---- receiving: requests ---------------------------------------------------------------------

// The fragment's sum did not fit: it goes as floats, now or, if it has not been sent yet, then.
static enum atp_reason take_overflow(struct atp_worker *w, const struct atp_packet *packet) {
    uint64_t position;
    struct atp_slot *slot;

    if (!find_sent(w, packet->sequence, &position)) {
        position = position_of(w, packet->sequence);
        if (is_before(position, w->next))
            return ATP_OLD;
        if (position > w->base + w->ring_mask)
            return ATP_AHEAD;
    }
    slot = atp_slot_at(w, position);
    if (slot->acked || slot->floats)
        return ATP_OLD;
    if (slot->tries > 0 && slot->job->tensor.type != ATP_F32)
        return ATP_NOT_FLOAT;
    slot->floats = true;
    w->stats.floats++;
    if (slot->tries > 0) {
        slot->tries = 0;
        atp_resend(w, position);
    }
    return ATP_ACCEPTED;
}

// Takes back what was sent from a position on and is not acknowledged.
static void atp_worker_take_back(struct atp_worker *w, uint64_t from) {
    w->sending = from < w->next ? atp_slot_at(w, from)->job : w->sending;
    for (uint64_t p = from; p < w->next; p++) {
        struct atp_slot *slot = atp_slot_at(w, p);
        bool acked = slot->acked;
        *slot = (struct atp_slot){.acked = acked, .job = slot->job};
    }
    w->next = from;
    w->suspect = w->suspect < from ? w->suspect : from;
    w->recovering = false;
}

static enum atp_reason take_restart(struct atp_worker *w, const struct atp_packet *packet) {
    uint64_t number = atp_unwrap(&w->config.flow, packet->sequence, w->base + w->shift);
    uint64_t renumbered = atp_unwrap(&w->config.flow, packet->bitmap0 & ~ATP_NEW, number);
    uint64_t from = number - w->shift;

    if (!(packet->bitmap0 & ATP_NEW) || renumbered <= number || is_before(from, w->base) ||
        is_before(from, w->restarted_at))
        return ATP_OLD;
    if (from > w->next)
        return ATP_AHEAD;
    atp_worker_take_back(w, from);
    w->shift += renumbered - number;
    w->restarted_at = from;
    w->scale = ATP_SCALE;
    w->coming_scale = 0;
    memset(w->remaps, 0, w->config.indices * sizeof *w->remaps);
    w->config.place = w->next_place;
    atp_worker_take_place(w);
    return ATP_ACCEPTED;
}

static enum atp_reason take_parameters(struct atp_worker *w, const struct atp_packet *packet,
                                       uint64_t now) {
    uint64_t position;

    if (!find_sent(w, packet->sequence, &position))
        return is_before(position_of(w, packet->sequence), w->next) ? ATP_OLD : ATP_AHEAD;
    if (atp_slot_at(w, position)->acked)
        return ATP_OLD;
    if (atp_slot_at(w, position)->index != packet->index)
        return ATP_OTHER_INDEX;
    acknowledge(w, position, packet, now);
    return ATP_ACCEPTED;
}

static enum atp_reason atp_worker_take(struct atp_worker *w, const struct atp_packet *packet,
                                       uint64_t now) {
    if (!packet->is_ack)
        return ATP_WRONG_WAY;
    if (w->failed || !atp_is_of(&w->config.flow, packet))
        return ATP_WRONG_JOB;
    if (packet->resend)
        return take_restart(w, packet);
    return packet->overflow ? take_overflow(w, packet) : take_parameters(w, packet, now);
}

enum atp_reason atp_worker_read(struct atp_worker *w, const uint8_t *frame, size_t len,
                                uint64_t now) {
    struct atp_packet packet;
    enum atp_reason reason =
        atp_frame_check_known(&w->config.flow.group, &w->known, frame, len, &packet);

    if (reason == ATP_ACCEPTED)
        reason = atp_worker_take(w, &packet, now);
    w->stats.ignored[reason] += reason != ATP_ACCEPTED;
    return reason;
}

// ---- time ------------------------------------------------------------------------------------

uint64_t atp_worker_deadline(struct atp_worker *w) {
    if (w->failed || !atp_worker_busy(w))
        return ATP_NEVER;
    return sk_time_earlier(sk_watch_deadline(&w->watch), atp_loss_deadline(w));
}

unsigned atp_worker_expire(struct atp_worker *w, uint64_t now) {
    if (w->failed)
        return ATP_FAILED;
    if (!atp_worker_busy(w))
        return 0;
    if (sk_watch_is_over(&w->watch, now)) {
        w->failed = true;
        return ATP_FAILED;
    }
    atp_loss_expire(w, now);
    return sk_watch_warns(&w->watch, now) ? ATP_STALLED : 0;
}

struct atp_worker_stats atp_worker_stats(const struct atp_worker *w) {
    struct atp_worker_stats stats = w->stats;

    stats.rtt = w->rto.rtt;
    stats.rto = w->rto.timeout;
    stats.window = w->window.packets;
    stats.in_flight = (uint32_t)(w->next - w->base);
    return stats;
}
