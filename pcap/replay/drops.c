// SPDX-License-Identifier: Apache-2.0
//
// drops: a line of JSON for each packet that did not leave.
//
// The engine says why and at which port. Where in the program it was comes from the checked build:
// the parser state for a parser's error, the assignment to drop_ctl with its action and table, else
// the last table that was applied, with its action. Of the fast
// build's drops the lines are written again by a second run, of the checked one (replay.c).
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "pcap/replay/replay_impl.h"
#include "pcap/replay/log.h"
#include "pipeline/switch/core.h"

// What is known of the run of a program that was last.
struct lane {
    struct sk_observer observer; // first: its address is ours
    struct replay_drops *drops;
    uint64_t serial;
    enum sk_event_gress gress;
    const char *state, *table, *action;
    struct sk_place state_at, table_at;
    bool asked; // to drop it, in that action (or null) of that table (or null)
    const char *asked_action, *asked_table;
    struct sk_place asked_at;
    unsigned pipe;
    uint64_t lines, digest; // digest: of all lines without places, in any order
    bool lacks;             // a place
    char *text;             // the line
    size_t length, room;
};

struct replay_drops {
    struct lane lanes[SK_PIPES];
    const struct sk_switch *sw;
    struct sk_observer *next;
    struct replay_log *log; // null: lines are written at once, and all is the first lane's
    FILE *file;
    char *path;
    bool again;
    uint64_t wanted, wanted_digest; // of the run before
};

static void remember(struct lane *d, const struct sk_packet *p, const struct sk_event *e) {
    static const struct sk_place nowhere;
    switch (e->kind) {
    case SK_EV_INGRESS:
    case SK_EV_EGRESS:
        d->serial = p->serial;
        d->gress = e->kind == SK_EV_INGRESS ? SK_IN_INGRESS : SK_IN_EGRESS;
        d->state = d->table = d->action = NULL;
        d->asked = false;
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
    case SK_EV_DROP_CTL: {
        const bool of_table = e->name && d->action && strcmp(e->name, d->action) == 0;
        d->asked = e->number & 1;
        d->asked_action = e->name;
        d->asked_table = of_table ? d->table : NULL;
        d->asked_at = e->at ? *e->at : nowhere;
        break;
    }
    default:
        break;
    }
}

static bool replay_drops_is_reason(const char *text, enum sk_drop_reason r) {
    return strcmp(text, sk_drop_text(r)) == 0;
}

// ---- lines ----

static void replay_drops_put(struct lane *d, const char *bytes, size_t n) {
    d->text = sk_grow_bytes(d->text, d->length, n, &d->room);
    memcpy(d->text + d->length, bytes, n);
    d->length += n;
}

static void replay_drops_put_text(struct lane *d, const char *text) {
    replay_drops_put(d, text, strlen(text));
}

static void replay_drops_put_number(struct lane *d, const char *before, uint64_t v) {
    char digits[20], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + v % 10);
    while (v /= 10);
    replay_drops_put_text(d, before);
    replay_drops_put(d, at, (size_t)(digits + sizeof digits - at));
}

// In quotes, without the first one.
static void put_rest_of_string(struct lane *d, const char *text) {
    while (*text) {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\')
            plain++;
        replay_drops_put(d, text, plain);
        text += plain;
        if (*text) {
            char escaped[8];
            snprintf(escaped, sizeof escaped, (unsigned char)*text < ' ' ? "\\u%04X" : "\\%c",
                     (unsigned char)*text);
            replay_drops_put_text(d, escaped);
            text++;
        }
    }
    replay_drops_put_text(d, "\"");
}

static void put_member(struct lane *d, const char *before, const char *text) {
    if (!text)
        return;
    replay_drops_put_text(d, before);
    put_rest_of_string(d, text);
}

