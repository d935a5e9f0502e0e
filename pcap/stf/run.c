// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "control/tables/names.h"
#include "control/tables/port_metadata.h"
#include "control/tables/values.h"
#include "pcap/stf/run_impl.h"
#include "pipeline/switch/core.h"

#define NS_PER_PACKET 1000u

#define FIRST_OWN_MEMBER 0x80000000u

// ---- outputs ----

static bool stf_run_collect(void *aux, uint16_t port, const uint8_t *frame, uint32_t length) {
    struct run *r = aux;
    struct stf_outputs *o = &r->outputs;
    o->list = sk_grow(o->list, o->n, &o->room, sizeof *o->list);
    uint8_t *copy = malloc(length + 1);
    if (!copy)
        abort();
    memcpy(copy, frame, length);
    struct stf_output *out = &o->list[o->n++];
    out->port = port;
    out->length = length;
    out->bytes = copy;
    out->line = r->now->line;
    out->headers = NULL;
    return true;
}

// Of the last output: the switch tells that a packet was sent after it has handed it over.
static void stf_run_place_headers(struct run *r, uint64_t serial) {
    struct stf_output *last = r->outputs.n ? &r->outputs.list[r->outputs.n - 1] : NULL;
    if (!last || last->headers)
        return;
    last->headers = malloc(sizeof *last->headers);
    if (!last->headers)
        abort();
    journeys_find(r->journeys, serial, last->bytes, last->length, last->headers);
}

static void stf_run_follow(struct sk_observer *o, const struct sk_packet *p,
                           const struct sk_event *e) {
    struct run *r = (struct run *)o;
    struct sk_observer *next = r->opt->observer;
    journeys_follow(r->journeys, p, e);
    if (e->kind == SK_EV_SENT)
        stf_run_place_headers(r, p->serial);
    if (next && (next->everything || e->kind == SK_EV_VIOLATION))
        next->event(next, p, e);
}

// ---- messages ----

bool unusable(struct run *r, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fprintf(r->messages, "%s:%u: error: ", r->script->name, r->now->line);
    vfprintf(r->messages, format, ap);
    fputc('\n', r->messages);
    va_end(ap);
    return false;
}

void differs(struct run *r, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fprintf(r->messages, "%s:%u: ", r->script->name, r->now->line);
    vfprintf(r->messages, format, ap);
    fputc('\n', r->messages);
    va_end(ap);
    r->differences++;
    if (r->now->line < r->first_different)
        r->first_different = r->now->line;
}

bool done(struct run *r, int rc, const struct sk_error *err) {
    return rc == 0 || unusable(r, "%s", err->text);
}

// ---- tables ----

static bool ordered(const struct sk_object *table) {
    const struct sk_table_desc *d = table->desc->tables[table->index];
    for (uint32_t i = 0; i < d->n_keys; i++)
        if (d->keys[i].match == SK_TERNARY || d->keys[i].match == SK_RANGE)
            return true;
    return false;
}

static bool entry_spec(struct run *r, const struct stf_statement *s, struct sk_entry_spec *e) {
    struct sk_object table;
    struct sk_error err;
    int rc = sk_find_object(r->sw, SK_TABLE, s->name, &table, &err);
    if (rc)
        return done(r, rc, &err);
    *e = (struct sk_entry_spec){.table = s->name,
                                .keys = s->keys,
                                .n_keys = s->n_keys,
                                .has_priority = s->has_priority && ordered(&table),
                                .priority = r->opt->smaller_priority_wins
                                                ? s->priority
                                                : (int64_t)SK_MAX_PRIORITY - s->priority,
                                .action = s->action,
                                .member = s->member,
                                .group = s->group,
                                .args = s->args,
                                .n_args = s->n_args,
                                .pipe = s->has_pipe ? (int)s->pipe : -1};
    return true;
}

