// SPDX-License-Identifier: Apache-2.0
//
// jobs_resume: SwitchML's jobs after the switch was restarted. Its registers are empty, and workers
// are in the middle.
//
// Of a slot's uses, which come one after the other, some workers have the answer to the last and
// some wait for it still; more they cannot be apart. Those who wait will not get it from registers
// that are empty. So nobody is admitted at first. Each worker is asked how often it has used its
// slots (wire/switchml.h: WHERE, HERE); where they differ, one of those who have the answer is
// asked for it (AGAIN, KEPT), and it is passed on to those who have not. When all workers are at
// the same use of every slot, empty registers are what they need, and they are admitted: what they
// send again is added up.
//
// While nobody is admitted, a worker is only moved by what it is sent here, so what is known of it
// stays true. A worker reads questions when it sums, so who computes answers late; there is no
// limit to it. Questions are few: so that they, with their answers, need half of what the control
// plane gets for the switch's own addresses ("control_rate").
//
// Who answers is who would be admitted: by port, VLAN, address and job.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/tor/ip.h"
#include "control/tor/jobs_impl.h"
#include "util.h"
#include "wire/switchml.h"

#define MS      UINT64_C(1000000)
#define TURN_NS (10 * MS)
#define PASS_NS (200 * MS)   // nobody is asked the same more often
#define LATE_NS (30000 * MS) // from when on it is an alarm that somebody has not answered
#define ANEW_NS (1000 * MS)  // after a contradiction

#define UDP         8u
#define QUESTION    ((uint32_t)SWML_OWN_BYTES) // both headers, without elements
#define LEAST_STEP  32u                        // elements of the smallest packet
#define FRAME_LEAST 60u
#define FRAME_MOST  (ETH_BYTES + IPV4_BYTES + UDP + QUESTION + 4 * SWML_MAX_K)

struct jobs_resume {
    uint64_t began, pass_at, fault_at;
    bool told, quiet; // an alarm is on; nothing is to be asked in this pass any more
    uint32_t passes;
    // Where the pass is: workers are asked one after the other, then slots are made equal (worker
    // == n_workers).
    size_t worker;
    uint32_t slot;
    // What is known of each worker: its pool (0: nothing), slots that it tells at a time, uses of
    // 'count' slots.
    uint32_t pool[JOBS_WORKERS], step[JOBS_WORKERS], *uses[JOBS_WORKERS];
    bool *known[JOBS_WORKERS];
    uint64_t unknown; // slots of pools that are known
    char fault[256];  // how workers contradict each other; "": they do not
};

struct jobs_resume *jobs_resume_new(const struct jobs_job *job, uint64_t now) {
    struct jobs_resume *r = xzalloc(sizeof *r);
    r->began = now;
    for (size_t w = 0; w < job->n_workers; w++) {
        r->uses[w] = xcalloc(job->count, sizeof *r->uses[w]);
        r->known[w] = xcalloc(job->count, sizeof *r->known[w]);
        r->step[w] = LEAST_STEP;
    }
    return r;
}

void jobs_resume_free(struct jobs_resume *r) {
    for (size_t w = 0; r && w < JOBS_WORKERS; w++) {
        free(r->uses[w]);
        free(r->known[w]);
    }
    free(r);
}

// ---- what is known ----

static void set_unknown(struct jobs_resume *r, size_t w, uint32_t slot) {
    r->unknown += r->known[w][slot];
    r->known[w][slot] = false;
}

static void set_uses(struct jobs_resume *r, size_t w, uint32_t slot, uint32_t uses) {
    r->unknown -= !r->known[w][slot];
    r->known[w][slot] = true;
    r->uses[w][slot] = uses;
}

static void set_pool(struct jobs_resume *r, size_t w, uint32_t pool) {
    for (uint32_t slot = 0; slot < r->pool[w]; slot++) {
        set_unknown(r, w, slot);
        r->unknown--;
    }
    r->pool[w] = pool;
    r->unknown += pool;
}

static void jobs_resume_forget(const struct jobs_job *job) {
    for (size_t w = 0; w < job->n_workers; w++)
        set_pool(job->resume, w, 0);
}

static bool all_heard(const struct jobs_job *job) {
    for (size_t w = 0; w < job->n_workers; w++)
        if (job->resume->pool[w] == 0)
            return false;
    return job->resume->unknown == 0;
}

