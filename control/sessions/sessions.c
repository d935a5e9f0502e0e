// SPDX-License-Identifier: Apache-2.0
#include "control/sessions/sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/entry.h"
#include "control/state/jobs.h"
#include "control/tables/names.h"
#include "control/sessions/job.h"
#include "wire/switchml.h"

#define LAST_NUMBER 255u // of SwitchML's sessions, from 1 on: 8 bits of a packet
#define ATP_JOBS    128u

// A job of SwitchML, and the part of it that the table of workers had when its sessions began.
struct job {
    struct sessions_job sessions;
    struct sk_job_worker as;
    uint64_t followed; // the id of the session that was replayed last
};

struct sessions {
    struct sessions_host host;
    struct session_end self;
    uint16_t cpu_port;
    bool excepted[2][SK_JOB_NUMBERS]; // by protocol
    char switchml[256], atp[256];     // names of the tables; "": the program has none
    uint64_t not_before;
    unsigned last; // number of SwitchML's last session
    struct job *switchml_jobs[SK_JOB_NUMBERS], *atp_jobs[ATP_JOBS];
    unsigned switchml_end, atp_end; // no job from this number on has ever been heard of
};

static void sessions_pause(const struct sessions *s, bool on) {
    void (*fn)(void *) = on ? s->host.on.pause : s->host.on.resume;
    if (fn)
        fn(s->host.on.aux);
}

// ---- the switch's tables ----

static int set_entry(const struct sessions *s, const struct sk_entry_spec *e,
                     struct sk_error *err) {
    struct sk_error ignored;
    if (sk_control_entry_modify(s->host.on.sw, e, &ignored) == 0)
        return 0;
    return sk_control_entry_add(s->host.on.sw, e, err);
}

// What packets of the job need to pass: a session's number, or nothing helps ('session' 0).
static int sessions_set(const struct sessions *s, const char *table, const char *key, unsigned job,
                        const char *argument, unsigned session, struct sk_error *err) {
    char number[16], value[16];
    snprintf(number, sizeof number, "%u", job);
    snprintf(value, sizeof value, "%u", session);
    const struct sk_named_value keys[] = {{key, number}}, args[] = {{argument, value}};
    const struct sk_entry_spec e = {.table = table,
                                    .keys = keys,
                                    .n_keys = 1,
                                    .action = session ? "session" : "closed",
                                    .args = args,
                                    .n_args = session ? 1 : 0,
                                    .pipe = -1};
    return set_entry(s, &e, err);
}

static int set_gate(const struct sessions *s, bool atp, unsigned job, unsigned session,
                    struct sk_error *err) {
    return atp ? sessions_set(s, s->atp, "job", job, "port", session, err)
               : sessions_set(s, s->switchml, "job_number", job, "number", session, err);
}

// What an entry for the address in the forwarding table beside this table of sessions has to say.
struct forwarding {
    char table[300], address[24];
    struct sk_named_value keys[1];
    struct sk_entry_spec spec;
};

// ...Ingress.admission.sessions -> ...Ingress.forward.macs
static bool forwarding_init(struct forwarding *f, const char *sessions_table,
                            const uint8_t mac[6]) {
    int dots = 0;
    size_t n = strlen(sessions_table);
    while (n > 0 && dots < 2)
        dots += sessions_table[--n] == '.';
    snprintf(f->table, sizeof f->table, "%.*s.forward.macs", (int)n, sessions_table);
    snprintf(f->address, sizeof f->address, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
             mac[3], mac[4], mac[5]);
    f->keys[0] = (struct sk_named_value){"dst_addr", f->address};
    f->spec = (struct sk_entry_spec){.table = f->table, .keys = f->keys, .n_keys = 1, .pipe = -1};
    return dots == 2;
}

