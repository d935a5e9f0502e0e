// SPDX-License-Identifier: Apache-2.0
//
// compare: what ports send, held against golden captures, in order and port by port.
//
// Which bytes are which field is what the deparsers that wrote the packet told (checked build): the
// headers that each pass emitted, in order (pcap/packet/layout.h). The golden packet is read by the
// same layout.
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/tables/names.h"
#include "pcap/replay/align.h"
#include "pcap/replay/replay_impl.h"
#include "stages/bits.h"

#define LOST_NOTE "silken lost: " // pcap/record/record.h

struct gold {
    struct replay_compare *all; // whose it is
    uint16_t port;
    struct capture *capture;
    struct capture_frame frame; // the next one, when 'ahead'
    bool ahead;
    bool expected;          // the port is compared
    struct align *align;    // from the first difference on
    uint64_t n, read;       // packets sent, and golden ones
    uint64_t missing;       // golden ones after them
    uint64_t first_missing; // its number
    uint64_t serial;        // of the last one that was sent, and is decided
    uint64_t dropped;       // of the last one that was shown as dropped
    size_t file;            // of a recorded run: which of the captures to be replayed comes next
};

// Packets that wait until it is known what they are to each other (pcap/replay/align.h).
struct sent_packet {
    uint64_t number, serial, time_ns;
    struct layout layout;
    uint32_t length;
    uint8_t *keep; // the bits that are compared; null: all
    uint8_t bytes[];
};
struct golden_packet {
    uint64_t number, time_ns;
    char *path;
    uint32_t length;
    uint8_t bytes[];
};

// A packet that differs, as it will be shown.
struct difference {
    char *text;
    size_t length;
    const char *traced; // what its trace is; or null
};
#define ITS_WAY "its way"

#define DROPS 4096u // that are known still

struct replay_compare {
    struct sk_observer observer; // first: its address is ours
    struct sk_observer *next;
    bool observes; // compares when it is told that a packet is sent
    struct sk_error err;
    uint64_t (*time)(void *aux, uint16_t port); // null: not known
    void *time_aux;
    bool failed;
    bool misses; // a recorded run: it has not all packets
    const struct replay_options *opt;
    FILE *messages;
    struct gold golds[SK_PORTS];
    uint64_t differences;
    struct difference *shown; // the first opt->show of them
    struct replay_wanted *wanted;
    size_t n_wanted;
    uint64_t serial; // of the packet that is compared; 0: nobody knows
    bool *ignored;   // one for each name: some field has it
    struct journeys *journeys;
    struct layout now; // of the packet that is compared, when it may differ
    uint8_t keep[65536];
    uint64_t dropped[DROPS]; // serials, a ring
    uint64_t n_dropped;
};

static int replay_compare_compare(struct replay_compare *c, uint16_t port, const uint8_t *frame,
                                  uint32_t length, struct sk_error *err);

static void replay_compare_on_event(struct sk_observer *o, const struct sk_packet *p,
                                    const struct sk_event *e) {
    struct replay_compare *c = (struct replay_compare *)o;
    journeys_follow(c->journeys, p, e);
    if (e->kind == SK_EV_SENT) {
        c->serial = p->serial;
        c->failed = c->failed || replay_compare_compare(c, e->port, e->bytes, e->length, &c->err);
    }
    if (e->kind == SK_EV_DROPPED)
        c->dropped[c->n_dropped++ % DROPS] = p->serial;
    if (c->next && (c->next->everything || e->kind == SK_EV_VIOLATION))
        c->next->event(c->next, p, e);
}

// Whether the field is one of those to ignore.
static bool replay_compare_ignores(void *aux, const struct layout *l, uint32_t h, uint32_t f) {
    struct replay_compare *c = aux;
    if (c->opt->n_ignore == 0)
        return false;
    char *name = layout_field_name(l, h, f);
    bool any = false;
    for (size_t i = 0; i < c->opt->n_ignore; i++)
        if (sk_name_matches(name, c->opt->ignore[i]))
            any = c->ignored[i] = true;
    free(name);
    return any;
}

