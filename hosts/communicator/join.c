// SPDX-License-Identifier: Apache-2.0
#include "hosts/communicator/join.h"

#include <stdlib.h>
#include <string.h>

#include "silken/error.h"
#include "hosts/core/udp.h"
#include "base/random.h"

// ---- frames ----------------------------------------------------------------------------------

static struct session_end join_end_of(const struct sk_endpoint *e) {
    struct session_end end = {.ip = e->ip};

    memcpy(end.mac, e->mac, sizeof end.mac);
    return end;
}

size_t sk_join_frame(uint8_t *buf, const struct sk_endpoint *from, const struct sk_endpoint *to,
                     const struct session_message *m) {
    const struct session_end a = join_end_of(from), b = join_end_of(to);

    return session_frame_write(buf, &a, &b, m);
}

bool sk_join_message(const uint8_t *frame, size_t len, const struct sk_endpoint *self,
                     struct sk_endpoint *from, struct session_message *m) {
    const struct session_end to = join_end_of(self);
    struct session_end sender;

    if (!session_frame_read(frame, len, &to, &sender, m) || sender.port != SESSION_PORT)
        return false;
    memcpy(from->mac, sender.mac, sizeof from->mac);
    from->ip = sender.ip;
    from->port = SESSION_PORT;
    return true;
}

// ---- the member ------------------------------------------------------------------------------

void sk_join_init(struct sk_join *j, const struct session_message *self, uint64_t nonce,
                  const struct sk_endpoint *station, const struct sk_endpoint *coordinator,
                  const struct sk_endpoint *fabric, uint64_t warning, uint64_t limit) {
    *j = (struct sk_join){.on = true,
                          .self = *station,
                          .coordinator = *coordinator,
                          .watch = {.warning = warning, .limit = limit}};
    if (fabric)
        j->fabric = *fabric;
    session_member_init(&j->member, self, fabric != NULL, nonce);
}

size_t sk_join_write(struct sk_join *j, uint8_t *buf, size_t cap, uint64_t now) {
    struct session_message m;
    bool to_switch;

    if (!j->on || cap < SK_JOIN_FRAME || !session_member_write(&j->member, &m, &to_switch, now))
        return 0;
    j->asked++;
    return sk_join_frame(buf, &j->self, to_switch ? &j->fabric : &j->coordinator, &m);
}

uint32_t sk_join_queued(const struct sk_join *j) {
    return j->on && session_member_has_message(&j->member, j->now);
}

static bool same_station(const struct sk_endpoint *a, const struct sk_endpoint *b) {
    return a->ip == b->ip;
}

bool sk_join_read(struct sk_join *j, const uint8_t *frame, size_t len, uint64_t now) {
    struct session_message m;
    struct sk_endpoint from;
    if (!j->on || !sk_join_message(frame, len, &j->self, &from, &m))
        return false;
    if (m.kind == SESSION_BEGUN ? same_station(&from, &j->fabric)
                                : same_station(&from, &j->coordinator))
        session_member_hear(&j->member, &m, now);
    return true;
}

uint64_t sk_join_deadline(const struct sk_join *j) {
    uint64_t deadline = j->on ? session_member_deadline(&j->member) : SESSION_NEVER;

    return sk_join_is_joining(j) && j->now ? sk_time_earlier(deadline, sk_watch_deadline(&j->watch))
                                           : deadline;
}

static unsigned join_fail(struct sk_join *j, int fault) {
    j->fault = fault;
    return SK_ENGINE_FAILED;
}

unsigned sk_join_expire(struct sk_join *j, uint64_t now) {
    if (!j->on)
        return 0;
    if (j->now == 0)
        sk_watch_start(&j->watch, now);
    j->now = now;
    session_member_expire(&j->member, now);
    if (j->member.state == SESSION_LOST)
        return join_fail(j, j->member.refused ? SILKEN_ERR_REFUSED : SILKEN_ERR_OVER);
    if (!sk_join_is_joining(j))
        return 0;
    if (sk_watch_is_over(&j->watch, now))
        return join_fail(j, SILKEN_ERR_STALLED);
    return sk_watch_warns(&j->watch, now) ? SK_ENGINE_STALLED : 0;
}

// ---- in words --------------------------------------------------------------------------------

static void say_silence(const struct sk_join *j, bool of_switch, struct sk_text *t) {
    const struct sk_endpoint *to = of_switch ? &j->fabric : &j->coordinator;
    struct sk_endpoint end = *to;

    end.port = SESSION_PORT;
    sk_say(t, "  No answer from ");
    sk_say_endpoint(
        t, of_switch || j->member.self.protocol == SESSION_SWITCHML ? "the switch" : "the server",
        &end);
    if (of_switch || j->member.self.protocol == SESSION_SWITCHML) {
        sk_say(t, ". Is the switch running, is this worker's port up, and does the switch's "
                  "configuration "
                  "have its job (\"jobs\" in \"tor\", or \"sessions\")? ");
    } else {
        sk_say(t, ". Is the job's first server running? ");
    }
    sk_say(t, "This is ");
    end = j->self;
    end.port = SESSION_PORT;
    sk_say_endpoint(t, j->member.self.role == SESSION_SERVER ? "the server" : "the worker", &end);
    sk_say(t, "\n");
}

bool sk_join_explain(const struct sk_join *j, uint64_t now, struct sk_text *t) {
    const struct session_member *m = &j->member;
    const struct session_message *self = &m->self;

    if (!j->on || m->state == SESSION_IN)
        return false;
    sk_say(t, "%s %u of %u, job %u: ", self->role == SESSION_SERVER ? "server" : "worker",
           self->rank, self->role == SESSION_SERVER ? self->servers : self->workers, self->job);
    if (m->state == SESSION_LOST || m->state == SESSION_ENDING) {
        sk_say(t,
               m->refused ? "this worker cannot join: %s\n" : "this worker's session is over: %s\n",
               m->text[0] ? m->text : "the job has restarted");
        return true;
    }
    sk_say(t, "the job's session has not started for %.1f ms%s%s\n",
           (double)(now - j->watch.since) / 1e6, m->answered && m->text[0] ? ": " : "",
           m->answered ? m->text : "");
    if (m->state == SESSION_BEGINNING)
        say_silence(j, true, t);
    else if (!m->answered)
        say_silence(j, false, t);
    return true;
}

void sk_join_remark(const struct sk_join *j, struct sk_text *t) {
    if (j->on && j->member.text[0])
        sk_say(t, "  The coordinator reports about the job's session: %s.\n", j->member.text);
}

// ---- nonces ----------------------------------------------------------------------------------

static uint64_t from_kernel(void *aux) {
    (void)aux;
    return sk_random_secret();
}

const struct sk_randomness sk_random_of_kernel = {from_kernel, NULL};
