// SPDX-License-Identifier: Apache-2.0
//
// split_packet: a packet in two pieces, headers and what follows them, as C
// (compiler/plan/split_packet.c).
#include "compiler/plan/parse_paths.h"
#include "compiler/print/emit_impl.h"

#include "pipeline/abi.h"

// C text.
static const char *given_value(const struct ir_var *f) {
    switch (plan_given(f)) {
    case PLAN_GIVEN_PORT:
        return "port";
    case PLAN_GIVEN_TIME:
        return "(now & SK_TSTAMP_MASK)";
    default:
        return "0";
    }
}

bool emit_is_given(const struct emit *e, const struct ir_header *h) {
    const struct plan_seam *seam = plan_seam_of(e->plan);
    return seam && seam->given == h && e->node && e->node->in.split;
}

void emit_given(const struct emit *e) {
    const struct ir_header *h = plan_seam_of(e->plan)->given;
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        if (plan_given(f) != PLAN_GIVEN_PORT) // that is known of every packet
            emit_line(e, "if (hopped)");
        emit_line(e, "%s%s;", plan_given(f) == PLAN_GIVEN_PORT ? "" : "    ",
                  emit_set(e, f, given_value(f)));
    }
}

void emit_split_packet_members(const struct emit *e) {
    if (plan_seam_of(e->plan))
        emit_line(e, "uint8_t *tail; // of a packet that leaves split");
    if (plan_seam_of(e->plan) && plan_seam_of(e->plan)->n > 1)
        emit_line(e, "uint32_t seam; // and how many bytes are before that");
}

// One that is after the seam stays where it is, or the packet is put together.
static void stays_behind(const struct emit *e, const struct ir_header *h) {
    emit_open(e, "if (%s) { // %s", emit_ref(e, h->valid), emit_comment(e, h->name));
    emit_line(e, "if (!(there >> %u & 1) || v->at_h%u != tail - %u)", h->id, h->id, h->bits / 8);
    emit_line(e, "    goto together;");
    emit_line(e, "tail -= %u;", h->bits / 8);
    emit_close(e, "}");
}

// One that is before it, too; or it comes from its home to be the first.
static void stays_in_front(const struct emit *e, const struct ir_header *h) {
    const unsigned bytes = h->bits / 8;
    emit_open(e, "if (%s) { // %s", emit_ref(e, h->valid), emit_comment(e, h->name));
    emit_open(e, "if (there >> %u & 1) {", h->id);
    emit_line(e, "if (made || (front && v->at_h%u + %u != front))", h->id, bytes);
    emit_line(e, "    goto together;");
    emit_line(e, "front = v->at_h%u;", h->id);
    emit_close(e, "} else {");
    e->to->indent++;
    emit_line(e, "if (!front)");
    emit_line(e, "    goto together;");
    emit_line(e, "made = true, front -= %u;", bytes);
    emit_close(e, "}");
    emit_line(e, "bytes += %u;", bytes);
    emit_close(e, "}");
}

// What the headers have that is not in the packet yet, from "to_h" on.
static void emit_split_packet_put(const struct emit *e, const struct ir_header *h, bool homes) {
    emit_open(e, "if (%s) {", emit_ref(e, h->valid));
    if (homes) {
        const char *all = emit_defers_all(e, h);
        emit_line(e, "if (!(there >> %u & 1)%s%s%s)", h->id, *all ? " && !(" : "", all,
                  *all ? ")" : "");
        emit_line(e, "    memcpy(to_h, v->at_h%u, %u);", h->id, h->bits / 8);
    }
    emit_deferred_stores(e, h);
    emit_line(e, "to_h += %u;", h->bits / 8);
    emit_close(e, "}");
}

void emit_split_packet(const struct emit *e) {
    const struct plan_seam *seam = plan_seam_of(e->plan);
    if (!seam)
        return;
    const ir_header_vec emits = plan_emits(e->plan);
    emit_line(e, " ");
    emit_line(e, "// The same for a packet that may go on split.");
    emit_open(e,
              "SK_INLINE void %s_emit_split(struct %s_phv *restrict v, struct sk_packet *packet, "
              "uint8_t *q, uint64_t there) {",
              e->p, e->p);
    emit_line(e, "uint8_t *tail = q, *front = NULL, *to_h;");
    emit_line(e, "unsigned bytes = 0;");
    emit_line(e, "bool made = false;");
    for (size_t i = emits.n; i-- > seam->first;)
        stays_behind(e, emits.v[i]);
    for (size_t i = seam->first; i-- > 0;)
        stays_in_front(e, emits.v[i]);
    const char *other = emit_text(e, "bytes != %u", seam->bytes[0]);
    for (size_t i = 1; i < seam->n; i++)
        other = emit_text(e, "%s && bytes != %u", other, seam->bytes[i]);
    emit_line(e, "if (%s)", other);
    emit_line(e, "    goto together;");
    emit_line(e, "to_h = front;");
    for (size_t i = 0; i < seam->first; i++)
        emit_split_packet_put(e, emits.v[i], true);
    emit_line(e, "to_h = tail;");
    for (size_t i = seam->first; i < emits.n; i++)
        emit_split_packet_put(e, emits.v[i], false);
    emit_line(e, "v->front = front;");
    emit_line(e, "v->tail = tail;");
    if (seam->n > 1)
        emit_line(e, "v->seam = bytes;");
    emit_line(e, "return;");
    emit_line(e, "together:;");
    emit_line(e, "%s_emit(v, packet, q, there);", e->p);
    emit_close(e, "}");
}
