// SPDX-License-Identifier: Apache-2.0
//
// jobs_sessions: sessions of the jobs (session/message.h): SwitchML's are coordinated here, ATP's
// begun. What a host says counts when it comes from where the job has that host: by its port, in
// its VLAN, from its address, to an address of the switch.
#include <stdlib.h>
#include <string.h>

#include "control/sessions/clear.h"
#include "control/tor/ip.h"
#include "control/tor/jobs_impl.h"
#include "util.h"
#include "base/random.h"

#define UDP         8u
#define LAST_NUMBER 255u // of SwitchML's sessions, from 1 on
#define FRAME_LEAST 60u
#define REMEMBERED  "session"

// ---- what is done for a job ----

static bool js_open(void *owner, struct sessions_job *j, unsigned session) {
    struct jobs_job *job = owner;
    struct sk_error err = {.text = ""};
    (void)j;
    job->session = (uint16_t)session;
    jobs_want(job->tor, job);
    if (jobs_flush(job->tor, &err) == 0)
        return true;
    tor_event(job->tor, "alarm", "{s:s, s:s, s:s}", "alarm", "job", "job", job->name, "why",
              err.text);
    return false;
}

static struct sessions_switch jobs_sessions_switch_of(const struct tor *t) {
    return (struct sessions_switch){t->host.sw, t->host.pause, t->host.resume, t->host.aux};
}

static bool js_under_way(void *owner, uint64_t time) {
    const struct sessions_switch sw =
        jobs_sessions_switch_of(((const struct jobs_job *)owner)->tor);
    return sessions_under_way(&sw, time);
}

static void js_clear(void *owner, struct sessions_job *j) {
    const struct jobs_job *job = owner;
    (void)j;
    jobs_clear(job->tor, job);
}

static uint32_t ipv4_of(const struct in6_addr *a) {
    return get32(&a->s6_addr[12]);
}

static const struct jobs_host *host_at(const struct jobs_job *job, uint32_t ip) {
    for (size_t i = 0; i < job->n_workers; i++)
        if (ipv4_of(&job->workers[i].address) == ip)
            return &job->workers[i];
    return job->protocol == JOBS_ATP && ipv4_of(&job->server.address) == ip ? &job->server : NULL;
}

static void js_send(const struct jobs_job *job, const struct jobs_host *host,
                    const struct session_end *to, const struct session_message *m) {
    uint8_t f[SESSION_FRAME_BYTES];
    struct in6_addr own = host->to;
    if (IN6_IS_ADDR_UNSPECIFIED(&own) &&
        !tor_address_for(job->tor, host->vid, &host->address, &own))
        return;
    struct session_end from = {.ip = ipv4_of(&own)};
    memcpy(from.mac, job->tor->section->mac.bytes, sizeof from.mac);
    const size_t length = session_frame_write(f, &from, to, m);
    tor_send_port(job->tor, jobs_port_of(host), host->vid, f, (uint32_t)length);
}

static void js_answer(void *owner, struct sessions_job *j, const struct session_end *to,
                      const struct session_message *m) {
    const struct jobs_job *job = owner;
    const struct jobs_host *host = host_at(job, to->ip);
    (void)j;
    if (host && host->link)
        js_send(job, host, to, m);
}

static void js_ask_above(void *owner, struct sessions_job *j, const struct session_message *m) {
    const struct jobs_job *job = owner;
    const struct jobs_host *above = &job->above;
    struct session_end to = {.ip = ipv4_of(&above->address)};
    (void)j;
    memcpy(to.mac, above->mac, sizeof to.mac);
    if (above->link && above->known) // else it is asked for, and so is the switch, again
        js_send(job, above, &to, m);
}

static uint64_t js_random(void *owner) {
    return tor_fact(((struct jobs_job *)owner)->tor, TOR_FACT_RANDOM, sk_random_secret());
}

static uint16_t js_number(void *owner) {
    struct jobs *all = tor_jobs(((struct jobs_job *)owner)->tor);
    if (all->last_session == 0)
        all->last_session = (uint16_t)(js_random(owner) % LAST_NUMBER + 1);
    all->last_session = (uint16_t)(all->last_session % LAST_NUMBER + 1);
    return all->last_session;
}

