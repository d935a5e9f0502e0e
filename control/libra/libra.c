// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "control/libra/libra_impl.h"
#include "control/tables/control.h"
#include "hosts/core/udp.h"
#include "hosts/libra/adder.h"
#include "libra_wire.h"

// ---- made and freed ----

void libra_s_free(struct libra_s *l) {
    if (!l)
        return;
    while (l->jobs) {
        struct libra_s_job *j = l->jobs;
        l->jobs = j->next;
        libra_s_job_free(j);
    }
    for (size_t i = 0; l->copies && i < LIBRA_S_WINDOWS * LIBRA_S_WINDOW; i++)
        free(l->copies[i].frame);
    free(l->copies);
    sk_timers_free(&l->timers);
    free(l);
}

struct libra_s_filling {
    struct sk_switch *sw;
    struct sk_error *err;
};

static int libra_s_fill_table(void *aux, const char *table, const char *action,
                              const uint32_t *values, size_t n) {
    const struct libra_s_filling *f = aux;
    return sk_control_table_fill(f->sw, table, action, values, n, -1, f->err);
}

// The adder's tables: of a program that adds floats.
static int libra_s_fill(struct libra_s *l, struct sk_error *err) {
    struct libra_s_filling f = {l->host.sw, err};
    if (!libra_s_has_floats(l))
        return 0;
    libra_s_pause(l);
    const int rc = libra_adder_fill(libra_adder(), libra_s_fill_table, &f);
    libra_s_resume(l);
    return rc;
}

static bool libra_s_begin(struct libra_s *l, const struct sk_at *section, struct sk_error *err) {
    const struct sk_at jobs = sk_at_member(section, "jobs");
    if (!libra_s_section_read(l, section) || libra_s_own_address(l, err) || libra_s_fill(l, err))
        return false;
    for (size_t i = 0; i < sk_at_length(&jobs); i++) {
        const struct sk_at at = sk_at_item(&jobs, i);
        struct libra_s_job *j = libra_s_job_read(l, &at);
        if (!j)
            return false;
        if (libra_s_job_add(l, j, err)) {
            libra_s_job_free(j);
            sk_error_prefix(err, "libra.jobs[%zu]", i);
            return false;
        }
    }
    return true;
}

struct libra_s *libra_s_new(const struct libra_s_host *host, const struct sk_at *section,
                            struct sk_error *err) {
    struct libra_s *l = calloc(1, sizeof *l);
    bool good = l;
    section->doc->err = err;
    section->doc->failed = false;
    if (good) {
        l->host = *host;
        l->secret = host->random ? host->random(host->aux) : 0;
        l->copies = calloc(LIBRA_S_WINDOWS * LIBRA_S_WINDOW, sizeof *l->copies);
        good = l->copies && sk_timers_init(&l->timers, LIBRA_S_WINDOWS * LIBRA_S_WINDOW) == 0;
    }
    if (!good)
        sk_fail(err, "out of memory");
    else if (libra_s_begin(l, section, err))
        return l;
    libra_s_free(l);
    return NULL;
}

void libra_s_host_changed(struct libra_s *l, const struct libra_s_host *host) {
    l->host = *host;
}

// ---- the switch ----

struct sessions_switch libra_s_switch(const struct libra_s *l) {
    return (struct sessions_switch){l->host.sw, l->host.pause, l->host.resume, l->host.aux};
}

void libra_s_pause(struct libra_s *l) {
    if (l->host.pause)
        l->host.pause(l->host.aux);
}

void libra_s_resume(struct libra_s *l) {
    if (l->host.resume)
        l->host.resume(l->host.aux);
}

// What finds no room is lost, as on any link: whoever waits for it asks again, or its timer is due
// again.
void libra_s_send(struct libra_s *l, const uint8_t *frame, uint32_t length) {
    if (!l->host.send(l->host.aux, frame, length))
        l->lost++;
}