// Frames for the address go to the port, unless the switch knows already where.
static void sessions_forward(const struct sessions *s, const char *sessions_table,
                             const uint8_t mac[6], uint16_t port) {
    char value[8];
    struct forwarding f;
    snprintf(value, sizeof value, "%u", port);
    const struct sk_named_value args[] = {{"port", value}};
    struct sk_error present;
    if (!*sessions_table || !forwarding_init(&f, sessions_table, mac))
        return;
    f.spec.action = "to_port";
    f.spec.args = args;
    f.spec.n_args = 1;
    sk_control_entry_add(s->host.on.sw, &f.spec, &present);
}

static void forward_everywhere(const struct sessions *s, const uint8_t mac[6], uint16_t port) {
    sessions_forward(s, s->switchml, mac, port);
    sessions_forward(s, s->atp, mac, port);
}

// Where programs of both protocols are in the switch (p4/ina), answers go through the one that has
// the CPU port's pipe, and the other one knows where ATP's hosts are.
static void forward_as_atp(const struct sessions *s, const uint8_t mac[6]) {
    struct forwarding f;
    struct sk_found found;
    struct sk_error ignored;
    if (!*s->switchml || !forwarding_init(&f, s->atp, mac) ||
        sk_control_entry_find(s->host.on.sw, &f.spec, &found, &ignored))
        return;
    const struct sk_entry *e = found.entry[0];
    const int to_port = sk_find_action(found.desc, "to_port", &ignored);
    if (to_port >= 0 && e->action == (uint32_t)to_port)
        sessions_forward(s, s->switchml, mac, (uint16_t)e->data[0]);
}

static void find_table(const struct sessions *s, const char *name, char *out, size_t size) {
    struct sk_object o;
    struct sk_error ignored;
    const bool found = sk_find_object(s->host.on.sw, SK_TABLE, name, &o, &ignored) == 0;
    snprintf(out, size, "%s", found ? sk_object_name(&o) : "");
}

// No packet of a job passes before its first session.
static int close_all(struct sessions *s, struct sk_error *err) {
    bool numbers[SK_JOB_NUMBERS];
    sk_jobs_numbers(s->host.on.sw, numbers);
    for (unsigned job = 0; *s->switchml && job < SK_JOB_NUMBERS; job++)
        if (numbers[job] && !s->excepted[0][job] && set_gate(s, false, job, 0, err))
            return -1;
    for (unsigned job = 1; *s->atp && job < ATP_JOBS; job++)
        if (!s->excepted[1][job] && set_gate(s, true, job, 0, err))
            return -1;
    return 0;
}

// Whether the switch's part of a job may be one of several (p4/switchml/with_levels.p4): what
// begins a session here begins it at one of them.
static bool sessions_has_levels(const struct sessions *s) {
    struct sk_object o;
    struct sk_error ignored;
    return *s->switchml &&
           sk_find_object(s->host.on.sw, SK_TABLE, SESSIONS_WORKERS, &o, &ignored) == 0 &&
           sk_find_action(o.desc->tables[o.index], "result", &ignored) >= 0;
}

// ---- making and freeing ----

struct sessions *sessions_new(const struct sessions_host *host,
                              const struct sk_config_sessions *config, uint16_t cpu_port,
                              uint64_t now, struct sk_error *err) {
    struct sessions *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->host = *host;
    s->cpu_port = cpu_port;
    memcpy(s->self.mac, config->mac, 6);
    s->self.ip = config->ip;
    memcpy(s->excepted, config->excepted, sizeof s->excepted);
    s->not_before = now + SESSION_QUIET_NS;
    s->last = (unsigned)(host->random(host->aux) % LAST_NUMBER);
    find_table(s, SESSIONS_OF_SWITCHML, s->switchml, sizeof s->switchml);
    find_table(s, SESSIONS_OF_ATP, s->atp, sizeof s->atp);
    if (!*s->switchml && !*s->atp) {
        sk_fail(err, "\"sessions\": the program has no table '" SESSIONS_OF_SWITCHML
                     "' or '" SESSIONS_OF_ATP "', as p4/switchml and p4/atp have");
        free(s);
        return NULL;
    }
    if (sessions_has_levels(s)) {
        sk_fail(
            err,
            "\"sessions\": the program's jobs are over several levels of switches, and this switch "
            "would begin a session alone; give all of them the same entry in "
            "'" SESSIONS_OF_SWITCHML "' in place of this");
        free(s);
        return NULL;
    }
    forward_everywhere(s, s->self.mac, cpu_port);
    if (close_all(s, err)) {
        free(s);
        return NULL;
    }
    return s;
}

