// SPDX-License-Identifier: Apache-2.0
#include "control/sessions/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void sessions_job_init(struct sessions_job *j, const struct sessions_job_ops *ops, void *owner,
                       unsigned number, const struct gather_config *as) {
    *j = (struct sessions_job){.ops = ops, .owner = owner, .number = number, .atp = !as};
    if (as) {
        struct gather_config config = *as;
        config.job = (uint8_t)number;
        config.secret[0] = ops->random(owner);
        config.secret[1] = ops->random(owner);
        j->gather = gather_new(&config);
    }
}

void sessions_job_free(struct sessions_job *j) {
    gather_free(j->gather);
    free(j->ends);
    memset(j, 0, sizeof *j);
}

// ---- closing, clearing, opening ----

static void job_close(struct sessions_job *j, uint64_t now) {
    j->ops->open(j->owner, j, 0);
    j->closed_at = now;
    j->id = 0;
    j->state = SESSIONS_CLOSING;
}

// Whether nothing of the job is in the switch any more.
static bool job_is_cleared(struct sessions_job *j) {
    if (j->state == SESSIONS_CLOSING && !j->ops->under_way(j->owner, j->closed_at)) {
        j->ops->clear(j->owner, j);
        j->state = SESSIONS_CLEARED;
    }
    return j->state == SESSIONS_CLEARED;
}

static bool sessions_job_open(struct sessions_job *j, uint16_t session, uint64_t id) {
    if (!j->ops->open(j->owner, j, session))
        return false;
    j->session = session;
    j->id = id;
    j->state = SESSIONS_OPEN;
    return true;
}

// ---- SwitchML ----

static void job_note_end(struct sessions_job *j, const struct session_message *m,
                         const struct session_end *from) {
    const unsigned i = gather_number(j->gather, m), n = gather_members(j->gather);
    if (n > j->n_ends) {
        j->ends = sk_resize(j->ends, n, sizeof *j->ends);
        memset(j->ends + j->n_ends, 0, (n - j->n_ends) * sizeof *j->ends);
        j->n_ends = n;
    }
    if (i < n)
        j->ends[i] = *from;
}

// To all members: what the gathering has for each.
static void job_tell_all(struct sessions_job *j, bool (*message)(const struct gather *g, unsigned i,
                                                                 struct session_message *m)) {
    struct session_message m;
    for (unsigned i = 0; i < gather_members(j->gather) && i < j->n_ends; i++)
        if (message(j->gather, i, &m))
            j->ops->answer(j->owner, j, &j->ends[i], &m);
}

static void job_hear_worker(struct sessions_job *j, const struct session_end *from,
                            const struct session_message *m, uint64_t now) {
    struct session_message answers[GATHER_MAX_ANSWERS];
    const unsigned n = gather_hear(j->gather, m, now, answers);
    if (n > 0 && answers[0].kind != SESSION_REFUSED)
        job_note_end(j, m, from);
    for (unsigned i = 0; i < n; i++)
        j->ops->answer(j->owner, j, from, &answers[i]);
    if (gather_asks_all(j->gather))
        job_tell_all(j, gather_probe);
}

static void job_start(struct sessions_job *j, uint16_t session, uint64_t id) {
    if (!sessions_job_open(j, session, id))
        return;
    gather_audiences(j->gather, j->ops->audiences && j->ops->audiences(j->owner, j));
    gather_start(j->gather, j->session, id);
    j->ops->started(j->owner, j);
    job_tell_all(j, gather_push);
}

// ---- SwitchML, towards the switch above ----

#define ASK_AGAIN_NS UINT64_C(1000000000) // after a refusal

void sessions_job_below(struct sessions_job *j, uint32_t total) {
    j->has_above = true;
    j->total = total;
}

static void job_speak_above(struct sessions_job *j, uint64_t now) {
    struct session_message m;
    bool to_switch;
    while (session_member_write(&j->above, &m, &to_switch, now))
        j->ops->ask_above(j->owner, j, &m);
}

// This switch has no part in a session above any more: whoever goes there next has another nonce.
static void job_leave_above(struct sessions_job *j, uint64_t now) {
    if (j->joins_above && j->above.state != SESSION_LOST) {
        session_member_leave(&j->above);
        job_speak_above(j, now);
    }
    j->joins_above = false;
}

static void job_join_above(struct sessions_job *j) {
    const struct session_message self = {.protocol = SESSION_SWITCHML,
                                         .role = SESSION_SWITCH,
                                         .workers = (uint16_t)j->total,
                                         .lanes = 1,
                                         .slots = gather_slots(j->gather),
                                         .elements = gather_elements(j->gather),
                                         .job = (uint8_t)j->number};
    session_member_init(&j->above, &self, false, j->ops->random(j->owner));
    j->joins_above = true;
}

// Packets have 8 bits for the number, and 0 means that there is none. With another number the
// switch above is not of this kind.
static bool job_is_number(uint16_t session) {
    return session >= 1 && session <= 255;
}

// All below have joined and nothing of the job is in this switch: the session begins when the one
// above does. If the switch above was restarted, its number may be that of the last one here, which
// members that have not heard of its end may use until their lease is over.
static void job_start_from_above(struct sessions_job *j, uint64_t now) {
    if (j->joins_above && j->above.state >= SESSION_ENDING) {
        j->again_at = j->above.refused ? now + ASK_AGAIN_NS : now;
        j->joins_above = false;
    }
    if (!j->joins_above && now < j->again_at)
        return;
    if (!j->joins_above)
        job_join_above(j);
    job_speak_above(j, now);
    if (session_is_on(&j->above, now) && j->above.state == SESSION_IN &&
        job_is_number(j->above.session) &&
        (j->above.session != j->session || now >= j->closed_at + SESSION_QUIET_NS))
        job_start(j, j->above.session, j->above.id);
}

