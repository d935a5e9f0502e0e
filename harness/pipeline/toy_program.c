// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/toy_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))
#define REACH    64u // bytes from a packet's start that egress may change

// ---- objects ----

static const struct sk_field_desc port_param[] = {{.name = "port", .width = 9}};
static const struct sk_field_desc wide_params[] = {
    {.name = "address", .width = 128}, {.name = "delta", .width = 16, .is_signed = true}};
static const struct sk_action_desc no_action = {.name = "NoAction"};
static const struct sk_action_desc send_action = {
    .name = "pipe.Ingress.send", .params = port_param, .n_params = 1, .data_words = 1};
static const struct sk_action_desc drop_action = {.name = "pipe.Ingress.drop"};
static const struct sk_action_desc wide_action = {
    .name = "pipe.Ingress.wide", .params = wide_params, .n_params = 2, .data_words = 3};
static const struct sk_action_desc miss_action = {.name = "pipe.Ingress.miss",
                                                  .default_only = true};

static const struct sk_action_desc *const actions[] = {&no_action, &send_action, &drop_action,
                                                       &wide_action, &miss_action};

static const struct sk_field_desc forward_keys[] = {
    {.name = "hdr.ethernet.dst_addr", .width = 48, .match = SK_EXACT}};
static const struct sk_field_desc acl_keys[] = {
    {.name = "hdr.ipv4.src_addr", .width = 32, .match = SK_TERNARY},
    {.name = "hdr.ipv4.dst_addr", .width = 32, .match = SK_TERNARY},
    {.name = "hdr.ipv4.$valid", .width = 1, .match = SK_EXACT},
    {.name = "hdr.vlan$1.id", .width = 12, .match = SK_TERNARY}};
static const struct sk_field_desc route_keys[] = {
    {.name = "md.vrf", .width = 8, .match = SK_EXACT},
    {.name = "hdr.ipv6.dst_addr", .width = 128, .match = SK_LPM}};
static const struct sk_field_desc range_keys[] = {
    {.name = "hdr.udp.dst_port", .width = 16, .match = SK_RANGE},
    {.name = "hdr.ipv4.ttl[7:4]", .width = 4, .match = SK_TERNARY}};

#define TABLE(id, table_name, key_array, words)                                                    \
    static const struct sk_table_desc id = {.name = table_name,                                    \
                                            .keys = key_array,                                     \
                                            .n_keys = N(key_array),                                \
                                            .key_words = words,                                    \
                                            .actions = actions,                                    \
                                            .n_actions = N(actions),                               \
                                            .size = 64,                                            \
                                            .has_counter = true,                                   \
                                            .counter_type = 2}
TABLE(forward_desc, "pipe.Ingress.forward", forward_keys, 1);
TABLE(acl_desc, "pipe.Ingress.acl", acl_keys, 4);
TABLE(route_desc, "pipe.Ingress.route", route_keys, 3);
TABLE(ports_desc, "pipe.Ingress.ports", range_keys, 2);
TABLE(egress_acl_desc, "pipe.Egress.acl", forward_keys, 1);

static const struct sk_table_desc *const tables[] = {&forward_desc, &acl_desc, &route_desc,
                                                     &ports_desc, &egress_acl_desc};

static const struct sk_register_desc registers[] = {
    {.name = "pipe.Ingress.count", .width = 32, .words = 1, .word_names = {"f1"}, .size = 512},
    {.name = "pipe.Ingress.pair",
     .width = 16,
     .words = 2,
     .is_signed = true,
     .word_names = {"low", "high"},
     .size = 4,
     .initial = {0xffff, 7}}};
static const struct sk_counter_desc counters[] = {
    {.name = "pipe.Ingress.seen", .type = 2, .size = SK_PORTS}};
static const struct sk_field_desc set_keys[] = {
    {.name = "hdr.ethernet.ether_type", .width = 16, .match = SK_TERNARY}};
static const struct sk_value_set_desc value_sets[] = {
    {.name = "pipe.IngressParser.types", .keys = set_keys, .n_keys = 1, .key_words = 1, .size = 4}};
