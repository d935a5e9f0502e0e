// SPDX-License-Identifier: Apache-2.0
//
// Jobs of the job service without a network and without a switch: when a job begins, who is told
// what, how long a job that has failed keeps its slots, and what a name's next job waits for. And
// the file of the token.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "control/service/service.h"

#define S     UINT64_C(1000000000)
#define MS    UINT64_C(1000000)
#define IP(n) (0x0a000a00u + (n))

// A worker, as it was told (static in tests: all are told the end); and a switch, as it was asked.
struct worker {
    unsigned waits;
    bool admitted, over;
    char why[640];
};
struct rig {
    struct admission *a;
    uint64_t now;
    unsigned added, removed;
    uint32_t nowhere, impossible; // addresses that are not found
    bool full;
};

static int locate(void *aux, const struct admission_request *worker, struct admission_place *place,
                  struct sk_error *err) {
    const struct rig *r = aux;
    const uint32_t ip = worker->ip;
    if (ip == r->impossible)
        return sk_fail(err, "it is in none of the subnets");
    if (ip == r->nowhere) {
        sk_fail(err, "no host has answered");
        return 0;
    }
    *place = (struct admission_place){.link = "web", .mac = {2, 0, 0, 0, 0, (uint8_t)ip}};
    return 1;
}

static int add(void *aux, struct admission_job *job, struct sk_error *err) {
    struct rig *r = aux;
    if (r->full)
        return sk_fail(err, "there is no room");
    job->number = r->added++;
    job->elements = 64;
    return 0;
}

static void removed(void *aux, const char *name) {
    (void)name;
    ((struct rig *)aux)->removed++;
}

static void waits(void *owner, const struct admission_job *job) {
    (void)job;
    ((struct worker *)owner)->waits++;
}

static void admitted(void *owner, const struct admission_job *job, uint32_t rank) {
    struct worker *w = owner;
    assert_ptr_equal(job->members[rank].owner, owner);
    assert_false(w->admitted || w->over);
    w->admitted = true;
}

static void over(void *owner, const char *why) {
    struct worker *w = owner;
    assert_false(w->over);
    w->over = true;
    snprintf(w->why, sizeof w->why, "%s", why);
}

static int setup(void **state) {
    static const struct admission_ops ops = {locate, add, removed, waits, admitted, over};
    struct rig *r = calloc(1, sizeof *r);
    r->a = admission_new(&ops, r, 64, 60 * S, 2 * S);
    r->now = S;
    *state = r;
    return 0;
}

static int teardown(void **state) {
    struct rig *r = *state;
    admission_free(r->a);
    free(r);
    return 0;
}

static struct admission_request request(const char *job, uint32_t rank, uint32_t workers) {
    struct admission_request q = {.rank = rank, .workers = workers, .ip = IP(rank), .port = 0xbee0};
    snprintf(q.job, sizeof q.job, "%s", job);
    return q;
}

static void join(struct rig *r, struct worker *w, const char *job, uint32_t rank,
                 uint32_t workers) {
    const struct admission_request q = request(job, rank, workers);
    struct sk_error err = {.text = ""};
    *w = (struct worker){.waits = 0};
    if (admission_join(r->a, &q, w, r->now, &err))
        fail_msg("%s", err.text);
}

static void refused(struct rig *r, const struct admission_request *q, const char *sentence) {
    struct worker w = {.waits = 0};
    struct sk_error err = {.text = ""};
    assert_int_not_equal(admission_join(r->a, q, &w, r->now, &err), 0);
    if (!strstr(err.text, sentence))
        fail_msg("'%s' does not say '%s'", err.text, sentence);
}

static void pass(struct rig *r, uint64_t ns) {
    for (uint64_t end = r->now + ns; r->now < end; r->now += 10 * MS)
        admission_run(r->a, r->now);
}

static size_t jobs(const struct rig *r) {
    return admission_counts(r->a).jobs;
}

// ---- tests ----

