// SPDX-License-Identifier: Apache-2.0
#include "hosts/dlcp/group.h"

#include <stdlib.h>
#include <string.h>

#include "hosts/core/quantise.h"
#include "hosts/dlcp/sums.h"
#include "silken/error.h"

#define SEGMENT      DLCP_ELEMENTS
#define TENSORS_MOST 65536u // of 16 bits
#define COUNT_MOST   (UINT32_C(1) << 31)

struct group_call;
struct group_part;

// What a flow is for: its cookie.
enum group_aim { GROUP_PUSH_SENT, GROUP_PUSH_CAME, GROUP_PULL_SENT, GROUP_PULL_CAME, GROUP_RING };
struct group_leg {
    enum group_aim aim;
    struct group_part *part; // of servers
    struct group_call *call; // of a ring
    unsigned step;           // of a ring
    bool came;               // of a ring: it was received, not sent
};

// A part of a tensor at one server: at the server's host its sums, at another what comes back.
struct group_part {
    struct group_part *next, **at; // in the group's list
    struct group_call *call;       // null: it has ended, and others still get the sums
    struct dlcp_name name;
    uint32_t owner; // the server's rank
    uint8_t class;
    uint32_t elements;
    const float *in;
    float *out;
    struct dlcp_sums sums; // owned; at the server's host
    unsigned left;         // flows that have not ended
    unsigned pushes;       // of them, those that bring gradients
    struct group_leg *leg; // owned
};

struct group_call {
    struct group_call *next;
    struct dlcp_group *group;
    const float *in;
    float *out;
    size_t count;
    void *cookie;
    struct dlcp_name name;
    uint8_t class;
    unsigned left; // parts, or flows of a ring, that have not ended
    // of a ring
    float *room;             // owned: the sums
    uint16_t *contributions; // owned: by part, and in it by segment
    struct dlcp_sums *sums;  // owned: by part
    struct group_leg *leg;   // owned: by step, received and sent ones in turn
    bool *came;              // owned: by step
    unsigned next_step;      // that is to be sent
};

struct dlcp_group {
    struct dlcp_group_config config;
    struct sk_endpoint *end; // owned
    struct dlcp_station *station;
    struct group_part *parts;
    struct group_call *running, *done_first, **done_last;
    uint64_t submitted;
    bool failed;
    struct dlcp_group_stats stats;
};

// ---- made and freed ----

static const char *group_refuse(const struct dlcp_group_config *c) {
    if (c->workers < 1 || c->workers > DLCP_WORKERS_MOST || c->rank >= c->workers)
        return "the workers are not 1 to 256, or the rank is not one of theirs";
    if (c->servers > c->workers)
        return "servers are on workers' hosts: there are more of them than workers";
    if (c->bound >= DLCP_ALL || c->pull_bound >= DLCP_ALL)
        return "a bound is not in [0, 1)";
    if (c->tensors < 1 || (uint64_t)c->tensors * (c->servers ? 1 : 2 * c->workers) > TENSORS_MOST)
        return "tensors is 0, or there are too many for their numbers, with all steps of a ring";
    return NULL;
}

int dlcp_group_new(struct dlcp_group **g, const struct dlcp_group_config *config,
                   const char **why) {
    const char *refused = group_refuse(config);
    if (why)
        *why = refused;
    if (refused)
        return SILKEN_ERR_INVALID;
    struct dlcp_group *new = calloc(1, sizeof *new);
    if (!new)
        return SILKEN_ERR_NOMEM;
    new->config = *config;
    new->done_last = &new->done_first;
    new->end = malloc(config->workers * sizeof *new->end);
    int rc = new->end ? dlcp_station_new(&new->station, &config->station, why) : SILKEN_ERR_NOMEM;
    if (rc) {
        dlcp_group_free(new);
        return rc;
    }
    memcpy(new->end, config->end, config->workers * sizeof *new->end);
    *g = new;
    return 0;
}