// Test generators give an entry's action also where the table has an action profile: a member is
// made for it. It stays when the entry goes, like any other.
static int add_with_member(struct run *r, struct sk_entry_spec *e,
                           const struct sk_table_desc *profile, struct sk_error *err) {
    char id[16];
    snprintf(id, sizeof id, "%u", FIRST_OWN_MEMBER + r->own_members++);
    struct sk_named_value key = {"$ACTION_MEMBER_ID", id};
    struct sk_named_value *args = malloc((e->n_args + 1) * sizeof *args);
    if (!args)
        abort();
    size_t own = 0, after = e->n_args; // the action's, and after them the entry's: "$ENTRY_TTL"
    for (size_t i = 0; i < e->n_args; i++)
        args[e->args[i].name[0] == '$' ? --after : own++] = e->args[i];
    struct sk_entry_spec member = {.table = profile->name,
                                   .keys = &key,
                                   .n_keys = 1,
                                   .action = e->action,
                                   .args = args,
                                   .n_args = own,
                                   .pipe = -1};
    struct sk_error ignored;
    int rc = sk_control_entry_add(r->sw, &member, err);
    bool made = rc == 0;
    e->action = NULL;
    e->member = id;
    e->args = args + after;
    e->n_args -= own;
    if (made)
        rc = sk_control_entry_add(r->sw, e, err);
    if (made && rc)
        sk_control_entry_delete(r->sw, &member, &ignored);
    free(args);
    return rc;
}

static bool run_add(struct run *r, const struct stf_statement *s) {
    struct sk_entry_spec e;
    struct sk_error err;
    struct sk_object table;
    if (!entry_spec(r, s, &e) || sk_find_object(r->sw, SK_TABLE, s->name, &table, &err))
        return false;
    const struct sk_table_desc *d = table.desc->tables[table.index];
    int rc = d->profile && e.action ? add_with_member(r, &e, d->profile, &err)
                                    : sk_control_entry_add(r->sw, &e, &err);
    return done(r, rc, &err);
}

static bool run_setdefault(struct run *r, const struct stf_statement *s) {
    struct sk_entry_spec e;
    struct sk_error err;
    return entry_spec(r, s, &e) && done(r, sk_control_default_set(r->sw, &e, &err), &err);
}

static bool run_remove(struct run *r, const struct stf_statement *s) {
    struct sk_entry_spec e;
    struct sk_error err;
    return entry_spec(r, s->target, &e) && done(r, sk_control_entry_delete(r->sw, &e, &err), &err);
}

static bool clear_tables(struct run *r, bool profiles) {
    struct sk_object table;
    struct sk_error err;
    for (size_t i = 0; sk_object_at(r->sw, SK_TABLE, i, &table); i++)
        if (table.desc->tables[table.index]->is_profile == profiles &&
            !done(r, sk_control_table_clear(r->sw, NULL, sk_object_name(&table), -1, &err), &err))
            return false;
    return true;
}

// First what names groups and members.
static bool run_remove_all(struct run *r, const struct stf_statement *s) {
    (void)s;
    struct sk_object selector;
    struct sk_error err;
    if (!clear_tables(r, false))
        return false;
    for (size_t i = 0; sk_object_at(r->sw, SK_SELECTOR, i, &selector); i++)
        if (!done(r, sk_control_group_clear(r->sw, sk_object_name(&selector), -1, &err), &err))
            return false;
    return clear_tables(r, true);
}

static bool run_table_clear(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    return done(r, sk_control_table_clear(r->sw, NULL, s->name, -1, &err), &err);
}

static bool run_value_set_remove(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    return done(r, sk_control_value_set_delete(r->sw, s->name, s->keys, s->n_keys, &err), &err);
}

static bool run_value_set_clear(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    return done(r, sk_control_value_set_clear(r->sw, s->name, &err), &err);
}

static bool run_value_set(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    return done(r, sk_control_value_set_add(r->sw, s->name, s->keys, s->n_keys, &err), &err);
}

// ---- packets ----