static void replay_drops_put_place(struct lane *d, const struct sk_place *at) {
    char numbers[32];
    if (!at->file)
        return;
    put_member(d, ",\"at\":\"", at->file);
    d->length--; // the quote
    snprintf(numbers, sizeof numbers, ":%u:%u\"", at->line, at->column);
    replay_drops_put_text(d, numbers);
}

static void replay_drops_sum(const struct replay_drops *d, uint64_t *lines, uint64_t *digest) {
    *lines = *digest = 0;
    for (unsigned i = 0; i < SK_PIPES; i++) {
        *lines += d->lanes[i].lines;
        *digest += d->lanes[i].digest;
    }
}

bool replay_drops_done(const struct replay_drops *d) {
    uint64_t lines, digest;
    if (!d || !d->again)
        return false;
    replay_drops_sum(d, &lines, &digest);
    return lines == d->wanted;
}

// A line without its place is there.
static void count_line(struct lane *d) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
    for (size_t i = 0; i < d->length; i++)
        hash = (hash ^ (uint8_t)d->text[i]) * UINT64_C(0x100000001b3);
    d->digest += hash;
    d->lines++;
}

static void write_line(struct lane *d, const struct sk_packet *p, const struct sk_event *e) {
    bool parser = replay_drops_is_reason(e->text, SK_DROP_PARSER_ERROR);
    bool ingress = replay_drops_is_reason(e->text, SK_DROP_INGRESS_DROP) ||
                   replay_drops_is_reason(e->text, SK_DROP_CONSUMED) ||
                   replay_drops_is_reason(e->text, SK_DROP_TWICE) ||
                   replay_drops_is_reason(e->text, SK_DROP_NO_DESTINATION) ||
                   replay_drops_is_reason(e->text, SK_DROP_MCAST_EMPTY) ||
                   replay_drops_is_reason(e->text, SK_DROP_RESUBMIT_TWICE) ||
                   replay_drops_is_reason(e->text, SK_DROP_RESUBMIT_PORT);
    bool egress = replay_drops_is_reason(e->text, SK_DROP_EGRESS_DROP) ||
                  replay_drops_is_reason(e->text, SK_DROP_EGRESS_TWICE);
    bool known = d->serial == p->serial && (parser || (ingress && d->gress == SK_IN_INGRESS) ||
                                            (egress && d->gress == SK_IN_EGRESS));
    const struct sk_switch *sw = d->drops->sw;
    d->length = 0;
    replay_drops_put_number(d, "{\"time\":",
                            d->drops->log
                                ? sk_core_now(sk_switch_core((struct sk_switch *)sw, d->pipe))
                                : sk_switch_now(sw));
    replay_drops_put_number(d, ",\"packet\":", p->serial);
    replay_drops_put_number(d, ",\"received\":", p->ingress_port);
    if (e->port < SK_PORTS)
        replay_drops_put_number(d, ",\"port\":", e->port);
    put_member(d, ",\"reason\":\"", e->text);
    count_line(d);
    d->lacks |= (parser || ingress || egress) && !(known && (d->state || d->table || d->asked));
    const bool asked = replay_drops_is_reason(e->text, SK_DROP_INGRESS_DROP) ||
                       replay_drops_is_reason(e->text, SK_DROP_EGRESS_DROP);
    if (known && asked && d->asked) {
        put_member(d, ",\"table\":\"", d->asked_table);
        put_member(d, ",\"action\":\"", d->asked_action);
        replay_drops_put_place(d, &d->asked_at);
    } else if (known && !parser && d->table) {
        put_member(d, ",\"table\":\"", d->table);
        put_member(d, ",\"action\":\"", d->action);
        replay_drops_put_place(d, &d->table_at);
    } else if (known && d->state) {
        put_member(d, ",\"state\":\"", d->state);
        replay_drops_put_place(d, &d->state_at);
    }
    replay_drops_put_text(d, "}\n");
    if (d->drops->log)
        replay_log_line(d->drops->log, d->pipe, p->serial, d->text, d->length);
    else
        fwrite(d->text, 1, d->length, d->drops->file);
}

