// SPDX-License-Identifier: Apache-2.0
//
// register: registers and what a stateful ALU does to them.
//
// A register action is a function of the index (or of the entry's cells) that returns rv. An index
// outside of the register does nothing and gives zero. An action whose cells have another size than
// the register's takes its words out of the register's memory (ir.h, struct ir_regaction) and puts
// them back there.
#include "compiler/print/emit_impl.h"
#include "compiler/print/lane_loop.h"

static const char *ra_name(const struct emit *e, const struct ir_regaction *ra) {
    return emit_text(e, "%s_ra%u_%s", e->p, ra->id, emit_ident(e, ra->name));
}

// An index is checked at run time unless its width says that it fits.
bool emit_always_inside(const struct ir_expr *index, uint64_t size) {
    if (index->op == IR_CONST)
        return big_fits_u64(index->value) && big_to_u64(index->value) < size;
    return index->width < 64 && (UINT64_C(1) << index->width) <= size;
}

// Declares 'cell', a pointer to the words of the register's cell.
static void direct_cell(const struct emit *e, const struct ir_register *r) {
    emit_line(e, "uint64_t *cell = entry->direct + %u;", emit_direct_word(e->g, r));
}

static const char *emit_register_cell_word(const struct emit *e, const struct ir_register *r,
                                           const char *index, unsigned word) {
    const char *w = emit_text(e, "%u", word);
    return r->direct ? emit_text(e, "cell[%s]", w) : emit_cell(e, r, index, w);
}

// ---- cells of another size ----

static bool same_cells(const struct ir_regaction *ra) {
    return ra->width == ra->reg->width && ra->words == ra->reg->words;
}

static uint64_t view_size(const struct ir_regaction *ra) {
    const struct ir_register *r = ra->reg;
    return (uint64_t)r->size * r->width * r->words / ((uint64_t)ra->width * ra->words);
}

// The register's word number 'n' (C text), counted over all cells.
static const char *word_number(const struct emit *e, const struct ir_register *r, const char *n) {
    if (r->direct)
        return emit_text(e, "cell[%s]", n);
    if (r->words == 1)
        return emit_cell(e, r, n, "0");
    return emit_cell(e, r, emit_text(e, "(%s) / 2", n), emit_text(e, "(%s) %% 2", n));
}

// Declares bit<w>, the first bit of the action's word 'w' in the register's memory.
static void view_bit(const struct emit *e, const struct ir_regaction *ra, unsigned w) {
    emit_line(e, "const uint64_t bit%u = %s * %u + %u;", w, ra->reg->direct ? "0" : "index",
              ra->width * ra->words, w * ra->width);
}

static void load_view(const struct emit *e, const struct ir_regaction *ra, unsigned w) {
    const struct ir_register *r = ra->reg;
    const char *text = "", *to = emit_ref(e, ra->value[w]), *type = emit_storage(ra->width);
    view_bit(e, ra, w);
    if (ra->width <= r->width) {
        const char *word = word_number(e, r, emit_text(e, "bit%u / %u", w, r->width));
        emit_line(e, "%s = (%s)((uint64_t)%s >> bit%u %% %u & sk_mask(%u));", to, type, word, w,
                  r->width, ra->width);
        return;
    }
    for (unsigned i = 0; i < ra->width / r->width; i++) {
        const char *word = word_number(e, r, emit_text(e, "bit%u / %u + %u", w, r->width, i));
        text = emit_text(e, "%s%s(uint64_t)%s << %u", text, i ? " | " : "", word, i * r->width);
    }
    emit_line(e, "%s = (%s)(%s);", to, type, text);
}

static void store_view(const struct emit *e, const struct ir_regaction *ra, unsigned w) {
    const struct ir_register *r = ra->reg;
    const char *from = emit_ref(e, ra->value[w]);
    const char *type = r->direct ? "uint64_t" : emit_storage(r->width);
    if (ra->width <= r->width) {
        const char *word = word_number(e, r, emit_text(e, "bit%u / %u", w, r->width));
        emit_line(e,
                  "%s = (%s)(((uint64_t)%s & ~(sk_mask(%u) << bit%u %% %u)) | "
                  "(uint64_t)%s << bit%u %% %u);",
                  word, type, word, ra->width, w, r->width, from, w, r->width);
        return;
    }
    for (unsigned i = 0; i < ra->width / r->width; i++)
        emit_line(e, "%s = (%s)((uint64_t)%s >> %u & sk_mask(%u));",
                  word_number(e, r, emit_text(e, "bit%u / %u + %u", w, r->width, i)), type, from,
                  i * r->width, r->width);
}

// ---- register actions ----

static void load_cell(const struct emit *e, const struct ir_regaction *ra, unsigned w) {
    const struct ir_register *r = ra->reg;
    if (!same_cells(ra))
        load_view(e, ra, w);
    else
        emit_line(e, "%s = %s%s;", emit_ref(e, ra->value[w]),
                  r->direct ? emit_text(e, "(%s)", emit_storage(r->width)) : "",
                  emit_register_cell_word(e, r, "index", w));
}