static void js_started(void *owner, struct sessions_job *j) {
    struct jobs_job *job = owner;
    struct tor *t = job->tor;
    struct sk_error err = {.text = ""};
    if (job->resume) { // nobody is in the session that was before the restart any more
        jobs_resume_end(t, job);
        jobs_want(t, job);
        if (jobs_flush(t, &err))
            tor_event(t, "alarm", "{s:s, s:s, s:s}", "alarm", "job", "job", job->name, "why",
                      err.text);
    }
    jobs_state_save(t, tor_jobs(t));
    tor_event(t, "job", "{s:s, s:s, s:i}", "job", job->name, "state", "session", "session",
              (int)j->session);
}

// jobs_tables.c writes those of every job, if the program has any.
static bool js_audiences(void *owner, struct sessions_job *j) {
    (void)j;
    return !jobs_has_levels(((struct jobs_job *)owner)->tor);
}

static const struct sessions_job_ops js_ops = {.open = js_open,
                                               .under_way = js_under_way,
                                               .clear = js_clear,
                                               .answer = js_answer,
                                               .number = js_number,
                                               .random = js_random,
                                               .started = js_started,
                                               .audiences = js_audiences,
                                               .ask_above = js_ask_above};

void jobs_sessions_init(struct tor *t, struct jobs_job *job) {
    const struct gather_config as = {.protocol = SESSION_SWITCHML,
                                     .workers = (uint32_t)job->n_hosts,
                                     .switches = (uint32_t)(job->n_workers - job->n_hosts),
                                     .ranks = job->levels ? job->ranks : NULL,
                                     .total = job->total,
                                     .slots = job->count};
    job->tor = t;
    if (!job->has_sessions)
        return;
    sessions_job_init(&job->sessions, &js_ops, job, job->number,
                      job->protocol == JOBS_ATP ? NULL : &as);
    if (job->has_above)
        sessions_job_below(&job->sessions, job->total);
}

// ---- frames ----

static bool is_here(const struct jobs_host *h, const struct tor_frame *f,
                    const struct ip_packet *p) {
    bool here = false;
    for (size_t i = 0; h->link && i < h->n_ports; i++)
        here |= h->ports[i] == f->port;
    return here && h->vid == f->vid && ip_equal(&h->address, &p->src);
}

// Which of the switches below says it, who need not know that themselves.
static bool jobs_sessions_is_below(const struct jobs_job *job, struct session_message *m,
                                   const struct tor_frame *f, const struct ip_packet *p) {
    for (size_t i = job->n_hosts; i < job->n_workers; i++)
        if (is_here(&job->workers[i], f, p)) {
            m->rank = (uint16_t)(i - job->n_hosts);
            return true;
        }
    return false;
}

// What a host says of itself: whether it may.
static bool may_say(const struct jobs_job *job, struct session_message *m,
                    const struct tor_frame *f, const struct ip_packet *p) {
    if (m->role == SESSION_SERVER)
        return job->protocol == JOBS_ATP && is_here(&job->server, f, p);
    if (m->role == SESSION_SWITCH)
        return jobs_sessions_is_below(job, m, f, p);
    const size_t place = jobs_place_of(job, m->rank);
    return place < job->n_hosts && is_here(&job->workers[place], f, p);
}

static struct jobs_job *jobs_sessions_job_of(const struct jobs *all,
                                             const struct session_message *m) {
    const enum jobs_protocol protocol = m->protocol == SESSION_ATP ? JOBS_ATP : JOBS_SWITCHML;
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i]->protocol == protocol && all->list[i]->number == m->job)
            return all->list[i];
    return NULL;
}

// Somebody of the job who has another rank is told so; nobody else gets an answer.
static void jobs_sessions_refuse(struct jobs_job *job, struct session_message *m,
                                 const struct tor_frame *f, const struct ip_packet *p,
                                 const struct session_end *from) {
    for (size_t i = 0; i < job->n_hosts; i++)
        if (is_here(&job->workers[i], f, p) && m->role == SESSION_WORKER) {
            m->kind = SESSION_REFUSED;
            snprintf(m->text, sizeof m->text,
                     "this address is worker %u's of job '%.60s', not worker %u's",
                     jobs_rank_of(job, i), job->name, m->rank);
            js_answer(job, &job->sessions, from, m);
            return;
        }
}

