// SPDX-License-Identifier: Apache-2.0
//
// Libra_s with p4/libra in virtual time: copies of answers until their ack, what servers collect,
// what is left of pushes, members that begin again; and jobs that are refused. Then networks by
// seed whose links, and whose CPU port, lose, repeat, reorder and are slow: every acknowledged push
// is in what was collected and what the cells hold once, exactly where the switch adds integers,
// within the adder's bound where it adds floats, and nothing is left at the CPU; also when the job
// moves to another switch under load, again and again; and when a switch dies without warning,
// which loses nothing that was acknowledged when the last copy was made. SEEDS networks
// (environment; 10) of each kind, from FROM (1) on.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "control/libra/libra.h"
#include "control/tables/control.h"
#include "harness/hosts/libra/rig.h"
#include "harness/net/events.h"
#include "hosts/core/float_bits.h"
#include "hosts/libra/libra.h"
#include "pipeline/switch/core.h"
#include "pipeline/trace.h"

#define MS        UINT64_C(1000000)
#define WORKERS   3u
#define COLLECTOR 3u // a server, as a worker of the switch; then the one that has what is left
#define SERVER    4u
#define MEMBERS   5u
#define CPU       64u
#define HOT       48u
#define KEYS      100u
#define SCALE     1024.0f
#define TOGETHER  4000u // ns: frames that come within it meet inside the switch

struct frame_event {
    struct net_event event;
    unsigned port; // of the switch
    bool to_switch;
    uint16_t length;
    uint8_t bytes[LIBRA_COLD_BYTES];
};

struct net {
    struct sk_observer observer; // first: of rests_between_passes()
    unsigned others;             // that add 1 to the first parameter's cell between passes
    struct rig_cells cells;
    struct sk_switch *sw;
    struct libra_s *cpu;
    struct net_events events;
    struct sk_random random;
    struct net_link link, inside; // inside: both ways between switch and CPU
    uint64_t now;
    bool floats;
    struct libra_layout layout;
    struct libra_worker *member[SERVER]; // workers and the collector
    struct libra_server *server;
    unsigned open;
    double least[HOT], most[HOT], collected[HOT];
    unsigned terms[HOT];
    uint64_t dropped; // by 'drops'
    unsigned drops;   // so many answers to come, on their way to the collector and to the CPU
    bool drops_cpu;
};

struct request { // of the caller
    bool collects, done;
    unsigned n;
    uint32_t ranks[HOT], values[HOT];
};

static const struct sk_program *programs[2];
static char layout_path[] = "/tmp/silken-libra-XXXXXX";

// ---- the network ----

static struct sk_endpoint member_end(unsigned m) {
    return rig_worker_end(m + 1); // at port m + 1
}

static void net_carry(struct net *n, unsigned port, bool to_switch, const uint8_t *bytes,
                      size_t length) {
    const struct net_link *link = port == CPU ? &n->inside : &n->link;
    if (sk_random_chance(&n->random, link->loss))
        return;
    for (int copies = sk_random_chance(&n->random, link->duplicate) ? 2 : 1; copies > 0; copies--) {
        struct frame_event *e = net_must(calloc(1, sizeof *e));
        e->port = port;
        e->to_switch = to_switch;
        e->length = (uint16_t)length;
        assert_true(length <= sizeof e->bytes);
        memcpy(e->bytes, bytes, length);
        net_events_push(&n->events, &e->event, net_link_arrival(link, &n->random, n->now));
    }
}

static bool net_is_answer(const uint8_t *frame, uint32_t length) {
    return length == LIBRA_FRAME_BYTES && frame[42] >> 4 == LIBRA_ANSWER;
}

static bool net_tx(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct net *n = aux;
    if (n->drops > 0 && net_is_answer(frame, length) && (port != CPU || n->drops_cpu)) {
        n->drops--;
        return true;
    }
    net_carry(n, port, false, frame, length);
    return true;
}

static bool net_cpu_send(void *aux, const uint8_t *frame, uint32_t length) {
    net_carry(aux, CPU, true, frame, length);
    return true;
}

static struct libra_worker_config net_config(const struct net *n, unsigned m) {
    struct libra_worker_config c = {.flow = rig_flow(m),
                                    .floats = n->floats,
                                    .cpu = true,
                                    .first_sequence = 1,
                                    .window = 16,
                                    .window_max = LIBRA_WINDOW_MOST,
                                    .rto_initial = 2 * MS,
                                    .rto_min = MS / 10,
                                    .rto_max = 20 * MS,
                                    .hard_limit = 10000 * MS};
    c.flow.worker = member_end(m);
    return c;
}

static json_t *net_section(void) {
    json_t *workers = json_array(), *servers = json_array();
    for (unsigned m = 0; m < MEMBERS; m++)
        json_array_append_new(m < WORKERS ? workers : servers,
                              json_sprintf("%u:10.0.0.%u/02:00:00:00:00:%02x", m + 1,
                                           member_end(m).ip & 255, member_end(m).mac[5]));
    return json_pack("{s:s, s:s, s:[{s:s, s:s, s:I, s:i, s:o, s:o}]}", "mac", "02:00:00:00:ff:01",
                     "address", "10.0.0.254", "jobs", "name", "job", "layout", layout_path,
                     "parameters", (json_int_t)KEYS, "cells", 100, "workers", workers, "servers",
                     servers);
}

static struct libra_s *net_cpu(struct net *n, json_t *section, struct sk_error *err) {
    const struct libra_s_host host = {.sw = n->sw, .cpu_port = CPU, .send = net_cpu_send, .aux = n};
    struct sk_json doc = {.name = "test", .err = err};
    const struct sk_at at = {.doc = &doc, .value = section, .key = "libra"};
    struct libra_s *l = libra_s_new(&host, &at, err);
    json_decref(section);
    return l;
}

static void net_begin_server(struct net *n) {
    struct libra_server_config config = {.self = member_end(SERVER),
                                         .job = RIG_JOB,
                                         .epoch = RIG_EPOCH,
                                         .workers = WORKERS,
                                         .first_key = 0,
                                         .last_key = KEYS - 1,
                                         .layout = &n->layout,
                                         .hot = net_config(n, SERVER)};
    config.self.port = LIBRA_COLD_PORT;
    assert_int_equal(0, libra_server_new(&n->server, &config, NULL));
}

