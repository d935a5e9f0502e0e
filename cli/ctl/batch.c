// SPDX-License-Identifier: Apache-2.0
#include "cli/ctl/ctl_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define BATCH_WORDS 4096 // on a line

// Requests that are sent together, and the lines that they come from.
struct batch {
    const char *name; // of the file
    json_t *requests;
    size_t *lines;
    size_t n, bytes;
    size_t done; // in all
    bool go_on, failed;
};

static int (*batch_command(const char *word))(struct ctl *c) {
    static const struct {
        const char *word;
        int (*run)(struct ctl *c);
    } commands[] = {{"table", ctl_table}, {"group", ctl_group},     {"register", ctl_register},
                    {"pre", ctl_pre},     {"counter", ctl_counter}, {"meter", ctl_meter},
                    {"hash", ctl_hash},   {"port", ctl_port}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (ctl_is(word, commands[i].word))
            return commands[i].run;
    return NULL;
}

// Splits the line in place, as a shell does with words in quotation marks; the rest after a word
// that begins with '#' is a comment. False: a quotation mark is not closed, or there are too many
// words.
static bool batch_split(char *line, char **words) {
    size_t n = 0;
    for (char *at = line;;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at || *at == '#')
            break;
        if (n == BATCH_WORDS)
            return false;
        char *to = at;
        words[n++] = at;
        char quote = 0;
        for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
            if (quote ? *at == quote : *at == '\'' || *at == '"')
                quote = quote ? 0 : *at;
            else
                *to++ = *at;
        }
        if (quote)
            return false;
        const bool last = !*at;
        *to = '\0';
        if (last)
            break;
        at++;
    }
    words[n] = NULL;
    return true;
}

static void batch_report(const struct batch *b, size_t line, const char *why) {
    fprintf(stderr, "silken ctl: %s:%zu: %s\n", b->name, line, why);
}

static void batch_read_replies(struct batch *b, const json_t *result) {
    size_t i;
    json_t *reply;
    json_array_foreach(json_object_get(result, "replies"), i, reply) {
        const char *why = json_string_value(json_object_get(reply, "error"));
        if (!json_is_true(json_object_get(reply, "ok")) && i < b->n)
            batch_report(b, b->lines[i], why ? why : "it failed");
    }
    const size_t good = (size_t)json_integer_value(json_object_get(result, "done"));
    b->done += good;
    b->failed |= good < b->n;
}

// False: nothing more is to be sent.
static bool batch_send(struct ctl *c, struct batch *b) {
    struct sk_error err;
    if (b->n == 0)
        return true;
    json_t *result = sk_client_call(
        c->client,
        json_pack("{s:s, s:O, s:b}", "op", "batch", "requests", b->requests, "continue", b->go_on),
        &err);
    if (!result) {
        batch_report(b, b->lines[0], err.text);
        b->failed = true;
        return false;
    }
    batch_read_replies(b, result);
    json_decref(result);
    json_array_clear(b->requests);
    b->n = b->bytes = 0;
    return !b->failed || b->go_on;
}

// Returns the request that a line stands for, as a new reference, or null if the line stands for no
// request. Sets '*bad' after a message.
static json_t *batch_request(const struct batch *b, char *text, size_t line, bool *bad) {
    static char *words[BATCH_WORDS + 1];
    *bad = true;
    if (!batch_split(text, words)) {
        batch_report(b, line, "a quotation mark is not closed, or there are too many words");
        return NULL;
    }
    if (!words[0]) {
        *bad = false;
        return NULL;
    }
    int (*run)(struct ctl *) = batch_command(words[0]);
    if (!run) {
        batch_report(b, line,
                     "a batch has only commands that change tables, groups, registers, "
                     "counters, meters, hashes, ports' metadata or replication");
        return NULL;
    }
    struct ctl one = {.words = words + 1, .request = json_object(), .collects = true};
    *bad = run(&one) != EXIT_GOOD || one.bad;
    if (*bad)
        batch_report(b, line, "this line was not understood");
    return *bad ? (json_decref(one.request), NULL) : one.request;
}

// As a request with this line.
static size_t batch_size_of(const json_t *request) {
    return json_dumpb(request, NULL, 0, JSON_COMPACT) + 1;
}

// All lines are read before the first is sent, so that a line with a mistake changes nothing.
static int batch_read(const struct batch *b, FILE *f, json_t *all, size_t **lines) {
    char *text = NULL;
    size_t room = 0, line = 0;
    bool bad = false;
    while (getline(&text, &room, f) >= 0) {
        bool this_bad;
        json_t *request = batch_request(b, text, ++line, &this_bad);
        bad |= this_bad;
        if (!request)
            continue;
        const size_t n = json_array_size(all);
        if ((n & (n - 1)) == 0) { // a power of two is full
            *lines = sk_resize(*lines, n ? 2 * n : 1, sizeof **lines);
        }
        (*lines)[n] = line;
        json_array_append_new(all, request);
    }
    free(text);
    if (ferror(f)) {
        fprintf(stderr, "silken ctl: cannot read %s: %s\n", b->name, strerror(errno));
        return EXIT_UNUSABLE;
    }
    return bad ? EXIT_UNUSABLE : EXIT_GOOD;
}

static void batch_send_all(struct ctl *c, struct batch *b, const json_t *all, size_t *lines) {
    size_t i;
    json_t *request;
    bool go = true;
    b->lines = lines;
    json_array_foreach(all, i, request) {
        const size_t bytes = batch_size_of(request);
        if (b->n == SK_BATCH || b->bytes + bytes > SK_SOCKET_LINE / 2)
            go = batch_send(c, b);
        if (!go)
            return;
        if (b->n == 0)
            b->lines = lines + i;
        json_array_append(b->requests, request);
        b->n++;
        b->bytes += bytes;
    }
    batch_send(c, b);
}

int ctl_batch(struct ctl *c) {
    struct batch b = {.requests = json_array()};
    json_t *all = json_array();
    size_t *lines = NULL;
    const char *name = ctl_next_word(c, "a file of commands, or '-'");
    b.go_on = *c->words && ctl_is(*c->words, "continue");
    c->words += b.go_on;
    if (*c->words && !c->bad)
        cli_misused("ctl", "unexpected argument '%s'", *c->words);
    int status = c->bad || *c->words ? EXIT_UNUSABLE : EXIT_GOOD;
    FILE *f = status ? NULL : ctl_is(name, "-") ? stdin : fopen(name, "re");
    if (!status && !f) {
        fprintf(stderr, "silken ctl: cannot open %s: %s\n", name, strerror(errno));
        status = EXIT_UNUSABLE;
    }
    b.name = ctl_is(name, "-") ? "standard input" : name;
    if (!status)
        status = batch_read(&b, f, all, &lines);
    if (!status) {
        batch_send_all(c, &b, all, lines);
        printf("%zu of %zu done\n", b.done, json_array_size(all));
        status = b.failed ? EXIT_FAILED : EXIT_GOOD;
    }
    if (f && f != stdin)
        fclose(f);
    free(lines);
    json_decref(all);
    json_decref(b.requests);
    return status;
}
