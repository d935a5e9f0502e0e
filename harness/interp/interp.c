// SPDX-License-Identifier: Apache-2.0
//
// interp: life of the state, and a packet's way through a gress. See interp.h.
#include "harness/interp/interp_impl.h"

#include <stdlib.h>
#include <string.h>

#define FCS_BYTES 4u

static void *allocate(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    if (!p)
        abort();
    return p;
}

struct interp *interp_new(const struct ir_program *p, unsigned pipeline, uint64_t seed) {
    struct interp *ip = allocate(1, sizeof *ip);
    ip->program = p;
    ip->pl = p->pipelines.v[pipeline];
    for (unsigned k = 0; k < 2; k++) {
        struct interp_gress *st = &ip->gress[k];
        st->g = &ip->pl->gress[k];
        st->tables = allocate(st->g->tables.n, sizeof *st->tables);
        st->value_sets = allocate(st->g->value_sets.n, sizeof *st->value_sets);
        st->profiles = allocate(st->g->profiles.n, sizeof *st->profiles);
        st->selectors = allocate(st->g->selectors.n, sizeof *st->selectors);
        for (size_t i = 0; i < st->g->tables.n; i++)
            interp_make_table(&st->tables[i], st->g->tables.v[i]);
        interp_make_objects(st, seed);
    }
    return ip;
}

void interp_free(struct interp *ip) {
    if (!ip)
        return;
    for (unsigned k = 0; k < 2; k++) {
        struct interp_gress *st = &ip->gress[k];
        for (size_t i = 0; i < st->g->tables.n; i++)
            interp_free_table(&st->tables[i]);
        for (size_t i = 0; i < st->g->value_sets.n; i++)
            interp_free_table(&st->value_sets[i]);
        for (size_t i = 0; i < st->g->profiles.n; i++)
            interp_free_table(&st->profiles[i]);
        for (size_t i = 0; i < st->g->selectors.n; i++)
            interp_free_selector(&st->selectors[i]);
        interp_free_objects(st);
        free(st->tables);
        free(st->value_sets);
        free(st->profiles);
        free(st->selectors);
    }
    free(ip);
}

// --------------------------------------------------------------------------------------------
// Objects by number.

struct interp_table *interp_table(struct interp *ip, unsigned i) {
    size_t n = ip->pl->gress[0].tables.n;
    return i < n ? &ip->gress[0].tables[i] : &ip->gress[1].tables[i - n];
}

const struct ir_table *interp_table_ir(const struct interp *ip, unsigned i) {
    const struct ir_gress *g = ip->pl->gress;
    return i < g[0].tables.n ? g[0].tables.v[i] : g[1].tables.v[i - g[0].tables.n];
}

int interp_find_table(const struct interp *ip, const char *name) {
    const struct ir_gress *g = ip->pl->gress;
    for (unsigned i = 0; i < g[0].tables.n + g[1].tables.n; i++)
        if (strcmp(interp_table_ir(ip, i)->name, name) == 0)
            return (int)i;
    return -1;
}

const struct ir_gress *interp_gresses(const struct interp *ip) {
    return ip->pl->gress;
}

struct interp_table *interp_value_set(struct interp *ip, unsigned i) {
    size_t n = ip->pl->gress[0].value_sets.n;
    return i < n ? &ip->gress[0].value_sets[i] : &ip->gress[1].value_sets[i - n];
}

const struct ir_value_set *interp_value_set_ir(const struct interp *ip, unsigned i) {
    const struct ir_gress *g = ip->pl->gress;
    return i < g[0].value_sets.n ? g[0].value_sets.v[i] : g[1].value_sets.v[i - g[0].value_sets.n];
}

uint64_t *interp_register(struct interp *ip, const char *name) {
    for (unsigned k = 0; k < 2; k++) {
        const struct ir_gress *g = &ip->pl->gress[k];
        for (size_t i = 0; i < g->registers.n; i++)
            if (!g->registers.v[i]->direct && strcmp(g->registers.v[i]->name, name) == 0)
                return ip->gress[k].registers[i];
        for (size_t i = 0; i < g->reg_params.n; i++)
            if (strcmp(g->reg_params.v[i]->name, name) == 0)
                return &ip->gress[k].params[i];
    }
    return NULL;
}

struct sk_counter_cell *interp_counter(struct interp *ip, const char *name) {
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < ip->pl->gress[k].counters.n; i++)
            if (strcmp(ip->pl->gress[k].counters.v[i]->name, name) == 0)
                return ip->gress[k].counters[i];
    return NULL;
}

