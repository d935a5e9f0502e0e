// SPDX-License-Identifier: Apache-2.0
#include "harness/hosts/atp/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/core/float_bits.h"
#include "harness/net/program.h"

#define MAX_FLOWS   2
#define MAX_WORKERS 6
#define MAX_TENSORS 3
#define CANARY      0x5eed5eedu
#define MAX_EVENTS  3000000

struct tensor {
    size_t count;
    uint32_t *in[MAX_WORKERS];
    uint32_t *room[MAX_WORKERS]; // where the sum goes: count words and a canary
};

// One flow of a job: a server and the workers' parts of it.
struct flow {
    struct scenario *scenario;
    struct atp_flow addresses; // the worker's are each worker's own
    enum atp_type type;
    unsigned workers, tensors;
    uint32_t rack_of[MAX_WORKERS];
    struct atp_worker *worker[MAX_WORKERS];
    unsigned host[MAX_WORKERS];
    struct atp_server *server;
    unsigned server_host;
    struct tensor tensor[MAX_TENSORS];
    uint64_t first_fragment;
    // the worker that dies, and where its successor is
    unsigned victim, spare_host, spare_rack;
    uint64_t known_from; // the first fragment of which the victim's successor knows
    struct atp_worker *dead;
};

struct scenario {
    const struct scenario_limits *limits;
    struct sk_random random;
    struct net_options options;
    struct net *net;
    struct flow flow[MAX_FLOWS];
    unsigned flows;
    uint32_t first_index, indices, window_max;
    bool linear, rehash, dynamic, respawns;
    char *fault;
};

static uint64_t below(struct scenario *s, uint64_t bound) {
    return sk_random_below(&s->random, bound);
}

// ---- making it -------------------------------------------------------------------------------

static double often_zero(struct scenario *s, double worst) {
    return below(s, 3) == 0 ? 0 : worst * (double)below(s, 1000) / 1000;
}

static struct net_link any_link(struct scenario *s) {
    bool in_order = s->limits->in_order;

    return (struct net_link){
        .loss = often_zero(s, 0.15),
        .duplicate = in_order ? 0 : often_zero(s, 0.1),
        .reorder = in_order ? 0 : often_zero(s, 0.3),
        .delay = 1000 + below(s, 5000),
        .jitter = 1 + below(s, 60000),
    };
}

static void choose_shared(struct scenario *s, uint64_t seed) {
    s->options.seed = seed;
    s->options.racks = 1 + (unsigned)below(s, s->limits->max_racks);
    if (s->limits->max_racks > 1 && s->options.racks == 1)
        s->options.racks = 2;
    s->options.up = any_link(s);
    s->options.down = any_link(s);
    s->options.spread = below(s, 2);
    s->indices = 1 + (uint32_t)below(s, below(s, 3) ? 64 : 6);
    s->first_index = (uint32_t)(below(s, 4) << 14 | below(s, 1000));
    if (below(s, 3) == 0) // in two pipes
        s->first_index = 16384 - s->indices / 2;
    s->window_max = 1 + (uint32_t)below(s, 32);
    s->linear = below(s, 3) == 0;
    s->rehash = below(s, 3) != 0;
    s->dynamic = below(s, 3) == 0;
    s->respawns = s->limits->respawn;
}

// Values whose magnitudes are above the tolerance by far. With `overflows`, some fragments have
// values up to 100, which times 1e8 are beyond 32 bits, or up to 10, of which three can be too
// many, until one with another sign comes: two values of the fragment alone, so that each has to be
// seen.
static void fill(struct scenario *s, enum atp_type type, uint32_t *out, size_t count) {
    bool large = s->limits->overflows && below(s, 2);
    float most = below(s, 2) ? 1e-3f : 1e-4f;

    for (size_t i = 0; i < count; i++) {
        int32_t v = (int32_t)(1000 + below(s, 100000)) * (below(s, 2) ? 1 : -1);
        float scale = large && (i / ATP_VALUES) % 3 == 0 && i % ATP_VALUES < 2 ? most : 1e-5f;
        out[i] = type == ATP_I32 ? (uint32_t)v : sk_bits_of_float((float)v * scale);
    }
}

