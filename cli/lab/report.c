// SPDX-License-Identifier: Apache-2.0
//
// How a lab is: its stations and jobs, and the result of the jobs when they are done. What the
// switches have counted is asked of them.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/cli.h"
#include "cli/lab/lab.h"
#include "cli/lab/place.h"
#include "control/socket/socket.h"

static const char *report_text(const json_t *o, const char *key) {
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

// What a switch has counted: received, sent, drops by reason; null: it does not answer.
static json_t *report_counts(const json_t *station) {
    struct sk_error err;
    struct sk_client *c = sk_client_open_within(report_text(station, "control_socket"), 5, &err);
    json_t *reply = c ? sk_client_call(c, json_pack("{s:s}", "op", "stats"), &err) : NULL;
    sk_client_close(c);
    return reply;
}

// The jobs' result with the switches' counts in place of the simulated ones; null: no jobs run.
static json_t *report_result_of(const json_t *lab) {
    json_t *result = place_read(lab, "result.json"), *one;
    json_t *switches = json_array();
    size_t i;
    if (!result) {
        json_decref(switches);
        return NULL;
    }
    json_array_foreach(json_object_get(lab, "stations"), i, one) {
        if (strcmp(report_text(one, "kind"), "switch") != 0)
            continue;
        json_t *counts = place_lives(lab) ? report_counts(one) : NULL;
        json_array_append_new(switches, json_pack("{s:s, s:o}", "name", report_text(one, "name"),
                                                  "counts", counts ? counts : json_null()));
    }
    json_object_set_new(result, "switches", switches);
    return result;
}

static double report_number(const json_t *o, const char *key) {
    return json_number_value(json_object_get(o, key));
}

static void report_jobs(const json_t *result, FILE *out) {
    size_t i;
    json_t *job;
    json_array_foreach(json_object_get(result, "jobs"), i, job) {
        fprintf(
            out, "%-12s %-10s %2zu workers  %9.3f ms  %.0f elements verified, %.0f sent again\n",
            report_text(job, "name"), report_text(job, "outcome"),
            json_array_size(json_object_get(job, "workers")), report_number(job, "done_us") / 1000,
            report_number(job, "verified"), report_number(job, "retransmissions"));
    }
    if (json_object_get(result, "violation"))
        fprintf(out, "violated: %s\n", report_text(result, "violation"));
}

// ---- status ----

static void report_stations(const json_t *lab, FILE *out) {
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(lab, "stations"), i, one) {
        const bool is_switch = strcmp(report_text(one, "kind"), "switch") == 0;
        json_t *counts = is_switch ? report_counts(one) : NULL;
        if (is_switch && counts)
            fprintf(out, "%-12s switch  %.0f packets received, %.0f sent\n",
                    report_text(one, "name"), report_number(counts, "rx_packets"),
                    report_number(counts, "tx_packets"));
        else if (is_switch)
            fprintf(out, "%-12s switch  does not answer\n", report_text(one, "name"));
        else
            fprintf(out, "%-12s host    %s\n", report_text(one, "name"),
                    report_text(one, "address"));
        json_decref(counts);
    }
}

int lab_status(const char *name, const char *json) {
    struct sk_error err;
    json_t *lab = place_find(name, &err);
    if (!lab) {
        fprintf(stderr, "silken lab: %s\n", err.text);
        return EXIT_UNUSABLE;
    }
    const bool lives = place_lives(lab);
    json_t *result = report_result_of(lab);
    json_object_set_new(lab, "state", json_string(lives ? "up" : "down"));
    if (result)
        json_object_set(lab, "result", result);
    int status = EXIT_GOOD;
    if (json) {
        status = cli_write_json("lab", lab, json) ? EXIT_GOOD : EXIT_UNUSABLE;
    } else {
        printf("%s is %s: %s, seed %lld, %g times slower than its scenario\n",
               report_text(lab, "name"), lives ? "up" : "down", report_text(lab, "file"),
               (long long)json_integer_value(json_object_get(lab, "seed")),
               report_number(lab, "slower"));
        if (lives)
            report_stations(lab, stdout);
        report_jobs(result, stdout);
        if (fflush(stdout) != 0 || ferror(stdout))
            status = EXIT_UNUSABLE;
    }
    json_decref(result);
    json_decref(lab);
    return status;
}

// ---- waiting for the jobs ----

int lab_wait(const struct lab_options *o) {
    struct sk_error err;
    json_t *lab = place_find(o->name, &err), *result = NULL;
    const uint64_t began = sk_clock_now();
    if (!lab) {
        fprintf(stderr, "silken lab: %s\n", err.text);
        return EXIT_UNUSABLE;
    }
    int status = json_is_true(json_object_get(lab, "jobs")) ? EXIT_GOOD : EXIT_UNUSABLE;
    if (status != EXIT_GOOD)
        fprintf(stderr, "silken lab: no jobs run in lab '%s'\n", report_text(lab, "name"));
    while (status == EXIT_GOOD) {
        json_decref(result);
        result = place_read(lab, "result.json");
        if (result && strcmp(report_text(result, "state"), "running") != 0)
            break;
        if (lab_interrupted) {
            fprintf(stderr, "silken lab: interrupted\n");
            status = EXIT_FAILED;
        } else if (!place_lives(lab)) {
            fprintf(stderr, "silken lab: lab '%s' has ended before its jobs\n",
                    report_text(lab, "name"));
            status = EXIT_FAILED;
        } else if (o->within_s && sk_clock_now() - began > o->within_s * UINT64_C(1000000000)) {
            fprintf(stderr, "silken lab: the jobs are not done after %u seconds\n", o->within_s);
            status = EXIT_FAILED;
        }
        poll(NULL, 0, 50);
    }
    json_decref(result);
    if (status == EXIT_GOOD) {
        const bool to_stdout = o->json && strcmp(o->json, "-") == 0;
        result = report_result_of(lab);
        report_jobs(result, to_stdout ? stderr : stdout);
        status = strcmp(report_text(result, "state"), "done") == 0 &&
                         strcmp(report_text(result, "outcome"), "violated") != 0
                     ? EXIT_GOOD
                     : EXIT_FAILED;
        if (o->json && !cli_write_json("lab", result, o->json))
            status = EXIT_UNUSABLE;
        json_decref(result);
    }
    json_decref(lab);
    return status;
}