void jobs_sessions_frame(struct tor *t, const struct tor_frame *f) {
    struct session_message m;
    struct ip_packet p;
    if (f->reason != TOR_REASON_LOCAL || get16(f->bytes + 12) != ETHER_IPV4 ||
        !ip_read(&p, f->bytes + ETH_BYTES, f->length - ETH_BYTES) || p.protocol != PROTOCOL_UDP ||
        p.fragment || p.length < p.upper + UDP)
        return;
    const uint8_t *u = p.bytes + p.upper;
    const uint32_t bytes = get16(u + 4);
    if (get16(u) == 0 || get16(u + 2) != SESSION_PORT || bytes < UDP ||
        bytes > p.length - p.upper ||
        (get16(u + 6) && ip_upper_checksum(&p.src, &p.dst, PROTOCOL_UDP, u, bytes)) ||
        !session_read(&m, u + UDP, bytes - UDP))
        return;
    struct jobs_job *job = jobs_sessions_job_of(tor_jobs(t), &m);
    if (!job || !job->has_sessions || !job->placed)
        return;
    struct session_end from = {.ip = ipv4_of(&p.src), .port = get16(u)};
    memcpy(from.mac, f->bytes + 6, sizeof from.mac);
    if (job->has_above &&
        is_here(&job->above, f, &p)) // it knows this switch's nonce, or is ignored
        sessions_job_hear_above(&job->sessions, &m, t->now);
    else if (may_say(job, &m, f, &p))
        sessions_job_hear(&job->sessions, &from, &m, t->now);
    else
        jobs_sessions_refuse(job, &m, f, &p, &from);
}

// ---- time ----

void jobs_sessions_run(struct tor *t, struct jobs *all) {
    if (all->quiet_until == 0)
        all->quiet_until = t->now + SESSION_QUIET_NS;
    if (t->now < all->quiet_until)
        return;
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i]->has_sessions && all->list[i]->placed)
            sessions_job_run(&all->list[i]->sessions, t->now);
}

void jobs_sessions_lost(struct tor *t, struct jobs *all) {
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i]->has_sessions)
            sessions_job_lost(&all->list[i]->sessions,
                              "the switch's program was replaced, and its state of the job is lost",
                              t->now);
}

// ---- what is remembered ----

static json_t *jobs_sessions_hexadecimal(uint64_t n) {
    char text[20];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)n);
    return json_string(text);
}

static bool read_hexadecimal(const json_t *v, uint64_t *n) {
    const char *text = json_string_value(v);
    char *end;
    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
        return false;
    *n = strtoull(text, &end, 16);
    return true;
}

void jobs_sessions_keep(const struct jobs_job *job, json_t *out) {
    const struct sessions_job *j = &job->sessions;
    if (!job->has_sessions || job->protocol == JOBS_ATP || !sessions_job_runs(j))
        return;
    json_t *nonces = json_array();
    for (unsigned i = 0; i < gather_members(j->gather); i++)
        json_array_append_new(nonces, jobs_sessions_hexadecimal(gather_nonce(j->gather, i)));
    json_object_set_new(out, REMEMBERED,
                        json_pack("{s:i, s:o, s:o}", "number", (int)j->session, "id",
                                  jobs_sessions_hexadecimal(gather_id(j->gather)), "nonces",
                                  nonces));
}

bool jobs_sessions_restore(struct jobs_job *job, const json_t *kept) {
    const json_t *s = json_object_get(kept, REMEMBERED), *nonces = json_object_get(s, "nonces"),
                 *number = json_object_get(s, "number");
    uint64_t id, nonce[JOBS_WORKERS];
    if (!job->has_sessions || job->protocol == JOBS_ATP || !json_is_integer(number) ||
        json_integer_value(number) < 1 || json_integer_value(number) > LAST_NUMBER)
        return false;
    tor_jobs(job->tor)->last_session = (uint16_t)json_integer_value(number);
    // of workers with several lanes nobody is asked how far it got: their session is over
    if (!read_hexadecimal(json_object_get(s, "id"), &id) ||
        json_array_size(nonces) != job->n_workers)
        return false;
    for (size_t i = 0; i < job->n_workers; i++)
        if (!read_hexadecimal(json_array_get(nonces, i), &nonce[i]))
            return false;
    job->session = (uint16_t)json_integer_value(number);
    job->sessions.session = job->session;
    job->sessions.id = id;
    gather_audiences(job->sessions.gather, true);
    gather_resume(job->sessions.gather, job->session, id, 1, nonce);
    return true;
}
