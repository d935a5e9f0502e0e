// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "control/libra/libra_impl.h"
#include "control/tables/control.h"
#include "control/tables/names.h"

#define MACS    "forward.macs"
#define WORKERS "admission.workers"

struct libra_s_job *libra_s_job_named(struct libra_s *l, const char *name) {
    struct libra_s_job *j = l->jobs;
    while (j && strcmp(j->name, name) != 0)
        j = j->next;
    return j;
}

void libra_s_job_free(struct libra_s_job *j) {
    if (!j)
        return;
    libra_s_rests_close(j);
    libra_layout_clear(&j->layout);
    free(j->members);
    free(j);
}

// ---- entries ----

static int jobs_write(struct libra_s *l, bool add, const struct sk_named_value *keys, size_t n_keys,
                      const char *table, const char *action, const struct sk_named_value *args,
                      size_t n_args, struct sk_error *err) {
    const struct sk_entry_spec e = {.table = table,
                                    .keys = keys,
                                    .n_keys = n_keys,
                                    .action = action,
                                    .args = args,
                                    .n_args = add ? n_args : 0,
                                    .pipe = -1};
    return add ? sk_control_entry_add(l->host.sw, &e, err)
               : sk_control_entry_delete(l->host.sw, &e, err);
}

struct jobs_number {
    char text[16];
};

static const char *jobs_number(struct jobs_number *n, uint32_t number) {
    snprintf(n->text, sizeof n->text, "%u", number);
    return n->text;
}

static int jobs_forward(struct libra_s *l, bool add, const uint8_t mac[6], uint16_t port,
                        struct sk_error *err) {
    char text[SK_MAC_TEXT];
    struct jobs_number n;
    const struct sk_named_value key = {"hdr.ethernet.dst_addr", sk_mac_text(mac, text)},
                                arg = {"port", jobs_number(&n, port)};
    const int rc = jobs_write(l, add, &key, 1, MACS, "to_port", &arg, 1, err);
    if (rc)
        sk_error_prefix(err, "frames to %s", text);
    return rc;
}

int libra_s_own_address(struct libra_s *l, struct sk_error *err) {
    struct sk_object object;
    if (sk_find_object(l->host.sw, SK_TABLE, WORKERS, &object, err) ||
        sk_find_action(object.desc->tables[object.index], "enroll", err) < 0)
        return sk_fail(err,
                       "%s is not the program of \"libra\" of the configuration (p4/libra): it has "
                       "no table 'admission.workers' with an action 'enroll'",
                       sk_switch_program(l->host.sw)->path);
    return jobs_forward(l, true, l->end.mac, l->host.cpu_port, err);
}

static int jobs_admit(struct libra_s *l, bool add, const struct libra_s_job *j, uint32_t m,
                      struct sk_error *err) {
    const struct libra_s_member *its = &j->members[m];
    struct jobs_number t[9];
    const struct sk_named_value keys[] = {
        {"hdr.libra.job", jobs_number(&t[0], j->layout.job)},
        {"hdr.libra.worker", jobs_number(&t[1], m)},
        {"hdr.ipv4.src_addr", jobs_number(&t[2], its->end.ip)},
        {"ig_intr_md.ingress_port", jobs_number(&t[3], its->port)}};
    const struct sk_named_value args[] = {
        {"cell_base", jobs_number(&t[4], j->cell_base)},
        {"cell_last", jobs_number(&t[5], j->cells - 1)},
        {"record_base", jobs_number(&t[6], its->window * LIBRA_S_WINDOW)},
        {"epoch", jobs_number(&t[7], j->epoch)},
        {"rights",
         jobs_number(&t[8], LIBRA_S_RIGHT_CPU | (its->server ? LIBRA_S_RIGHT_COLLECT : 0u))}};
    return jobs_write(l, add, keys, 4, WORKERS, "enroll", args, 5, err);
}

// ---- cells and records ----