// How far the workers are apart in the slot, which all have told: 0 or 1, or more. 'most': who is
// the furthest.
static uint32_t jobs_resume_distance(const struct jobs_job *job, uint32_t slot, size_t *least,
                                     size_t *most) {
    const struct jobs_resume *r = job->resume;
    const uint32_t from = r->uses[0][slot];
    *least = *most = 0;
    for (size_t w = 1; w < job->n_workers; w++) { // uses count modulo 2^32
        const int32_t is = (int32_t)(r->uses[w][slot] - from);
        if (is < (int32_t)(r->uses[*least][slot] - from))
            *least = w;
        if (is > (int32_t)(r->uses[*most][slot] - from))
            *most = w;
    }
    return r->uses[*most][slot] - r->uses[*least][slot];
}

// ---- sending ----

static void jobs_resume_tell(struct tor *t, const struct jobs_job *job, size_t worker,
                             const uint8_t *message, uint32_t length) {
    const struct jobs_host *w = &job->workers[worker];
    uint8_t f[FRAME_MOST] = {0}, *u = f + ETH_BYTES + IPV4_BYTES;
    if (!w->known || !w->link)
        return;
    memcpy(f, w->mac, 6);
    memcpy(f + 6, t->section->mac.bytes, 6);
    put16(f + 12, ETHER_IPV4);
    ip_header(f + ETH_BYTES, &w->to, &w->address, PROTOCOL_UDP, 64, 0, 0, UDP + length);
    put16(u, SWML_RESTART_PORT);
    put16(u + 2, job->udp_port);
    put16(u + 4, (uint16_t)(UDP + length));
    memcpy(u + UDP, message, length);
    const uint32_t bytes = ETH_BYTES + IPV4_BYTES + UDP + length;
    tor_send_port(t, jobs_port_of(w), w->vid, f, bytes < FRAME_LEAST ? FRAME_LEAST : bytes);
}

static void jobs_resume_ask(struct tor *t, const struct jobs_job *job, size_t worker,
                            enum swml_message what, uint16_t index, uint32_t chunk) {
    uint8_t m[QUESTION] = {(uint8_t)(what << 4), (uint8_t)job->number};
    put32(m + 2, chunk);
    put16(m + 6, index);
    jobs_resume_tell(t, job, worker, m, sizeof m);
}

// ---- asking ----

static bool ask_where(struct tor *t, const struct jobs_job *job) {
    struct jobs_resume *r = job->resume;
    for (; r->worker < job->n_workers; r->worker++, r->slot = 0) {
        const size_t w = r->worker;
        if (r->pool[w] == 0) {
            r->worker++;
            jobs_resume_ask(t, job, w, SWML_WHERE, 0, 0);
            return true;
        }
        while (r->slot < r->pool[w] && r->known[w][r->slot])
            r->slot++;
        if (r->slot < r->pool[w]) {
            jobs_resume_ask(t, job, w, SWML_WHERE, (uint16_t)r->slot, 0);
            r->slot += r->step[w];
            return true;
        }
    }
    return false;
}

// One of those who have the answer, in turn.
static size_t who_has(const struct jobs_job *job, uint32_t slot, size_t most) {
    const struct jobs_resume *r = job->resume;
    for (size_t i = 0; i < job->n_workers; i++) {
        const size_t w = (r->passes + i) % job->n_workers;
        if (r->uses[w][slot] == r->uses[most][slot])
            return w;
    }
    return most;
}

static bool jobs_resume_ask_again(struct tor *t, const struct jobs_job *job) {
    struct jobs_resume *r = job->resume;
    size_t least, most;
    if (!all_heard(job) || r->fault[0])
        return false;
    for (; r->slot < r->pool[0]; r->slot++) {
        if (jobs_resume_distance(job, r->slot, &least, &most) == 0)
            continue;
        const size_t w = who_has(job, r->slot, most);
        const uint32_t use = r->uses[w][r->slot] - 1;
        jobs_resume_ask(t, job, w, SWML_AGAIN, (uint16_t)(r->slot | (use & 1) << 15),
                        swml_chunk_number((uint8_t)job->session, use));
        r->slot++;
        return true;
    }
    return false;
}

// One question. False: there is none, before the next pass.
static bool ask_next(struct tor *t, struct jobs_job *job) {
    struct jobs_resume *r = job->resume;
    if (r->quiet) {
        if (t->now < r->pass_at + PASS_NS)
            return false;
        r->pass_at = t->now;
        r->passes++;
        r->worker = 0;
        r->slot = 0;
        r->quiet = false;
    }
    r->quiet = !ask_where(t, job) && !jobs_resume_ask_again(t, job);
    return !r->quiet;
}

