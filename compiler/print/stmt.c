// SPDX-License-Identifier: Apache-2.0
//
// stmt: statements, and the C functions made of them: actions, the control. Registers are
// register.c's.
//
// An action is a function of the table entry ("entry": direct counters and registers, or null) and
// its parameters; it returns true when it executed 'exit'.
#include "compiler/base/text.h"
#include "compiler/ir/effects.h"
#include "compiler/print/checked/checked.h"
#include "compiler/print/lane_loop.h"
#include "compiler/print/checked/trace.h"

#include "stages/checksum.h"

// --------------------------------------------------------------------------------------------
// Hashes and random numbers.

const char *emit_hash_value(const struct emit *e, const struct ir_hash *h, const char *b,
                            unsigned bits) {
    const unsigned bytes = plan_bytes(bits);
    switch (h->algorithm) {
    case IR_HASH_CRC: {
        uint64_t start = h->reversed ? 0 : h->init;
        for (unsigned i = 0; h->reversed && i < h->crc_width; i++)
            start |= (h->init >> i & 1) << (h->crc_width - 1 - i);
        return emit_text(
            e, "sk_crc_widen(%s_of(UINT64_C(0x%llx), UINT64_C(0x%llx), %s, %u), %u, %u, %s)",
            emit_crc_table_name(e, h), (unsigned long long)start, (unsigned long long)h->xor_out, b,
            bytes, h->crc_width, h->width, h->extended ? "true" : "false");
    }
    case IR_HASH_IDENTITY:
        return emit_text(e, "sk_hash_identity(%s, %u)", b, bytes);
    case IR_HASH_RANDOM:
        return emit_text(e, "sk_hash_random(%s, %u)", b, bytes);
    default: {
        unsigned n = h->algorithm == IR_HASH_XOR8 ? 8 : h->algorithm == IR_HASH_XOR16 ? 16 : 32;
        return emit_text(e, "(sk_u128)sk_hash_xor(%u, %s, %u)", n, b, bits);
    }
    }
}

static void emit_stmt_hash(const struct emit *e, const struct ir_stmt *s) {
    unsigned bits = 0, t = e->to->n_temps++;
    for (size_t i = 0; i < s->args.n; i++)
        bits += s->args.v[i]->width;
    unsigned bytes = plan_bytes(bits), offset = 8 * bytes - bits;
    const char *b = emit_text(e, "b%u", t);
    emit_open(e, "{");
    emit_line(e, "uint8_t %s[%u] = {0};", b, bytes + !bytes);
    for (size_t i = 0; i < s->args.n; i++) {
        emit_put_bits(e, b, offset, s->args.v[i]);
        offset += s->args.v[i]->width;
    }
    const char *value = emit_hash_value(e, s->hash, b, bits);
    if (ir_hash_is_dynamic(s->hash)) {
        const char *ref = emit_text(e, "s->%c_hash%u", e->p[2], s->hash->id);
        value = emit_text(e, "(__builtin_expect(%s != NULL, 0) ? sk_dynhash_run(%s, %s) : %s)", ref,
                          ref, b, value);
    }
    unsigned width = s->hash->width < s->var->width ? s->hash->width : s->var->width;
    emit_line(e, "%s;", emit_set(e, s->var, emit_text(e, "%s & sk_mask128(%u)", value, width)));
    emit_close(e, "}");
}

static void emit_stmt_random_number(const struct emit *e, const struct ir_stmt *s) {
    const char *state = emit_text(e, "&s->%c_random%u", e->p[2], s->random->id);
    if (s->var->width <= 64)
        emit_line(
            e, "%s;",
            emit_set(e, s->var, emit_text(e, "sk_prng_next(%s) >> %u", state, 64 - s->var->width)));
    else
        emit_line(
            e, "%s;",
            emit_set(e, s->var,
                     emit_text(e, "(sk_u128_of(sk_prng_next(%s), 0) | sk_prng_next(%s)) >> %u",
                               state, state, 128 - s->var->width)));
}