static void store_cell(const struct emit *e, const struct ir_regaction *ra, unsigned w) {
    if (!same_cells(ra))
        store_view(e, ra, w);
    else
        emit_line(e, "%s = %s;", emit_register_cell_word(e, ra->reg, "index", w),
                  emit_ref(e, ra->value[w]));
}

static void regaction(const struct emit *e, const struct ir_regaction *ra) {
    const struct ir_register *r = ra->reg;
    const char *rv_type = ra->rv ? emit_storage(ra->rv->width) : "void";
    emit_line(e, " ");
    emit_line(e, "// %s on %s", emit_comment(e, ra->name), emit_comment(e, r->name));
    emit_open(e, "%s %s %s(struct p%u_state *s, struct %s_phv *restrict v, %s) {", emit_inline(e),
              rv_type, ra_name(e, ra), e->pipeline_index, e->p,
              r->direct ? "struct sk_entry *entry" : "uint64_t index");
    if (r->direct)
        direct_cell(e, r);
    const struct emit of = emit_of_user(e, ra);
    emit_locals(e, ra);
    for (unsigned w = 0; w < ra->words; w++)
        if (ra->value[w])
            load_cell(e, ra, w);
    if (ra->rv)
        emit_line(e, "%s = 0;", emit_ref(e, ra->rv));
    emit_block(&of, ra->body);
    for (unsigned w = 0; w < ra->words; w++)
        if (ra->value[w])
            store_cell(e, ra, w);
    if (ra->rv)
        emit_line(e, "return %s;", emit_ref(e, ra->rv));
    emit_close(e, "}");
}

void emit_regactions(const struct emit *e) {
    for (size_t i = 0; i < e->g->regactions.n; i++)
        regaction(e, e->g->regactions.v[i]);
}

static void set_zero(const struct emit *e, const struct ir_var *v) {
    if (v)
        emit_line(e, "%s;", emit_set(e, v, "0"));
}

// The call of the action; its result goes where the statement says.
static void emit_register_run(const struct emit *e, const struct ir_stmt *s, const char *call) {
    emit_line(e, "%s;", s->var && s->regaction->rv ? emit_set(e, s->var, call) : call);
}

// ---- logs, queues and stacks ----
//
// One counter says how many cells were written; a queue's second one how many were read. Both only
// go up, and a queue's cells are used again around the end.

static const char *emit_register_counter(const struct emit *e, const struct ir_register *r,
                                         bool read) {
    return emit_text(e, "s->%c_%s%u", e->p[2], read ? "read" : "log", r->id);
}

// The cell that an access has next, of 'cells' of the size that it sees.
static const char *counted_cell(const struct emit *e, const struct ir_register *r,
                                enum ir_reg_use use, uint64_t cells) {
    const char *written = emit_register_counter(e, r, false),
               *read = emit_register_counter(e, r, true);
    unsigned long long size = (unsigned long long)cells;
    switch (use) {
    case IR_REG_ENQUEUE:
        return emit_text(e, "%s %% UINT64_C(%llu)", written, size);
    case IR_REG_DEQUEUE:
        return emit_text(e, "%s %% UINT64_C(%llu)", read, size);
    case IR_REG_POP:
        return emit_text(e, "(%s ? %s - 1 : 0)", written, written);
    default: // a full one starts again, but for a Tofino's log
        return emit_text(e, "(%s < UINT64_C(%llu) ? %s : 0)", written, size, written);
    }
}

// Whether there is a cell for the action, and how the counters go on when it runs.
static const char *has_cell(const struct emit *e, const struct ir_regaction *ra,
                            enum ir_reg_use use) {
    const char *written = emit_register_counter(e, ra->reg, false),
               *read = emit_register_counter(e, ra->reg, true);
    unsigned long long size = (unsigned long long)view_size(ra);
    switch (use) {
    case IR_REG_ENQUEUE:
        return emit_text(e, "%s - %s < UINT64_C(%llu)", written, read, size);
    case IR_REG_DEQUEUE:
        return emit_text(e, "%s != %s", written, read);
    case IR_REG_POP:
        return emit_text(e, "%s > 0", written);
    default:
        return emit_text(e, "%s < UINT64_C(%llu)", written, size);
    }
}

static const char *move_on(const struct emit *e, const struct ir_regaction *ra,
                           enum ir_reg_use use) {
    const char *written = emit_register_counter(e, ra->reg, false);
    if (use == IR_REG_DEQUEUE)
        return emit_text(e, "%s++", emit_register_counter(e, ra->reg, true));
    if (use == IR_REG_POP)
        return emit_text(e, "%s--", written);
    if (use == IR_REG_APPEND &&
        ir_target(e->program) == CHIP_TOFINO1) // a Tofino stays at the last cell
        return emit_text(e, "%s += %s + 1 < UINT64_C(%llu)", written, written,
                         (unsigned long long)view_size(ra));
    return emit_text(e, "%s++", written);
}