static uint32_t *words(size_t count) {
    return net_must(calloc(count + 1, sizeof(uint32_t)));
}

static void choose_tensor(struct scenario *s, const struct flow *f, struct tensor *t) {
    size_t fragments = below(s, below(s, 4) ? 12 : 60);

    t->count = below(s, 3) ? fragments * ATP_VALUES : fragments * ATP_VALUES + below(s, 62);
    for (unsigned w = 0; w < f->workers; w++) {
        t->in[w] = words(t->count);
        t->room[w] = words(t->count);
        fill(s, f->type, t->in[w], t->count);
        t->room[w][t->count] = CANARY;
    }
}

static struct atp_worker *new_worker(struct scenario *s, struct flow *f, unsigned w,
                                     const struct atp_place *place, uint64_t first) {
    struct atp_worker_config c;
    struct atp_worker *worker;

    atp_worker_config_init(&c);
    c.flow = f->addresses;
    c.place = *place;
    c.rank = w;
    c.first_index = s->first_index;
    c.indices = s->indices;
    c.linear = s->linear;
    c.window_max = s->window_max;
    c.window = 1 + (uint32_t)below(s, s->window_max);
    c.rto_initial = 200000;
    c.rto_min = 50000;
    c.rto_max = 5000000;
    c.hard_limit = UINT64_C(100000000000);
    c.first_fragment = first;
    if (atp_worker_new(&worker, &c, NULL) != 0)
        net_die("worker", "refused");
    return worker;
}

static struct atp_server *new_server(struct scenario *s, struct flow *f,
                                     const struct atp_shape *shape) {
    struct atp_server_config c;
    struct atp_server *server;

    atp_server_config_init(&c);
    c.flow = f->addresses;
    c.shape = *shape;
    c.type = f->type;
    c.first_index = s->first_index;
    c.indices = s->indices;
    c.rehash = s->rehash;
    c.dynamic_scale = s->dynamic;
    c.window_max = s->window_max;
    c.repeat_every = 30000;
    c.restart_every = 300000;
    c.first_fragment = f->first_fragment;
    if (atp_server_new(&server, &c, NULL) != 0)
        net_die("server", "refused");
    return server;
}

static uint64_t any_first(struct scenario *s) {
    switch (below(s, 3)) {
    case 0:
        return 0;
    case 1:
        return (UINT64_C(1) << 24) * 7 - below(s, 100);
    default:
        return (UINT64_C(1) << 23) * 3 - below(s, 100);
    }
}

static void choose_addresses(struct flow *f, unsigned number, uint8_t job, bool two_flows) {
    uint8_t n = (uint8_t)number;

    f->addresses = (struct atp_flow){
        .server = {{2, 0, 0, 0, 0xee, n}, ATP_UDP_PORT, 0x0a00fe01 + number},
        .group = {{1, 0, 0x5e, 0, 0, n}, ATP_UDP_PORT, 0xef000001 + number},
        .job = job,
        .flow = two_flows ? (uint8_t)number : 0,
        .flow_bits = two_flows,
    };
}

static void set_worker_address(struct flow *f, unsigned number, unsigned w) {
    f->addresses.worker = (struct sk_endpoint){
        {2, 0, 0, (uint8_t)(number + 1), 1, (uint8_t)w}, 4000, 0x0a010001 + 256 * number + w};
}

