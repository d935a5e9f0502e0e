// SPDX-License-Identifier: Apache-2.0
//
// gaps: what a recorded run lacks. A switch's core gives its packets numbers without gaps, whether
// they came in or were generated, and all records of a packet have its number: a number that no
// record has is that of a packet whose records are gone, unless its port was not recorded, or
// records did not fit and that was told.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/replay/map.h"
#include "pcap/replay/replay_impl.h"

#define NUMBER(id) ((id)&UINT64_C(0x00ffffffffffffff))
// Numbers that are missing at a time; more of them and nothing is known: files that were put
// together in some other way than one after the other.
#define MOST_GAPS 1024u

struct gap {
    uint64_t from, behind;
    char *path; // where it was noticed
};

struct core {
    uint64_t first, next; // numbers; 0: none was seen
    uint64_t begin;       // from which on all were seen that are in no gap
    uint64_t lost;        // records that did not fit
    bool begins_lossy;
    struct gap gaps[MOST_GAPS]; // by number
    size_t n;
};

struct replay_gaps {
    const struct replay_options *opt;
    struct core *cores[SK_PIPES];
    bool unknown;   // its numbers are not ours
    uint64_t twice; // the first that was received twice; 0: none
    char *twice_in; // the file of the second time
    bool generated; // some were: those that wait at the end have no record
    bool has[SK_PORTS];
};

struct replay_gaps *replay_gaps_new(const struct replay_options *opt) {
    struct replay_gaps *g = calloc(1, sizeof *g);
    if (!g)
        abort();
    g->opt = opt;
    return g;
}

static struct core *core_of(struct replay_gaps *g, uint64_t id) {
    const uint64_t i = id >> 56;
    if (i >= SK_PIPES)
        return NULL;
    if (!g->cores[i] && !(g->cores[i] = calloc(1, sizeof *g->cores[i])))
        abort();
    return g->cores[i];
}

static bool add_gap(struct core *c, size_t at, uint64_t from, uint64_t behind, const char *path) {
    if (c->n == MOST_GAPS)
        return false;
    memmove(&c->gaps[at + 1], &c->gaps[at], (c->n++ - at) * sizeof *c->gaps);
    c->gaps[at] = (struct gap){from, behind, strdup(path)};
    if (!c->gaps[at].path)
        abort();
    return true;
}

// The gap that has the number, or null.
static struct gap *gap_of(struct core *c, uint64_t number) {
    size_t i = c->n;
    while (i > 0 && c->gaps[i - 1].from > number)
        i--;
    return i > 0 && number < c->gaps[i - 1].behind ? &c->gaps[i - 1] : NULL;
}

// A number of the gap was seen. False when there is no room for what is left of it.
static bool replay_gaps_fill(struct core *c, struct gap *gap, uint64_t number) {
    const size_t i = (size_t)(gap - c->gaps);
    const uint64_t behind = gap->behind;
    gap->behind = number;
    if (number + 1 < behind && !add_gap(c, i + 1, number + 1, behind, gap->path))
        return false;
    if (gap->from == gap->behind) {
        free(gap->path);
        memmove(gap, gap + 1, (--c->n - i) * sizeof *gap);
    }
    return true;
}

// A packet that was received, and had been before.
static void note_twice(struct replay_gaps *g, uint64_t number, const char *path) {
    g->twice = number;
    g->twice_in = strdup(path);
    if (!g->twice_in)
        abort();
}

void replay_gaps_see(struct replay_gaps *g, const struct capture *capture,
                     const struct capture_frame *f) {
    struct core *c = f->packet_id ? core_of(g, f->packet_id) : NULL;
    const uint64_t number = NUMBER(f->packet_id);
    if (replay_is_control(f))
        return;
    g->unknown |= !c || number == 0;
    if (g->unknown)
        return;
    c->lost += f->lost;
    if (!c->first || number < c->first)
        c->first = number;
    if (!c->next) {
        // what waited when the recording began is sent in some other order
        if (f->direction != CAPTURE_INBOUND)
            return;
        c->begins_lossy = c->lost > 0;
        c->begin = number;
    } else if (number < c->next) {
        struct gap *gap = gap_of(c, number);
        if (gap)
            g->unknown = !replay_gaps_fill(c, gap, number);
        else if (f->direction == CAPTURE_INBOUND && !g->twice && number >= c->begin)
            note_twice(g, number, capture_path(capture));
        return;
    } else if (number > c->next) {
        g->unknown = !add_gap(c, c->n, c->next, number, capture_path(capture));
    } else {
        g->generated |= f->direction != CAPTURE_INBOUND;
    }
    c->next = number + 1;
}