static void net_begin(struct net *n, uint64_t seed, bool floats) {
    struct sk_error err;
    uint64_t keys[HOT];
    *n = (struct net){.random = sk_random_seeded(seed), .floats = floats};
    // the second of two servers has the upper half of the keys
    for (uint32_t i = 0; i < HOT; i++)
        keys[i] = KEYS - 1 - (i * 7 % HOT);
    assert_int_equal(
        0, libra_layout_make(&n->layout, RIG_JOB, RIG_EPOCH, LIBRA_PLACES, keys, HOT, &err));
    FILE *out = fopen(layout_path, "w");
    assert_true(out && libra_layout_write(&n->layout, out) && fclose(out) == 0);
    n->sw = net_switch(programs[floats], net_tx, n);
    if (floats)
        rig_fill(n->sw);
    sk_switch_port_up(n->sw, CPU, true);
    for (unsigned m = 0; m < MEMBERS; m++)
        sk_switch_port_up(n->sw, (uint16_t)(m + 1), true);
    n->cpu = net_cpu(n, net_section(), &err);
    if (!n->cpu)
        fail_msg("%s", err.text);
    n->link = n->inside = (struct net_link){.delay = 5000};
    for (unsigned m = 0; m < SERVER; m++) {
        const struct libra_worker_config c = net_config(n, m);
        assert_int_equal(0, libra_worker_new(&n->member[m], &c, NULL));
    }
    net_begin_server(n);
}

static void net_end(struct net *n) {
    while (n->events.length > 0)
        free(net_events_pop(&n->events));
    net_events_free(&n->events);
    for (unsigned m = 0; m < SERVER; m++)
        libra_worker_free(n->member[m]);
    libra_server_free(n->server);
    libra_s_free(n->cpu);
    libra_layout_clear(&n->layout);
    sk_switch_free(n->sw);
}

static double as_number(const struct net *n, uint32_t value) {
    return n->floats ? (double)(sk_float_of_bits(value) * SCALE) : value;
}

static void net_done(struct net *n, unsigned m) {
    void *cookie;
    while (libra_worker_done(n->member[m], &cookie)) {
        struct request *r = cookie;
        n->open--;
        r->done = true;
        for (unsigned i = 0; i < r->n; i++)
            *(r->collects ? &n->collected[r->ranks[i]] : &n->least[r->ranks[i]]) +=
                m == COLLECTOR || !r->collects ? as_number(n, r->values[i]) : 0;
    }
}

static uint64_t net_earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t net_send(struct net *n) {
    uint8_t frame[LIBRA_COLD_BYTES];
    size_t length;
    uint64_t next = net_earlier(libra_server_deadline(n->server), libra_s_deadline(n->cpu));
    for (unsigned m = 0; m < SERVER; m++) {
        while ((length = libra_worker_write(n->member[m], frame, sizeof frame, n->now)) > 0)
            net_carry(n, m + 1, true, frame, length);
        net_done(n, m);
        next = net_earlier(next, libra_worker_deadline(n->member[m]));
    }
    while ((length = libra_server_write(n->server, frame, sizeof frame, n->now)) > 0)
        net_carry(n, SERVER + 1, true, frame, length);
    libra_s_run(n->cpu, n->now);
    return net_earlier(next, libra_s_deadline(n->cpu));
}

static void net_deliver(struct net *n, const struct frame_event *e) {
    if (e->to_switch)
        sk_switch_rx(n->sw, (uint16_t)e->port, e->bytes, e->length, n->now);
    else if (e->port == CPU)
        libra_s_frame(n->cpu, e->bytes, e->length, n->now);
    else if (e->port == SERVER + 1)
        libra_server_read(n->server, e->bytes, e->length, n->now);
    else
        libra_worker_read(n->member[e->port - 1], e->bytes, e->length, n->now);
}

// Until all requests are done and nothing waits at the CPU, or 'until'; false: a member has failed.
static bool net_run(struct net *n, uint64_t until) {
    bool failed = false;
    while (!failed) {
        uint64_t next = net_send(n);
        if ((n->open == 0 && libra_s_waiting(n->cpu) == 0) || n->now >= until)
            return true;
        if (n->events.length > 0)
            next = net_earlier(next, n->events.heap[0]->time);
        next = net_earlier(next, until);
        assert_true(next != UINT64_MAX);
        n->now = next > n->now ? next : n->now;
        while (n->events.length > 0 && n->events.heap[0]->time <= n->now + TOGETHER) {
            struct frame_event *e = (struct frame_event *)net_events_pop(&n->events);
            net_deliver(n, e);
            free(e);
        }
        sk_switch_run(n->sw, n->now);
        for (unsigned m = 0; m < SERVER; m++)
            failed |= libra_worker_expire(n->member[m], n->now);
        failed |= libra_server_expire(n->server, n->now);
    }
    return false;
}

// ---- what is asked ----

static void push(struct net *n, unsigned m, struct request *r, const struct libra_pair *pairs) {
    for (unsigned i = 0; i < r->n; i++) {
        r->ranks[i] = pairs[i].rank;
        r->values[i] = pairs[i].value;
        n->most[pairs[i].rank] += as_number(n, pairs[i].value);
        n->terms[pairs[i].rank]++;
    }
    n->open++;
    assert_int_equal(0, libra_worker_push(n->member[m], pairs, r->n, r, n->now));
}

static uint32_t as_value(const struct net *n, uint32_t units) {
    return n->floats ? sk_bits_of_float((float)units / SCALE) : units;
}

static void ask(struct net *n, unsigned m, bool collects, struct request *r) {
    *r = (struct request){.collects = true, .n = HOT};
    for (uint32_t i = 0; i < HOT; i++)
        r->ranks[i] = i;
    n->open++;
    assert_int_equal(0, (collects ? libra_worker_collect : libra_worker_pull)(
                            n->member[m], r->ranks, HOT, r->values, r, n->now));
}

static json_t *job(struct net *n) {
    struct sk_error err;
    struct sk_json doc = {.name = "request", .err = &err};
    json_t *request = json_pack("{s:s, s:s}", "op", "job.show", "name", "job");
    const struct sk_at at = {.doc = &doc, .value = request};
    bool known;
    json_t *result = libra_s_request(n->cpu, "job.show", &at, &known);
    assert_true(known && result);
    json_decref(request);
    return result;
}

static long long stat_of(struct net *n, const char *key) {
    json_t *j = job(n);
    const long long count = sk_json_number(json_object_get(j, "stats"), key);
    json_decref(j);
    return count;
}

// ---- one thing after another ----

// Answers that are lost come from the copies, which go when they are acknowledged.
static void test_copies(void **state) {
    (void)state;
    for (int floats = 0; floats < 2; floats++) {
        struct libra_pair pair = {5, 0};
        struct request pushed = {.n = 1}, pulled;
        struct net n;
        net_begin(&n, 1, floats);
        pair.value = as_value(&n, 7);
        push(&n, 0, &pushed, &pair);
        assert_true(net_run(&n, UINT64_MAX));
        n.drops = 2;
        ask(&n, 1, false, &pulled);
        assert_true(net_run(&n, UINT64_MAX));
        assert_int_equal(pair.value, pulled.values[5]);
        assert_int_equal(0, libra_s_waiting(n.cpu));
        assert_true(stat_of(&n, "copies") >= HOT / LIBRA_PLACES);
        assert_int_equal(stat_of(&n, "copies"), stat_of(&n, "acks"));
        assert_int_equal(0, stat_of(&n, "lost"));
        net_end(&n);
    }
}