// All workers are made in one go: places depend on all of them.
static void make_flow(struct scenario *s, unsigned number, uint8_t job, bool two_flows) {
    struct flow *f = &s->flow[number];
    struct atp_place places[MAX_WORKERS];
    struct atp_shape shape;

    f->scenario = s;
    f->type = below(s, 3) && !s->limits->overflows ? ATP_I32 : ATP_F32;
    f->workers = 1 + (unsigned)below(s, MAX_WORKERS);
    f->tensors = 1 + (unsigned)below(s, MAX_TENSORS);
    f->first_fragment = any_first(s);
    choose_addresses(f, number, job, two_flows);
    for (unsigned w = 0; w < f->workers; w++)
        f->rack_of[w] = (uint32_t)below(s, s->options.racks);
    if (atp_places(f->rack_of, f->workers, 0, &shape, places, NULL) != 0)
        net_die("places", "refused");
    f->server = new_server(s, f, &shape);
    f->server_host = net_add_server(s->net, f->server, &f->addresses);
    for (unsigned w = 0; w < f->workers; w++) {
        set_worker_address(f, number, w);
        f->worker[w] = new_worker(s, f, w, &places[w], f->first_fragment);
        f->host[w] = net_add_worker(s->net, f->rack_of[w], f->worker[w], &f->addresses);
    }
    for (unsigned t = 0; t < f->tensors; t++)
        choose_tensor(s, f, &f->tensor[t]);
    f->victim = (unsigned)below(s, f->workers);
    f->spare_rack = (unsigned)below(s, s->options.racks);
    set_worker_address(f, number, 100);
    f->spare_host = net_add_worker(s->net, f->spare_rack, NULL, &f->addresses);
}

// ---- running it ------------------------------------------------------------------------------

static void submit(struct scenario *s, struct flow *f, unsigned w, const struct tensor *t,
                   size_t from) {
    struct atp_tensor job = {.type = f->type, .count = t->count - from};

    job.out = t->room[w] + from;
    job.in = t->in[w] + from;
    if (!s->respawns && below(s, 2)) {
        memcpy(job.out, job.in, job.count * sizeof(uint32_t));
        job.in = job.out;
    }
    if (atp_worker_submit(f->worker[w], &job, net_now(s->net)) != 0)
        net_die("submit", "refused");
}

struct start {
    struct flow *flow;
    unsigned worker, tensor;
};

static void start_tensor(void *context) {
    struct start *start = context;
    struct flow *f = start->flow;

    if (f->worker[start->worker] && !(f->dead && start->worker == f->victim)) {
        submit(f->scenario, f, start->worker, &f->tensor[start->tensor], 0);
        net_serve(f->scenario->net, f->host[start->worker]);
    }
    free(start);
}

// Every worker submits its tensors one after the other, at times of its own.
static void submit_all(struct scenario *s, struct flow *f) {
    for (unsigned w = 0; w < f->workers; w++) {
        uint64_t at = 0;
        for (unsigned t = 0; t < f->tensors; t++) {
            struct start *start = net_must(malloc(sizeof *start));
            *start = (struct start){f, w, t};
            at += below(s, 2) ? 0 : below(s, 300000);
            net_call(s->net, at, start_tensor, start);
        }
    }
}

static void die(void *context) {
    struct flow *f = context;

    f->dead = f->worker[f->victim];
    net_replace(f->scenario->net, f->host[f->victim], NULL);
}

// The successor begins where the server is: the rest of the tensors in which that is.
static void respawn(void *context) {
    struct flow *f = context;
    struct scenario *s = f->scenario;
    struct atp_place places[MAX_WORKERS];
    struct atp_shape shape;
    uint64_t at = 0;

    f->known_from = atp_server_first(f->server) - f->first_fragment;
    f->rack_of[f->victim] = f->spare_rack;
    if (atp_places(f->rack_of, f->workers, 0, &shape, places, NULL) != 0)
        net_die("places", "refused");
    for (unsigned w = 0; w < f->workers; w++)
        if (w != f->victim)
            atp_worker_move(f->worker[w], &places[w]);
    if (atp_server_reshape(f->server, &shape, net_now(s->net), NULL) != 0)
        net_die("reshape", "refused");
    set_worker_address(f, (unsigned)(f - s->flow), 100);
    f->worker[f->victim] =
        new_worker(s, f, f->victim, &places[f->victim], atp_server_first(f->server));
    f->host[f->victim] = f->spare_host;
    net_replace(s->net, f->spare_host, f->worker[f->victim]);
    for (unsigned t = 0; t < f->tensors; t++) {
        uint64_t fragments = (f->tensor[t].count + ATP_VALUES - 1) / ATP_VALUES;
        if (at + fragments > f->known_from) {
            uint64_t behind = f->known_from > at ? f->known_from - at : 0;
            submit(s, f, f->victim, &f->tensor[t], behind * ATP_VALUES);
        }
        at += fragments;
    }
    net_serve(s->net, f->server_host);
    net_serve(s->net, f->spare_host);
}

