// SPDX-License-Identifier: Apache-2.0
//
// replace: another program in a switch that goes on: its pipes are exchanged, and all else (ports,
// queues, multicast, mirror sessions, buffers, counts) stays where it is.
#include "pipeline/cores/apart.h"
#include "pipeline/switch/switch_impl.h"

#include <stdio.h>

static void swap_pipe(struct sk_switch *sw, struct sk_switch *with, unsigned i) {
    struct pipe *own = &switch_owner(sw, i)->pipes[i], *other = &switch_owner(with, i)->pipes[i];
    const struct sk_pipeline_desc *desc = own->desc, *new_desc = other->desc;
    struct sk_pipe *state = own->state, *new_state = other->state;
    struct digest_slot *slots = own->digests.slots;
    for (unsigned c = 0; c < sw->n_cores; c++)
        sw->cores[c]->pipes[i].desc = new_desc;
    for (unsigned c = 0; c < with->n_cores; c++)
        with->cores[c]->pipes[i].desc = desc;
    own->state = new_state;
    other->state = state;
    own->digests.slots = other->digests.slots;
    other->digests.slots = slots;
}

bool sk_switch_replace(struct sk_switch *sw, struct sk_switch *with, uint64_t now_ns, char *error,
                       size_t error_size) {
    const struct sk_program_desc *program = sw->program;
    if (switch_is_tofino_2(sw) != switch_is_tofino_2(with)) {
        snprintf(error, error_size,
                 "it is a program for a chip other than that of the running one");
        return false;
    }
    bool observed = switch_is_apart(sw);
    for (unsigned c = 0; c < sw->n_cores; c++)
        observed |= sw->cores[c]->observer || sw->cores[c]->trap;
    if (observed) {
        snprintf(error, error_size, "a switch that is observed cannot replace its program");
        return false;
    }
    // what waits between ingress and egress has the old program's headers
    sk_switch_stop(sw, now_ns);
    for (unsigned i = 0; i < SK_PIPES; i++)
        swap_pipe(sw, with, i);
    sw->program = with->program;
    with->program = program;
    sk_tables_changed();
    return true;
}
