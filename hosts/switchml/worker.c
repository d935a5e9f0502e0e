// SPDX-License-Identifier: Apache-2.0
#include "hosts/switchml/worker.h"

#include <stdlib.h>
#include <string.h>

#include "hosts/core/fetch.h"
#include "hosts/switchml/worker_impl.h"

// ---- making and freeing ----------------------------------------------------------------------

static const char *swml_worker_config_fault(const struct swml_config *c) {
    if (swml_size_code(c->flow.k) < 0)
        return "the packet size k must be 32, 64, 128 or 256 elements";
    if (c->flow.halves && c->workers > SK_HALF_WORKERS)
        return "16-bit floats are for at most 32 workers";
    if (c->workers < 1 || c->workers > SK_MAX_WORKERS)
        return "the number of workers must be 1..4096";
    if (c->rank >= c->workers)
        return "the rank must be below the number of workers";
    if (c->pool_size < 1 || c->pool_size > SWML_MAX_SLOTS ||
        c->pool_base > SWML_MAX_SLOTS - c->pool_size)
        return "the pool's slots must be at least one and lie within 0..16383";
    if (c->rto_min < 1 || c->rto_min > c->rto_max || c->rto_max > SWML_NEVER / 4)
        return "the timeout's bounds must be 0 < rto_min <= rto_max";
    if (c->stall_warning < 1 || c->hard_limit < 1)
        return "the stall warning and hard limit must be above 0";
    return NULL;
}

void swml_halves_to_wire(const struct swml_job *job, int8_t exponent, const void *from, size_t n,
                         uint8_t *out) {
    if (job->tensor.type == SWML_F16)
        sk_halves_from_f16(out, from, n, sk_half_scale_f16(exponent).factor);
    else
        sk_halves_from_f32(out, from, n, sk_half_scale_f32(exponent).factor);
}

void swml_halves_from_wire(const struct swml_job *job, int8_t exponent, const uint8_t *from,
                           size_t n, void *out) {
    if (job->tensor.type == SWML_F16)
        sk_halves_to_f16(out, from, n, sk_half_scale_f16(exponent).inverse);
    else
        sk_halves_to_f32(out, from, n, sk_half_scale_f32(exponent).inverse);
}

static void make_scales(struct swml_worker *w, unsigned workers) {
    for (int m = INT8_MIN; m <= INT8_MAX; m++) {
        struct swml_scale *scale = &w->scales[(uint8_t)m];
        scale->factor = sk_block_factor((int8_t)m, workers);
        scale->inverse = sk_block_inverse((int8_t)m, workers);
    }
}

static struct swml_worker *swml_worker_allocate(const struct swml_config *config) {
    struct swml_worker *w = calloc(1, sizeof *w);

    if (!w)
        return NULL;
    w->slots = calloc(config->pool_size, sizeof *w->slots);
    w->queue = calloc(config->pool_size, sizeof *w->queue);
    w->config = *config;
    if (!w->slots || !w->queue || swml_kept_init(w) < 0 ||
        sk_timers_init(&w->timers, config->pool_size) < 0) {
        swml_worker_free(w);
        return NULL;
    }
    return w;
}

int swml_worker_new(struct swml_worker **out, const struct swml_config *config, const char **why) {
    const char *fault = swml_worker_config_fault(config);
    struct swml_worker *w;

    if (fault) {
        if (why)
            *why = fault;
        return SILKEN_ERR_INVALID;
    }
    w = swml_worker_allocate(config);
    if (!w)
        return SILKEN_ERR_NOMEM;
    w->quantise = config->quantise ? config->quantise : sk_quantise_best();
    make_scales(w, config->workers);
    sk_rto_init(&w->rto, config->rto_initial, config->rto_min, config->rto_max);
    w->watch = (struct sk_watch){.warning = config->stall_warning, .limit = config->hard_limit};
    swml_frame_init(w->header, &config->flow);
    swml_frame_init_empty(w->empty, &config->flow);
    swml_known_init(&w->known, &config->flow);
    *out = w;
    return 0;
}