// What everybody waits for, when it takes too long.
static void explain(struct scenario *s) {
    char text[3000];

    for (unsigned i = 0; i < s->flows; i++) {
        const struct flow *f = &s->flow[i];
        printf("flow %u: the server's first fragment is %llu, the first one was %llu\n", i,
               (unsigned long long)atp_server_first(f->server),
               (unsigned long long)f->first_fragment);
        for (unsigned w = 0; w < f->workers; w++) {
            if (atp_worker_busy(f->worker[w])) {
                atp_worker_explain(f->worker[w], net_now(s->net), text, sizeof text);
                printf("%s", text);
            }
        }
    }
}

static bool run(struct scenario *s) {
    uint64_t events = 0;

    while (net_step(s->net)) {
        if (net_failed(s->net)) {
            explain(s);
            snprintf(s->fault, 200, "a worker gave up");
            return false;
        }
        if (++events == MAX_EVENTS) {
            explain(s);
            snprintf(s->fault, 200, "no end after %u events", MAX_EVENTS);
            return false;
        }
    }
    return true;
}

// ---- checking it -----------------------------------------------------------------------------

// The least factor that a server can have chosen: what prevents an overflow of the largest values,
// at half of it for the power of two.
static double least_scale(const struct scenario *s, const struct flow *f) {
    double n = f->workers, largest = 101 * 1e-3 * 1000;

    return s->dynamic ? fmin(0x1p31 / (n * largest) / 4, 1e8 / 4) : 1e8;
}

static bool element_is_right(const struct scenario *s, const struct flow *f, const struct tensor *t,
                             unsigned w, size_t i) {
    double exact = 0, got;
    int64_t whole = 0;

    for (unsigned v = 0; v < f->workers; v++) {
        whole += (int32_t)t->in[v][i];
        exact += (double)sk_float_of_bits(t->in[v][i]);
    }
    if (f->type == ATP_I32)
        return (int32_t)t->room[w][i] == whole;
    got = (double)sk_float_of_bits(t->room[w][i]);
    return fabs(got - exact) <= f->workers * 0.5 / least_scale(s, f) + fabs(exact) * 0x1p-23;
}

// 'base': the number of the tensor's first fragment, counted from the flow's.
static bool tensor_is_right(struct scenario *s, const struct flow *f, const struct tensor *t,
                            uint64_t base) {
    unsigned same = f->workers > 1 && f->victim == 0 ? 1 : 0;

    for (unsigned w = 0; w < f->workers; w++) {
        bool late = f->dead && w == f->victim;
        for (size_t i = 0; i < t->count; i++) {
            if (late && base + i / ATP_VALUES < f->known_from)
                continue;
            if (!element_is_right(s, f, t, w, i) ||
                ((!late || f->workers > 1) && t->room[w][i] != t->room[same][i])) {
                snprintf(s->fault, 200,
                         "flow %u tensor %u worker %u of %u, %s, element %zu of %zu: %08x, as %08x",
                         (unsigned)(f - s->flow), (unsigned)(t - f->tensor), w, f->workers,
                         f->type == ATP_I32 ? "int" : "float", i, t->count, t->room[w][i],
                         t->room[same][i]);
                return false;
            }
        }
        if (t->room[w][t->count] != CANARY) {
            snprintf(s->fault, 200, "written behind the end");
            return false;
        }
    }
    return true;
}