static void group_free_call(struct group_call *c) {
    free(c->room);
    free(c->contributions);
    free(c->sums);
    free(c->leg);
    free(c->came);
    free(c);
}

static void group_free_calls(struct group_call *c) {
    while (c) {
        struct group_call *next = c->next;
        group_free_call(c);
        c = next;
    }
}

static void group_free_part(struct group_part *p) {
    *p->at = p->next;
    if (p->next)
        p->next->at = p->at;
    free(p->sums.sum);
    free(p->sums.contributions);
    free(p->leg);
    free(p);
}

void dlcp_group_free(struct dlcp_group *g) {
    if (!g)
        return;
    dlcp_station_free(g->station);
    while (g->parts)
        group_free_part(g->parts);
    group_free_calls(g->running);
    group_free_calls(g->done_first);
    free(g->end);
    free(g);
}

// ---- calls ----

static void group_end_call(struct dlcp_group *g, struct group_call *c) {
    struct group_call **at = &g->running;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    c->next = NULL;
    *g->done_last = c;
    g->done_last = &c->next;
    g->stats.tensors++;
    g->stats.elements += c->count;
}

static void group_less_left(struct group_call *c) {
    if (--c->left == 0)
        group_end_call(c->group, c);
}

bool dlcp_group_done(struct dlcp_group *g, void **cookie) {
    struct group_call *c = g->done_first;
    if (!c)
        return false;
    if (!(g->done_first = c->next))
        g->done_last = &g->done_first;
    *cookie = c->cookie;
    group_free_call(c);
    return true;
}

// What takes the place of sums that are missing: the own gradients, times the number of workers.
static void group_own_instead(float *out, const float *in, size_t n, uint32_t workers) {
    for (size_t i = 0; i < n; i++)
        out[i] = in[i] * (float)workers;
}

// ---- flows ----

static int group_send(struct dlcp_group *g, uint32_t to, const struct dlcp_sender_config *c,
                      struct group_leg *leg, uint64_t now) {
    struct dlcp_flow *f;
    return dlcp_station_send(g->station, &g->end[to], c, leg, now, &f, NULL);
}

static int group_recv(struct dlcp_group *g, uint32_t from, const struct dlcp_receiver_config *c,
                      struct group_leg *leg, uint64_t now) {
    struct dlcp_flow *f;
    return dlcp_station_recv(g->station, &g->end[from], c, leg, now, &f, NULL);
}

static struct dlcp_sender_config group_sender(const struct dlcp_group *g, struct dlcp_name name,
                                              bool pull, uint8_t class, const float *values,
                                              uint32_t elements) {
    name.pull = pull;
    return (struct dlcp_sender_config){.name = name,
                                       .values = values,
                                       .elements = elements,
                                       .segment = SEGMENT,
                                       .bound = pull ? g->config.pull_bound : g->config.bound,
                                       .class = class,
                                       .contributions = 1,
                                       .threshold = g->config.threshold};
}

static struct dlcp_receiver_config group_receiver(const struct dlcp_group *g, struct dlcp_name name,
                                                  bool pull, uint32_t elements) {
    name.pull = pull;
    return (struct dlcp_receiver_config){.name = name,
                                         .elements = elements,
                                         .segment = SEGMENT,
                                         .bound = pull ? g->config.pull_bound : g->config.bound};
}

// ---- servers ----

// A part's flow has ended.
static void group_less_of_part(struct group_part *p) {
    if (--p->left == 0)
        group_free_part(p);
}

