// SPDX-License-Identifier: Apache-2.0
//
// deferred_stores: fields whose stores wait, as C (compiler/plan/deferred_stores.c).
#include "compiler/print/emit_impl.h"

void emit_deferred_members(const struct emit *e) {
    for (size_t i = 0; i < e->g->vars.n; i++) {
        const struct ir_var *v = e->g->vars.v[i];
        if (!emit_var_of(e, e->g->vars.v[i])->deferred)
            continue;
        emit_line(e, "%s %s;", emit_storage(v->width), emit_var_of(e, e->g->vars.v[i])->name);
        emit_line(e, "bool holds_%s;", emit_var_of(e, e->g->vars.v[i])->name);
    }
}

static void emit_deferred_store(const struct emit *e, const struct ir_var *v) {
    const struct emit_var *i = emit_var_of(e, v);
    const unsigned at = v->bit_offset / 8;
    emit_line(e, "if (v->holds_%s)", i->name);
    if (i->bit == 0 && v->width % 8 == 0)
        emit_line(e, "    sk_store_bytes(to_h + %u, %u, v->%s);", at, v->width / 8, i->name);
    else if (i->word.bytes)
        emit_line(e, "    sk_word_put(to_h + %u, %u, %u, %u, v->%s);", i->word.byte, i->word.bytes,
                  i->word.bit, v->width, i->name);
    else
        emit_line(e, "    sk_bits_put(to_h + %u, %u, %u, v->%s);", at, i->bit, v->width, i->name);
}

bool emit_defers(const struct emit *e, const struct ir_header *h) {
    for (size_t i = 0; i < h->fields.n; i++)
        if (emit_var_of(e, h->fields.v[i])->deferred)
            return true;
    return false;
}

const char *emit_defers_all(const struct emit *e, const struct ir_header *h) {
    const char *text = "";
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct emit_var *v = emit_var_of(e, h->fields.v[i]);
        if (!v->deferred)
            return "";
        text = emit_text(e, "%s%sv->holds_%s", text, *text ? " && " : "", v->name);
    }
    return text;
}

void emit_deferred_stores(const struct emit *e, const struct ir_header *h) {
    for (size_t i = 0; i < h->fields.n; i++)
        if (emit_var_of(e, h->fields.v[i])->deferred)
            emit_deferred_store(e, h->fields.v[i]);
}

const char *emit_deferred_word(const struct emit *e, const struct ir_var *const *fields, size_t n,
                               const char *from, unsigned bytes) {
    const char *text = emit_text(e, "sk_load_bytes(%s, %u)", from, bytes);
    unsigned left = 8 * bytes;
    for (size_t i = 0; i < n; i++) {
        const struct emit_var *v = emit_var_of(e, fields[i]);
        const unsigned width = fields[i]->width;
        left -= width;
        if (v->deferred && !e->in_parser)
            text = emit_text(e, "sk_bits_held(%s, v->holds_%s, v->%s, %u, %u)", text, v->name,
                             v->name, left, width);
    }
    return text;
}
