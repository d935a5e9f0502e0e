// SPDX-License-Identifier: Apache-2.0
//
// home: fields of headers that stay in the packet, as C: where their bytes are, and a place of
// their own (a "home") for a header that is not in the packet (compiler/plan/in_place.c).
#include "compiler/print/emit_impl.h"

// The end of the fields from bit 'to' on that are needed to come to a byte boundary.
static unsigned boundary(const struct ir_header *h, unsigned to) {
    for (size_t i = 0; i < h->fields.n && to % 8; i++)
        if (h->fields.v[i]->bit_offset == to)
            to += h->fields.v[i]->width;
    return to;
}

unsigned emit_stored_bytes(const struct ir_header *h, unsigned byte) {
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        if (f->bit_offset == 8 * byte) {
            const unsigned end = boundary(h, f->bit_offset + f->width);
            return end % 8 ? h->bits / 8 - byte : end / 8 - byte;
        }
    }
    return h->bits / 8 - byte;
}

static struct emit_container emit_home_container(const struct ir_var *v) {
    const struct ir_header *h = v->header;
    unsigned from = 0, to = 0; // bits: of the byte boundary before a field, and of its end
    for (size_t i = 0; i < h->fields.n && to <= v->bit_offset; i++) {
        from = to % 8 ? from : to;
        to = h->fields.v[i]->bit_offset + h->fields.v[i]->width;
    }
    to = boundary(h, to);
    const unsigned bytes = (to - from) / 8;
    if (to % 8 || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        return (struct emit_container){0};
    return (struct emit_container){from / 8, bytes, v->bit_offset - from};
}

void emit_wire_refs(const struct emit *e, struct emit_var *i, const struct ir_var *v,
                    const char *from) {
    i->wire = from;
    i->bit = v->bit_offset % 8;
    const char *cast = v->width <= 32 ? "(uint32_t)" : "";
    if (plan_is_wide(v->width))
        i->ref = emit_text(e, "(%s)", from);
    else if (i->bit == 0 && v->width % 8 == 0 && v->width <= 64)
        i->ref = emit_text(e, "%ssk_load_bytes(%s, %u)", cast, from, v->width / 8);
    else if (v->header && (i->word = emit_home_container(v)).bytes)
        i->ref = emit_text(e, "%ssk_word_get(%s - %u, %u, %u, %u)", cast, from,
                           v->bit_offset / 8 - i->word.byte, i->word.bytes, i->word.bit, v->width);
    else
        i->ref =
            emit_text(e, "%s%s(%s, %u, %u)", cast,
                      v->width <= 64 ? "sk_bits_get" : "sk_bits_get128", from, i->bit, v->width);
}

void emit_home_members(const struct emit *e) {
    for (size_t i = 0; i < e->g->headers.n; i++) {
        const struct ir_header *h = e->g->headers.v[i];
        if (!plan_home_is_placed(e->plan, h))
            continue;
        emit_line(e, "uint8_t *at_h%zu; // %s", i, emit_comment(e, h->name));
        if (e->plan->paths && plan_home_of(e->plan, h)->written)
            emit_line(e, "bool wrote_h%zu;", i);
    }
}

void emit_home_write(const struct emit *e, const struct ir_var *v) {
    if (e->plan->paths && !e->in_parser && v && v->header && emit_var_of(e, v)->wire &&
        !emit_var_of(e, v)->deferred && plan_home_is_placed(e->plan, v->header))
        emit_line(e, "v->wrote_h%u = true;", v->header->id);
}

// Large ones are whole cache lines: vectors of lanes may fill them (compiler/print/lane_loop.c).
#define LINE 64u
unsigned emit_home_room(const struct ir_header *h) {
    const unsigned bytes = h->bits / 8;
    return bytes < LINE ? bytes : (bytes + LINE - 1) / LINE * LINE;
}

void emit_home_state(const struct emit *e) {
    bool any = false;
    for (size_t i = 0; i < e->g->headers.n; i++) {
        if (!plan_home_of(e->plan, e->g->headers.v[i])->in_state)
            continue;
        if (!any) {
            emit_open(e, "_Alignas(64) struct {");
            emit_line(e, "uint8_t slack[SK_COPY_SLACK];");
        }
        any = true;
        const unsigned room = emit_home_room(e->g->headers.v[i]);
        emit_line(e, "%suint8_t h%zu[%u];", room % LINE ? "" : "_Alignas(64) ", i, room);
    }
    if (any)
        emit_close(e, "} %c_home;", e->p[2]);
}

void emit_home_begin(const struct emit *e) {
    for (size_t i = 0; i < e->g->headers.n; i++)
        if (plan_home_is_placed(e->plan, e->g->headers.v[i]))
            emit_line(e, "v->at_h%zu = s->%c_home.h%zu;", i, e->p[2], i);
}

// In pieces that the C compiler clears without a string instruction or a call.
const char *emit_home_clear(const struct emit *e, const char *state, const struct ir_header *h) {
    const char *text = "";
    for (unsigned at = 0, n; at < h->bits / 8; at += n) {
        n = h->bits / 8 - at < 64 ? h->bits / 8 - at : 64;
        text = emit_text(e, "%s%smemset(%s->%c_home.h%u + %u, 0, %u)", text, at ? ", " : "", state,
                         e->p[2], h->id, at, n);
    }
    return text;
}

void emit_home_end(const struct emit *e) {
    for (size_t i = 0; i < e->g->headers.n; i++) {
        const struct ir_header *h = e->g->headers.v[i];
        if (!plan_home_is_placed(e->plan, h) || !plan_home_of(e->plan, h)->written)
            continue;
        emit_line(e, "if (v->at_h%zu == s->%c_home.h%zu)", i, e->p[2], i);
        emit_line(e, "    %s;", emit_home_clear(e, "s", h));
    }
}

void emit_home_extracted(const struct emit *e, const struct ir_header *h) {
    if (plan_home_of(e->plan, h)->in_place)
        emit_line(e, "v->at_h%u = p;", h->id);
    else
        emit_line(e, "memcpy(v->at_h%u, p, %u);", h->id, h->bits / 8);
}
