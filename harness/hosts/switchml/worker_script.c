// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/switchml/worker_script.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "harness/hosts/switchml/answer.h"
#include "harness/hosts/netsim.h"
#include "harness/hosts/script_bytes.h"

#define TENSORS  8
#define ELEMENTS 700
#define SENT     16 // frames remembered, to be answered late or twice
#define CANARY   0x7eadbeef

struct fuzz {
    struct script script;
    struct swml_worker *worker;
    size_t frame_bytes;
    bool halves; // the switch adds 16-bit floats
    uint64_t now, given, fetched;
    unsigned submitted;
    int32_t in[TENSORS][ELEMENTS];
    int32_t out[TENSORS][ELEMENTS + 1];
    uint8_t sent[SENT][SWML_MAX_FRAME]; // those without elements with zeros behind
    unsigned sent_count;
};

static void must(bool condition) {
    if (!condition)
        abort();
}

static void make_worker(struct fuzz *f) {
    static const uint16_t sizes[] = {32, 64, 128, 256};
    const unsigned first = script_byte(&f->script);
    struct sut_job job = netsim_default_job(1, sizes[first % 4], 0, 1);
    struct swml_config config = netsim_default_worker();

    config.flow = job.flow[0];
    config.flow.halves = first / 4 % 4 == 3;
    f->halves = config.flow.halves;
    config.workers = 1 + script_byte(&f->script) % 32;
    config.pool_size = 1 + script_byte(&f->script) % 9;
    config.pool_base = script_byte(&f->script);
    config.stall_warning = 1000000;
    config.hard_limit = 1000000000;
    must(swml_worker_new(&f->worker, &config, NULL) == 0);
    f->frame_bytes = swml_frame_bytes(&config.flow);
}

static void submit(struct fuzz *f) {
    static const enum swml_reach reaches[] = {SWML_ALL,    SWML_ALL,      SWML_ALL,  SWML_ALL,
                                              SWML_TO_ONE, SWML_FROM_ONE, SWML_NONE, SWML_TO_ONE};
    unsigned what = script_byte(&f->script), i = f->submitted;
    struct swml_tensor t = {.type = what % 2    ? SWML_F32
                                    : f->halves ? SWML_F16
                                                : SWML_I32,
                            .reach = reaches[what / 2 % 8],
                            .who = what / 16 % 3};
    int rc;

    t.count = script_number(&f->script) % (ELEMENTS + 1);
    if (i == TENSORS)
        return;
    for (size_t j = 0; j < t.count; j += 16)
        f->in[i][j] = (int32_t)(script_number(&f->script) << 16);
    t.in = f->in[i];
    t.out = f->out[i];
    t.cookie = (char *)f->out[i] + t.count * (t.type == SWML_F16 ? 2 : 4);
    memcpy(t.cookie, &(int32_t){(int32_t)CANARY}, sizeof(int32_t));
    rc = swml_worker_submit(f->worker, &t, f->now);
    must(rc == 0 || rc == SILKEN_ERR_STALLED || (rc == SILKEN_ERR_INVALID && t.reach != SWML_ALL));
    f->submitted += rc == 0;
}

static void send_some(struct fuzz *f) {
    unsigned count = script_byte(&f->script) % 8;
    uint8_t frame[SWML_MAX_FRAME];

    while (count-- > 0) {
        size_t len = swml_worker_write(f->worker, frame, sizeof frame, f->now);
        if (len == 0)
            return;
        must(len == f->frame_bytes || len == SWML_EMPTY_FRAME);
        memset(frame + len, 0, sizeof frame - len);
        memcpy(f->sent[f->sent_count++ % SENT], frame, sizeof frame);
    }
}

// Gives the worker an exact-size copy, so that a read past the end is seen.
static void give(struct fuzz *f, const uint8_t *frame, size_t len) {
    uint8_t *copy = malloc(len ? len : 1);

    must(copy != NULL);
    memcpy(copy, frame, len);
    swml_worker_read(f->worker, copy, len, f->now);
    free(copy);
    f->given++;
}

// Of a collective operation: with or without elements, whatever the packet had. Returns its length.
static size_t set_elements(const struct fuzz *f, uint8_t *frame, bool brief) {
    size_t len = brief ? SWML_QUESTION_BYTES : f->frame_bytes;

    answer_set16(frame, AT_IP_TOTAL, (uint16_t)(len - 14));
    answer_set16(frame, AT_UDP_LENGTH, (uint16_t)(len - 34));
    answer_fix_checksum(frame);
    return len;
}

