// SPDX-License-Identifier: Apache-2.0
//
// scenario_random: a random scenario for a program.
//
// A packet is made by parsing it: random bytes are put into the interpreter's parser, and before a
// state's select looks at them they are changed, most of the time, into what one of its cases
// wants. Entries are made of the keys that tables were asked for while the packets ran through the
// interpreter, so that most tables match some packets.
#include <stdlib.h>
#include <string.h>

#include "harness/interp/interp_impl.h"
#include "harness/interp/scenario.h"

#define MOST_BYTES   700u
#define MOST_KEYS    24u // remembered per table
#define MOST_MEMBERS 8u  // of an action profile

struct seen_keys {
    big *keys[MOST_KEYS]; // of one lookup each
    size_t n, asked;
};
struct maker {
    struct scenario *s;
    struct arena *a;
    struct random *rnd;
    const struct ir_pipeline *pl;
    unsigned prefix[2]; // bytes in front of a packet, by gress
    struct interp *ip;
    struct seen_keys *seen[2]; // by gress and table id
};

static big random_big(struct maker *m, unsigned width) {
    big v = big_u64(m->a, 0);
    for (unsigned done = 0; done < width; done += 64) {
        unsigned n = width - done < 64 ? width - done : 64;
        v = big_or(m->a, v, big_shl(m->a, big_u64(m->a, random_bits(m->rnd, n)), done));
    }
    return v;
}

static void push_big(struct maker *m, word_vec *to, big v, unsigned width) {
    for (unsigned i = 0; i < interp_words(width); i++)
        VEC_PUSH(m->a, to, big_word(v, i));
}

static big ones(struct maker *m, unsigned width) {
    return big_sub(m->a, big_shl(m->a, big_u64(m->a, 1), width), big_u64(m->a, 1));
}

// --------------------------------------------------------------------------------------------
// Packets.

static void put_bits(struct run *r, uint64_t at, unsigned width, big v) {
    for (unsigned i = 0; i < width; i++) {
        uint64_t bit = at + width - 1 - i;
        if (bit / 8 >= r->n_bytes)
            continue;
        uint8_t mask = (uint8_t)(0x80 >> bit % 8);
        r->bytes[bit / 8] =
            (uint8_t)(interp_bit(v, i) ? r->bytes[bit / 8] | mask : r->bytes[bit / 8] & ~mask);
    }
}

// Changes the packet so that expression 'x' has bits 'v', when it is a piece of the packet.
static void make_true(struct run *r, const struct ir_expr *x, big v) {
    switch (x->op) {
    case IR_LOOKAHEAD:
        put_bits(r, 8 * r->cursor + x->lo, x->width, v);
        break;
    case IR_VAR:
        if (x->var->header && r->header_at[x->var->header->id]) {
            uint64_t start = 8 * r->header_at[x->var->header->id] - x->var->header->bits;
            put_bits(r, start + x->var->bit_offset, x->width, v);
        }
        interp_set(r, x->var, v);
        break;
    case IR_SLICE: {
        big old = interp_eval(r, x->a);
        big hole = big_shl(
            r->a, big_sub(r->a, big_shl(r->a, big_u64(r->a, 1), x->width), big_u64(r->a, 1)),
            x->lo);
        old = big_and(r->a, old, big_not(r->a, hole));
        make_true(r, x->a, big_or(r->a, old, big_shl(r->a, v, x->lo)));
        break;
    }
    case IR_ZEXT:
        make_true(r, x->a, v);
        break;
    case IR_CONCAT:
        make_true(r, x->a, big_shr(r->a, v, x->b->width));
        make_true(r, x->b, big_wrap_u(r->a, v, x->b->width));
        break;
    default:
        break;
    }
}

static big wanted_key(struct maker *m, const struct ir_select_key_set *s, unsigned width) {
    big any = random_big(m, width);
    if (s->high) {
        big size = big_add(m->a, big_sub(m->a, s->high, s->value), big_u64(m->a, 1));
        return random_percent(m->rnd, 30) ? s->high
                                          : big_add(m->a, s->value, big_mod(m->a, any, size));
    }
    if (!s->mask)
        return s->value;
    return big_or(m->a, big_and(m->a, s->value, s->mask),
                  big_and(m->a, any, big_wrap_u(m->a, big_not(m->a, s->mask), width)));
}