// Of the packet that was sent last.
static void stf_run_note_drops(struct run *r) {
    const struct sk_switch_stats before = r->stats;
    struct stf_outputs *o = &r->outputs;
    sk_switch_stats(r->sw, &r->stats);
    for (unsigned reason = 0; r->sent_line && reason < SK_DROP_COUNT; reason++) {
        const uint64_t packets = r->stats.drops[reason] - before.drops[reason];
        if (packets == 0)
            continue;
        o->fates = sk_grow(o->fates, o->n_fates, &o->fates_room, sizeof *o->fates);
        o->fates[o->n_fates++] = (struct stf_fate){r->sent_line, reason, packets};
    }
}

static bool run_packet(struct run *r, const struct stf_statement *s) {
    uint32_t length = (uint32_t)(s->n_nibbles / 2);
    uint8_t *frame = malloc(length);
    if (!frame)
        abort();
    for (uint32_t i = 0; i < length; i++)
        frame[i] = (uint8_t)(s->nibbles[2 * i] << 4 | s->nibbles[2 * i + 1]);
    r->clock_ns += NS_PER_PACKET;
    r->outputs_before = r->outputs.n;
    r->something_happened = true;
    stf_run_note_drops(r);
    r->sent_line = s->line;
    bool taken = sk_switch_rx(r->sw, s->port, frame, length, r->clock_ns);
    free(frame);
    if (!taken)
        return unusable(r, "a port cannot receive a packet of %u bytes; it accepts 14 to 9216",
                        length);
    sk_switch_run(r->sw, r->clock_ns);
    return true;
}

static bool run_nothing(struct run *r, const struct stf_statement *s) {
    (void)r;
    (void)s;
    return true;
}

// Until no port has a packet that waits to be sent.
void stf_settle(struct run *r) {
    for (uint64_t t; (t = sk_core_next(sk_switch_core(r->sw, 0), false)) != UINT64_MAX;) {
        r->clock_ns = t > r->clock_ns ? t : r->clock_ns;
        sk_switch_run(r->sw, r->clock_ns);
    }
}

static bool run_wait(struct run *r, const struct stf_statement *s) {
    (void)s;
    stf_settle(r);
    return true;
}

static bool run_no_packet(struct run *r, const struct stf_statement *s) {
    (void)s;
    if (!r->something_happened)
        return unusable(r, "no packet has been sent yet: 'no_packet' refers to the last one");
    stf_settle(r);
    size_t n = r->outputs.n - r->outputs_before;
    if (n > 0)
        differs(r, "%zu packet%s came out, the first on port %u", n, n == 1 ? "" : "s",
                r->outputs.list[r->outputs_before].port);
    return true;
}

// ---- counters and registers ----

const char *const stf_op_text[] = {"==", "!=", "<", "<=", ">", ">="};

static bool stf_run_holds(int order, enum stf_op op) {
    switch (op) {
    case STF_EQ:
        return order == 0;
    case STF_NE:
        return order != 0;
    case STF_LT:
        return order < 0;
    case STF_LE:
        return order <= 0;
    case STF_GT:
        return order > 0;
    default:
        return order >= 0;
    }
}

// What a counter does not count is always zero: checking that would check nothing.
static bool stf_run_counts(struct run *r, const struct stf_statement *s) {
    struct sk_object o;
    struct sk_error err;
    if (!done(r, sk_find_object(r->sw, SK_COUNTER, s->name, &o, &err), &err))
        return false;
    uint8_t type = o.desc->counters[o.index].type;
    if (type == (s->bytes ? 0 : 1))
        return unusable(r, "counter '%s' counts %s only", s->name, s->bytes ? "packets" : "bytes");
    return true;
}