// All pushes are here: everybody gets the sums.
static int group_make_sums(struct dlcp_group *g, struct group_part *p, uint64_t now) {
    const uint32_t workers = g->config.workers;
    dlcp_sums_scale(&p->sums, p->elements, workers);
    memcpy(p->out, p->sums.sum, p->elements * sizeof *p->out);
    struct dlcp_sender_config c =
        group_sender(g, p->name, true, p->class, p->sums.sum, p->elements);
    c.segment_contributions = p->sums.contributions;
    int rc = 0;
    for (uint32_t w = 0; w < workers && rc == 0; w++) {
        struct group_leg *leg = &p->leg[workers + w];
        *leg = (struct group_leg){.aim = GROUP_PULL_SENT, .part = p};
        if (w == p->owner)
            continue;
        rc = group_send(g, w, &c, leg, now);
        p->left += rc == 0;
    }
    group_less_left(p->call);
    p->call = NULL;
    group_less_of_part(p); // the work of this function
    return rc;
}

// The part is this host's to sum.
static int group_serve(struct dlcp_group *g, struct group_part *p, uint64_t now) {
    const uint32_t workers = g->config.workers, segments = dlcp_segments(p->elements, SEGMENT);
    p->leg = calloc((size_t)2 * workers, sizeof *p->leg);
    p->sums = (struct dlcp_sums){.sum = malloc(p->elements * sizeof(float)),
                                 .contributions = malloc(segments * sizeof(uint16_t)),
                                 .segment = SEGMENT};
    if (!p->leg || !p->sums.sum || !p->sums.contributions)
        return SILKEN_ERR_NOMEM;
    memcpy(p->sums.sum, p->in, p->elements * sizeof(float));
    for (uint32_t i = 0; i < segments; i++)
        p->sums.contributions[i] = 1;
    struct dlcp_receiver_config c = group_receiver(g, p->name, false, p->elements);
    c.place = dlcp_sums_place;
    c.place_aux = &p->sums;
    p->left = 1; // to make the sums
    for (uint32_t w = 0; w < workers; w++) {
        p->leg[w] = (struct group_leg){.aim = GROUP_PUSH_CAME, .part = p};
        if (w == p->owner)
            continue;
        int rc = group_recv(g, w, &c, &p->leg[w], now);
        if (rc)
            return rc;
        p->pushes++;
        p->left++;
    }
    return p->pushes ? 0 : group_make_sums(g, p, now);
}

// Another host sums it.
static int group_push(struct dlcp_group *g, struct group_part *p, uint64_t now) {
    const struct dlcp_sender_config s =
        group_sender(g, p->name, false, p->class, p->in, p->elements);
    struct dlcp_receiver_config r = group_receiver(g, p->name, true, p->elements);
    r.out = p->out;
    p->leg = calloc(2, sizeof *p->leg);
    if (!p->leg)
        return SILKEN_ERR_NOMEM;
    p->leg[0] = (struct group_leg){.aim = GROUP_PUSH_SENT, .part = p};
    p->leg[1] = (struct group_leg){.aim = GROUP_PULL_CAME, .part = p};
    p->left = 2;
    int rc = group_recv(g, p->owner, &r, &p->leg[1], now);
    return rc ? rc : group_send(g, p->owner, &s, &p->leg[0], now);
}

static int group_add_part(struct dlcp_group *g, struct group_call *c, uint32_t owner, size_t first,
                          size_t count, uint64_t now) {
    struct group_part *p = calloc(1, sizeof *p);
    if (!p)
        return SILKEN_ERR_NOMEM;
    *p = (struct group_part){.next = g->parts,
                             .at = &g->parts,
                             .call = c,
                             .name = c->name,
                             .owner = owner,
                             .class = c->class,
                             .elements = (uint32_t)count,
                             .in = c->in + first,
                             .out = c->out + first};
    if (p->next)
        p->next->at = &p->next;
    g->parts = p;
    return owner == g->config.rank ? group_serve(g, p, now) : group_push(g, p, now);
}

// One that all choose alike, and no other tensor of the iteration need have.
static uint32_t group_one_server(const struct dlcp_group *g, uint64_t number) {
    uint64_t z = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ z >> 31) % g->config.servers);
}

static size_t group_cut(size_t whole, uint32_t parts, uint32_t i) {
    return whole / parts * i + whole % parts * i / parts;
}