// A collect's answer is lost: the cell is 0, and the CPU knows what it held.
static void test_collect(void **state) {
    (void)state;
    for (int floats = 0; floats < 2; floats++) {
        struct libra_pair pair = {5, 0};
        struct request pushed = {.n = 1}, first, second;
        struct net n;
        net_begin(&n, 1, floats);
        pair.value = as_value(&n, 7);
        push(&n, 0, &pushed, &pair);
        assert_true(net_run(&n, UINT64_MAX));
        n.drops = 1;
        ask(&n, COLLECTOR, true, &first);
        assert_true(net_run(&n, UINT64_MAX));
        assert_int_equal(pair.value, first.values[5]);
        ask(&n, COLLECTOR, true, &second);
        assert_true(net_run(&n, UINT64_MAX));
        assert_int_equal(0, second.values[5]);
        assert_true(n.collected[5] == 7);
        net_end(&n);
    }
}

// And if the CPU has lost it, too, the server is told, and ends.
static void test_lost(void **state) {
    (void)state;
    for (int floats = 0; floats < 2; floats++) {
        struct request asked;
        struct net n;
        net_begin(&n, 1, floats);
        n.drops = 2 * HOT / LIBRA_PLACES;
        n.drops_cpu = true;
        ask(&n, COLLECTOR, true, &asked);
        assert_false(net_run(&n, UINT64_MAX));
        assert_true(libra_worker_stats(n.member[COLLECTOR]).lost);
        assert_false(asked.done);
        assert_true(stat_of(&n, "lost") > 0);
        net_end(&n);
    }
}

static void rests_between_passes(struct sk_observer *o, const struct sk_packet *p,
                                 const struct sk_event *e) {
    struct net *n = (struct net *)o;
    (void)p;
    if (e->kind != SK_EV_RECIRCULATED || n->others == 0)
        return;
    n->others--;
    n->least[0] += SCALE;
    n->most[0] += SCALE;
    rig_write(&n->cells, 0, 0,
              libra_add(libra_adder(), rig_read(&n->cells, 0, 0), 0x3f800000, NULL));
}

// Pushes whose cells others keep changing: what is left goes to the server, which pushes it again.
static void test_rests(void **state) {
    static struct request pushed[WORKERS][40];
    struct request asked;
    struct net n;
    (void)state;
    memset(pushed, 0, sizeof pushed);
    net_begin(&n, 1, true);
    n.cells = rig_cells(n.sw);
    n.observer = (struct sk_observer){.everything = true, .event = rests_between_passes};
    sk_core_observe(sk_switch_core(n.sw, 0), &n.observer);
    n.others = 60;
    for (unsigned w = 0; w < WORKERS; w++)
        for (unsigned i = 0; i < 40; i++) {
            const struct libra_pair pair = {0, as_value(&n, 1024)};
            pushed[w][i].n = 1;
            push(&n, w, &pushed[w][i], &pair);
        }
    assert_true(net_run(&n, UINT64_MAX));
    assert_int_equal(0, n.others);
    assert_true(n.least[0] == (40 * WORKERS + 60) * 1024);
    ask(&n, COLLECTOR, true, &asked);
    assert_true(net_run(&n, UINT64_MAX));
    const double error = n.collected[0] / n.most[0] - 1;
    assert_true(error < 0.01 && error > -0.01);
    assert_true(stat_of(&n, "rests") > 0);
    assert_int_equal(stat_of(&n, "rests"), stat_of(&n, "rests_done"));
    assert_int_equal(stat_of(&n, "rests"), libra_server_stats(n.server).hot_pairs);
    for (unsigned w = 0; w < WORKERS; w++)
        assert_int_equal(0, libra_worker_stats(n.member[w]).pairs_left);
    net_end(&n);
}

// ---- members that begin ----

static uint16_t joined_epoch; // what the last one was told

static unsigned join(struct net *n, unsigned m, uint32_t incarnation, uint32_t *number) {
    const struct libra_flow flow = net_config(n, m).flow;
    uint8_t frame[LIBRA_HEADERS];
    unsigned kind = 0;
    libra_frame_write_join(frame, &flow, incarnation);
    sk_switch_rx(n->sw, (uint16_t)(m + 1), frame, sizeof frame, n->now);
    sk_switch_run(n->sw, n->now);
    while (n->events.length > 0) {
        struct frame_event *e = (struct frame_event *)net_events_pop(&n->events);
        if (!e->to_switch && e->port == m + 1 && !kind)
            kind = libra_frame_read_joined(e->bytes, e->length, &flow, number, &joined_epoch);
        else
            net_deliver(n, e);
        free(e);
        sk_switch_run(n->sw, n->now);
    }
    return kind;
}

static void test_begins_again(void **state) {
    (void)state;
    for (int floats = 0; floats < 2; floats++) {
        static struct request pushed[700];
        struct request asked;
        uint32_t number;
        struct net n;
        memset(pushed, 0, sizeof pushed);
        net_begin(&n, 1, floats);
        assert_int_equal(LIBRA_JOINED, join(&n, 0, 5, &number));
        assert_int_equal(1, number);
        for (unsigned i = 0; i < 700; i++) {
            const struct libra_pair pair = {i % HOT, as_value(&n, 1)};
            pushed[i].n = 1;
            push(&n, 0, &pushed[i], &pair);
        }
        assert_true(net_run(&n, UINT64_MAX));
        // the worker crashes and comes back: its numbers go on, and what it pushes is added
        libra_worker_free(n.member[0]);
        assert_int_equal(LIBRA_JOINED, join(&n, 0, 5, &number));
        assert_in_range(number, 700 + 512, 2000);
        struct libra_worker_config c = net_config(&n, 0);
        c.first_sequence = number;
        assert_int_equal(0, libra_worker_new(&n.member[0], &c, NULL));
        const struct libra_pair pair = {3, as_value(&n, 9)};
        struct request last = {.n = 1};
        push(&n, 0, &last, &pair);
        ask(&n, COLLECTOR, true, &asked);
        assert_true(net_run(&n, UINT64_MAX));
        struct request rest;
        ask(&n, COLLECTOR, true, &rest);
        assert_true(net_run(&n, UINT64_MAX));
        assert_true(n.collected[3] - n.most[3] < 0.1 && n.most[3] - n.collected[3] < 0.1);
        // another incarnation of the job would find the sums of this one
        assert_int_equal(LIBRA_REFUSED, join(&n, 1, 6, &number));
        assert_int_equal(5, number);
        assert_int_equal(1, stat_of(&n, "refused"));
        net_end(&n);
    }
}

// ---- jobs ----

static void request(struct net *n, const char *op, json_t *what, const char *sentence) {
    struct sk_error err = {0};
    struct sk_json doc = {.name = "request", .err = &err};
    const struct sk_at at = {.doc = &doc, .value = what};
    bool known;
    json_t *result = libra_s_request(n->cpu, op, &at, &known);
    assert_true(known);
    if (sentence ? result || !strstr(err.text, sentence) : !result)
        fail_msg("%s: '%s' does not say '%s'", op, result ? "done" : err.text, sentence);
    json_decref(result);
    json_decref(what);
}