static void add_member(struct maker *m, struct run *r, const struct ir_state *st, size_t first,
                       const struct ir_value_set *set) {
    struct op op = {.kind = OP_MEMBER, .name = set->name};
    for (size_t k = 0; k < set->widths.n; k++) {
        unsigned width = set->widths.v[k];
        big key = interp_eval(r, st->keys.v[first + k]);
        big mask = random_percent(m->rnd, 60) ? ones(m, width) : random_big(m, width);
        push_big(m, &op.value, big_and(m->a, key, mask), width);
        push_big(m, &op.mask, mask, width);
    }
    VEC_PUSH(m->a, &m->s->ops, op);
}

static void choose_case(void *aux, struct run *r, const struct ir_state *st) {
    struct maker *m = aux;
    if (st->cases.n == 0 || random_percent(m->rnd, 10))
        return;
    const struct ir_select_case *c = &st->cases.v[random_below(m->rnd, (unsigned)st->cases.n)];
    for (size_t i = 0; i < c->sets.n; i++) {
        const struct ir_select_key_set *s = &c->sets.v[i];
        if (!s->set) {
            make_true(r, st->keys.v[i], wanted_key(m, s, st->keys.v[i]->width));
            continue;
        }
        if (random_percent(m->rnd, 40) && !r->parser_done)
            add_member(m, r, st, i, s->set);
        i += s->set->widths.n - 1;
    }
}

static void random_bytes(struct maker *m, uint8_t *to, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i % 8 == 0 && random_percent(m->rnd, 25)) {
            uint8_t same = random_percent(m->rnd, 50) ? 0 : 0xff;
            for (size_t k = 0; k < 8 && i < n; k++)
                to[i++] = same;
            i--;
            continue;
        }
        to[i] = (uint8_t)random_next(m->rnd);
    }
}

static struct op packet_op(struct maker *m, unsigned gress) {
    unsigned prefix = m->prefix[gress];
    uint8_t *bytes = arena_alloc(m->a, MOST_BYTES);
    random_bytes(m, bytes, MOST_BYTES);
    struct sk_packet p = {.buf = bytes,
                          .cap = MOST_BYTES,
                          .head = prefix,
                          .len = MOST_BYTES - prefix,
                          .global_tstamp = random_bits(m->rnd, 48)};
    struct run r;
    interp_begin(&r, m->ip, gress, &p);
    m->ip->on_select = choose_case;
    interp_parse_packet(&r);
    m->ip->on_select = NULL;
    memcpy(bytes, r.bytes, MOST_BYTES);
    uint64_t end = r.cursor + random_below(m->rnd, 40);
    if (random_percent(m->rnd, 15))
        end = r.cursor - random_below(m->rnd, (unsigned)r.cursor + 1);
    else if (random_percent(m->rnd, 10))
        end = r.cursor - (r.cursor < 5 ? 0 : random_below(m->rnd, 6));
    arena_free(r.a);
    struct op op = {.kind = gress == IR_INGRESS ? OP_INGRESS : OP_EGRESS,
                    .time = p.global_tstamp,
                    .bytes = bytes,
                    .n_bytes = end < prefix       ? prefix
                               : end > MOST_BYTES ? MOST_BYTES
                                                  : end};
    return op;
}

// --------------------------------------------------------------------------------------------
// Entries.

static void remember_keys(void *aux, const struct ir_table *t, const big *keys) {
    struct maker *m = aux;
    const struct ir_gress *g = m->pl->gress;
    unsigned gress = t->id < g[0].tables.n && g[0].tables.v[t->id] == t ? 0 : 1;
    struct seen_keys *seen = &m->seen[gress][t->id];
    size_t i = seen->n < MOST_KEYS ? seen->n++
                                   : random_below(m->rnd, 4 * MOST_KEYS); // some of the later ones
    if (i >= MOST_KEYS)
        return;
    seen->keys[i] = ARENA_ARRAY(m->a, big, t->keys.n + 1);
    for (size_t k = 0; k < t->keys.n; k++) // the values belong to the packet
        seen->keys[i][k] = big_add(m->a, keys[k], big_u64(m->a, 0));
}

static void add_key(struct maker *m, struct op *op, const struct ir_key *k, big value) {
    unsigned width = k->expr->width;
    big mask = ones(m, width);
    switch (k->match) {
    case IR_MATCH_EXACT:
        break;
    case IR_MATCH_TERNARY:
        if (random_percent(m->rnd, 50))
            mask = random_percent(m->rnd, 25) ? big_u64(m->a, 0) : random_big(m, width);
        break;
    case IR_MATCH_LPM: {
        unsigned host = random_below(m->rnd, width + 1);
        mask = big_shl(m->a, ones(m, width - host), host);
        break;
    }
    case IR_MATCH_RANGE: {
        big other = random_percent(m->rnd, 30) ? value : random_big(m, width);
        big low = big_cmp(value, other) < 0 ? value : other;
        push_big(m, &op->value, low, width);
        push_big(m, &op->mask, low == value ? other : value, width);
        return;
    }
    default:
        interp_fail("match kind", (int)k->match, k->at);
    }
    push_big(m, &op->value, big_and(m->a, value, mask), width);
    push_big(m, &op->mask, mask, width);
}

