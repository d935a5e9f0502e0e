// SPDX-License-Identifier: Apache-2.0
//
// state: a parser state as a Lua function. It moves the cursor, shows headers, and returns the
// number of the next state, ACCEPT or REJECT.
#include <inttypes.h>
#include <string.h>

#include "compiler/ir/walk.h"
#include "compiler/wireshark/wireshark_impl.h"

// ---- looking at a state ----

struct exprs {
    void (*fn)(void *aux, const struct ir_expr *e);
    void *aux;
};

void shark_each_stmt(const struct ir_block *b, void (*fn)(void *aux, const struct ir_stmt *st),
                     void *aux) {
    ir_walk(b, fn, NULL, aux);
}

static void each_of_stmt(void *aux, const struct ir_stmt *st) {
    const struct exprs *x = aux;
    if (st->kind != IR_ASSIGN && st->kind != IR_IF && st->kind != IR_SWITCH &&
        st->kind != IR_EXTRACT && st->kind != IR_ADVANCE)
        return;
    ir_walk_expr(st->e, x->fn, x->aux);
}

void shark_each_expr(const struct ir_state *st, void (*fn)(void *aux, const struct ir_expr *e),
                     void *aux) {
    struct exprs x = {fn, aux};
    shark_each_stmt(st->body, each_of_stmt, &x);
    for (size_t i = 0; i < st->keys.n; i++)
        ir_walk_expr(st->keys.v[i], fn, aux);
}

// ---- statements ----

// False after a statement that cannot be expressed: the function ends there.
static bool shark_state_block(struct shark *s, const struct ir_block *b);

static bool give_up(struct shark *s, const char *what) {
    shark_line(s, "-- cannot be expressed: %s", what);
    shark_line(s, "do return stop(w, %s) end", shark_string(s, what));
    s->failed = NULL;
    return false;
}

static void keep_fields(struct shark *s, const struct ir_header *h) {
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        if (!s->read[f->id] || f->width > 8 * 32)
            continue;
        for (unsigned at = 0; at < f->width; at += 32) {
            unsigned n = f->width - at < 32 ? f->width - at : 32;
            shark_line(s, "%s = bits(w, 8 * at + %u, %u) -- %s", shark_var(s, f, at / 32),
                       f->bit_offset + f->width - at - n, n, f->name);
        }
    }
}

static void shark_state_extract_one(struct shark *s, const struct ir_header *h) {
    shark_line(s, "do local at = extract(w, H[%u])", h->id);
    s->indent++;
    keep_fields(s, h);
    if (h->valid && s->read[h->valid->id])
        shark_line(s, "%s = 1", shark_var(s, h->valid, 0));
    s->indent--;
    shark_line(s, "end");
}

// An element of a stack: which one is known when the packet is there.
static bool shark_state_extract(struct shark *s, const struct ir_stmt *st) {
    if (st->headers.n == 0) {
        shark_state_extract_one(s, st->header);
        return true;
    }
    const char *index = shark_bits(s, st->e, 0, st->e->width < 32 ? st->e->width : 32);
    if (s->failed)
        return give_up(s, s->failed);
    shark_line(s, "do local i = %s", index);
    s->indent++;
    for (size_t i = 0; i < st->headers.n; i++) {
        shark_line(s, "%s i == %zu then", i ? "elseif" : "if", i);
        s->indent++;
        shark_state_extract_one(s, st->headers.v[i]);
        s->indent--;
    }
    shark_line(s, "else return beyond(w, %s) end", shark_string(s, st->headers.v[0]->name));
    s->indent--;
    shark_line(s, "end");
    return true;
}