static json_t *new_job(const char *name, const char *worker, const char *server, int cells) {
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:[s], s:[s], s:i}", "op", "job.add", "name", name,
                     "protocol", "libra", "layout", layout_path, "parameters", KEYS, "workers",
                     worker, "servers", server, "cells", cells);
}

static json_t *without(json_t *object, const char *key) {
    json_object_del(object, key);
    return object;
}

static json_t *with(json_t *object, const char *key, json_t *value) {
    json_object_set_new(object, key, value);
    return object;
}

#define ONE_WORKER "20:10.0.0.20"
#define ONE_SERVER "21:10.0.0.21/02:00:00:00:00:21"

static void test_jobs(void **state) {
    struct libra_pair pair = {0, 9};
    struct request pushed = {.n = 1}, asked;
    struct net n;
    (void)state;
    net_begin(&n, 1, false);
    push(&n, 0, &pushed, &pair);
    assert_true(net_run(&n, UINT64_MAX));
    request(&n, "job.add", new_job("job", ONE_WORKER, ONE_SERVER, 10), "there is a job 'job'");
    request(&n, "job.add", new_job("b", ONE_WORKER, ONE_SERVER, 10),
            "number 3 is that of job 'job'");
    request(&n, "job.add", new_job("", ONE_WORKER, ONE_SERVER, 10), "name");
    request(&n, "job.add", new_job("b", "x", ONE_SERVER, 10), "'x' is not a port, an address");
    request(&n, "job.add", new_job("b", "1:10.0.0", ONE_SERVER, 10), "'1:10.0.0' is not");
    request(&n, "job.add", new_job("b", "512:10.0.0.1", ONE_SERVER, 10), "'512:10.0.0.1' is not");
    request(&n, "job.add", new_job("b", "1:10.0.0.1/2", ONE_SERVER, 10), "is not a port");
    request(&n, "job.add", new_job("b", ONE_WORKER, "21:10.0.0.21", 10), "a server needs its MAC");
    request(&n, "job.add", new_job("b", "150:10.0.0.20", ONE_SERVER, 10), "in another pipe");
    request(&n, "job.add", new_job("b", ONE_WORKER, ONE_SERVER, 2), "which are 3 cells");
    request(&n, "job.add", new_job("b", ONE_WORKER, ONE_SERVER, 16385), "cells");
    request(&n, "job.add", without(new_job("b", ONE_WORKER, ONE_SERVER, 10), "layout"), "layout");
    request(&n, "job.add", without(new_job("b", ONE_WORKER, ONE_SERVER, 10), "workers"), "workers");
    request(&n, "job.add", without(new_job("b", ONE_WORKER, ONE_SERVER, 10), "servers"), "servers");
    request(&n, "job.add", with(new_job("b", ONE_WORKER, ONE_SERVER, 10), "slots", json_integer(4)),
            "slots");
    request(&n, "job.add",
            with(new_job("b", ONE_WORKER, ONE_SERVER, 10), "protocol", json_string("atp")),
            "whose jobs are of");
    request(&n, "job.add",
            with(new_job("b", ONE_WORKER, ONE_SERVER, 10), "layout", json_string("/no/such")),
            "/no/such");
    request(&n, "job.add",
            with(new_job("b", ONE_WORKER, ONE_SERVER, 10), "parameters", json_integer(50)),
            "and the job has 50");
    request(&n, "job.remove", json_pack("{s:s}", "name", "b"), "there is no job 'b'");
    // nothing of these is left, and what was removed begins with cells of 0
    request(&n, "job.remove", json_pack("{s:s}", "name", "job"), NULL);
    libra_worker_free(n.member[0]);
    const struct libra_worker_config c = net_config(&n, 0);
    assert_int_equal(0, libra_worker_new(&n.member[0], &c, NULL));
    json_t *section = net_section();
    json_t *again = json_incref(json_array_get(json_object_get(section, "jobs"), 0));
    request(&n, "job.add", again, NULL);
    json_decref(section);
    ask(&n, 0, false, &asked);
    assert_true(net_run(&n, UINT64_MAX));
    assert_int_equal(0, asked.values[0]);
    net_end(&n);
}

// Shares of the cells, given and equal, and no more than there are.
static void test_shares(void **state) {
    struct net n;
    struct sk_error err;
    (void)state;
    net_begin(&n, 1, false);
    for (unsigned i = 0; i < 4; i++) {
        char name[8], worker[32], server[48];
        struct libra_layout layout;
        const uint64_t key = 1;
        FILE *out = fopen(layout_path, "w");
        assert_non_null(out);
        assert_int_equal(0, libra_layout_make(&layout, (uint8_t)(20 + i), 1, 16, &key, 1, &err));
        assert_true(libra_layout_write(&layout, out) && fclose(out) == 0);
        libra_layout_clear(&layout);
        snprintf(name, sizeof name, "j%u", i);
        snprintf(worker, sizeof worker, "%u:10.0.1.%u", 20 + i, i + 1);
        snprintf(server, sizeof server, "%u:10.0.2.%u/02:00:00:00:02:%02x", 30 + i, i + 1, i);
        // 100 are taken: four shares of 4,096 are more than the rest
        request(&n, "job.add", without(new_job(name, worker, server, 1), "cells"),
                i < 3 ? NULL : "there is no room for 4096 cells");
    }
    json_t *j = job(&n);
    assert_int_equal(100, sk_json_number(j, "cells"));
    json_decref(j);
    net_end(&n);
}

static void refused(struct net *n, json_t *section, const char *sentence) {
    struct sk_error err;
    struct libra_s *l = net_cpu(n, section, &err);
    if (l || !strstr(err.text, sentence))
        fail_msg("'%s' does not say '%s'", l ? "taken" : err.text, sentence);
}

static void test_sections(void **state) {
    struct net n;
    (void)state;
    net_begin(&n, 1, false);
    refused(&n, with(net_section(), "mac", json_string("03:00:00:00:00:01")), "MAC address");
    refused(&n, with(net_section(), "address", json_string("10.0.0")), "IPv4");
    refused(&n, with(net_section(), "shares", json_integer(0)), "shares");
    refused(&n, with(net_section(), "tables", json_integer(0)), "tables");
    refused(&n, without(net_section(), "mac"), "mac");
    net_end(&n);
}

// All begin, so that the CPU knows where they are.
static void join_all(struct net *n) {
    uint32_t number;
    for (unsigned m = 0; m < MEMBERS; m++) {
        assert_int_equal(LIBRA_JOINED, join(n, m, 1, &number));
        assert_int_equal(1, number);
    }
}

// ---- another switch ----

static bool net_is_mark(const struct frame_event *e) {
    return e->port == CPU && e->length == 60; // Libra_s's own, after what a removed job has sent
}

