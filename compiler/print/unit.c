// SPDX-License-Identifier: Apache-2.0
//
// unit: the text as translation units that are compiled side by side.
//
// There is one text. Functions stand between '#if SK_PARTS & ...' and '#endif', by the part that
// they belong to: descriptions and accessors; of each gress the function for any packet, with the
// parser; and its ways through the parser one by one. What both of a gress need belongs to both,
// and is compiled in both. Without -DSK_PARTS the text is whole; with it the other parts are left
// out, and the objects of all units, linked, are the same program. Only the entry functions and
// the description of a pipeline are called from another part: they are not static.
//
// A unit is compiled in about the time that its text takes, times the ways that its functions are
// inlined into. Every unit reads the headers again, so a small program is one unit. What decides is
// the text alone: the same program has the same units on every machine.
#include "compiler/plan/parse_paths.h"
#include "compiler/print/emit_impl.h"

#define UNIT_BYTES ((size_t)32 << 10) // of text: what is less is not worth a unit of its own

static uint32_t unit_bit(const struct emit *e, unsigned more) {
    return UINT32_C(2) << (4 * e->pipeline_index + (e->g->kind == IR_EGRESS ? 2 : 0) + more);
}

uint32_t emit_part_main(const struct emit *e) {
    return unit_bit(e, 0);
}

uint32_t emit_part_any(const struct emit *e) {
    return unit_bit(e, e->plan->paths ? 1 : 0);
}

void emit_part_begin(const struct emit *e, uint32_t parts) {
    emit_line(e, "#if SK_PARTS & 0x%x", parts);
    e->to->parts = parts;
}

void emit_part_end(const struct emit *e) {
    e->to->parts = 0;
    emit_line(e, "#endif");
}

void emit_part_macro(const struct emit *e) {
    emit_line(e, "#ifndef SK_PARTS // of the text that are compiled: all, or those of a unit");
    emit_line(e, "#define SK_PARTS ~0u");
    emit_line(e, "#endif");
}

// What a part costs, as bytes of text.
static size_t unit_cost(const struct emit *e, const struct plan plans[][2], unsigned part) {
    const unsigned gress = (part - 1) / 2;
    const struct plan *plan = part ? &plans[gress / 2][gress % 2] : NULL;
    const size_t ways = plan && plan->paths && (part - 1) % 2 == 0 ? plan->paths->ends.n : 1;
    return e->to->bytes[part] * (ways ? ways : 1);
}

struct unit {
    uint32_t parts;
    size_t cost;
};

// By cost, the largest first: it is started first.
static void unit_sort(struct unit *v, size_t n) {
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && v[k].cost > v[k - 1].cost; k--) {
            const struct unit x = v[k];
            v[k] = v[k - 1];
            v[k - 1] = x;
        }
}

struct emit_units emit_units_of(const struct emit *e, const struct plan plans[][2]) {
    struct unit v[EMIT_N_PARTS];
    size_t n = 0;
    for (unsigned i = 0; i < 1 + 4 * e->program->pipelines.n; i++)
        v[n++] = (struct unit){UINT32_C(1) << i, unit_cost(e, plans, i)};
    unit_sort(v, n);
    while (n > 1 && (n > EMIT_MAX_UNITS || v[n - 1].cost < UNIT_BYTES)) {
        v[n - 2].parts |= v[n - 1].parts;
        v[n - 2].cost += v[n - 1].cost;
        n--;
        unit_sort(v, n);
    }
    struct emit_units units = {.n = n};
    for (size_t i = 0; i < n; i++)
        units.parts[i] = v[i].parts;
    return units;
}
