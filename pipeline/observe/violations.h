// SPDX-License-Identifier: Apache-2.0
//
// violations: an observer that collects the violations of a checked build, once per place.
//
// The first violation at a place of the program is printed with the packet's number and pass; later
// ones are only counted. Memory is bounded: after SK_MAX_VIOLATIONS different ones, new ones share
// one count.
#ifndef SILKEN_PIPELINE_OBSERVE_VIOLATIONS_H
#define SILKEN_PIPELINE_OBSERVE_VIOLATIONS_H

#include <stdio.h>

#include "pipeline/trace.h"

#define SK_MAX_VIOLATIONS 4096u

struct sk_violations;

// Messages go to 'out', which stays the caller's; null: none. Null when memory is short.
struct sk_violations *sk_violations_new(FILE *out);
void sk_violations_free(struct sk_violations *v);                    // null allowed
struct sk_observer *sk_violations_observer(struct sk_violations *v); // valid as long as 'v'

uint64_t sk_violations_count(const struct sk_violations *v); // all times of all of them

struct sk_violation_view {
    enum sk_violation violation;
    const struct sk_place *at; // null: not at a place of the program
    const char *name;
    uint64_t count, first_packet;
};
// Calls 'fn' for each in the order they were found; stops when it returns false.
void sk_violations_each(const struct sk_violations *v,
                        bool (*fn)(void *aux, const struct sk_violation_view *view), void *aux);

const char *sk_violation_word(enum sk_violation v); // "register-twice"
// One sentence about a VIOLATION event: "hdr.x.f is used before anything was assigned to it".
// Returns its length, at most 'size' - 1.
size_t sk_violation_text(char *text, size_t size, const struct sk_event *e);

#endif