// --------------------------------------------------------------------------------------------
// Checksums of lists. Each argument's place in the list gives its place in a 16-bit word.

// 'exact': the sum is to be subtracted.
static void csum_arg(const struct emit *e, const char *sum, const struct ir_expr *x, unsigned end,
                     bool exact) {
    unsigned pad = (16 - end % 16) % 16;
    if (x->op == IR_CONST && big_sign(x->value) == 0)
        return;
    if (x->width + pad <= 64) {
        const char *text =
            x->width <= 32 ? emit_text(e, "(uint64_t)%s", emit_expr(e, x)) : emit_expr(e, x);
        if (pad)
            text = emit_text(e, "%s << %u", text, pad);
        emit_line(e, "%s = sk_csum_%s(%s, %s);", sum, exact ? "exact" : "add", sum, text);
        return;
    }
    unsigned t = e->to->n_temps++, bytes = (x->width + pad + 15) / 16 * 2;
    emit_open(e, "{");
    emit_line(e, "uint8_t b%u[%u] = {0};", t, bytes);
    emit_put_bits(e, emit_text(e, "b%u", t), 8 * bytes - pad - x->width, x);
    if (exact)
        emit_line(e, "%s = sk_csum_bytes(%s, b%u, %u);", sum, sum, t, bytes);
    else
        emit_line(e, "%s = sk_csum_add(%s, sk_csum_bytes(0, b%u, %u));", sum, sum, t, bytes);
    emit_close(e, "}");
}

static const struct ir_csum_arg *csum_at(const struct ir_stmt *s, size_t i,
                                         struct ir_csum_arg *buffer) {
    if (i >= s->args.n)
        return &s->csum_args.v[i - s->args.n];
    *buffer = (struct ir_csum_arg){.e = s->args.v[i]};
    return buffer;
}

// Fields of a header on the wire, one after the other from part 'i' of the list on, that are whole
// words of the sum and at most 64 bits: how many, and how many bytes; 0: none. 'begin': bits of the
// list before them.
static size_t csum_words(const struct emit *e, const struct ir_stmt *s, size_t i, unsigned begin,
                         unsigned *bytes) {
    struct ir_csum_arg b1, b2;
    const struct ir_csum_arg *first = csum_at(s, i, &b1);
    size_t found = 0, n = s->args.n + s->csum_args.n;
    unsigned bits = 0;
    const struct ir_var *v = first->e->op == IR_VAR ? first->e->var : NULL;
    if (!v || !emit_var_of(e, v)->wire || emit_var_of(e, v)->bit || begin % 16)
        return 0;
    for (size_t k = i; k < n && bits < 64; k++) {
        const struct ir_csum_arg *a = csum_at(s, k, &b2);
        const struct ir_var *f = a->e->op == IR_VAR ? a->e->var : NULL;
        if (!f || f->header != v->header || a->only_if != first->only_if ||
            f->bit_offset != v->bit_offset + bits || bits + f->width > 64)
            break;
        bits += f->width;
        if (bits % 16 == 0) {
            found = k + 1 - i;
            *bytes = bits / 8;
        }
    }
    return found > 1 ? found : 0;
}