static void clear_bits(uint8_t *bytes, uint32_t length, uint32_t from, uint32_t n) {
    for (uint32_t bit = from; bit < from + n && bit / 8 < length; bit++)
        bytes[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
}

// Where the packet's headers are, and which of its bits are compared; null: all.
static const uint8_t *replay_compare_look_at(struct replay_compare *c, const uint8_t *frame,
                                             uint32_t length) {
    const struct layout *l = &c->now;
    journeys_find(c->journeys, c->serial, frame, length, &c->now);
    if (c->opt->n_ignore == 0)
        return NULL;
    memset(c->keep, 0xff, length);
    for (uint32_t h = 0; h < l->n; h++) {
        const struct sk_header_desc *d = l->headers[h].desc;
        for (uint32_t f = 0; f < d->n_fields; f++)
            if (replay_compare_ignores(c, l, h, f))
                clear_bits(c->keep, length, 8 * l->headers[h].offset + d->fields[f].bit_offset,
                           d->fields[f].width);
    }
    return c->keep;
}

static bool byte_is_same(const uint8_t *a, const uint8_t *b, const uint8_t *keep, uint32_t at) {
    return ((a[at] ^ b[at]) & (keep ? keep[at] : 0xff)) == 0;
}

static bool is_same(const uint8_t *a, const uint8_t *b, const uint8_t *keep, uint32_t length) {
    if (!keep)
        return memcmp(a, b, length) == 0;
    for (uint32_t at = 0; at < length; at++)
        if (!byte_is_same(a, b, keep, at))
            return false;
    return true;
}

// ---- showing a difference ----

// Where to write about one more difference; null when enough are shown. The trace of 'serial'
// belongs to it, until the port has sent 'number' packets; 0: none.
static FILE *next_difference(struct gold *g, const char *traced, uint64_t serial, uint64_t number) {
    struct replay_compare *c = g->all;
    if (c->differences++ >= c->opt->show)
        return NULL;
    struct difference *d = &c->shown[c->differences - 1];
    FILE *out = open_memstream(&d->text, &d->length);
    if (!out)
        abort();
    d->traced = serial ? traced : NULL;
    if (serial)
        c->wanted[c->n_wanted++] = (struct replay_wanted){serial, number, g->port};
    return out;
}

// ---- golden packets ----

// The next of the captures of a recorded run, into '*capture'. 1, 0 when there is none, or -1.
static int next_recorded(const struct replay_options *opt, size_t *file, struct capture **capture,
                         struct sk_error *err) {
    capture_close(*capture);
    *capture = NULL;
    for (; *file < opt->in.n; ++*file)
        if (opt->in.items[*file].port == REPLAY_MAPPED) {
            *capture = capture_open(opt->in.items[(*file)++].path, err);
            return *capture ? 1 : -1;
        }
    return 0;
}

// A packet that a recorded run's port sent; null: another one.
static struct gold *sent_by(struct replay_compare *c, const struct capture_frame *f) {
    if (f->comment && memmem(f->comment, f->comment_length, LOST_NOTE, strlen(LOST_NOTE)))
        c->misses = true;
    const char *name = f->interface->name;
    if (f->direction != CAPTURE_OUTBOUND || !name || strncmp(name, "port-", 5) != 0)
        return NULL;
    char *end;
    unsigned long port = strtoul(name + 5, &end, 10);
    return name[5] && !*end && port < SK_PORTS ? &c->golds[port] : NULL;
}

// As capture_next(); what carries neither Ethernet nor IP has not been sent by a switch.
static int replay_compare_next(struct capture *c, struct capture_frame *f, struct sk_error *err) {
    const int rc = capture_next(c, f, err);
    return rc > 0 && f->foreign
               ? sk_fail(err, "%s: packet %" PRIu64 " carries neither Ethernet nor IP; %s",
                         capture_path(c), capture_count(c), f->foreign)
               : rc;
}

// As capture_next().
static int next_gold(struct replay_compare *c, struct gold *g, struct sk_error *err) {
    if (!c->opt->expect_recorded)
        return g->capture ? replay_compare_next(g->capture, &g->frame, err) : 0;
    int rc = g->capture || g->file ? 1 : next_recorded(c->opt, &g->file, &g->capture, err);
    while (rc > 0 && g->capture) {
        rc = replay_compare_next(g->capture, &g->frame, err);
        if (rc > 0 && sent_by(c, &g->frame) == g)
            return 1;
        if (rc == 0)
            rc = next_recorded(c->opt, &g->file, &g->capture, err);
    }
    return rc < 0 ? -1 : 0;
}

// What was recorded of ports that sent nothing now.
static int count_silent(struct replay_compare *c, struct replay_gaps *gaps, struct sk_error *err) {
    struct capture *capture = NULL;
    struct capture_frame f;
    size_t file = 0;
    int rc = next_recorded(c->opt, &file, &capture, err);
    while (rc > 0) {
        rc = replay_compare_next(capture, &f, err);
        struct gold *g = rc > 0 ? sent_by(c, &f) : NULL;
        if (g && g->n == 0)
            g->missing++;
        if (rc > 0)
            replay_gaps_see(gaps, capture, &f);
        else if (rc == 0)
            replay_gaps_end_file(gaps, capture);
        if (rc == 0)
            rc = next_recorded(c->opt, &file, &capture, err);
    }
    capture_close(capture);
    return rc;
}

static int count_missing(struct replay_compare *c, struct gold *g, struct sk_error *err) {
    int more = 0;
    while (g->capture && (more = next_gold(c, g, err)) > 0)
        g->missing++;
    return more;
}

// ---- what they are to each other ----

static bool replay_compare_is_field(const struct layout *l, uint32_t at) {
    for (uint32_t h = 0; h < l->n; h++)
        if (at - l->headers[h].offset < l->headers[h].desc->bytes)
            return true;
    return false;
}

static void forget_sent(struct gold *g, struct sent_packet *s) {
    if (!s)
        return;
    g->serial = s->serial;
    free(s->keep);
    free(s);
}

static void forget_golden(struct golden_packet *p) {
    if (p)
        free(p->path);
    free(p);
}

static bool on_equal(void *aux, const void *sent, const void *golden) {
    const struct sent_packet *s = sent;
    const struct golden_packet *p = golden;
    (void)aux;
    return s->length == p->length && is_same(s->bytes, p->bytes, s->keep, s->length);
}

static int on_time(void *aux, const void *sent, const void *golden) {
    const uint64_t now = ((const struct sent_packet *)sent)->time_ns,
                   then = ((const struct golden_packet *)golden)->time_ns;
    (void)aux;
    return then < now ? -1 : then > now;
}

static void on_same(void *aux, void *sent, void *golden) {
    forget_sent(aux, sent);
    forget_golden(golden);
}

static void show_pair(const struct gold *g, FILE *out, const struct sent_packet *s,
                      const struct golden_packet *p) {
    const struct layout *l = &s->layout;
    const uint32_t na = s->length, nb = p->length;
    uint32_t at = 0;
    while (at < na && at < nb && byte_is_same(s->bytes, p->bytes, s->keep, at))
        at++;
    fprintf(out, "port %u, packet %" PRIu64 ": differs from ", g->port, s->number);
    if (p->number != s->number)
        fprintf(out, "packet %" PRIu64 " of ", p->number);
    fprintf(out, "%s at byte %u; %u bytes sent, %u golden\n", p->path, at, na, nb);
    if (l->n)
        replay_show_fields(out, l, s->bytes, na, p->bytes, nb, replay_compare_ignores, g->all);
    // and what is in no field, whether those differ or not
    while (l->n && (at < na || at < nb) &&
           (replay_compare_is_field(l, at) ||
            (at < na && at < nb && byte_is_same(s->bytes, p->bytes, s->keep, at))))
        at++;
    if (!l->n || at < na || at < nb) {
        replay_show_bytes(out, "sent  ", s->bytes, na, at);
        replay_show_bytes(out, "golden", p->bytes, nb, at);
    }
}

static void on_changed(void *aux, void *sent, void *golden) {
    struct gold *g = aux;
    struct sent_packet *s = sent;
    FILE *out = next_difference(g, ITS_WAY, s->serial, s->number);
    if (out) {
        show_pair(g, out, s, golden);
        fclose(out);
    }
    on_same(g, s, golden);
}

static void on_extra(void *aux, void *sent) {
    struct gold *g = aux;
    struct sent_packet *s = sent;
    FILE *out = next_difference(g, ITS_WAY, s->serial, s->number);
    if (out) {
        fprintf(out, "port %u, packet %" PRIu64 ": sent, but not golden: %u bytes\n", g->port,
                s->number, s->length);
        if (s->layout.n)
            replay_show_fields(out, &s->layout, s->bytes, s->length, NULL, 0,
                               replay_compare_ignores, g->all);
        if (s->layout.end < s->length)
            replay_show_bytes(out, "sent  ", s->bytes, s->length, s->layout.end);
        fclose(out);
    }
    forget_sent(g, s);
}

// The first packet that was dropped after the last one that the port sent, and in front of 'then'
// (or null), and is not shown yet. 0: none. Serials of different cores have no order.
static uint64_t find_dropped(const struct gold *g, const struct sent_packet *then) {
    const struct replay_compare *c = g->all;
    const uint64_t from = g->dropped > g->serial ? g->dropped : g->serial;
    for (uint64_t i = c->n_dropped > DROPS ? c->n_dropped - DROPS : 0; i < c->n_dropped; i++) {
        const uint64_t serial = c->dropped[i % DROPS];
        if (serial > from &&
            (!then || (serial < then->serial && serial >> 56 == then->serial >> 56)))
            return serial;
    }
    return 0;
}

static void show_missing(const struct gold *g, FILE *out, const struct golden_packet *p,
                         const struct sent_packet *then) {
    const struct layout *l = then && then->layout.end <= p->length ? &then->layout : NULL;
    fprintf(out, "port %u: packet %" PRIu64 " of %s was not sent: %u bytes\n", g->port, p->number,
            p->path, p->length);
    if (l && l->n) {
        fprintf(out, "  with the fields of packet %" PRIu64 ", which was:\n", then->number);
        replay_show_fields(out, l, NULL, 0, p->bytes, p->length, replay_compare_ignores, g->all);
    }
    const uint32_t from = l ? l->end : 0;
    if (from < p->length)
        replay_show_bytes(out, "golden", p->bytes, p->length, from);
}

// Those after all that was sent are counted, and the first is shown.
static void on_missing(void *aux, void *golden, const void *next) {
    struct gold *g = aux;
    struct replay_compare *c = g->all;
    struct golden_packet *p = golden;
    const struct sent_packet *then = next;
    if (!then && g->missing++ > 0) {
        forget_golden(p);
        return;
    }
    if (!then)
        g->first_missing = p->number;
    const uint64_t dropped = c->observes ? find_dropped(g, then) : 0;
    FILE *out = next_difference(g, "packets dropped there (not necessarily the cause)", dropped,
                                then ? then->number : UINT64_MAX);
    if (out) {
        show_missing(g, out, p, then);
        if (c->observes && !dropped)
            fputs("  no packet is known to be dropped there\n", out);
        fclose(out);
    }
    if (dropped)
        g->dropped = dropped;
    forget_golden(p);
}

// The next golden one into 'frame'. As capture_next().
static int replay_compare_look_ahead(struct gold *g, struct sk_error *err) {
    int rc = g->ahead ? 1 : next_gold(g->all, g, err);
    if (rc > 0 && g->frame.length > sizeof g->all->keep)
        return sk_fail(err, "%s: packet %" PRIu64 " has %u bytes; no port can send that many",
                       capture_path(g->capture), g->read + 1, g->frame.length);
    if (rc > 0 && g->all->opt->expect_recorded && g->frame.length < g->frame.wire_length)
        return sk_fail(err,
                       "%s: packet %" PRIu64
                       " has only %u of its %u bytes: a cut packet cannot be compared",
                       capture_path(g->capture), capture_count(g->capture), g->frame.length,
                       g->frame.wire_length);
    g->ahead = rc > 0;
    return rc;
}

static int on_next(void *aux, void **golden) {
    struct gold *g = aux;
    int rc = replay_compare_look_ahead(g, &g->all->err);
    if (rc <= 0)
        return rc;
    struct golden_packet *p = malloc(sizeof *p + g->frame.length);
    if (!p || !(p->path = strdup(capture_path(g->capture))))
        abort();
    p->number = ++g->read;
    p->time_ns = g->frame.time_ns;
    p->length = g->frame.length;
    memcpy(p->bytes, g->frame.bytes, p->length);
    g->ahead = false;
    *golden = p;
    return 1;
}

static struct sent_packet *copy_sent(const struct replay_compare *c, const struct gold *g,
                                     const uint8_t *frame, uint32_t length, const uint8_t *keep) {
    struct sent_packet *s = malloc(sizeof *s + length);
    if (!s)
        abort();
    *s = (struct sent_packet){.number = g->n,
                              .serial = c->serial,
                              .time_ns = c->time ? c->time(c->time_aux, g->port) : 0,
                              .length = length,
                              .layout = c->now};
    memcpy(s->bytes, frame, length);
    if (keep) {
        if (!(s->keep = malloc(length + 1)))
            abort();
        memcpy(s->keep, keep, length);
    }
    return s;
}

// ---- comparing ----

static int open_gold(struct replay_compare *c, uint16_t port, const char *path,
                     struct sk_error *err) {
    c->golds[port].expected = true;
    c->golds[port].capture = capture_open(path, err);
    return c->golds[port].capture ? 0 : -1;
}

// Golden is the one of both forms that is there; two would be one too many.
static int replay_compare_open_port(struct replay_compare *c, const char *dir, uint16_t port,
                                    struct sk_error *err) {
    int rc = 0;
    c->golds[port].expected = true;
    for (unsigned form = CAPTURE_PCAP; rc == 0 && form <= CAPTURE_PCAPNG; form++) {
        char *path = replay_port_path(dir, port, (enum capture_form)form);
        struct stat st;
        const bool there = lstat(path, &st) == 0; // a link to nowhere is: it cannot be used
        if (there && c->golds[port].capture)
            rc = sk_fail(err,
                         "%s: there are a pcap and a pcapng for this port; remove the one that is "
                         "not golden",
                         path);
        else if (there)
            rc = open_gold(c, port, path, err);
        free(path);
    }
    return rc;
}

// Of a name as captures of ports have it ("port-...pcap..."): whether it is one of those that are
// looked at.
static bool is_ports(const char *name) {
    const size_t digits = strspn(name + 5, "0123456789");
    const unsigned long port = digits && digits < 4 ? strtoul(name + 5, NULL, 10) : SK_PORTS;
    const char *end = name + 5 + digits;
    return sk_port_exists((unsigned)port) && (digits == 1 || name[5] != '0') &&
           (strcmp(end, ".pcap") == 0 || strcmp(end, ".pcapng") == 0);
}

// What no one looks at would be taken for a port's golden capture that nothing differs from.
static int replay_compare_check_names(const char *dir, struct sk_error *err) {
    DIR *d = opendir(dir);
    int rc = 0;
    if (!d)
        return sk_fail(err, "cannot read the folder %s: %s", dir, strerror(errno));
    for (const struct dirent *e; rc == 0 && (e = readdir(d));)
        if (strncmp(e->d_name, "port-", 5) == 0 &&
            (strcasestr(e->d_name, ".pcap") || strcasestr(e->d_name, ".cap")) &&
            !is_ports(e->d_name))
            rc = strstr(e->d_name, REPLAY_BESIDE)
                     ? sk_fail(err, "%s/%s was left by an interrupted --update: remove it", dir,
                               e->d_name)
                     : sk_fail(err,
                               "%s/%s is not the golden capture of a port: such a file is called "
                               "port-N.pcap or port-N.pcapng, where N is a device port (0 to 71 in "
                               "a pipe, pipes are 128 apart)",
                               dir, e->d_name);
    closedir(d);
    return rc;
}

static int open_dir(struct replay_compare *c, const char *dir, struct sk_error *err) {
    struct stat st;
    if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
        return sk_fail(err, "%s is not a folder", dir);
    if (access(dir, X_OK))
        return sk_fail(err, "cannot read the folder %s: %s", dir, strerror(errno));
    int rc = replay_compare_check_names(dir, err);
    for (uint16_t port = 0; rc == 0 && port < SK_PORTS; port++)
        rc = replay_compare_open_port(c, dir, port, err);
    return rc;
}

struct replay_compare *replay_compare_open(const struct replay_options *opt, FILE *messages,
                                           struct sk_error *err) {
    struct replay_compare *c = calloc(1, sizeof *c);
    if (!c || !(c->ignored = calloc(opt->n_ignore + 1, sizeof *c->ignored)) ||
        !(c->shown = calloc(opt->show + 1, sizeof *c->shown)) ||
        !(c->wanted = calloc(opt->show + 1, sizeof *c->wanted)))
        abort();
    c->observer = (struct sk_observer){.everything = true, .event = replay_compare_on_event};
    c->journeys = journeys_new();
    c->opt = opt;
    c->messages = messages;
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        c->golds[port].all = c;
        c->golds[port].port = port;
    }
    int rc = opt->expect_dir ? open_dir(c, opt->expect_dir, err) : 0;
    for (uint16_t port = 0; opt->expect_recorded && port < SK_PORTS; port++)
        c->golds[port].expected = true;
    if (opt->expect_recorded && !replay_trace_possible(opt))
        rc = sk_fail(err, "--expect-recorded reads the captures twice, so they must be files");
    for (size_t i = 0; rc == 0 && i < opt->expect.n; i++)
        rc = open_gold(c, opt->expect.items[i].port, opt->expect.items[i].path, err);
    if (rc == 0)
        return c;
    replay_compare_close(c);
    return NULL;
}