// The session runs, or has ended.
static void job_follow_above(struct sessions_job *j, uint64_t now) {
    if (!j->joins_above)
        return;
    if (!gather_runs(j->gather)) {
        // who has left is waited for no more; but a session that was broken off is over above, too,
        // when this switch comes back under another nonce
        if (!gather_has_members(j->gather))
            job_leave_above(j, now);
        j->joins_above = false;
        return;
    }
    job_speak_above(j, now);
    if (j->above.state != SESSION_IN) {
        char why[SESSION_TEXT];
        snprintf(why, sizeof why, "%s", j->above.text);
        j->joins_above = false;
        gather_stop(j->gather, why);
    }
}

void sessions_job_hear_above(struct sessions_job *j, const struct session_message *m,
                             uint64_t now) {
    if (j->has_above && j->joins_above)
        session_member_hear(&j->above, m, now);
}

static void job_run_switchml(struct sessions_job *j, uint64_t now) {
    const bool full = gather_is_full(j->gather, now);
    if (full && j->state == SESSIONS_OPEN) {
        j->joins_above = false;
        job_close(j, now);
    }
    if (j->has_above && j->state == SESSIONS_OPEN)
        job_follow_above(j, now);
    if (j->state == SESSIONS_OPEN || !job_is_cleared(j) || !full)
        return;
    if (j->has_above) {
        job_start_from_above(j, now);
        return;
    }
    const uint64_t id = j->ops->random(j->owner);
    job_start(j, j->ops->number(j->owner), id);
}

// ---- ATP ----

static bool job_is_old(const struct sessions_job *j, uint64_t id) {
    for (unsigned i = 0; i < SESSIONS_OLD; i++)
        if (j->old[i] == id)
            return true;
    return false;
}

static void job_make_old(struct sessions_job *j, uint64_t id) {
    if (id)
        j->old[j->n_old++ % SESSIONS_OLD] = id;
}

static void job_say_begun(struct sessions_job *j, const struct session_end *to,
                          const struct session_message *asked) {
    struct session_message m = *asked;
    m.kind = SESSION_BEGUN;
    m.text[0] = '\0';
    j->ops->answer(j->owner, j, to, &m);
}

static void job_hear_begin(struct sessions_job *j, const struct session_end *from,
                           const struct session_message *m, uint64_t now) {
    if (m->kind != SESSION_BEGIN || m->session == 0 || m->id == 0 || job_is_old(j, m->id))
        return;
    if (m->id == j->id) {
        job_say_begun(j, from, m);
        return;
    }
    if (m->id != j->next_id) {
        job_make_old(j, j->next_id);
        job_make_old(j, j->id);
        j->next = m->session;
        j->next_id = m->id;
        j->n_asked = 0;
        if (j->state == SESSIONS_OPEN)
            job_close(j, now);
    }
    if (j->n_asked < SESSIONS_ASKED) { // others ask again
        j->asked[j->n_asked].end = *from;
        j->asked[j->n_asked++].message = *m;
    }
}

static void job_run_atp(struct sessions_job *j) {
    if (!j->next_id || !job_is_cleared(j) || !sessions_job_open(j, j->next, j->next_id))
        return;
    j->next_id = 0;
    j->ops->started(j->owner, j);
    for (unsigned i = 0; i < j->n_asked; i++)
        job_say_begun(j, &j->asked[i].end, &j->asked[i].message);
    j->n_asked = 0;
}

// ---- both ----

void sessions_job_hear(struct sessions_job *j, const struct session_end *from,
                       const struct session_message *m, uint64_t now) {
    if (j->atp)
        job_hear_begin(j, from, m, now);
    else
        job_hear_worker(j, from, m, now);
}

void sessions_job_run(struct sessions_job *j, uint64_t now) {
    if (j->atp)
        job_run_atp(j);
    else
        job_run_switchml(j, now);
}

void sessions_job_lost(struct sessions_job *j, const char *why, uint64_t now) {
    if (j->atp) { // what was in aggregators is sent again
        if (j->id)
            j->ops->open(j->owner, j, j->session);
        return;
    }
    gather_stop(j->gather, why);
    j->joins_above = false;
    if (j->state == SESSIONS_OPEN)
        job_close(j, now);
}

bool sessions_job_runs(const struct sessions_job *j) {
    return j->atp ? j->id != 0 : gather_runs(j->gather);
}

// Of SwitchML, whose session does not run.
static void job_text_switchml(const struct sessions_job *j, uint64_t now, char *out, size_t size) {
    gather_text(j->gather, now, out, size);
    if (j->has_above && !out[0])
        snprintf(out, size, "waiting for the switch above%s%.150s", j->above.text[0] ? ": " : "",
                 j->above.text);
}

void sessions_job_text(const struct sessions_job *j, uint64_t now, char *out, size_t size) {
    out[0] = '\0';
    if (!j->atp && !gather_runs(j->gather))
        job_text_switchml(j, now, out, size);
    else if (j->atp && !j->id)
        snprintf(out, size, "%s", "waiting for the job's hosts");
}
