// SPDX-License-Identifier: Apache-2.0
//
// tracer_events: events and their values in pieces, for those who print them: the two forms of the
// trace (tracer_text.c, tracer_json.c) and pcap/explain.
#ifndef SILKEN_PIPELINE_OBSERVE_TRACER_EVENTS_H
#define SILKEN_PIPELINE_OBSERVE_TRACER_EVENTS_H

#include "pipeline/observe/tracer.h"

struct sk_tracer {
    struct sk_observer observer; // first: its address is ours
    FILE *out;
    enum sk_trace_form form;
    struct sk_observer *next;
};

void tracer_text(struct sk_tracer *t, const struct sk_packet *p, const struct sk_event *e);
void tracer_json(struct sk_tracer *t, const struct sk_packet *p, const struct sk_event *e);

// What the bits of SK_EV_PARSED's flags mean, the lowest first.
#define TRACER_PARSER_ERRORS 4u
extern const char *const tracer_parser_errors[TRACER_PARSER_ERRORS];

const char *tracer_kind(enum sk_event_kind kind);
// "0x1f"; always hexadecimal.
void tracer_hex(FILE *out, const struct sk_trace_value *v);
// Whether it has the width of an address of Ethernet or IPv4 and the name of one, such as
// "hdr.ipv4.src_addr"; and that address: "02:00:00:00:00:01", "10.0.0.1".
bool tracer_is_address(const struct sk_trace_value *v);
void tracer_address(FILE *out, const struct sk_trace_value *v);
void tracer_bytes(FILE *out, const uint8_t *bytes, uint32_t length);

// A field as a value: of a header's bytes, or of words (of a key, of action data).
struct sk_trace_value tracer_header_field(const struct sk_event *e, uint32_t i);
struct sk_trace_value tracer_word_field(const struct sk_field_desc *f, const uint64_t *words);

// What the entry that was hit asks of the table's key 'i', whose words are from 'word' on: "0x12",
// "0x10 &&& 0xf0", "0x10/4", "1..5" in hexadecimal. A profile's member and whatever else has no key
// of its own: "".
#define TRACER_MATCH_BYTES 288u
void tracer_match(char out[TRACER_MATCH_BYTES], const struct sk_event *e, uint32_t i,
                  uint32_t word);

// Calls 'fn' for each field of a table's key, and each argument of its action.
typedef void (*tracer_on_value)(void *aux, const struct sk_trace_value *v);
void tracer_each_key(const struct sk_event *e, tracer_on_value fn, void *aux);
void tracer_each_argument(const struct sk_event *e, tracer_on_value fn, void *aux);

#endif