// What members and Libra_s have sent is of a job that has gone, and lost.
static void pass_time(struct net *n, unsigned ms) {
    for (; ms > 0; ms--) {
        n->now += MS;
        sk_switch_run(n->sw, n->now);
        while (n->events.length > 0) {
            struct frame_event *e = (struct frame_event *)net_events_pop(&n->events);
            if (net_is_mark(e))
                net_deliver(n, e);
            free(e);
            sk_switch_run(n->sw, n->now);
        }
        libra_s_run(n->cpu, n->now);
    }
}

static json_t *must(struct net *n, const char *op, json_t *what) {
    struct sk_error err = {0};
    struct sk_json doc = {.name = "request", .err = &err};
    const struct sk_at at = {.doc = &doc, .value = what};
    bool known;
    json_t *result = libra_s_request(n->cpu, op, &at, &known);
    if (!known || !result)
        fail_msg("%s: %s", op, err.text);
    json_decref(what);
    return result;
}

// A copy of the job, once nothing is half added; the job stays held.
static json_t *save(struct net *n) {
    const uint64_t end = n->now + 1000 * MS;
    json_decref(must(n, "libra.hold", json_pack("{s:s}", "name", "job")));
    for (;;) {
        struct sk_error err;
        struct sk_json doc = {.name = "request", .err = &err};
        json_t *what = json_pack("{s:s}", "name", "job");
        const struct sk_at at = {.doc = &doc, .value = what};
        bool known;
        json_t *state = libra_s_request(n->cpu, "libra.save", &at, &known);
        json_decref(what);
        if (state)
            return state;
        assert_non_null(strstr(err.text, "being added"));
        assert_true(n->now < end);
        const uint64_t next = n->now + MS;
        net_run(n, next);
        n->now = n->now < next ? next : n->now; // all is done: only time passes
    }
}

// Now frames go to another one, which has what 'state' says.
static void replace_switch(struct net *n, json_t *state, json_int_t epoch) {
    struct sk_error err;
    libra_s_free(n->cpu);
    sk_switch_free(n->sw);
    n->sw = net_switch(programs[n->floats], net_tx, n);
    if (n->floats)
        rig_fill(n->sw);
    sk_switch_port_up(n->sw, CPU, true);
    for (unsigned m = 0; m < MEMBERS; m++)
        sk_switch_port_up(n->sw, (uint16_t)(m + 1), true);
    json_t *section = net_section(),
           *what = json_incref(json_array_get(json_object_get(section, "jobs"), 0));
    json_object_del(section, "jobs");
    n->cpu = net_cpu(n, section, &err);
    assert_non_null(n->cpu);
    libra_s_run(n->cpu, n->now);
    json_object_set(what, "state", state);
    json_decref(must(n, "libra.load", what));
    json_decref(must(n, "libra.admit", json_pack("{s:s, s:I}", "name", "job", "epoch", epoch)));
}

// As a controller does, whose requests are not as long as a state.
static void load_in_parts(struct net *n, const json_t *job, const json_t *saved) {
    json_t *state = json_deep_copy(saved);
    size_t i;
    json_t *text;
    json_object_del(state, "registers");
    json_object_del(state, "copies");
    json_decref(must(n, "libra.load", with(json_deep_copy(job), "state", state)));
    request(n, "libra.admit", json_pack("{s:s}", "name", "job"), "libra.check comes first");
    request(n, "libra.check", json_pack("{s:s, s:s}", "name", "job", "digest", "0"), "its digest");
    request(n, "libra.put", json_pack("{s:s, s:i, s:s}", "name", "job", "index", 0, "text", "00"),
            "state: it is damaged");
    request(n, "libra.put", json_pack("{s:s, s:i, s:s}", "name", "job", "index", 900, "text", "00"),
            "state: it is damaged");
    json_array_foreach(json_object_get(saved, "registers"), i, text) {
        json_decref(
            must(n, "libra.put",
                 json_pack("{s:s, s:i, s:O}", "name", "job", "index", (int)i, "text", text)));
    }
    json_decref(
        must(n, "libra.put",
             json_pack("{s:s, s:O}", "name", "job", "copies", json_object_get(saved, "copies"))));
    json_decref(
        must(n, "libra.check",
             json_pack("{s:s, s:O}", "name", "job", "digest", json_object_get(saved, "digest"))));
    request(n, "libra.put", json_pack("{s:s, s:i, s:s}", "name", "job", "index", 0, "text", "00"),
            "is not being loaded");
    json_decref(must(n, "job.remove", json_pack("{s:s}", "name", "job")));
}

// What is saved is what is loaded, and what is not whole is refused and leaves no job.
static void test_state(void **state) {
    (void)state;
    for (int floats = 0; floats < 2; floats++) {
        struct libra_pair pair = {5, 0};
        struct request pushed = {.n = 1}, pulled;
        struct net n;
        net_begin(&n, 1, floats);
        join_all(&n);
        pair.value = as_value(&n, 7);
        push(&n, 0, &pushed, &pair);
        assert_true(net_run(&n, UINT64_MAX));
        request(&n, "libra.save", json_pack("{s:s}", "name", "job"), "hold it first");
        request(&n, "libra.save", json_pack("{s:s}", "name", "b"), "there is no job 'b'");
        json_t *saved = save(&n), *section = net_section(),
               *job = json_array_get(json_object_get(section, "jobs"), 0);
        request(&n, "job.remove", json_pack("{s:s}", "name", "job"), NULL);
        pass_time(&n, 10);
        static const char *const members[] = {"members", "digest", "cells"};
        for (unsigned i = 0; i < sizeof members / sizeof *members; i++) {
            json_t *broken = json_deep_copy(saved);
            json_object_del(broken, members[i]);
            request(&n, "libra.load", with(json_deep_copy(job), "state", broken), "state: ");
        }
        json_t *broken = json_deep_copy(saved), *registers = json_object_get(broken, "registers");
        char *text = strdup(json_string_value(json_array_get(registers, 3)));
        text[3] = 'x';
        json_array_set_new(registers, 3, json_string(text));
        request(&n, "libra.load", with(json_deep_copy(job), "state", json_incref(broken)),
                "state: it is damaged");
        text[3] = '1';
        json_array_set_new(registers, 3, json_string(text));
        free(text);
        request(&n, "libra.load", with(json_deep_copy(job), "state", broken), "its digest is not");
        request(&n, "libra.load", json_deep_copy(job), "should be what libra.save");
        request(&n, "libra.load", with(json_deep_copy(job), "state", json_pack("{}")), "state: ");
        load_in_parts(&n, job, saved);
        replace_switch(&n, saved, 8);
        request(&n, "libra.admit", json_pack("{s:s}", "name", "job"), "is admitted already");
        // one that begins again knows the layout's epoch alone
        uint32_t number;
        assert_int_equal(LIBRA_JOINED, join(&n, 1, 1, &number));
        assert_int_equal(8, joined_epoch);
        ask(&n, 0, false, &pulled);
        assert_true(net_run(&n, UINT64_MAX));
        assert_int_equal(pair.value, pulled.values[5]);
        assert_int_equal(1, libra_worker_stats(n.member[0]).moves);
        json_decref(saved);
        json_decref(section);
        net_end(&n);
    }
}