bool libra_s_has_floats(const struct libra_s *l) {
    struct sk_object object;
    struct sk_error ignored;
    return sk_find_object(l->host.sw, SK_REGISTER, "records.rests", &object, &ignored) == 0;
}

void libra_s_cells_name(const struct libra_s *l, unsigned r, char *name, size_t size) {
    if (libra_s_has_floats(l))
        snprintf(name, size, "lane%u.cells%u", r % 2, r / 2);
    else
        snprintf(name, size, "place%02u.cells", r);
}

static uint64_t jobs_windows(const struct libra_s_job *j) {
    uint64_t bits = 0;
    for (uint32_t m = 0; m < j->workers + j->servers; m++)
        bits |= UINT64_C(1) << j->members[m].window;
    return bits;
}

static void jobs_clear_own(struct libra_s *l, const struct libra_s_job *j) {
    const struct sessions_switch sw = libra_s_switch(l);
    sessions_clear_cells(&sw, j->cell_base, j->cells);
    for (uint32_t m = 0; m < j->workers + j->servers; m++)
        sessions_clear_record(&sw, j->members[m].window);
}

// Packets of a removed job may be between two passes.
static void jobs_look_at_left(struct libra_s *l) {
    const struct sessions_switch sw = libra_s_switch(l);
    l->look_at = l->now + SESSIONS_LOOK_NS;
    sessions_left_look(&l->left, &sw, l->now, true);
    libra_s_late_look(l);
}

static bool jobs_are_free(const struct libra_s *l, const struct libra_s_job *j) {
    return !libra_s_late_is(l, j->layout.job) &&
           sessions_left_none(&l->left, j->cell_base, j->cells, jobs_windows(j));
}

// ---- places ----

static bool jobs_overlaps(const struct libra_s_job *j, uint32_t base, uint32_t n) {
    return base < j->cell_base + j->cells && j->cell_base < base + n;
}

// The first room that is large enough.
static int jobs_place_cells(const struct libra_s *l, struct libra_s_job *j, struct sk_error *err) {
    uint32_t base = 0, taken = 0;
    for (const struct libra_s_job *o = l->jobs; o; o = o->next)
        taken += o->cells;
    for (const struct libra_s_job *o = l->jobs; o;)
        if (jobs_overlaps(o, base, j->cells)) {
            base = o->cell_base + o->cells;
            o = l->jobs;
        } else {
            o = o->next;
        }
    j->cell_base = base;
    return base + j->cells <= LIBRA_S_CELLS
               ? 0
               : sk_fail(err,
                         "there is no room for %u cells in each register: jobs have %u of %u; give "
                         "it fewer \"cells\", or remove a job",
                         j->cells, taken, LIBRA_S_CELLS);
}

static bool jobs_window_is_free(const struct libra_s *l, uint32_t window) {
    for (const struct libra_s_job *o = l->jobs; o; o = o->next)
        for (uint32_t m = 0; m < o->workers + o->servers; m++)
            if (o->members[m].window == window)
                return false;
    return true;
}

static int jobs_place_windows(const struct libra_s *l, struct libra_s_job *j,
                              struct sk_error *err) {
    uint32_t m = 0;
    for (uint32_t w = 0; w < LIBRA_S_WINDOWS && m < j->workers + j->servers; w++)
        if (jobs_window_is_free(l, w))
            j->members[m++].window = (uint16_t)w;
    return m == j->workers + j->servers
               ? 0
               : sk_fail(err,
                         "the switch has records for %u members, of which %u are free, and the job "
                         "has %u",
                         LIBRA_S_WINDOWS, m, j->workers + j->servers);
}

static int jobs_is_new(struct libra_s *l, const struct libra_s_job *j, struct sk_error *err) {
    size_t n = 0;
    for (const struct libra_s_job *o = l->jobs; o; o = o->next, n++)
        if (strcmp(o->name, j->name) == 0)
            return sk_fail(err, "there is a job '%s' already; remove it first", j->name);
        else if (o->layout.job == j->layout.job)
            return sk_fail(err, "number %u is that of job '%s'; a layout has the job's number",
                           j->layout.job, o->name);
    return n < LIBRA_S_JOBS ? 0 : sk_fail(err, "the switch has %u jobs already", LIBRA_S_JOBS);
}

