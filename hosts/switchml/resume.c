// SPDX-License-Identifier: Apache-2.0
//
// A worker's part in a switch's restart (worker.h, RESTARTS): it answers questions, from what it
// keeps.
//
// The last answer of a slot is not copied when it comes: that would be a sixth pass over a block's
// memory where there are five. It is in the tensor as long as that is ours. Integers are what the
// answer was. Floats are as much of its integers as a float holds, 24 bits, and times the factor
// they are integers again: not always the answer's own, but such as become the same floats with
// whoever takes them. When a tensor is complete, what slots keep of it is copied: as many blocks as
// there are slots, at most.
#include <stdlib.h>
#include <string.h>

#include "hosts/switchml/worker_impl.h"

static size_t element_bytes(const struct swml_worker *w) {
    return 4 * (size_t)w->config.flow.k;
}

int swml_kept_init(struct swml_worker *w) {
    swml_reply_init(w->reply, &w->config.flow);
    w->kept = calloc(w->config.pool_size, element_bytes(w));
    return w->kept ? 0 : SILKEN_ERR_NOMEM;
}

// What was rounded up to 2^31, or is beyond the range of floats, has become the smallest number:
// here the largest one, which is rounded in the same way again.
static void recover_largest(const float *sums, size_t n, uint8_t *out) {
    static const uint8_t largest[4] = {0x7f, 0xff, 0xff, 0xff};

    for (size_t i = 0; i < n; i++)
        if (sums[i] > 0 && (out[4 * i] & 0x80))
            memcpy(out + 4 * i, largest, sizeof largest);
}

// The elements of a slot's last answer, which are in a tensor.
static void swml_resume_recover(const struct swml_worker *w, const struct swml_slot *slot,
                                uint8_t *out) {
    const void *from = swml_sums(w, slot->kept_job);
    size_t n = swml_block_elements(w, slot->kept_job, slot->kept_block);
    uint64_t offset = swml_block_offset(w, slot->kept_block);

    memset(out + 4 * n, 0, element_bytes(w) - 4 * n);
    if (slot->kept_job->tensor.type == SWML_I32) {
        w->quantise->i32_to_wire(out, (const int32_t *)from + offset, n);
    } else {
        const float *sums = (const float *)from + offset;
        w->quantise->f32_to_wire(out, sums, n, swml_scale_of(w, slot->kept_scale)->factor);
        recover_largest(sums, n, out);
    }
}

void swml_keep_copies(struct swml_worker *w, const struct swml_job *job) {
    uint32_t size = w->config.pool_size;
    uint64_t touched = job->blocks < size ? job->blocks : size;

    for (uint32_t i = 0; i < touched; i++) {
        uint32_t index = (uint32_t)(((uint64_t)job->first_slot + i) % size);
        struct swml_slot *slot = &w->slots[index];
        if (slot->kept_job == job) {
            if (!w->config.flow.halves) // of whose answers nobody asks
                swml_resume_recover(w, slot, w->kept + index * element_bytes(w));
            slot->kept_job = NULL;
        }
    }
}

static void swml_resume_write_elements(const struct swml_worker *w, uint32_t index, uint8_t *out) {
    const struct swml_slot *slot = &w->slots[index];

    if (slot->kept_job)
        swml_resume_recover(w, slot, out);
    else if (slot->kept_nothing)
        memset(out, 0, element_bytes(w));
    else
        memcpy(out, w->kept + index * element_bytes(w), element_bytes(w));
}

// ---- questions -------------------------------------------------------------------------------

static uint32_t last_chunk(const struct swml_worker *w, uint32_t index) {
    return swml_chunk_number(w->config.session, w->slots[index].uses - 1);
}

enum swml_reason swml_question(struct swml_worker *w, const struct swml_chunk *chunk) {
    uint32_t index = (uint32_t)chunk->slot - w->config.pool_base;

    if (chunk->slot < w->config.pool_base || index >= w->config.pool_size)
        return SWML_WRONG_SLOT;
    if (chunk->message == SWML_AGAIN &&
        (w->slots[index].uses == 0 || chunk->tsi != last_chunk(w, index)))
        return SWML_STALE;
    if (chunk->message == SWML_AGAIN && w->slots[index].kept_elsewhere)
        return SWML_NOT_KEPT;
    if (w->n_questions == SWML_QUESTIONS)
        return SWML_BUSY;
    w->questions[(w->first_question + w->n_questions++) % SWML_QUESTIONS] =
        (struct swml_question){chunk->message, index};
    w->stats.asked++;
    return SWML_ACCEPTED;
}

// ---- answers ---------------------------------------------------------------------------------

// Where all slots from `first` on are, as far as a packet has room.
static void write_here(const struct swml_worker *w, uint32_t first, uint8_t *buf) {
    const struct swml_chunk chunk = {.slot = (uint16_t)(w->config.pool_base + first),
                                     .tsi = w->config.pool_size,
                                     .message = SWML_HERE};
    uint8_t *out = buf + SWML_HEADER_BYTES;

    swml_frame_set_chunk(buf, &chunk);
    memset(out, 0, element_bytes(w));
    for (uint32_t i = 0; i < w->config.flow.k && first + i < w->config.pool_size; i++, out += 4) {
        uint32_t uses = w->slots[first + i].uses;
        out[0] = (uint8_t)(uses >> 24);
        out[1] = (uint8_t)(uses >> 16);
        out[2] = (uint8_t)(uses >> 8);
        out[3] = (uint8_t)uses;
    }
}

static void write_kept(const struct swml_worker *w, uint32_t index, uint8_t *buf) {
    const struct swml_slot *slot = &w->slots[index];
    const struct swml_chunk chunk = {.slot = (uint16_t)(w->config.pool_base + index),
                                     .version = (slot->uses - 1) & 1,
                                     .e0 = slot->kept_exponent,
                                     .tsi = last_chunk(w, index),
                                     .message = SWML_KEPT};

    swml_frame_set_chunk(buf, &chunk);
    swml_resume_write_elements(w, index, buf + SWML_HEADER_BYTES);
}

void swml_write_reply(struct swml_worker *w, uint8_t *buf) {
    const struct swml_question *q = &w->questions[w->first_question];

    memcpy(buf, w->reply, SWML_HEADER_BYTES);
    if (q->message == SWML_AGAIN)
        write_kept(w, q->index, buf);
    else
        write_here(w, q->index, buf);
    w->first_question = (w->first_question + 1) % SWML_QUESTIONS;
    w->n_questions--;
    w->stats.packets_sent++;
}