// ---- what follows from what is known ----

// It is on until the job is admitted or removed.
static void set_alarm(struct tor *t, const struct jobs_job *job, const char *why) {
    job->resume->told = true;
    tor_event(t, "alarm", "{s:s, s:s, s:b, s:s}", "alarm", "resuming job", "job", job->name, "on",
              1, "why", why);
}

void jobs_resume_end(struct tor *t, struct jobs_job *job) {
    if (job->resume && job->resume->told)
        tor_event(t, "alarm", "{s:s, s:s, s:b}", "alarm", "resuming job", "job", job->name, "on",
                  0);
    jobs_resume_free(job->resume);
    job->resume = NULL;
}

static void contradiction(struct tor *t, const struct jobs_job *job, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void contradiction(struct tor *t, const struct jobs_job *job, const char *format, ...) {
    struct jobs_resume *r = job->resume;
    char text[sizeof r->fault];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->fault_at = t->now;
    if (strcmp(text, r->fault) == 0)
        return;
    strcpy(r->fault, text);
    set_alarm(t, job, text);
}

static void jobs_resume_admit(struct tor *t, struct jobs_job *job) {
    const uint64_t took = t->now - job->resume->began;
    struct sk_error err = {.text = ""};
    jobs_resume_end(t, job);
    jobs_want(t, job);
    if (jobs_flush(t, &err))
        tor_event(t, "alarm", "{s:s, s:s, s:s}", "alarm", "job", "job", job->name, "why", err.text);
    tor_event(t, "job", "{s:s, s:s, s:I}", "job", job->name, "state", "resumed", "milliseconds",
              (json_int_t)(took / MS));
}

static void jobs_resume_look(struct tor *t, struct jobs_job *job) {
    struct jobs_resume *r = job->resume;
    bool equal = true;
    size_t least, most;
    if (!all_heard(job))
        return;
    for (size_t w = 1; w < job->n_workers; w++)
        if (r->pool[w] != r->pool[0]) {
            contradiction(t, job, "worker %zu uses %u slots, worker 0 uses %u", w, r->pool[w],
                          r->pool[0]);
            return;
        }
    for (uint32_t slot = 0; slot < r->pool[0]; slot++) {
        const uint32_t by = jobs_resume_distance(job, slot, &least, &most);
        if (by > 1) {
            contradiction(t, job,
                          "worker %zu has used slot %u %u times, worker %zu %u times: they do not "
                          "belong to one run; restart all of them",
                          most, slot, r->uses[most][slot], least, r->uses[least][slot]);
            return;
        }
        equal &= by == 0;
    }
    r->fault[0] = '\0';
    if (equal)
        jobs_resume_admit(t, job);
}

// ---- what workers say ----

static void hear_where(struct tor *t, struct jobs_job *job, size_t w, const uint8_t *m,
                       uint32_t k) {
    struct jobs_resume *r = job->resume;
    const uint32_t pool = get32(m + 2), first = get16(m + 6);
    if (pool == 0 || pool > job->count) {
        contradiction(t, job, "worker %zu uses %u slots, the job has %u", w, pool, job->count);
        return;
    }
    if (r->pool[w] != pool)
        set_pool(r, w, pool);
    r->step[w] = k;
    for (uint32_t i = 0; i < k && first + i < pool; i++)
        set_uses(r, w, first + i, get32(m + QUESTION + 4 * i));
    jobs_resume_look(t, job);
}

static void hear_kept(struct tor *t, const struct jobs_job *job, size_t from, const uint8_t *m,
                      uint32_t length) {
    struct jobs_resume *r = job->resume;
    const uint32_t slot = get16(m + 6) & 0x7fff;
    for (size_t w = 0; w < job->n_workers;
         w++) // and all of the same pool, or jobs_resume_look() says so
        if (slot >= r->pool[w] || !r->known[w][slot] || r->pool[w] != r->pool[from])
            return;
    const uint32_t use = r->uses[from][slot] - 1;
    if (get32(m + 2) != swml_chunk_number((uint8_t)job->session, use) ||
        (get16(m + 6) >> 15) != (use & 1))
        return;
    for (size_t w = 0; w < job->n_workers; w++)
        if (r->uses[w][slot] == use) {
            jobs_resume_tell(t, job, w, m, length);
            set_unknown(r, w, slot); // it will say whether it has come
        }
}

static struct jobs_job *jobs_resume_job_of(struct tor *t, unsigned number) {
    const struct jobs *all = tor_jobs(t);
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i]->protocol == JOBS_SWITCHML && all->list[i]->number == number)
            return all->list[i];
    return NULL;
}

