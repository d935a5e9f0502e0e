// SPDX-License-Identifier: Apache-2.0
//
// input: several captures as one stream of packets with ports, in the order of their times.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/replay/replay_impl.h"
#include "pcap/replay/map.h"

// How many packets something is true of, and the number of the first.
struct tally {
    uint64_t n, first;
};

struct input {
    struct capture *capture;
    struct capture_frame frames[REPLAY_FEW]; // that were read, 'at' is the next one of 'n'
    int at, n;
    struct replay_map *map; // null: all of 'port'
    uint16_t port;          // of the next one
    bool more;              // there is one
    struct tally cut, late, timeless, unknown, filtered, foreign;
    char why[128];                        // the first foreign one is so
    uint64_t sent, notes, control, taken; // notes about packets, about the control plane
};

struct replay_inputs {
    const struct replay_options *opt;
    struct input *list, *next; // null: there is none
    struct input *empty;       // its next packet is not known yet, and 'next' not right; or null
    uint64_t clock;            // the latest time of a packet that was given
    uint64_t heard;            // of one that was left out because the switch sent it
    struct replay_packet packet;
    uint32_t wire_length; // of the last of few
};

static const struct capture_frame *replay_input_frame(const struct input *in) {
    return &in->frames[in->at];
}

// Of the next packet.
static uint64_t replay_input_number(const struct input *in) {
    return capture_count(in->capture) - (uint64_t)(in->n - in->at) + 1;
}

static void replay_input_count(struct tally *t, const struct input *in) {
    if (t->n++ == 0)
        t->first = replay_input_number(in);
}

static int replay_input_read_few(struct input *in, struct sk_error *err) {
    in->at = 0;
    in->n = capture_next_few(in->capture, in->frames, REPLAY_FEW, err);
    return in->n;
}

static void replay_input_see(struct input *in) {
    const struct capture_frame *f = &in->frames[in->at];
    in->taken++;
    if (f->length < f->wire_length)
        replay_input_count(&in->cut, in);
    if (f->timeless)
        replay_input_count(&in->timeless, in);
}

// What carries neither Ethernet nor IP is no switch's; it is counted.
static bool replay_input_is_foreign(struct input *in) {
    const char *why = in->frames[in->at].foreign;
    if (!why)
        return false;
    if (in->foreign.n == 0)
        snprintf(in->why, sizeof in->why, "%s", why);
    replay_input_count(&in->foreign, in);
    return true;
}

static bool replay_input_matches(const struct replay_inputs *s, const struct capture_frame *f) {
    return !s->opt->filter ||
           sk_filter_matches(s->opt->filter, f->bytes, f->length, f->wire_length);
}

// Goes to the next packet that has a port and matches, from the one at 'at' on. With 'reads' 1; 0
// at the capture's end; -1. Without it 1, or 0 when that would take reading, or fail.
static int replay_input_find(struct replay_inputs *s, struct input *in, bool reads,
                             struct sk_error *err) {
    for (;; in->at++) {
        if (in->at >= in->n) {
            const int rc = reads ? replay_input_read_few(in, err) : 0;
            if (rc <= 0) {
                in->n = 0;
                in->more = false;
                return rc;
            }
        }
        if (replay_input_is_foreign(in))
            continue;
        if (in->map)
            in->port = replay_map_port(in->map, &in->frames[in->at]);
        if (in->port < SK_PORTS && replay_input_matches(s, &in->frames[in->at]))
            break;
        if (in->port < SK_PORTS) {
            replay_input_count(&in->filtered, in);
            continue;
        }
        const bool wrong = in->port == REPLAY_NO_PORT && s->opt->strict_map;
        if (wrong && !reads) {
            in->more = false;
            return 0;
        }
        if (in->port == REPLAY_SENT) {
            const uint64_t time_ns = in->frames[in->at].time_ns;
            s->heard = time_ns > s->heard ? time_ns : s->heard;
            const bool outbound = in->frames[in->at].direction == CAPTURE_OUTBOUND,
                       control = replay_is_control(&in->frames[in->at]);
            in->sent += outbound;
            in->notes += !outbound && !control;
            in->control += control;
        } else
            replay_input_count(&in->unknown, in);
        if (wrong)
            return sk_fail(err, "%s: packet %" PRIu64 ": no part of --map matches it",
                           capture_path(in->capture), in->unknown.first);
    }
    in->more = true;
    // one without bytes never came as far as the program
    if (in->map && s->opt->expect_recorded && replay_input_frame(in)->length > 0 &&
        replay_input_frame(in)->length < replay_input_frame(in)->wire_length)
        return sk_fail(err,
                       "%s: packet %" PRIu64
                       " has only %u of its %u bytes: a cut packet cannot be replayed",
                       capture_path(in->capture), replay_input_number(in),
                       replay_input_frame(in)->length, replay_input_frame(in)->wire_length);
    replay_input_see(in);
    return 1;
}

