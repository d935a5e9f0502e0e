// SPDX-License-Identifier: Apache-2.0
//
// A job as text, and back on another switch (Libra 3.6, figure 11). What is read is whole only
// after nobody was admitted for a while: no push is half added then, which the records tell.
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "control/libra/libra_impl.h"
#include "control/tables/names.h"
#include "libra_wire.h"

// What the switch had sent to the CPU port before it held the job has come after so long.
#define QUIET_NS   (10 * LIBRA_S_MS)
#define LOST_NS    (30000 * LIBRA_S_MS)
#define TELL_NS    (20 * LIBRA_S_MS)
#define TELL_TRIES 250u // 5 seconds

// ---- registers as text ----

static uint64_t migrate_mix(uint64_t digest, uint32_t word) {
    for (unsigned i = 0; i < 4; i++)
        digest = (digest ^ (word >> 8 * i & 255)) * UINT64_C(0x100000001b3);
    return digest;
}

// The cells of one pipe: workers of a job are at ports of one.
struct migrate_range {
    struct sk_object object;
    struct sk_pipe *pipe;
    uint32_t first, n;
};

// The pipe of the job's first member.
static int migrate_find(const struct libra_s *l, const struct libra_s_job *j, const char *name,
                        uint32_t first, uint32_t n, struct migrate_range *r, struct sk_error *err) {
    if (sk_find_object(l->host.sw, SK_REGISTER, name, &r->object, err))
        return -1;
    r->pipe = sk_switch_pipe(l->host.sw, j->members[0].port >> 7);
    r->first = first;
    r->n = n;
    return 0;
}

static uint32_t migrate_get(const struct migrate_range *r, uint32_t i) {
    return (uint32_t)r->object.desc->register_read(r->pipe, r->object.index, r->first + i, 0);
}

// Its ranges in turn: cells of 16 registers, then records and rests of each member; -1: no more.
static int migrate_range(const struct libra_s *l, const struct libra_s_job *j, unsigned i,
                         struct migrate_range *r) {
    const bool floats = libra_s_has_floats(l);
    struct sk_error ignored;
    char name[48];
    if (i < LIBRA_PLACES) {
        libra_s_cells_name(l, i, name, sizeof name);
        return migrate_find(l, j, name, j->cell_base, j->cells, r, &ignored);
    }
    const unsigned each = floats ? 2 : 1, m = (i - LIBRA_PLACES) / each;
    if (m >= j->workers + j->servers)
        return -1;
    return migrate_find(l, j, (i - LIBRA_PLACES) % each ? "records.rests" : "records.records",
                        j->members[m].window * LIBRA_S_WINDOW, LIBRA_S_WINDOW, r, &ignored);
}

static uint64_t migrate_digest(const struct libra_s *l, const struct libra_s_job *j) {
    uint64_t digest = UINT64_C(0xcbf29ce484222325);
    struct migrate_range r;
    for (unsigned i = 0; migrate_range(l, j, i, &r) == 0; i++)
        for (uint32_t k = 0; k < r.n; k++)
            digest = migrate_mix(digest, migrate_get(&r, k));
    return digest;
}

static json_t *migrate_hex(uint64_t digest) {
    return json_sprintf("%016llx", (unsigned long long)digest);
}

static json_t *migrate_registers(const struct libra_s *l, const struct libra_s_job *j) {
    json_t *list = json_array();
    struct migrate_range r;
    for (unsigned i = 0; migrate_range(l, j, i, &r) == 0; i++) {
        char *text = malloc(8 * (size_t)r.n + 1);
        for (uint32_t k = 0; text && k < r.n; k++)
            snprintf(text + 8 * (size_t)k, 9, "%08x", migrate_get(&r, k));
        json_array_append_new(list, json_string(text ? text : ""));
        free(text);
    }
    return list;
}

// ---- a job out of a switch ----

// A push has begun, and is not done; or is in its first pass, after which it has a record. No pass
// takes as long as LOST_NS.
static bool migrate_adds(const struct libra_s *l, const struct libra_s_job *j) {
    const struct sessions_switch sw = libra_s_switch(l);
    const uint64_t quiet = j->last + QUIET_NS;
    bool adds = sessions_under_way(&sw, l->now < quiet + LOST_NS ? quiet : l->now - LOST_NS);
    for (uint32_t m = 0; m < j->workers + j->servers; m++)
        adds = adds || sessions_adds(&sw, j->members[m].window);
    return adds;
}

static json_t *migrate_members(const struct libra_s_job *j) {
    json_t *list = json_array();
    for (uint32_t m = 0; m < j->workers + j->servers; m++) {
        char mac[SK_MAC_TEXT];
        json_array_append_new(list, json_pack("{s:s, s:i}", "mac",
                                              sk_mac_text(j->members[m].heard.mac, mac), "udp_port",
                                              j->members[m].heard.port));
    }
    return list;
}