static void sessions_free_job(struct job *j) {
    if (j)
        sessions_job_free(&j->sessions);
    free(j);
}

void sessions_free(struct sessions *s) {
    for (unsigned i = 0; s && i < SK_JOB_NUMBERS; i++)
        sessions_free_job(s->switchml_jobs[i]);
    for (unsigned i = 0; s && i < ATP_JOBS; i++)
        sessions_free_job(s->atp_jobs[i]);
    free(s);
}

// ---- what is done for a job ----

static bool sessions_open_job(void *owner, struct sessions_job *j, unsigned session) {
    const struct sessions *s = owner;
    struct sk_error err;
    sessions_pause(s, true);
    const bool written = set_gate(s, j->atp, j->number, session, &err) == 0;
    sessions_pause(s, false);
    return written;
}

static bool job_under_way(void *owner, uint64_t time) {
    return sessions_under_way(&((const struct sessions *)owner)->host.on, time);
}

static void job_clear(void *owner, struct sessions_job *j) {
    const struct sessions *s = owner;
    const struct job *job = (const struct job *)j; // its first member
    if (j->atp)
        sessions_clear_aggregators_of(&s->host.on, j->number);
    else
        sessions_clear_slots(&s->host.on, job->as.first_slot, job->as.slots);
}

static void job_answer(void *owner, struct sessions_job *j, const struct session_end *to,
                       const struct session_message *m) {
    const struct sessions *s = owner;
    uint8_t frame[SESSION_FRAME_BYTES];
    (void)j;
    s->host.send(s->host.aux, frame, (uint32_t)session_frame_write(frame, &s->self, to, m));
}

static uint16_t job_number(void *owner) {
    struct sessions *s = owner;
    s->last = s->last % LAST_NUMBER + 1;
    return (uint16_t)s->last;
}

static uint64_t job_random(void *owner) {
    const struct sessions *s = owner;
    return s->host.random(s->host.aux);
}

// Whether the operator has written all of them (wire/switchml.h).
static bool job_audiences(void *owner, struct sessions_job *j) {
    const struct sessions *s = owner;
    const struct job *job = (const struct job *)j; // its first member
    const size_t stem = strlen(s->switchml) - strlen("sessions");
    char table[300], number[8], audience[8];
    const struct sk_named_value keys[] = {{"job_number", number}, {"audience", audience}};
    const struct sk_entry_spec spec = {.table = table, .keys = keys, .n_keys = 2, .pipe = -1};
    struct sk_found found;
    struct sk_error ignored;
    bool all = job->as.workers <= SWML_COLLECTIVE_WORKERS;
    snprintf(table, sizeof table, "%.*saudiences", (int)stem, s->switchml);
    snprintf(number, sizeof number, "%u", j->number);
    sessions_pause(s, true);
    for (unsigned i = 0; all && i <= SWML_NOBODY; i++) {
        snprintf(audience, sizeof audience, "%u", i);
        if (i % SWML_ALL_BUT < job->as.workers)
            all = sk_control_entry_find(s->host.on.sw, &spec, &found, &ignored) == 0;
    }
    sessions_pause(s, false);
    return all;
}

static void job_started(void *owner, struct sessions_job *j) {
    const struct sessions *s = owner;
    if (s->host.event)
        s->host.event(s->host.aux, json_pack("{s:s, s:s, s:i, s:i}", "event", "session", "protocol",
                                             j->atp ? "atp" : "switchml", "job", (int)j->number,
                                             "session", (int)j->session));
}

