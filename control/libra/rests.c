// SPDX-License-Identifier: Apache-2.0
//
// What is left of pushes goes to servers by the same state machine as a worker's cold pairs
// (hosts/libra/worker.h). The record of the push is ended here, after that has it: until then the
// switch drops what the worker repeats.
#include <stdlib.h>
#include <string.h>

#include "control/libra/libra_impl.h"
#include "control/tables/control.h"
#include "control/tables/names.h"
#include "hosts/core/udp.h"
#include "libra_wire.h"

static struct libra_worker_config rests_link(const struct libra_s *l, const struct libra_s_job *j,
                                             const struct libra_s_member *server) {
    struct libra_worker_config c = {.flow = {.worker = l->end,
                                             .fabric = server->end,
                                             .job = j->layout.job,
                                             .number = (uint16_t)j->workers,
                                             .epoch = j->layout.epoch},
                                    .cold = true,
                                    .first_sequence = 1,
                                    .window = 8,
                                    .window_max = 64,
                                    .rto_initial = 20 * LIBRA_S_MS,
                                    .rto_min = 2 * LIBRA_S_MS,
                                    .rto_max = 200 * LIBRA_S_MS,
                                    .hard_limit = LIBRA_NEVER};
    c.flow.worker.port = LIBRA_S_PORT;
    c.flow.fabric.port = LIBRA_COLD_PORT;
    return c;
}

bool libra_s_rests_open(struct libra_s *l, struct libra_s_job *j) {
    for (uint32_t s = 0; s < j->servers; s++) {
        const struct libra_worker_config c = rests_link(l, j, &j->members[j->workers + s]);
        if (libra_worker_new(&j->link[s], &c, NULL))
            return false;
    }
    return true;
}

void libra_s_rests_close(struct libra_s_job *j) {
    for (uint32_t s = 0; s < j->servers; s++)
        libra_worker_free(j->link[s]);
}

// As hosts/keyvalue divides parameters among servers.
static uint32_t rests_server(const struct libra_s_job *j, uint64_t parameter) {
    const uint64_t each = j->parameters / j->servers, more = j->parameters % j->servers;
    uint32_t s = j->servers - 1;
    while (parameter < s * each + (s < more ? s : more))
        s--;
    return s;
}

static unsigned rests_pairs(const struct libra_s_frame *f, struct libra_cold_pair *pairs,
                            uint32_t *server) {
    const uint16_t places = libra_h_get_places(f->bytes + SK_UDP_BYTES);
    const uint32_t last = LIBRA_PLACES * f->job->cells - 1; // indices are counted down from it
    unsigned n = 0;
    for (unsigned p = 0; p < LIBRA_PLACES; p++) {
        const uint8_t *pair = f->bytes + LIBRA_HEADERS + p * PAIR_H_BYTES;
        const uint32_t rank = last - pair_h_get_index(pair);
        if (!(places >> (LIBRA_PLACES - 1 - p) & 1) || rank >= f->job->layout.n)
            continue; // no pair, or of a cell that no parameter has
        pairs[n] = (struct libra_cold_pair){f->job->layout.keys[rank], pair_h_get_value(pair)};
        server[n] = rests_server(f->job, pairs[n].key);
        n++;
    }
    return n;
}

// All servers' pairs, or none of them: a link takes them unless there is no memory.
static bool rests_push(struct libra_s *l, const struct libra_s_frame *f,
                       const struct libra_cold_pair *pairs, const uint32_t *server, unsigned n) {
    for (uint32_t s = 0; s < f->job->servers; s++) {
        struct libra_cold_pair its[LIBRA_PLACES];
        unsigned k = 0;
        for (unsigned i = 0; i < n; i++)
            if (server[i] == s)
                its[k++] = pairs[i];
        if (k > 0 && libra_worker_push_keys(f->job->link[s], its, k, f->job, l->now))
            return false;
    }
    return true;
}

static uint64_t rests_record(const struct libra_s_frame *f) {
    return f->member->window * LIBRA_S_WINDOW + f->sequence % LIBRA_S_WINDOW;
}

// Its record says that it is being added. One of a job that was removed comes late, or one twice.
static bool rests_begun(const struct libra_s *l, const struct libra_s_frame *f) {
    struct sk_object records;
    struct sk_error ignored;
    return sk_find_object(l->host.sw, SK_REGISTER, "records.records", &records, &ignored) == 0 &&
           records.desc->register_read(sk_switch_pipe(l->host.sw, f->member->port >> 7),
                                       records.index, rests_record(f), 0) == 2 * f->sequence;
}

// The push is done, and nothing of it was left (p4/libra/floats.p4, Records).
static bool rests_end_record(struct libra_s *l, const struct libra_s_frame *f) {
    const uint64_t index = rests_record(f);
    char done[16];
    struct sk_error err;
    snprintf(done, sizeof done, "%u", f->sequence * 2 + 1);
    int rc = sk_control_register_write(l->host.sw, "records.rests", index, NULL, "0", -1, &err);
    if (rc == 0)
        rc = sk_control_register_write(l->host.sw, "records.records", index, NULL, done, -1, &err);
    return rc == 0;
}

void libra_s_rests_take(struct libra_s *l, const struct libra_s_frame *f) {
    struct libra_cold_pair pairs[LIBRA_PLACES];
    uint32_t server[LIBRA_PLACES];
    const unsigned n = rests_pairs(f, pairs, server);
    libra_s_pause(l);
    const bool good = f->sequence != 0 && f->sequence <= LIBRA_SEQUENCE_LAST && rests_begun(l, f) &&
                      rests_push(l, f, pairs, server, n) && rests_end_record(l, f);
    libra_s_resume(l);
    if (!good) {
        l->bad++;
        return;
    }
    f->job->stats.rests++;
    f->job->stats.rest_pairs += n;
    libra_s_tell(l, f, LIBRA_ACK, f->clock);
}

bool libra_s_rests_read(struct libra_s *l, const uint8_t *frame, uint32_t length) {
    for (struct libra_s_job *j = l->jobs; j; j = j->next)
        for (uint32_t s = 0; s < j->servers; s++)
            if (libra_worker_read(j->link[s], frame, length, l->now) == LIBRA_ACCEPTED)
                return true;
    return false;
}

void libra_s_rests_run(struct libra_s *l) {
    uint8_t frame[LIBRA_COLD_BYTES];
    size_t length;
    void *cookie;
    for (struct libra_s_job *j = l->jobs; j; j = j->next)
        for (uint32_t s = 0; s < j->servers; s++) {
            libra_worker_expire(j->link[s], l->now);
            while (libra_worker_done(j->link[s], &cookie))
                j->stats.rests_done++;
            while ((length = libra_worker_write(j->link[s], frame, sizeof frame, l->now)) > 0)
                libra_s_send(l, frame, (uint32_t)length);
        }
}

uint64_t libra_s_rests_deadline(const struct libra_s *l) {
    uint64_t first = UINT64_MAX;
    for (struct libra_s_job *j = l->jobs; j; j = j->next)
        for (uint32_t s = 0; s < j->servers; s++) {
            const uint64_t next = libra_worker_deadline(j->link[s]);
            first = next < first ? next : first;
        }
    return first;
}

size_t libra_s_rests_waiting(const struct libra_s *l) {
    size_t n = 0;
    for (struct libra_s_job *j = l->jobs; j; j = j->next)
        for (uint32_t s = 0; s < j->servers; s++)
            n += libra_worker_busy(j->link[s]);
    return n;
}