static int group_begin_servers(struct dlcp_group *g, struct group_call *c, uint64_t number,
                               uint64_t now) {
    const uint32_t servers = g->config.servers;
    const bool whole = c->count * sizeof(float) <= g->config.cut || c->count < servers;
    int rc = 0;
    c->left = whole ? 1 : servers;
    if (whole)
        return group_add_part(g, c, group_one_server(g, number), 0, c->count, now);
    for (uint32_t s = 0; s < servers && rc == 0; s++) {
        const size_t first = group_cut(c->count, servers, s);
        rc = group_add_part(g, c, s, first, group_cut(c->count, servers, s + 1) - first, now);
    }
    return rc;
}

// A push has come: what is missing is missing in the sums.
static int group_push_came(struct dlcp_group *g, struct group_part *p, const struct dlcp_flow *f,
                           uint64_t now) {
    g->stats.missing_push += p->elements - dlcp_receiver_elements(dlcp_flow_receiver(f));
    p->left--;
    return --p->pushes ? 0 : group_make_sums(g, p, now);
}

static void group_pull_came(struct dlcp_group *g, struct group_part *p, const struct dlcp_flow *f) {
    const struct dlcp_receiver *r = dlcp_flow_receiver(f);
    g->stats.missing_pull += p->elements - dlcp_receiver_elements(r);
    for (uint32_t i = 0; i < dlcp_segments(p->elements, SEGMENT); i++)
        if (!dlcp_receiver_has(r, i))
            group_own_instead(p->out + (size_t)i * SEGMENT, p->in + (size_t)i * SEGMENT,
                              dlcp_segment_count(p->elements, SEGMENT, i), g->config.workers);
}

// Its worker waits for both of its flows.
static void group_less_of_pushed(struct group_part *p) {
    if (p->left == 1)
        group_less_left(p->call);
    group_less_of_part(p);
}

// ---- a ring ----

static uint32_t group_steps(const struct dlcp_group *g) {
    return 2 * (g->config.workers - 1);
}

// The part that is received in a step; the one that is sent was received in the step before.
static uint32_t group_ring_part(const struct dlcp_group *g, unsigned step) {
    const uint32_t n = g->config.workers;
    return (g->config.rank + 2 * n - step - 1) % n;
}

static uint32_t group_ring_count(const struct group_call *c, uint32_t part) {
    const uint32_t n = c->group->config.workers;
    return (uint32_t)(group_cut(c->count, n, part + 1) - group_cut(c->count, n, part));
}

static struct dlcp_name group_ring_name(const struct group_call *c, unsigned step) {
    struct dlcp_name name = c->name;
    name.tensor = (uint16_t)(name.tensor * 2 * c->group->config.workers + step);
    return name;
}

// The second way: a sum takes the place of what is there.
static void group_ring_place(void *aux, uint32_t offset, const uint8_t *wire, uint32_t count,
                             uint16_t contributions) {
    struct dlcp_sums *s = aux;
    sk_quantise_best()->wire_to_i32((int32_t *)s->sum + offset, wire, count);
    s->contributions[offset / s->segment] = contributions;
}

static int group_ring_recv(struct dlcp_group *g, struct group_call *c, unsigned step,
                           uint64_t now) {
    const uint32_t n = g->config.workers, part = group_ring_part(g, step);
    const bool pull = step >= n - 1;
    struct group_leg *leg = &c->leg[2 * step];
    struct dlcp_receiver_config r =
        group_receiver(g, group_ring_name(c, step), pull, group_ring_count(c, part));
    r.place = pull ? group_ring_place : dlcp_sums_place;
    r.place_aux = &c->sums[part];
    *leg = (struct group_leg){.aim = GROUP_RING, .call = c, .step = step, .came = true};
    c->came[step] = r.elements == 0;
    c->left += r.elements > 0;
    return r.elements ? group_recv(g, (g->config.rank + n - 1) % n, &r, leg, now) : 0;
}