void replay_compare_times(struct replay_compare *c, uint64_t (*time)(void *aux, uint16_t port),
                          void *aux) {
    c->time = time;
    c->time_aux = aux;
}

struct sk_observer *replay_compare_observer(struct replay_compare *c, struct sk_observer *next) {
    c->observes = true;
    c->next = next;
    return &c->observer;
}

int replay_compare_packet(struct replay_compare *c, uint16_t port, const uint8_t *frame,
                          uint32_t length, struct sk_error *err) {
    if (!c->observes)
        return replay_compare_compare(c, port, frame, length, err);
    if (c->failed)
        *err = c->err;
    return c->failed ? -1 : 0;
}

// As long as all are golden, without a copy.
static int replay_compare_compare(struct replay_compare *c, uint16_t port, const uint8_t *frame,
                                  uint32_t length, struct sk_error *err) {
    struct gold *g = &c->golds[port];
    const uint8_t *keep = NULL;
    bool looked = false;
    int rc = 0;
    if (!g->expected)
        return 0;
    g->n++;
    if (!g->align || align_is_empty(g->align)) {
        rc = replay_compare_look_ahead(g, err);
        bool same = rc > 0 && length == g->frame.length && c->opt->n_ignore == 0 &&
                    memcmp(frame, g->frame.bytes, length) == 0;
        if (rc > 0 && !same) {
            keep = replay_compare_look_at(c, frame, length);
            looked = true;
            same = length == g->frame.length && is_same(frame, g->frame.bytes, keep, length);
        }
        if (same) {
            g->read++;
            g->ahead = false;
            g->serial = c->serial;
            return 0;
        }
    }
    if (rc < 0)
        return -1;
    if (!looked)
        keep = replay_compare_look_at(c, frame, length);
    if (!g->align)
        g->align = align_new(&(struct align_owner){g, on_equal, on_time, on_next, on_same,
                                                   on_changed, on_extra, on_missing});
    rc = align_sent(g->align, copy_sent(c, g, frame, length, keep));
    if (rc)
        *err = c->err;
    return rc;
}