static bool run_check_counter(struct run *r, const struct stf_statement *s) {
    struct sk_counter_cell sum;
    struct sk_error err;
    if (!stf_run_counts(r, s) ||
        !done(r, sk_control_counter_read(r->sw, s->name, s->index, &sum, &err), &err))
        return false;
    uint64_t got = s->bytes ? sum.bytes : sum.packets;
    if (!stf_run_holds(got < s->number ? -1 : got > s->number, s->op))
        differs(r, "counter %s(%llu) has %llu %s, expected %s %llu", s->name,
                (unsigned long long)s->index, (unsigned long long)got,
                s->bytes ? "bytes" : "packets", stf_op_text[s->op], (unsigned long long)s->number);
    return true;
}

static bool run_register_write(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    if (s->n_keys > 0)
        return stf_run_direct_write(r, s);
    int rc = sk_control_register_write(r->sw, s->name, s->index, s->field, s->value, -1, &err);
    return done(r, rc, &err);
}

int stf_compare_words(uint64_t a, uint64_t b, const struct sk_field_desc *f) {
    if (f->is_signed) { // moves the sign bit to where an unsigned comparison sees it right
        a ^= (uint64_t)1 << (f->width - 1);
        b ^= (uint64_t)1 << (f->width - 1);
    }
    return a < b ? -1 : a > b;
}

static bool run_register_read(struct run *r, const struct stf_statement *s) {
    uint64_t got[SK_PIPES][2], want[2];
    struct sk_object o;
    struct sk_error err;
    if (s->n_keys > 0)
        return stf_run_direct_read(r, s);
    int rc = sk_control_register_read_words(r->sw, s->name, s->index, s->field, got, &err);
    if (rc == 0)
        rc = sk_find_object(r->sw, SK_REGISTER, s->name, &o, &err);
    if (rc)
        return done(r, rc, &err);
    const struct sk_register_desc *d = &o.desc->registers[o.index];
    const struct sk_field_desc f = sk_register_field(d);
    if (!done(r, sk_value_parse(s->value, &f, want, &err), &err))
        return false;
    char text[80];
    sk_value_format(text, sizeof text, &f, got[s->number]);
    const uint64_t *have = got[s->number];
    // of a value of 128 bits the upper half decides
    int order = d->wide && have[1] != want[1] ? (have[1] < want[1] ? -1 : 1)
                : d->wide                     ? (have[0] < want[0] ? -1 : have[0] > want[0])
                                              : stf_compare_words(have[0], want[0], &f);
    if (!stf_run_holds(order, s->op))
        differs(r, "register %s, index %llu%s%s, pipe %u is %s, expected %s %s", s->name,
                (unsigned long long)s->index, s->field ? ", field " : "", s->field ? s->field : "",
                (unsigned)s->number, text, stf_op_text[s->op], s->value);
    return true;
}

static bool run_register_reset(struct run *r, const struct stf_statement *s) {
    struct sk_object o;
    struct sk_error err;
    if (!done(r, sk_find_object(r->sw, SK_REGISTER, s->name, &o, &err), &err))
        return false;
    const struct sk_register_desc *d = &o.desc->registers[o.index];
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        for (uint64_t i = 0; sk_object_in_pipe(r->sw, &o, pipe) && i < d->size; i++)
            for (uint32_t w = 0; w < d->words; w++)
                o.desc->register_write(sk_switch_pipe(r->sw, pipe), o.index, i, w, d->initial[w]);
    return true;
}

// ---- ports and replication ----

static bool run_port_metadata(struct run *r, const struct stf_statement *s) {
    uint8_t md[SK_RESUBMIT_BYTES];
    const size_t n = s->n_nibbles == 16 ? 8 : SK_RESUBMIT_BYTES; // the parser takes no other
    struct sk_error err;
    if (s->n_keys > 0)
        return done(r, sk_control_port_metadata(r->sw, s->port, s->keys, s->n_keys, &err), &err);
    if (n > 8 && sk_switch_program(r->sw)->ingress_prefix == SK_INGRESS_PREFIX)
        return unusable(r, "port metadata is 8 bytes on a Tofino 1");
    for (size_t i = 0; i < n; i++)
        md[i] = (uint8_t)(s->nibbles[2 * i] << 4 | s->nibbles[2 * i + 1]);
    sk_switch_port_metadata(r->sw, s->port, md, n);
    return true;
}

