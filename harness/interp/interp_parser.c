// SPDX-License-Identifier: Apache-2.0
//
// interp_parser: the parser: states one after the other over a string of bytes.
//
// Behind the packet's last byte there are the four of its frame check sequence: they can be parsed,
// but are never payload (tna-facts 3.3). What goes beyond them is PARTIAL_HDR and ends the parser.
#include "harness/interp/interp_impl.h"

#include <string.h>

bool interp_beyond(const struct run *r, uint64_t end) {
    return end > r->n_bytes;
}

big interp_packet_bits(struct run *r, uint64_t bit, unsigned width) {
    big v = big_u64(r->a, 0);
    for (uint64_t i = bit; i < bit + width; i++) {
        unsigned b = r->bytes[i / 8] >> (7 - i % 8) & 1;
        v = big_add(r->a, big_shl(r->a, v, 1), big_u64(r->a, b));
    }
    return v;
}

const char *interp_shown(struct run *r, const char *name) {
    const char *part = strstr(name, ".$");
    return part ? arena_strndup(r->a, name, (size_t)(part - name)) : name;
}

static flow partial(struct run *r) {
    r->parser_err |= SK_PARSER_PARTIAL_HDR;
    r->parser_done = true;
    return FLOW_STOP;
}

static flow extract(struct run *r, const struct ir_stmt *s) {
    const struct ir_header *h = s->header;
    if (s->headers.n) {
        uint64_t i = interp_index(r, s->e);
        if (i >= s->headers.n)
            return partial(r);
        h = s->headers.v[i];
    }
    if (!interp_is_there(r, r->cursor + h->bits / 8, "extracting", interp_shown(r, h->name)))
        return partial(r);
    for (size_t i = 0; i < h->fields.n; i++) {
        const struct ir_var *f = h->fields.v[i];
        interp_set(r, f, interp_packet_bits(r, 8 * r->cursor + f->bit_offset, f->width));
    }
    interp_set_u64(r, h->valid, 1);
    interp_extracted(r, h);
    r->cursor += h->bits / 8;
    r->header_at[h->id] = r->cursor;
    return FLOW_ON;
}

static flow advance(struct run *r, const struct ir_stmt *s) {
    uint64_t bytes = interp_index(r, s->e) / 8;
    if (r->parser_done)
        return FLOW_STOP;
    if (bytes > UINT64_MAX - r->cursor || !interp_is_there(r, r->cursor + bytes, "advancing", NULL))
        return partial(r);
    r->cursor += bytes;
    return FLOW_ON;
}

flow interp_parser_stmt(struct run *r, const struct ir_stmt *s) {
    switch (s->kind) {
    case IR_EXTRACT:
        return extract(r, s);
    case IR_ADVANCE:
        return advance(r, s);
    case IR_RAISE:
        r->parser_err |= s->lo;
        r->parser_done = true;
        return FLOW_STOP;
    default:
        interp_fail("parser statement", (int)s->kind, s->at);
    }
}

// --------------------------------------------------------------------------------------------
// Transitions.

static bool in_set(struct run *r, const struct ir_select_key_set *s, big key) {
    if (s->high)
        return big_cmp(s->value, key) <= 0 && big_cmp(key, s->high) <= 0;
    if (!s->mask)
        return big_cmp(key, s->value) == 0;
    return big_cmp(big_and(r->a, key, s->mask), big_and(r->a, s->value, s->mask)) == 0;
}

static bool case_matches(struct run *r, const struct ir_select_case *c, const big *keys) {
    for (size_t i = 0; i < c->sets.n; i++) {
        const struct ir_select_key_set *s = &c->sets.v[i];
        if (!s->set) {
            if (!in_set(r, s, keys[i]))
                return false;
            continue;
        }
        if (!interp_in_value_set(r, s->set, keys + i, s->set->widths.n))
            return false;
        i += s->set->widths.n - 1; // all its keys stand at positions of their own
    }
    return true;
}

static int next_state(struct run *r, const struct ir_state *st) {
    if (st->keys.n == 0) {
        interp_trace_transition(r, st->next, "");
        return st->next;
    }
    if (r->ip->on_select)
        r->ip->on_select(r->ip->aux, r, st);
    interp_uses_select(r, st);
    big *keys = ARENA_ARRAY(r->a, big, st->keys.n);
    for (size_t i = 0; i < st->keys.n; i++) {
        keys[i] = interp_eval(r, st->keys.v[i]);
        if (r->parser_done)
            return IR_REJECT;
    }
    for (size_t i = 0; i < st->cases.n; i++) {
        if (!case_matches(r, &st->cases.v[i], keys))
            continue;
        interp_trace_transition(r, st->cases.v[i].next, st->cases.v[i].text);
        return st->cases.v[i].next;
    }
    interp_trace_transition(r, IR_REJECT, NULL);
    r->parser_err |= SK_PARSER_NO_MATCH;
    return IR_REJECT;
}

void interp_parse(struct run *r) {
    int at = r->g->states.n ? 0 : IR_ACCEPT;
    for (unsigned n = 0; at >= 0 && !r->parser_done; n++) {
        if (n == SK_PARSER_MAX_STATES) {
            interp_too_many_states(r, r->g->states.v[at]);
            r->parser_err |= SK_PARSER_TIMEOUT;
            break;
        }
        const struct ir_state *st = r->g->states.v[at];
        r->at = st->at;
        flow f = interp_block(r, st->body);
        if (f == FLOW_STOP || r->parser_done)
            break;
        at = next_state(r, st);
    }
    r->parser_done = false; // the control begins
    r->at = (struct loc){0};
}