static void free_jobs(struct swml_job *job) {
    while (job) {
        struct swml_job *next = job->next;
        free(job);
        job = next;
    }
}

void swml_worker_free(struct swml_worker *w) {
    if (!w)
        return;
    free_jobs(w->jobs);
    free_jobs(w->done);
    sk_timers_free(&w->timers);
    free(w->slots);
    free(w->queue);
    free(w->kept);
    free(w);
}

// ---- lists -----------------------------------------------------------------------------------

static void swml_worker_append(struct swml_job **first, struct swml_job **last,
                               struct swml_job *job) {
    job->next = NULL;
    job->previous = *last;
    if (*last)
        (*last)->next = job;
    else
        *first = job;
    *last = job;
}

static void unlink_job(struct swml_job **first, struct swml_job **last, struct swml_job *job) {
    *(job->previous ? &job->previous->next : first) = job->next;
    *(job->next ? &job->next->previous : last) = job->previous;
}

static void queue_slot(struct swml_worker *w, uint32_t index) {
    uint32_t size = w->config.pool_size;
    uint32_t tail = w->queue_head + w->queue_length;

    if (w->slots[index].queued)
        return;
    w->slots[index].queued = true;
    w->queue[tail < size ? tail : tail - size] = index;
    w->queue_length++;
}

static uint32_t dequeue_slot(struct swml_worker *w) {
    uint32_t index = w->queue[w->queue_head];

    w->queue_head = w->queue_head + 1 < w->config.pool_size ? w->queue_head + 1 : 0;
    w->queue_length--;
    w->slots[index].queued = false;
    return index;
}

// ---- blocks ----------------------------------------------------------------------------------

static const void *block_numbers(const struct swml_worker *w, const struct swml_job *job,
                                 uint64_t block) {
    return (const char *)job->tensor.in + swml_memory_bytes(job) * swml_block_offset(w, block);
}

static float *block_sums(const struct swml_worker *w, const struct swml_job *job, uint64_t block) {
    return (float *)job->tensor.out + swml_block_offset(w, block);
}

static int8_t local_exponent(const struct swml_worker *w, const struct swml_job *job,
                             uint64_t block) {
    size_t n = swml_block_elements(w, job, block);

    if (job->tensor.type == SWML_F16)
        return sk_halves_exponent(block_numbers(w, job, block), n);
    return sk_block_exponent(w->quantise->max_abs_bits(block_numbers(w, job, block), n));
}

// Blocks of the tensor are read in order, over all slots; elements this far behind the present one
// are fetched into the cache, since memory is slower than the conversions. Bytes.
#define FETCH_AHEAD 8192

static void swml_worker_fetch_ahead(const struct swml_worker *w, const struct swml_job *job,
                                    uint64_t block) {
    size_t element = swml_memory_bytes(job), bytes = element * (size_t)w->config.flow.k;
    size_t at = element * swml_block_offset(w, block) + FETCH_AHEAD;
    const char *in = job->tensor.in;

    if (!swml_adds(w, job) || at + bytes > element * job->tensor.count)
        return;
    sk_fetch(in + at, bytes);
}

// The first block of a job that goes to a slot; it may lie after the job's end.
static uint64_t first_block(const struct swml_worker *w, const struct swml_job *job,
                            uint32_t index) {
    uint32_t size = w->config.pool_size;

    return index >= job->first_slot ? index - job->first_slot : index + size - job->first_slot;
}

// ---- a slot's way through its blocks ---------------------------------------------------------