void replay_gaps_end_file(struct replay_gaps *g, const struct capture *capture) {
    char name[16];
    for (unsigned port = 0; port < SK_PORTS; port++) {
        snprintf(name, sizeof name, "port-%u", port);
        g->has[port] = g->has[port] || capture_has_interface(capture, name);
    }
}

enum ports { ALL, SOME, UNKNOWN };
static enum ports recorded_ports(const struct replay_gaps *g) {
    enum ports which = UNKNOWN;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; g->opt->configs[i] && k < g->opt->configs[i]->n_ports; k++) {
            if (!g->has[g->opt->configs[i]->ports[k].port])
                return SOME;
            which = ALL;
        }
    return which;
}

static const struct gap *longest_gap(const struct core *c, uint64_t *missing) {
    const struct gap *longest = NULL;
    *missing = 0;
    for (size_t i = 0; i < c->n; i++) {
        const struct gap *gap = &c->gaps[i];
        *missing += gap->behind - gap->from;
        if (!longest || gap->behind - gap->from > longest->behind - longest->from)
            longest = gap;
    }
    return longest;
}

// Of a core. True: it is sure that a record is gone.
static bool replay_gaps_report_core(const struct replay_gaps *g, const struct core *c,
                                    enum ports ports, FILE *messages, struct sk_error *err) {
    char text[80], more[48] = "";
    uint64_t missing;
    if (c->first > 1 && !c->begins_lossy)
        fprintf(messages,
                "the recording starts with packet %" PRIu64 ": earlier packets are missing\n",
                c->first);
    const struct gap *gap = longest_gap(c, &missing);
    if (missing <= c->lost)
        return false;
    const uint64_t n = gap->behind - gap->from;
    if (n == 1)
        snprintf(text, sizeof text, "packet %" PRIu64 " of the recorded switch is", gap->from);
    else
        snprintf(text, sizeof text, "packets %" PRIu64 " to %" PRIu64 " of the recorded switch are",
                 gap->from, gap->behind - 1);
    if (missing > n)
        snprintf(more, sizeof more, ", and %" PRIu64 " more", missing - n);
    const char *what =
        ports == ALL ? "is a file of the ring missing, or was a port added later and not recorded?"
                     : "is a file of the ring missing, or a port not recorded?";
    if (ports != ALL || g->generated) {
        fprintf(messages, "%s: %s missing%s: %s\n", gap->path, text, more, what);
        return false;
    }
    sk_fail(err, "%s: %s missing%s: %s", gap->path, text, more, what);
    return true;
}

int replay_gaps_report(const struct replay_gaps *g, FILE *messages, struct sk_error *err) {
    const enum ports ports = recorded_ports(g);
    int rc = 0;
    if (!g->unknown && g->twice_in)
        fprintf(messages,
                "%s: packet %" PRIu64
                " of the recorded switch occurs twice: is a file given twice?\n",
                g->twice_in, g->twice);
    for (unsigned i = 0; !g->unknown && ports != SOME && i < SK_PIPES; i++)
        if (g->cores[i] && g->cores[i]->next &&
            replay_gaps_report_core(g, g->cores[i], ports, messages, err))
            rc = -1;
    return rc;
}

void replay_gaps_free(struct replay_gaps *g) {
    for (unsigned i = 0; g && i < SK_PIPES; i++) {
        for (size_t k = 0; g->cores[i] && k < g->cores[i]->n; k++)
            free(g->cores[i]->gaps[k].path);
        free(g->cores[i]);
    }
    if (g)
        free(g->twice_in);
    free(g);
}