// What waits is decided, and the first of the golden ones that were not sent is shown.
static int replay_compare_settle_rest(struct gold *g, bool stopped, struct sk_error *err) {
    void *golden;
    int rc = g->align ? align_end(g->align, stopped) : 0;
    if (rc == 0 && !stopped && g->missing == 0 && g->capture) {
        rc = on_next(g, &golden);
        if (rc > 0)
            on_missing(g, golden, NULL);
    }
    if (rc < 0)
        *err = g->all->err;
    return rc < 0 ? -1 : 0;
}

int replay_compare_settle(struct replay_compare *c, bool stopped, struct sk_error *err) {
    for (uint16_t port = 0; !c->failed && port < SK_PORTS; port++)
        if (replay_compare_settle_rest(&c->golds[port], stopped, err))
            return -1;
    return 0;
}

size_t replay_compare_wanted(const struct replay_compare *c, const struct replay_wanted **list) {
    *list = c->wanted;
    return c->n_wanted;
}

static void replay_compare_show(const struct replay_compare *c, struct replay_trace *t) {
    for (size_t i = 0, k = 0; i < c->opt->show && i < c->differences; i++) {
        const char *title = c->shown[i].traced, *way = title ? replay_trace_text(t, k++) : "";
        fputs(c->shown[i].text, c->messages);
        if (*way)
            fprintf(c->messages, "  %s:\n%s\n", title, way);
    }
}