// Puts the data of `block` in flight, with the exponent of the block that follows it in the slot.
static void enter_data(struct swml_worker *w, uint32_t index, uint64_t block) {
    struct swml_slot *slot = &w->slots[index];
    uint64_t following = block + w->config.pool_size;
    bool looks_ahead = swml_is_scaled(slot->job) && following < slot->job->blocks;

    slot->block = block;
    slot->exponent_round = false;
    slot->lookahead = looks_ahead ? local_exponent(w, slot->job, following) : SK_EXPONENT_ZERO;
    swml_worker_fetch_ahead(w, slot->job, looks_ahead ? following : block);
}

// Begins a job in a slot, at the slot's first block of it.
static void enter_job(struct swml_worker *w, uint32_t index, struct swml_job *job) {
    struct swml_slot *slot = &w->slots[index];

    slot->job = job;
    slot->tries = 0;
    if (swml_is_scaled(job)) {
        slot->block = first_block(w, job, index);
        slot->exponent_round = true;
        slot->lookahead = local_exponent(w, job, slot->block);
    } else {
        enter_data(w, index, first_block(w, job, index));
    }
    queue_slot(w, index);
}

// Goes on with the first of the given job and those after it that has a block for the slot.
static void enter_next_job(struct swml_worker *w, uint32_t index, struct swml_job *job) {
    while (job && first_block(w, job, index) >= job->blocks)
        job = job->next;
    if (job)
        enter_job(w, index, job);
    else
        w->slots[index].job = NULL;
}

// The packet in flight has been answered, with the global exponent of the following block.
static void swml_worker_advance(struct swml_worker *w, uint32_t index, int8_t exponent) {
    struct swml_slot *slot = &w->slots[index];
    uint64_t following = slot->exponent_round ? slot->block : slot->block + w->config.pool_size;

    slot->uses++;
    slot->scale = exponent;
    if (following >= slot->job->blocks) {
        enter_next_job(w, index, slot->job->next);
        return;
    }
    slot->tries = 0;
    enter_data(w, index, following);
    queue_slot(w, index);
}

void swml_worker_enter(struct swml_worker *w, uint8_t session, uint64_t now) {
    if (w->config.session != session) {
        w->config.session = session;
        sk_watch_start(&w->watch, now);
    }
}

// ---- submitting ------------------------------------------------------------------------------

static bool has_audience(const struct swml_worker *w, const struct swml_tensor *t) {
    bool few = w->config.workers <= SWML_COLLECTIVE_WORKERS && !w->config.flow.halves;

    switch (t->reach) {
    case SWML_ALL:
        return true;
    case SWML_TO_ONE:
        return few && t->who < w->config.workers;
    case SWML_FROM_ONE:
        return few && t->who < w->config.workers && t->type == SWML_I32;
    case SWML_NONE:
        return few && t->type == SWML_I32;
    }
    return false;
}

static bool swml_worker_tensor_is_valid(const struct swml_worker *w, const struct swml_tensor *t) {
    const struct swml_job job = {.tensor = *t};
    bool known = t->type == SWML_F32 || t->type == (w->config.flow.halves ? SWML_F16 : SWML_I32);

    if (!known || !has_audience(w, t) || t->count > SIZE_MAX / 8)
        return false;
    return t->count == 0 || ((t->in || !swml_adds(w, &job)) && (t->out || !swml_gets(w, &job)));
}

static void swml_worker_complete(struct swml_worker *w, struct swml_job *job) {
    swml_worker_append(&w->done, &w->done_last, job);
    w->stats.tensors_done++;
    w->stats.elements_done += job->tensor.count;
}

// Gives a new job to the slots that wait for one; the others find it when they are through.
static void wake_idle_slots(struct swml_worker *w, struct swml_job *job) {
    uint32_t size = w->config.pool_size;
    uint64_t touched = job->blocks < size ? job->blocks : size;

    for (uint32_t i = 0; i < touched; i++) {
        uint32_t index = (uint32_t)(((uint64_t)job->first_slot + i) % size);
        if (!w->slots[index].job)
            enter_job(w, index, job);
    }
}