static void replay_input_choose(struct replay_inputs *s) {
    struct input *best = NULL;
    for (size_t i = 0; i < s->opt->in.n; i++) {
        struct input *in = &s->list[i];
        if (in->more &&
            (!best || replay_input_frame(in)->time_ns < replay_input_frame(best)->time_ns))
            best = in;
    }
    s->next = best;
}

static int open_input(struct replay_inputs *s, struct input *in, const struct replay_file *file,
                      struct sk_error *err) {
    in->port = file->port;
    if (file->port == REPLAY_MAPPED && !(in->map = replay_map_parse(s->opt->map, err)))
        return -1;
    in->capture = capture_open_until(file->path, s->opt->stop, err);
    if (!in->capture)
        return -1;
    if (in->map && !replay_map_knows(in->map, capture_form(in->capture)))
        return sk_fail(err,
                       "%s: a pcap does not tell which interface received a packet; give its port "
                       "(PORT=CAPTURE) or --map with keys",
                       file->path);
    return replay_input_find(s, in, true, err) < 0 ? -1 : 0;
}

struct replay_inputs *replay_inputs_open(const struct replay_options *opt, struct sk_error *err) {
    struct replay_inputs *s = calloc(1, sizeof *s);
    if (!s || !(s->list = calloc(opt->in.n + 1, sizeof *s->list)))
        abort();
    s->opt = opt;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < opt->in.n; i++)
        rc = open_input(s, &s->list[i], &opt->in.items[i], err);
    if (rc < 0) {
        replay_inputs_close(s);
        return NULL;
    }
    replay_input_choose(s);
    return s;
}

const struct replay_packet *replay_inputs_peek(struct replay_inputs *s) {
    const struct input *in = s->next;
    if (!in)
        return NULL;
    const struct capture_frame *f = replay_input_frame(in);
    s->packet = (struct replay_packet){.time_ns = f->time_ns < s->clock ? s->clock : f->time_ns,
                                       .bytes = f->bytes,
                                       .wire_length = f->wire_length,
                                       .length = f->length,
                                       .port = in->port};
    return &s->packet;
}

// The next packet is to be the one behind; reads, if it is let.
static int replay_input_go_on(struct replay_inputs *s, bool reads, struct sk_error *err) {
    struct input *in = s->next;
    in->at++;
    const int rc = replay_input_find(s, in, reads, err);
    s->empty = !reads && rc == 0 ? in : NULL;
    if (rc < 0)
        return -1;
    if (s->opt->in.n > 1 || !in->more)
        replay_input_choose(s);
    return 0;
}

int replay_inputs_skip(struct replay_inputs *s, uint64_t n, struct sk_error *err) {
    for (; n > 0 && s->next; n--)
        if (replay_input_go_on(s, true, err))
            return -1;
    return 0;
}

static void see_time(struct replay_inputs *s, struct input *in) {
    if (replay_input_frame(in)->time_ns < s->clock)
        replay_input_count(&in->late, in);
    else
        s->clock = replay_input_frame(in)->time_ns;
}

int replay_inputs_take(struct replay_inputs *s, bool more, struct sk_error *err) {
    see_time(s, s->next);
    if (more)
        return replay_input_go_on(s, true, err);
    s->next = NULL;
    return 0;
}

unsigned replay_inputs_few(struct replay_inputs *s, struct sk_lent_frame *out, unsigned n) {
    unsigned i = 0;
    while (s->next && !s->empty) {
        const struct capture_frame *f = replay_input_frame(s->next);
        const uint16_t port = s->next->port;
        see_time(s, s->next);
        s->wire_length = f->wire_length;
        out[i++] = (struct sk_lent_frame){s->clock, f->bytes, f->length, port};
        if (i == n) // nothing after it is looked at yet
            break;
        if (s->opt->in.n == 1 && !s->next->map && !s->opt->filter && s->next->at + 1 < s->next->n) {
            s->next->at++;
            replay_input_see(s->next);
            continue;
        }
        replay_input_go_on(s, false, NULL);
    }
    return i;
}

uint64_t replay_inputs_control(const struct replay_inputs *s) {
    uint64_t n = 0;
    for (size_t i = 0; i < s->opt->in.n; i++)
        n += s->list[i].control;
    return n;
}

uint64_t replay_inputs_heard(const struct replay_inputs *s) {
    return s->heard;
}

uint32_t replay_inputs_wire_length(const struct replay_inputs *s) {
    return s->wire_length;
}

int replay_inputs_take_few(struct replay_inputs *s, bool more, struct sk_error *err) {
    struct input *in = s->empty;
    s->empty = NULL;
    if (!more) {
        s->next = NULL;
        return 0;
    }
    if (!in)
        return replay_input_go_on(s, true, err);
    if (replay_input_find(s, in, true, err) < 0)
        return -1;
    replay_input_choose(s);
    return 0;
}

