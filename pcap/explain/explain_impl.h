// SPDX-License-Identifier: Apache-2.0
//
// explain_impl: what the files of an explanation share. Nobody else includes it. explain.h lists
// the files.
#ifndef SILKEN_PCAP_EXPLAIN_EXPLAIN_IMPL_H
#define SILKEN_PCAP_EXPLAIN_EXPLAIN_IMPL_H

#include <stdarg.h>

#include "pcap/explain/explain.h"
#include "pcap/packet/layout.h"
#include "pipeline/observe/tracer_events.h"

struct told {
    struct sk_event e;  // whatever it points to is kept
    struct sk_packet p; // as it was then; its bytes are the event's
    const char *shape;  // equal for events that differ in numbers only (group.c)
};

struct explain_block;
struct explain {
    struct sk_observer observer; // first: its address is ours
    const struct replay_counts *counts;
    uint64_t wanted, serial, number;
    const uint8_t *bytes;
    uint32_t wire_length; // larger than its own: the capture cut it
    bool found;
    struct told *told;
    size_t n, room;
    struct explain_block *blocks;
};

// Memory that lives as long as 'x'; aborts when there is none.
void *explain_keep(struct explain *x, const void *bytes, size_t n); // a copy
char *explain_printf(struct explain *x, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// ---- layout.c
// What the parser took of the packet when it came.
void explain_arrival(const struct explain *x, struct layout *out);
// Of the packet that event 'at' (SENT) tells of.
void explain_departure(const struct explain *x, size_t at, struct layout *out);
// The header of 'l' that 'h' is: by name, else the only one of its type. Null: none.
const struct header_at *explain_same_header(const struct layout *l, const struct header_at *h);
const struct told *explain_received(const struct explain *x); // null: it was refused before

// ---- value.c
// "64", "0x800", "10.0.0.1", "02:00:00:00:00:01".
const char *explain_value(struct explain *x, const struct sk_trace_value *v);
const char *explain_short_name(const char *name); // without the pipeline's
const char *explain_last_name(const char *name);  // after the last dot
bool explain_is_constant(const struct sk_trace_value *v);
struct sk_trace_value explain_field(const struct sk_header_desc *d, const uint8_t *bytes,
                                    uint32_t i);

// ---- group.c
// Events that repeat: the first at 'at', then every 'stride', 'n' of them.
struct group {
    size_t at, stride, n;
};
void explain_shapes(struct explain *x);
// The period (events) and the number of repetitions of what begins at 'at' and ends before 'end'; 1
// and 1 when it does not repeat.
void explain_repeats(const struct explain *x, size_t at, size_t end, size_t *period, size_t *n);
// "lane{00..31}" for strings of one shape.
const char *explain_brace(struct explain *x, const char *first, const char *last);
// What an event has in one place: names and values as text.
enum slots { SLOTS_IN, SLOTS_OUT, SLOTS_RESULT, SLOTS_KEY, SLOTS_ARGUMENT, SLOTS_MATCH };
struct slot {
    const char *name, *value;
};
// Returns how many ('out' has room for all, kept by 'x').
size_t explain_slots(struct explain *x, const struct told *t, enum slots which, struct slot **out);

// ---- page.c
enum ink { INK_PLAIN, INK_HEAD, INK_DIM, INK_NAME, INK_GOOD, INK_BAD, INK_CHANGED };
struct page_piece {
    enum ink ink;
    char *text;
    bool tied; // a space before it that is no place to break the line at
};
#define PAGE_PIECES 16u
struct page {
    FILE *out;
    unsigned width, column, indent;
    bool colour, empty; // nothing is in the line yet
    struct page_piece pieces[PAGE_PIECES];
    size_t n_pieces;
};
enum bond { BOND_NONE, BOND_GLUE, BOND_SPACE };
// Ends the line before and begins one.
void page_line(struct page *p, unsigned indent);
void page_end(struct page *p);
// Text that is broken at its spaces only; what does not fit goes to the next line, four deeper. At
// the beginning '~' stands for no space before it, '^' for one at which the line is not broken.
void page_put(struct page *p, enum ink ink, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// malloc'ed; aborts when memory is short.
char *explain_vprintf(const char *format, va_list ap) __attribute__((format(printf, 1, 0)));
void page_place(struct page *p, const struct sk_place *at); // null allowed

// ---- events.c
struct explain_part {
    const char *now, *shown; // what the program does: at first "parser" and null
};
// Events from 'at' on that a program told of, up to 'end'; its run began at 'begin'.
void explain_run(struct explain *x, struct page *p, size_t begin, size_t at, size_t end,
                 struct explain_part *part);
// "name value" of all; a comma between.
void explain_list(struct page *p, const struct slot *s, size_t n);
// Fields of a header, numbered ones of one width as one list; those that differ from 'before' when
// that is not null. False when there was none.
bool explain_fields(struct explain *x, struct page *p, const struct sk_header_desc *d,
                    const uint8_t *bytes, const uint8_t *before);

#endif