static bool has_clock(const struct replay_options *opt) {
    return (opt->configs[0] && opt->configs[0]->has_clock) ||
           (opt->configs[1] && opt->configs[1]->has_clock);
}

// How many packets differ, and what else is to be known of that.
static int replay_compare_tell(struct replay_compare *c, bool stopped, struct sk_error *err) {
    for (uint16_t port = 0; !stopped && port < SK_PORTS; port++) {
        struct gold *g = &c->golds[port];
        if (count_missing(c, g, err) < 0)
            return -1;
        if (g->missing)
            fprintf(c->messages,
                    "port %u: %" PRIu64 " golden packet%s not sent, the first is number %" PRIu64
                    " of %s\n",
                    port, g->missing, g->missing == 1 ? " was" : "s were",
                    g->first_missing ? g->first_missing : g->n + 1,
                    g->capture ? capture_path(g->capture) : "the recording");
        c->differences += g->missing - (g->first_missing > 0); // that one is counted
    }
    for (size_t i = 0; i < c->opt->n_ignore; i++)
        if (!c->ignored[i])
            fprintf(c->messages, "--ignore: no packet that was compared has a field '%s'\n",
                    c->opt->ignore[i]);
    if (c->misses)
        fprintf(c->messages, "the recording is incomplete: some packets did not fit\n");
    if (c->differences && c->opt->expect_recorded && !has_clock(c->opt))
        fprintf(c->messages, "the configuration has no \"clock\": the recorded switch started at "
                             "another time; this run starts at the time of the first packet\n");
    if (c->differences)
        fprintf(c->messages, "%" PRIu64 " packet%s\n", c->differences,
                c->differences == 1 ? " differs" : "s differ");
    return 0;
}

int replay_compare_end(struct replay_compare *c, struct replay_trace *t, bool stopped,
                       struct sk_error *err) {
    replay_compare_show(c, t);
    if (c->failed) {
        *err = c->err;
        return -1;
    }
    struct replay_gaps *gaps = c->opt->expect_recorded ? replay_gaps_new(c->opt) : NULL;
    int rc = gaps ? count_silent(c, gaps, err) : 0;
    rc = rc < 0 ? rc : replay_compare_tell(c, stopped, err);
    if (rc == 0 && gaps)
        rc = replay_gaps_report(gaps, c->messages, err);
    replay_gaps_free(gaps);
    return rc;
}

uint64_t replay_compare_differences(const struct replay_compare *c) {
    return c ? c->differences : 0;
}

void replay_compare_close(struct replay_compare *c) {
    if (!c)
        return;
    for (uint16_t port = 0; port < SK_PORTS; port++) {
        align_free(c->golds[port].align);
        capture_close(c->golds[port].capture);
    }
    for (size_t i = 0; i < c->opt->show; i++)
        free(c->shown[i].text);
    free(c->shown);
    free(c->wanted);
    free(c->ignored);
    journeys_free(c->journeys);
    free(c);
}
