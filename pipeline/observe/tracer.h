// SPDX-License-Identifier: Apache-2.0
//
// tracer: an observer that prints what happens to packets (pipeline/trace.h): for people, or as
// JSON, one object a line.
//
// The JSON form. Every object has "event" (the kind), "packet" (serial number), "pass" (from 1) and
// "in" ("ingress", "egress", "switch"); "at" is the place in the source, "FILE:LINE:COLUMN".
// Numbers that may need more than 53 bits (values of fields, keys, registers) are strings, "0x1f";
// bytes are strings of hexadecimal digits. docs/manual.md lists the kinds with their members.
#ifndef SILKEN_PIPELINE_OBSERVE_TRACER_H
#define SILKEN_PIPELINE_OBSERVE_TRACER_H

#include <stdio.h>

#include "pipeline/trace.h"

enum sk_trace_form { SK_TRACE_TEXT, SK_TRACE_JSON };

struct sk_tracer;

// Prints to 'out', which stays the caller's, and passes every event on to 'next' (or null). Nothing
// is kept from one event to the next but what the text form needs to join lines. Null when memory
// is short.
struct sk_tracer *sk_tracer_new(FILE *out, enum sk_trace_form form, struct sk_observer *next);
void sk_tracer_free(struct sk_tracer *t); // null allowed
struct sk_observer *sk_tracer_observer(struct sk_tracer *t);

#endif