static size_t jobs_resume_worker_of(const struct jobs_job *job, const struct tor_frame *f,
                                    const struct ip_packet *p, unsigned udp_port) {
    for (size_t w = 0; w < job->n_workers; w++) {
        const struct jobs_host *h = &job->workers[w];
        bool here = false;
        for (size_t i = 0; h->link && i < h->n_ports; i++)
            here |= h->ports[i] == f->port;
        if (here && h->vid == f->vid && ip_equal(&h->address, &p->src) &&
            ip_equal(&h->to, &p->dst) && udp_port == job->udp_port)
            return w;
    }
    return SIZE_MAX;
}

static bool is_said_of_restarts(const struct ip_packet *p) {
    return !p->v6 && p->protocol == PROTOCOL_UDP && !p->fragment && p->length >= p->upper + UDP &&
           get16(p->bytes + p->upper + 2) == SWML_RESTART_PORT;
}

bool tor_jobs_hear(struct tor *t, const struct ip_packet *p) {
    return tor_jobs(t)->n > 0 && is_said_of_restarts(p);
}

void jobs_resume_frame(struct tor *t, const struct tor_frame *f) {
    struct ip_packet p;
    if (f->reason != TOR_REASON_LOCAL || get16(f->bytes + 12) != ETHER_IPV4 ||
        !ip_read(&p, f->bytes + ETH_BYTES, f->length - ETH_BYTES) || !is_said_of_restarts(&p))
        return;
    const uint8_t *u = p.bytes + p.upper, *m = u + UDP;
    const uint32_t bytes = get16(u + 4);
    if (bytes < UDP + QUESTION || bytes > p.length - p.upper ||
        (get16(u + 6) && ip_upper_checksum(&p.src, &p.dst, PROTOCOL_UDP, u, bytes)))
        return;
    const uint32_t k = 32u << (m[0] & 7);
    struct jobs_job *job = jobs_resume_job_of(t, m[1]);
    if (!job || !job->resume || !job->placed || k > SWML_MAX_K || bytes != UDP + QUESTION + 4 * k)
        return;
    const size_t w = jobs_resume_worker_of(job, f, &p, get16(u));
    if (w == SIZE_MAX)
        return;
    if (m[0] >> 4 == SWML_HERE)
        hear_where(t, job, w, m, k);
    else if (m[0] >> 4 == SWML_KEPT)
        hear_kept(t, job, w, m, bytes - UDP);
}

// ---- time ----

static void tell_if_late(struct tor *t, const struct jobs_job *job) {
    struct jobs_resume *r = job->resume;
    char text[256];
    if (r->told || t->now < r->began + LATE_NS)
        return;
    jobs_resume_text(job, text, sizeof text);
    set_alarm(t, job, text);
}

void jobs_resume_run(struct tor *t, struct jobs *all) {
    if (t->now < all->resume_at)
        return;
    all->resume_at = t->now + TURN_NS;
    uint32_t questions = t->section->control_rate / 200;
    questions += questions == 0;
    for (size_t i = 0; i < all->n; i++) {
        struct jobs_job *job = all->list[(all->resume_turn + i) % all->n];
        if (!job->resume || !job->placed)
            continue;
        if (job->resume->fault[0] && t->now >= job->resume->fault_at + ANEW_NS) {
            job->resume->fault_at = t->now;
            jobs_resume_forget(job);
        }
        while (questions > 0 && ask_next(t, job))
            questions--;
        tell_if_late(t, job);
    }
    all->resume_turn++;
}

void jobs_resume_text(const struct jobs_job *job, char *out, size_t size) {
    const struct jobs_resume *r = job->resume;
    size_t n = 0, silent = 0;
    if (r->fault[0]) {
        snprintf(out, size, "%s", r->fault);
        return;
    }
    n = (size_t)snprintf(
        out, size, "the switch was restarted, and waits for workers to report their progress:");
    for (size_t w = 0; w < job->n_workers && n < size; w++)
        if (r->pool[w] == 0) {
            n += (size_t)snprintf(out + n, size - n, "%s %zu", silent++ ? "," : "", w);
        }
    if (silent == 0)
        snprintf(out, size, "the switch was restarted, and sends workers the sums that they miss");
}