static bool shark_state_assign(struct shark *s, const struct ir_stmt *st) {
    const struct ir_var *v = st->var;
    if (!s->read[v->id])
        return true;
    if (v->width > 8 * 32 || (st->slice && v->width > 32))
        return give_up(s, "an assignment to a part of more than 32 bits");
    if (st->slice) {
        const char *part = shark_bits(s, st->e, 0, st->width);
        if (s->failed)
            return give_up(s, s->failed);
        shark_line(s, "%s = put(%s, %u, %u, %s)", shark_var(s, v, 0), shark_var(s, v, 0), st->lo,
                   st->width, part);
        return true;
    }
    const char *to = "", *from = "";
    for (unsigned at = 0; at < v->width; at += 32) {
        unsigned n = v->width - at < 32 ? v->width - at : 32;
        to = arena_printf(s->a, "%s%s%s", to, at ? ", " : "", shark_var(s, v, at / 32));
        from = arena_printf(s->a, "%s%s%s", from, at ? ", " : "", shark_bits(s, st->e, at, n));
    }
    if (s->failed)
        return give_up(s, s->failed);
    shark_line(s, "%s = %s -- %s", to, from, v->name);
    return true;
}

// Nothing of the block concerns a dissector.
static bool is_silent(struct shark *s, const struct ir_block *b) {
    for (size_t i = 0; i < b->stmts.n; i++) {
        const struct ir_stmt *st = b->stmts.v[i];
        if (st->kind != IR_SET_INVALID ||
            (st->header && st->header->valid && s->read[st->header->valid->id]))
            return false;
    }
    return true;
}

static bool shark_state_branch(struct shark *s, const struct ir_stmt *st) {
    const char *condition = shark_condition(s, st->e);
    if (s->failed)
        return give_up(s, s->failed);
    shark_line(s, "if %s then", condition);
    s->indent++;
    shark_state_block(s, st->then_b);
    s->indent--;
    if (st->else_b && st->else_b->stmts.n && !is_silent(s, st->else_b)) {
        shark_line(s, "else");
        s->indent++;
        shark_state_block(s, st->else_b);
        s->indent--;
    }
    shark_line(s, "end");
    return true;
}

static bool shark_state_statement(struct shark *s, const struct ir_stmt *st) {
    switch (st->kind) {
    case IR_ASSIGN:
        return shark_state_assign(s, st);
    case IR_IF:
        return shark_state_branch(s, st);
    case IR_BLOCK:
        if (!st->label) {
            shark_state_block(s, st->then_b);
            return true;
        }
        shark_line(s, "do");
        s->indent++;
        shark_state_block(s, st->then_b);
        s->indent--;
        shark_line(s, "end");
        shark_line(s, "::L%u::", st->label);
        return true;
    case IR_LEAVE:
        shark_line(s, "do goto L%u end", st->label);
        return true;
    case IR_EXTRACT:
        return shark_state_extract(s, st);
    case IR_ADVANCE: {
        const char *n = shark_bits(s, st->e, 0, st->e->width < 32 ? st->e->width : 32);
        if (s->failed)
            return give_up(s, s->failed);
        shark_line(s, "advance(w, %s)", n);
        return true;
    }
    case IR_SET_VALID:
    case IR_SET_INVALID:
        if (st->header && st->header->valid && s->read[st->header->valid->id])
            shark_line(s, "%s = %d", shark_var(s, st->header->valid, 0), st->kind == IR_SET_VALID);
        return true;
    case IR_RAISE:
        shark_line(s, "do return reject(w, \"the parser raises an error\") end");
        return true;
    case IR_CSUM_ADD:
    case IR_CSUM_SUBTRACT:
    case IR_NOTE:
        return true;
    case IR_CSUM_VERIFY:
    case IR_CSUM_GET:
        if (st->var && s->read[st->var->id])
            shark_line(s, "-- the checksum is not computed: %s is taken for 0", st->var->name);
        return true;
    default:
        return give_up(s, "a statement of another kind");
    }
}

static bool shark_state_block(struct shark *s, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++)
        if (!shark_state_statement(s, b->stmts.v[i]))
            return false;
    return true;
}

// ---- where it goes on ----

static const char *shark_state_next(struct shark *s, int to) {
    return to == IR_ACCEPT   ? "ACCEPT"
           : to == IR_REJECT ? "reject(w, \"the parser rejects it\")"
                             : arena_printf(s->a, "%d", to);
}