static void test_begins_when_all_have_come(void **state) {
    struct rig *r = *state;
    static struct worker w[3];
    join(r, &w[1], "a", 1, 3);
    join(r, &w[0], "a", 0, 3);
    pass(r, S);
    assert_false(w[0].admitted || w[1].admitted);
    assert_int_equal(w[1].waits, 2);
    join(r, &w[2], "a", 2, 3);
    pass(r, 100 * MS);
    assert_true(w[0].admitted && w[1].admitted && w[2].admitted);
    assert_int_equal(r->added, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(r->removed, 0);
        admission_leave(r->a, &w[i], NULL, r->now);
        assert_false(w[i].over);
    }
    assert_int_equal(r->removed, 1); // at once: nobody sends any more
    assert_int_equal(jobs(r), 0);
    assert_int_equal(admission_counts(r->a).failed, 0);
}

static void test_one_that_goes_before_the_start(void **state) {
    struct rig *r = *state;
    static struct worker w[2], again;
    join(r, &w[0], "a", 0, 2);
    join(r, &w[1], "a", 1, 2);
    admission_leave(r->a, &w[0], "it is gone", r->now);
    pass(r, S);
    assert_false(w[1].admitted || w[1].over);
    join(r, &again, "a", 0, 2);
    pass(r, S);
    assert_true(w[1].admitted && again.admitted);
}

static void test_a_failure_is_told_and_slots_are_kept_for_a_while(void **state) {
    struct rig *r = *state;
    static struct worker w[3], next[3];
    for (uint32_t i = 0; i < 3; i++)
        join(r, &w[i], "a", i, 3);
    pass(r, S);
    admission_leave(r->a, &w[1], "its connection was closed", r->now);
    assert_true(w[0].over && w[2].over && !w[1].over);
    assert_string_equal(w[0].why,
                        "worker 1 of job 'a' (10.0.10.1) is gone: its connection was closed");
    // the next of that name waits
    for (uint32_t i = 0; i < 3; i++)
        join(r, &next[i], "a", i, 3);
    pass(r, 1900 * MS);
    assert_int_equal(r->removed, 0);
    assert_false(next[0].admitted);
    pass(r, 200 * MS);
    assert_int_equal(r->removed, 1);
    assert_true(next[0].admitted && next[1].admitted && next[2].admitted);
    assert_int_equal(r->added, 2);
}

static void test_one_rank_is_one_worker(void **state) {
    struct rig *r = *state;
    static struct worker w[2], next;
    struct admission_request q = request("a", 0, 2);
    join(r, &w[0], "a", 0, 2);
    q.ip = IP(9);
    refused(r, &q, "rank 0 of job 'a' is taken, by a worker at 10.0.10.0");
    join(r, &w[1], "a", 1, 2);
    pass(r, S);
    refused(r, &q, "is running, and its rank 0 is taken");
    admission_leave(r->a, &w[0], NULL, r->now); // it is done
    join(r, &next, "a", 0, 2);
    refused(r, &q, "rank 0 of job 'a' is taken");
    q.rank = 1;
    refused(r, &q, "is running, and its rank 1 is taken");
    pass(r, S);
    assert_false(next.admitted || w[1].over);
    assert_int_equal(jobs(r), 2);
}

static void test_what_does_not_fit(void **state) {
    struct rig *r = *state;
    static struct worker w;
    struct admission_request q = request("a", 1, 3);
    join(r, &w, "a", 0, 2);
    refused(r, &q, "were started for 2 workers, this one for 3");
    q = request("a", 1, 2);
    q.slots = 65;
    refused(r, &q, "asked for 64 slots");
    q.slots = 64;
    q.port = 7;
    refused(r, &q, "use UDP port 48864, this one");
    q.port = 0xbee0;
    q.ip = IP(0);
    refused(r, &q, "address 10.0.10.0 is worker 0's");
    assert_int_equal(w.waits, 1);
}

// Of the only running job of that name, from what is told of all.
static uint16_t port_of(const struct rig *r, const char *name) {
    json_t *all = admission_json(r->a, r->now), *one;
    uint16_t port = 0;
    size_t i;
    json_array_foreach(all, i, one) {
        if (strcmp(json_string_value(json_object_get(one, "name")), name) == 0)
            port = (uint16_t)json_integer_value(json_object_get(one, "port"));
    }
    json_decref(all);
    return port;
}