void libra_s_tell_at(struct libra_s *l, const struct libra_s_frame *f, const struct sk_endpoint *to,
                     unsigned kind, uint32_t clock) {
    uint8_t frame[LIBRA_HEADERS] = {0}, *h = frame + SK_UDP_BYTES;
    sk_udp_init(frame, &l->end, to, LIBRA_H_BYTES);
    libra_h_set_kind(h, (uint8_t)kind);
    libra_h_set_job(h, f->job->layout.job);
    libra_h_set_worker(h, (uint16_t)(f->member - f->job->members));
    libra_h_set_sequence(h, f->sequence);
    libra_h_set_epoch(h, f->job->epoch);
    libra_h_set_clock(h, clock);
    libra_s_send(l, frame, sizeof frame);
}

// The member's end of a frame that the switch turned round, or that it passed on.
static struct sk_endpoint libra_s_end_of(const struct libra_s_frame *f) {
    const uint8_t *udp = f->bytes + ETHERNET_H_BYTES + IPV4_H_BYTES;
    const bool turned = udp_h_get_src_port(udp) == LIBRA_PORT;
    struct sk_endpoint end = f->member->end;
    memcpy(end.mac, f->bytes + (turned ? 0 : 6), sizeof end.mac);
    end.port = turned ? udp_h_get_dst_port(udp) : udp_h_get_src_port(udp);
    return end;
}

void libra_s_tell(struct libra_s *l, const struct libra_s_frame *f, unsigned kind, uint32_t clock) {
    const struct sk_endpoint to = libra_s_end_of(f);
    libra_s_tell_at(l, f, &to, kind, clock);
}

// ---- frames ----

static struct libra_s_job *libra_s_job_numbered(struct libra_s *l, unsigned number) {
    struct libra_s_job *j = l->jobs;
    while (j && j->layout.job != number)
        j = j->next;
    return j;
}

// Whose it is: its sender's, or, of what the switch has turned round, the receiver's.
static bool libra_s_parse(struct libra_s *l, const uint8_t *bytes, uint32_t length,
                          struct libra_s_frame *f) {
    const uint8_t *h = bytes + SK_UDP_BYTES, *ipv4 = bytes + ETHERNET_H_BYTES;
    if (sk_udp_kind(bytes, length, LIBRA_H_BYTES) != SK_UDP_IS ||
        sk_checksum(ipv4, IPV4_H_BYTES) != 0)
        return false;
    *f = (struct libra_s_frame){.bytes = bytes,
                                .length = length,
                                .kind = libra_h_get_kind(h),
                                .sequence = libra_h_get_sequence(h),
                                .clock = libra_h_get_clock(h),
                                .job = libra_s_job_numbered(l, libra_h_get_job(h))};
    const unsigned worker = libra_h_get_worker(h);
    if (!f->job || worker >= f->job->workers + f->job->servers)
        return false;
    // a member that begins after a move has the layout's epoch, and is told the job's
    const unsigned epoch = libra_h_get_epoch(h);
    if (epoch != f->job->epoch && (f->kind != LIBRA_JOIN || epoch != f->job->layout.epoch))
        return false;
    f->member = &f->job->members[worker];
    const bool to_switch = f->kind == LIBRA_ACK || f->kind == LIBRA_JOIN || f->kind == LIBRA_MOVED;
    const bool pairs = !to_switch;
    // What the program turned round is for another station; what it forwards to the switch's own
    // address may be anybody's words, but for the UDP port that it takes as Libra's.
    if (!to_switch && (memcmp(bytes, l->end.mac, sizeof l->end.mac) == 0 ||
                       memcmp(bytes + 6, l->end.mac, sizeof l->end.mac) != 0))
        return false;
    return (to_switch ? ipv4_h_get_src_addr(ipv4) : ipv4_h_get_dst_addr(ipv4)) ==
               f->member->end.ip &&
           (to_switch ? udp_h_get_dst_port(ipv4 + IPV4_H_BYTES)
                      : udp_h_get_src_port(ipv4 + IPV4_H_BYTES)) == LIBRA_PORT &&
           sk_udp_has_lengths(bytes, pairs ? LIBRA_FRAME_BYTES - SK_UDP_BYTES : LIBRA_H_BYTES) &&
           length >= (pairs ? LIBRA_FRAME_BYTES : LIBRA_HEADERS);
}

