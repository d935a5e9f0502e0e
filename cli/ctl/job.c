// SPDX-License-Identifier: Apache-2.0
//
// job: aggregation jobs: the state of their slots (control/state/jobs.h), and those that the ToR's
// control plane admits (control/tor/jobs_impl.h).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ctl/ctl_impl.h"
#include "cli/ctl/print.h"
#include "base/json.h"

// ---- what is printed ----

static void print_host(const json_t *host, const char *what, size_t rank) {
    size_t i;
    json_t *port;
    printf("  %s", what);
    if (strcmp(what, "worker") == 0 || strcmp(what, "server, number") == 0)
        printf(" %zu", rank);
    printf("  %s at link %s, port", sk_json_text(host, "address"), sk_json_text(host, "link"));
    json_array_foreach(json_object_get(host, "ports"), i, port) {
        printf("%s%lld", i ? ", " : " ", json_integer_value(port));
    }
    printf(", VLAN %lld", sk_json_number(host, "vlan"));
    if (*sk_json_text(host, "mac"))
        printf(", %s", sk_json_text(host, "mac"));
    if (json_object_get(host, "packets"))
        printf(", %lld packets, %lld of them added before", sk_json_number(host, "packets"),
               sk_json_number(host, "repeated"));
    if (*sk_json_text(host, "waits"))
        printf(": %s", sk_json_text(host, "waits"));
    putchar('\n');
}

static void ctl_job_print_standing(const json_t *job) {
    printf("%s%s",
           json_is_true(json_object_get(job, "configured")) ? ", from the configuration" : "",
           json_is_true(json_object_get(job, "admitted")) ? ""
                                                          : ", not admitted: its places are taken");
}

static void print_what_it_waits_for(const json_t *job) {
    if (json_object_get(job, "waits"))
        printf(", waits %s", sk_json_text(job, "waits"));
    putchar('\n');
}

// Of a ToR.
static void print_rack_libra(const json_t *job) {
    const long long first = sk_json_number(job, "first_cell");
    const json_t *workers = json_object_get(job, "workers");
    size_t i;
    json_t *member;
    printf("%s: Libra job %lld, epoch %lld", sk_json_text(job, "name"),
           sk_json_number(job, "number"), sk_json_number(job, "epoch"));
    if (json_object_get(job, "hot"))
        printf(", %lld hot parameters", sk_json_number(job, "hot"));
    printf(", cells %lld to %lld of each register", first,
           first + sk_json_number(job, "cells") - 1);
    ctl_job_print_standing(job);
    print_what_it_waits_for(job);
    json_array_foreach(workers, i, member) {
        print_host(member, "worker", i);
    }
    json_array_foreach(json_object_get(job, "servers"), i, member) {
        print_host(member, "server, number", json_array_size(workers) + i);
    }
}

static void print_libra(const json_t *job) {
    static const struct {
        const char *key, *text;
    } counts[] = {{"copies", "answers copied"},
                  {"acks", "of them acknowledged"},
                  {"repeated", "sent again"},
                  {"given_up", "given up"},
                  {"lost", "lost"},
                  {"rests", "pushes left"},
                  {"rests_done", "of them acknowledged by servers"}};
    const json_t *stats = json_object_get(job, "stats");
    const long long first = sk_json_number(job, "first_cell");
    size_t i;
    json_t *m;
    printf("%s: Libra job %lld, epoch %lld, layout %s, %lld hot parameters, cells %lld to %lld of "
           "each register",
           sk_json_text(job, "name"), sk_json_number(job, "number"), sk_json_number(job, "epoch"),
           sk_json_text(job, "digest"), sk_json_number(job, "hot"), first,
           first + sk_json_number(job, "cells") - 1);
    print_what_it_waits_for(job);
    json_array_foreach(json_object_get(job, "members"), i, m) {
        printf("  %s %zu  %s at port %lld, %lld pushes repeated\n",
               sk_json_is(m, "server") ? "server, number" : "worker", i, sk_json_text(m, "address"),
               sk_json_number(m, "port"), sk_json_number(m, "repetitions"));
    }
    printf("  ");
    for (i = 0; i < sizeof counts / sizeof *counts; i++)
        printf("%s%lld %s", i ? ", " : "", sk_json_number(stats, counts[i].key), counts[i].text);
    putchar('\n');
}

