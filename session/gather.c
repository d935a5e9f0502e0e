// SPDX-License-Identifier: Apache-2.0
#include "session/gather.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct member {
    // Of the session.
    uint64_t nonce; // 0: nobody
    bool left;
    bool ready; // its switch has begun the session
    // Who has joined for the next one.
    uint64_t next; // 0: nobody
    uint64_t heard;
    uint16_t slots, elements;
    bool confirmed; // heard since all were there
    // Another process that wants this place, and since when; and one that was refused it.
    uint64_t rival, rival_since, second;
};

struct gather {
    struct gather_config config;
    uint32_t lanes; // of each worker; 0: not known yet
    uint16_t session;
    uint64_t id;
    bool running;
    bool started;   // all members were ready once
    bool broken;    // a member has begun again
    char why[160];  // the session is over; "": it is not
    bool complete;  // all were there when somebody was heard last
    bool audiences; // the switch has the job's
    bool asks;      // and are to be asked whether they still are
    uint64_t generation;
    struct member *members;
    unsigned n;
};

// ---- making and freeing ----

// Nobody is known of the workers then; the others stay.
static void gather_set_lanes(struct gather *g, uint32_t lanes) {
    const unsigned others = g->config.switches + g->config.servers, n = g->config.workers * lanes;
    struct member *members = calloc(n + others ? n + others : 1, sizeof *members);
    if (!members)
        abort();
    if (g->members && others)
        memcpy(members + n, g->members + (g->n - others), others * sizeof *members);
    free(g->members);
    g->members = members;
    g->lanes = lanes;
    g->n = n + others;
}

struct gather *gather_new(const struct gather_config *config) {
    struct gather *g = calloc(1, sizeof *g);
    if (!g)
        abort();
    g->config = *config;
    gather_set_lanes(g, config->workers ? config->lanes : 1);
    return g;
}

void gather_free(struct gather *g) {
    if (g)
        free(g->members);
    free(g);
}

// ---- cookies ----
// SipHash-2-4 (Aumasson and Bernstein 2012) of generation, member and nonce: nobody who does not
// get our answers can make one, and none is good for two sessions.

struct sip {
    uint64_t v[4];
};

static uint64_t sip_rotate(uint64_t x, unsigned by) {
    return x << by | x >> (64 - by);
}