// ---- added and removed ----

// Entries up to those that are given; for undoing.
static void jobs_withdraw(struct libra_s *l, const struct libra_s_job *j, uint32_t admitted,
                          uint32_t forwarded) {
    struct sk_error ignored;
    for (uint32_t m = 0; m < admitted; m++)
        jobs_admit(l, false, j, m, &ignored);
    for (uint32_t m = 0; m < forwarded; m++)
        if (j->members[m].has_mac)
            jobs_forward(l, false, j->members[m].end.mac, 0, &ignored);
}

static int jobs_enter(struct libra_s *l, struct libra_s_job *j, struct sk_error *err) {
    const uint32_t n = j->workers + j->servers;
    uint32_t admitted = 0, forwarded = 0;
    int rc = 0;
    for (; rc == 0 && forwarded < n; forwarded += rc == 0)
        rc = j->members[forwarded].has_mac ? jobs_forward(l, true, j->members[forwarded].end.mac,
                                                          j->members[forwarded].port, err)
                                           : 0;
    for (; rc == 0 && !j->held && !j->waits && admitted < n; admitted += rc == 0)
        rc = jobs_admit(l, true, j, admitted, err);
    if (rc)
        jobs_withdraw(l, j, admitted, forwarded);
    j->entered = admitted > 0;
    return rc;
}

// Its cells, records and number are its own, and it is cleared; else it waits, but for one that
// brings a state.
static int jobs_prepare(struct libra_s *l, struct libra_s_job *j, struct sk_error *err) {
    const struct sessions_switch sw = libra_s_switch(l);
    if (sessions_cells(&sw) == 0 || sessions_records(&sw) == 0)
        return sk_fail(err, "the program has no cells, or no records, of p4/libra");
    jobs_look_at_left(l);
    j->waits = !jobs_are_free(l, j);
    if (!j->waits)
        jobs_clear_own(l, j);
    else if (j->held)
        return sk_fail(err, "packets of a removed job may still come: again, a little later");
    return 0;
}

int libra_s_job_add(struct libra_s *l, struct libra_s_job *j, struct sk_error *err) {
    int rc = jobs_is_new(l, j, err);
    j->epoch = j->layout.epoch;
    if (rc == 0)
        rc = jobs_place_cells(l, j, err);
    if (rc == 0)
        rc = jobs_place_windows(l, j, err);
    if (rc == 0 && !libra_s_rests_open(l, j))
        rc = sk_fail(err, "out of memory");
    if (rc == 0)
        rc = jobs_prepare(l, j, err);
    if (rc)
        return rc;
    for (uint32_t m = 0; m < j->workers + j->servers; m++)
        libra_s_copies_forget(l, j->members[m].window);
    libra_s_pause(l);
    rc = jobs_enter(l, j, err);
    libra_s_resume(l);
    if (rc == 0) {
        j->next = l->jobs;
        l->jobs = j;
    }
    return rc;
}

void libra_s_job_withdraw(struct libra_s *l, struct libra_s_job *j) {
    const uint32_t n = j->workers + j->servers;
    struct libra_s_job **at = &l->jobs;
    while (*at != j)
        at = &(*at)->next;
    *at = j->next;
    libra_s_pause(l);
    jobs_withdraw(l, j, j->held || j->waits ? 0 : n, n);
    libra_s_resume(l);
    if (j->entered) {
        sessions_left_add(&l->left, j->cell_base, j->cells, jobs_windows(j));
        libra_s_late_add(l, j->layout.job);
        l->look_at = l->now + SESSIONS_LOOK_NS;
    }
    for (uint32_t m = 0; m < n; m++)
        libra_s_copies_forget(l, j->members[m].window);
}