int swml_worker_submit(struct swml_worker *w, const struct swml_tensor *tensor, uint64_t now) {
    uint32_t k = w->config.flow.k;
    struct swml_job *job;

    if (w->failed)
        return SILKEN_ERR_STALLED;
    if (!swml_worker_tensor_is_valid(w, tensor))
        return SILKEN_ERR_INVALID;
    job = calloc(1, sizeof *job);
    if (!job)
        return SILKEN_ERR_NOMEM;
    job->tensor = *tensor;
    job->number = w->next_number++;
    job->blocks = job->missing = tensor->count / k + (tensor->count % k != 0);
    job->first_slot = w->next_first;
    w->next_first = (uint32_t)((w->next_first + job->blocks) % w->config.pool_size);
    if (job->blocks == 0) {
        swml_worker_complete(w, job);
        return 0;
    }
    if (!w->jobs)
        sk_watch_start(&w->watch, now);
    swml_worker_append(&w->jobs, &w->jobs_last, job);
    wake_idle_slots(w, job);
    return 0;
}

bool swml_worker_done(struct swml_worker *w, void **cookie) {
    struct swml_job *job = w->done;

    if (!job)
        return false;
    *cookie = job->tensor.cookie;
    unlink_job(&w->done, &w->done_last, job);
    free(job);
    return true;
}

bool swml_worker_busy(const struct swml_worker *w) {
    return w->jobs != NULL;
}

// ---- sending ---------------------------------------------------------------------------------

static uint32_t chunk_number(const struct swml_worker *w, uint32_t index) {
    return swml_chunk_number(w->config.session, w->slots[index].uses);
}

// Writes the elements of the packet in flight. Returns how many there are; the rest is zeros.
static size_t swml_worker_write_elements(const struct swml_worker *w, const struct swml_slot *slot,
                                         uint8_t *out) {
    const struct swml_job *job = slot->job;
    size_t n = swml_block_elements(w, job, slot->block);
    double factor;

    if (slot->exponent_round)
        return 0;
    if (job->tensor.type == SWML_I32) {
        const int32_t *in = job->tensor.in;
        w->quantise->i32_to_wire(out, in + swml_block_offset(w, slot->block), n);
        return n;
    }
    factor = swml_scale_of(w, slot->scale)->factor;
    if (factor == 0)
        return 0;
    if (w->config.flow.halves)
        swml_halves_to_wire(job, slot->scale, block_numbers(w, job, slot->block), n, out);
    else
        w->quantise->f32_to_wire(out, block_numbers(w, job, slot->block), n, factor);
    return n;
}

// Whether the answer to the packet in flight has elements for this worker.
static bool awaits_elements(const struct swml_worker *w, const struct swml_slot *slot) {
    return swml_gets(w, slot->job) && !(slot->exponent_round && swml_is_collective(slot->job));
}

// Makes the packet in flight one of a collective operation. Returns whether it has elements.
static bool set_audience(const struct swml_worker *w, const struct swml_slot *slot,
                         struct swml_chunk *chunk) {
    const struct swml_tensor *t = &slot->job->tensor;
    bool full = swml_adds(w, slot->job) && !slot->exponent_round;
    unsigned flags = (full ? 0 : SWML_EMPTY) | (awaits_elements(w, slot) ? 0 : SWML_BRIEF);

    if (slot->exponent_round || t->reach == SWML_NONE)
        chunk->audience = SWML_NOBODY;
    else
        chunk->audience = (uint8_t)(t->reach == SWML_FROM_ONE ? SWML_ALL_BUT + t->who : t->who);
    chunk->message = (enum swml_message)(SWML_COLLECTIVE | flags);
    return full;
}

