// SPDX-License-Identifier: Apache-2.0
//
// The ToR's control plane in the running switch: frames by the inside port, digests, links, ages,
// requests.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/journal.h"
#include "cli/run/run.h"
#include "base/file.h"
#include "base/json.h"
#include "control/config/rights.h"
#include "control/tor/section.h"
#include "control/tor/tor.h"
#include "hosts/libra/libra.h"

// Frames from the switch in one go: what comes faster waits in the port's ring, and then is dropped
// there.
#define PAUSE_INTERVAL_NS UINT64_C(4000000) // of the ToR's writes
#define WRITES_IN_A_PAUSE 64u
#define FRAMES_AT_ONCE    32u
#define FRAMES_A_TURN     512u

static void tor_note(struct run *r, struct journal_note note) {
    if (r->journal)
        run_journal_note(r->journal, &note, run_now());
}

static bool run_tor_send_frame(void *aux, const uint8_t *frame, uint32_t length) {
    struct run *r = aux;
    tor_note(r, (struct journal_note){.kind = JOURNAL_SENT});
    const bool given = sk_ports_inside_give(r->ports, frame, length);
    if (!given)
        tor_note(r, (struct journal_note){.kind = JOURNAL_REFUSED});
    return given;
}

static void run_tor_pause(void *aux) {
    run_pause(aux);
    tor_note(aux, (struct journal_note){.kind = JOURNAL_PAUSE});
}

static void run_tor_learn(void *aux, enum tor_fact fact, uint64_t value) {
    static const enum journal_kind kinds[] = {[TOR_FACT_WRITES] = JOURNAL_WRITES,
                                              [TOR_FACT_TOOK] = JOURNAL_TOOK,
                                              [TOR_FACT_RANDOM] = JOURNAL_RANDOM};
    tor_note(aux, (struct journal_note){.kind = kinds[fact], .number = value});
}

static bool link_is_up(void *aux, uint16_t port) {
    return run_link_is_up(aux, port);
}

static char *run_tor_beside(void *aux, const char *path) {
    return run_beside_config(aux, path);
}

static struct tor_host run_tor_host_of(struct run *r) {
    return (struct tor_host){.sw = r->sw,
                             .ports = r->port_list,
                             .n_ports = r->n_port_list,
                             .pause = run_tor_pause,
                             .resume = run_resume,
                             .send = run_tor_send_frame,
                             .link = link_is_up,
                             .beside = run_tor_beside,
                             .event = run_event,
                             .learn = run_tor_learn,
                             .pause_interval_ns = PAUSE_INTERVAL_NS,
                             .writes_in_a_pause = WRITES_IN_A_PAUSE,
                             .hash_secret = (uint32_t)r->hash_secret,
                             .aux = r};
}

// ---- notes for a recording ----

// Whether a recording has what the CPU port sends and receives.
static bool records_cpu_port(const struct run *r) {
    const struct sk_config_record *wanted = &r->config->record;
    bool all = wanted->n_ports == 0;
    for (size_t i = 0; i < wanted->n_ports; i++)
        all |= wanted->ports[i] == sk_switch_cpu_port_of(r->sw);
    return all;
}

// The text of the file of jobs that the switch remembers. Null: it has no such file, or cannot read
// it, which the control plane says itself.
static char *tor_read_state(struct run *r) {
    const char *named = json_string_value(json_object_get(r->config->tor->value, "state"));
    struct sk_error ignored;
    size_t length;
    char *path = named ? run_beside_config(r, named) : NULL;
    char *text = path ? sk_read_regular_file(path, &length, &ignored) : NULL;
    free(path);
    return text;
}

static void begin_journal(struct run *r) {
    uint64_t down[SK_PORTS];
    struct journal_note note = {.kind = JOURNAL_BEGIN,
                                .number = r->hash_secret,
                                .interval = PAUSE_INTERVAL_NS,
                                .list = down};
    if (!r->config->record.file && !r->opt.record_path)
        return;
    if (!records_cpu_port(r)) {
        fprintf(stderr,
                "silken run: \"record\": its ports leave out the CPU port, so the recording "
                "has no notes of the ToR's control plane\n");
        return;
    }
    r->journal = run_journal_new(sk_switch_cpu_port_of(r->sw));
    note.text = tor_read_state(r);
    for (size_t i = 0; i < r->n_port_list; i++)
        if (!run_link_is_up(r, r->port_list[i].port))
            down[note.n++] = r->port_list[i].port;
    tor_note(r, note);
    free(note.text);
}

// ---- from start to end ----

// Before the lcores run: nobody pauses.
bool run_tor_start(struct run *r) {
    struct sk_error err;
    struct tor_host host = run_tor_host_of(r);
    if (!r->config->tor)
        return true;
    if (tor_program_check(r->sw, &err))
        return run_say(err.text);
    begin_journal(r);
    host.pause = host.resume = NULL;
    r->tor = tor_new(&host, r->config->tor, &err);
    if (!r->tor)
        return run_say(err.text);
    host = run_tor_host_of(r);
    tor_host_changed(r->tor, &host);
    return true;
}