void libra_s_job_remove(struct libra_s *l, struct libra_s_job *j) {
    libra_s_job_withdraw(l, j);
    libra_s_job_free(j);
}

void libra_s_job_hold(struct libra_s *l, struct libra_s_job *j) {
    if (j->held)
        return;
    libra_s_pause(l);
    jobs_withdraw(l, j, j->waits ? 0 : j->workers + j->servers, 0);
    libra_s_resume(l);
    j->held = true;
    j->last = l->now;
}

int libra_s_job_admit(struct libra_s *l, struct libra_s_job *j, struct sk_error *err) {
    uint32_t admitted = 0;
    int rc = 0;
    j->held = j->held && !j->waits;
    if (j->waits)
        return 0;
    libra_s_pause(l);
    for (; rc == 0 && admitted < j->workers + j->servers; admitted += rc == 0)
        rc = jobs_admit(l, true, j, admitted, err);
    if (rc)
        jobs_withdraw(l, j, admitted, 0);
    libra_s_resume(l);
    j->held = rc != 0;
    j->entered |= rc == 0;
    return rc;
}

// ---- what removed jobs have left ----

// One that is refused is held.
static void jobs_begin(struct libra_s *l, struct libra_s_job *j) {
    struct sk_error ignored;
    jobs_clear_own(l, j);
    j->waits = false;
    if (!j->held)
        libra_s_job_admit(l, j, &ignored);
}

void libra_s_jobs_run(struct libra_s *l) {
    if (l->now < libra_s_jobs_deadline(l))
        return;
    jobs_look_at_left(l);
    for (struct libra_s_job *j = l->jobs; j; j = j->next)
        if (j->waits && jobs_are_free(l, j))
            jobs_begin(l, j);
}

uint64_t libra_s_jobs_deadline(const struct libra_s *l) {
    bool any = l->left.n > 0 || libra_s_late_any(l);
    for (const struct libra_s_job *j = l->jobs; j && !any; j = j->next)
        any = j->waits;
    return any ? l->look_at : UINT64_MAX;
}

// ---- members that begin ----

// Above all that is recorded, and all that may still be on the way.
static int jobs_first_sequence(struct libra_s *l, const struct libra_s_member *m, uint32_t *first) {
    const uint32_t base = m->window * LIBRA_S_WINDOW;
    struct sk_object records;
    struct sk_pipe_list pipes;
    struct sk_error ignored;
    uint32_t last = 0;
    if (sk_find_object(l->host.sw, SK_REGISTER, "records.records", &records, &ignored) ||
        sk_find_pipes(l->host.sw, &records, -1, &pipes, &ignored))
        return -1;
    libra_s_pause(l);
    for (unsigned p = 0; p < pipes.n; p++)
        for (uint32_t i = 0; i < LIBRA_S_WINDOW; i++) {
            const uint32_t word = (uint32_t)records.desc->register_read(
                sk_switch_pipe(l->host.sw, pipes.list[p]), records.index, base + i, 0);
            last = word > last ? word : last;
        }
    libra_s_resume(l);
    last = libra_s_has_floats(l) ? last / 2 : last; // there with a bit that says it is done
    *first = last ? last + LIBRA_S_WINDOW + 1 : 1;
    return 0;
}

void libra_s_job_join(struct libra_s *l, const struct libra_s_frame *f) {
    struct libra_s_job *j = f->job;
    uint32_t first;
    if (j->began && j->incarnation != f->clock) {
        j->stats.refused++;
        libra_s_tell(l, f, LIBRA_REFUSED, j->incarnation);
        return;
    }
    if (jobs_first_sequence(l, f->member, &first))
        return; // the member asks again, and then says that nobody answers
    j->began = true;
    j->incarnation = f->clock;
    j->stats.joined++;
    libra_s_tell(l, f, LIBRA_JOINED, first);
}