// A switch dies: what was pushed since the last copy is lost, and no more than that.
static void test_dead_switch(void **state) {
    (void)state;
    for (int floats = 0; floats < 2; floats++) {
        struct libra_pair pair = {5, 0};
        struct request first = {.n = 1}, second = {.n = 1}, third = {.n = 1}, asked;
        struct net n;
        net_begin(&n, 1, floats);
        join_all(&n);
        pair.value = as_value(&n, 64);
        push(&n, 0, &first, &pair);
        assert_true(net_run(&n, UINT64_MAX));
        json_t *saved = save(&n);
        json_decref(must(&n, "libra.admit", json_pack("{s:s}", "name", "job")));
        push(&n, 0, &second, &pair);
        assert_true(net_run(&n, UINT64_MAX));
        assert_true(second.done);
        push(&n, 0, &third, &pair); // is on its way
        net_run(&n, n.now + 100);
        replace_switch(&n, saved, 8);
        ask(&n, 1, false, &asked);
        assert_true(net_run(&n, UINT64_MAX));
        assert_true(third.done);
        ask(&n, 1, false, &asked);
        assert_true(net_run(&n, UINT64_MAX));
        const double held = as_number(&n, asked.values[5]);
        assert_true(held > 127.9 && held < 128.1); // the second is lost
        json_decref(saved);
        net_end(&n);
    }
}

// One that must not lose anything ends instead.
static void test_ends(void **state) {
    struct libra_pair pair = {5, 9};
    struct request pushed = {.n = 1};
    struct net n;
    (void)state;
    net_begin(&n, 1, false);
    join_all(&n);
    push(&n, 0, &pushed, &pair);
    assert_true(net_run(&n, UINT64_MAX));
    json_decref(must(&n, "libra.end", json_pack("{s:s}", "name", "job")));
    pushed.done = false;
    push(&n, 0, &pushed, &pair); // nobody is admitted
    assert_false(net_run(&n, UINT64_MAX));
    assert_false(pushed.done);
    assert_true(libra_worker_stats(n.member[0]).lost);
    assert_int_equal(SILKEN_ERR_STALLED, libra_worker_push(n.member[0], &pair, 1, &pushed, n.now));
    net_end(&n);
}

// ---- what a job leaves ----

#define PASSES 68 // the port by which packets come in again

static void begin_again(struct net *n, unsigned m) {
    const struct libra_worker_config c = net_config(n, m);
    libra_worker_free(n->member[m]);
    assert_int_equal(0, libra_worker_new(&n->member[m], &c, NULL));
    n->open = 0;
}

static void slow_passes(struct net *n) {
    struct sk_port_queue slow;
    sk_switch_port_queue_get(n->sw, PASSES, &slow);
    slow.speed_mbps = 1;
    assert_int_equal(0, sk_switch_port_queue(n->sw, PASSES, &slow));
}

// A push that is held between two passes: each takes a millisecond or two from now on.
static void push_slowly(struct net *n, uint32_t rank, uint32_t units) {
    static struct request lost;
    const struct libra_pair pair = {rank, as_value(n, units)};
    slow_passes(n);
    lost = (struct request){.n = 1};
    push(n, 0, &lost, &pair);
    net_run(n, n->now + MS / 10);
    assert_true(sk_switch_inside(n->sw) > 0);
    begin_again(n, 0);
}

static void pass_fast(struct net *n) {
    struct sk_port_queue fast;
    sk_switch_port_queue_get(n->sw, PASSES, &fast);
    fast.speed_mbps = 100000;
    assert_int_equal(0, sk_switch_port_queue(n->sw, PASSES, &fast));
}

static json_t *same_job(void) {
    json_t *section = net_section(),
           *j = json_incref(json_array_get(json_object_get(section, "jobs"), 0));
    json_decref(section);
    return j;
}

static bool job_waits(struct net *n) {
    json_t *j = job(n);
    const bool waits = json_object_get(j, "waits");
    json_decref(j);
    return waits;
}

// A push of a job that is removed is in none of the sums of the one that has its cells.
static void test_what_is_still_inside(void **state) {
    struct libra_pair pair = {5, 0};
    struct request pushed = {.n = 1}, asked;
    struct net n;
    (void)state;
    net_begin(&n, 1, true);
    pair.value = as_value(&n, 7);
    push(&n, 0, &pushed, &pair);
    assert_true(net_run(&n, UINT64_MAX));
    push_slowly(&n, 5, 1000);
    request(&n, "job.remove", json_pack("{s:s}", "name", "job"), NULL);
    request(&n, "job.add", same_job(), NULL);
    pass_time(&n, 40);
    assert_int_equal(0, sk_switch_inside(n.sw));
    pass_fast(&n);
    ask(&n, 1, false, &asked);
    assert_true(net_run(&n, UINT64_MAX));
    assert_int_equal(0, asked.values[5]);
    net_end(&n);
}

// What one that waits can be asked for meanwhile.
static void test_waits(void **state) {
    struct request asked;
    struct net n;
    (void)state;
    net_begin(&n, 1, true);
    json_t *state_of_none = save(&n);
    json_decref(must(&n, "libra.admit", json_pack("{s:s}", "name", "job")));
    push_slowly(&n, 5, 1000);
    request(&n, "job.remove", json_pack("{s:s}", "name", "job"), NULL);
    request(&n, "libra.load", with(same_job(), "state", json_incref(state_of_none)),
            "again, a little later");
    request(&n, "job.add", same_job(), NULL);
    assert_true(job_waits(&n));
    request(&n, "libra.save", json_pack("{s:s}", "name", "job"), "being added");
    request(&n, "libra.hold", json_pack("{s:s}", "name", "job"), NULL);
    request(&n, "libra.save", json_pack("{s:s, s:b}", "name", "job", "anyway", true),
            "being added");
    request(&n, "libra.admit", json_pack("{s:s}", "name", "job"), NULL);
    assert_true(job_waits(&n));
    // one that has waited and goes leaves nothing, and the next one waits for the same
    request(&n, "job.remove", json_pack("{s:s}", "name", "job"), NULL);
    request(&n, "job.add", same_job(), NULL);
    request(&n, "libra.hold", json_pack("{s:s}", "name", "job"), NULL);
    assert_true(job_waits(&n));
    pass_time(&n, 40);
    assert_false(job_waits(&n));
    pass_fast(&n);
    ask(&n, 1, false, &asked);
    net_run(&n, n.now + 50 * MS);
    assert_false(asked.done); // it is held
    request(&n, "libra.admit", json_pack("{s:s}", "name", "job"), NULL);
    assert_true(net_run(&n, UINT64_MAX));
    assert_int_equal(0, asked.values[5]);
    // nothing is inside: the next one waits for nothing but a frame from here
    request(&n, "job.remove", json_pack("{s:s}", "name", "job"), NULL);
    request(&n, "libra.load", with(same_job(), "state", json_incref(state_of_none)),
            "again, a little later");
    pass_time(&n, 4);
    request(&n, "libra.load", with(same_job(), "state", state_of_none), NULL);
    net_end(&n);
}