static void emit_register_run_on(const struct emit *e, const struct ir_regaction *ra,
                                 const struct ir_var *to, const char *index) {
    const char *call = ra ? emit_text(e, "%s(s, v, %s)", ra_name(e, ra), index) : NULL;
    if (to && ra && ra->rv) {
        emit_line(e, "%s;", emit_set(e, to, call));
        return;
    }
    set_zero(e, to);
    if (ra)
        emit_line(e, "%s;", call);
}

static void reg_exec_counted(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_regaction *ra = s->regaction;
    bool removes = s->use == IR_REG_DEQUEUE || s->use == IR_REG_POP;
    unsigned t = e->to->n_temps++;
    emit_open(e, "{");
    emit_line(e, "const uint64_t i%u = %s;", t, counted_cell(e, ra->reg, s->use, view_size(ra)));
    emit_open(e, "if (%s) {", has_cell(e, ra, s->use));
    emit_line(e, "%s;", move_on(e, ra, s->use));
    emit_register_run_on(e, ra, s->var, emit_text(e, "i%u", t));
    emit_close(e, "} else {");
    e->to->indent++;
    emit_register_run_on(e, removes ? ra->reg->underflow : ra->reg->overflow, s->var,
                         emit_text(e, "i%u", t));
    emit_close(e, "}");
    emit_close(e, "}");
}

void emit_reg_exec(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_regaction *ra = s->regaction;
    if (e->loop) {
        emit_lane_exec(e, s);
        return;
    }
    if (s->var && !ra->rv)
        set_zero(e, s->var);
    if (ra->reg->direct) {
        emit_register_run(e, s, emit_text(e, "%s(s, v, entry)", ra_name(e, ra)));
        return;
    }
    if (s->use) {
        reg_exec_counted(e, s);
        return;
    }
    const char *index = emit_u64(e, s->e);
    if (emit_always_inside(s->e, view_size(ra))) {
        emit_register_run(e, s, emit_text(e, "%s(s, v, %s)", ra_name(e, ra), index));
        return;
    }
    unsigned t = e->to->n_temps++;
    emit_open(e, "{");
    emit_line(e, "const uint64_t i%u = %s;", t, index);
    emit_line(e, "if (i%u < UINT64_C(%llu))", t, (unsigned long long)view_size(ra));
    e->to->indent++;
    emit_register_run(e, s, emit_text(e, "%s(s, v, i%u)", ra_name(e, ra), t));
    e->to->indent--;
    if (s->var && ra->rv) {
        emit_line(e, "else");
        emit_line(e, "    %s;", emit_set(e, s->var, "0"));
    }
    emit_close(e, "}");
}

void emit_reg_next_cell(const struct emit *e, const struct ir_stmt *s) {
    emit_line(e, "%s;",
              emit_set(e, s->var, counted_cell(e, s->reg, s->use, big_to_u64(s->e->value))));
}

// Opens a block in which a cell can be used; outside of the register it is not run. Returns the
// text of the index.
static const char *open_cell(const struct emit *e, const struct ir_register *r,
                             const struct ir_expr *index) {
    emit_open(e, "{");
    if (r->direct) {
        direct_cell(e, r);
        return "";
    }
    unsigned t = e->to->n_temps++;
    emit_line(e, "const uint64_t i%u = %s;", t, emit_u64(e, index));
    emit_close(e, "    if (i%u < UINT64_C(%llu)) {", t, (unsigned long long)r->size);
    e->to->indent += 2;
    return emit_text(e, "i%u", t);
}

static void close_cell(const struct emit *e, const struct ir_register *r) {
    emit_close(e, "}");
    if (!r->direct)
        emit_close(e, "}");
}

void emit_reg_read(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_var *to[2] = {s->var, s->var2};
    unsigned t = e->to->n_temps++;
    // the index may be the variable that is read into
    emit_open(e, "{");
    emit_line(e, "uint64_t w%u[2] = {0};", t);
    const char *index = open_cell(e, s->reg, s->e);
    for (unsigned w = 0; w < s->reg->words; w++)
        emit_line(e, "w%u[%u] = %s;", t, w, emit_register_cell_word(e, s->reg, index, w));
    close_cell(e, s->reg);
    for (unsigned w = 0; w < 2; w++)
        if (to[w])
            emit_line(e, "%s;", emit_set(e, to[w], emit_text(e, "w%u[%u]", t, w)));
    emit_close(e, "}");
}

void emit_reg_write(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_expr *from[2] = {s->e2, s->e3};
    const char *index = open_cell(e, s->reg, s->e);
    for (unsigned w = 0; w < s->reg->words; w++)
        if (from[w])
            emit_line(e, "%s = (%s)%s;", emit_register_cell_word(e, s->reg, index, w),
                      emit_storage(s->reg->width), emit_expr(e, from[w]));
    close_cell(e, s->reg);
}
