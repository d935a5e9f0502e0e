// SPDX-License-Identifier: Apache-2.0
//
// prefetch: what a burst's packets are going to look up is fetched before the first of them runs.
//
// A packet that waits for a table's entry waits for memory, and with it all behind it. So for the first
// large exact table of ingress whose key is fields on the wire, a function is printed that takes a burst of
// packets from a port, forms each one's key from its bytes, and asks for the entry that has it. It guesses:
// that the packet goes the shortest way through the parser on which these fields are extracted, and that
// the program looks them up as they came. What it found is handed to the packet's first pass, which compares
// keys in place of a lookup: a burst's lookups wait for memory all at once, and a packet's pass for none.
// A wrong guess costs the time of a lookup and changes nothing.
#include "compiler/print/emit_impl.h"

struct key_fields {
    const struct emit *e;
    bool *headers; // by header
    bool good;
};

static void note_field(void *aux, const struct ir_expr *x) {
    struct key_fields *k = aux;
    if (x->op != IR_VAR)
        return;
    if (x->var->header && k->e->vars[x->var->id].wire)
        k->headers[x->var->header->id] = true;
    else
        k->good = false;
}

struct guess {
    const struct ir_table *table; // null: none
    int path;
    bool *headers;
};

static bool in_buckets(struct emit *e, const struct ir_table *t) {
    unsigned width = 0;
    for (size_t i = 0; i < t->keys.n; i++) {
        width += t->keys.v[i].expr->width;
        if (t->keys.v[i].match != IR_MATCH_EXACT)
            return false;
    }
    return width > EMIT_MAX_INDEX && !t->proxy && !t->key_masks &&
           !emit_plan_of(e)->tables[t->id].branches;
}

static struct guess guess(struct emit *e, const struct ir_table *t) {
    struct key_fields k = {e, ARENA_ARRAY(e->a, bool, e->g->headers.n + 1), true};
    if (!in_buckets(e, t))
        return (struct guess){0};
    for (size_t i = 0; i < t->keys.n; i++)
        ir_walk_expr(t->keys.v[i].expr, note_field, &k);
    const int path = k.good ? emit_path_with(e, k.headers) : -1;
    return (struct guess){path < 0 ? NULL : t, path, k.headers};
}

// The first in the order of the program.
static struct guess first_guess(struct emit *e, const struct ir_block *b) {
    struct guess found = {0};
    for (size_t i = 0; b && i < b->stmts.n && !found.table; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        if (s->kind == IR_APPLY)
            found = guess(e, s->table);
        if (!found.table)
            found = first_guess(e, s->then_b);
        if (!found.table)
            found = first_guess(e, s->else_b);
        for (size_t k = 0; k < s->cases.n && !found.table; k++)
            found = first_guess(e, s->cases.v[k].body);
    }
    return found;
}

// The loop's body, of a packet that is long enough.
static void one_packet(struct emit *e, const struct ir_table *t) {
    unsigned words = 0;
    emit_open(e, "const uint64_t key[] = {");
    for (size_t i = 0; i < t->keys.n; i++) {
        const struct ir_expr *x = t->keys.v[i].expr;
        for (unsigned w = 0; w < emit_words(x->width); w++, words++)
            emit_line(e, "%s, // %s", emit_word(e, x, w), emit_comment(e, t->keys.v[i].name));
    }
    emit_close(e, "};");
    if (emit_key_is_packed(e, t)) {
        emit_line(e, "const uint64_t word = %s_t%u_proxy(key);", e->p, t->id);
        emit_line(e, "found[i] = sk_hash_ahead(buckets, &word, 1);");
        return;
    }
    emit_line(e, "found[i] = sk_hash_ahead(buckets, key, %u);", words);
}

static struct guess guess_of(struct emit *e) {
    return e->paths ? first_guess(e, e->g->control) : (struct guess){0};
}

void emit_plan_ahead(struct emit *e) {
    e->ahead = guess_of(e).table;
}

void emit_ahead(struct emit *e) {
    const struct guess g = guess_of(e);
    if (!g.table)
        return;
    emit_line(e, " ");
    emit_line(e, "// for table %s", emit_comment(e, g.table->name));
    emit_open(e,
              "static void p%u_ahead(struct sk_pipe *pipe, struct sk_packet *const *packets, "
              "unsigned n, struct sk_entry **found) {",
              e->pipeline_index);
    emit_line(e, "struct p%u_state *const s = (struct p%u_state *)pipe;", e->pipeline_index,
              e->pipeline_index);
    emit_line(e, "const struct sk_buckets *const buckets = sk_load_buckets(%s);",
              emit_table_ref(e, g.table));
    emit_line(e, "struct %s_phv phv = {0}, *const v = &phv;", e->p);
    emit_line(e, "for (unsigned i = 0; i < n; i++)");
    emit_line(e, "    found[i] = NULL;");
    emit_line(e, "if (!sk_hash_is_large(buckets))");
    emit_line(e, "    return;");
    emit_open(e, "for (unsigned i = 0; i < n; i++) {");
    emit_line(e, "uint8_t *const start = sk_packet_data(packets[i]) - %u;", emit_prefix_bytes(e));
    const unsigned need = emit_path_places(e, g.path, g.headers);
    emit_line(e, "if (packets[i]->len + %u < %u)", emit_prefix_bytes(e), need);
    emit_line(e, "    continue;");
    one_packet(e, g.table);
    emit_close(e, "}");
    emit_close(e, "}");
}