// Returns the frame's length.
static size_t write_frame(const struct swml_worker *w, uint32_t index, uint8_t *buf) {
    const struct swml_slot *slot = &w->slots[index];
    struct swml_chunk chunk = {
        .slot = (uint16_t)(w->config.pool_base + index),
        .version = slot->uses & 1,
        .e0 = slot->lookahead,
        .tsi = chunk_number(w, index),
    };
    bool full = !swml_is_collective(slot->job) || set_audience(w, slot, &chunk);
    size_t n;

    memcpy(buf, full ? w->header : w->empty, SWML_HEADER_BYTES);
    swml_frame_set_chunk(buf, &chunk);
    buf += SWML_HEADER_BYTES;
    if (!full) {
        memset(buf, 0, SWML_EMPTY_FRAME - SWML_HEADER_BYTES);
        return SWML_EMPTY_FRAME;
    }
    n = swml_worker_write_elements(w, slot, buf);
    if (n < w->config.flow.k) {
        const size_t element = swml_element_bytes(&w->config.flow);
        memset(buf + element * n, 0, element * (w->config.flow.k - n));
    }
    return swml_frame_bytes(&w->config.flow);
}

// The timeout, doubled as often as the slot has seen it pass without a clean round trip in between.
static uint64_t timeout_of(const struct swml_worker *w, const struct swml_slot *slot) {
    return sk_rto_backed_off(&w->rto, slot->backoff);
}

static void mark_sent(struct swml_worker *w, uint32_t index, uint64_t now) {
    struct swml_slot *slot = &w->slots[index];

    slot->sent_at = now;
    slot->tries++;
    w->stats.packets_sent++;
    w->stats.retransmissions += slot->tries > 1;
    sk_timers_arm(&w->timers, index, now + timeout_of(w, slot));
}

size_t swml_worker_write(struct swml_worker *w, uint8_t *buf, size_t cap, uint64_t now) {
    size_t len = swml_frame_bytes(&w->config.flow);

    if (cap < len || w->failed)
        return 0;
    if (w->n_questions > 0) {
        swml_write_reply(w, buf);
        return len;
    }
    while (w->queue_length > 0) {
        uint32_t index = dequeue_slot(w);
        if (w->slots[index].job) {
            len = write_frame(w, index, buf);
            mark_sent(w, index, now);
            return len;
        }
    }
    return 0;
}

uint32_t swml_worker_queued(const struct swml_worker *w) {
    return w->failed ? 0 : w->queue_length + w->n_questions;
}

// ---- receiving -------------------------------------------------------------------------------

// Is this the answer to the packet in flight in its slot?
static enum swml_reason judge(const struct swml_worker *w, const struct swml_chunk *chunk) {
    uint32_t index = (uint32_t)chunk->slot - w->config.pool_base;
    const struct swml_slot *slot;

    if (chunk->slot < w->config.pool_base || index >= w->config.pool_size)
        return SWML_WRONG_SLOT;
    slot = &w->slots[index];
    if (!slot->job || slot->tries == 0)
        return SWML_NOT_EXPECTED;
    if (chunk->tsi != chunk_number(w, index) || chunk->version != (slot->uses & 1))
        return SWML_STALE;
    if (chunk->brief && awaits_elements(w, slot))
        return SWML_BAD_LENGTH;
    return chunk->e0 < slot->lookahead ? SWML_BAD_EXPONENT : SWML_ACCEPTED;
}

// A result that is written over its input finds that in a cache. One that goes elsewhere does not,
// and if it is long enough it will not stay in one either.
#define FAR_ELEMENTS (1u << 20)

static void store_result(const struct swml_worker *w, const struct swml_slot *slot,
                         const uint8_t *elements) {
    const struct swml_tensor *t = &slot->job->tensor;
    size_t n = swml_block_elements(w, slot->job, slot->block);
    uint64_t offset = swml_block_offset(w, slot->block);

    if (t->type == SWML_I32) {
        w->quantise->wire_to_i32((int32_t *)t->out + offset, elements, n);
    } else if (w->config.flow.halves) {
        swml_halves_from_wire(slot->job, slot->scale, elements, n,
                              (char *)t->out + swml_memory_bytes(slot->job) * offset);
    } else {
        double inverse = swml_scale_of(w, slot->scale)->inverse;
        float *out = block_sums(w, slot->job, slot->block);
        if (t->in == t->out || t->count < FAR_ELEMENTS)
            w->quantise->wire_to_f32(out, elements, n, inverse);
        else
            w->quantise->wire_to_f32_far(out, elements, n, inverse);
    }
}

