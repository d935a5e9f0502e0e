// SPDX-License-Identifier: Apache-2.0
//
// place_impl: what the files of place share: the state of a placement under way.
#ifndef SILKEN_COMPILER_CHIP_PLACE_PLACE_IMPL_H
#define SILKEN_COMPILER_CHIP_PLACE_PLACE_IMPL_H

#include "compiler/chip/memory/format.h"
#include "compiler/chip/place/place.h"

#define PLACE_NOBODY      UINT32_MAX
#define PLACE_MOST_STAGES 4096 // a program that needs more is given up on

// An object that several units use, which all must be in the stage of its memory.
struct place_shared {
    const struct memory_attached *object;
    VEC(unsigned) users; // place_unit numbers
    unsigned stage;      // PLACE_NOBODY: not yet placed
    unsigned not_before; // the stage that all of its users can be in
    unsigned at_first;   // the same, by dependencies alone
    bool impossible;     // its users depend on one another
};
struct place_dep {
    unsigned from, distance;
    const struct chip_dep *dep;
};
struct place_unit {
    struct chip_unit *u;
    unsigned gress;
    VEC(struct place_dep) before; // dependencies on others
    VEC(struct place_dep) behind; // 'from' is who depends on this one
    VEC(unsigned) conflicts;      // units that write the same containers
    VEC(unsigned) shared;         // indices of place.shared
    unsigned height;              // stages that the longest chain after it takes
    unsigned boost;               // how often it, or what waits for it, came too late
    unsigned earliest;            // by dependencies alone
    unsigned least;               // stages that the unit alone takes, less one
    unsigned parent, branch;      // whose outcome decides whether it runs, and which
    unsigned group;               // units one after another under one parent
    int priority;
    unsigned from_stage; // @stage, its own or of a block around it; 0: none
    // Of the pass under way:
    unsigned waiting;  // units it depends on that are not placed
    unsigned children; // units below it in the control's tree that are not placed
    unsigned failed;   // stage + 1 in which it did not fit, and
    enum chip_resource lack;
    unsigned lacked_since; // first stage where resources, not dependencies, kept it out
    unsigned offered;      // stage + 1 in which it could have been placed
    bool done;
    bool first_done; // of an ALPM table
    uint64_t left;
    unsigned last; // stage of its last part
};
struct place_stage {
    unsigned used[CHIP_RESOURCES];
    memory_byte_vec exact, ternary;
    VEC(const void *) objects;
    VEC(const struct memory_index *) indices;
    VEC(const struct ir_action *) actions[2];
};
struct place {
    struct chip_report *r;
    struct chip_pipe *pipe;
    VEC(struct place_unit) units; // both gresses; an ingress unit's number is its id
    unsigned first[2];
    VEC(struct place_shared) shared;
    unsigned *order; // units by how urgent they are
    unsigned *busy;  // of each group: members placed whose children are not
    unsigned n_groups;
    VEC(struct place_stage *) stages;
    unsigned stage; // under way
    unsigned left;  // units not placed
    bool free;      // containers are laid out so that there are no conflicts
    bool unordered; // units pass what hangs below others
    bool loose;     // nothing could be placed in the order of the control's tree: it is given up
    bool given_up;
};

// graph.c: units of both gresses with their dependencies, chains, groups and shared objects.
void place_prepare(struct place *p);
// Fills 'order', from heights and boosts.
void place_sort_units(struct place *p);
// stage.c: whether 'entries' of a unit fit into stage 's' as it is; *lack says what does not.
bool place_fits(struct place *p, const struct place_unit *x, unsigned s, uint64_t entries,
                enum chip_resource *lack);
// The most entries of what is left that fit, or 0.
uint64_t place_share(struct place *p, const struct place_unit *x, unsigned s);
void place_take(struct place *p, struct place_unit *x, unsigned s, uint64_t entries);
struct place_stage *place_stage(struct place *p, unsigned s);
// report.c: why it does not fit.
void place_explain(struct place *p);

#endif