static void join_anywhere(struct rig *r, struct worker *w, const char *job, uint32_t rank,
                          uint32_t workers, uint32_t at) {
    struct admission_request q = request(job, rank, workers);
    struct sk_error err = {.text = ""};
    q.port = 0;
    q.ip = IP(at);
    *w = (struct worker){.waits = 0};
    if (admission_join(r->a, &q, w, r->now, &err))
        fail_msg("%s", err.text);
}

// Jobs of one address have ports of their own, until they are gone; jobs elsewhere have the usual.
static void test_ports(void **state) {
    struct rig *r = *state;
    static struct worker w[2], x[2], y[2], z, more;
    struct admission_request q = request("a", 1, 2);
    join_anywhere(r, &w[0], "a", 0, 2, 0);
    refused(r, &q, "some of the workers of job 'a' use UDP port 48864");
    join_anywhere(r, &w[1], "a", 1, 2, 1);
    join_anywhere(r, &x[0], "b", 0, 2, 1);
    join_anywhere(r, &x[1], "b", 1, 2, 2);
    join_anywhere(r, &y[0], "c", 0, 2, 3);
    assert_int_equal(port_of(r, "c"), 0);
    join_anywhere(r, &y[1], "c", 1, 2, 2);
    join_anywhere(r, &z, "d", 0, 1, 9);
    pass(r, S);
    assert_true(w[0].admitted && x[0].admitted && y[0].admitted && z.admitted);
    // in which order jobs begin that are complete together is the service's
    assert_int_equal(port_of(r, "d"), ADMISSION_PORT);
    assert_true(port_of(r, "a") != port_of(r, "b") && port_of(r, "b") != port_of(r, "c"));
    assert_int_equal(port_of(r, "a"), port_of(r, "c")); // they have no address in common
    const uint16_t b = port_of(r, "b");
    assert_true(b == ADMISSION_PORT || b == ADMISSION_PORTS);
    // one that has failed keeps its port for the grace time
    admission_leave(r->a, &x[0], "it is gone", r->now);
    join_anywhere(r, &more, "e", 0, 1, 1);
    pass(r, S);
    assert_int_equal(port_of(r, "e"), ADMISSION_PORTS + 2);
    pass(r, 2 * S);
    admission_leave(r->a, &more, NULL, r->now);
    join_anywhere(r, &more, "e", 0, 1, 1);
    pass(r, S);
    assert_int_equal(port_of(r, "e"), b);
}

// As many jobs at one address as there can be.
static void test_ports_of_many(void **state) {
    struct rig *r = *state;
    struct worker *w = calloc(ADMISSION_JOBS, sizeof *w);
    bool *had = calloc(65536, 1);
    char name[16];
    for (unsigned i = 0; i < ADMISSION_JOBS; i++) {
        snprintf(name, sizeof name, "%u", i);
        join_anywhere(r, &w[i], name, 0, 1, 5);
    }
    pass(r, 30 * S);
    for (unsigned i = 0; i < ADMISSION_JOBS; i++) {
        snprintf(name, sizeof name, "%u", i);
        assert_true(w[i].admitted);
        assert_false(had[port_of(r, name)]);
        had[port_of(r, name)] = true;
    }
    assert_true(had[ADMISSION_PORT] && had[ADMISSION_PORTS + 2 * (ADMISSION_JOBS - 2)]);
    admission_free(r->a);
    r->a = NULL;
    free(had);
    free(w);
}

static void test_given_up(void **state) {
    struct rig *r = *state;
    static struct worker w;
    join(r, &w, "a", 2, 4);
    pass(r, 59 * S);
    assert_false(w.over);
    pass(r, 2 * S);
    assert_string_equal(
        w.why, "job 'a' has waited for 60 s, and rank 0, 1, 3 did not come: it is given up");
    assert_int_equal(jobs(r), 0);
    assert_int_equal(r->removed, 0); // the switch never had it
}

static void test_one_that_is_not_found(void **state) {
    struct rig *r = *state;
    static struct worker w[2], late;
    r->nowhere = IP(1);
    join(r, &w[0], "a", 0, 2);
    join(r, &w[1], "a", 1, 2);
    pass(r, 9 * S);
    assert_false(w[0].admitted || w[1].over);
    pass(r, 2 * S);
    assert_string_equal(w[1].why, "the switch does not find 10.0.10.1: no host has answered");
    assert_false(w[0].over);
    r->nowhere = 0;
    join(r, &late, "a", 1, 2);
    pass(r, S);
    assert_true(w[0].admitted && late.admitted);
    r->impossible = IP(3);
    join(r, &w[1], "b", 3, 4);
    pass(r, 100 * MS);
    assert_true(w[1].over); // at once, and its job is gone with it
    assert_int_equal(jobs(r), 1);
}