static bool run_loopback(struct run *r, const struct stf_statement *s) {
    sk_switch_port_loopback(r->sw, s->port, true);
    return true;
}

bool pre_done(struct run *r, int rc) {
    if (rc == -EINVAL)
        return unusable(r, "a port or a LAG is given twice");
    return rc == 0 || unusable(r, "%s", strerror(-rc));
}

static bool run_group_create(struct run *r, const struct stf_statement *s) {
    if (r->groups[s->index])
        return unusable(r, "group %llu exists already", (unsigned long long)s->index);
    r->groups[s->index] = true;
    return pre_done(r, sk_pre_group_set(r->sw, (uint16_t)s->index, NULL, 0));
}

static bool run_node_create(struct run *r, const struct stf_statement *s) {
    r->nodes = sk_resize(r->nodes, r->n_nodes + 1, sizeof *r->nodes);
    r->nodes[r->n_nodes] = (struct node){.rid = (uint16_t)s->index};
    return pre_done(r, sk_pre_node_set_lags(r->sw, r->n_nodes++, (uint16_t)s->index, s->ports,
                                            s->n_ports, s->lags, s->n_lags));
}

bool find_node(struct run *r, uint64_t number) {
    return number < r->n_nodes || unusable(r, "there is no node %llu; %u have been created, from 0",
                                           (unsigned long long)number, r->n_nodes);
}

static bool run_node_update(struct run *r, const struct stf_statement *s) {
    return find_node(r, s->index) &&
           pre_done(r, sk_pre_node_set_lags(r->sw, (uint32_t)s->index, r->nodes[s->index].rid,
                                            s->ports, s->n_ports, s->lags, s->n_lags));
}

bool set_group(struct run *r, uint32_t group) {
    struct sk_pre_member *members = malloc((r->n_nodes + r->n_ecmps + 1) * sizeof *members);
    if (!members)
        abort();
    size_t n = 0;
    for (uint32_t i = 0; i < r->n_nodes; i++)
        if (r->nodes[i].in_group && r->nodes[i].group == group)
            members[n++] = r->nodes[i].member;
    for (size_t i = 0; i < r->n_ecmps; i++)
        if (r->ecmps[i].group == group)
            members[n++] = r->ecmps[i].member;
    int rc = sk_pre_group_set(r->sw, (uint16_t)group, members, n);
    free(members);
    return pre_done(r, rc);
}

static bool run_node_associate(struct run *r, const struct stf_statement *s) {
    if (!find_node(r, s->number))
        return false;
    if (!r->groups[s->index])
        return unusable(r, "there is no group %llu", (unsigned long long)s->index);
    struct node *n = &r->nodes[s->number];
    if (n->in_group)
        return unusable(r, "node %llu is in group %u already", (unsigned long long)s->number,
                        n->group);
    n->in_group = true;
    n->group = (uint32_t)s->index;
    n->member = (struct sk_pre_member){.node = (uint32_t)s->number,
                                       .l1_xid_valid = s->has_priority,
                                       .l1_xid = (uint16_t)s->priority};
    return set_group(r, n->group);
}

static bool run_prune(struct run *r, const struct stf_statement *s) {
    return pre_done(r, sk_pre_prune_set(r->sw, (uint16_t)s->index, s->ports, s->n_ports));
}

// ---- for the statements in other files ----

struct sk_switch *stf_switch(struct run *r) {
    return r->sw;
}

bool stf_unusable(struct run *r, const char *format, ...) {
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return unusable(r, "%s", text);
}

void stf_differs(struct run *r, const char *format, ...) {
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    differs(r, "%s", text);
}

void stf_print(struct run *r, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fprintf(r->messages, "%s:%u: ", r->script->name, r->now->line);
    vfprintf(r->messages, format, ap);
    fputc('\n', r->messages);
    va_end(ap);
}