void replay_inputs_ports(const struct replay_inputs *s, void (*each)(void *aux, uint16_t port),
                         void *aux) {
    for (size_t i = 0; i < s->opt->in.n; i++)
        if (s->list[i].map)
            replay_map_ports(s->list[i].map, each, aux);
        else
            each(aux, s->opt->in.items[i].port);
}

void replay_inputs_position(const struct replay_inputs *s, uint64_t *done, uint64_t *size) {
    *done = *size = 0;
    for (size_t i = 0; i < s->opt->in.n; i++) {
        uint64_t d, n;
        capture_position(s->list[i].capture, &d, &n);
        *done += d;
        *size += n;
        if (n == 0) {
            *size = 0;
            return;
        }
    }
}

// ---- what is odd with a capture ----

static void replay_input_say(FILE *f, const struct input *in, const struct tally *t,
                             const char *one, const char *more, const char *rest) {
    if (t->n)
        fprintf(f, "%s: %" PRIu64 " %s, the first is number %" PRIu64 "%s\n",
                capture_path(in->capture), t->n, t->n == 1 ? one : more, t->first, rest);
}

static void replay_input_report(const struct input *in, struct replay_counts *counts, FILE *f) {
    replay_input_say(f, in, &in->cut, "packet is cut by the capture",
                     "packets are cut by the capture", "");
    replay_input_say(f, in, &in->late, "packet is older than the one before",
                     "packets are older than the one before",
                     "; the earlier packet's time is used");
    replay_input_say(f, in, &in->timeless, "packet has no time", "packets have no time",
                     "; the earlier packet's time is used");
    replay_input_say(f, in, &in->unknown, "packet has no port", "packets have no port",
                     "; not replayed");
    if (in->sent)
        fprintf(f, "%s: %" PRIu64 " packet%s sent by the interface; not replayed\n",
                capture_path(in->capture), in->sent, in->sent == 1 ? " was" : "s were");
    if (in->notes)
        fprintf(f, "%s: %" PRIu64 " note%s dropped packets; not replayed\n",
                capture_path(in->capture), in->notes, in->notes == 1 ? " is about" : "s are about");
    counts->cut += in->cut.n;
    counts->late += in->late.n;
    replay_input_say(f, in, &in->filtered, "packet does not match the filter",
                     "packets do not match the filter", "; not replayed");
    if (in->foreign.n)
        fprintf(f,
                "%s: %" PRIu64 " packet%s neither Ethernet nor IP, the first is number %" PRIu64
                " (%s); not replayed\n",
                capture_path(in->capture), in->foreign.n,
                in->foreign.n == 1 ? " carries" : "s carry", in->foreign.first, in->why);
    counts->skipped += in->unknown.n + in->sent + in->notes + in->filtered.n + in->foreign.n;
}

bool replay_inputs_unmapped(const struct replay_inputs *s) {
    for (size_t i = 0; i < s->opt->in.n; i++)
        if (s->list[i].unknown.n && s->list[i].taken == 0)
            return true;
    return false;
}

int replay_inputs_report(const struct replay_inputs *s, struct replay_counts *counts,
                         FILE *messages, struct sk_error *err) {
    int rc = 0;
    for (size_t i = 0; i < s->opt->in.n; i++) {
        const struct input *in = &s->list[i];
        replay_input_report(in, counts, messages);
        if (rc == 0 && in->unknown.n && in->taken == 0)
            rc = sk_fail(err, "%s: none of its packets has a port: %s", capture_path(in->capture),
                         s->opt->map ? "no part of --map matches"
                                     : "no interface is called port-N; use --map");
    }
    for (size_t i = 0; rc == 0 && i < s->opt->in.n; i++)
        if (s->list[i].foreign.n && s->list[i].foreign.n == capture_count(s->list[i].capture))
            rc = sk_fail(err, "%s: none of its packets carries Ethernet or IP; %s",
                         capture_path(s->list[i].capture), s->list[i].why);
    return rc;
}

uint64_t replay_find(const struct replay_options *opt, const struct sk_filter *filter, uint64_t nth,
                     struct sk_error *err) {
    const struct replay_packet *p;
    uint64_t n = 0;
    int rc = 0;
    err->text[0] = '\0';
    struct replay_inputs *s = replay_inputs_open(opt, err);
    while (s && rc >= 0 && (p = replay_inputs_peek(s))) {
        n++;
        if (sk_filter_matches(filter, p->bytes, p->length, p->wire_length) && --nth == 0)
            break;
        rc = replay_inputs_take(s, true, err);
    }
    const bool found = s && rc >= 0 && nth == 0;
    replay_inputs_close(s);
    return found ? n : 0;
}

void replay_inputs_close(struct replay_inputs *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->opt->in.n; i++) {
        capture_close(s->list[i].capture);
        replay_map_free(s->list[i].map);
    }
    free(s->list);
    free(s);
}