// --------------------------------------------------------------------------------------------
// A packet.

// Ethernet's CRC-32, bit by bit; its least significant byte is the first on the wire.
static void frame_check_sequence(uint8_t fcs[FCS_BYTES], const uint8_t *frame, size_t n) {
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < 8 * n; i++) {
        uint32_t bit = frame[i / 8] >> i % 8 & 1;
        crc = (crc ^ bit) & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
    }
    for (unsigned i = 0; i < FCS_BYTES; i++)
        fcs[i] = (uint8_t)(~crc >> 8 * i);
}

// What a parser can see: the architecture's bytes, the packet, its frame check sequence.
static void take_packet(struct run *r, const struct sk_packet *p, unsigned prefix) {
    const uint8_t *frame = p->buf + p->head;
    r->packet = p;
    r->n_fcs = FCS_BYTES;
    r->n_bytes = prefix + (uint64_t)p->len + FCS_BYTES;
    r->buffer_at = p->head - prefix;
    r->bytes = arena_alloc(r->a, r->n_bytes);
    memcpy(r->bytes, frame - prefix, prefix + p->len);
    frame_check_sequence(r->bytes + prefix + p->len, frame, p->len);
}

void interp_begin(struct run *r, struct interp *ip, unsigned gress, const struct sk_packet *p) {
    const struct ir_gress *g = &ip->pl->gress[gress];
    *r = (struct run){.ip = ip, .st = &ip->gress[gress], .g = g, .a = arena_new()};
    r->vars = ARENA_ARRAY(r->a, big, g->vars.n + 1);
    for (size_t i = 0; i < g->vars.n; i++)
        r->vars[i] = big_u64(r->a, 0);
    r->header_at = ARENA_ARRAY(r->a, uint64_t, g->headers.n + 1);
    r->sums = ARENA_ARRAY(r->a, struct running_sum, g->checksums.n + 1);
    r->taken = ARENA_ARRAY(r->a, bool, g->registers.n + 1);
    interp_undefined_begin(r);
    take_packet(r, p,
                gress == IR_INGRESS ? ip->program->ingress_prefix : ip->program->egress_prefix);
}

// Returns how many of the architecture's and the packet's bytes the parser consumed.
uint64_t interp_parse_packet(struct run *r) {
    interp_set_u64(r, r->g->intrinsic[IRI_GLOBAL_TSTAMP], r->packet->global_tstamp);
    interp_parse(r);
    uint64_t payload = r->n_bytes - r->n_fcs;
    uint64_t consumed = r->cursor < payload ? r->cursor : payload;
    interp_residuals(r, consumed);
    interp_trace_parsed(r, consumed);
    return consumed;
}

// The valid headers that are emitted, in order, then the bytes behind what was parsed.
typedef VEC(uint8_t) byte_vec;

static void emit_header(struct run *r, byte_vec *to, const struct ir_header *h) {
    big v = big_u64(r->a, 0);
    for (size_t i = 0; i < h->fields.n; i++)
        v = big_or(r->a, big_shl(r->a, v, h->fields.v[i]->width), interp_get(r, h->fields.v[i]));
    for (unsigned i = h->bits / 8; i-- > 0;)
        VEC_PUSH(r->a, to, (uint8_t)big_to_u64(big_shr(r->a, v, 8 * (uint64_t)i)));
    interp_trace_emitted(r, h, to->v + to->n - h->bits / 8);
}

static void emit_block_headers(struct run *r, byte_vec *to, const struct ir_block *b) {
    for (size_t i = 0; b && i < b->stmts.n; i++) {
        const struct ir_stmt *s = b->stmts.v[i];
        if (s->kind == IR_EMIT && interp_u64(r, s->header->valid))
            emit_header(r, to, s->header);
        else if (s->kind == IR_BLOCK)
            emit_block_headers(r, to, s->then_b);
    }
}

#define FIELD(r, name)    interp_u64(r, (r)->g->intrinsic[name])
#define IS_VALID(r, name) own_validity(r, (r)->g->intrinsic[name])

static bool own_validity(struct run *r, const struct ir_var *v) {
    return v && v->valid && interp_u64(r, v->valid);
}