bool stf_done(struct run *r, int rc, const struct sk_error *err) {
    return done(r, rc, err);
}

bool stf_holds(int order, enum stf_op op) {
    return stf_run_holds(order, op);
}

uint64_t *stf_clock(struct run *r) {
    return &r->clock_ns;
}

bool stf_entry_spec(struct run *r, const struct stf_statement *s, const char *table,
                    struct sk_entry_spec *e) {
    struct stf_statement of_table = *s;
    of_table.name = table;
    return entry_spec(r, &of_table, e);
}

struct stf_idle **stf_idle(struct run *r) {
    return &r->idle;
}

// ---- the script ----

static bool (*const runners[])(struct run *r, const struct stf_statement *s) = {
    [STF_ADD] = run_add,
    [STF_SETDEFAULT] = run_setdefault,
    [STF_REMOVE] = run_remove,
    [STF_REMOVE_ALL] = run_remove_all,
    [STF_PACKET] = run_packet,
    [STF_EXPECT] = run_nothing, // compared at the end: it may precede its packet
    [STF_NO_PACKET] = run_no_packet,
    [STF_WAIT] = run_wait,
    [STF_CHECK_COUNTER] = run_check_counter,
    [STF_REGISTER_WRITE] = run_register_write,
    [STF_REGISTER_READ] = run_register_read,
    [STF_REGISTER_RESET] = run_register_reset,
    [STF_VALUE_SET] = run_value_set,
    [STF_PORT_METADATA] = run_port_metadata,
    [STF_LOOPBACK] = run_loopback,
    [STF_GROUP_CREATE] = run_group_create,
    [STF_NODE_CREATE] = run_node_create,
    [STF_NODE_UPDATE] = run_node_update,
    [STF_NODE_ASSOCIATE] = run_node_associate,
    [STF_PRUNE] = run_prune,
    [STF_ADVANCE_TIME] = stf_run_time,
    [STF_SET_TIME] = stf_run_time,
    [STF_METER_WRITE] = stf_run_meter_write,
    [STF_METER_RATES] = stf_run_meter_rates,
    [STF_METER_GET] = stf_run_meter_get,
    [STF_METER_RESET] = stf_run_meter_reset,
    [STF_CHECK_METER] = stf_run_check_meter,
    [STF_COUNTER_READ] = stf_run_counter,
    [STF_COUNTER_WRITE] = stf_run_counter,
    [STF_COUNTER_CLEAR] = stf_run_counter,
    [STF_CHECK_ENTRY_COUNTER] = stf_run_entry_counter,
    [STF_ENTRY_WRITE] = stf_run_entry_write,
    [STF_CHECK_ENTRY] = stf_run_check_entry,
    [STF_EXPECT_IDLE] = stf_run_expect_idle,
    [STF_EXPECT_ACTIVE] = stf_run_expect_idle,
    [STF_NO_IDLE] = stf_run_no_idle,
    [STF_UPDATE_HIT_STATE] = stf_run_update_hit_state,
    [STF_TM] = run_tm,
    [STF_MEMBER] = stf_run_member,
    [STF_MEMBER_REMOVE] = stf_run_member_remove,
    [STF_GROUP] = stf_run_group,
    [STF_GROUP_REMOVE] = stf_run_group_remove,
    [STF_GET_MEMBER] = stf_run_get_member,
    [STF_GET_INDEX] = stf_run_get_index,
    [STF_HASH_FIELDS] = stf_run_hash_fields,
    [STF_HASH_ALGORITHM] = stf_run_hash_algorithm,
    [STF_HASH_RESET] = stf_run_hash_reset,
    [STF_HASH_COMPUTE] = stf_run_hash_compute,
    [STF_KEY_MASK] = stf_run_key_mask,
    [STF_VALUE_SET_REMOVE] = run_value_set_remove,
    [STF_VALUE_SET_CLEAR] = run_value_set_clear,
    [STF_TABLE_CLEAR] = run_table_clear,
    [STF_HINT] = run_nothing,
};

