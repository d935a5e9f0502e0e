// SPDX-License-Identifier: Apache-2.0
//
// hash: hashes that the control plane may change (stages/dynhash.h): descriptions, state,
// access. How one is computed is in stmt.c.
#include "compiler/ir/walk.h"
#include "compiler/print/emit_impl.h"

static char emit_hash_gress_letter(unsigned k) {
    return k ? 'e' : 'i';
}

static const char *bool_text(bool b) {
    return b ? "true" : "false";
}

static void algorithm(const struct emit *e, const struct ir_hash *h) {
    static const char *const kinds[] = {
        [IR_HASH_IDENTITY] = "SK_HASH_IDENTITY", [IR_HASH_RANDOM] = "SK_HASH_RANDOM",
        [IR_HASH_XOR8] = "SK_HASH_XOR",          [IR_HASH_XOR16] = "SK_HASH_XOR",
        [IR_HASH_XOR32] = "SK_HASH_XOR",         [IR_HASH_CRC] = "SK_HASH_CRC",
    };
    unsigned width = h->algorithm == IR_HASH_XOR8    ? 8
                     : h->algorithm == IR_HASH_XOR16 ? 16
                     : h->algorithm == IR_HASH_XOR32 ? 32
                                                     : h->crc_width;
    emit_line(e,
              ".algorithm = {.kind = %s, .width = %u, .coeff = UINT64_C(0x%llx), .init = "
              "UINT64_C(0x%llx), .xor_out = UINT64_C(0x%llx), .reversed = %s, .extended = %s}},",
              kinds[h->algorithm], width, (unsigned long long)h->coeff, (unsigned long long)h->init,
              (unsigned long long)h->xor_out, bool_text(h->reversed), bool_text(h->extended));
}

static uint64_t constant_value(const struct ir_expr *c) {
    return c && big_fits_u64(c->value) ? big_to_u64(c->value) : 0;
}

static void hash_fields(const struct emit *e, unsigned k, const struct ir_hash *h) {
    emit_open(e, "static const struct sk_hash_field p%u%c_hash%u_fields[] = {", e->pipeline_index,
              emit_hash_gress_letter(k), h->id);
    for (size_t i = 0; i < h->fields.n; i++)
        emit_line(e, "{%s, %u, %s, UINT64_C(0x%llx), %d},", emit_string(e, h->fields.v[i].name),
                  h->fields.v[i].width, bool_text(h->fields.v[i].constant),
                  (unsigned long long)constant_value(h->fields.v[i].constant), h->fields.v[i].twin);
    emit_line(e, "{NULL, 0, false, 0, -1},");
    emit_close(e, "};");
}

unsigned emit_hash_count(const struct emit *e) {
    unsigned n = 0;
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].hashes.n; i++)
            n += ir_hash_is_dynamic(e->pipeline->gress[k].hashes.v[i]);
    return n;
}

void emit_hash_state(const struct emit *e) {
    for (size_t i = 0; i < e->g->hashes.n; i++)
        if (ir_hash_is_dynamic(e->g->hashes.v[i]))
            emit_line(e, "struct sk_dynhash *%c_hash%zu; // %s",
                      emit_hash_gress_letter(e->g->kind != IR_INGRESS), i,
                      emit_comment(e, e->g->hashes.v[i]->name));
}

void emit_hashes_free(const struct emit *e) {
    for (size_t i = 0; i < e->g->hashes.n; i++)
        if (ir_hash_is_dynamic(e->g->hashes.v[i]))
            emit_line(e, "sk_dynhash_free(s->%c_hash%zu);",
                      emit_hash_gress_letter(e->g->kind != IR_INGRESS), i);
}

void emit_hash_list(const struct emit *e) {
    unsigned p = e->pipeline_index, n = 0;
    emit_line(e, " ");
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].hashes.n; i++)
            if (ir_hash_is_dynamic(e->pipeline->gress[k].hashes.v[i]))
                hash_fields(e, k, e->pipeline->gress[k].hashes.v[i]);
    emit_open(e, "static const struct sk_hash_desc p%u_hashes[] = {", p);
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].hashes.n; i++) {
            const struct ir_hash *h = e->pipeline->gress[k].hashes.v[i];
            if (!ir_hash_is_dynamic(h))
                continue;
            emit_line(e, "{.name = %s, .fields = p%u%c_hash%u_fields, .n_fields = %zu,",
                      emit_string(e, h->name), p, emit_hash_gress_letter(k), h->id, h->fields.n);
            emit_line(e, " .bits = %u, .width = %u, .used = %u,", h->bits, h->width,
                      ir_hash_used_bits(&e->pipeline->gress[k], h));
            algorithm(e, h);
        }
    emit_line(e, "{.name = NULL},");
    emit_close(e, "};");
    emit_open(e, "static struct sk_dynhash **p%u_hash(struct sk_pipe *pipe, uint32_t i) {", p);
    emit_line(e, "struct p%u_state *s = (struct p%u_state *)pipe;", p, p);
    emit_line(e, "(void)s, (void)i;");
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].hashes.n; i++)
            if (ir_hash_is_dynamic(e->pipeline->gress[k].hashes.v[i])) {
                emit_line(e, "if (i == %u)", n++);
                emit_line(e, "    return &s->%c_hash%zu;", emit_hash_gress_letter(k), i);
            }
    emit_line(e, "return NULL;");
    emit_close(e, "}");
}