static int group_ring_send(struct dlcp_group *g, struct group_call *c, unsigned step,
                           uint64_t now) {
    const uint32_t n = g->config.workers, part = (group_ring_part(g, step) + 1) % n;
    struct group_leg *leg = &c->leg[2 * step + 1];
    struct dlcp_sender_config s = group_sender(g, group_ring_name(c, step), step >= n - 1, c->class,
                                               c->sums[part].sum, group_ring_count(c, part));
    s.segment_contributions = c->sums[part].contributions;
    *leg = (struct group_leg){.aim = GROUP_RING, .call = c, .step = step};
    c->left += s.elements > 0;
    return s.elements ? group_send(g, (g->config.rank + 1) % n, &s, leg, now) : 0;
}

// Sends what has been received, until a step is missing. The call ends with its last flow.
static int group_ring_go_on(struct dlcp_group *g, struct group_call *c, uint64_t now) {
    const unsigned steps = group_steps(g);
    int rc = 0;
    while (rc == 0 && c->next_step < steps && (c->next_step == 0 || c->came[c->next_step - 1]))
        rc = group_ring_send(g, c, c->next_step++, now);
    if (rc == 0 && c->left == 1 && c->next_step == steps && c->came[steps - 1]) {
        memcpy(c->out, c->room, c->count * sizeof *c->out);
        group_less_left(c);
    }
    return rc;
}

static bool group_ring_allocate(struct group_call *c) {
    const uint32_t n = c->group->config.workers, steps = group_steps(c->group);
    const size_t segments = c->count / SEGMENT + 2 * (size_t)n;
    c->room = malloc(c->count * sizeof *c->room);
    c->contributions = malloc(segments * sizeof *c->contributions);
    c->sums = calloc(n, sizeof *c->sums);
    c->leg = calloc((size_t)2 * steps, sizeof *c->leg);
    c->came = calloc(steps, sizeof *c->came);
    if (!c->room || !c->contributions || !c->sums || !c->leg || !c->came)
        return false;
    memcpy(c->room, c->in, c->count * sizeof *c->room);
    for (size_t i = 0; i < segments; i++)
        c->contributions[i] = 1;
    uint16_t *contributions = c->contributions;
    for (uint32_t part = 0; part < n; part++) {
        c->sums[part] =
            (struct dlcp_sums){c->room + group_cut(c->count, n, part), contributions, SEGMENT};
        contributions += dlcp_segments(group_ring_count(c, part), SEGMENT);
    }
    return true;
}

static int group_begin_ring(struct dlcp_group *g, struct group_call *c, uint64_t now) {
    int rc = group_ring_allocate(c) ? 0 : SILKEN_ERR_NOMEM;
    c->left = 1; // until the sums are copied
    for (unsigned step = 0; step < group_steps(g) && rc == 0; step++)
        rc = group_ring_recv(g, c, step, now);
    return rc ? rc : group_ring_go_on(g, c, now);
}

// A part has come: on the first way complete after the last step, on the second one to be passed
// on.
static void group_ring_came(struct dlcp_group *g, struct group_call *c, unsigned step,
                            const struct dlcp_flow *f) {
    const uint32_t n = g->config.workers, part = group_ring_part(g, step);
    const uint32_t elements = group_ring_count(c, part);
    const struct dlcp_receiver *r = dlcp_flow_receiver(f);
    struct dlcp_sums *s = &c->sums[part];
    const uint32_t missing = elements - dlcp_receiver_elements(r);
    *(step < n - 1 ? &g->stats.missing_push : &g->stats.missing_pull) += missing;
    c->came[step] = true;
    if (step == n - 2)
        dlcp_sums_scale(s, elements, n);
    if (step < n - 1 || missing == 0)
        return;
    const float *in = c->in + group_cut(c->count, n, part);
    for (uint32_t i = 0; i < dlcp_segments(elements, SEGMENT); i++)
        if (!dlcp_receiver_has(r, i)) {
            group_own_instead(s->sum + (size_t)i * SEGMENT, in + (size_t)i * SEGMENT,
                              dlcp_segment_count(elements, SEGMENT, i), n);
            s->contributions[i] = 1;
        }
}