static void ctl_job_print(const json_t *job) {
    if (strcmp(sk_json_text(job, "protocol"), "libra") == 0) {
        (json_object_get(job, "members") ? print_libra : print_rack_libra)(job);
        return;
    }
    const bool atp = strcmp(sk_json_text(job, "protocol"), "atp") == 0;
    const long long first = sk_json_number(job, atp ? "first_aggregator" : "first_slot"),
                    n = sk_json_number(job, atp ? "aggregators" : "slots");
    size_t i;
    json_t *worker;
    printf("%s: %s job %lld, %s %lld to %lld", sk_json_text(job, "name"), atp ? "ATP" : "SwitchML",
           sk_json_number(job, "number"), atp ? "aggregators" : "slots", first, first + n - 1);
    if (atp)
        printf(", parameters to %s", sk_json_text(job, "group"));
    if (json_object_get(job, "job_workers"))
        printf(", %zu of %lld workers", json_array_size(json_object_get(job, "workers")),
               sk_json_number(job, "job_workers"));
    ctl_job_print_standing(job);
    if (json_object_get(job, "resuming"))
        printf(", resuming: %s", sk_json_text(job, "resuming"));
    if (sk_json_number(job, "session") > 0)
        printf(", session %lld", sk_json_number(job, "session"));
    if (*sk_json_text(job, "session_waits"))
        printf(", %s", sk_json_text(job, "session_waits"));
    putchar('\n');
    json_array_foreach(json_object_get(job, "workers"), i, worker) {
        const bool ranked = json_object_get(worker, "rank") != NULL;
        print_host(worker, "worker", ranked ? (size_t)sk_json_number(worker, "rank") : i);
    }
    json_array_foreach(json_object_get(job, "below"), i, worker) {
        print_host(worker, "switch below", i);
    }
    if (json_object_get(job, "above"))
        print_host(json_object_get(job, "above"), "switch above", 0);
    if (atp)
        print_host(json_object_get(job, "server"), "server", 0);
}

// A job of the job service: who has come, and for whom it waits.
static void print_served(const json_t *job) {
    const char *state = sk_json_text(job, "state");
    size_t i;
    json_t *v;
    printf("%s: ", sk_json_text(job, "name"));
    if (strcmp(state, "waiting") == 0 && json_array_size(json_object_get(job, "missing")) == 0)
        printf("waits for its turn");
    else if (strcmp(state, "waiting") == 0)
        printf("waits for rank");
    else
        printf("%s for the job service", state);
    json_array_foreach(json_object_get(job, "missing"), i, v) {
        printf("%s%lld", i ? ", " : " ", json_integer_value(v));
    }
    printf(" of %lld, for %lld s", sk_json_number(job, "workers"), sk_json_number(job, "seconds"));
    if (*sk_json_text(job, "why"))
        printf(": %s", sk_json_text(job, "why"));
    putchar('\n');
    json_array_foreach(json_object_get(job, "members"), i, v) {
        printf("  rank %lld from %s, for %lld s%s%s\n", sk_json_number(v, "rank"),
               sk_json_text(v, "address"), sk_json_number(v, "seconds"),
               *sk_json_text(v, "waits") ? ": " : "", sk_json_text(v, "waits"));
    }
}

static void ctl_job_print_list(const json_t *result) {
    const json_t *jobs = json_object_get(result, "jobs"),
                 *served = json_object_get(result, "service");
    size_t i;
    json_t *job;
    json_array_foreach(jobs, i, job) {
        ctl_job_print(job);
    }
    json_array_foreach(json_object_get(result, "lost"), i, job) {
        printf("%s: not admitted since the switch was started: %s\n", sk_json_text(job, "name"),
               sk_json_text(job, "why"));
    }
    json_array_foreach(served, i, job) {
        print_served(job);
    }
    if (json_array_size(jobs) + json_array_size(json_object_get(result, "lost")) +
            json_array_size(served) ==
        0)
        puts("no job");
}

static void print_nothing(const json_t *result) {
    (void)result;
}

// ---- words ----

// "port:address,port:address"
static void ctl_job_set_list(struct ctl *c, const char *key, const char *words) {
    json_t *list = json_array();
    char *copy = strdup(words), *rest = copy, *word;
    while (copy && (word = strsep(&rest, ",")))
        json_array_append_new(list, json_string(word));
    free(copy);
    json_object_set_new(c->request, key, list);
}