// One key, in pieces of 32 bits.
static const char *shark_state_key_condition(struct shark *s, const struct ir_select_key_set *set,
                                             size_t key, unsigned width) {
    const char *text = "";
    if (set->high) {
        if (width > 32) {
            s->failed = "a range of more than 32 bits";
            return "false";
        }
        return arena_printf(s->a, "k%zu_0 >= %s and k%zu_0 <= %s", key,
                            big_str(s->a, set->value, 10), key, big_str(s->a, set->high, 10));
    }
    for (unsigned at = 0; at < width; at += 32) {
        unsigned n = width - at < 32 ? width - at : 32;
        const uint64_t all = (UINT64_C(1) << n) - 1;
        uint64_t value = big_to_u64(big_shr(s->a, set->value, at)) & all;
        uint64_t mask = set->mask ? big_to_u64(big_shr(s->a, set->mask, at)) & all : all;
        const char *and = *text ? " and " : "";
        if (mask == all)
            text = arena_printf(s->a, "%s%sk%zu_%u == %" PRIu64, text, and, key, at / 32, value);
        else if (mask)
            text = arena_printf(s->a, "%s%sband(k%zu_%u, %" PRIu64 ") == %" PRIu64, text, and, key,
                                at / 32, mask, value);
    }
    return *text ? text : NULL;
}

static bool put_case(struct shark *s, const struct ir_state *st, const struct ir_select_case *c) {
    const char *text = "";
    for (size_t i = 0; i < c->sets.n; i++) {
        if (c->sets.v[i].set) {
            shark_line(s,
                       "-- cannot be expressed: the value set %s, which the control plane fills; "
                       "treated as empty",
                       c->sets.v[i].set->name);
            return true;
        }
        const char *one = shark_state_key_condition(s, &c->sets.v[i], i, st->keys.v[i]->width);
        if (s->failed)
            return give_up(s, s->failed);
        if (one)
            text = arena_printf(s->a, "%s%s%s", text, *text ? " and " : "", one);
    }
    if (*text)
        shark_line(s, "if %s then return %s end", text, shark_state_next(s, c->next));
    else
        shark_line(s, "do return %s end", shark_state_next(s, c->next));
    return true;
}

static bool keys(struct shark *s, const struct ir_state *st) {
    for (size_t i = 0; i < st->keys.n; i++) {
        const struct ir_expr *k = st->keys.v[i];
        const char *to = "", *from = "";
        for (unsigned at = 0; at < k->width; at += 32) {
            unsigned n = k->width - at < 32 ? k->width - at : 32;
            to = arena_printf(s->a, "%s%sk%zu_%u", to, at ? ", " : "", i, at / 32);
            from = arena_printf(s->a, "%s%s%s", from, at ? ", " : "", shark_bits(s, k, at, n));
        }
        if (s->failed)
            return give_up(s, s->failed);
        shark_line(s, "local %s = %s%s%s", to, from, i < st->key_texts.n ? " -- " : "",
                   i < st->key_texts.n ? st->key_texts.v[i] : "");
    }
    return true;
}

static void shark_state_state(struct shark *s, const struct ir_state *st) {
    shark_line(s, "S[%u] = function(w) -- %s", st->id, st->name);
    s->indent++;
    shark_line(s, "local v = w.v");
    if (shark_state_block(s, st->body)) {
        if (st->keys.n == 0) {
            shark_line(s, "do return %s end", shark_state_next(s, st->next));
        } else if (keys(s, st)) {
            bool good = true, certain = false;
            for (size_t i = 0; good && !certain && i < st->cases.n; i++)
                if (shark_possible(s, st, i, &certain))
                    good = put_case(s, st, &st->cases.v[i]);
                else
                    certain = false;
            if (good && !certain)
                shark_line(s,
                           "do return reject(w, \"no case of the parser's select matches\") end");
        }
    }
    s->indent--;
    shark_line(s, "end");
}

void shark_states(struct shark *s) {
    for (size_t i = 0; i < s->g->states.n; i++)
        if (s->reached[i])
            shark_state_state(s, s->g->states.v[i]);
}