static const struct sk_table_desc set_table = {.name = "pipe.IngressParser.types",
                                               .keys = set_keys,
                                               .n_keys = 1,
                                               .key_words = 1,
                                               .actions = actions,
                                               .n_actions = 1,
                                               .size = 4};

// ---- state ----

struct sk_pipe {
    struct sk_table *tables[N(tables)], *set;
    uint64_t count[512], pair[4][2];
    struct sk_counter_cell seen[SK_PORTS];
};

static void pipe_free(struct sk_pipe *s) {
    for (size_t i = 0; i < N(tables); i++)
        sk_table_free(s->tables[i]);
    sk_table_free(s->set);
    free(s);
}

static struct sk_pipe *pipe_new(uint64_t seed) {
    (void)seed;
    struct sk_pipe *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    for (size_t i = 0; i < N(tables); i++)
        s->tables[i] = sk_table_new(tables[i]);
    s->set = sk_table_new(&set_table);
    for (size_t i = 0; i < 4; i++)
        memcpy(s->pair[i], registers[1].initial, sizeof s->pair[i]);
    return s;
}

static struct sk_table *table(struct sk_pipe *s, uint32_t i) {
    return s->tables[i];
}

static struct sk_table *value_set(struct sk_pipe *s, uint32_t i) {
    (void)i;
    return s->set;
}

static uint64_t *cell(struct sk_pipe *s, uint32_t i, uint64_t index, uint32_t word) {
    return i == 0 ? &s->count[index] : &s->pair[index][word];
}

static uint64_t register_read(struct sk_pipe *s, uint32_t i, uint64_t index, uint32_t word) {
    return *cell(s, i, index, word);
}

static void register_write(struct sk_pipe *s, uint32_t i, uint64_t index, uint32_t word,
                           uint64_t value) {
    *cell(s, i, index, word) = value;
}

static struct sk_counter_cell *counter(struct sk_pipe *s, uint32_t i) {
    (void)i;
    return s->seen;
}

// ---- the packet path ----

static uint16_t get16(const uint8_t *at) {
    return (uint16_t)(at[0] << 8 | at[1]);
}

static void put16(uint8_t *at, uint16_t v) {
    at[0] = (uint8_t)(v >> 8);
    at[1] = (uint8_t)v;
}

static void put_wish(uint8_t *at, const struct toy_wish *w) {
    const uint16_t words[] = {w->ucast_port, w->group_a, w->group_b, w->l1_xid, w->l2_xid, w->rid};
    put16(at, w->flags);
    at[2] = w->drop_ctl;
    at[3] = w->hops;
    for (size_t i = 0; i < N(words); i++)
        put16(at + 4 + 2 * i, words[i]);
    at[16] = w->qid;
    at[17] = (uint8_t)(w->cos | w->color << 4);
}

static struct toy_wish get_wish(const uint8_t *at) {
    return (struct toy_wish){.flags = get16(at),
                             .drop_ctl = at[2],
                             .hops = at[3],
                             .ucast_port = get16(at + 4),
                             .group_a = get16(at + 6),
                             .group_b = get16(at + 8),
                             .l1_xid = get16(at + 10),
                             .l2_xid = get16(at + 12),
                             .rid = get16(at + 14),
                             .qid = at[16],
                             .cos = at[17] & 7,
                             .color = at[17] >> 4 & 3};
}

// Where the Ethernet header starts: behind what TOY_SHOW and TOY_GROW have put in front.
static uint8_t *find_frame(const struct sk_packet *p) {
    uint8_t *data = sk_packet_data(p);
    for (uint32_t i = 0; i + TOY_WISH_AT + TOY_WISH_BYTES <= p->len; i++)
        if (data[i] == 0xee && memcmp(data + i, "\xee\xee\xee\xee\xee\xee\xdd\xdd", 8) == 0)
            return data + i;
    return NULL;
}

static void prepend(struct sk_packet *p, const uint8_t *bytes, uint32_t n) {
    p->head -= n;
    p->len += n;
    memmove(sk_packet_data(p), bytes, n);
}

