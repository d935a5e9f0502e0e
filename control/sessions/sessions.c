// SPDX-License-Identifier: Apache-2.0
#include "control/sessions/sessions.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/entry.h"
#include "control/jobs.h"
#include "control/names.h"
#include "session/frame.h"
#include "session/gather.h"

#define LAST_NUMBER  255u // of SwitchML's sessions, from 1 on: 8 bits of a packet
#define ATP_JOBS     128u
#define OLD_SESSIONS 64u
#define MOST_ASKED   64u

enum job_state {
    JOB_OPEN,    // packets of its session pass, or, before its first, of none
    JOB_CLOSING, // they do not, but some of those that did are under way
    JOB_CLEARED  // nothing of it is in the switch
};

struct job {
    unsigned number;
    enum job_state state;
    uint64_t closed_at;
    uint16_t session;
    uint64_t id; // of the session that is open; 0: none
    // SwitchML
    struct gather *gather;
    struct sk_job_worker as; // the part that is the job's
    struct session_end *ends; // of members, as they said last
    // ATP: which session is to be begun, and who has asked for it
    uint16_t next;
    uint64_t next_id;
    uint64_t old[OLD_SESSIONS]; // ring of ids that are over
    unsigned n_old;
    struct asked {
        struct session_end end;
        struct session_message message;
    } asked[MOST_ASKED];
    unsigned n_asked;
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
};

static void sessions_pause(const struct sessions *s, bool on) {
    void (*fn)(void *) = on ? s->host.on.pause : s->host.on.resume;
    if (fn)
        fn(s->host.on.aux);
}

static void sessions_tell(const struct sessions *s, const struct job *j, bool atp,
                          const char *state) {
    if (s->host.event)
        s->host.event(s->host.aux,
                      json_pack("{s:s, s:s, s:i, s:i, s:s}", "event", "session", "protocol",
                                atp ? "atp" : "switchml", "job", (int)j->number, "session",
                                (int)j->session, "state", state));
}

// ---- the switch's tables ----

static int set_entry(const struct sessions *s, const struct sk_entry_spec *e, struct sk_error *err) {
    struct sk_error ignored;
    if (sk_control_entry_modify(s->host.on.sw, e, &ignored) == 0)
        return 0;
    return sk_control_entry_add(s->host.on.sw, e, err);
}

// What packets of the job need to pass: a session's number, or nothing helps ('session' 0).
static int set_session(const struct sessions *s, const char *table, const char *key, unsigned job,
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
    return atp ? set_session(s, s->atp, "job", job, "port", session, err)
               : set_session(s, s->switchml, "job_number", job, "number", session, err);
}

// What an entry for the address in the forwarding table beside this table of sessions has to say.
struct forwarding {
    char table[300], address[24];
    struct sk_named_value keys[1];
    struct sk_entry_spec spec;
};

// ...Ingress.admission.sessions -> ...Ingress.forward.macs
static bool forwarding_init(struct forwarding *f, const char *sessions_table, const uint8_t mac[6]) {
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
static void forward(const struct sessions *s, const char *sessions_table, const uint8_t mac[6],
                    uint16_t port) {
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
    forward(s, s->switchml, mac, port);
    forward(s, s->atp, mac, port);
}

// Where programs of both protocols are in the switch (p4/ina), answers go through the one that has the CPU port's
// pipe, and the other one knows where ATP's hosts are.
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
        forward(s, s->switchml, mac, (uint16_t)e->data[0]);
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

// ---- making and freeing ----

struct sessions *sessions_new(const struct sessions_host *host, const struct sk_config_sessions *config,
                              uint16_t cpu_port, uint64_t now, struct sk_error *err) {
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
    forward_everywhere(s, s->self.mac, cpu_port);
    if (close_all(s, err)) {
        free(s);
        return NULL;
    }
    return s;
}

static void free_job(struct job *j) {
    if (!j)
        return;
    gather_free(j->gather);
    free(j->ends);
    free(j);
}

void sessions_free(struct sessions *s) {
    for (unsigned i = 0; s && i < SK_JOB_NUMBERS; i++)
        free_job(s->switchml_jobs[i]);
    for (unsigned i = 0; s && i < ATP_JOBS; i++)
        free_job(s->atp_jobs[i]);
    free(s);
}

static struct job *job_at(struct job **at, unsigned number) {
    if (*at)
        return *at;
    *at = calloc(1, sizeof **at);
    if (!*at)
        abort();
    (*at)->number = number;
    return *at;
}

// ---- frames ----

static void answer(const struct sessions *s, const struct session_end *to,
                   const struct session_message *m) {
    uint8_t frame[SESSION_FRAME_BYTES];
    const size_t length = session_frame_write(frame, &s->self, to, m);
    s->host.send(s->host.aux, frame, (uint32_t)length);
}

static void answer_text(const struct sessions *s, const struct session_end *to,
                        const struct session_message *to_what, enum session_kind kind,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));