void run_tor_turn(struct run *r, uint64_t now) {
    struct sk_inside_frame frames[FRAMES_AT_ONCE];
    if (!r->tor)
        return;
    for (unsigned done = 0, n; done < FRAMES_A_TURN; done += n) {
        n = sk_ports_inside_take(r->ports, frames, FRAMES_AT_ONCE);
        if (n > 0)
            tor_note(r, (struct journal_note){.kind = JOURNAL_FRAMES, .number = n, .now = now});
        for (unsigned i = 0; i < n; i++)
            tor_frame(r->tor, frames[i].bytes, frames[i].length, now);
        if (n < FRAMES_AT_ONCE)
            break;
    }
    run_journal_run(r->journal, now);
    tor_run(r->tor, now);
    if (r->journal)
        run_journal_quiet(r->journal, run_now());
}

void run_tor_digest(struct run *r, const struct sk_digest *digest) {
    const uint64_t now = run_now();
    if (!r->tor)
        return;
    tor_note(r, (struct journal_note){.kind = JOURNAL_DIGEST, .now = now});
    tor_digest(r->tor, digest, now);
}

void run_tor_port(struct run *r, uint16_t port, bool up) {
    tor_note(r, (struct journal_note){.kind = JOURNAL_PORT, .port = port, .up = up});
}

void run_tor_link(struct run *r, uint16_t port, bool up) {
    const uint64_t now = run_now();
    if (!r->tor)
        return;
    tor_note(r, (struct journal_note){.kind = JOURNAL_LINK, .port = port, .up = up, .now = now});
    tor_link(r->tor, port, up, now);
}

static void note_ports(struct run *r) {
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_port_list; i++)
        json_array_append_new(list, json_pack("{s:i, s:s?}", "port", (int)r->port_list[i].port,
                                              "name", r->port_list[i].name));
    tor_note(r, (struct journal_note){.kind = JOURNAL_PORTS, .value = list});
    json_decref(list);
}

void run_tor_ports_changed(struct run *r) {
    const struct tor_host host = run_tor_host_of(r);
    if (!r->tor)
        return;
    note_ports(r);
    tor_host_changed(r->tor, &host);
}

int run_tor_try(struct run *r, const struct sk_at *section, const struct sk_config_port *ports,
                size_t n_ports, struct sk_error *err) {
    struct tor_host host = run_tor_host_of(r);
    host.ports = ports;
    host.n_ports = n_ports;
    struct tor_section *s = section ? tor_section_read(section, &host, err) : NULL;
    tor_section_free(s);
    return s || !section ? 0 : -1;
}

// ---- jobs, beforehand ----
// Only a control plane knows whether a job of the section can be placed: one beside the switch's
// own tries, on a switch beside the running one.

struct trial {
    const json_t *before; // jobs of the section that is in force: what became of them was told then
    const json_t *jobs;
    char why[sizeof((struct sk_error){0}.text)]; // "": all are placed
};

static bool send_nowhere(void *aux, const uint8_t *frame, uint32_t length) {
    (void)aux;
    (void)frame;
    (void)length;
    return true;
}

static bool no_link(void *aux, uint16_t port) {
    (void)aux;
    (void)port;
    return false;
}

// Null: there is none of that name.
static const json_t *job_named(const json_t *jobs, const char *name, size_t *index) {
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        const json_t *job = json_array_get(jobs, i);
        const char *its = json_string_value(json_object_get(job, "name"));
        *index = i;
        if (its && strcmp(its, name) == 0)
            return job;
    }
    return NULL;
}

static void run_tor_hear(void *aux, json_t *event) {
    struct trial *t = aux;
    const char *alarm = json_string_value(json_object_get(event, "alarm")),
               *name = json_string_value(json_object_get(event, "job")),
               *why = json_string_value(json_object_get(event, "why"));
    size_t i = 0, ignored = 0;
    const json_t *job = name ? job_named(t->jobs, name, &i) : NULL,
                 *before = name ? job_named(t->before, name, &ignored) : NULL;
    if (alarm && strcmp(alarm, "job") == 0 && !*t->why && why &&
        !(before && json_equal(job, before)))
        snprintf(t->why, sizeof t->why, "tor.jobs[%zu]: %s", i, why);
    json_decref(event);
}