// Adds the statement's 'args' and 'csum_args' to the running sum 'sum'.
void emit_checksum_args(const struct emit *e, const char *sum, const struct ir_stmt *s) {
    unsigned end = 0, bytes = 0;
    const struct ir_header *open = NULL;
    for (size_t i = 0; i < s->args.n + s->csum_args.n; i++) {
        struct ir_csum_arg buffer;
        const struct ir_csum_arg *a = csum_at(s, i, &buffer);
        if (open && a->only_if != open)
            emit_close(e, "}");
        if (a->only_if && a->only_if != open)
            emit_open(e, "if (%s) {", emit_ref(e, a->only_if->valid));
        open = a->only_if;
        // what is subtracted is taken from the sum of all ones, part by part (emit_checksum_most)
        size_t words = s->kind == IR_CSUM_SUBTRACT ? 0 : csum_words(e, s, i, end, &bytes);
        if (words) {
            const struct ir_var *fields[64];
            for (size_t k = 0; k < words; k++)
                fields[k] = csum_at(s, i + k, &buffer)->e->var;
            emit_line(e, "%s = sk_csum_add(%s, %s);", sum, sum,
                      emit_deferred_word(e, fields, words, emit_var_of(e, fields[0])->wire, bytes));
            end += 8 * bytes;
            i += words - 1;
            continue;
        }
        end += a->e->width;
        csum_arg(e, sum, a->e, end, s->kind == IR_CSUM_SUBTRACT);
    }
    if (open)
        emit_close(e, "}");
}

// What emit_checksum_args adds when all bits are ones, those that fill up the last word among them.
// Less the sum itself this is the sum of the words' complements, with the right one of its two
// zeros (tna-facts 4.8).
uint64_t emit_checksum_most(const struct emit *e, const struct ir_stmt *s) {
    uint64_t most = 0;
    unsigned end = 0;
    for (size_t i = 0; i < s->args.n; i++) {
        unsigned width = s->args.v[i]->width;
        end += width;
        unsigned pad = (16 - end % 16) % 16, bytes = (width + pad + 15) / 16 * 2;
        if (width + pad <= 64) {
            most = sk_csum_exact(most, sk_mask(width) << pad);
            continue;
        }
        uint8_t *b = arena_alloc(e->a, bytes);
        for (unsigned bit = 8 * bytes - pad - width; bit < 8 * bytes - pad; bit++)
            b[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
        most = sk_csum_bytes(most, b, bytes);
    }
    return most + sk_mask((16 - end % 16) % 16);
}

// --------------------------------------------------------------------------------------------
// Control flow.

static void emit_stmt_branch(const struct emit *e, const struct ir_stmt *s) {
    emit_open(e, "if (%s) {", emit_cond(e, s->e));
    emit_block(e, s->then_b);
    if (s->else_b && s->else_b->stmts.n) {
        emit_close(e, "} else {");
        e->to->indent++;
        emit_block(e, s->else_b);
    }
    emit_close(e, "}");
}

static bool value_seen(const struct ir_stmt *s, size_t upto_case, size_t upto_value, big value) {
    for (size_t i = 0; i <= upto_case; i++) {
        size_t n = i == upto_case ? upto_value : s->cases.v[i].values.n;
        for (size_t k = 0; k < n; k++)
            if (big_cmp(s->cases.v[i].values.v[k], value) == 0)
                return true;
    }
    return false;
}

static const char *emit_stmt_is_one_of(const struct emit *e, const struct ir_case *c,
                                       unsigned width) {
    struct text_buffer t = {0};
    for (size_t i = 0; i < c->values.n; i++) {
        const char *const or = i ? " || " : "";
        const big v = c->values.v[i];
        if (plan_is_wide(width))
            text_append(e->a, &t, "%ssk_wide_eq(key, %s, %u)", or, emit_wide_const(e, v, width),
                        width);
        else
            text_append(e->a, &t, "%skey == %s", or, emit_const(e, v, width));
    }
    return text_of(&t);
}

// A switch over more than C's takes: a chain of comparisons.
static void chain(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_block *otherwise = NULL;
    unsigned width = s->e->width;
    emit_open(e, "{");
    if (plan_is_wide(width))
        emit_line(e, "const uint64_t *const key = %s;", emit_wide(e, s->e));
    else
        emit_line(e, "const %s key = %s;", emit_ctype(width), emit_expr(e, s->e));
    emit_open(e, "if (0) {");
    for (size_t i = 0; i < s->cases.n; i++) {
        const struct ir_case *c = &s->cases.v[i];
        if (c->values.n == 0) {
            otherwise = c->body;
            continue;
        }
        emit_close(e, "} else if (%s) {", emit_stmt_is_one_of(e, c, width));
        e->to->indent++;
        if (c->body)
            emit_block(e, c->body);
    }
    if (otherwise) {
        emit_close(e, "} else {");
        e->to->indent++;
        emit_block(e, otherwise);
    }
    emit_close(e, "}");
    emit_line(e, "(void)key;");
    emit_close(e, "}");
}

// C's switch takes 64 bits; a value that two cases have belongs to the first.
static void cases(const struct emit *e, const struct ir_stmt *s) {
    if (s->e->width > 64) {
        chain(e, s);
        return;
    }
    emit_open(e, "switch (%s) {", emit_expr(e, s->e));
    for (size_t i = 0; i < s->cases.n; i++) {
        const struct ir_case *c = &s->cases.v[i];
        unsigned printed = 0;
        for (size_t k = 0; k < c->values.n; k++)
            if (!value_seen(s, i, k, c->values.v[k])) {
                emit_line(e, "case %s:", emit_const(e, c->values.v[k], s->e->width));
                printed++;
            }
        if (c->values.n == 0)
            emit_line(e, "default:");
        else if (!printed)
            continue;
        e->to->indent++;
        if (c->body)
            emit_block(e, c->body);
        emit_line(e, "break;");
        e->to->indent--;
    }
    emit_close(e, "}");
}

static bool emit_stmt_leaves(const struct ir_block *b, unsigned label);
static bool stmt_leaves(const struct ir_stmt *s, unsigned label) {
    if (s->kind == IR_LEAVE && s->label == label)
        return true;
    if (emit_stmt_leaves(s->then_b, label) || emit_stmt_leaves(s->else_b, label))
        return true;
    for (size_t i = 0; i < s->cases.n; i++)
        if (emit_stmt_leaves(s->cases.v[i].body, label))
            return true;
    return false;
}
static bool emit_stmt_leaves(const struct ir_block *b, unsigned label) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        if (stmt_leaves(b->stmts.v[i], label))
            return true;
    return false;
}

