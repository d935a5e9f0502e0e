// SPDX-License-Identifier: Apache-2.0
//
// fuzz_jobs: aggregation jobs that come and go, over several switches, too, by requests that are
// mostly right and by any JSON, with reloads of several configurations and time between. After each
// step no two jobs have a number, a slot, an aggregator, a cell or a group in common, what is
// wanted of the tables are things of jobs there are, the switch refuses nothing, and a request that
// is refused has changed nothing.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/control/tor/fuzz_input.h"
#include "harness/control/tor/rig.h"

#define PORTS 5u
#define STEPS 60u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define START                                                                                      \
    "{\"mac\": \"02:00:00:00:00:fe\", \"vlans\": [{\"vid\": 10, \"addresses\": "                   \
    "[\"10.0.10.1/24\"]}, {\"vid\": 20, \"addresses\": [\"10.0.20.1/24\"]}], \"neighbours\": "     \
    "[{\"address\": \"10.0.10.2\", \"mac\": \"02:00:00:00:00:02\", \"vid\": 10}], \"links\": ["    \
    "{\"name\": \"a\", \"port\": 0, \"access\": 10}, {\"name\": \"t\", \"port\": 1, \"trunk\": "   \
    "\"all\"}"
#define FIXED                                                                                      \
    "{\"name\": \"0\", \"protocol\": \"switchml\", \"workers\": [\"a:10.0.10.2\"], \"slots\": "    \
    "100}"
static const char *const sections[] = {
    START ", {\"name\": \"l\", \"ports\": [2, 3], \"access\": 10}, {\"name\": \"c\", \"port\": 4, "
          "\"access\": 20}]}",
    START "], \"jobs\": [" FIXED "], \"ecn\": {\"from_cells\": 100}}",
    START ", {\"name\": \"l\", \"ports\": [3, 4], \"access\": 20}], \"jobs\": [" FIXED
          ", {\"name\": \"1\"}]}"};

// ---- what there is ----

static json_t *ask(struct rig *r, const char *op, json_t *request) {
    struct sk_error err = {""};
    json_t *result = tor_request(rig_tor(r), op, request, rig_now(r), &err);
    must(result || (err.text[0] && !strchr(err.text, '\n')));
    return result;
}

static json_t *ask_bare(struct rig *r, const char *op) {
    json_t *request = json_object(), *result = ask(r, op, request);
    json_decref(request);
    return result;
}

static long long number(const json_t *o, const char *key) {
    return json_integer_value(json_object_get(o, key));
}

static void look_at_two(const json_t *a, const json_t *b) {
    const char *protocol = json_string_value(json_object_get(a, "protocol"));
    const bool atp = strcmp(protocol, "atp") == 0, libra = strcmp(protocol, "libra") == 0;
    const char *first = atp     ? "first_aggregator"
                        : libra ? "first_cell"
                                : "first_slot",
               *n = atp     ? "aggregators"
                    : libra ? "cells"
                            : "slots";
    must(!json_equal(json_object_get(a, "name"), json_object_get(b, "name")));
    if (!json_equal(json_object_get(a, "protocol"), json_object_get(b, "protocol")))
        return;
    must(number(a, "number") != number(b, "number"));
    must(number(a, first) + number(a, n) <= number(b, first) ||
         number(b, first) + number(b, n) <= number(a, first));
    must(!atp || !json_equal(json_object_get(a, "group"), json_object_get(b, "group")));
}