static void random_data(struct maker *m, struct op *op, const struct ir_action *a) {
    for (size_t i = 0; i < a->params.n; i++) {
        unsigned width = a->params.v[i].var->width;
        push_big(m, &op->data, random_big(m, width), width);
    }
}

static struct op entry_op(struct maker *m, const struct ir_table *t, const struct seen_keys *seen) {
    struct op op = {.kind = OP_ENTRY, .name = t->name};
    const big *keys = seen->n ? seen->keys[random_below(m->rnd, (unsigned)seen->n)] : NULL;
    op.priority = random_below(m->rnd, 5);
    for (size_t i = 0; i < t->keys.n; i++) {
        bool as_seen = keys && random_percent(m->rnd, 90);
        add_key(m, &op, &t->keys.v[i], as_seen ? keys[i] : random_big(m, t->keys.v[i].expr->width));
    }
    if (t->profile) { // mostly one that exists
        bool group = t->selector && random_percent(m->rnd, 70);
        op.action = group ? "$SELECTOR_GROUP_ID" : "$ACTION_MEMBER_ID";
        VEC_PUSH(m->a, &op.data, 1 + random_below(m->rnd, group ? 4 : MOST_MEMBERS));
        return op;
    }
    const struct ir_action *a = t->actions.v[random_below(m->rnd, (unsigned)t->actions.n)].action;
    op.action = a->name;
    random_data(m, &op, a);
    return op;
}

// ---- action profiles ----

static void set_member(struct maker *m, struct scenario *to, const struct ir_action_profile *p,
                       uint64_t id, const struct ir_action *a) {
    struct op op = {.kind = OP_PROFILE, .name = p->name, .index = id, .action = a->name};
    random_data(m, &op, a);
    VEC_PUSH(m->a, &to->ops, op);
}

// Members 1 to n, the action of member i the same in all calls for a profile.
static const struct ir_action *member_action(const struct ir_action_profile *p, uint64_t id) {
    return p->actions.v[p->actions.n > 1 && id % 4 == 3 ? 1 : 0].action;
}

static void set_group(struct maker *m, struct scenario *to, const struct ir_selector *s,
                      uint64_t id) {
    struct op op = {.kind = OP_GROUP, .name = s->name, .index = id};
    unsigned most = s->max_group_size > 130 ? 130 : (unsigned)s->max_group_size;
    unsigned n = random_percent(m->rnd, 10) ? most : random_below(m->rnd, most < 8 ? most + 1 : 8);
    bool odd = random_percent(m->rnd, 20), up = random_percent(m->rnd, 50);
    for (unsigned i = 0; i < n; i++) {
        uint64_t member = 1 + random_below(m->rnd, MOST_MEMBERS);
        if (random_percent(m->rnd, 97) && (member % 4 == 3) != odd)
            member = odd ? 3 : 4;
        VEC_PUSH(m->a, &op.data, member);
        VEC_PUSH(m->a, &op.data, up || random_percent(m->rnd, 60));
    }
    VEC_PUSH(m->a, &to->ops, op);
}

static void members_and_groups(struct maker *m, struct scenario *to, unsigned gress, bool change) {
    const struct ir_gress *g = &m->pl->gress[gress];
    for (size_t i = 0; i < g->profiles.n; i++)
        for (uint64_t id = 1; id <= MOST_MEMBERS; id++)
            if (g->profiles.v[i]->actions.n && random_percent(m->rnd, change ? 20 : 90))
                set_member(m, to, g->profiles.v[i], id, member_action(g->profiles.v[i], id));
    for (size_t i = 0; i < g->selectors.n; i++)
        for (uint64_t id = 1; id <= 4; id++)
            if (random_percent(m->rnd, change ? 50 : 90))
                set_group(m, to, g->selectors.v[i], id);
}

static void entries(struct maker *m, struct scenario *to, unsigned gress) {
    const struct ir_gress *g = &m->pl->gress[gress];
    for (size_t i = 0; i < g->tables.n; i++) {
        const struct ir_table *t = g->tables.v[i];
        unsigned n = t->const_entries || !t->keys.n || !t->actions.n ? 0 : random_below(m->rnd, 9);
        for (unsigned k = 0; k < n; k++) {
            struct op op = entry_op(m, t, &m->seen[gress][i]);
            VEC_PUSH(m->a, &to->ops, op);
        }
        if (!t->const_default && t->actions.n && random_percent(m->rnd, 30)) {
            const struct ir_action *a =
                t->actions.v[random_below(m->rnd, (unsigned)t->actions.n)].action;
            struct op op = {.kind = OP_DEFAULT, .name = t->name, .action = a->name};
            random_data(m, &op, a);
            VEC_PUSH(m->a, &to->ops, op);
        }
    }
}