static void emit_stmt_block(const struct emit *e, const struct ir_stmt *s) {
    if (!s->label || !emit_stmt_leaves(s->then_b, s->label)) {
        emit_block(e, s->then_b);
        return;
    }
    const struct emit_label here = {
        .label = s->label, .printed = e->to->n_labels++, .outer = e->labels};
    struct emit in = *e;
    in.labels = &here;
    emit_block(&in, s->then_b);
    emit_line(e, "leave_%u:;", here.printed);
}

static void emit_stmt_leave(const struct emit *e, const struct ir_stmt *s) {
    const struct emit_label *l = e->labels;
    while (l && l->label != s->label)
        l = l->outer;
    if (!l)
        DIAG_BUG("LEAVE without its block");
    emit_line(e, "goto leave_%u;", l->printed);
}

static bool emit_stmt_exits(const struct ir_table *t) {
    for (size_t i = 0; i < t->actions.n; i++)
        if (ir_block_has(t->actions.v[i].action->body, IR_EXIT))
            return true;
    return ir_block_has(t->default_action->body, IR_EXIT);
}

static void apply_known(const struct emit *e, const struct ir_stmt *s) {
    emit_open(e, "{ // %s", emit_comment(e, s->table->name));
    emit_line(e, "uint32_t r = 0;");
    emit_table_here(e, s);
    if (s->hit)
        emit_line(e, "%s;", emit_set(e, s->hit, "(r & SK_APPLY_HIT) != 0"));
    if (s->action_run)
        emit_line(e, "%s;", emit_set(e, s->action_run, "r & SK_APPLY_ACTION"));
    if (emit_stmt_exits(s->table)) {
        emit_line(e, "if (r & SK_APPLY_EXIT)");
        emit_line(e, "    goto exit_control;");
    }
    emit_close(e, "}");
}