void libra_s_frame(struct libra_s *l, const uint8_t *frame, uint32_t length, uint64_t now_ns) {
    struct libra_s_frame f;
    l->now = now_ns > l->now ? now_ns : l->now;
    l->frames++;
    if (libra_s_late_read(l, frame, length) || libra_s_rests_read(l, frame, length))
        return;
    if (!libra_s_parse(l, frame, length, &f)) {
        l->bad++;
        return;
    }
    if (f.job->waits)
        return; // of the job before; who begins asks again
    f.member->heard = libra_s_end_of(&f);
    f.job->last = l->now;
    switch (f.kind) {
    case LIBRA_ANSWER:
        libra_s_copies_take(l, &f);
        break;
    case LIBRA_ACK:
        libra_s_copies_ack(l, &f);
        break;
    case LIBRA_COLLECT:
        libra_s_copies_ask(l, &f);
        break;
    case LIBRA_PUSH:
    case LIBRA_PUSH_ANY:
        libra_s_rests_take(l, &f);
        break;
    case LIBRA_JOIN:
        libra_s_job_join(l, &f);
        break;
    case LIBRA_MOVED:
        libra_s_migrate_heard(&f);
        break;
    default:
        l->bad++;
    }
}

// ---- time ----

void libra_s_run(struct libra_s *l, uint64_t now_ns) {
    l->now = now_ns > l->now ? now_ns : l->now;
    libra_s_jobs_run(l);
    libra_s_copies_run(l);
    libra_s_rests_run(l);
    libra_s_migrate_run(l);
}

uint64_t libra_s_deadline(struct libra_s *l) {
    const uint64_t copies = sk_timers_next(&l->timers), rests = libra_s_rests_deadline(l);
    const uint64_t tells = libra_s_migrate_deadline(l), looks = libra_s_jobs_deadline(l);
    const uint64_t first = copies < rests ? copies : rests, second = tells < looks ? tells : looks;
    return first < second ? first : second;
}

size_t libra_s_waiting(const struct libra_s *l) {
    return l->n_copies + libra_s_rests_waiting(l);
}

// ---- requests ----

static struct libra_s_job *libra_s_request_job(struct libra_s *l, const struct sk_at *at) {
    struct sk_error err;
    const struct sk_at layout = sk_at_member(at, "layout");
    const char *path = sk_at_string(&layout, true);
    if (path && l->host.may_read && l->host.may_read(l->host.aux, path, &err))
        sk_at_fail(&layout, "%s", err.text);
    return at->doc->failed ? NULL : libra_s_job_read(l, at);
}

static json_t *libra_s_request_add(struct libra_s *l, const struct sk_at *at) {
    struct sk_error err;
    struct libra_s_job *j = libra_s_request_job(l, at);
    if (!j)
        return NULL;
    if (libra_s_job_add(l, j, &err) == 0)
        return libra_s_job_json(l, j);
    libra_s_job_free(j);
    sk_at_fail(at, "%s", err.text);
    return NULL;
}

static json_t *libra_s_request_named(struct libra_s *l, const struct sk_at *at, bool removes) {
    static const char *const keys[] = {"op", "name", NULL};
    sk_at_keys(at, keys);
    const struct sk_at name = sk_at_member(at, "name");
    const char *text = sk_at_string(&name, true);
    struct libra_s_job *j = text ? libra_s_job_named(l, text) : NULL;
    if (!j) {
        sk_at_fail(&name, "there is no job '%.60s'", text ? text : "");
        return NULL;
    }
    if (!removes)
        return libra_s_job_json(l, j);
    libra_s_job_remove(l, j);
    return json_object();
}

// A job with what another switch has saved: {"op": "libra.load", "state": {...}, and what job.add
// has}.
static json_t *libra_s_request_load(struct libra_s *l, const struct sk_at *at) {
    const struct sk_at state = sk_at_member(at, "state");
    struct sk_error err;
    json_t *what = json_object();
    json_object_update(what, at->value);
    json_object_del(what, "state");
    json_object_del(what, "cells"); // the state says it
    struct sk_at job = *at;
    job.value = what;
    if (!json_is_object(state.value))
        sk_at_fail(at, "\"state\" should be what libra.save has returned");
    struct libra_s_job *j = at->doc->failed ? NULL : libra_s_request_job(l, &job);
    json_t *result = NULL;
    if (j && libra_s_load(l, j, state.value, &err)) {
        libra_s_job_free(j);
        sk_at_fail(at, "%s", err.text);
    } else if (j) {
        result = libra_s_job_json(l, j);
    }
    json_decref(what);
    return result;
}