static void sip_round(struct sip *s) {
    uint64_t *v = s->v;
    v[0] += v[1], v[1] = sip_rotate(v[1], 13) ^ v[0], v[0] = sip_rotate(v[0], 32);
    v[2] += v[3], v[3] = sip_rotate(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = sip_rotate(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = sip_rotate(v[1], 17) ^ v[2], v[2] = sip_rotate(v[2], 32);
}

static void sip_add(struct sip *s, uint64_t word) {
    s->v[3] ^= word;
    sip_round(s);
    sip_round(s);
    s->v[0] ^= word;
}

static uint64_t gather_cookie(const struct gather *g, unsigned i, uint64_t nonce) {
    const uint64_t *k = g->config.secret;
    struct sip s = {{k[0] ^ UINT64_C(0x736f6d6570736575), k[1] ^ UINT64_C(0x646f72616e646f6d),
                     k[0] ^ UINT64_C(0x6c7967656e657261), k[1] ^ UINT64_C(0x7465646279746573)}};
    sip_add(&s, g->generation);
    sip_add(&s, i);
    sip_add(&s, nonce);
    sip_add(&s, UINT64_C(24) << 56);
    s.v[2] ^= 0xff;
    for (int round = 0; round < 4; round++)
        sip_round(&s);
    const uint64_t cookie = s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
    return cookie ? cookie : 1;
}

// ---- who is who ----

unsigned gather_members(const struct gather *g) {
    return g->n;
}

// The first member of a role by number.
static unsigned gather_first(const struct gather *g, enum session_role role) {
    const unsigned switches = g->config.workers * g->lanes;
    return role == SESSION_WORKER   ? 0
           : role == SESSION_SWITCH ? switches
                                    : switches + g->config.switches;
}

static enum session_role gather_role_of(const struct gather *g, unsigned i) {
    return i >= gather_first(g, SESSION_SERVER)   ? SESSION_SERVER
           : i >= gather_first(g, SESSION_SWITCH) ? SESSION_SWITCH
                                                  : SESSION_WORKER;
}

static bool gather_is_server(const struct gather *g, unsigned i) {
    return gather_role_of(g, i) == SESSION_SERVER;
}

static bool gather_is_worker(const struct gather *g, unsigned i) {
    return gather_role_of(g, i) == SESSION_WORKER;
}

static unsigned gather_rank(const struct gather *g, unsigned i) {
    if (!gather_is_worker(g, i))
        return i - gather_first(g, gather_role_of(g, i));
    return g->config.ranks ? g->config.ranks[i / g->lanes] : i / g->lanes;
}

static const char *gather_role(const struct gather *g, unsigned i) {
    static const char *const roles[] = {
        [SESSION_WORKER] = "worker", [SESSION_SERVER] = "server", [SESSION_SWITCH] = "switch"};
    return roles[gather_role_of(g, i)];
}

// Workers of the whole job.
static uint32_t gather_total(const struct gather *g) {
    return g->config.ranks ? g->config.total : g->config.workers;
}

// Which of this switch's workers has the rank; config.workers: none.
static unsigned gather_place(const struct gather *g, unsigned rank) {
    unsigned i = 0;
    if (!g->config.ranks)
        return rank;
    while (i < g->config.workers && g->config.ranks[i] != rank)
        i++;
    return i;
}

// Whether there is such a member.
static bool gather_has(const struct gather *g, const struct session_message *m) {
    switch (m->role) {
    case SESSION_SERVER:
        return m->rank < g->config.servers;
    case SESSION_SWITCH:
        return m->rank < g->config.switches;
    case SESSION_WORKER:
        return gather_place(g, m->rank) < g->config.workers;
    default:
        return false;
    }
}

static const char *gather_said_role(const struct session_message *m) {
    return m->role == SESSION_SERVER ? "server" : m->role == SESSION_SWITCH ? "switch" : "worker";
}

// What is wrong with the job that it says it has: a sentence, or null.
static const char *gather_fault(const struct gather *g, const struct session_message *m, char *out,
                                size_t size) {
    const struct gather_config *c = &g->config;
    if (m->protocol != c->protocol)
        snprintf(out, size, "the job runs the protocol %s",
                 c->protocol == SESSION_ATP ? "ATP" : "SwitchML");
    else if (m->workers != gather_total(g))
        snprintf(out, size, "the job has %u workers, not %u", gather_total(g), m->workers);
    else if (m->servers != c->servers)
        snprintf(out, size, "the job has %u servers, not %u", c->servers, m->servers);
    else if (m->lanes == 0 || m->lanes > GATHER_MAX_LANES || m->lane >= m->lanes)
        snprintf(out, size, "lane %u does not exist; there are %u", m->lane, m->lanes);
    else if (m->role == SESSION_SWITCH && m->lanes != 1)
        snprintf(out, size, "a switch has one lane, not %u", m->lanes);
    else if (m->role != SESSION_SWITCH && c->lanes && m->lanes != c->lanes)
        snprintf(out, size, "the job's workers have %u lanes, not %u", c->lanes, m->lanes);
    else if (m->role == SESSION_WORKER && m->rank < gather_total(g) && !gather_has(g, m))
        snprintf(out, size, "worker %u is below another switch of the job", m->rank);
    else if (!gather_has(g, m))
        snprintf(out, size, "the job has no %s %u", gather_said_role(m), m->rank);
    else if (c->slots && m->slots > c->slots)
        snprintf(out, size, "the job has %u slots, but the worker uses %u", c->slots, m->slots);
    else if (m->nonce == 0)
        snprintf(out, size, "a nonce must not be 0");
    else
        return NULL;
    return out;
}

unsigned gather_number(const struct gather *g, const struct session_message *m) {
    return m->role == SESSION_WORKER ? gather_place(g, m->rank) * g->lanes + m->lane
                                     : gather_first(g, m->role) + m->rank;
}

uint16_t gather_slots(const struct gather *g) {
    return g->n ? g->members[0].slots : 0;
}

uint16_t gather_elements(const struct gather *g) {
    return g->n ? g->members[0].elements : 0;
}

// ---- answers ----

static struct session_message gather_answer(const struct gather *g, const struct session_message *m,
                                            enum session_kind kind) {
    struct session_message a = *m;
    a.kind = kind;
    a.session = kind == SESSION_PREPARE || kind == SESSION_START ? g->session : 0;
    a.id = a.session ? g->id : 0;
    a.cookie = 0;
    a.text[0] = '\0';
    if (kind == SESSION_START && g->audiences)
        a.flags |= SESSION_AUDIENCES;
    return a;
}

static struct session_message gather_say(const struct gather *g, const struct session_message *m,
                                         enum session_kind kind, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static struct session_message gather_say(const struct gather *g, const struct session_message *m,
                                         enum session_kind kind, const char *format, ...) {
    struct session_message a = gather_answer(g, m, kind);
    va_list args;
    va_start(args, format);
    vsnprintf(a.text, sizeof a.text, format, args);
    va_end(args);
    return a;
}

static struct session_message gather_wait(const struct gather *g, const struct session_message *m,
                                          uint64_t now) {
    struct session_message a = gather_answer(g, m, SESSION_WAIT);
    gather_text(g, now, a.text, sizeof a.text);
    return a;
}

// ---- the session ----

static bool gather_all_ready(const struct gather *g) {
    for (unsigned i = 0; i < g->n; i++)
        if (!g->members[i].ready)
            return false;
    return true;
}

bool gather_runs(const struct gather *g) {
    return g->running && !g->broken;
}

bool gather_has_members(const struct gather *g) {
    for (unsigned i = 0; i < g->n; i++)
        if (g->members[i].nonce && !g->members[i].left)
            return true;
    return false;
}

uint16_t gather_session(const struct gather *g) {
    return g->session;
}

uint64_t gather_id(const struct gather *g) {
    return g->id;
}

uint64_t gather_nonce(const struct gather *g, unsigned i) {
    return i < g->n ? g->members[i].nonce : 0;
}

// "": nobody has.
static void gather_say_who_left(const struct gather *g, char *out, size_t size) {
    for (unsigned i = 0; i < g->n; i++)
        if (g->members[i].left) {
            snprintf(out, size, "%s %u has left the session", gather_role(g, i), gather_rank(g, i));
            return;
        }
}

// To a member of the session that asks.
static struct session_message gather_to_member(const struct gather *g, const struct member *member,
                                               const struct session_message *m, uint64_t now) {
    if (!gather_runs(g))
        return m->role == SESSION_SERVER ? gather_wait(g, m, now)
                                         : gather_say(g, m, SESSION_OVER, "%s", g->why);
    if (!member->ready)
        return gather_answer(g, m, SESSION_PREPARE);
    if (!g->started) {
        struct session_message wait = gather_wait(g, m, now);
        wait.id = g->id;
        return wait;
    }
    struct session_message start = gather_answer(g, m, SESSION_START);
    gather_say_who_left(g, start.text, sizeof start.text);
    return start;
}

static struct session_message gather_address(const struct gather *g, unsigned i, uint64_t nonce) {
    return (struct session_message){
        .nonce = nonce,
        .rank = (uint16_t)gather_rank(g, i),
        .workers = (uint16_t)gather_total(g),
        .lane = gather_is_worker(g, i) ? (uint8_t)(i % g->lanes) : 0,
        .lanes = gather_role_of(g, i) == SESSION_SWITCH ? 1 : (uint8_t)g->lanes,
        .protocol = g->config.protocol,
        .role = (uint8_t)gather_role_of(g, i),
        .servers = (uint8_t)g->config.servers,
        .job = g->config.job,
    };
}

bool gather_push(const struct gather *g, unsigned i, struct session_message *m) {
    if (i >= g->n || !g->members[i].nonce || !gather_runs(g) || g->members[i].left)
        return false;
    if (g->members[i].ready && !g->started)
        return false;
    const struct session_message to = gather_address(g, i, g->members[i].nonce);
    *m = gather_answer(g, &to, g->members[i].ready ? SESSION_START : SESSION_PREPARE);
    return true;
}

bool gather_probe(const struct gather *g, unsigned i, struct session_message *m) {
    if (i >= g->n || !g->members[i].next)
        return false;
    const struct session_message to = gather_address(g, i, g->members[i].next);
    *m = gather_answer(g, &to, SESSION_PROBE);
    return true;
}

void gather_stop(struct gather *g, const char *why) {
    g->running = false;
    snprintf(g->why, sizeof g->why, "%s", why);
}

// It was not to start yet: its members wait for the next one.
static void gather_dissolve(struct gather *g, uint64_t now) {
    for (unsigned i = 0; i < g->n; i++) {
        struct member *m = &g->members[i];
        if (m->nonce) {
            m->next = m->nonce;
            m->heard = now;
        }
        m->nonce = 0;
        m->ready = false;
    }
    g->running = false;
}

// A member has gone without leaving.
static void gather_break(struct gather *g, unsigned i, uint64_t now) {
    if (!gather_runs(g))
        return;
    if (!g->started) {
        gather_dissolve(g, now);
        return;
    }
    g->broken = true;
    snprintf(g->why, sizeof g->why,
             "%s %u has restarted, and so has the job: restart the other workers, too",
             gather_role(g, i), gather_rank(g, i));
}

void gather_audiences(struct gather *g, bool audiences) {
    g->audiences = audiences;
}

void gather_start(struct gather *g, uint16_t session, uint64_t id) {
    g->session = session;
    g->id = id;
    g->running = true;
    g->started = !g->config.prepares;
    g->broken = false;
    g->why[0] = '\0';
    g->complete = false;
    g->generation++;
    for (unsigned i = 0; i < g->n; i++) {
        const struct member *m = &g->members[i];
        g->members[i] = (struct member){
            .nonce = m->next ? m->next : m->nonce, .heard = m->heard, .ready = !g->config.prepares};
    }
}

void gather_resume(struct gather *g, uint16_t session, uint64_t id, uint32_t lanes,
                   const uint64_t *nonces) {
    gather_set_lanes(g, lanes);
    gather_start(g, session, id);
    for (unsigned i = 0; i < g->n; i++)
        g->members[i] = (struct member){.nonce = nonces[i], .ready = true};
    g->started = true;
}

// ---- joining ----

static bool gather_asks(const struct member *m, uint64_t now) {
    return m->next && now - m->heard < GATHER_PATIENCE_NS;
}

// Whether it will be in the next session. A server is without joining again.
static bool gather_comes(const struct gather *g, unsigned i, uint64_t now) {
    const struct member *m = &g->members[i];
    return gather_asks(m, now) ||
           (gather_is_server(g, i) && m->nonce && !m->left && now - m->heard < GATHER_PATIENCE_NS);
}

static bool gather_lanes_agree(const struct gather *g, unsigned i) {
    const struct member *m = &g->members[i];
    return !gather_is_worker(g, i) || m->next == g->members[i - i % g->lanes].next;
}

// Everybody has joined, alike.
static bool gather_all_come(const struct gather *g, uint64_t now) {
    if (g->n == 0 || g->lanes == 0)
        return false;
    for (unsigned i = 0; i < g->n; i++)
        if (!gather_comes(g, i, now) || !gather_lanes_agree(g, i) ||
            g->members[i].slots != g->members[0].slots ||
            g->members[i].elements != g->members[0].elements)
            return false;
    return true;
}

// Somebody was heard. Who has joined may have been killed since: when all are there, all are asked
// again.
static void gather_count(struct gather *g, uint64_t now) {
    const bool complete = gather_all_come(g, now);
    if (complete && !g->complete) {
        for (unsigned i = 0; i < g->n; i++)
            g->members[i].confirmed = false;
        g->asks = true;
    }
    g->complete = complete;
}

bool gather_is_full(const struct gather *g, uint64_t now) {
    if (!g->complete || now < g->config.not_before || !gather_all_come(g, now))
        return false;
    for (unsigned i = 0; i < g->n; i++)
        if (!g->members[i].confirmed)
            return false;
    return true;
}

bool gather_asks_all(struct gather *g) {
    const bool asks = g->asks;
    g->asks = false;
    return asks;
}

static void gather_take(struct gather *g, unsigned i, const struct session_message *m,
                        uint64_t now) {
    struct member *member = &g->members[i];
    if (member->nonce && !member->left)
        gather_break(g, i, now);
    member->next = m->nonce;
    member->heard = now;
    member->slots = m->slots;
    member->elements = m->elements;
    member->rival = 0;
    g->complete = false;
}

// Whether somebody else may be in this place.
static bool gather_is_taken(const struct gather *g, const struct member *m, uint64_t now) {
    return gather_asks(m, now) || (gather_runs(g) && m->nonce && !m->left);
}

// The place is another's: has that one been asked, and for how long has it not answered?
static unsigned gather_challenge(struct gather *g, unsigned i, const struct session_message *m,
                                 uint64_t now, struct session_message *answers) {
    struct member *member = &g->members[i];
    if (member->rival != m->nonce) {
        member->rival = m->nonce;
        member->rival_since = now;
    } else if (now - member->rival_since >= GATHER_PATIENCE_NS) {
        gather_take(g, i, m, now);
        answers[0] = gather_wait(g, m, now);
        return 1;
    }
    answers[0] = gather_say(g, m, SESSION_WAIT, "asking whether the earlier %s %u still runs",
                            gather_role(g, i), gather_rank(g, i));
    answers[1] = gather_answer(g, m, SESSION_PROBE);
    answers[1].nonce = member->next ? member->next : member->nonce;
    return 2;
}

// The one who is there has been heard: another one who wants its place is refused.
static void gather_keep(struct member *m) {
    m->second = m->rival ? m->rival : m->second;
    m->rival = 0;
}

static unsigned gather_newcomer(struct gather *g, unsigned i, const struct session_message *m,
                                uint64_t now, struct session_message *answers) {
    struct member *member = &g->members[i];
    if (m->id) {
        answers[0] = gather_say(g, m, SESSION_OVER, "%s",
                                g->why[0]    ? g->why
                                : g->session ? "another session of the job has started"
                                             : "its coordinator was restarted, and does not know "
                                               "the session: restart the workers");
        return 1;
    }
    if (m->cookie != gather_cookie(g, i, m->nonce)) {
        answers[0] = gather_answer(g, m, SESSION_COOKIE);
        answers[0].cookie = gather_cookie(g, i, m->nonce);
        return 1;
    }
    if (m->nonce == member->second) {
        answers[0] = gather_say(g, m, SESSION_REFUSED, "another process that runs is %s %u",
                                gather_role(g, i), gather_rank(g, i));
        return 1;
    }
    if ((m->flags & SESSION_REPLACES) && gather_runs(g)) {
        *member = (struct member){.nonce = m->nonce, .ready = !g->config.prepares};
        answers[0] = gather_to_member(g, member, m, now);
        return 1;
    }
    if (gather_is_taken(g, member, now))
        return gather_challenge(g, i, m, now, answers);
    gather_take(g, i, m, now);
    answers[0] = gather_wait(g, m, now);
    return 1;
}

static void gather_leave(struct gather *g, unsigned i, uint64_t nonce) {
    struct member *m = &g->members[i];
    if (m->nonce == nonce)
        m->left = true;
    if (m->next == nonce)
        m->next = 0;
    if (g->running && !gather_has_members(g))
        gather_stop(g, "all its members have left");
}

unsigned gather_hear(struct gather *g, const struct session_message *m, uint64_t now,
                     struct session_message answers[GATHER_MAX_ANSWERS]) {
    char fault[SESSION_TEXT];
    if (m->kind != SESSION_JOIN && m->kind != SESSION_READY && m->kind != SESSION_LEAVE)
        return 0;
    if (gather_fault(g, m, fault, sizeof fault)) {
        answers[0] = gather_say(g, m, SESSION_REFUSED, "%s", fault);
        return m->kind != SESSION_LEAVE;
    }
    // As many lanes as who joins first, unless somebody is there who has another number of them.
    const bool lanes = m->role == SESSION_SWITCH || m->lanes == g->lanes;
    if (!lanes && m->kind == SESSION_JOIN) {
        for (unsigned i = 0; i < g->n; i++)
            if (gather_is_worker(g, i) && gather_is_taken(g, &g->members[i], now)) {
                answers[0] =
                    gather_say(g, m, SESSION_REFUSED, "the job's workers have %u lanes, not %u",
                               g->lanes, m->lanes);
                return 1;
            }
        gather_set_lanes(g, m->lanes);
    } else if (!lanes) {
        return 0;
    }
    const unsigned i = gather_number(g, m);
    struct member *member = &g->members[i];
    if (m->kind == SESSION_LEAVE) {
        gather_leave(g, i, m->nonce);
        return 0;
    }
    if (member->nonce == m->nonce) {
        gather_keep(member);
        member->heard = now;
        member->confirmed = true;
        gather_count(g, now);
        if (m->kind == SESSION_READY && m->id == g->id && gather_runs(g)) {
            member->ready = true;
            g->started = g->started || gather_all_ready(g);
        }
        answers[0] = gather_to_member(g, member, m, now);
        return 1;
    }
    if (member->next == m->nonce) {
        gather_keep(member);
        member->heard = now;
        member->confirmed = true;
        gather_count(g, now);
        answers[0] = gather_wait(g, m, now);
        return 1;
    }
    const unsigned n = gather_newcomer(g, i, m, now, answers);
    gather_count(g, now);
    return n;
}

// ---- in words ----

struct words {
    char *out;
    size_t size, length;
};

static void words_add(struct words *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void words_add(struct words *w, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(w->out + w->length, w->size - w->length, format, args);
    va_end(args);
    w->length += n > 0 ? (size_t)n : 0;
    w->length = w->length < w->size ? w->length : w->size - 1;
}

static bool gather_is_missing(const struct gather *g, unsigned i, uint64_t now) {
    const struct member *m = &g->members[i];
    if (gather_runs(g) && !g->started)
        return !m->ready;
    return !gather_comes(g, i, now) || !gather_lanes_agree(g, i);
}

void gather_text(const struct gather *g, uint64_t now, char *out, size_t size) {
    struct words w = {out, size, 0};
    unsigned missing = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < g->n; i++) {
        if (!gather_is_missing(g, i, now))
            continue;
        if (++missing <= 4) {
            words_add(&w, "%s%s %u", missing > 1 ? ", " : "waiting for ", gather_role(g, i),
                      gather_rank(g, i));
            if (gather_is_worker(g, i) && g->lanes > 1)
                words_add(&w, " lane %u", (unsigned)(i % g->lanes));
        }
    }
    if (missing > 4)
        words_add(&w, " and %u more", missing - 4);
    for (unsigned i = 1; i < g->n && missing == 0 && !gather_runs(g); i++)
        if (g->members[i].slots != g->members[0].slots ||
            g->members[i].elements != g->members[0].elements) {
            words_add(&w,
                      "%s %u has %u slots and %u elements in a packet, but worker 0 has %u and %u: "
                      "they must be equal",
                      gather_role(g, i), gather_rank(g, i), g->members[i].slots,
                      g->members[i].elements, g->members[0].slots, g->members[0].elements);
            return;
        }
    if (g->lanes == 0 && missing == 0)
        words_add(&w, "waiting for all workers");
}