static void emit_stmt_apply(const struct emit *e, const struct ir_stmt *s) {
    bool may_exit = emit_stmt_exits(s->table);
    if (s->known) {
        apply_known(e, s);
        return;
    }
    const char *call = emit_text(e, "%s_table%u(s, v)", e->p, s->table->id);
    if (!s->hit && !s->action_run && !may_exit) {
        emit_line(e, "%s; // %s", call, emit_comment(e, s->table->name));
        return;
    }
    unsigned t = e->to->n_temps++;
    emit_open(e, "{");
    emit_line(e, "const uint32_t r%u = %s; // %s", t, call, emit_comment(e, s->table->name));
    if (s->hit)
        emit_line(e, "%s;", emit_set(e, s->hit, emit_text(e, "(r%u & SK_APPLY_HIT) != 0", t)));
    if (s->action_run)
        emit_line(e, "%s;", emit_set(e, s->action_run, emit_text(e, "r%u & SK_APPLY_ACTION", t)));
    if (may_exit) {
        emit_line(e, "if (r%u & SK_APPLY_EXIT)", t);
        emit_line(e, "    goto exit_control;");
    }
    emit_close(e, "}");
}

static void emit_stmt_resubmit(const struct emit *e, const struct ir_stmt *s) {
    // Only a valid resubmit_type asks for a resubmit (tna-facts 5.3).
    const struct ir_var *type = e->g->intrinsic[IRI_RESUBMIT_TYPE];
    if (!type || !type->valid)
        return;
    emit_open(e, "if (%s) {", emit_ref(e, type->valid));
    emit_line(e, "v->resubmits = 1;");
    unsigned offset = 0;
    for (size_t i = 0; i < s->args.n; i++) {
        emit_put_bits(e, "out->resubmit_data", offset, s->args.v[i]);
        offset += s->args.v[i]->width;
    }
    emit_close(e, "}");
}

static void mirror(const struct emit *e, const struct ir_stmt *s) {
    unsigned offset = 0;
    emit_line(e, "v->asks = 1;");
    emit_line(e, "out->mirror.wanted = true;");
    emit_line(e, "out->mirror.session = (uint16_t)%s;", emit_u64(e, s->e));
    emit_line(e, "memset(out->mirror.header, 0, sizeof out->mirror.header);");
    for (size_t i = 0; i < s->args.n; i++) {
        emit_put_bits(e, "out->mirror.header", offset, s->args.v[i]);
        offset += s->args.v[i]->width;
    }
    emit_line(e, "out->mirror.header_bytes = %u;", offset / 8);
}

static void emit_stmt_digest(const struct emit *e, const struct ir_stmt *s) {
    unsigned offset = 0;
    emit_line(e, "v->asks = 1;");
    emit_line(e, "out->digest.packed = true;");
    emit_line(e, "out->digest.index = %u; // %s", s->digest->id, emit_comment(e, s->digest->name));
    emit_line(e, "memset(out->digest.data, 0, sizeof out->digest.data);");
    for (size_t i = 0; i < s->args.n; i++) {
        emit_put_bits(e, "out->digest.data", offset, s->args.v[i]);
        offset += s->args.v[i]->width;
    }
}

static void checksum_update(const struct emit *e, const struct ir_stmt *s) {
    unsigned t = e->to->n_temps++;
    const char *sum = emit_text(e, "sum%u", t);
    emit_open(e, "{");
    emit_line(e, "uint64_t %s = 0;", sum);
    emit_checksum_args(e, sum, s);
    emit_line(e, "%s;",
              emit_set(e, s->var,
                       emit_text(e, "sk_csum_result(%s, %s)", sum, s->flag ? "true" : "false")));
    emit_close(e, "}");
}

static void exit_control(const struct emit *e) {
    if (e->user == e->g->control)
        emit_line(e, "goto exit_control;");
    else
        emit_line(e, "return true;");
}