// What is left of a push comes to the CPU after its job was removed: it is nothing of the next one.
static void test_late_rests(void **state) {
    const struct libra_pair pair = {0, sk_bits_of_float(1)};
    struct request pushed = {.n = 1}, asked;
    struct frame_event *late[8];
    size_t n_late = 0;
    struct net n;
    (void)state;
    net_begin(&n, 1, true);
    n.inside.delay = 5 * MS;
    n.cells = rig_cells(n.sw);
    n.observer = (struct sk_observer){.everything = true, .event = rests_between_passes};
    sk_core_observe(sk_switch_core(n.sw, 0), &n.observer);
    n.others = 60;
    push(&n, 0, &pushed, &pair);
    net_run(&n, n.now + MS);
    assert_true(n.events.length > 0);
    request(&n, "job.remove", json_pack("{s:s}", "name", "job"), NULL);
    request(&n, "job.add", same_job(), NULL);
    begin_again(&n, 0);
    n.others = 0;
    while (n.events.length > 0) {
        struct frame_event *e = (struct frame_event *)net_events_pop(&n.events);
        if (!e->to_switch && e->port == CPU && !net_is_mark(e))
            late[n_late++] = e;
        else
            free(e);
        assert_true(n_late < sizeof late / sizeof *late);
    }
    pass_time(&n, 10);
    assert_false(job_waits(&n));
    assert_true(n_late > 0);
    for (size_t i = 0; i < n_late; i++) { // as a frame would that somebody has kept
        net_deliver(&n, late[i]);
        free(late[i]);
    }
    assert_int_equal(0, stat_of(&n, "rests"));
    assert_int_equal(0, libra_s_waiting(n.cpu));
    ask(&n, 1, false, &asked);
    assert_true(net_run(&n, UINT64_MAX));
    assert_int_equal(0, asked.values[0]);
    net_end(&n);
}

// A push in its first pass has no record, and what is saved would not have it.
static void test_first_pass(void **state) {
    struct request asked[8];
    struct net n;
    (void)state;
    net_begin(&n, 1, true);
    slow_passes(&n);
    for (unsigned i = 0; i < 8; i++)
        ask(&n, 1 + i % 2, false, &asked[i]);
    net_run(&n, n.now + MS / 10);
    push_slowly(&n, 5, 1000);
    json_decref(must(&n, "libra.hold", json_pack("{s:s}", "name", "job")));
    pass_time(&n, 12);
    request(&n, "libra.save", json_pack("{s:s}", "name", "job"), "being added");
    pass_time(&n, 1000);
    request(&n, "libra.save", json_pack("{s:s}", "name", "job"), NULL);
    net_end(&n);
}

// ---- what of a removed job is on its way to the CPU ----

static void add_again(struct net *n) {
    request(n, "job.remove", json_pack("{s:s}", "name", "job"), NULL);
    request(n, "job.add", same_job(), NULL);
    for (unsigned m = 0; m < SERVER; m++)
        begin_again(n, m);
    libra_server_free(n->server);
    net_begin_server(n);
    memset(n->least, 0, sizeof n->least);
    memset(n->most, 0, sizeof n->most);
    memset(n->collected, 0, sizeof n->collected);
}

static void push_one(struct net *n, uint32_t units) {
    static struct request pushed;
    const struct libra_pair pair = {5, as_value(n, units)};
    pushed = (struct request){.n = 1};
    push(n, 0, &pushed, &pair);
    assert_true(net_run(n, n->now + 100 * MS));
    assert_true(pushed.done);
}

// Copies of answers that come to the CPU after their job was removed are nothing of the next job
// with its number, whose members use the same sequence numbers.
static void test_late_copies(void **state) {
    (void)state;
    for (int floats = 0; floats < 2; floats++) {
        struct request first, second;
        struct net n;
        net_begin(&n, 1, floats);
        n.inside.delay = 5 * MS;
        push_one(&n, 7);
        n.drops = HOT / LIBRA_PLACES; // the server has its answers from the CPU
        ask(&n, COLLECTOR, true, &first);
        net_run(&n, n.now + MS);
        assert_int_equal(0, n.drops);
        assert_int_equal(0, stat_of(&n, "copies")); // they are on their way
        add_again(&n);
        push_one(&n, 9);
        n.drops = HOT / LIBRA_PLACES;
        ask(&n, COLLECTOR, true, &second);
        assert_true(net_run(&n, UINT64_MAX));
        assert_int_equal(as_value(&n, 9), second.values[5]);
        net_end(&n);
    }
}

// A pull is in no record. Where packets are always inside, it is known to be done after as many
// passes as there are.
static void test_late_pulls(void **state) {
    static struct request asked[8];
    struct net n;
    (void)state;
    net_begin(&n, 1, true);
    slow_passes(&n);
    for (unsigned i = 0; i < 8; i++)
        ask(&n, 1 + i % 2, false, &asked[i]);
    net_run(&n, n.now + MS / 10);
    assert_true(sk_switch_inside(n.sw) > 1);
    add_again(&n);
    while (job_waits(&n))
        pass_time(&n, 1);
    assert_int_equal(0, sk_switch_inside(n.sw));
    net_end(&n);
}

// The frame by which Libra_s knows that all has come is not believed from others, and is sent again
// when it is lost.
static void test_marks(void **state) {
    struct net n;
    (void)state;
    net_begin(&n, 1, false);
    push_one(&n, 7);
    n.inside.loss = 1;
    add_again(&n);
    uint8_t frame[60] = {2, 0, 0, 0, 0xff, 1, 2, 0, 0, 0, 0xff, 1, 0x88, 0xb5};
    for (unsigned mark = 0; mark < 200; mark += 100) { // older, and newer than any
        frame[29] = (uint8_t)mark;
        libra_s_frame(n.cpu, frame, sizeof frame, n.now);
    }
    frame[29] = 1;
    libra_s_frame(n.cpu, frame, sizeof frame - 1, n.now);
    frame[14] = 1; // another secret
    libra_s_frame(n.cpu, frame, sizeof frame, n.now);
    frame[14] = 0;
    frame[6] = 4; // another station
    libra_s_frame(n.cpu, frame, sizeof frame, n.now);
    pass_time(&n, 20);
    assert_true(job_waits(&n));
    n.inside.loss = 0;
    pass_time(&n, 10);
    assert_false(job_waits(&n));
    net_end(&n);
}

// ---- networks by seed ----

static void push_random(struct net *n, unsigned w, struct request *r) {
    struct libra_pair pairs[HOT];
    r->n = 1 + (unsigned)sk_random_below(&n->random, HOT / 2);
    for (unsigned i = 0; i < r->n; i++)
        pairs[i] = (struct libra_pair){
            (uint32_t)sk_random_below(&n->random, 1 + sk_random_below(&n->random, HOT)),
            as_value(n, 1 + (uint32_t)sk_random_below(&n->random, 2000))};
    push(n, w, r, pairs);
}

