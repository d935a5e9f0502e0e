// SPDX-License-Identifier: Apache-2.0
//
// replay_drops: a line of JSON for each packet that did not leave.
//
// The engine says why and at which port. Where in the program it was comes from the checked build: the
// parser state for a parser's error, else the last table that was applied, with its action.
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/replay_impl.h"

struct replay_drops {
    struct sk_observer observer; // first: its address is ours
    struct sk_observer *next;
    const struct sk_switch *sw;
    FILE *file;
    char *path;
    // of the run of a program that was last
    uint64_t serial;
    enum sk_event_gress gress;
    const char *state, *table, *action;
    struct sk_place state_at, table_at;
};

static void remember(struct replay_drops *d, const struct sk_packet *p, const struct sk_event *e) {
    static const struct sk_place nowhere;
    switch (e->kind) {
    case SK_EV_INGRESS:
    case SK_EV_EGRESS:
        d->serial = p->serial;
        d->gress = e->kind == SK_EV_INGRESS ? SK_IN_INGRESS : SK_IN_EGRESS;
        d->state = d->table = d->action = NULL;
        break;
    case SK_EV_STATE:
        d->state = e->name;
        d->state_at = e->at ? *e->at : nowhere;
        break;
    case SK_EV_TABLE:
        d->table = e->name;
        d->action = e->action < e->table->n_actions ? e->table->actions[e->action]->name : NULL;
        d->table_at = e->at ? *e->at : nowhere;
        break;
    default:
        break;
    }
}

static bool is(const char *text, enum sk_drop_reason r) {
    return strcmp(text, sk_drop_text(r)) == 0;
}

static void add_text(json_t *line, const char *key, const char *text) {
    if (text)
        json_object_set_new(line, key, json_string(text));
}

static void add_place(json_t *line, const struct sk_place *at) {
    if (at->file)
        json_object_set_new(line, "at", json_sprintf("%s:%u:%u", at->file, at->line, at->column));
}

static void write_line(struct replay_drops *d, const struct sk_packet *p,
                       const struct sk_event *e) {
    bool parser = is(e->text, SK_DROP_PARSER_ERROR);
    bool ingress = is(e->text, SK_DROP_INGRESS_DROP) || is(e->text, SK_DROP_NO_DESTINATION) ||
                   is(e->text, SK_DROP_MCAST_EMPTY) || is(e->text, SK_DROP_RESUBMIT_TWICE) ||
                   is(e->text, SK_DROP_RESUBMIT_PORT);
    bool egress = is(e->text, SK_DROP_EGRESS_DROP);
    bool known = d->serial == p->serial && (parser || (ingress && d->gress == SK_IN_INGRESS) ||
                                            (egress && d->gress == SK_IN_EGRESS));
    json_t *line = json_object();
    json_object_set_new(line, "time", json_integer((json_int_t)sk_switch_now(d->sw)));
    json_object_set_new(line, "packet", json_integer((json_int_t)p->serial));
    json_object_set_new(line, "received", json_integer(p->ingress_port));
    if (e->port < SK_PORTS)
        json_object_set_new(line, "port", json_integer(e->port));
    add_text(line, "reason", e->text);
    if (known && parser) {
        add_text(line, "state", d->state);
        if (d->state)
            add_place(line, &d->state_at);
    } else if (known && d->table) {
        add_text(line, "table", d->table);
        add_text(line, "action", d->action);
        add_place(line, &d->table_at);
    } else if (known) {
        add_text(line, "state", d->state);
        if (d->state)
            add_place(line, &d->state_at);
    }
    char *text = json_dumps(line, JSON_COMPACT);
    if (!text)
        abort();
    fputs(text, d->file);
    fputc('\n', d->file);
    free(text);
    json_decref(line);
}

static void on_event(struct sk_observer *o, const struct sk_packet *p, const struct sk_event *e) {
    struct replay_drops *d = (struct replay_drops *)o;
    if (e->kind == SK_EV_DROPPED)
        write_line(d, p, e);
    else
        remember(d, p, e);
    if (d->next && (d->next->everything || e->kind == SK_EV_VIOLATION))
        d->next->event(d->next, p, e);
}

struct replay_drops *replay_drops_open(const char *path, const struct sk_switch *sw,
                                       struct sk_observer *next, struct sk_error *err) {
    struct replay_drops *d = calloc(1, sizeof *d);
    if (!d || !(d->path = strdup(path)))
        abort();
    d->observer = (struct sk_observer){.everything = true, .event = on_event};
    d->next = next;
    d->sw = sw;
    d->file = fopen(path, "we");
    if (d->file)
        return d;
    sk_fail(err, "cannot write %s: %s", path, strerror(errno));
    free(d->path);
    free(d);
    return NULL;
}

struct sk_observer *replay_drops_observer(struct replay_drops *d) {
    return &d->observer;
}

bool replay_drops_failed(const struct replay_drops *d) {
    return d && ferror(d->file);
}

int replay_drops_close(struct replay_drops *d, struct sk_error *err) {
    if (!d)
        return 0;
    bool bad = ferror(d->file);
    bad |= fclose(d->file) != 0;
    int rc = bad ? sk_fail(err, "cannot write %s: %s", d->path, strerror(errno)) : 0;
    free(d->path);
    free(d);
    return rc;
}
