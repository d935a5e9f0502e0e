// SPDX-License-Identifier: Apache-2.0
#include "cli/ctl/ctl_impl.h"
#include "base/json.h"
#include "filter/filter.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ASK_MS 20

static volatile sig_atomic_t interrupted;

static void ctl_trace_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

// By number or name.
static void ctl_trace_add_port(struct ctl *c) {
    const char *word = ctl_next_word(c, "a port");
    json_t *ports = json_object_get(c->request, "ports");
    if (!ports) {
        ports = json_array();
        json_object_set_new(c->request, "ports", ports);
    }
    json_array_append_new(ports, sk_is_number(word) ? json_integer(ctl_number_of(word))
                                                    : json_string(word));
}

// Compiled here: it may ask for addresses by name, which no switch waits for.
static void ctl_trace_add_filter(struct ctl *c) {
    const char *expression = ctl_next_word(c, "an expression");
    struct sk_filter *filter = NULL;
    c->bad |= !c->bad && cli_filter("ctl", expression, &filter) != 0;
    if (filter)
        json_object_set_new(c->request, "filter", sk_filter_json(filter));
    sk_filter_free(filter);
}

static bool ctl_trace_take_words(struct ctl *c) {
    while (*c->words && !c->bad) {
        const char *word = *c->words++;
        if (ctl_is(word, "--port")) {
            ctl_trace_add_port(c);
        } else if (ctl_is(word, "--field")) {
            const char *pair = ctl_next_word(c, "NAME=VALUE");
            ctl_add_pair(c, "fields", pair, strlen(pair));
        } else if (ctl_is(word, "--filter")) {
            ctl_trace_add_filter(c);
        } else if (ctl_is(word, "--count")) {
            ctl_set_number(c, "count", ctl_next_word(c, "a number of packets"));
        } else if (ctl_is(word, "--timeout")) {
            ctl_set_number(c, "timeout", ctl_next_word(c, "the seconds"));
        } else if (ctl_is(word, "--json")) {
            c->json = true;
        } else {
            cli_misused("ctl", "unexpected argument '%s'", word);
            c->bad = true;
        }
    }
    return !c->bad;
}

static json_t *ctl_trace_ask(struct ctl *c, json_t *request) {
    struct sk_error err;
    json_t *reply = sk_client_call(c->client, request, &err);
    if (!reply)
        fprintf(stderr, "silken ctl: %s\n", err.text);
    return reply;
}

static void print_packets(const json_t *reply) {
    size_t i;
    json_t *text;
    json_array_foreach(json_object_get(reply, "packets"), i, text) {
        fputs(json_string_value(text), stdout);
    }
    fflush(stdout);
}

// The last reply; what is said about the packets goes to standard error.
static int ctl_trace_end(const json_t *reply) {
    const char *error = json_string_value(json_object_get(reply, "error"));
    const long long shown = sk_json_number(reply, "shown");
    if (error && *error) {
        fprintf(stderr, "silken ctl: %s\n", error);
        return EXIT_FAILED;
    }
    fprintf(stderr, "%lld of %lld packets matched%s\n", shown, sk_json_number(reply, "seen"),
            sk_json_number(reply, "differing")
                ? "; for some of them the switch acted differently, as marked above"
                : "");
    return shown > 0 && sk_json_number(reply, "differing") == 0 ? EXIT_GOOD : EXIT_FAILED;
}

static int ctl_trace_follow(struct ctl *c) {
    for (bool stopping = false;;) {
        const struct timespec rest = {0, ASK_MS * 1000000L};
        nanosleep(&rest, NULL);
        if (interrupted && !stopping) {
            stopping = true;
            json_t *stopped = ctl_trace_ask(c, json_pack("{s:s}", "op", "trace.stop"));
            if (!stopped)
                return EXIT_FAILED;
            json_decref(stopped);
        }
        json_t *reply = ctl_trace_ask(c, json_pack("{s:s}", "op", "trace.read"));
        if (!reply)
            return EXIT_FAILED;
        const char *state = json_string_value(json_object_get(reply, "state"));
        const bool over = !state || ctl_is(state, "done") || ctl_is(state, "failed") ||
                          (stopping && ctl_is(state, "compiling"));
        print_packets(reply);
        const int status = over ? ctl_trace_end(reply) : 0;
        json_decref(reply);
        if (over)
            return status;
    }
}

// silken ctl trace [--port PORT]... [--field NAME=VALUE]... [--filter EXPR] [--count N]
//     [--timeout SECONDS]
int ctl_trace(struct ctl *c) {
    const struct sigaction action = {.sa_handler = ctl_trace_interrupt};
    ctl_op(c, "trace.start");
    if (!ctl_trace_take_words(c))
        return EXIT_UNUSABLE;
    ctl_set_text(c, "form", c->json ? "json" : "text");
    json_t *reply = ctl_trace_ask(c, json_deep_copy(c->request));
    if (!reply)
        return EXIT_FAILED;
    json_decref(reply);
    sigaction(SIGINT, &action, NULL);
    return ctl_trace_follow(c);
}