// A statement that must be refused; what it is refused with is not shown.
static void run_refused(struct run *r) {
    FILE *messages = r->messages, *nowhere = fopen("/dev/null", "w");
    if (nowhere)
        r->messages = nowhere;
    bool accepted = runners[r->now->kind](r, r->now);
    r->messages = messages;
    if (nowhere)
        fclose(nowhere);
    if (accepted)
        differs(r, "this was not refused");
}

static enum stf_result stf_run_execute(struct run *r) {
    for (size_t i = 0; i < r->script->n; i++) {
        r->now = &r->script->list[i];
        if (r->now->kind == STF_ADVANCE_TIME || r->now->kind == STF_SET_TIME) {
            r->outputs_before = r->outputs.n; // what comes out is the clock's doing
            r->something_happened = true;
        }
        if (r->now->refused)
            run_refused(r);
        else if (!runners[r->now->kind](r, r->now)) {
            stf_print_hint(r->script, r->now->line, r->messages);
            return STF_UNUSABLE;
        }
    }
    stf_settle(r);
    struct sk_digest left;
    if (r->digests_expected && sk_digest_read(r->sw, &r->digests, &left))
        differs(r, "an unexpected digest of '%s'", left.desc->name);
    stf_run_note_drops(r);
    r->differences += stf_match(r->script, &r->outputs, &r->first_different, r->messages);
    if (r->differences > 0)
        stf_print_hint(r->script, r->first_different, r->messages);
    return r->differences > 0 ? STF_FAIL : STF_PASS;
}

// SK_PORT_INVALID can send and not receive: programs write it for "nowhere".
static void raise_ports(struct sk_switch *sw) {
    for (uint16_t port = 0; port < SK_PORTS; port++)
        if (port != SK_PORT_INVALID)
            sk_switch_port_up(sw, port, true);
}

// Nothing can be attached to the internal ports of a Tofino 2, which have the smallest numbers:
// where a script sends packets or expects them, it means a port like others.
static void attach_ports(struct sk_switch *sw, const struct stf_script *s) {
    if (sk_switch_program(sw)->ingress_prefix != SK_INGRESS_PREFIX_2)
        return;
    for (size_t i = 0; i < s->n; i++)
        if (s->list[i].kind == STF_PACKET || s->list[i].kind == STF_EXPECT)
            sk_switch_port_external(sw, s->list[i].port);
}

enum stf_result stf_run(const struct stf_script *s, const struct sk_program *prog,
                        const struct stf_options *opt, FILE *messages) {
    struct run r = {.script = s, .opt = opt, .messages = messages, .first_different = UINT_MAX};
    char error[256];
    r.groups = calloc(UINT16_MAX + 1, sizeof *r.groups);
    r.sw = sk_switch_new(
        prog, &(struct sk_switch_options){.tx = stf_run_collect, .aux = &r, .any_port = true},
        error, sizeof error);
    enum stf_result result = STF_UNUSABLE;
    if (!r.groups || !r.sw) {
        fprintf(messages, "%s: error: %s\n", s->name, r.sw ? "not enough memory" : error);
    } else {
        r.observer = (struct sk_observer){.everything = true, .event = stf_run_follow};
        r.journeys = opt->fields ? journeys_new() : NULL;
        sk_core_observe(sk_switch_core(r.sw, 0), opt->fields ? &r.observer : opt->observer);
        raise_ports(r.sw);
        attach_ports(r.sw, s);
        sk_digest_reader_init(r.sw, &r.digests);
        result = stf_run_execute(&r);
    }
    sk_switch_free(r.sw);
    journeys_free(r.journeys);
    for (size_t i = 0; i < r.outputs.n; i++) {
        free(r.outputs.list[i].headers);
        free(r.outputs.list[i].bytes);
    }
    free(r.outputs.list);
    free(r.outputs.fates);
    free(r.nodes);
    stf_idle_free(r.idle);
    free(r.groups);
    free(r.ecmps);
    return result;
}