static void test_another_mac(void **state) {
    struct rig *r = *state;
    struct admission_request q = request("a", 1, 2);
    static struct worker w = {.waits = 0};
    struct sk_error err;
    q.has_mac = true;
    memcpy(q.mac, (uint8_t[]){2, 0, 0, 0, 0, 7}, 6);
    assert_int_equal(admission_join(r->a, &q, &w, r->now, &err), 0);
    pass(r, 100 * MS);
    assert_non_null(strstr(w.why, "at another MAC address"));
}

static void test_the_switch_refuses(void **state) {
    struct rig *r = *state;
    static struct worker w[2];
    r->full = true;
    join(r, &w[0], "a", 0, 2);
    join(r, &w[1], "a", 1, 2);
    pass(r, S);
    assert_string_equal(w[0].why, "the switch does not admit job 'a': there is no room");
    assert_true(w[1].over);
    assert_int_equal(jobs(r), 0);
    assert_int_equal(r->removed, 0);
}

static void test_removed_by_the_operator(void **state) {
    struct rig *r = *state;
    static struct worker w;
    join(r, &w, "a", 0, 1);
    pass(r, S);
    admission_removed(r->a, "b");
    assert_false(w.over);
    admission_removed(r->a, "a");
    assert_string_equal(w.why, "job 'a' was removed from the switch by its operator");
    assert_int_equal(r->removed, 0);
    assert_int_equal(jobs(r), 0);
}

static void test_most_jobs(void **state) {
    struct rig *r = *state;
    struct worker *w = calloc(ADMISSION_JOBS, sizeof *w);
    struct admission_request q = request("one-more", 0, 2);
    char name[16];
    for (unsigned i = 0; i < ADMISSION_JOBS; i++) {
        snprintf(name, sizeof name, "%u", i);
        join(r, &w[i], name, 0, 2);
    }
    refused(r, &q, "256 jobs, the most");
    admission_leave(r->a, &w[3], NULL, r->now);
    join(r, &w[3], "one-more", 0, 2);
    admission_free(r->a); // all are told
    r->a = NULL;
    for (unsigned i = 0; i < ADMISSION_JOBS; i++)
        assert_true(w[i].over);
    free(w);
}

static void test_token_file(void **state) {
    char path[] = "/tmp/silken-token-XXXXXX";
    const int fd = mkstemp(path);
    struct sk_error err;
    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "correct-horse-battery\nmore\n", 27), 27);
    char *token = service_token_read(path, &err);
    assert_string_equal(token, "correct-horse-battery");
    assert_true(service_token_same(token, "correct-horse-battery"));
    assert_false(service_token_same("correct-horse-batterx", token));
    assert_false(service_token_same("", token));
    assert_false(service_token_same("correct-horse-batterycorrect-horse-battery", token));
    free(token);
    assert_int_equal(fchmod(fd, 0644), 0);
    assert_null(service_token_read(path, &err));
    assert_non_null(strstr(err.text, "can be read by everybody"));
    assert_int_equal(fchmod(fd, 0640), 0);
    assert_int_equal(ftruncate(fd, 10), 0);
    assert_null(service_token_read(path, &err));
    assert_non_null(strstr(err.text, "has no token"));
    close(fd);
    unlink(path);
    assert_null(service_token_read(path, &err));
}

int main(void) {
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ONE(test_begins_when_all_have_come),
        ONE(test_one_that_goes_before_the_start),
        ONE(test_a_failure_is_told_and_slots_are_kept_for_a_while),
        ONE(test_one_rank_is_one_worker),
        ONE(test_what_does_not_fit),
        ONE(test_ports),
        ONE(test_ports_of_many),
        ONE(test_given_up),
        ONE(test_one_that_is_not_found),
        ONE(test_another_mac),
        ONE(test_the_switch_refuses),
        ONE(test_removed_by_the_operator),
        ONE(test_most_jobs),
        cmocka_unit_test(test_token_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