static void emit_stmt_at(const struct emit *e, const struct ir_stmt *s) {
    if (e->in_parser)
        emit_parser_need(e, s);
    const struct ir_var *results[IR_MAX_RESULTS];
    for (size_t i = 0, n = ir_results(s, results); i < n && !e->loop; i++)
        emit_home_write(e, results[i]);
    switch (s->kind) {
    case IR_ASSIGN:
        if (s->slice)
            emit_assign_slice(e, s->var, s->lo, s->width, s->e);
        else
            emit_assign(e, s->var, s->e);
        break;
    case IR_IF:
        emit_stmt_branch(e, s);
        break;
    case IR_SWITCH:
        cases(e, s);
        break;
    case IR_BLOCK:
        emit_stmt_block(e, s);
        break;
    case IR_LEAVE:
        emit_stmt_leave(e, s);
        break;
    case IR_EXIT:
        exit_control(e);
        break;
    case IR_SET_VALID:
        emit_line(e, "%s = 1;", emit_ref(e, s->header->valid));
        break;
    case IR_SET_INVALID:
        emit_line(e, "%s = 0;", emit_ref(e, s->header->valid));
        break;
    case IR_APPLY:
        emit_stmt_apply(e, s);
        break;
    case IR_REG_EXEC:
        emit_reg_exec(e, s);
        break;
    case IR_REG_READ:
        emit_reg_read(e, s);
        break;
    case IR_REG_WRITE:
        emit_reg_write(e, s);
        break;
    case IR_COUNT:
        emit_count(e, s);
        break;
    case IR_METER_EXEC:
        emit_meter_exec(e, s);
        break;
    case IR_HASH:
        emit_stmt_hash(e, s);
        break;
    case IR_RANDOM:
        emit_stmt_random_number(e, s);
        break;
    case IR_CSUM_UPDATE:
        checksum_update(e, s);
        break;
    case IR_RESUBMIT:
        emit_stmt_resubmit(e, s);
        break;
    case IR_MIRROR:
        mirror(e, s);
        break;
    case IR_DIGEST:
        emit_stmt_digest(e, s);
        break;
    case IR_NOTE:
        emit_note(e, s);
        break;
    case IR_REPORT:
        emit_checked_report(e, s);
        break;
    case IR_TRACE:
        emit_trace_event(e, s);
        break;
    case IR_NEXT_CELL:
        emit_reg_next_cell(e, s);
        break;
    case IR_EMIT:          // a pass of its own: deparser.c
    case IR_COUNT_LEAVING: // when that is done: emit_late_counts
        break;
    default:
        emit_parser_stmt(e, s);
    }
}

void emit_stmt(const struct emit *e, const struct ir_stmt *s) {
    struct emit in = *e;
    if (s->at.line)
        in.at = s->at;
    emit_stmt_at(&in, s);
}

static void fused(const struct emit *e, const struct ir_stmt *apply, const struct ir_expr *guard) {
    if (guard)
        emit_open(e, "if (%s) {", emit_cond(e, guard));
    emit_fused(e, apply);
    if (guard)
        emit_close(e, "}");
}

// Statements from 'i' on that are a run of tables of numbers: what is done when all are filled, and
// what otherwise (compiler/plan/filled_runs.c).
static void filled_run(const struct emit *e, const struct ir_block *b, size_t i, size_t n) {
    emit_open(e, "if (__builtin_expect(sk_all_filled(&s->%c_unfilled%u), 1)) {", e->p[2],
              e->plan->tables[b->stmts.v[i]->table->id].filled_group);
    for (size_t k = i; k < i + n; k++)
        if (b->stmts.v[k]->kind == IR_APPLY)
            emit_table_filled(e, b->stmts.v[k]);
        else
            emit_stmt(e, b->stmts.v[k]);
    emit_close(e, "} else {");
    e->to->indent++;
    for (size_t k = i; k < i + n; k++)
        emit_stmt(e, b->stmts.v[k]);
    emit_close(e, "}");
}