static bool is_of_jobs(const char *object) {
    static const char *const words[] = {
        "guarded ", "registered ", "admission.workers ",  "receivers ",
        "returns ", "tagged ",     "membership.workers ", "receives "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(object, "entry ", 6) == 0 &&
            strncmp(object + 6, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

// Registered senders: of each admitted job one at each port of each host.
static size_t senders(const json_t *jobs) {
    size_t i, w, n = 0;
    json_t *job, *worker;
    json_array_foreach(jobs, i, job) {
        if (!json_is_true(json_object_get(job, "admitted")) || json_object_get(job, "waits"))
            continue;
        json_array_foreach(json_object_get(job, "workers"), w, worker) n +=
            json_array_size(json_object_get(worker, "ports"));
        json_array_foreach(json_object_get(job, "below"), w, worker) n +=
            json_array_size(json_object_get(worker, "ports"));
        json_array_foreach(json_object_get(job, "servers"), w, worker) n +=
            json_array_size(json_object_get(worker, "ports"));
        n += json_array_size(json_object_get(json_object_get(job, "above"), "ports"));
        n += json_array_size(json_object_get(json_object_get(job, "server"), "ports"));
    }
    return n;
}

// Whoever asks for one job gets what the list has of it.
static void look_at_one(struct rig *r, const json_t *listed) {
    json_t *name = json_pack("{s:O}", "name", json_object_get(listed, "name"));
    json_t *shown = ask(r, "job.show", name), *libra = tor_libra(rig_tor(r));
    must(json_equal(shown, listed));
    json_decref(shown);
    json_decref(name);
    json_decref(libra);
}

static void look(struct rig *r) {
    json_t *list = ask_bare(r, "job.list"), *jobs = json_object_get(list, "jobs"), *o;
    json_t *wanted = ask_bare(r, "tor.wanted");
    size_t registered = 0, i;
    bool any = false;
    for (size_t a = 0; a < json_array_size(jobs); a++) {
        any |= json_is_true(json_object_get(json_array_get(jobs, a), "admitted"));
        look_at_one(r, json_array_get(jobs, a));
        for (size_t b = 0; b < a; b++)
            look_at_two(json_array_get(jobs, a), json_array_get(jobs, b));
    }
    json_array_foreach(wanted, i, o) {
        const char *object = json_string_value(json_object_get(o, "object"));
        registered += strncmp(object, "entry registered ", 17) == 0;
        must(any || !is_of_jobs(object));
    }
    must(registered == senders(jobs));
    const char *alarm = json_string_value(json_object_get(rig_event(r, "alarm"), "alarm"));
    must(!alarm || strcmp(alarm, "refused") != 0);
    json_decref(wanted);
    json_decref(list);
}

// ---- what is asked for ----

static json_t *host(struct input *in) {
    static const char *const links[] = {"a", "t", "l", "c", "p0", "3", "x", "t"};
    const unsigned what = byte(in);
    char text[64];
    snprintf(text, sizeof text, "%s:10.0.%u.%u", links[what % 8], what & 8 ? 20u : 10u,
             byte(in) % 12u);
    return json_string(text);
}

// A job over several switches, whose numbers are mostly those that it needs.
static void levels(struct input *in, json_t *job) {
    const unsigned what = byte(in);
    const size_t n = json_array_size(json_object_get(job, "workers"));
    json_t *racks = json_array(), *below = json_array();
    for (size_t i = 0; i < n + (what & 3); i++)
        json_array_append_new(racks, json_integer(i < n));
    json_object_set_new(job, "racks", racks);
    if (n > 0 || what & 128)
        json_object_set_new(job, "rack", json_integer(what & 64 ? byte(in) % 3 : 1));
    if (what & 4)
        json_object_set_new(job, "above", host(in));
    for (unsigned k = what >> 3 & 3; k-- > 0;)
        json_array_append_new(below, host(in));
    if (json_array_size(below) > 0)
        json_object_set_new(job, "below", below);
    else
        json_decref(below);
    if (n == 0)
        json_object_del(job, "workers");
    json_object_set_new(job, "number", json_integer(byte(in) % 8));
}

// Mostly what such a job has.
static void of_libra(struct input *in, json_t *job) {
    const unsigned what = byte(in);
    json_t *servers = json_array();
    for (unsigned n = what & 3; n-- > 0;)
        json_array_append_new(servers, host(in));
    json_object_set_new(job, "protocol", json_string("libra"));
    json_object_del(job, "slots");
    if (json_array_size(servers) > 0)
        json_object_set_new(job, "servers", servers);
    else
        json_decref(servers);
    if (what & 4)
        json_object_set_new(job, "cells", json_integer((byte(in) << 6) + 1));
    if (what & 8)
        json_object_set_new(job, "epoch", json_integer(byte(in) << 8));
    if (what & 16)
        json_object_set_new(job, "hot", json_integer((byte(in) << 12) + 1));
}

static json_t *job(struct input *in) {
    const unsigned what = byte(in), more = byte(in);
    char name[2] = {(char)('0' + byte(in) % 6), '\0'};
    json_t *workers = json_array();
    for (unsigned n = byte(in) % 5; n-- > 0;)
        json_array_append_new(workers, host(in));
    json_t *out = json_pack("{s:s, s:s, s:o}", "name", name, "protocol",
                            what & 1 ? "atp" : "switchml", "workers", workers);
    if (what & 1)
        json_object_set_new(out, "server", host(in));
    if (what & 2)
        json_object_set_new(out, what & 1 ? "aggregators" : "slots",
                            json_integer((byte(in) << 6) + 1));
    if (more & 1)
        json_object_set_new(out, "number", json_integer(byte(in) % 8));
    if (more & 2)
        json_object_set_new(out, "vlan", json_integer(more & 4 ? 10 : 20));
    if (more & 8)
        json_object_set_new(out, "udp_port", json_integer(byte(in) << 8));
    if ((more & 0xf0) == 0xf0)
        json_object_set_new(out, "group", json_string(byte(in) & 1 ? "239.192.0.1" : "239.64.0.2"));
    if (!(what & 1) && what & 16)
        levels(in, out);
    else if ((what & 0x61) == 0x60)
        of_libra(in, out);
    return out;
}

static json_t *any_json(struct input *in) {
    const size_t wish = byte(in), n = wish < in->left ? wish : in->left;
    json_t *out = json_loadb((const char *)in->at, n, 0, NULL);
    in->at += n;
    in->left -= n;
    if (json_is_object(out))
        return out;
    json_decref(out);
    return json_object();
}

static void request(struct rig *r, const char *op, json_t *members) {
    json_t *jobs = ask_bare(r, "job.list"), *wanted = ask_bare(r, "tor.wanted");
    json_t *result = ask(r, op, members);
    json_t *jobs_after = ask_bare(r, "job.list"), *wanted_after = ask_bare(r, "tor.wanted");
    if (!result)
        must(json_equal(jobs, jobs_after) &&
             json_array_size(wanted) == json_array_size(wanted_after));
    json_decref(jobs);
    json_decref(wanted);
    json_decref(jobs_after);
    json_decref(wanted_after);
    json_decref(result);
    json_decref(members);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct input in = {data, size};
    // programs with levels, with Libra, and without
    static const char *const programs[] = {"p4/rack/rack.p4", "p4/rack/with_levels.p4",
                                           "p4/rack/with_libra.p4"};
    struct rig *r = rig_new_with(programs[byte(&in) % 3], PORTS, sections[0]);
    struct sk_error err;
    for (unsigned i = 0; i < STEPS && in.left > 0; i++) {
        const unsigned what = byte(&in);
        if (what < 140)
            request(r, "job.add", job(&in));
        else if (what < 200)
            request(r, "job.remove",
                    json_pack("{s:s%}", "name", &(char){(char)('0' + what % 6)}, (size_t)1));
        else if (what < 215)
            request(r, what & 1 ? "job.add" : "job.remove", any_json(&in));
        else if (what < 235)
            must(rig_reload(r, sections[what % 3], &err) == 0);
        else if (what < 245)
            rig_link(r, (uint16_t)(byte(&in) % PORTS), what & 1);
        else
            rig_wait(r, 100u * (what & 15));
        look(r);
    }
    rig_free(r);
    return 0;
}
