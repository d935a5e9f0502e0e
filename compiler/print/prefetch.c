// SPDX-License-Identifier: Apache-2.0
//
// prefetch: the function that asks for the table entries of a burst (compiler/plan/prefetch.c).
#include "compiler/print/emit_impl.h"

// The loop's body, of a packet that is long enough.
static void one_packet(const struct emit *e, const struct ir_table *t) {
    unsigned words = 0;
    emit_open(e, "const uint64_t key[] = {");
    for (size_t i = 0; i < t->keys.n; i++) {
        const struct ir_expr *x = t->keys.v[i].expr;
        for (unsigned w = 0; w < plan_words(x->width); w++, words++)
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

static void emit_prefetch_head(const struct emit *e, const char *end) {
    emit_line(e,
              "void p%u_ahead(struct sk_pipe *pipe, struct sk_packet *const *packets, unsigned n, "
              "struct sk_entry **found)%s",
              e->pipeline_index, end);
}

void emit_prefetch_prototype(const struct emit *e) {
    if (e->plan->prefetch.table)
        emit_prefetch_head(e, ";");
}

void emit_prefetch_burst(const struct emit *e) {
    const struct plan_prefetch g = e->plan->prefetch;
    if (!g.table)
        return;
    emit_line(e, " ");
    emit_line(e, "// for table %s", emit_comment(e, g.table->name));
    emit_prefetch_head(e, " {");
    e->to->indent++;
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
    emit_line(e, "uint8_t *const start = sk_packet_data(packets[i]) - %u;",
              plan_prefix_bytes(e->plan));
    const unsigned need = emit_path_places(e, g.path, g.headers);
    emit_line(e, "if (packets[i]->len + %u < %u)", plan_prefix_bytes(e->plan), need);
    emit_line(e, "    continue;");
    one_packet(e, g.table);
    emit_close(e, "}");
    emit_close(e, "}");
}
