// SPDX-License-Identifier: Apache-2.0
//
// state: all state that packets leave in a switch, as JSON that can be compared.
//
// A state is an object with "silken_state": 1 and one array for each section; an item of an array
// is an object on a line of its own, so that `diff` shows the changes. The same state gives the
// same bytes, whatever the order in which entries were added, and whether the program is the
// checked build or not.
//
//   section         an item is said by             and has
//   registers       name pipe index | key          value; or name and "otherwise": the value of all
//                                                  cells that are not listed, when that is not zero
//   counters        name pipe index | key          packets bytes; what is zero is left out
//   hits            table pipe key | default       hits last_hit (ns, 48 bits; of what ages or
//                                                  changes); entries that were hit
//   entries         table [pipe] key [priority]    action args | member | group; not those that are
//                                                  const
//   members         profile [pipe] id              action args
//   groups          selector [pipe] id             max_size members
//   selector_bits   selector pipe id               live: the bits that the data plane sees
//   defaults        table [pipe]                   action args; those that are not the program's
//   value_sets      name [pipe] key
//   meters          name [pipe] index | key        spec (names of attached.h) of configured ones
//   meter_states    name pipe index | key          committed peak | value, and last: those that ran
//   ageing          table pipe key                 ttl_ms active (ns: the last match, or the start)
//   drops           reason                         packets
//   ports           port                           received sent dropped; those with packets
//   switch                                         received sent copies recirculated resubmitted
//                                                  mirrored generated digests
//
// registers, entries, members, groups, defaults, value_sets and meters of indices are what a
// configuration (config.h) has under these names, but for "otherwise". "pipe" in brackets: only
// when the pipes that have the object are not alike. Cells of direct objects have the key and, in
// tables with priorities, the priority of their entry. Objects are in the order of their names,
// those in entries after those with indices; cells by pipe and index; entries by priority and key.
// A number that needs more than 53 bits is a string. Tables that are hidden are left out, and so is
// what only a control plane changes: multicast, mirror sessions, hashes, key masks, ports'
// settings.
//
// The state of a meter is its tokens in the parts of meter.c, "committed" and "peak", and "last",
// the time of its last packet; that of a filter its value with 16 bits after the point, and "last".
//
// Thread-safety: as all of control/.
//
// Files:
//
//     walk.c     its items, section by section: registers, counters, meters, the switch
//     tables.c   items of tables, profiles and value sets
//     groups.c   items of selectors
//     write.c    items as text
//     compare.c  items against those of a file
//     expect.c   what an item of a file means, for compare.c
//     jobs.c     the state of aggregation jobs (jobs.h)
#ifndef SILKEN_CONTROL_STATE_STATE_H
#define SILKEN_CONTROL_STATE_STATE_H

#include <jansson.h>
#include <stdio.h>

#include "control/tables/control.h"

// False when writing failed (errno). With 'pauses' packets go on meanwhile: state that they change
// is read in slices, each of which is consistent; the counts of the switch and of its ports are one
// slice. Null: the switch is not running.
struct sk_pauses;
bool sk_state_write(struct sk_switch *sw, struct sk_pauses *pauses, FILE *out);

// What a switch's state is expected to be.
struct sk_expected_state;
// From a file's text; names are those of the program of 'sw' or a unique suffix, values as in
// control.h. Sections and members that are not there are not compared. Null with a sentence that
// has the file's name and line.
struct sk_expected_state *sk_expected_state_parse(const char *name, const char *text, size_t length,
                                                  struct sk_switch *sw, struct sk_error *err);
void sk_expected_state_free(struct sk_expected_state *e); // null allowed
// Compares; writes the first 'show' differences to 'messages', a line each: section, object, pipe
// and index or key, member, what was expected and what is there. Returns how many there are. Once
// for each that was parsed.
size_t sk_expected_state_compare(struct sk_expected_state *e, struct sk_switch *sw, size_t show,
                                 FILE *messages);

#endif