static void deparsed(struct run *r, struct sk_packet *p, uint64_t consumed) {
    byte_vec bytes = {0};
    interp_block(r, r->g->leaving);
    interp_uses_leaving(r);
    emit_block_headers(r, &bytes, r->g->deparser);
    for (uint64_t i = consumed; i < r->n_bytes - r->n_fcs; i++)
        VEC_PUSH(r->a, &bytes, r->bytes[i]);
    // the payload stays where it is
    uint32_t end = p->head + p->len;
    if (bytes.n > end)
        abort(); // the engine guarantees SK_HEADROOM
    p->head = end - (uint32_t)bytes.n;
    p->len = (uint32_t)bytes.n;
    if (bytes.n)
        memcpy(p->buf + p->head, bytes.v, bytes.n);
    if (IS_VALID(r, IRI_MTU_TRUNC_LEN))
        sk_packet_truncate(p, (uint32_t)FIELD(r, IRI_MTU_TRUNC_LEN));
    for (size_t i = 0; i < r->g->deparser->stmts.n; i++)
        if (r->g->deparser->stmts.v[i]->kind == IR_COUNT_LEAVING)
            interp_count_leaving(r, r->g->deparser->stmts.v[i]->counter, p->len);
}

static uint32_t flow_message(struct run *r) {
    return IS_VALID(r, IRI_ADV_FLOW_CTL) ? (uint32_t)FIELD(r, IRI_ADV_FLOW_CTL) : 0;
}

static uint8_t drop_ctl_of(struct run *r) {
    return r->twice ? 7 : (uint8_t)FIELD(r, IRI_DROP_CTL);
}

static void ingress_outputs(struct run *r, struct sk_ingress_out *out) {
    out->ucast_valid = IS_VALID(r, IRI_UCAST_EGRESS_PORT);
    out->mcast_a_valid = IS_VALID(r, IRI_MCAST_GRP_A);
    out->mcast_b_valid = IS_VALID(r, IRI_MCAST_GRP_B);
    out->bypass_egress = FIELD(r, IRI_BYPASS_EGRESS);
    out->copy_to_cpu = FIELD(r, IRI_COPY_TO_CPU);
    out->drop_ctl = drop_ctl_of(r);
    out->twice = r->twice || FIELD(r, IRI_TWICE);
    out->consumed = !r->twice && FIELD(r, IRI_CONSUMED);
    out->qid = (uint8_t)FIELD(r, IRI_QID);
    out->ingress_cos = (uint8_t)FIELD(r, IRI_INGRESS_COS);
    out->icos_for_copy_to_cpu = (uint8_t)FIELD(r, IRI_ICOS_FOR_COPY_TO_CPU);
    out->color = (uint8_t)FIELD(r, IRI_PACKET_COLOR);
    out->deflect_on_drop = (uint8_t)FIELD(r, IRI_DEFLECT_ON_DROP);
    out->ucast_port = r->g->intrinsic[IRI_UCAST_EGRESS_PORT]
                          ? (uint16_t)FIELD(r, IRI_UCAST_EGRESS_PORT)
                          : SK_PORT_INVALID;
    out->adv_flow_ctl = flow_message(r);
    out->mcast_grp_a = (uint16_t)FIELD(r, IRI_MCAST_GRP_A);
    out->mcast_grp_b = (uint16_t)FIELD(r, IRI_MCAST_GRP_B);
    out->level1_exclusion_id = (uint16_t)FIELD(r, IRI_LEVEL1_EXCLUSION_ID);
    if (out->mcast_a_valid || out->mcast_b_valid) {
        out->level1_mcast_hash = (uint16_t)FIELD(r, IRI_LEVEL1_MCAST_HASH);
        out->level2_mcast_hash = (uint16_t)FIELD(r, IRI_LEVEL2_MCAST_HASH);
        out->level2_exclusion_id = (uint16_t)FIELD(r, IRI_LEVEL2_EXCLUSION_ID);
        out->rid = (uint16_t)FIELD(r, IRI_RID);
    }
}

static void asks_not(struct run *r, enum ir_intrinsic type) {
    const struct ir_var *v = r->g->intrinsic[type];
    interp_set_u64(r, v && v->valid ? v->valid : v, 0); // v may be null
}

static void control(struct run *r) {
    interp_set_u64(r, r->g->intrinsic[IRI_PARSER_ERR], r->parser_err);
    interp_block(r, r->g->control); // FLOW_EXIT ends it, not the deparser
    if (!r->twice)
        return;
    asks_not(r, IRI_DIGEST_TYPE);
    asks_not(r, IRI_MIRROR_TYPE);
    asks_not(r, IRI_RESUBMIT_TYPE);
}

