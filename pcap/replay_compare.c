// SPDX-License-Identifier: Apache-2.0
//
// replay_compare: what ports send, held against golden captures, in order and port by port.
//
// Which bytes are which field is what the deparser that wrote the packet told (checked build): the
// headers that it emitted, in order. The golden packet is read by the same layout.
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/names.h"
#include "pcap/replay_impl.h"
#include "stages/bits.h"

#define MAX_HEADERS 64u
#define LOST_NOTE   "silken lost: " // pcap/record.h

struct gold {
    struct capture *capture;
    struct capture_frame frame;
    bool expected;    // the port is compared
    uint64_t n;       // packets sent
    uint64_t missing; // golden ones behind them
    size_t file;      // of a recorded run: which of the captures to be replayed comes next
};

// The headers that a deparser emitted, one behind the other, and their bytes.
struct layout {
    uint64_t serial; // of the packet; 0: there is none
    uint32_t n, length;
    struct {
        const char *name;
        const struct sk_header_desc *header;
        uint32_t offset;
    } headers[MAX_HEADERS];
    uint8_t bytes[SK_HEADROOM];
};

// A packet that differs, as it will be shown.
struct difference {
    char *text;
    size_t length;
    bool traced;
};

struct replay_compare {
    struct sk_observer observer; // first: its address is ours
    struct sk_observer *next;
    bool observes; // compares when it is told that a packet is sent
    struct sk_error err;
    bool failed;
    bool misses; // a recorded run: it has not all packets
    const struct replay_options *opt;
    FILE *messages;
    struct gold golds[SK_PORTS];
    uint64_t differences;
    struct difference *shown; // the first opt->show of them
    struct replay_wanted *wanted;
    size_t n_wanted;
    uint64_t serial;       // of the packet that is compared; 0: nobody knows
    bool *ignored;         // one for each name: some field has it
    struct layout last[2]; // of ingress, of egress
    bool egress;           // runs, or was the last to
    uint32_t taken;        // bytes that the egress parser took of what ingress emitted
    struct layout now;     // of the packet being sent
    uint8_t ours[65536], theirs[65536];
};

// ---- the layout ----

static void add_header(struct layout *l, const char *name, const struct sk_header_desc *header,
                       const uint8_t *bytes, uint32_t length) {
    if (l->n == MAX_HEADERS || l->length + length > sizeof l->bytes) {
        l->serial = 0;
        return;
    }
    l->headers[l->n].name = name;
    l->headers[l->n].header = header;
    l->headers[l->n++].offset = l->length;
    memcpy(l->bytes + l->length, bytes, length);
    l->length += length;
}

static bool is_there(const struct layout *l, const uint8_t *bytes, uint32_t length) {
    return l->serial && l->length <= length && memcmp(l->bytes, bytes, l->length) == 0;
}

// What egress emitted, and behind it the headers of ingress that its parser left where they were. Taken
// for true only if the packet's bytes are the emitted ones.
static void put_together(struct replay_compare *c, const struct sk_packet *p,
                         const struct sk_event *e) {
    const struct layout *in = &c->last[0];
    c->now.serial = 0;
    if (p->bypass_egress && in->serial == p->serial)
        c->now = *in;
    else if (!p->bypass_egress && c->last[1].serial == p->serial)
        c->now = c->last[1];
    if (!is_there(&c->now, e->bytes, e->length))
        c->now.serial = 0;
    if (!c->now.serial || p->bypass_egress || in->serial != p->serial)
        return;
    for (uint32_t h = 0, end = c->taken; c->now.serial && h < in->n; h++) {
        const uint32_t from = in->headers[h].offset, length = in->headers[h].header->bytes;
        if (from != end)
            continue; // taken by egress
        end += length;
        struct layout *l = &c->now;
        if (l->length + length > e->length ||
            memcmp(in->bytes + from, e->bytes + l->length, length) != 0)
            return;
        add_header(l, in->headers[h].name, in->headers[h].header, in->bytes + from, length);
    }
}

