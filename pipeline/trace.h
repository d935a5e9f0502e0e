// SPDX-License-Identifier: Apache-2.0
//
// trace: what happens to a packet, as data.
//
// The checked build of a program and the engine tell an observer, event by event, what they do with
// a packet: the parser's states and the bytes they took, the tables' keys and entries, registers
// before and after, where the packet went. Whoever wants to know (a printer, a comparison of
// captures, a counter of violations) is an observer; sk_core_observe() makes it one. The fast
// build reports nothing from inside a program, the engine reports from both.
//
// An event is one struct whatever its kind; the table below says which members a kind fills. All
// pointers are valid during the call only, but for names, places and descriptions, which live as
// long as the program. Events of one packet come in order; those of other packets may lie between,
// since copies of a packet and packets of a burst take turns between ingress and egress.
//
// kind            name            text               in             out          else
// STATE           parser state    -                  -              -
// EXTRACT         header          -                  -              -            header, bytes,
//                                                                                offset
// ADVANCE         -               -                  -              -            bytes, offset
// SELECT          parser state    -                  keys           -
// TRANSITION      next state      the case           -              -
// PARSED          -               -                  -              -            offset: of the
//                                                                                first byte not
//                                                                                taken, flags:
//                                                                                error bits
// DEPARSE         (the deparser begins)
// CONDITION       -               the condition      -              -            flags: 1 true
// SWITCH          -               the expression     its value      -
// TABLE           table           -                  -              -            table, key, entry,
//                                                                                action, data,
//                                                                                flags: 1 hit
// REGISTER        register        register action    before         after        number: index or
//                                 or "read", "write"                            SK_NO_INDEX; result
// COUNTER         counter         -                  -              -            number: index or
//                                                                                SK_NO_INDEX
// METER           meter           -                  index, colour  colour or      number: index or
//                                                                   value          SK_NO_INDEX
// HASH            hash            -                  fields         result
// VALUE           object          what it did        inputs         results
// EMIT            header          -                  -              -            header, bytes
//                                                                                (to be written)
// CHECKSUM        checksum        what it did        inputs         result
// RESUBMIT        -               -                  fields         -
// DROP_CTL        action it is    -                  -              -            number: what was
//                 in, or null                                                    assigned to it
// VIOLATION       object          -                  -              -            violation, also,
//                                                                                number
// the engine's: all have the port and the packet's bytes
// RECEIVED, INGRESS, EGRESS: number: the time, ns. WISHES (what ingress, or a mirror session, asks
// the traffic manager for): in: what is set. MIRRORED: number: the session, text: "ingress" or
// "egress", where it was asked for, flags: bytes of the mirror header, with which the bytes begin.
// COPY (to an egress queue): name: "unicast", "multicast" or "cpu", number: its rid, in: the group
// of a multicast, text: why egress is passed over, or null. DROPPED: text: the reason. SENT,
// RESUBMITTED, RECIRCULATED.
#ifndef SILKEN_PIPELINE_TRACE_H
#define SILKEN_PIPELINE_TRACE_H

#include "pipeline/abi.h"

// A place in the P4 source.
struct sk_place {
    const char *file;
    uint32_t line, column;
};

// The names are those of the JSON form.
#define SK_EVENTS(X)                                                                               \
    X(RECEIVED, "received")                                                                        \
    X(INGRESS, "ingress")                                                                          \
    X(EGRESS, "egress")                                                                            \
    X(STATE, "state")                                                                              \
    X(EXTRACT, "extract")                                                                          \
    X(ADVANCE, "advance")                                                                          \
    X(SELECT, "select")                                                                            \
    X(TRANSITION, "transition")                                                                    \
    X(PARSED, "parsed")                                                                            \
    X(CONDITION, "condition")                                                                      \
    X(SWITCH, "switch")                                                                            \
    X(TABLE, "table")                                                                              \
    X(REGISTER, "register")                                                                        \
    X(COUNTER, "counter")                                                                          \
    X(METER, "meter")                                                                              \
    X(HASH, "hash")                                                                                \
    X(VALUE, "value")                                                                              \
    X(DEPARSE, "deparse")                                                                          \
    X(EMIT, "emit")                                                                                \
    X(CHECKSUM, "checksum")                                                                        \
    X(RESUBMIT, "resubmit")                                                                        \
    X(VIOLATION, "violation")                                                                      \
    X(WISHES, "wishes")                                                                            \
    X(MIRRORED, "mirrored")                                                                        \
    X(COPY, "copy")                                                                                \
    X(SENT, "sent")                                                                                \
    X(DROPPED, "dropped")                                                                          \
    X(RESUBMITTED, "resubmitted")                                                                  \
    X(RECIRCULATED, "recirculated")                                                                \
    X(DROP_CTL, "drop_ctl")