static json_t *migrate_copies(const struct libra_s *l, const struct libra_s_job *j) {
    json_t *list = json_array();
    for (uint32_t m = 0; m < j->workers + j->servers; m++)
        for (uint32_t i = 0; i < LIBRA_S_WINDOW; i++) {
            const uint8_t *frame = l->copies[j->members[m].window * LIBRA_S_WINDOW + i].frame;
            char text[2 * LIBRA_FRAME_BYTES + 1];
            for (unsigned k = 0; frame && k < LIBRA_FRAME_BYTES; k++)
                snprintf(text + 2 * (size_t)k, 3, "%02x", frame[k]);
            if (frame)
                json_array_append_new(list, json_pack("{s:i, s:s}", "member", m, "frame", text));
        }
    return list;
}

json_t *libra_s_save(struct libra_s *l, const struct libra_s_job *j, bool anyway,
                     struct sk_error *err) {
    bool rests = false;
    for (uint32_t s = 0; s < j->servers; s++)
        rests |= libra_worker_busy(j->link[s]);
    if (j->waits ||
        (!anyway && (!j->held || rests || l->now < j->last + QUIET_NS || migrate_adds(l, j)))) {
        sk_fail(err,
                !j->held && !j->waits
                    ? "job '%s' is admitted: hold it first"
                    : "job '%s' has pushes that are being added: again, a little later",
                j->name);
        return NULL;
    }
    libra_s_pause(l);
    json_t *registers = migrate_registers(l, j);
    const uint64_t digest = migrate_digest(l, j);
    libra_s_resume(l);
    return json_pack("{s:i, s:i, s:I, s:b, s:o, s:o, s:o, s:o}", "epoch", j->epoch, "cells",
                     (int)j->cells, "incarnation", (json_int_t)j->incarnation, "began", j->began,
                     "registers", registers, "members", migrate_members(j), "copies",
                     migrate_copies(l, j), "digest", migrate_hex(digest));
}

// ---- and into another ----