static int compare(struct replay_compare *c, uint16_t port, const uint8_t *frame, uint32_t length,
                   struct sk_error *err);

static void on_event(struct sk_observer *o, const struct sk_packet *p, const struct sk_event *e) {
    struct replay_compare *c = (struct replay_compare *)o;
    if (e->kind == SK_EV_INGRESS || e->kind == SK_EV_EGRESS) {
        c->egress = e->kind == SK_EV_EGRESS;
        struct layout *l = &c->last[c->egress];
        l->serial = p->serial;
        l->n = l->length = 0;
    } else if (e->kind == SK_EV_PARSED && c->egress) {
        c->taken = e->offset > 0 ? (uint32_t)e->offset : 0;
    } else if (e->kind == SK_EV_EMIT) {
        add_header(&c->last[c->egress], e->name, e->header, e->bytes, e->length);
    } else if (e->kind == SK_EV_SENT) {
        put_together(c, p, e);
        c->serial = p->serial;
        c->failed = c->failed || compare(c, e->port, e->bytes, e->length, &c->err);
    }
    if (c->next && (c->next->everything || e->kind == SK_EV_VIOLATION))
        c->next->event(c->next, p, e);
}

static char *field_name(const struct replay_compare *c, uint32_t h, uint32_t f) {
    char *name;
    if (asprintf(&name, "%s.%s", c->now.headers[h].name, c->now.headers[h].header->fields[f].name) <
        0)
        abort();
    return name;
}