// The switch has another working directory.
static void ctl_job_set_path(struct ctl *c, const char *key, const char *path) {
    char *whole = realpath(path, NULL);
    ctl_set_text(c, key, whole ? whole : path);
    free(whole);
}

// "0,0,1"; what is no number goes as it is, and is refused.
static void set_numbers(struct ctl *c, const char *key, const char *words) {
    json_t *list = json_array();
    char *copy = strdup(words), *rest = copy, *word;
    while (copy && (word = strsep(&rest, ","))) {
        char *end;
        const long n = strtol(word, &end, 10);
        json_array_append_new(list, *word && !*end ? json_integer(n) : json_string(word));
    }
    free(copy);
    json_object_set_new(c->request, key, list);
}

static int job_add(struct ctl *c) {
    static const struct {
        const char *option, *key;
        enum { TEXT, PATH, NUMBER, LIST, NUMBERS, YES_OR_NO } kind;
    } options[] = {
        {"--protocol", "protocol", TEXT},
        {"--workers", "workers", LIST},
        {"--server", "server", TEXT},
        {"--servers", "servers", LIST},
        {"--layout", "layout", PATH},
        {"--cells", "cells", NUMBER},
        {"--parameters", "parameters", NUMBER},
        {"--epoch", "epoch", NUMBER},
        {"--hot", "hot", NUMBER},
        {"--slots", "slots", NUMBER},
        {"--number", "number", NUMBER},
        {"--aggregators", "aggregators", NUMBER},
        {"--vlan", "vlan", NUMBER},
        {"--address", "address", TEXT},
        {"--group", "group", TEXT},
        {"--rate", "rate", NUMBER},
        {"--udp-port", "udp_port", NUMBER},
        {"--resume", "resume", YES_OR_NO},
        {"--sessions", "sessions", YES_OR_NO},
        {"--racks", "racks", NUMBERS},
        {"--rack", "rack", NUMBER},
        {"--server-rack", "server_rack", NUMBER},
        {"--above", "above", TEXT},
        {"--below", "below", LIST},
    };
    ctl_op(c, "job.add");
    ctl_set_text(c, "name", ctl_next_word(c, "the job's name"));
    while (*c->words) {
        size_t i = 0;
        while (i < sizeof options / sizeof *options && !ctl_is(*c->words, options[i].option))
            i++;
        if (i == sizeof options / sizeof *options)
            return ctl_unknown(c, "job add", *c->words);
        const char *value = (c->words++, ctl_next_word(c, options[i].option));
        if (options[i].kind == PATH)
            ctl_job_set_path(c, options[i].key, value);
        else if (options[i].kind == LIST)
            ctl_job_set_list(c, options[i].key, value);
        else if (options[i].kind == NUMBERS)
            set_numbers(c, options[i].key, value);
        else if (options[i].kind == YES_OR_NO)
            json_object_set_new(c->request, options[i].key,
                                strcmp(value, "no") == 0    ? json_false()
                                : strcmp(value, "yes") == 0 ? json_true()
                                                            : json_string(value));
        else
            (options[i].kind == TEXT ? ctl_set_text : ctl_set_number)(c, options[i].key, value);
    }
    return ctl_finish(c, ctl_job_print);
}

static int job_remove(struct ctl *c) {
    ctl_op(c, "job.remove");
    ctl_set_text(c, "name", ctl_next_word(c, "the job's name"));
    return ctl_finish(c, print_nothing);
}

int ctl_job(struct ctl *c) {
    const char *word = *c->words;
    if (word && ctl_is(word, "add"))
        return c->words++, job_add(c);
    if (word && ctl_is(word, "remove"))
        return c->words++, job_remove(c);
    if (word && ctl_is(word, "show")) {
        c->words++;
        ctl_op(c, "job.show");
        ctl_set_text(c, "name", ctl_next_word(c, "the job's name"));
        return ctl_finish(c, ctl_job_print);
    }
    if (word && ctl_is(word, "list")) {
        c->words++;
        ctl_op(c, "job.list");
        return ctl_finish(c, ctl_job_print_list);
    }
    ctl_op(c, "job");
    if (word)
        ctl_set_number(c, "job", *c->words++);
    return ctl_finish(c, ctl_print_jobs);
}