static bool flow_is_right(struct scenario *s, const struct flow *f) {
    uint64_t base = 0;

    for (unsigned t = 0; t < f->tensors; t++) {
        if (!tensor_is_right(s, f, &f->tensor[t], base))
            return false;
        base += (f->tensor[t].count + ATP_VALUES - 1) / ATP_VALUES;
    }
    for (unsigned w = 0; w < f->workers; w++) {
        if (atp_worker_busy(f->worker[w])) {
            snprintf(s->fault, 200, "worker %u is not done", w);
            return false;
        }
    }
    return true;
}

static void no_op(void *context) {
    (void)context;
}

static bool nothing_is_left(struct scenario *s, struct scenario_counts *counts) {
    unsigned owned = net_owned(s->net, s->first_index, s->indices);

    counts->left_owned += owned;
    if (owned && s->limits->in_order && !s->respawns) {
        snprintf(s->fault, 200, "%u aggregators have an owner", owned);
        return false;
    }
    net_call(s->net, net_now(s->net) + 1100000000, no_op, NULL);
    net_step(s->net);
    net_sweep(s->net, &s->flow[0].addresses, s->first_index, s->indices);
    owned = net_owned(s->net, s->first_index, s->indices);
    if (owned)
        snprintf(s->fault, 200, "%u aggregators have an owner after the time-out", owned);
    return owned == 0;
}

static void count(const struct scenario *s, struct scenario_counts *c) {
    struct net_traffic t = net_traffic(s->net);

    c->traffic.sent += t.sent;
    c->traffic.lost += t.lost;
    c->traffic.duplicated += t.duplicated;
    c->traffic.to_servers += t.to_servers;
    for (unsigned i = 0; i < s->flows; i++) {
        const struct flow *f = &s->flow[i];
        struct atp_server_stats v = atp_server_stats(f->server);

        c->fragments += v.completed;
        c->from_one += v.values_from[0];
        c->from_all += v.values_from[2];
        c->rehashed += v.rehashed;
        c->overflows += v.overflows;
        c->repeated += v.repeated;
        c->respawned += f->dead != NULL;
        for (unsigned w = 0; w < f->workers; w++) {
            struct atp_worker_stats u = atp_worker_stats(f->worker[w]);
            c->retransmissions += u.retransmissions;
            c->timeouts += u.timeouts;
            c->other_index += u.ignored[ATP_OTHER_INDEX];
        }
    }
}

static void free_flow(struct flow *f) {
    for (unsigned w = 0; w < f->workers; w++) {
        atp_worker_free(f->worker[w]);
        for (unsigned t = 0; t < f->tensors; t++) {
            free(f->tensor[t].in[w]);
            free(f->tensor[t].room[w]);
        }
    }
    atp_worker_free(f->dead);
    atp_server_free(f->server);
}

bool scenario_run(const struct sk_program *program, uint64_t seed,
                  const struct scenario_limits *limits, struct scenario_counts *counts,
                  char fault[200]) {
    struct scenario *s = net_must(calloc(1, sizeof *s));
    bool two_flows, right;

    *s = (struct scenario){.limits = limits, .random = sk_random_seeded(seed), .fault = fault};
    choose_shared(s, seed);
    s->net = net_new(&s->options, program);
    s->flows = 1 + (unsigned)below(s, MAX_FLOWS);
    two_flows = below(s, 2);
    for (unsigned i = 0; i < s->flows; i++)
        make_flow(s, i, (uint8_t)(two_flows ? 5 : 5 + i), two_flows);
    net_start(s->net);
    for (unsigned i = 0; i < s->flows; i++) {
        submit_all(s, &s->flow[i]);
        if (s->respawns) {
            uint64_t at = 350000 * below(s, 2) + below(s, 500000);
            net_call(s->net, at, die, &s->flow[i]);
            net_call(s->net, 900000 + below(s, 300000), respawn, &s->flow[i]);
        }
    }
    right = run(s);
    for (unsigned i = 0; right && i < s->flows; i++)
        right = flow_is_right(s, &s->flow[i]);
    right = right && nothing_is_left(s, counts);
    count(s, counts);
    net_free(s->net);
    for (unsigned i = 0; i < s->flows; i++)
        free_flow(&s->flow[i]);
    free(s);
    return right;
}
