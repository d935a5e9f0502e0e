// SPDX-License-Identifier: Apache-2.0
//
// parse_paths: what the files about ways through the parser share: finding them (parse_paths.c),
// printing them (compiler/print/path_entry.c), split packets (split_packet.c).
#ifndef SILKEN_COMPILER_PLAN_PARSE_PATHS_H
#define SILKEN_COMPILER_PLAN_PARSE_PATHS_H

#include "compiler/plan/plan.h"

#define PLAN_SPLIT_PACKET (-2) // a way that leads to those of split packets

struct plan_known {  // of a packet at some point of the parser
    unsigned at;     // bytes after the first one that the parser sees
    uint16_t *place; // by header: where it begins, plus one; 0: not extracted, or not in place
    bool *valid;     // by header
    bool is_split;   // its headers are not in one piece with what is after the seam
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
    // by case of its state, or one: a node, or after them (PLAN_MAX_NODES) a path; -1: none;
    // PLAN_SPLIT_PACKET
    int *next;
};
struct plan_paths {
    VEC(struct plan_node *) nodes;
    VEC(struct plan_known) ends;
    int root, root_split; // nodes; -1: none
    bool too_many;
    struct plan_seam seam;
};

// ---- split_packet.c ----
// The seam that suits the ways that were found; of 0 bytes: none does.
struct plan_seam plan_choose_seam(const struct plan *plan, const struct plan_paths *p);
// Headers that the parser makes valid at this end are put before what is after the seam, each at
// 'before' (by header; 0: not this one) bytes before it, and as many are needed. False: they have
// their homes.
bool plan_made_behind_seam(const struct plan *plan, const struct plan_known *k, unsigned *before,
                           unsigned *bytes);

#endif