static void grant(const struct toy_wish *w, struct sk_ingress_out *out) {
    out->ucast_valid = w->flags & TOY_UCAST;
    out->mcast_a_valid = w->flags & TOY_GROUP_A;
    out->mcast_b_valid = w->flags & TOY_GROUP_B;
    out->copy_to_cpu = w->flags & TOY_CPU;
    out->bypass_egress = w->flags & TOY_BYPASS;
    out->drop_ctl = w->drop_ctl;
    out->ucast_port = w->ucast_port;
    out->mcast_grp_a = w->group_a;
    out->mcast_grp_b = w->group_b;
    out->level1_exclusion_id = w->l1_xid;
    out->level2_exclusion_id = w->l2_xid;
    out->rid = w->rid;
    out->qid = w->qid;
    out->ingress_cos = w->cos;
    out->color = w->color;
}

static void wished(struct sk_packet *p, uint8_t *frame, struct sk_ingress_out *out) {
    struct toy_wish w = get_wish(frame + TOY_WISH_AT);
    out->parser_drop = w.flags & TOY_PARSER_DROP;
    if ((w.flags & TOY_RESUBMIT && !p->resubmitted) || w.flags & TOY_RESUBMIT_AGAIN) {
        out->resubmit = true;
        memcpy(out->resubmit_data, "resubmit", 8);
        return;
    }
    grant(&w, out);
    if (w.hops > 0) {
        frame[TOY_WISH_AT + 3]--;
        out->ucast_valid = true;
        out->ucast_port = (uint16_t)((p->ingress_port & ~0x7f) | SK_RECIRCULATION_PORT);
    }
    if (w.flags & TOY_SHOW_INGRESS)
        prepend(p, sk_packet_data(p) - SK_INGRESS_PREFIX, SK_INGRESS_PREFIX);
    if (w.flags & TOY_GROW)
        prepend(p, (const uint8_t[TOY_GROWTH]){0}, TOY_GROWTH);
}

// The word for what is in 'out', which then is as it was but for the data of a resubmit.
static uint64_t in_a_word(const struct sk_packet *p, struct sk_ingress_out *out) {
    const struct sk_ingress_out o = *out;
    if (p->serial % 2 || o.parser_drop || o.mcast_b_valid || o.copy_to_cpu ||
        o.level2_exclusion_id || o.rid)
        return SK_WISHES_IN_OUT;
    sk_ingress_out_clear(out);
    memcpy(out->resubmit_data, o.resubmit_data, sizeof o.resubmit_data);
    return SK_WISH_PORT(o.ucast_port) | (o.ucast_valid ? SK_WISH_UCAST : 0) |
           (o.drop_ctl & 7ul) << SK_WISH_DROP_AT | (o.bypass_egress ? SK_WISH_BYPASS : 0) |
           (o.mcast_a_valid ? SK_WISH_MCAST_A : 0) | (o.resubmit ? SK_WISH_RESUBMIT : 0) |
           (o.qid & 0x7ful) << SK_WISH_QID_AT | (o.ingress_cos & 7ul) << SK_WISH_COS_AT |
           (o.color & 3ul) << SK_WISH_COLOR_AT | (uint64_t)o.mcast_grp_a << SK_WISH_MCAST_A_AT |
           (uint64_t)o.level1_exclusion_id << SK_WISH_EXCLUDE1_AT;
}

static uint64_t ingress(struct sk_pipe *s, struct sk_packet *p, struct sk_ingress_out *out) {
    uint8_t *frame = find_frame(p);
    s->count[p->ingress_port]++;
    s->seen[p->ingress_port].packets++;
    s->seen[p->ingress_port].bytes += p->len;
    if (frame) {
        wished(p, frame, out);
        return in_a_word(p, out);
    }
    uint64_t key = 0;
    for (int i = 0; i < 6; i++)
        key = key << 8 | sk_packet_data(p)[i];
    struct sk_entry *e = sk_table_lookup(s->tables[0], &key);
    if (!e)
        e = sk_table_default(s->tables[0]);
    out->ucast_valid = actions[e->action] == &send_action;
    if (out->ucast_valid)
        out->ucast_port = (uint16_t)e->data[0];
    out->drop_ctl = actions[e->action] == &drop_action;
    return in_a_word(p, out);
}