// ---- all together ----

int dlcp_group_submit(struct dlcp_group *g, const float *in, float *out, size_t count, void *cookie,
                      uint64_t now) {
    const struct dlcp_group_config *f = &g->config;
    if (count > COUNT_MOST)
        return SILKEN_ERR_INVALID;
    struct group_call *c = calloc(1, sizeof *c);
    if (!c)
        return SILKEN_ERR_NOMEM;
    const uint64_t number = g->submitted++;
    const uint32_t tensor = (uint32_t)(number % f->tensors);
    *c = (struct group_call){
        .next = g->running, .group = g, .in = in, .out = out, .count = count, .cookie = cookie};
    c->name = (struct dlcp_name){
        .job = f->job, .tensor = (uint16_t)tensor, .iteration = (uint32_t)(number / f->tensors)};
    c->class = dlcp_class(f->backwards ? f->tensors - 1 - tensor : tensor, f->tensors);
    g->running = c;
    if (count == 0 || f->workers == 1) {
        if (count)
            memmove(out, in, count * sizeof *out);
        c->left = 1;
        group_less_left(c);
        return 0;
    }
    int rc = f->servers ? group_begin_servers(g, c, number, now) : group_begin_ring(g, c, now);
    g->failed |= rc != 0;
    return rc;
}

// Returns 0, or why the group cannot go on.
static int group_flow_ended(struct dlcp_group *g, struct dlcp_flow *f, uint64_t now) {
    struct group_leg *leg = dlcp_flow_cookie(f);
    struct group_call *c = leg->call;
    switch (leg->aim) {
    case GROUP_PUSH_CAME:
        return group_push_came(g, leg->part, f, now);
    case GROUP_PULL_CAME:
        group_pull_came(g, leg->part, f);
        group_less_of_pushed(leg->part);
        return 0;
    case GROUP_PUSH_SENT:
        group_less_of_pushed(leg->part);
        return 0;
    case GROUP_PULL_SENT:
        group_less_of_part(leg->part);
        return 0;
    case GROUP_RING:
        if (leg->came)
            group_ring_came(g, c, leg->step, f);
        c->left--;
        return group_ring_go_on(g, c, now);
    }
    return SILKEN_ERR_INVALID;
}

static void group_end_flows(struct dlcp_group *g, uint64_t now) {
    struct dlcp_flow *f;
    while (!g->failed && (f = dlcp_station_done(g->station))) {
        g->failed = dlcp_flow_failed(f) || group_flow_ended(g, f, now) != 0;
        dlcp_station_give_back(g->station, f);
    }
}

size_t dlcp_group_write(struct dlcp_group *g, uint8_t *frame, size_t cap, uint64_t now) {
    const size_t length = dlcp_station_write(g->station, frame, cap, now);
    group_end_flows(g, now);
    return length;
}

enum dlcp_reason dlcp_group_read(struct dlcp_group *g, const uint8_t *frame, size_t len,
                                 uint64_t now) {
    const enum dlcp_reason reason = dlcp_station_read(g->station, frame, len, now);
    group_end_flows(g, now);
    return reason;
}

uint64_t dlcp_group_deadline(const struct dlcp_group *g) {
    return dlcp_station_deadline(g->station);
}

bool dlcp_group_queued(const struct dlcp_group *g) {
    return dlcp_station_busy(g->station);
}

bool dlcp_group_busy(const struct dlcp_group *g) {
    return g->running != NULL;
}

bool dlcp_group_failed(const struct dlcp_group *g) {
    return g->failed;
}

struct dlcp_group_stats dlcp_group_stats(const struct dlcp_group *g) {
    struct dlcp_group_stats all = g->stats;
    all.station = dlcp_station_stats(g->station);
    return all;
}