void emit_block(const struct emit *e, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        const struct plan_lane_run *run = plan_lane_run_at(e->plan, s);
        if (run && (run->lanes->tables.n || !run->lanes->registers.n)) {
            emit_lane_tables(e, run);
            i += run->n_stmts - 1;
            continue;
        }
        if (run) {
            emit_lane_loop(e, run->lanes);
            i += run->n_stmts - 1;
            continue;
        }
        const size_t filled = plan_filled_run(e->plan, b, i);
        if (filled) {
            filled_run(e, b, i, filled);
            i += filled - 1;
            continue;
        }
        const size_t copied = emit_copied_fields(e, b, i);
        if (copied) {
            i += copied - 1;
            continue;
        }
        const struct ir_expr *guard;
        const struct ir_stmt *apply = plan_application(s, &guard);
        const struct plan_table *t = apply ? &e->plan->tables[apply->table->id] : NULL;
        if (!t || !t->followers) {
            emit_stmt(e, s);
            continue;
        }
        fused(e, apply, guard);
        i += t->followers + (t->followers + 1) * t->n_tail; // the rest of the group: plan/plan.c
    }
}

// --------------------------------------------------------------------------------------------
// Functions.

static void load_param(const struct emit *e, const struct ir_var *v, size_t i) {
    if (!emit_var_of(e, v)->touched)
        return;
    if (plan_is_wide(v->width))
        emit_line(e, "sk_wide_store(%s, %u, %u, a%zu);", emit_ref(e, v),
                  8 * plan_bytes(v->width) - v->width, v->width, i);
    else
        emit_line(e, "%s = a%zu;", emit_ref(e, v), i);
}

static void emit_stmt_action(const struct emit *e, const struct ir_action *a) {
    bool exits = ir_block_has(a->body, IR_EXIT);
    const char *params = "";
    for (size_t i = 0; i < a->params.n; i++) {
        unsigned width = a->params.v[i].var->width;
        params = emit_text(e, "%s, %s a%zu", params,
                           plan_is_wide(width) ? "const uint64_t *" : emit_storage(width), i);
    }
    emit_line(e, " ");
    emit_line(e, "// %s", emit_comment(e, a->name));
    emit_open(e,
              "%s %s %s_action%u(struct p%u_state *s, struct %s_phv *restrict v, struct sk_entry "
              "*entry%s) {",
              emit_inline(e), exits ? "bool" : "void", e->p, a->id, e->pipeline_index, e->p,
              params);
    const struct emit of = emit_of_user(e, a);
    emit_locals(e, a);
    for (size_t i = 0; i < a->params.n; i++)
        load_param(e, a->params.v[i].var, i);
    emit_block(&of, a->body);
    if (exits)
        emit_line(e, "return false;");
    emit_close(e, "}");
}

void emit_actions(const struct emit *e) {
    for (size_t i = 0; i < e->g->actions.n; i++)
        emit_stmt_action(e, e->g->actions.v[i]);
}

void emit_control_head(const struct emit *e, const char *name) {
    emit_open(e,
              "%s uint64_t %s_%s(struct p%u_state *s, struct %s_phv *restrict v, "
              "struct sk_packet *packet, struct %s *out, uint32_t err) {",
              emit_inline(e), e->p, name, e->pipeline_index, e->p,
              e->g->kind == IR_INGRESS ? "sk_ingress_out" : "sk_egress_out");
}

void emit_control_end(const struct emit *e) {
    emit_line(e, "exit_control:;");
    emit_line(e, "return %s_ends(s, v, packet, out, err);", e->p);
    emit_close(e, "}");
}

void emit_control(const struct emit *e) {
    if (e->plan->split) {
        emit_specialised_control(e);
        return;
    }
    const struct emit of = emit_of_user(e, e->g->control);
    emit_line(e, " ");
    emit_control_head(e, "control");
    emit_locals(e, e->g->control);
    emit_block(&of, e->g->control);
    emit_control_end(e);
}