static const struct sessions_job_ops job_ops = {.open = sessions_open_job,
                                                .under_way = job_under_way,
                                                .clear = job_clear,
                                                .answer = job_answer,
                                                .number = job_number,
                                                .random = job_random,
                                                .started = job_started,
                                                .audiences = job_audiences};

static struct job *new_job(void) {
    struct job *j = calloc(1, sizeof *j);
    if (!j)
        abort();
    return j;
}

// The job as the table of workers has it now.
static struct job *switchml_job(struct sessions *s, unsigned number,
                                const struct sk_job_worker *w) {
    struct job **at = &s->switchml_jobs[number];
    const struct gather_config config = {.protocol = SESSION_SWITCHML,
                                         .workers = w->workers,
                                         .slots = w->slots,
                                         .not_before = s->not_before};
    if (*at && (*at)->as.workers == w->workers && (*at)->as.first_slot == w->first_slot &&
        (*at)->as.slots == w->slots)
        return *at;
    sessions_free_job(*at);
    *at = new_job();
    s->switchml_end = number < s->switchml_end ? s->switchml_end : number + 1;
    (*at)->as = *w;
    sessions_job_init(&(*at)->sessions, &job_ops, s, number, &config);
    return *at;
}

static struct job *atp_job(struct sessions *s, unsigned number) {
    struct job **at = &s->atp_jobs[number];
    if (!*at) {
        *at = new_job();
        s->atp_end = number < s->atp_end ? s->atp_end : number + 1;
        sessions_job_init(&(*at)->sessions, &job_ops, s, number, NULL);
    }
    return *at;
}

// ---- messages ----

static void hear_worker(struct sessions *s, const struct session_end *said,
                        const struct session_message *m, uint64_t now) {
    struct sk_job_worker w;
    sessions_pause(s, true);
    const bool known = sk_jobs_worker(s->host.on.sw, m->job, said->ip, &w) && w.has_mac;
    if (known)
        forward_everywhere(s, w.mac, w.port);
    sessions_pause(s, false);
    if (!known || s->excepted[0][m->job])
        return; // nobody knows where an answer had to go
    // Where its results go, too: whoever has sent this, the worker gets the answer.
    struct session_end worker = {.ip = said->ip, .port = said->port};
    memcpy(worker.mac, w.mac, sizeof worker.mac);
    struct sessions_job *j = &switchml_job(s, m->job, &w)->sessions;
    if (m->role != SESSION_WORKER || m->rank == w.rank) {
        sessions_job_hear(j, &worker, m, now);
        return;
    }
    struct session_message refusal = *m;
    refusal.kind = SESSION_REFUSED;
    snprintf(refusal.text, sizeof refusal.text,
             "this address is worker %u's of job %u, not worker %u's", w.rank, m->job, m->rank);
    job_answer(s, j, &worker, &refusal);
}

static void hear_atp(struct sessions *s, const struct session_end *from,
                     const struct session_message *m, uint64_t now) {
    if (m->job == 0 || m->job >= ATP_JOBS || s->excepted[1][m->job])
        return;
    sessions_pause(s, true);
    forward_as_atp(s, from->mac);
    sessions_pause(s, false);
    sessions_job_hear(&atp_job(s, m->job)->sessions, from, m, now);
}

// ---- from outside ----

void sessions_frame(struct sessions *s, const uint8_t *frame, uint32_t length, uint64_t now) {
    struct session_message m;
    struct session_end from;
    if (!session_frame_read(frame, length, &s->self, &from, &m))
        return;
    if (m.protocol == SESSION_ATP && *s->atp)
        hear_atp(s, &from, &m, now);
    else if (m.protocol == SESSION_SWITCHML && *s->switchml)
        hear_worker(s, &from, &m, now);
}