static uint64_t egress(struct sk_pipe *s, struct sk_packet *p, struct sk_egress_out *out) {
    (void)s;
    const uint8_t *frame = find_frame(p);
    if (!frame)
        return 0;
    struct toy_wish w = get_wish(frame + TOY_WISH_AT);
    out->drop_ctl = w.flags & TOY_EGRESS_DROP ? 1 : 0;
    if (w.flags & TOY_MARK) {
        uint8_t *const data = sk_packet_data(p);
        data[0] ^= 0xff;
        data[REACH - 1] ^= 0xff;
    }
    if (w.flags & TOY_SHOW_EGRESS)
        prepend(p, sk_packet_data(p) - SK_EGRESS_PREFIX, SK_EGRESS_PREFIX);
    if (p->serial % 2 == 0) {
        const uint64_t drop_ctl = out->drop_ctl;
        out->drop_ctl = 0;
        return drop_ctl << SK_WISH_DROP_AT;
    }
    return SK_WISHES_IN_OUT;
}

// ---- description ----

static const struct sk_field_desc port_fields[] = {
    {.name = "vrf", .width = 12},
    {.name = "zone", .width = 8, .is_signed = true},
    {.name = "rest", .width = 40},
};
static const struct sk_pipeline_desc pipeline = {
    .name = "pipe",
    .ingress = ingress,
    .egress = egress,
    .ingress_reach = UINT32_MAX,
    .egress_reach = REACH,
    .pipe_new = pipe_new,
    .pipe_free = pipe_free,
    .tables = tables,
    .n_tables = N(tables),
    .table = table,
    .registers = registers,
    .n_registers = N(registers),
    .register_read = register_read,
    .register_write = register_write,
    .counters = counters,
    .n_counters = N(counters),
    .counter = counter,
    .value_sets = value_sets,
    .n_value_sets = N(value_sets),
    .value_set = value_set,
    .port_fields = port_fields,
    .n_port_fields = N(port_fields),
};
static const struct sk_pipeline_desc *const pipelines[] = {&pipeline};

const struct sk_program_desc *silken_program(void) {
    static const struct sk_program_desc desc = {.abi_version = SK_ABI_VERSION,
                                                .ingress_prefix = SK_INGRESS_PREFIX,
                                                .egress_prefix = SK_EGRESS_PREFIX,
                                                .path = "toy.p4",
                                                .pipelines = pipelines,
                                                .n_pipelines = 1};
    return &desc;
}

void toy_frame(uint8_t frame[64], const struct toy_wish *w) {
    memset(frame, 0, 64);
    memset(frame, 0xee, 6);
    memset(frame + 6, 0xdd, 6);
    put16(frame + 12, TOY_ETHERTYPE);
    put_wish(frame + TOY_WISH_AT, w);
    for (uint8_t i = TOY_WISH_AT + TOY_WISH_BYTES; i < 64; i++)
        frame[i] = i;
}

struct sk_program *toy_load(void) {
    char error[256];
    struct sk_program *prog = sk_program_load(NULL, error, sizeof error);
    if (!prog) {
        fprintf(stderr, "toy program: %s\n", error);
        abort();
    }
    return prog;
}

int toy_setup(void **state, size_t size) {
    struct sk_program **first = calloc(1, size);
    if (!first)
        abort();
    *first = toy_load();
    *state = first;
    return 0;
}

int toy_teardown(void **state) {
    sk_program_free(*(struct sk_program **)*state);
    free(*state);
    return 0;
}

struct sk_switch *toy_switch(const struct sk_program *prog, const struct sk_switch_options *opt) {
    char error[256] = "";
    struct sk_switch *sw = sk_switch_new(prog, opt, error, sizeof error);
    if (!sw) {
        fprintf(stderr, "toy switch: %s\n", error);
        abort();
    }
    for (uint16_t port = 0; port < SK_PORTS; port++)
        if (sk_port_local(port) < 64)
            sk_switch_port_up(sw, port, true);
    return sw;
}

void toy_spread(struct sk_switch_options *opt, unsigned n) {
    opt->n_cores = n;
    for (unsigned i = 0; i < SK_PIPES; i++)
        opt->core_of[i] = (uint8_t)(i % n);
}