static json_t *libra_s_request_save(struct libra_s *l, const struct sk_at *at,
                                    struct libra_s_job *j) {
    const struct sk_at anyway = sk_at_member(at, "anyway");
    struct sk_error err;
    json_t *state = libra_s_save(l, j, json_is_true(anyway.value), &err);
    if (!state)
        sk_at_fail(at, "%s", err.text);
    return state;
}

// "epoch": another than before, if the job has moved; members are told.
static json_t *libra_s_request_admit(struct libra_s *l, const struct sk_at *at,
                                     struct libra_s_job *j) {
    const struct sk_at epoch = sk_at_member(at, "epoch");
    struct sk_error err;
    const uint64_t next = epoch.value ? sk_at_between(&epoch, true, 0, 65535) : j->epoch;
    if (!at->doc->failed && (!j->held || j->loading))
        sk_at_fail(at,
                   j->loading ? "the state of job '%s' is not whole: libra.check comes first"
                              : "job '%s' is admitted already",
                   j->name);
    if (at->doc->failed)
        return NULL;
    const bool moved = next != j->epoch;
    j->epoch = (uint16_t)next;
    if (libra_s_job_admit(l, j, &err)) {
        sk_at_fail(at, "%s", err.text);
        return NULL;
    }
    if (moved)
        libra_s_migrate_tell(l, j, LIBRA_MOVED);
    return libra_s_job_json(l, j);
}

// Of a controller (libra.h, MIGRATION).
static json_t *libra_s_request_migrates(struct libra_s *l, const char *op, const struct sk_at *at) {
    static const char *const keys[] = {"op",   "name",   "epoch",  "anyway", "index",
                                       "text", "copies", "digest", NULL};
    sk_at_keys(at, keys);
    const struct sk_at name = sk_at_member(at, "name");
    const char *text = sk_at_string(&name, true);
    struct libra_s_job *j = text ? libra_s_job_named(l, text) : NULL;
    if (!j)
        sk_at_fail(&name, "there is no job '%.60s'", text ? text : "");
    if (at->doc->failed)
        return NULL;
    if (strcmp(op, "libra.save") == 0)
        return libra_s_request_save(l, at, j);
    if (strcmp(op, "libra.admit") == 0)
        return libra_s_request_admit(l, at, j);
    struct sk_error err;
    const bool puts = strcmp(op, "libra.put") == 0;
    if (puts || strcmp(op, "libra.check") == 0) {
        if (puts ? libra_s_put(l, j, at->value, &err)
                 : libra_s_check(l, j, sk_json_text(at->value, "digest"), &err)) {
            sk_at_fail(at, "%s", err.text);
            return NULL;
        }
        return json_object();
    }
    libra_s_job_hold(l, j);
    if (strcmp(op, "libra.end") == 0)
        libra_s_migrate_tell(l, j, LIBRA_ENDED);
    return libra_s_job_json(l, j);
}

json_t *libra_s_request(struct libra_s *l, const char *op, const struct sk_at *at, bool *known) {
    *known = true;
    if (strcmp(op, "job.add") == 0)
        return libra_s_request_add(l, at);
    if (strcmp(op, "job.remove") == 0 || strcmp(op, "job.show") == 0)
        return libra_s_request_named(l, at, op[4] == 'r');
    if (strcmp(op, "job.list") == 0)
        return libra_s_list(l);
    if (strcmp(op, "libra.status") == 0)
        return libra_s_status(l);
    if (strcmp(op, "libra.load") == 0)
        return libra_s_request_load(l, at);
    if (strcmp(op, "libra.hold") == 0 || strcmp(op, "libra.save") == 0 ||
        strcmp(op, "libra.admit") == 0 || strcmp(op, "libra.end") == 0 ||
        strcmp(op, "libra.put") == 0 || strcmp(op, "libra.check") == 0)
        return libra_s_request_migrates(l, op, at);
    *known = false;
    return NULL;
}