// ---- replayed ----

static void sessions_follow_message(struct job *j, const struct session_message *m,
                                    uint8_t started) {
    if (m->kind != started || m->id == j->followed)
        return;
    j->followed = m->id;
    job_clear(j->sessions.owner, &j->sessions);
    sessions_open_job(j->sessions.owner, &j->sessions, m->session);
}

void sessions_follow(struct sessions *s, const uint8_t *frame, uint32_t length) {
    struct session_message m;
    struct session_end to, from;
    struct sk_job_worker w;
    if (!session_frame_to(frame, length, &to) ||
        !session_frame_read(frame, length, &to, &from, &m) ||
        memcmp(from.mac, s->self.mac, sizeof from.mac) != 0)
        return;
    if (m.protocol == SESSION_ATP && *s->atp && m.job > 0 && m.job < ATP_JOBS) {
        forward_as_atp(s, to.mac);
        sessions_follow_message(atp_job(s, m.job), &m, SESSION_BEGUN);
    } else if (m.protocol == SESSION_SWITCHML && *s->switchml &&
               sk_jobs_worker(s->host.on.sw, m.job, to.ip, &w)) {
        if (w.has_mac)
            forward_everywhere(s, w.mac, w.port);
        sessions_follow_message(switchml_job(s, m.job, &w), &m, SESSION_START);
    }
}

void sessions_run(struct sessions *s, uint64_t now) {
    for (unsigned i = 0; *s->switchml && i < s->switchml_end; i++)
        if (s->switchml_jobs[i])
            sessions_job_run(&s->switchml_jobs[i]->sessions, now);
    for (unsigned i = 0; *s->atp && i < s->atp_end; i++)
        if (s->atp_jobs[i])
            sessions_job_run(&s->atp_jobs[i]->sessions, now);
}

void sessions_host_changed(struct sessions *s, const struct sessions_host *host) {
    s->host = *host;
}

void sessions_switch_replaced(struct sessions *s, const struct sessions_host *host, bool kept,
                              uint64_t now) {
    static const char why[] = "the switch's program was replaced, and its state of the job is lost";
    struct sk_error err;
    s->host = *host;
    find_table(s, SESSIONS_OF_SWITCHML, s->switchml, sizeof s->switchml);
    find_table(s, SESSIONS_OF_ATP, s->atp, sizeof s->atp);
    forward_everywhere(s, s->self.mac, s->cpu_port);
    if (kept)
        return;
    close_all(s, &err);
    for (unsigned i = 0; i < SK_JOB_NUMBERS; i++)
        if (s->switchml_jobs[i])
            sessions_job_lost(&s->switchml_jobs[i]->sessions, why, now);
    for (unsigned i = 0; i < ATP_JOBS; i++)
        if (s->atp_jobs[i])
            sessions_job_lost(&s->atp_jobs[i]->sessions, why, now);
}

// ---- in words ----

static json_t *sessions_job_json(const struct sessions_job *j, uint64_t now) {
    char text[SESSION_TEXT];
    sessions_job_text(j, now, text, sizeof text);
    return json_pack("{s:s, s:i, s:i, s:s, s:s}", "protocol", j->atp ? "atp" : "switchml", "job",
                     (int)j->number, "session", (int)j->session, "state",
                     sessions_job_runs(j) ? "running" : "waiting", "text", text);
}

json_t *sessions_json(const struct sessions *s, uint64_t now) {
    json_t *list = json_array();
    for (unsigned i = 0; i < SK_JOB_NUMBERS; i++)
        if (s->switchml_jobs[i])
            json_array_append_new(list, sessions_job_json(&s->switchml_jobs[i]->sessions, now));
    for (unsigned i = 0; i < ATP_JOBS; i++)
        if (s->atp_jobs[i])
            json_array_append_new(list, sessions_job_json(&s->atp_jobs[i]->sessions, now));
    return list;
}
