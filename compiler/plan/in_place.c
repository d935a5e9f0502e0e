// SPDX-License-Identifier: Apache-2.0
//
// in_place: headers that stay on the wire.
//
// Such a header has a pointer in phv, to its bytes in the packet when it was extracted and to zeros
// of its own ("home") before. Homes are in the pipe's state and are zero between packets: one that
// may have been written to is cleared when the packet is done. A field is loaded and stored there,
// in network order, where the program touches it, so a header costs what is done with it, and the
// deparser moves bytes only when a header before the payload was added, removed or resized.
//
// Three things ask for a copy when a header is extracted, rather than the packet's own bytes, if
// the program writes to it: a resubmit and a mirrored copy of the packet as received, and a parser
// that writes, since a residual checksum is taken of received bytes.
#include "compiler/ir/effects.h"
#include "compiler/ir/walk.h"
#include "compiler/plan/plan.h"

// What is held back is not written to the header (deferred_stores.c).
static bool any_field(const struct plan *plan, const struct ir_header *h, const bool *written,
                      const bool *but) {
    for (size_t i = 0; i < h->fields.n; i++) {
        const unsigned id = h->fields.v[i]->id;
        if (written[id] && !(but && but[id]) && !plan->vars[id].deferred)
            return true;
    }
    return false;
}

// A field that is no C number must be whole bytes, to be an array of them.
static bool plan_in_place_suits(const struct ir_header *h) {
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        if (plan_is_wide(f->width) && (f->bit_offset % 8 || f->width % 8))
            return false;
    }
    return h->bits > 0;
}

void plan_in_place(struct plan *plan) {
    const struct ir_gress *g = plan->g;
    struct ir_effects in_parser = ir_effects_none(plan->a, g), later = ir_effects_none(plan->a, g);
    ir_effects_add_parser(&in_parser);
    ir_effects_add_rest(&later);
    // a Tofino 2's egress may mirror what it received, too
    bool as_received = g->kind == IR_INGRESS || g->intrinsic[IRI_MIRROR_IO_SELECT];
    bool kept = as_received &&
                (ir_block_has(g->deparser, IR_RESUBMIT) || ir_block_has(g->deparser, IR_MIRROR));
    struct plan_home *homes = ARENA_ARRAY(plan->a, struct plan_home, g->headers.n + 1);
    for (size_t i = 0; i < g->headers.n; i++) {
        const struct ir_header *h = g->headers.v[i];
        const bool parser = any_field(plan, h, in_parser.assigned, NULL);
        homes[i].on_wire = homes[i].in_state = !plan->checked && plan_in_place_suits(h);
        homes[i].written = parser || any_field(plan, h, later.assigned, NULL);
        homes[i].in_place =
            !parser && !(kept && any_field(plan, h, later.assigned, plan->only_sunk));
    }
    plan->homes = homes;
}

const struct plan_home *plan_home_of(const struct plan *plan, const struct ir_header *h) {
    return &plan->homes[h->id];
}

// Headers that nobody extracts, emits or looks at have no place.
bool plan_home_is_placed(const struct plan *plan, const struct ir_header *h) {
    bool used = plan->headers[h->id].extracted || plan->headers[h->id].emitted;
    for (size_t i = 0; i < h->fields.n && !used; i++)
        used = plan->vars[h->fields.v[i]->id].touched;
    return used && plan_home_of(plan, h)->on_wire;
}