static void replay_drops_on_event(struct sk_observer *o, const struct sk_packet *p,
                                  const struct sk_event *e) {
    struct lane *d = (struct lane *)o;
    if (e->kind != SK_EV_DROPPED)
        remember(d, p, e);
    else if (!replay_drops_done(d->drops)) // what waits when the second run ends was not dropped
        write_line(d, p, e);
    struct sk_observer *next = d->drops->again ? NULL
                               : d->drops->log ? replay_log_observer(d->drops->log, d->pipe)
                                               : d->drops->next;
    if (next && (next->everything || e->kind == SK_EV_VIOLATION))
        next->event(next, p, e);
}

// ---- the file ----

// Golden captures have no drops beside them: nothing would be compared with those.
char *replay_drops_path(const struct replay_options *opt) {
    char *path = NULL;
    if (opt->drops
            ? !(path = strdup(opt->drops))
            : opt->out_dir && !opt->golden && asprintf(&path, "%s/drops.jsonl", opt->out_dir) < 0)
        abort();
    return path;
}

struct replay_drops *replay_drops_open(const char *path, const struct sk_switch *sw,
                                       struct replay_log *log, struct sk_observer *next,
                                       struct sk_error *err) {
    struct replay_drops *d = calloc(1, sizeof *d);
    if (!d || !(d->path = strdup(path)))
        abort();
    for (unsigned i = 0; i < SK_PIPES; i++)
        d->lanes[i] =
            (struct lane){.observer = {.everything = true, .event = replay_drops_on_event},
                          .drops = d,
                          .pipe = i};
    d->next = next;
    d->sw = sw;
    d->log = log;
    d->file = fopen(path, "we");
    if (d->file)
        return d;
    sk_fail(err, "cannot write %s: %s", path, strerror(errno));
    free(d->path);
    free(d);
    return NULL;
}

struct sk_observer *replay_drops_observer(struct replay_drops *d, unsigned pipe) {
    return &d->lanes[d->log ? pipe : 0].observer;
}

FILE *replay_drops_file(const struct replay_drops *d) {
    return d ? d->file : NULL;
}

bool replay_drops_lack_places(const struct replay_drops *d) {
    bool any = false;
    for (unsigned i = 0; d && i < SK_PIPES; i++)
        any |= d->lanes[i].lacks;
    return any;
}

bool replay_drops_can_be_anew(const char *path) {
    struct stat st;
    return stat(path, &st) || S_ISREG(st.st_mode);
}

int replay_drops_again(struct replay_drops *d, const struct sk_switch *sw, struct replay_log *log,
                       struct sk_error *err) {
    replay_drops_sum(d, &d->wanted, &d->wanted_digest);
    for (unsigned i = 0; i < SK_PIPES; i++)
        d->lanes[i].lines = d->lanes[i].digest = d->lanes[i].serial = 0;
    d->again = true;
    d->sw = sw;
    d->log = log;
    if (fflush(d->file) || ftruncate(fileno(d->file), 0) || fseek(d->file, 0, SEEK_SET))
        return sk_fail(err, "cannot write %s: %s", d->path, strerror(errno));
    return 0;
}

int replay_drops_same(const struct replay_drops *d, struct sk_error *err) {
    uint64_t lines, digest;
    replay_drops_sum(d, &lines, &digest);
    if (lines == d->wanted && digest == d->wanted_digest)
        return 0;
    return sk_fail(err,
                   "%s: the checked build dropped other packets than the fast one (%" PRIu64
                   " and %" PRIu64
                   "), so it cannot tell the places of drops; --fast leaves them out",
                   d->path, lines, d->wanted);
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
    for (unsigned i = 0; i < SK_PIPES; i++)
        free(d->lanes[i].text);
    free(d->path);
    free(d);
    return rc;
}
