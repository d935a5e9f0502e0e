// SPDX-License-Identifier: Apache-2.0
#include "control/journal/journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"

#define PORTS 512u // of four pipes of 128, of which 72 exist
#define PIPE  128u
#define EXIST 72u

static const char *const names[JOURNAL_KINDS] = {
    [JOURNAL_BEGIN] = "control",     [JOURNAL_FRAMES] = "frames", [JOURNAL_DIGEST] = "digest",
    [JOURNAL_RUN] = "run",           [JOURNAL_PAUSE] = "pause",   [JOURNAL_WRITES] = "writes",
    [JOURNAL_TOOK] = "took",         [JOURNAL_RANDOM] = "random", [JOURNAL_SENT] = "sent",
    [JOURNAL_REFUSED] = "refused",   [JOURNAL_PORT] = "port",     [JOURNAL_LINK] = "link",
    [JOURNAL_REQUEST] = "request",   [JOURNAL_PORTS] = "ports",   [JOURNAL_SECTION] = "section",
    [JOURNAL_REPLACED] = "replaced",
};

// ---- writing ----

static json_t *journal_number(uint64_t n) {
    return json_integer((json_int_t)n); // all 64 bits, as a negative number where need be
}

// The first as it is, and of times the others as what is between; of ports all as they are.
static json_t *journal_list(const struct journal_note *note, bool times) {
    json_t *list = json_array();
    for (size_t i = 0; i < note->n; i++)
        json_array_append_new(
            list, journal_number(times && i ? note->list[i] - note->list[i - 1] : note->list[i]));
    return list;
}

static json_t *journal_main(const struct journal_note *note) {
    switch (note->kind) {
    case JOURNAL_BEGIN:
        return json_integer(JOURNAL_FORM);
    case JOURNAL_RUN:
        return journal_list(note, true);
    case JOURNAL_DIGEST:
        return journal_number(note->now);
    case JOURNAL_FRAMES:
    case JOURNAL_WRITES:
    case JOURNAL_TOOK:
    case JOURNAL_RANDOM:
        return journal_number(note->number);
    case JOURNAL_PORT:
    case JOURNAL_LINK:
        return json_integer(note->port);
    case JOURNAL_REQUEST:
    case JOURNAL_PORTS:
    case JOURNAL_SECTION:
        return note->value ? json_incref(note->value) : json_null();
    default:
        return json_true();
    }
}

char *journal_write(const struct journal_note *note) {
    json_t *root = json_object();
    json_object_set_new(root, names[note->kind], journal_main(note));
    if (note->kind == JOURNAL_BEGIN) {
        json_object_set_new(root, "secret", journal_number(note->number));
        json_object_set_new(root, "interval", journal_number(note->interval));
        json_object_set_new(root, "down", journal_list(note, false));
        if (note->text)
            json_object_set_new(root, "state", json_string(note->text));
    }
    if (note->kind == JOURNAL_PORT || note->kind == JOURNAL_LINK)
        json_object_set_new(root, "up", json_boolean(note->up));
    if (note->kind == JOURNAL_REQUEST)
        json_object_set_new(root, "op", json_string(note->text));
    if (note->kind == JOURNAL_FRAMES || note->kind == JOURNAL_LINK || note->kind == JOURNAL_REQUEST)
        json_object_set_new(root, "now", journal_number(note->now));
    char *text = json_dumps(root, JSON_COMPACT);
    json_decref(root);
    if (!text)
        abort();
    return text;
}

// ---- reading ----

static bool journal_read_number(const json_t *v, uint64_t *out) {
    *out = (uint64_t)json_integer_value(v);
    return json_is_integer(v);
}

static bool journal_read_port(const json_t *v, uint16_t *out) {
    const json_int_t n = json_integer_value(v);
    *out = (uint16_t)n;
    return json_is_integer(v) && n >= 0 && n < (json_int_t)PORTS && n % PIPE < EXIST;
}

static bool journal_read_list(const json_t *v, bool times, struct journal_note *note) {
    const size_t n = json_array_size(v);
    uint64_t before = 0;
    if (!json_is_array(v) || (times && n == 0))
        return false;
    note->list = sk_resize(NULL, n + 1, sizeof *note->list);
    for (note->n = 0; note->n < n; note->n++) {
        const json_t *item = json_array_get(v, note->n);
        uint64_t number;
        uint16_t port;
        if (times ? !journal_read_number(item, &number) : !journal_read_port(item, &port))
            return false;
        before = times ? before + number : port;
        note->list[note->n] = before;
    }
    return true;
}

static bool journal_read_text(const json_t *v, char **out) {
    const char *text = json_string_value(v);
    if (text)
        *out = sk_copy_text(text);
    return text;
}

static bool journal_read_bool(const json_t *v, bool *out) {
    *out = json_is_true(v);
    return json_is_boolean(v);
}

static bool journal_read_value(json_t *v, bool right, struct journal_note *note) {
    note->value = json_is_null(v) ? NULL : json_incref(v);
    return right;
}

static bool journal_read_main(json_t *root, json_t *v, struct journal_note *note) {
    const json_t *now = json_object_get(root, "now"), *state = json_object_get(root, "state");
    switch (note->kind) {
    case JOURNAL_BEGIN:
        return json_integer_value(v) == JOURNAL_FORM &&
               journal_read_number(json_object_get(root, "secret"), &note->number) &&
               journal_read_number(json_object_get(root, "interval"), &note->interval) &&
               journal_read_list(json_object_get(root, "down"), false, note) &&
               (!state || journal_read_text(state, &note->text));
    case JOURNAL_RUN:
        return journal_read_list(v, true, note);
    case JOURNAL_DIGEST:
        return journal_read_number(v, &note->now);
    case JOURNAL_FRAMES:
        return journal_read_number(v, &note->number) && journal_read_number(now, &note->now);
    case JOURNAL_WRITES:
    case JOURNAL_TOOK:
    case JOURNAL_RANDOM:
        return journal_read_number(v, &note->number);
    case JOURNAL_PORT:
        return journal_read_port(v, &note->port) &&
               journal_read_bool(json_object_get(root, "up"), &note->up);
    case JOURNAL_LINK:
        return journal_read_port(v, &note->port) &&
               journal_read_bool(json_object_get(root, "up"), &note->up) &&
               journal_read_number(now, &note->now);
    case JOURNAL_REQUEST:
        return journal_read_value(v, json_is_object(v), note) &&
               journal_read_text(json_object_get(root, "op"), &note->text) &&
               journal_read_number(now, &note->now);
    case JOURNAL_PORTS:
        return journal_read_value(v, json_is_array(v), note);
    case JOURNAL_SECTION:
        return journal_read_value(v, json_is_object(v), note);
    default:
        return json_is_true(v);
    }
}

int journal_read(const char *text, size_t length, struct journal_note *note, struct sk_error *err) {
    *note = (struct journal_note){.kind = JOURNAL_KINDS};
    json_t *root = sk_json_parse("a note of the control plane", text, length, err), *v = NULL;
    if (!root)
        return -1;
    for (int k = 0; !v && k < JOURNAL_KINDS; k++)
        if ((v = json_object_get(root, names[k])))
            note->kind = (enum journal_kind)k;
    const bool good = v && journal_read_main(root, v, note);
    json_decref(root);
    if (good)
        return 0;
    journal_free(note);
    return sk_fail(err, "a note of the control plane is not one that this version knows");
}

void journal_free(struct journal_note *note) {
    free(note->list);
    free(note->text);
    json_decref(note->value);
    *note = (struct journal_note){.kind = JOURNAL_KINDS};
}
