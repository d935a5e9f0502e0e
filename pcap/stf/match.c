// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "pcap/stf/stf_impl.h"

#define BYTES_PER_LINE 16

// ---- one expectation, one packet ----

static unsigned nibble_of(const struct stf_output *o, size_t i) {
    return i % 2 ? o->bytes[i / 2] & 15u : o->bytes[i / 2] >> 4;
}

static bool nibble_matches(const struct stf_statement *e, const struct stf_output *o, size_t i) {
    if (i >= e->n_nibbles || i >= 2 * (size_t)o->length)
        return i >= e->n_nibbles && (!e->exact_length || i >= 2 * (size_t)o->length);
    return e->nibbles[i] == STF_ANY_NIBBLE || e->nibbles[i] == nibble_of(o, i);
}

static size_t nibbles_in_play(const struct stf_statement *e, const struct stf_output *o) {
    size_t got = 2 * (size_t)o->length;
    return got > e->n_nibbles ? got : e->n_nibbles;
}

// Index of the first nibble that differs, or -1.
static long stf_match_first_difference(const struct stf_statement *e, const struct stf_output *o) {
    for (size_t i = 0; i < nibbles_in_play(e, o); i++)
        if (!nibble_matches(e, o, i))
            return (long)i;
    return -1;
}

// ---- showing them ----

static void print_bytes(FILE *out, const uint8_t *bytes, uint32_t length) {
    for (uint32_t i = 0; i < length; i++)
        fprintf(out, "%s%02x", i % 2 || i == 0 ? "" : " ", bytes[i]);
}

enum row { EXPECTED, GOT, MARKS };

static char row_char(enum row row, const struct stf_statement *e, const struct stf_output *o,
                     size_t i) {
    if (row == MARKS)
        return nibble_matches(e, o, i) ? ' ' : '^';
    if (row == GOT)
        return i < 2 * (size_t)o->length ? "0123456789abcdef"[nibble_of(o, i)] : ' ';
    return i < e->n_nibbles ? "0123456789abcdef*"[e->nibbles[i]] : ' ';
}

static void print_row(FILE *out, enum row row, const struct stf_statement *e,
                      const struct stf_output *o, size_t from, size_t to) {
    static const char *const labels[] = {"expected", "got", ""};
    fprintf(out, "    %-9s%04zx  ", labels[row], from / 2);
    for (size_t i = from; i < to; i++)
        fprintf(out, "%s%c", i > from && i % 4 == 0 ? " " : "", row_char(row, e, o, i));
    fputc('\n', out);
}

// Only the lines of 16 bytes in which something differs.
static void stf_match_print_difference(FILE *out, const struct stf_statement *e,
                                       const struct stf_output *o) {
    size_t n = nibbles_in_play(e, o), step = 2 * BYTES_PER_LINE;
    for (size_t from = 0; from < n; from += step) {
        size_t to = from + step < n ? from + step : n;
        bool differs = false;
        for (size_t i = from; i < to; i++)
            differs |= !nibble_matches(e, o, i);
        if (!differs)
            continue;
        print_row(out, EXPECTED, e, o, from, to);
        print_row(out, GOT, e, o, from, to);
        print_row(out, MARKS, e, o, from, to);
    }
}

// ---- field by field ----

static bool field_matches(const struct stf_statement *e, const struct stf_output *o, uint32_t from,
                          uint32_t width) {
    for (uint32_t bit = from; bit < from + width; bit++) {
        const size_t i = bit / 4;
        const unsigned mask = 8u >> bit % 4;
        if (i >= 2 * (size_t)o->length)
            return true; // that it ends there is said already
        if (i < e->n_nibbles && e->nibbles[i] != STF_ANY_NIBBLE &&
            (e->nibbles[i] & mask) != (nibble_of(o, i) & mask))
            return false;
    }
    return true;
}

// Bits from 'from' on in hexadecimal; '*' is a digit of which no bit or not every bit is given.
static void print_field(FILE *out, enum row row, const struct stf_statement *e,
                        const struct stf_output *o, uint32_t from, uint32_t width) {
    const uint32_t end = from + width;
    fputs("0x", out);
    for (uint32_t bit = from; bit < end;) {
        const uint32_t last = bit + ((end - bit) % 4 ? (end - bit) % 4 : 4);
        unsigned digit = 0;
        bool given = true;
        for (; bit < last; bit++) {
            const size_t i = bit / 4;
            if (row == EXPECTED)
                given &= i < e->n_nibbles && e->nibbles[i] != STF_ANY_NIBBLE;
            if (given)
                digit = digit << 1 |
                        ((row == GOT ? nibble_of(o, i) : e->nibbles[i]) >> (3 - bit % 4) & 1u);
        }
        fputc(given ? "0123456789abcdef"[digit] : '*', out);
    }
}