static void check_sum(const struct net *n, uint32_t rank) {
    const double bound = n->floats ? 4e-4 * n->terms[rank] * n->most[rank] + 1e-3 : 0,
                 sum = n->collected[rank];
    if (n->least[rank] != n->most[rank])
        fail_msg("parameter %u: %g is acknowledged of %g", rank, n->least[rank], n->most[rank]);
    if (sum < n->least[rank] - bound || sum > n->most[rank] + bound)
        fail_msg("parameter %u: %g, not %g within %g", rank, sum, n->most[rank], bound);
}

// What was not acknowledged when the copy was made may be lost with the switch, and no more.
static void check_rest_of_dead(const struct net *n, const double *lost, uint32_t rank) {
    const double bound = n->floats ? 4e-4 * n->terms[rank] * n->most[rank] + 1e-3 : 0,
                 sum = n->collected[rank];
    if (n->least[rank] != n->most[rank])
        fail_msg("parameter %u: %g is acknowledged of %g", rank, n->least[rank], n->most[rank]);
    if (sum < n->most[rank] - lost[rank] - bound || sum > n->most[rank] + bound)
        fail_msg("parameter %u: %g, not %g, of which %g may be lost, within %g", rank, sum,
                 n->most[rank], lost[rank], bound);
}

// A copy is made, some time later the switch is dead, and another one goes on with the copy. Acks
// of the dead one may still come: which packets of a request have theirs is not seen here, so all
// of a request that was open at the copy may be lost.
static void die(struct net *n, unsigned round, double *lost) {
    json_t *saved = save(n);
    for (uint32_t i = 0; i < HOT; i++)
        lost[i] += n->most[i] - n->least[i];
    json_decref(must(n, "libra.admit", json_pack("{s:s}", "name", "job")));
    net_run(n, n->now + sk_random_below(&n->random, 40 * MS));
    replace_switch(n, saved, RIG_EPOCH + 1 + round);
    json_decref(saved);
}

// Nobody collects there: what a server had collected after the copy would come to it twice.
static void one_dying_network(uint64_t seed, bool floats) {
    static struct request pushed[WORKERS][4], last;
    double lost[HOT] = {0}, all = 0;
    struct net n;
    net_begin(&n, seed, floats);
    join_all(&n);
    memset(pushed, 0, sizeof pushed);
    n.link = (struct net_link){.loss = sk_random_below(&n.random, 20) / 100.0,
                               .duplicate = sk_random_below(&n.random, 20) / 100.0,
                               .reorder = sk_random_below(&n.random, 60) / 100.0,
                               .delay = 5000,
                               .jitter = 20 * MS};
    n.inside = (struct net_link){.delay = 1000 + sk_random_below(&n.random, 3 * MS)};
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned w = 0; w < WORKERS; w++)
            push_random(&n, w, &pushed[w][round]);
        net_run(&n, n.now + sk_random_below(&n.random, 10 * MS));
        die(&n, round, lost);
        assert_true(net_run(&n, UINT64_MAX));
    }
    ask(&n, COLLECTOR, true, &last);
    assert_true(net_run(&n, UINT64_MAX));
    assert_int_equal(0, libra_s_waiting(n.cpu));
    for (uint32_t i = 0; i < HOT; i++) {
        check_rest_of_dead(&n, lost, i);
        all += n.most[i];
    }
    assert_true(all > 0);
    net_end(&n);
}

// 'moves': the job goes to another switch in the middle of each round.
static void one_faulty_network(uint64_t seed, bool floats, bool moves) {
    static struct request pushed[WORKERS][4], asked[8], last;
    struct net n;
    net_begin(&n, seed, floats);
    join_all(&n);
    memset(pushed, 0, sizeof pushed);
    n.link = (struct net_link){.loss = sk_random_below(&n.random, 20) / 100.0,
                               .duplicate = sk_random_below(&n.random, 20) / 100.0,
                               .reorder = sk_random_below(&n.random, 60) / 100.0,
                               .delay = 5000,
                               .jitter = 20 * MS};
    // a slow CPU gets everything late, but in order: the ring of its port is a queue
    n.inside = (struct net_link){.delay = 1000 + sk_random_below(&n.random, 3 * MS)};
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned w = 0; w < WORKERS; w++)
            push_random(&n, w, &pushed[w][round]);
        ask(&n, COLLECTOR, true, &asked[2 * round]);
        net_run(&n, n.now + sk_random_below(&n.random, 10 * MS));
        ask(&n, COLLECTOR, true, &asked[2 * round + 1]);
        if (moves) {
            json_t *saved = save(&n);
            net_run(&n, n.now + sk_random_below(&n.random, 3 * MS));
            replace_switch(&n, saved, RIG_EPOCH + 1 + round);
            json_decref(saved);
        }
        assert_true(net_run(&n, UINT64_MAX));
    }
    ask(&n, COLLECTOR, true, &last);
    assert_true(net_run(&n, UINT64_MAX));
    assert_int_equal(0, libra_s_waiting(n.cpu));
    for (uint32_t i = 0; i < HOT; i++)
        check_sum(&n, i);
    net_end(&n);
}

static void test_faults(void **state) {
    const char *seeds = getenv("SEEDS"), *from = getenv("FROM");
    const uint64_t n = seeds ? strtoull(seeds, NULL, 10) : 10,
                   first = from ? strtoull(from, NULL, 10) : 1;
    (void)state;
    for (uint64_t seed = first; seed < first + n; seed++) {
        for (int kind = 0; kind < 4; kind++)
            one_faulty_network(seed, kind & 1, kind & 2);
        for (int floats = 0; floats < 2; floats++)
            one_dying_network(seed, floats);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),       cmocka_unit_test(test_collect),
        cmocka_unit_test(test_lost),         cmocka_unit_test(test_rests),
        cmocka_unit_test(test_begins_again), cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_shares),       cmocka_unit_test(test_sections),
        cmocka_unit_test(test_state),        cmocka_unit_test(test_dead_switch),
        cmocka_unit_test(test_ends),         cmocka_unit_test(test_what_is_still_inside),
        cmocka_unit_test(test_waits),        cmocka_unit_test(test_late_rests),
        cmocka_unit_test(test_first_pass),   cmocka_unit_test(test_late_copies),
        cmocka_unit_test(test_late_pulls),   cmocka_unit_test(test_marks),
        cmocka_unit_test(test_faults)};
    const int fd = mkstemp(layout_path);
    if (fd < 0)
        return 1;
    close(fd);
    programs[0] = rig_program("p4/libra/integer.p4", RIG_FAST);
    programs[1] = rig_program("p4/libra/libra.p4", RIG_FAST);
    const int failed = cmocka_run_group_tests_name("libra_s", tests, NULL, NULL);
    unlink(layout_path);
    return failed;
}