static int migrate_number(const char *text, unsigned digits, uint32_t *number) {
    *number = 0;
    for (unsigned i = 0; i < digits; i++) {
        const char c = text[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return -1;
        *number = *number << 4 | (uint32_t)digit;
    }
    return 0;
}

static int migrate_put(const struct migrate_range *r, const char *text) {
    uint32_t word;
    if (!text || strlen(text) != 8 * (size_t)r->n)
        return -1;
    for (uint32_t k = 0; k < r->n; k++) {
        if (migrate_number(text + 8 * (size_t)k, 8, &word))
            return -1;
        r->object.desc->register_write(r->pipe, r->object.index, r->first + k, 0, word);
    }
    return 0;
}

static int migrate_put_registers(struct libra_s *l, const struct libra_s_job *j,
                                 const json_t *list) {
    struct migrate_range r;
    unsigned i = 0;
    for (; migrate_range(l, j, i, &r) == 0; i++)
        if (migrate_put(&r, json_string_value(json_array_get(list, i))))
            return -1;
    return json_array_size(list) == i ? 0 : -1;
}

static int migrate_put_members(struct libra_s_job *j, const json_t *list) {
    if (json_array_size(list) != j->workers + j->servers)
        return -1;
    for (uint32_t m = 0; m < j->workers + j->servers; m++) {
        const json_t *its = json_array_get(list, m);
        struct libra_s_member *member = &j->members[m];
        const long long port = sk_json_number(its, "udp_port");
        if (!sk_mac_parse(sk_json_text(its, "mac"), member->heard.mac) || port < 0 || port > 65535)
            return -1;
        member->heard.port = (uint16_t)port;
        member->heard.ip = member->end.ip;
    }
    return 0;
}

static int migrate_put_copies(struct libra_s *l, struct libra_s_job *j, const json_t *list) {
    size_t i;
    json_t *its;
    json_array_foreach(list, i, its) {
        const long long m = sk_json_number(its, "member");
        const char *text = sk_json_text(its, "frame");
        uint8_t frame[LIBRA_FRAME_BYTES];
        uint32_t byte;
        if (m < 0 || m >= j->workers + j->servers || strlen(text) != 2 * LIBRA_FRAME_BYTES)
            return -1;
        for (unsigned k = 0; k < LIBRA_FRAME_BYTES; k++) {
            if (migrate_number(text + 2 * (size_t)k, 2, &byte))
                return -1;
            frame[k] = (uint8_t)byte;
        }
        const struct libra_s_frame f = {
            .bytes = frame,
            .length = sizeof frame,
            .sequence = libra_h_get_sequence(frame + LIBRA_HEADERS - LIBRA_H_BYTES),
            .job = j,
            .member = &j->members[m]};
        libra_s_copies_take(l, &f);
    }
    return 0;
}

int libra_s_check(struct libra_s *l, struct libra_s_job *j, const char *digest,
                  struct sk_error *err) {
    libra_s_pause(l);
    json_t *got = migrate_hex(migrate_digest(l, j));
    libra_s_resume(l);
    const bool good = strcmp(json_string_value(got), digest) == 0;
    json_decref(got);
    if (!good)
        return sk_fail(err, "state: its digest is not that of what was written");
    j->loading = false;
    return 0;
}

int libra_s_put(struct libra_s *l, struct libra_s_job *j, const json_t *part,
                struct sk_error *err) {
    const json_t *index = json_object_get(part, "index"), *copies = json_object_get(part, "copies");
    struct migrate_range r;
    if (!j->loading)
        return sk_fail(err, "job '%s' is not being loaded", j->name);
    if (copies)
        return migrate_put_copies(l, j, copies) ? sk_fail(err, "state: it is damaged") : 0;
    libra_s_pause(l);
    const bool good = json_is_integer(index) && json_integer_value(index) >= 0 &&
                      json_integer_value(index) < 1000 &&
                      migrate_range(l, j, (unsigned)json_integer_value(index), &r) == 0 &&
                      migrate_put(&r, sk_json_text(part, "text")) == 0;
    libra_s_resume(l);
    return good ? 0 : sk_fail(err, "state: it is damaged");
}

int libra_s_load(struct libra_s *l, struct libra_s_job *j, const json_t *state,
                 struct sk_error *err) {
    const uint32_t cells = (uint32_t)sk_json_number(state, "cells");
    j->cells = cells;
    j->held = true;
    if (cells < 1 || cells > LIBRA_S_CELLS || j->layout.n > (size_t)cells * LIBRA_PLACES)
        return sk_fail(err, "state: it has %u cells, which are not enough, or too many", cells);
    if (libra_s_job_add(l, j, err))
        return -1;
    j->epoch = (uint16_t)sk_json_number(state, "epoch");
    j->incarnation = (uint32_t)sk_json_number(state, "incarnation");
    j->began = sk_json_is(state, "began");
    j->loading = !json_object_get(state, "registers");
    libra_s_pause(l);
    int rc = j->loading ? 0 : migrate_put_registers(l, j, json_object_get(state, "registers"));
    libra_s_resume(l);
    if (rc == 0)
        rc = migrate_put_members(j, json_object_get(state, "members"));
    if (rc == 0)
        rc = migrate_put_copies(l, j, json_object_get(state, "copies"));
    if (rc)
        sk_fail(err, "state: it is damaged");
    else if (!j->loading)
        rc = libra_s_check(l, j, sk_json_text(state, "digest"), err);
    if (rc)
        libra_s_job_withdraw(l, j);
    return rc;
}

// ---- members are told ----

void libra_s_migrate_tell(struct libra_s *l, struct libra_s_job *j, unsigned kind) {
    for (uint32_t m = 0; m < j->workers + j->servers; m++) {
        j->members[m].tell = kind;
        j->members[m].tell_tries = 0;
        j->members[m].tell_at = l->now;
    }
}

static void migrate_tell_one(struct libra_s *l, struct libra_s_job *j, struct libra_s_member *m) {
    struct libra_s_frame f = {.job = j, .member = m};
    if (!m->tell || m->tell_at > l->now)
        return;
    if (m->heard.port == 0 || m->tell_tries++ >= TELL_TRIES) {
        m->tell = 0; // one that never began, or is no more
        return;
    }
    m->tell_at = l->now + TELL_NS;
    libra_s_tell_at(l, &f, &m->heard, m->tell, j->epoch);
}

void libra_s_migrate_run(struct libra_s *l) {
    for (struct libra_s_job *j = l->jobs; j; j = j->next)
        for (uint32_t m = 0; m < j->workers + j->servers; m++)
            migrate_tell_one(l, j, &j->members[m]);
}

uint64_t libra_s_migrate_deadline(const struct libra_s *l) {
    uint64_t first = UINT64_MAX;
    for (const struct libra_s_job *j = l->jobs; j; j = j->next)
        for (uint32_t m = 0; m < j->workers + j->servers; m++)
            if (j->members[m].tell && j->members[m].tell_at < first)
                first = j->members[m].tell_at;
    return first;
}

void libra_s_migrate_heard(const struct libra_s_frame *f) {
    if (f->member->tell == LIBRA_MOVED)
        f->member->tell = 0;
}