// Whether the field is one of those to ignore.
static bool ignores(struct replay_compare *c, uint32_t h, uint32_t f) {
    if (c->opt->n_ignore == 0)
        return false;
    char *name = field_name(c, h, f);
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

static void mask(struct replay_compare *c, uint32_t ours, uint32_t theirs) {
    for (uint32_t h = 0; c->now.serial && c->opt->n_ignore && h < c->now.n; h++) {
        const struct sk_header_desc *d = c->now.headers[h].header;
        for (uint32_t f = 0; f < d->n_fields; f++) {
            if (!ignores(c, h, f))
                continue;
            uint32_t from = 8 * c->now.headers[h].offset + d->fields[f].bit_offset;
            clear_bits(c->ours, ours, from, d->fields[f].width);
            clear_bits(c->theirs, theirs, from, d->fields[f].width);
        }
    }
}

// ---- showing a difference ----

// "0x1f", "-" where the packet ends before, or the first 64 bits and "..." of a long one.
static void value(char out[40], const uint8_t *bytes, uint32_t length, uint32_t from,
                  uint32_t width) {
    if (from + width > 8 * length) {
        strcpy(out, "-");
        return;
    }
    uint32_t shown = width > 64 ? 64 : width;
    uint64_t v = 0;
    for (uint32_t bit = from; bit < from + shown; bit++)
        v = v << 1 | (bytes[bit / 8] >> (7 - bit % 8) & 1u);
    snprintf(out, 40, "0x%" PRIx64 "%s", v, width > 64 ? "..." : "");
}

static bool bits_differ(const uint8_t *a, uint32_t na, const uint8_t *b, uint32_t nb, uint32_t from,
                        uint32_t width) {
    for (uint32_t bit = from; bit < from + width; bit++) {
        bool in_a = bit / 8 < na, in_b = bit / 8 < nb;
        if (in_a != in_b)
            return true;
        if (in_a && ((a[bit / 8] ^ b[bit / 8]) >> (7 - bit % 8) & 1u))
            return true;
    }
    return false;
}

static void show_fields(struct replay_compare *c, FILE *out, const uint8_t *a, uint32_t na,
                        const uint8_t *b, uint32_t nb) {
    fprintf(out, "  %-40s %-22s %s\n", "field", "sent", "golden");
    for (uint32_t h = 0; h < c->now.n; h++) {
        const struct sk_header_desc *d = c->now.headers[h].header;
        for (uint32_t f = 0; f < d->n_fields; f++) {
            uint32_t from = 8 * c->now.headers[h].offset + d->fields[f].bit_offset;
            char sent[40], golden[40], *name = field_name(c, h, f);
            bool other = bits_differ(a, na, b, nb, from, d->fields[f].width);
            value(sent, a, na, from, d->fields[f].width);
            value(golden, b, nb, from, d->fields[f].width);
            fprintf(out, "%c %-40s %-22s %s%s\n", other ? '*' : ' ', name, sent, golden,
                    other && ignores(c, h, f) ? " (ignored)" : "");
            free(name);
        }
    }
}

static void show_bytes(FILE *out, const char *what, const uint8_t *bytes, uint32_t length,
                       uint32_t from) {
    fprintf(out, "  %s from byte %u:", what, from);
    for (uint32_t i = from; i < length && i < from + 32; i++)
        fprintf(out, " %02x", bytes[i]);
    fprintf(out, from < length ? "%s\n" : " nothing%s\n", from + 32 < length ? " ..." : "");
}

// Where to write about one more difference, of packet 'number' of the port; null when enough are shown.
static FILE *next_difference(struct replay_compare *c, uint16_t port) {
    if (c->differences++ >= c->opt->show)
        return NULL;
    struct difference *d = &c->shown[c->differences - 1];
    FILE *out = open_memstream(&d->text, &d->length);
    if (!out)
        abort();
    d->traced = c->serial != 0;
    if (d->traced)
        c->wanted[c->n_wanted++] = (struct replay_wanted){c->serial, c->golds[port].n, port};
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

// As capture_next().
static int next_gold(struct replay_compare *c, struct gold *g, struct sk_error *err) {
    if (!c->opt->expect_recorded)
        return g->capture ? capture_next(g->capture, &g->frame, err) : 0;
    int rc = g->capture || g->file ? 1 : next_recorded(c->opt, &g->file, &g->capture, err);
    while (rc > 0 && g->capture) {
        rc = capture_next(g->capture, &g->frame, err);
        if (rc > 0 && sent_by(c, &g->frame) == g)
            return 1;
        if (rc == 0)
            rc = next_recorded(c->opt, &g->file, &g->capture, err);
    }
    return rc < 0 ? -1 : 0;
}

// What was recorded of ports that sent nothing now.
static int count_silent(struct replay_compare *c, struct sk_error *err) {
    struct capture *capture = NULL;
    struct capture_frame f;
    size_t file = 0;
    int rc = next_recorded(c->opt, &file, &capture, err);
    while (rc > 0) {
        rc = capture_next(capture, &f, err);
        struct gold *g = rc > 0 ? sent_by(c, &f) : NULL;
        if (g && g->n == 0)
            g->missing++;
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

static void differs(struct replay_compare *c, uint16_t port, const uint8_t *a, uint32_t na) {
    const struct gold *g = &c->golds[port];
    const uint8_t *b = g->frame.bytes;
    uint32_t nb = g->frame.length, at = 0;
    FILE *out = next_difference(c, port);
    if (!out)
        return;
    while (at < na && at < nb && c->ours[at] == c->theirs[at])
        at++;
    fprintf(out,
            "port %u, packet %" PRIu64 ": differs from %s at byte %u; %u bytes sent, %u golden\n",
            port, g->n, capture_path(g->capture), at, na, nb);
    if (c->now.serial)
        show_fields(c, out, a, na, b, nb);
    if (!c->now.serial || at >= c->now.length) {
        show_bytes(out, "sent  ", a, na, at);
        show_bytes(out, "golden", b, nb, at);
    }
    fclose(out);
}

// ---- comparing ----

static int open_gold(struct replay_compare *c, uint16_t port, const char *path,
                     struct sk_error *err) {
    c->golds[port].expected = true;
    c->golds[port].capture = capture_open(path, err);
    return c->golds[port].capture ? 0 : -1;
}

// Golden is the one of both forms that is there; two would be one too many.
static int open_port(struct replay_compare *c, const char *dir, uint16_t port,
                     struct sk_error *err) {
    int rc = 0;
    c->golds[port].expected = true;
    for (unsigned form = CAPTURE_PCAP; rc == 0 && form <= CAPTURE_PCAPNG; form++) {
        char *path = replay_port_path(dir, port, (enum capture_form)form);
        if (access(path, F_OK) == 0 && c->golds[port].capture)
            rc = sk_fail(err, "%s: there is a pcap beside it; which one is golden?", path);
        else if (access(path, F_OK) == 0)
            rc = open_gold(c, port, path, err);
        free(path);
    }
    return rc;
}

// Of a name as captures of ports have it ("port-...pcap..."): whether it is one of those that are looked at.
static bool is_ports(const char *name) {
    const size_t digits = strspn(name + 5, "0123456789");
    const unsigned long port = digits && digits < 4 ? strtoul(name + 5, NULL, 10) : SK_PORTS;
    const char *end = name + 5 + digits;
    return sk_port_exists((unsigned)port) && (digits == 1 || name[5] != '0') &&
           (strcmp(end, ".pcap") == 0 || strcmp(end, ".pcapng") == 0);
}

// What nobody looks at would be taken for a port's golden capture that nothing differs from.
static int check_names(const char *dir, struct sk_error *err) {
    DIR *d = opendir(dir);
    int rc = 0;
    if (!d)
        return sk_fail(err, "cannot read the folder %s: %s", dir, strerror(errno));
    for (const struct dirent *e; rc == 0 && (e = readdir(d));)
        if (strncmp(e->d_name, "port-", 5) == 0 && strstr(e->d_name, ".pcap") &&
            !is_ports(e->d_name))
            rc = sk_fail(err,
                         "%s/%s is no port's golden capture: those are called port-N.pcap or "
                         "port-N.pcapng, N a device port (0 to 71 of a pipe, pipes 128 apart)",
                         dir, e->d_name);
    closedir(d);
    return rc;
}

static int open_dir(struct replay_compare *c, const char *dir, struct sk_error *err) {
    struct stat st;
    if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
        return sk_fail(err, "%s is no folder", dir);
    if (access(dir, X_OK))
        return sk_fail(err, "cannot read the folder %s: %s", dir, strerror(errno));
    int rc = check_names(dir, err);
    for (uint16_t port = 0; rc == 0 && port < SK_PORTS; port++)
        rc = open_port(c, dir, port, err);
    return rc;
}

struct replay_compare *replay_compare_open(const struct replay_options *opt,
                                           struct sk_observer *next, FILE *messages,
                                           struct sk_error *err) {
    struct replay_compare *c = calloc(1, sizeof *c);
    if (!c || !(c->ignored = calloc(opt->n_ignore + 1, sizeof *c->ignored)) ||
        !(c->shown = calloc(opt->show + 1, sizeof *c->shown)) ||
        !(c->wanted = calloc(opt->show + 1, sizeof *c->wanted)))
        abort();
    c->observer = (struct sk_observer){.everything = true, .event = on_event};
    c->next = next;
    c->opt = opt;
    c->messages = messages;
    int rc = opt->expect_dir ? open_dir(c, opt->expect_dir, err) : 0;
    for (uint16_t port = 0; opt->expect_recorded && port < SK_PORTS; port++)
        c->golds[port].expected = true;
    if (opt->expect_recorded && !replay_trace_possible(opt))
        rc = sk_fail(err, "--expect-recorded reads the captures twice, which must be files");
    for (size_t i = 0; rc == 0 && i < opt->expect.n; i++)
        rc = open_gold(c, opt->expect.items[i].port, opt->expect.items[i].path, err);
    if (rc == 0)
        return c;
    replay_compare_close(c);
    return NULL;
}

struct sk_observer *replay_compare_observer(struct replay_compare *c) {
    c->observes = true;
    return &c->observer;
}

int replay_compare_packet(struct replay_compare *c, uint16_t port, const uint8_t *frame,
                          uint32_t length, struct sk_error *err) {
    if (!c->observes)
        return compare(c, port, frame, length, err);
    if (c->failed)
        *err = c->err;
    return c->failed ? -1 : 0;
}

static int compare(struct replay_compare *c, uint16_t port, const uint8_t *frame, uint32_t length,
                   struct sk_error *err) {
    struct gold *g = &c->golds[port];
    if (!g->expected)
        return 0;
    g->n++;
    int more = next_gold(c, g, err);
    if (more < 0)
        return -1;
    if (!more) {
        FILE *out = next_difference(c, port);
        if (!out)
            return 0;
        fprintf(out, "port %u, packet %" PRIu64 ": sent, and not golden: %u bytes\n", port, g->n,
                length);
        fclose(out);
        return 0;
    }
    uint32_t theirs = g->frame.length;
    if (length == theirs && memcmp(frame, g->frame.bytes, length) == 0 && c->opt->n_ignore == 0)
        return 0;
    if (theirs > sizeof c->theirs)
        return sk_fail(err, "%s: packet %" PRIu64 " has %u bytes; no port sends so many",
                       capture_path(g->capture), g->n, theirs);
    memcpy(c->ours, frame, length);
    memcpy(c->theirs, g->frame.bytes, theirs);
    mask(c, length, theirs);
    if (length != theirs || memcmp(c->ours, c->theirs, length) != 0)
        differs(c, port, frame, length);
    return 0;
}

size_t replay_compare_wanted(const struct replay_compare *c, const struct replay_wanted **list) {
    *list = c->wanted;
    return c->n_wanted;
}

static void show(const struct replay_compare *c, struct replay_trace *t) {
    for (size_t i = 0, k = 0; i < c->opt->show && i < c->differences; i++) {
        const char *way = c->shown[i].traced ? replay_trace_text(t, k++) : "";
        fputs(c->shown[i].text, c->messages);
        if (*way)
            fprintf(c->messages, "  its way:\n%s\n", way);
    }
}

int replay_compare_end(struct replay_compare *c, struct replay_trace *t, bool stopped,
                       struct sk_error *err) {
    show(c, t);
    if (c->failed) {
        *err = c->err;
        return -1;
    }
    if (c->opt->expect_recorded && count_silent(c, err) < 0)
        return -1;
    for (uint16_t port = 0; !stopped && port < SK_PORTS; port++) {
        struct gold *g = &c->golds[port];
        if (count_missing(c, g, err) < 0)
            return -1;
        if (g->missing)
            fprintf(c->messages,
                    "port %u: %" PRIu64 " golden packet%s not sent, the first is number %" PRIu64
                    " of %s\n",
                    port, g->missing, g->missing == 1 ? " was" : "s were", g->n + 1,
                    g->capture ? capture_path(g->capture) : "what was recorded");
        c->differences += g->missing;
    }
    for (size_t i = 0; i < c->opt->n_ignore; i++)
        if (!c->ignored[i])
            fprintf(c->messages, "--ignore: no packet that was compared has a field '%s'\n",
                    c->opt->ignore[i]);
    if (c->misses)
        fprintf(c->messages, "the recording itself has not all packets: some did not fit\n");
    if (c->differences)
        fprintf(c->messages, "%" PRIu64 " packet%s\n", c->differences,
                c->differences == 1 ? " differs" : "s differ");
    return 0;
}

uint64_t replay_compare_differences(const struct replay_compare *c) {
    return c ? c->differences : 0;
}

void replay_compare_close(struct replay_compare *c) {
    if (!c)
        return;
    for (uint16_t port = 0; port < SK_PORTS; port++)
        capture_close(c->golds[port].capture);
    for (size_t i = 0; i < c->opt->show; i++)
        free(c->shown[i].text);
    free(c->shown);
    free(c->wanted);
    free(c->ignored);
    free(c);
}