int run_tor_try_jobs(struct run *r, const struct sk_at *section, const struct sk_program *program,
                     const struct sk_config_port *ports, size_t n_ports, struct sk_error *err) {
    struct trial t = {.jobs = section ? json_object_get(section->value, "jobs") : NULL};
    struct sk_switch_options opt = {
        .tx = sk_tx_nowhere, .packet_bytes = SK_PORTS_FRAME, .n_packets = 1};
    char error[256];
    if (json_array_size(t.jobs) == 0 || !r->tor)
        return 0;
    t.before = json_object_get(r->config->tor->value, "jobs");
    struct sk_switch *sw = sk_switch_new(program, &opt, error, sizeof error);
    if (!sw)
        return sk_fail(err, "%s", error);
    json_t *own = json_copy(section->value);
    json_object_del(own, "state"); // the file is the other's
    struct sk_at at = *section;
    at.value = own;
    const struct tor_host host = {.sw = sw,
                                  .ports = ports,
                                  .n_ports = n_ports,
                                  .send = send_nowhere,
                                  .link = no_link,
                                  .has_state = json_object_get(section->value, "state"),
                                  .event = run_tor_hear,
                                  .aux = &t};
    struct tor *beside = tor_new(&host, &at, err);
    const bool good = beside;
    tor_free(beside);
    sk_switch_free(sw);
    json_decref(own);
    if (!good)
        return -1;
    return *t.why ? sk_fail(err, "%s: %s", r->opt.config_path, t.why) : 0;
}

int run_tor_reload(struct run *r, const struct sk_at *section, struct sk_error *err) {
    const struct tor_host host = run_tor_host_of(r);
    if (!r->tor)
        return 0;
    tor_note(r, (struct journal_note){.kind = JOURNAL_SECTION, .value = section->value});
    return tor_reload(r->tor, &host, section, err);
}

void run_tor_program_changed(struct run *r, bool kept) {
    struct tor_host host = run_tor_host_of(r);
    if (!r->tor)
        return;
    tor_note(r, (struct journal_note){.kind = JOURNAL_REPLACED});
    host.pause = host.resume = NULL; // it does
    tor_switch_replaced(r->tor, &host, kept);
    host = run_tor_host_of(r);
    tor_host_changed(r->tor, &host);
}

static bool tor_sends_nothing(void *aux, const uint8_t *frame, uint32_t length) {
    (void)aux;
    (void)frame;
    (void)length;
    return false;
}

void run_tor_stopped(struct run *r) {
    struct tor_host host = run_tor_host_of(r);
    if (!r->tor)
        return;
    host.pause = host.resume = NULL;
    host.event = NULL;
    host.send = tor_sends_nothing;
    tor_host_changed(r->tor, &host);
}

// ---- requests ----

// A new request, with what the layout of a job of Libra says in the place of the file's name: so a
// recording has it, too. Null with a sentence.
static json_t *run_tor_with_layout(struct run *r, json_t *request, const char *path,
                                   struct sk_error *err) {
    struct libra_layout layout;
    char *beside = run_beside_config(r, "."), *file = run_beside_config(r, path);
    json_t *with = NULL;
    if (json_object_get(request, "number") || json_object_get(request, "epoch") ||
        json_object_get(request, "hot")) {
        sk_fail(err, "layout: it has the job's number and epoch, so they are not given besides");
    } else if (sk_rights_file(&r->config->requests, beside, path, err) == 0 &&
               libra_layout_read(&layout, file, err) == 0) {
        if (layout.registers == LIBRA_PLACES) {
            with = json_copy(request);
            json_object_del(with, "layout");
            json_object_set_new(with, "number", json_integer(layout.job));
            json_object_set_new(with, "epoch", json_integer(layout.epoch));
            json_object_set_new(with, "hot", json_integer((json_int_t)layout.n));
        } else {
            sk_fail(err, "layout: it is for %u registers, and the switch has %u", layout.registers,
                    LIBRA_PLACES);
        }
        libra_layout_clear(&layout);
    }
    free(beside);
    free(file);
    return with;
}

// What the control plane is asked. Null with a sentence.
static json_t *run_tor_resolve(struct run *r, const char *op, json_t *request,
                               struct sk_error *err) {
    const char *layout = json_string_value(json_object_get(request, "layout"));
    return strcmp(op, "job.add") == 0 && layout &&
                   strcmp(sk_json_text(request, "protocol"), "libra") == 0
               ? run_tor_with_layout(r, request, layout, err)
               : json_incref(request);
}

json_t *run_tor_request(struct run *r, const char *op, const struct sk_at *at, bool *known) {
    *known = strncmp(op, "tor.", 4) == 0 || (strncmp(op, "job.", 4) == 0 && r->tor);
    if (!*known)
        return NULL;
    if (!r->tor) {
        sk_at_fail(at,
                   "this switch has no control plane of a ToR: its configuration has no \"tor\"");
        return NULL;
    }
    json_t *request = run_tor_resolve(r, op, at->value, at->doc->err);
    json_t *result = request ? run_tor_ask(r, op, request, at->doc->err) : NULL;
    json_decref(request);
    at->doc->failed |= !result;
    if (result)
        run_jobs_answered(r, op, at->value, result);
    return result;
}

json_t *run_tor_ask(struct run *r, const char *op, json_t *request, struct sk_error *err) {
    const uint64_t now = run_now();
    tor_note(r, (struct journal_note){
                    .kind = JOURNAL_REQUEST, .text = (char *)op, .value = request, .now = now});
    return tor_request(r->tor, op, request, now, err);
}

void run_tor_end(struct run *r) {
    tor_free(r->tor);
    run_journal_free(r->journal);
}