static void registers(struct maker *m, struct scenario *to, unsigned gress) {
    const struct ir_gress *g = &m->pl->gress[gress];
    for (size_t i = 0; i < g->reg_params.n; i++) {
        struct op op = {.kind = OP_REGISTER, .name = g->reg_params.v[i]->name};
        VEC_PUSH(m->a, &op.value, random_bits(m->rnd, g->reg_params.v[i]->width));
        if (random_percent(m->rnd, 50))
            VEC_PUSH(m->a, &to->ops, op);
    }
    for (size_t i = 0; i < g->registers.n; i++) {
        const struct ir_register *reg = g->registers.v[i];
        for (unsigned k = random_below(m->rnd, 6); k > 0 && !reg->direct && reg->size; k--) {
            unsigned size = reg->size > 64 ? 64 : (unsigned)reg->size;
            struct op op = {.kind = OP_REGISTER,
                            .name = reg->name,
                            .index = random_below(m->rnd, size),
                            .word = random_below(m->rnd, reg->words)};
            VEC_PUSH(m->a, &op.value, random_bits(m->rnd, reg->width));
            VEC_PUSH(m->a, &to->ops, op);
        }
    }
}

// --------------------------------------------------------------------------------------------

// Lets the packets run through the interpreter to see what tables are asked for.
static void watch(struct maker *m, const struct scenario *packets) {
    static uint8_t buffer[SK_HEADROOM + MOST_BYTES];
    m->ip->on_apply = remember_keys;
    for (size_t i = 0; i < packets->ops.n; i++) {
        const struct op *op = &packets->ops.v[i];
        unsigned prefix = m->prefix[op->kind == OP_INGRESS ? 0 : 1];
        memcpy(buffer + SK_HEADROOM - prefix, op->bytes, op->n_bytes);
        struct sk_packet p = {.buf = buffer,
                              .cap = sizeof buffer,
                              .head = SK_HEADROOM,
                              .len = (uint32_t)op->n_bytes - prefix,
                              .global_tstamp = op->time};
        struct sk_ingress_out in = {0};
        struct sk_egress_out out = {0};
        if (op->kind == OP_INGRESS)
            interp_ingress(m->ip, &p, &in);
        else
            interp_egress(m->ip, &p, &out);
    }
    m->ip->on_apply = NULL;
}

// Most of what prepares comes first, some of it between the packets.
static void merge(struct maker *m, const struct scenario *setup, const struct scenario *packets) {
    size_t at = 0;
    for (size_t i = 0; i < setup->ops.n; i++) {
        while (at < packets->ops.n && random_percent(m->rnd, 5)) {
            VEC_PUSH(m->a, &m->s->ops, packets->ops.v[at]);
            at++;
        }
        VEC_PUSH(m->a, &m->s->ops, setup->ops.v[i]);
    }
    for (; at < packets->ops.n; at++)
        VEC_PUSH(m->a, &m->s->ops, packets->ops.v[at]);
}

void scenario_make(struct scenario *s, struct arena *a, const struct ir_program *p,
                   struct random *rnd, unsigned packets) {
    const struct ir_pipeline *pl = p->pipelines.v[0];
    *s = (struct scenario){.a = a};
    struct scenario in = {.a = a}, setup = {.a = a};
    struct maker m = {.s = s,
                      .a = a,
                      .rnd = rnd,
                      .pl = pl,
                      .ip = interp_new(p, 0, 1),
                      .prefix = {p->ingress_prefix, p->egress_prefix}};
    m.ip->aux = &m;
    for (unsigned k = 0; k < 2; k++)
        m.seen[k] = ARENA_ARRAY(a, struct seen_keys, pl->gress[k].tables.n + 1);
    for (unsigned i = 0; i < packets; i++) {
        struct op op = packet_op(&m, random_percent(rnd, 60) ? IR_INGRESS : IR_EGRESS);
        VEC_PUSH(a, &in.ops, op);
    }
    watch(&m, &in);
    for (unsigned k = 0; k < 2; k++) {
        registers(&m, &setup, k);
        members_and_groups(&m, &setup, k, false);
        entries(&m, &setup, k);
        members_and_groups(&m, &setup, k, true);
    }
    merge(&m, &setup, &in);
    interp_free(m.ip);
}
