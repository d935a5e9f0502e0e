// SPDX-License-Identifier: Apache-2.0
//
// shadow: predicts the path of a packet through a running switch, with a second switch (the shadow)
// that runs the checked build of the same program.
//
// The fast build reports nothing about its inside. So the packet runs through the shadow first,
// repeatedly, until the shadow has all state that the packet uses: each table that the packet looks
// up gets the entry that the live switch has for this key (or no entry and the live default
// action); each register cell and meter that the packet accesses gets the live value from before
// the packet. A run that uses no state beyond that of the run before it matches the live switch:
// this run is printed. Then the live switch runs the packet alone, and the shadow's result is
// compared with it: packets sent, packets dropped, values left in these registers.
//
// So the printed path is the real one. Where the shadow cannot know the live state, it says so:
//   - Random externs draw numbers of their own in either switch;
//   - in the egress of ports with a speed, where the live packet waits first;
//   - in a selector's memory that the data plane writes.
//
// Thread-safety: one thread at a time. The live switch must not run during sk_shadow_show();
// sk_shadow_matches() does not touch it.
#ifndef SILKEN_CONTROL_WATCH_SHADOW_H
#define SILKEN_CONTROL_WATCH_SHADOW_H

#include <stdio.h>

#include "base/error.h"
#include "pipeline/observe/trap.h"
#include "pipeline/observe/tracer.h"

struct sk_shadow;

// 'checked' is the checked build of the program that 'live' runs, and must outlive it. Null with a
// sentence when it is another program.
struct sk_shadow *sk_shadow_new(const struct sk_program *checked, struct sk_switch *live,
                                struct sk_error *err);
void sk_shadow_free(struct sk_shadow *s); // null allowed; 'live' is not used any more

// Does the parser find headers with these values in the frame? Names as "hdr.ipv4.src_addr" or a
// suffix; values in the forms of keys (control.h: also 10.0.0.0/8, 0x10 &&& 0xf0). Of several
// fields with a name one is enough; all names must have one. "hdr.ipv4.$valid" is 1 if ingress'
// parser finds the header, else 0.
#define SK_SHADOW_FIELDS 16u
struct sk_shadow_field {
    const char *name, *value;
    bool ingress; // as ingress' parser finds it; else also as egress' does
};
// Could a packet match? Each name must be a field of a header that the program's parsers extract,
// each value one that the field can have. 0, or negative with a sentence that lists the nearest
// names.
int sk_shadow_check(const struct sk_switch *live, const struct sk_shadow_field *fields, size_t n,
                    struct sk_error *err);
bool sk_shadow_matches(struct sk_shadow *s, uint16_t port, const uint8_t *frame, uint32_t length,
                       const struct sk_shadow_field *fields, size_t n);

// The packet that 'core' of the live switch holds (pipeline/observe/trap.h): prints its way, and
// lets it go on. Returns whether the live switch did the same.
bool sk_shadow_show(struct sk_shadow *s, unsigned core, uint64_t now_ns, FILE *out,
                    enum sk_trace_form form);

#endif
