// SPDX-License-Identifier: Apache-2.0
//
// emit: pipeline IR -> C: the driver. See emit.h, and emit_impl.h for how the files work together.
//
// The order of the output: CRC tables; then per pipeline the descriptions of its objects, the state
// struct, each gress's functions (register actions, actions, tables, parser, control, deparser,
// entry), the control plane's accessors; at the end the program's description.
#include "compiler/instrument/instrument.h"
#include "compiler/print/checked/checked.h"
#include "compiler/print/checked/trace.h"
#include "pipeline/abi.h"

#include <ctype.h>
#include <string.h>

struct emit emit_of_gress(const struct emit *e, unsigned kind) {
    struct emit of = *e;
    of.plan = &e->plans[kind];
    of.g = of.plan->g;
    of.vars = e->vars_of[kind];
    of.p = emit_text(e, "p%u%c", e->pipeline_index, kind == IR_INGRESS ? 'i' : 'e');
    return of;
}

struct emit emit_of_user(const struct emit *e, const void *user) {
    struct emit of = *e;
    of.user = user;
    return of;
}

static void phv_members(const struct emit *e, bool validities) {
    for (size_t i = 0; i < e->g->vars.n; i++) {
        const struct ir_var *v = e->g->vars.v[i];
        const struct emit_var *is = emit_var_of(e, v);
        if (!is->shared || is->wire || e->plan->places[v->id].array ||
            plan_is_validity(e->plan, v) != validities)
            continue;
        if (plan_is_wide(v->width))
            emit_line(e, "uint8_t %s[%u];", is->name, plan_bytes(v->width));
        else
            emit_line(e, "%s %s;", emit_storage(v->width), is->name);
    }
}

// Of lanes: what a loop over them has of each variable is a vector.
static void phv_arrays(const struct emit *e) {
    for (size_t i = 0; i < e->plan->arrays.n; i++) {
        const struct plan_lane_array *array = &e->plan->arrays.v[i];
        emit_line(e, "_Alignas(64) %s array%zu[%u]; // %s and others",
                  emit_ctype(array->of[0]->width), i + 1, array->n,
                  emit_comment(e, array->of[0]->name));
    }
}

static void gress_functions(const struct emit *e) {
    const enum ir_gress_kind kind = e->g->kind;
    emit_line(e, " ");
    emit_line(e, "// ==== %s: %s", emit_comment(e, e->pipeline->name),
              kind == IR_INGRESS ? "ingress" : "egress");
    emit_open(e, "struct %s_phv {", e->p);
    emit_line(e, "uint64_t now; // ns, 48 bits: entry of the parser");
    if (e->plan->prefetch.table && kind == IR_INGRESS)
        emit_line(e, "struct sk_entry *ahead; // found ahead, for table %s",
                  emit_comment(e, e->plan->prefetch.table->name));
    emit_line(e, "const uint8_t *end; // of the packet");
    if (plan_paths_go_on(e->plan))
        emit_line(e, "uint8_t *front; // of the packet that leaves");
    emit_split_packet_members(e);
    emit_line(e, "uint8_t asks; // the deparser put something into 'out'");
    if (ir_block_has(e->g->deparser, IR_RESUBMIT))
        emit_line(e, "uint8_t resubmits;");
    emit_line(e, "uint32_t packet_bytes; // on the wire, with the frame check sequence");
    if (e->g->value_sets.n)
        emit_line(e, "uint8_t parser; // of the pipe's: which value sets count");
    emit_late_members(e);
    phv_members(e, true); // side by side: several are set at once
    phv_members(e, false);
    phv_arrays(e);
    for (size_t i = 0; i < e->g->headers.n; i++)
        for (size_t j = 0; j < e->plan->headers[i].segments.n; j++)
            if (e->plan->headers[i].segments.v[j].raw && e->plan->headers[i].emitted)
                emit_line(e, "uint8_t raw_h%zu_s%zu[%u]; // %s", i, j,
                          e->plan->headers[i].segments.v[j].bits / 8,
                          emit_comment(e, e->g->headers.v[i]->name));
    emit_home_members(e);
    emit_deferred_members(e);
    emit_sunk_members(e);
    emit_checked_phv(e);
    emit_close(e, "};");
    emit_entry_prototypes(e);
    if (kind == IR_INGRESS)
        emit_prefetch_prototype(e);
    emit_part_begin(e, emit_part_any(e) | emit_part_main(e));
    emit_checked_places(e);
    emit_trace_headers(e);
    emit_regactions(e);
    emit_actions(e);
    emit_tables(e);
    emit_note_masks(e);
    emit_sunk_loops(e);
    emit_deparser(e);
    emit_ends(e);
    emit_control(e);
    emit_entry_rest(e);
    emit_part_end(e);
    emit_part_begin(e, emit_part_any(e));
    emit_parser(e);
    emit_entry_any(e);
    emit_part_end(e);
    emit_part_begin(e, emit_part_main(e));
    emit_entry_paths(e);
    if (kind == IR_INGRESS)
        emit_prefetch_burst(e);
    emit_part_end(e);
}