static void answer_text(const struct sessions *s, const struct session_end *to,
                        const struct session_message *to_what, enum session_kind kind,
                        const char *format, ...) {
    struct session_message m = *to_what;
    va_list args;
    m.kind = kind;
    va_start(args, format);
    vsnprintf(m.text, sizeof m.text, format, args);
    va_end(args);
    answer(s, to, &m);
}

// ---- closing and clearing ----

static void close_job(struct sessions *s, struct job *j, bool atp, uint64_t now) {
    struct sk_error err;
    sessions_pause(s, true);
    set_gate(s, atp, j->number, 0, &err); // it was written before, so there is room
    sessions_pause(s, false);
    j->closed_at = now;
    j->id = 0;
    j->state = JOB_CLOSING;
}

static bool open_job(struct sessions *s, struct job *j, bool atp, uint16_t session, uint64_t id) {
    struct sk_error err;
    sessions_pause(s, true);
    const bool opened = set_gate(s, atp, j->number, session, &err) == 0;
    sessions_pause(s, false);
    j->session = session;
    j->id = id;
    j->state = JOB_OPEN;
    sessions_tell(s, j, atp, opened ? "started" : err.text);
    return opened;
}

// Whether nothing of the job is in the switch any more.
static bool clear_job(struct sessions *s, struct job *j, bool atp) {
    if (j->state == JOB_CLOSING && !sessions_under_way(&s->host.on, j->closed_at)) {
        if (atp)
            sessions_clear_aggregators_of(&s->host.on, j->number);
        else
            sessions_clear_slots(&s->host.on, j->as.first_slot, j->as.slots);
        j->state = JOB_CLEARED;
    }
    return j->state == JOB_CLEARED;
}

// ---- SwitchML ----

static bool same_job(const struct sk_job_worker *a, const struct sk_job_worker *b) {
    return a->workers == b->workers && a->first_slot == b->first_slot && a->slots == b->slots;
}

// The job as the table of workers has it now.
static void follow_table(struct sessions *s, struct job *j, const struct sk_job_worker *w) {
    if (j->gather && same_job(&j->as, w))
        return;
    const struct gather_config config = {.protocol = SESSION_SWITCHML,
                                         .workers = w->workers,
                                         .slots = w->slots,
                                         .not_before = s->not_before,
                                         .secret = {s->host.random(s->host.aux),
                                                    s->host.random(s->host.aux)}};
    gather_free(j->gather);
    free(j->ends);
    j->gather = gather_new(&config);
    j->ends = NULL;
    j->as = *w;
}

// Where member i is: so many as the gathering has members, whose number follows from the first one's lanes.
static void note_end(struct job *j, const struct session_message *m, const struct session_end *from) {
    const unsigned i = (unsigned)m->rank * m->lanes + m->lane;
    static const unsigned most = 32 * GATHER_MAX_LANES;
    if (!j->ends && !(j->ends = calloc(most, sizeof *j->ends)))
        abort();
    if (i < most)
        j->ends[i] = *from;
}

static void hear_worker(struct sessions *s, const struct session_end *said,
                        const struct session_message *m, uint64_t now) {
    struct session_message answers[GATHER_MAX_ANSWERS];
    struct sk_job_worker w;
    sessions_pause(s, true);
    const bool known = sk_jobs_worker(s->host.on.sw, m->job, said->ip, &w) && w.has_mac;
    if (known)
        forward_everywhere(s, w.mac, w.port);
    sessions_pause(s, false);
    if (!known || s->excepted[0][m->job])
        return; // nobody knows where an answer had to go
    // Where its results go, too: whoever has sent this, the worker gets the answer.
    struct session_end to = {.ip = said->ip}, *from = &to;
    memcpy(to.mac, w.mac, sizeof to.mac);
    if (m->role == SESSION_WORKER && m->rank != w.rank) {
        answer_text(s, from, m, SESSION_REFUSED,
                    "this address is worker %u's of job %u, and it says that it is worker %u", w.rank,
                    m->job, m->rank);
        return;
    }
    struct job *j = job_at(&s->switchml_jobs[m->job], m->job);
    follow_table(s, j, &w);
    const unsigned n = gather_hear(j->gather, m, now, answers);
    if (n > 0 && answers[0].kind != SESSION_REFUSED)
        note_end(j, m, from);
    for (unsigned i = 0; i < n; i++)
        answer(s, from, &answers[i]);
}

static void start_session(struct sessions *s, struct job *j) {
    struct session_message m;
    s->last = s->last % LAST_NUMBER + 1;
    const uint64_t id = s->host.random(s->host.aux);
    if (!open_job(s, j, false, (uint16_t)s->last, id))
        return;
    gather_start(j->gather, j->session, id);
    for (unsigned i = 0; i < gather_members(j->gather); i++)
        if (j->ends && gather_push(j->gather, i, &m))
            answer(s, &j->ends[i], &m);
}

static void run_switchml(struct sessions *s, struct job *j, uint64_t now) {
    if (!j->gather)
        return;
    const bool full = gather_is_full(j->gather, now);
    if (full && j->state == JOB_OPEN)
        close_job(s, j, false, now);
    if (j->state != JOB_OPEN && clear_job(s, j, false) && full)
        start_session(s, j);
}