static void finish_block(struct swml_worker *w, struct swml_job *job) {
    if (--job->missing == 0) {
        sk_quantise_flush();
        swml_keep_copies(w, job);
        unlink_job(&w->jobs, &w->jobs_last, job);
        swml_worker_complete(w, job);
    }
}

// 'elements' are those of the answer to the packet in flight; 'measured': when it came says how
// long answers take.
static void accept(struct swml_worker *w, uint32_t index, int8_t exponent, const uint8_t *elements,
                   bool measured, uint64_t now) {
    struct swml_slot *slot = &w->slots[index];
    struct swml_job *job = slot->job;
    bool was_data = !slot->exponent_round;

    sk_timers_cancel(&w->timers, index);
    if (measured && slot->tries == 1 && now >= slot->sent_at) {
        sk_rto_measure(&w->rto, now - slot->sent_at);
        slot->backoff = 0;
    }
    if (was_data && swml_gets(w, job))
        store_result(w, slot, elements);
    swml_keep(slot, exponent, job->tensor.reach == SWML_TO_ONE && !swml_gets(w, job));
    swml_worker_advance(w, index, exponent);
    if (was_data)
        finish_block(w, job);
    w->stats.answers++;
    sk_watch_start(&w->watch, now);
}

enum swml_reason swml_worker_read(struct swml_worker *w, const uint8_t *frame, size_t len,
                                  uint64_t now) {
    struct swml_chunk chunk;
    enum swml_reason reason =
        swml_frame_check_known(&w->config.flow, &w->known, frame, len, &chunk);

    if (reason == SWML_ACCEPTED) {
        bool asks = chunk.message == SWML_WHERE || chunk.message == SWML_AGAIN;
        reason = w->failed ? SWML_NOT_EXPECTED : asks ? swml_question(w, &chunk) : judge(w, &chunk);
        if (asks && reason == SWML_ACCEPTED)
            return SWML_ACCEPTED;
    }
    if (reason != SWML_ACCEPTED) {
        w->stats.ignored[reason]++;
        return reason;
    }
    accept(w, (uint32_t)chunk.slot - w->config.pool_base, chunk.e0, frame + SWML_HEADER_BYTES,
           chunk.message == SWML_DATA, now);
    return SWML_ACCEPTED;
}

// ---- time ------------------------------------------------------------------------------------

uint64_t swml_worker_deadline(struct swml_worker *w) {
    if (w->failed || !w->jobs)
        return SWML_NEVER;
    return sk_time_earlier(sk_watch_deadline(&w->watch), sk_timers_next(&w->timers));
}

static void retransmit_due(struct swml_worker *w, uint64_t now) {
    uint32_t index;

    while (sk_timers_expire(&w->timers, now, &index)) {
        w->slots[index].backoff++;
        queue_slot(w, index);
    }
}

static unsigned watch_progress(struct swml_worker *w, uint64_t now) {
    if (sk_watch_is_over(&w->watch, now)) {
        w->failed = true;
        return SWML_FAILED;
    }
    return sk_watch_warns(&w->watch, now) ? SWML_STALLED : 0;
}

unsigned swml_worker_expire(struct swml_worker *w, uint64_t now) {
    if (w->failed)
        return SWML_FAILED;
    if (!w->jobs)
        return 0;
    retransmit_due(w, now);
    return watch_progress(w, now);
}

struct swml_stats swml_worker_stats(const struct swml_worker *w) {
    struct swml_stats stats = w->stats;

    stats.rtt = w->rto.rtt;
    stats.rto = w->rto.timeout;
    return stats;
}
