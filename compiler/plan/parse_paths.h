// SPDX-License-Identifier: Apache-2.0
//
// parse_paths: what the files about ways through the parser share: finding them (parse_paths.c),
// printing them (compiler/print/path_entry.c), split packets (split_packet.c).
#ifndef SILKEN_COMPILER_PLAN_PARSE_PATHS_H
#define SILKEN_COMPILER_PLAN_PARSE_PATHS_H

#include "compiler/plan/plan.h"

// What a way leads to: a node, from here on an end, or to the ways of packets that are split: so
// many below this, after the first seam's length, the second's...
#define PLAN_FIRST_END    (PLAN_MAX_NODES * PLAN_MAX_SEAMS)
#define PLAN_SPLIT_PACKET (-2)

struct plan_known {  // of a packet at some point of the parser
    unsigned at;     // bytes after the first one that the parser sees
    uint16_t *place; // by header: where it begins, plus one; 0: not extracted, or not in place
    bool *valid;     // by header
    // Its headers are not in one piece with what is after the seam: which of the seam's lengths
    // they have, plus one; 0: they are.
    unsigned split;
};
struct plan_node {
    int state;
    struct plan_known in, out;
    // Bytes that all ways from here on need (a way looks ahead after what it takes); bytes that are
    // known to be there.
    unsigned need, sure;
    bool open;     // being built: reached again without progress
    bool gives_up; // nothing is known after it
    bool used;     // some way from here leads to an end
    bool whole;    // all do
    int *next;     // by case of its state, or one: what it leads to; -1: to nothing
};
struct plan_paths {
    VEC(struct plan_node *) nodes;
    VEC(struct plan_known) ends;
    size_t *body; // by end: the first one with which it shares what is printed after it, or itself
    int root, root_split[PLAN_MAX_SEAMS]; // nodes; -1: none
    bool too_many;
    struct plan_seam seam;
};

// ---- parse_paths.c ----
// Where the seam of such a packet is, counted from the first byte that the parser sees; 0: it is
// not split.
unsigned plan_seam_at(const struct plan *plan, const struct plan_seam *seam,
                      const struct plan_known *k);

// ---- choose_paths.c ----
// Takes away the ends that are not printed, and says which share what is printed after them. False:
// there are too many, or none.
bool plan_choose_paths(const struct plan *plan, struct plan_paths *p);
// Whether end i shares that with others.
bool plan_end_shares(const struct plan_paths *p, size_t i);

// ---- end_facts.c ----
// By end: what is known of variables there, and where it shares a body, at all ends that do.
const struct plan_fact **plan_end_facts(const struct plan *plan, const struct plan_paths *p);

// ---- split_packet.c ----
// The seam that suits the ways that were found; without a length: none does.
struct plan_seam plan_choose_seam(const struct plan *plan, const struct plan_paths *p);
// How many bytes the headers that are emitted before it have, if the packet came this way and
// begins with them, one after the other; 0: it does not.
unsigned plan_front_bytes(const struct plan *plan, const struct plan_seam *seam,
                          const struct plan_known *k);
// The first of those that it has; null: none.
const struct ir_header *plan_front_header(const struct plan *plan, const struct plan_seam *seam,
                                          const struct plan_known *k);
// Headers that the parser makes valid at this end are put before what is after the seam, each at
// 'before' (by header; 0: not this one) bytes before it, and as many are needed. False: they have
// their homes.
bool plan_made_behind_seam(const struct plan *plan, const struct plan_known *k, unsigned *before,
                           unsigned *bytes);

#endif
