// SPDX-License-Identifier: Apache-2.0
#include "session/member.h"

#include <stdio.h>
#include <string.h>

#define MS UINT64_C(1000000)

// Between two messages: at first, and at most. Who waits is not to be taken for dead (gather.h),
// and whoever asks whether its session is still there has packets waiting.
#define PAUSE_FIRST (10 * MS)
#define PAUSE_MOST  (100 * MS)

// Least time between two times that the switch is asked to begin the session that is running.
#define BEGIN_AGAIN_NS (500 * MS)

// From the news that a session is over on: answers to what all members had sent before may still
// come.
#define ENDING_NS (500 * MS)

void session_member_init(struct session_member *m, const struct session_message *self,
                         bool has_switch, uint64_t nonce) {
    *m = (struct session_member){.self = *self, .has_switch = has_switch, .pause = PAUSE_FIRST};
    m->self.nonce = nonce;
    m->self.text[0] = '\0';
}

// A server goes from session to session, and the coordinator has to know that it is there.
static bool session_member_stays(const struct session_member *m) {
    return m->self.role == SESSION_SERVER;
}

// ---- sending ----

static uint64_t session_member_ask_at(const struct session_member *m) {
    if (m->leaves)
        return m->left ? SESSION_NEVER : 0;
    if (m->probed || m->begins)
        return 0;
    switch (m->state) {
    case SESSION_LOST:
    case SESSION_ENDING:
        return SESSION_NEVER;
    case SESSION_IN: {
        if (session_member_stays(m))
            return m->ask_at;
        const uint64_t lease = m->heard_at + SESSION_LEASE_NS;
        return lease > m->ask_at ? lease : m->ask_at;
    }
    case SESSION_JOINING:
    case SESSION_BEGINNING:
    case SESSION_IS_READY:
        break;
    }
    return m->ask_at;
}

bool session_member_has_message(const struct session_member *m, uint64_t now) {
    return session_member_ask_at(m) <= now;
}

bool session_member_write(struct session_member *m, struct session_message *out, bool *to_switch,
                          uint64_t now) {
    *to_switch = false;
    if (!session_member_has_message(m, now))
        return false;
    *out = m->self;
    out->cookie = m->cookie;
    out->session = m->session;
    out->id = m->id;
    out->kind = SESSION_JOIN;
    if (m->leaves) {
        out->kind = SESSION_LEAVE;
        m->left = true;
        return true;
    }
    if (m->begins) {
        m->begins = false;
        m->begun_at = now;
        out->kind = SESSION_BEGIN;
        *to_switch = true;
        return true;
    }
    if (m->probed) {
        m->probed = false;
        return true;
    }
    if (m->state == SESSION_BEGINNING) { // the coordinator is to know that we are there
        *to_switch = m->to_switch = !m->to_switch;
        out->kind = *to_switch ? SESSION_BEGIN : SESSION_JOIN;
    } else if (m->state == SESSION_IS_READY) {
        out->kind = SESSION_READY;
    }
    m->ask_at = now + m->pause;
    m->pause = 2 * m->pause < PAUSE_MOST ? 2 * m->pause : PAUSE_MOST;
    return true;
}

// ---- receiving ----

// Goes on at once.
static void session_member_enter(struct session_member *m, enum session_state state) {
    m->state = state;
    m->ask_at = 0;
    m->pause = PAUSE_FIRST;
}

static void session_member_lose(struct session_member *m, bool refused) {
    m->refused = refused;
    m->state = SESSION_LOST;
}

static void session_member_start(struct session_member *m, const struct session_message *message,
                                 uint64_t now) {
    if (m->id && message->id != m->id) // of a session that it is not in
        return;
    if (m->state != SESSION_IN) {
        m->begun_at = now;
        m->audiences = message->flags & SESSION_AUDIENCES; // for good
        session_member_enter(m, SESSION_IN);
    } else if (m->has_switch && now - m->begun_at >= BEGIN_AGAIN_NS) {
        m->begins = true; // its switch may have been restarted, and know nothing of the session
    }
    m->session = message->session;
    m->id = message->id;
    m->heard_at = now;
    m->pause = PAUSE_FIRST;
}

// The coordinator of ATP may go on to another session before this one has started: somebody has
// begun again.
static void session_member_prepare(struct session_member *m,
                                   const struct session_message *message) {
    if ((m->state == SESSION_IN && !session_member_stays(m)) ||
        (m->id == message->id && m->state != SESSION_JOINING))
        return;
    m->session = message->session;
    m->id = message->id;
    session_member_enter(m, m->has_switch ? SESSION_BEGINNING : SESSION_IS_READY);
}

// Nothing was done yet.
static void session_member_join_again(struct session_member *m) {
    m->session = 0;
    m->id = 0;
    session_member_enter(m, SESSION_JOINING);
}

static bool session_member_prepares(const struct session_member *m) {
    return m->state == SESSION_BEGINNING || m->state == SESSION_IS_READY;
}

static void session_member_over(struct session_member *m, uint64_t now) {
    if (session_member_stays(m)) {
        session_member_join_again(m);
    } else if (m->state == SESSION_IN) {
        m->state = SESSION_ENDING;
        m->ending_at = now + ENDING_NS;
    } else if (session_member_prepares(m)) {
        session_member_join_again(m);
    } else if (m->state == SESSION_JOINING) {
        session_member_lose(m, false);
    }
}

void session_member_hear(struct session_member *m, const struct session_message *message,
                         uint64_t now) {
    if (message->nonce != m->self.nonce || m->state == SESSION_LOST || m->leaves)
        return;
    if (message->kind == SESSION_BEGUN) {
        if (m->state == SESSION_BEGINNING && message->id == m->id)
            session_member_enter(m, SESSION_IS_READY);
        return;
    }
    if (message->kind == SESSION_PROBE) {
        m->probed = m->state != SESSION_ENDING;
        return;
    }
    m->answered = true;
    if (message->text[0] || message->kind == SESSION_START)
        memcpy(m->text, message->text, sizeof m->text);
    switch (message->kind) {
    case SESSION_COOKIE:
        if (m->state == SESSION_JOINING && m->cookie != message->cookie) {
            m->cookie = message->cookie;
            m->ask_at = 0;
        }
        break;
    case SESSION_PREPARE:
        session_member_prepare(m, message);
        break;
    case SESSION_START:
        session_member_start(m, message, now);
        break;
    case SESSION_OVER:
        session_member_over(m, now);
        break;
    case SESSION_WAIT:
        if (session_member_prepares(m) && message->id != m->id)
            session_member_join_again(m);
        break;
    case SESSION_REFUSED:
        session_member_lose(m, true);
        break;
    default:
        break;
    }
}

// ---- what may be done ----

bool session_is_on(const struct session_member *m, uint64_t now) {
    return (m->state == SESSION_IN || m->state == SESSION_ENDING) &&
           now - m->heard_at < SESSION_LEASE_NS;
}

uint64_t session_member_deadline(const struct session_member *m) {
    return m->state == SESSION_ENDING ? m->ending_at : session_member_ask_at(m);
}

void session_member_expire(struct session_member *m, uint64_t now) {
    if (m->state == SESSION_ENDING && now >= m->ending_at)
        session_member_lose(m, false);
}

void session_member_leave(struct session_member *m) {
    m->leaves = m->answered;
}