enum sk_event_kind {
#define SK_EVENT_ENUM(name, text) SK_EV_##name,
    SK_EVENTS(SK_EVENT_ENUM)
#undef SK_EVENT_ENUM
        SK_EV_COUNT
};

// What the checked build can find. The text follows the name of the thing it speaks of.
#define SK_VIOLATIONS(X)                                                                           \
    X(REGISTER_TWICE, "register-twice", "is accessed a second time in one pass")                   \
    X(TABLE_TWICE, "table-twice", "is applied a second time in one pass")                          \
    X(INDEX, "index", "has no such index")                                                         \
    X(INVALID_HEADER, "invalid-header", "is read while its header is invalid")                     \
    X(NOT_SET, "not-set",                                                                          \
      "is read while it is not set: nothing was assigned, or it was "                              \
      "invalidated")                                                                               \
    X(UNDEFINED, "undefined", "is used before anything was assigned to it")                        \
    X(EMITTED, "emitted", "is emitted before anything was assigned to it")                         \
    X(SHORT_PACKET, "short-packet", "goes past the packet's end")                                  \
    X(STACK, "stack", "goes past the end of the header stack")                                     \
    X(PARSER_LOOP, "parser-loop", "is entered after more states than a parser may go through")     \
    X(HEADROOM, "headroom", "does not fit before the packet")
enum sk_violation {
#define SK_VIOLATION_ENUM(name, word, text) SK_VIOLATION_##name,
    SK_VIOLATIONS(SK_VIOLATION_ENUM)
#undef SK_VIOLATION_ENUM
        SK_VIOLATION_COUNT
};

// A named value of up to 128 bits; a longer one is 'bytes', in network order and right aligned.
struct sk_trace_value {
    const char *name;
    uint32_t width;
    uint64_t low, high;
    const uint8_t *bytes;
    bool is_signed;
};

struct sk_trace_field {
    const char *name; // without the header's
    uint32_t width, bit_offset;
    bool is_signed, padding;
};
struct sk_header_desc {
    const char *name, *type;
    const struct sk_trace_field *fields;
    uint32_t n_fields, bytes;
};

enum sk_event_gress { SK_IN_INGRESS, SK_IN_EGRESS, SK_IN_ENGINE };
#define SK_NO_INDEX UINT64_MAX

struct sk_event {
    enum sk_event_kind kind;
    enum sk_event_gress gress;
    const struct sk_place *at; // null: not in the source
    const char *name, *text;
    const struct sk_trace_value *in, *out;
    uint32_t n_in, n_out;
    const struct sk_header_desc *header;
    const uint8_t *bytes;
    uint32_t length; // of 'bytes'
    int32_t offset;  // in the packet; what the architecture puts before it is negative
    const struct sk_table_desc *table;
    const uint64_t *key; // words; null: the table has no key
    const struct sk_entry *entry;
    uint32_t action;      // in table->actions
    const uint64_t *data; // its words
    const struct sk_trace_value *result;
    uint32_t n_result;
    uint64_t number;
    uint32_t flags;
    uint16_t port;
    enum sk_violation violation;
    const struct sk_place *also; // REGISTER_TWICE, TABLE_TWICE: the first time
};

struct sk_observer {
    bool everything; // false: violations only
    void (*event)(struct sk_observer *o, const struct sk_packet *p, const struct sk_event *e);
};

// Which pass of its packet this is, from 1: recirculation begins a new one, a resubmit too.
static inline unsigned sk_packet_pass(const struct sk_packet *p) {
    return 1u + p->passes + p->resubmits;
}

#endif