static void deparse(struct run *r) {
    r->in_deparser = true;
    interp_block(r, r->g->deparser);
}

// tna-facts 5.2: an error drops the packet unless the control looks at errors; NO_MATCH always
// does.
static bool error_drops(const struct run *r) {
    return r->g->parser_err_used ? r->parser_err & SK_PARSER_NO_MATCH : r->parser_err != 0;
}

static void mirror_choice(struct run *r, struct sk_mirror_out *m) {
    if (!m->wanted)
        return;
    m->choice = (struct sk_mirror_choice){.port_valid = IS_VALID(r, IRI_MIRROR_EGRESS_PORT),
                                          .deflect = FIELD(r, IRI_MIRROR_DEFLECT_ON_DROP),
                                          .multicast = FIELD(r, IRI_MIRROR_MULTICAST_CTRL),
                                          .cos = (uint8_t)FIELD(r, IRI_MIRROR_INGRESS_COS),
                                          .qid = (uint8_t)FIELD(r, IRI_MIRROR_QID),
                                          .port = (uint16_t)FIELD(r, IRI_MIRROR_EGRESS_PORT),
                                          .hash = (uint16_t)FIELD(r, IRI_MIRROR_HASH)};
}

// The copy is of the packet as it leaves, not as it came.
static bool mirrors_leaving(struct run *r) {
    return r->g->intrinsic[IRI_MIRROR_IO_SELECT] ? FIELD(r, IRI_MIRROR_IO_SELECT)
                                                 : r->g->kind == IR_EGRESS;
}

void interp_ingress(struct interp *ip, struct sk_packet *p, struct sk_ingress_out *out) {
    struct run r;
    interp_begin(&r, ip, IR_INGRESS, p);
    r.out = out;
    *out = (struct sk_ingress_out){.on_mirror = out->on_mirror, .aux = out->aux};
    r.mirror = &out->mirror;
    uint64_t consumed = interp_parse_packet(&r);
    out->parser_err = (uint16_t)r.parser_err;
    out->parser_drop = error_drops(&r);
    if (!out->parser_drop) {
        control(&r);
        ingress_outputs(&r, out);
        deparse(&r);
        if (ip->program->ingress_prefix == SK_INGRESS_PREFIX_2) {
            out->resubmit = out->resubmit && !(out->drop_ctl & 1);
            out->mirror.wanted = out->mirror.wanted && !(out->drop_ctl & 4);
        }
        mirror_choice(&r, &out->mirror);
        bool leaving = mirrors_leaving(&r);
        if (out->mirror.wanted && !leaving && !out->resubmit && out->on_mirror)
            out->on_mirror(out->aux, p, &out->mirror);
        bool to_cpu = out->copy_to_cpu && !(out->drop_ctl & 2);
        bool copied = out->mirror.wanted && leaving;
        if (!out->resubmit && (!(out->drop_ctl & 1) || to_cpu || copied)) {
            deparsed(&r, p, consumed);
            if (copied && out->on_mirror)
                out->on_mirror(out->aux, p, &out->mirror);
        }
    }
    interp_compare_masks(&r);
    arena_free(r.a);
}

void interp_egress(struct interp *ip, struct sk_packet *p, struct sk_egress_out *out) {
    struct run r;
    interp_begin(&r, ip, IR_EGRESS, p);
    *out = (struct sk_egress_out){.on_mirror = out->on_mirror, .aux = out->aux};
    r.mirror = &out->mirror;
    uint64_t consumed = interp_parse_packet(&r);
    out->parser_err = (uint16_t)r.parser_err;
    control(&r);
    out->drop_ctl = drop_ctl_of(&r);
    out->twice = r.twice || FIELD(&r, IRI_TWICE);
    out->adv_flow_ctl = flow_message(&r);
    deparse(&r);
    mirror_choice(&r, &out->mirror);
    bool leaving = mirrors_leaving(&r), copied = out->mirror.wanted && !(out->drop_ctl & 4);
    out->mirror.told = out->mirror.wanted && !leaving;
    if (copied && !leaving && out->on_mirror)
        out->on_mirror(out->aux, p, &out->mirror);
    if (!(out->drop_ctl & 1) || (copied && leaving))
        deparsed(&r, p, consumed);
    interp_compare_masks(&r);
    arena_free(r.a);
}