static void file_head(const struct emit *e) {
    emit_line(e, "// Compiled by Silken from %s. Not meant to be edited.",
              emit_comment(e, e->program->path));
    emit_part_macro(e);
    emit_line(e, "#include <stdlib.h>");
    emit_line(e, "#include \"pipeline/abi.h\"");
    if (e->checked) {
        emit_line(e, "#include \"pipeline/checked.h\"");
        emit_line(e, "#define SK_ON_SHORT(bytes) \\");
        emit_line(
            e, "    sk_report(v->packet, here_gress, SK_VIOLATION_SHORT_PACKET, here, doing, \\");
        emit_line(e, "              (bytes) - (size_t)(end - p), NULL)");
    }
    emit_line(e, "#include \"stages/checksum.h\"");
    emit_line(e, "#include \"stages/dynhash.h\"");
    emit_line(e, "#include \"stages/hash.h\"");
    emit_line(e, "#include \"stages/mathunit.h\"");
    emit_line(e, "#include \"stages/meter.h\"");
    emit_line(e, "#include \"stages/notes.h\"");
    emit_line(e, "#include \"stages/parse.h\"");
    emit_line(e, "#include \"pipeline/hop.h\"");
    emit_line(e, "#include \"stages/state.h\"");
    emit_line(e, "#include \"stages/table_impl.h\"");
    emit_line(e, "#include \"stages/wide.h\"");
    emit_line(e, " ");
    emit_line(e,
              "// A program may compare a value with what it cannot be, or with itself, and may");
    emit_line(e,
              "// declare what it never uses: its author was told, the C compiler's user is not.");
    emit_line(e, "#pragma GCC diagnostic ignored \"-Wtype-limits\"");
    emit_line(e, "#pragma GCC diagnostic ignored \"-Wtautological-compare\"");
    emit_line(e, "#pragma GCC diagnostic ignored \"-Wunused-function\"");
    emit_line(e, "#pragma GCC diagnostic ignored \"-Wunused-variable\"");
    emit_line(e, "#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"");
    emit_line(e, "#pragma GCC diagnostic ignored \"-Wunused-parameter\"");
    emit_line(e, "#pragma GCC diagnostic ignored \"-Wunused-label\"");
    emit_line(e, "_Static_assert(SK_INDEX_BITS == %d, \"keys that are indices\");", PLAN_MAX_INDEX);
    emit_line(e, "_Static_assert(SK_HEADROOM >= %u + SK_INGRESS_PREFIX_2, \"headroom\");",
              emit_most_allowed(e->program));
}

static void program_desc(const struct emit *e) {
    const struct ir_program *p = e->program;
    emit_line(e, " ");
    emit_part_begin(e, EMIT_OBJECTS);
    emit_open(e, "static const struct sk_pipeline_desc *const pipelines[] = {");
    for (size_t i = 0; i < p->pipelines.n; i++)
        emit_line(e, "&p%zu_pipeline,", i);
    emit_close(e, "};");
    emit_open(e, "static const struct sk_program_desc program = {");
    emit_line(e, ".abi_version = %u,", SK_ABI_VERSION);
    emit_line(e, ".path = %s,", emit_string(e, p->path));
    emit_line(e, ".ingress_prefix = %u, .egress_prefix = %u,", p->ingress_prefix, p->egress_prefix);
    emit_line(e, ".pipelines = pipelines,");
    emit_line(e, ".n_pipelines = %zu,", p->pipelines.n);
    emit_line(e, ".pipe_of = {%u, %u, %u, %u},", p->pipe_of[0], p->pipe_of[1], p->pipe_of[2],
              p->pipe_of[3]);
    if (p->invariant_crc)
        emit_line(e, ".invariant_crc = true,");
    if (p->single_packets)
        emit_line(e, ".single_packets = true,");
    emit_close(e, "};");
    emit_line(e, "_Static_assert(SK_ABI_VERSION == %u, \"abi\");", SK_ABI_VERSION);
    emit_open(e, "__attribute__((visibility(\"default\"))) const struct sk_program_desc "
                 "*silken_program(void) {");
    emit_line(e, "return &program;");
    emit_close(e, "}");
    emit_part_end(e);
}

static void pipeline(const struct emit *program, const struct plan *plans, unsigned index) {
    struct emit e = *program;
    e.pipeline_index = index;
    e.pipeline = e.program->pipelines.v[index];
    e.plans = plans;
    for (unsigned k = 0; k < 2; k++) {
        const struct emit of = emit_of_gress(&e, k);
        e.vars_of[k] = emit_name_variables(&of);
    }
    emit_key_functions(&e);
    emit_part_begin(&e, EMIT_OBJECTS);
    emit_descriptions(&e);
    emit_part_end(&e);
    emit_state_struct(&e);
    for (unsigned k = 0; k < 2; k++) {
        const struct emit of = emit_of_gress(&e, k);
        gress_functions(&of);
    }
    emit_part_begin(&e, EMIT_OBJECTS);
    emit_accessors(&e);
    emit_pipeline_desc(&e);
    emit_part_end(&e);
}

static bool emit_build(FILE *out, struct arena *a, struct diag *d, const struct ir_program *p,
                       const struct emit_options *opt) {
    struct emit_writer to = {.out = out};
    struct plan plans[EMIT_MAX_PIPELINES][2];
    const size_t n = p->pipelines.n;
    unsigned errors = diag_errors(d);
    if (n > EMIT_MAX_PIPELINES)
        DIAG_BUG("%zu pipelines", n);
    for (size_t i = 0; i < n; i++)
        if (!emit_check(a, d, p, p->pipelines.v[i]))
            return false;
    const struct instrument_options inserts = {.checked = opt->plan.checked,
                                               .without = opt->plan.without};
    p = instrument_program(a, p, &inserts);
    const struct emit e = {.to = &to, .a = a, .d = d, .program = p, .checked = opt->plan.checked};
    for (size_t i = 0; i < n; i++)
        plan_pipeline(a, d, p, p->pipelines.v[i], &opt->plan, plans[i]);
    for (size_t i = 0; i < n && opt->dump_plan; i++)
        for (unsigned k = 0; k < 2; k++)
            plan_dump(opt->dump_plan, &plans[i][k]);
    file_head(&e);
    emit_crc_tables(&e);
    for (unsigned i = 0; i < n; i++)
        pipeline(&e, plans[i], i);
    program_desc(&e);
    if (opt->units)
        *opt->units = emit_units_of(&e, plans);
    return diag_errors(d) == errors;
}

bool emit_c(FILE *out, struct arena *a, struct diag *d, const struct ir_program *p,
            const struct emit_options *opt) {
    static const struct emit_options fast = {.plan = {.vectorise = true}};
    return emit_build(out, a, d, p, opt ? opt : &fast);
}