static void print_fields(FILE *out, const struct stf_statement *e, const struct stf_output *o) {
    const struct layout *l = o->headers;
    for (uint32_t h = 0; l && h < l->n; h++) {
        const struct sk_header_desc *d = l->headers[h].desc;
        for (uint32_t f = 0; f < d->n_fields; f++) {
            const uint32_t from = 8 * l->headers[h].offset + d->fields[f].bit_offset,
                           width = d->fields[f].width;
            if (from + width > 8 * o->length || field_matches(e, o, from, width))
                continue;
            char *name = layout_field_name(l, h, f);
            fprintf(out, "    %s: expected ", name);
            print_field(out, EXPECTED, e, o, from, width);
            fputs(", got ", out);
            print_field(out, GOT, e, o, from, width);
            fputc('\n', out);
            free(name);
        }
    }
}

static void stf_match_report(const struct stf_script *s, const struct stf_statement *e,
                             const struct stf_output *o, long at, unsigned number, FILE *out) {
    size_t want = e->n_nibbles / 2;
    fprintf(out, "%s:%u: port %u, output %u (of the packet in line %u): ", s->name, e->line,
            e->port, number, o->line);
    if ((size_t)at / 2 < o->length && (size_t)at < e->n_nibbles)
        fprintf(out, "differs at byte %ld\n", at / 2);
    else
        fprintf(out, "has %u bytes, expected %s%zu\n", o->length,
                e->exact_length ? "" : "at least ", want);
    stf_match_print_difference(out, e, o);
    print_fields(out, e, o);
}

// ---- a port ----

static const struct stf_statement *next_expect(const struct stf_script *s, uint16_t port,
                                               size_t *i) {
    while (*i < s->n) {
        const struct stf_statement *e = &s->list[(*i)++];
        if (e->kind == STF_EXPECT && e->port == port)
            return e;
    }
    return NULL;
}

static const struct stf_output *next_output(const struct stf_outputs *outputs, uint16_t port,
                                            size_t *i) {
    while (*i < outputs->n) {
        const struct stf_output *o = &outputs->list[(*i)++];
        if (o->port == port)
            return o;
    }
    return NULL;
}

// How many statements, or outputs, to look through for what belongs together.
#define LOOKAHEAD 1000u

static bool comes_later(const struct stf_outputs *outputs, uint16_t port, size_t at,
                        const struct stf_statement *e) {
    const size_t end = at + LOOKAHEAD;
    const struct stf_output *o;
    while (at < end && (o = next_output(outputs, port, &at)))
        if (stf_match_first_difference(e, o) < 0)
            return true;
    return false;
}

static bool is_expected_later(const struct stf_script *s, uint16_t port, size_t at,
                              const struct stf_output *o) {
    const size_t end = at + LOOKAHEAD;
    const struct stf_statement *e;
    while (at < end && (e = next_expect(s, port, &at)))
        if (stf_match_first_difference(e, o) < 0)
            return true;
    return false;
}

static void report_missing(const struct stf_script *s, const struct stf_outputs *outputs,
                           const struct stf_statement *e, FILE *out) {
    fprintf(out, "%s:%u: port %u: no packet came out", s->name, e->line, e->port);
    stf_print_fate(s, outputs, e, out);
    fputc('\n', out);
}

static void report_unexpected(const struct stf_script *s, const struct stf_output *o, FILE *out) {
    fprintf(out, "%s:%u: port %u: an unexpected packet came out\n    got      ", s->name, o->line,
            o->port);
    print_bytes(out, o->bytes, o->length);
    fputc('\n', out);
}

// The next expectation and the next output. If they differ, and the output that is expected comes
// later, this output is one too many; if this output is expected later, one is missing; if both
// hold or neither, this output is the one that is expected, and is wrong.
static unsigned match_port(const struct stf_script *s, const struct stf_outputs *outputs,
                           uint16_t port, unsigned *first, FILE *out) {
    unsigned differences = 0, number = 0;
    size_t i = 0, j = 0;
    const struct stf_statement *e = next_expect(s, port, &i);
    const struct stf_output *o = next_output(outputs, port, &j);
    while (e || o) {
        const long at = e && o ? stf_match_first_difference(e, o) : 0;
        const bool both = e && o && at >= 0, later = both && comes_later(outputs, port, j, e),
                   sooner = both && is_expected_later(s, port, i, o),
                   missing = !o || (sooner && !later), extra = !e || (later && !sooner);
        if (missing)
            report_missing(s, outputs, e, out);
        else if (extra)
            report_unexpected(s, o, out);
        else if (both)
            stf_match_report(s, e, o, at, number + 1, out);
        if (missing || extra || both) {
            const unsigned line = extra ? o->line : e->line;
            *first = line < *first ? line : *first;
            differences++;
        }
        number += !missing;
        o = missing ? o : next_output(outputs, port, &j);
        e = extra ? e : next_expect(s, port, &i);
    }
    return differences;
}

unsigned stf_match(const struct stf_script *s, const struct stf_outputs *outputs, unsigned *first,
                   FILE *messages) {
    bool used[SK_PORTS] = {false};
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].kind == STF_EXPECT)
            used[s->list[i].port] = true;
    for (size_t i = 0; i < outputs->n; i++)
        used[outputs->list[i].port] = true;
    unsigned differences = 0;
    for (uint16_t port = 0; port < SK_PORTS; port++)
        if (used[port])
            differences += match_port(s, outputs, port, first, messages);
    return differences;
}