// ---- ATP ----

static bool is_old(const struct job *j, uint64_t id) {
    for (unsigned i = 0; i < OLD_SESSIONS; i++)
        if (j->old[i] == id)
            return true;
    return false;
}

static void make_old(struct job *j, uint64_t id) {
    if (id)
        j->old[j->n_old++ % OLD_SESSIONS] = id;
}

static void hear_begin(struct sessions *s, const struct session_end *from,
                       const struct session_message *m, uint64_t now) {
    if (m->job == 0 || m->job >= ATP_JOBS || m->session == 0 || m->id == 0 || s->excepted[1][m->job])
        return;
    struct job *j = job_at(&s->atp_jobs[m->job], m->job);
    if (m->id == j->id) {
        answer_text(s, from, m, SESSION_BEGUN, "%s", "");
        return;
    }
    if (is_old(j, m->id))
        return;
    if (m->id != j->next_id) {
        make_old(j, j->next_id);
        make_old(j, j->id);
        j->next = m->session;
        j->next_id = m->id;
        j->n_asked = 0;
        if (j->state == JOB_OPEN)
            close_job(s, j, true, now);
    }
    if (j->n_asked < MOST_ASKED)
        j->asked[j->n_asked++] = (struct asked){*from, *m};
}

static void run_atp(struct sessions *s, struct job *j) {
    if (!j->next_id || !clear_job(s, j, true))
        return;
    const uint64_t id = j->next_id;
    j->next_id = 0;
    if (open_job(s, j, true, j->next, id))
        for (unsigned i = 0; i < j->n_asked; i++)
            answer_text(s, &j->asked[i].end, &j->asked[i].message, SESSION_BEGUN, "%s", "");
    j->n_asked = 0;
}

// ---- from outside ----

void sessions_frame(struct sessions *s, const uint8_t *frame, uint32_t length, uint64_t now) {
    struct session_message m;
    struct session_end from;
    if (!session_frame_read(frame, length, &s->self, &from, &m))
        return;
    if (m.kind == SESSION_BEGIN && m.protocol == SESSION_ATP && *s->atp) {
        sessions_pause(s, true);
        forward_as_atp(s, from.mac);
        sessions_pause(s, false);
        hear_begin(s, &from, &m, now);
    } else if (m.protocol == SESSION_SWITCHML && *s->switchml) {
        hear_worker(s, &from, &m, now);
    }
}

void sessions_run(struct sessions *s, uint64_t now) {
    for (unsigned i = 0; *s->switchml && i < SK_JOB_NUMBERS; i++)
        if (s->switchml_jobs[i])
            run_switchml(s, s->switchml_jobs[i], now);
    for (unsigned i = 0; *s->atp && i < ATP_JOBS; i++)
        if (s->atp_jobs[i])
            run_atp(s, s->atp_jobs[i]);
}

void sessions_host_changed(struct sessions *s, const struct sessions_host *host) {
    s->host = *host;
}

void sessions_switch_replaced(struct sessions *s, const struct sessions_host *host, bool kept,
                              uint64_t now) {
    struct sk_error err;
    s->host = *host;
    find_table(s, SESSIONS_OF_SWITCHML, s->switchml, sizeof s->switchml);
    find_table(s, SESSIONS_OF_ATP, s->atp, sizeof s->atp);
    forward_everywhere(s, s->self.mac, s->cpu_port);
    if (kept)
        return;
    close_all(s, &err);
    for (unsigned i = 0; i < SK_JOB_NUMBERS; i++) {
        struct job *j = s->switchml_jobs[i];
        if (j && j->gather)
            gather_stop(j->gather, "the switch's program was replaced, and what it knew of the job is lost");
        if (j && j->state == JOB_OPEN) {
            j->state = JOB_CLOSING;
            j->closed_at = now;
        }
    }
    for (unsigned i = 0; i < ATP_JOBS; i++) {
        struct job *j = s->atp_jobs[i];
        if (j && j->id) // what was in aggregators is sent again
            set_gate(s, true, j->number, j->session, &err);
    }
}

// ---- in words ----

static json_t *job_json(const struct job *j, bool atp, uint64_t now) {
    char text[SESSION_TEXT] = "";
    const bool runs = atp ? j->id != 0 : j->gather && gather_runs(j->gather);
    if (j->gather && !runs)
        gather_text(j->gather, now, text, sizeof text);
    return json_pack("{s:s, s:i, s:i, s:s, s:s}", "protocol", atp ? "atp" : "switchml", "job",
                     (int)j->number, "session", (int)j->session, "state",
                     runs ? "running" : "waiting", "text", text);
}

json_t *sessions_json(const struct sessions *s, uint64_t now) {
    json_t *list = json_array();
    for (unsigned i = 0; i < SK_JOB_NUMBERS; i++)
        if (s->switchml_jobs[i])
            json_array_append_new(list, job_json(s->switchml_jobs[i], false, now));
    for (unsigned i = 0; i < ATP_JOBS; i++)
        if (s->atp_jobs[i])
            json_array_append_new(list, job_json(s->atp_jobs[i], true, now));
    return list;
}