static void give_answer(struct fuzz *f) {
    unsigned which = script_byte(&f->script), changes = script_byte(&f->script) % 4;
    uint8_t frame[SWML_MAX_FRAME];
    size_t len = f->frame_bytes;

    if (f->sent_count == 0)
        return;
    memcpy(frame, f->sent[which % (f->sent_count < SENT ? f->sent_count : SENT)], len);
    answer_make(frame);
    if (frame[AT_SIZE] >> 4 >= SWML_COLLECTIVE)
        len = set_elements(f, frame, script_byte(&f->script) % 2);
    while (changes-- > 0) {
        size_t at = script_number(&f->script) % len;
        frame[at] = script_byte(&f->script);
    }
    if (script_byte(&f->script) % 2)
        answer_fix_checksum(frame);
    if (script_byte(&f->script) % 16 == 0)
        len = script_number(&f->script) % (len + 1);
    give(f, frame, len);
}

// A message of a switch that was restarted, changed at a byte or not: kept by others, or a
// question.
static void give_message(struct fuzz *f) {
    unsigned which = script_byte(&f->script), type = 2 + script_byte(&f->script) % 4;
    uint8_t frame[SWML_MAX_FRAME];
    size_t len = type == SWML_KEPT ? f->frame_bytes : SWML_QUESTION_BYTES;

    if (f->sent_count == 0)
        return;
    memcpy(frame, f->sent[which % (f->sent_count < SENT ? f->sent_count : SENT)], f->frame_bytes);
    answer_make(frame);
    answer_set16(frame, AT_UDP_SOURCE, SWML_RESTART_PORT);
    answer_set16(frame, AT_IP_TOTAL, (uint16_t)(len - 14));
    answer_set16(frame, AT_UDP_LENGTH, (uint16_t)(len - 34));
    frame[AT_SIZE] = (uint8_t)(type << 4 | (frame[AT_SIZE] & 7));
    if (script_byte(&f->script) % 4 == 0)
        frame[AT_TSI + 3 + script_byte(&f->script) % 4] = script_byte(&f->script);
    answer_fix_checksum(frame);
    give(f, frame, len);
}

static void give_bytes(struct fuzz *f) {
    size_t len = script_number(&f->script) % 1200, left = f->script.len - f->script.at;

    len = len < left ? len : left;
    give(f, f->script.bytes + f->script.at, len);
    f->script.at += len;
}

static void let_time_pass(struct fuzz *f) {
    f->now += (uint64_t)script_number(&f->script) * script_number(&f->script);
    swml_worker_expire(f->worker, f->now);
}

static void fetch_done(struct fuzz *f) {
    void *cookie;

    while (swml_worker_done(f->worker, &cookie)) {
        must(memcmp(cookie, &(int32_t){(int32_t)CANARY}, sizeof(int32_t)) == 0);
        f->fetched++;
    }
}

static void explain(struct fuzz *f) {
    char text[600];
    size_t cap = 1 + script_number(&f->script) % sizeof text;

    swml_worker_explain(f->worker, f->now, text, cap);
    must(memchr(text, 0, cap) != NULL);
}

static uint64_t total_ignored(const struct swml_stats *s) {
    uint64_t total = 0;

    for (int i = 0; i < SWML_REASON_COUNT; i++)
        total += s->ignored[i];
    return total;
}

static void check(struct fuzz *f) {
    struct swml_stats s = swml_worker_stats(f->worker);
    bool failed = (swml_worker_expire(f->worker, f->now) & SWML_FAILED) != 0;

    must(s.answers + s.asked + total_ignored(&s) == f->given);
    must(s.ignored[SWML_ACCEPTED] == 0);
    must(s.tensors_done <= f->submitted && f->fetched <= s.tensors_done);
    must(failed || !swml_worker_busy(f->worker) || swml_worker_deadline(f->worker) != SWML_NEVER);
    must(swml_worker_busy(f->worker) == (s.tensors_done < f->submitted));
}

static void step(struct fuzz *f) {
    switch (script_byte(&f->script) % 16) {
    case 0:
        submit(f);
        break;
    case 1:
        send_some(f);
        break;
    case 2:
        let_time_pass(f);
        break;
    case 3:
        give_bytes(f);
        break;
    case 4:
        fetch_done(f);
        break;
    case 5:
        explain(f);
        break;
    case 6:
        give_message(f);
        break;
    default:
        send_some(f);
        give_answer(f);
    }
}

void fuzz_worker_script(const uint8_t *script, size_t len, struct fuzz_reach *reach) {
    struct fuzz *f = calloc(1, sizeof *f);
    uint64_t steps = 0;

    must(f != NULL);
    f->script = (struct script){script, len, 0};
    make_worker(f);
    for (; f->script.at < f->script.len; steps++) {
        step(f);
        check(f);
    }
    fetch_done(f);
    if (reach) {
        struct swml_stats s = swml_worker_stats(f->worker);
        reach->steps += steps;
        reach->accepted += s.answers;
        reach->asked += s.asked;
        reach->ignored += total_ignored(&s);
        reach->tensors_done += s.tensors_done;
    }
    swml_worker_free(f->worker);
    free(f);
}
