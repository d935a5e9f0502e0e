// SPDX-License-Identifier: Apache-2.0
//
// compare: runs a scenario on the builds of a program and on the interpreter, and compares what
// comes out: outputs and bytes after each packet; registers, counters and hits at the end. With a
// checked build among them the interpreter also finds uses of undefined bits, which that build must
// report at the same places; and all is run a second time, the interpreter with the instrumented
// program: then the two must report the same violations, packet by packet, and masks must be, bit
// by bit, what the interpreter finds to be undefined.
//
// A build may go on by itself with a packet that goes past egress to a port that recirculates
// (pipeline/hop.h): all ports are such here. How often the first build did is how often the others
// are run for the packet, one pass after the other where they do not go on themselves.
#include <endian.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/interp/event.h"
#include "harness/interp/scenario.h"
#include "pipeline/hop.h"
#include "pipeline/trace.h"

#define BUFFER_BYTES 8192u
// Of a packet: there is room in front of it when it has grown.
#define START     (2 * SK_HEADROOM)
#define FILL      0xee
#define MOST_HOPS 3u
// Of reports about one packet that are compared; what is cut off is cut off on both sides.
#define REPORT_BYTES (1u << 18)

struct side {                    // one build, or the interpreter
    struct sk_observer observer; // first: 'hear' gets its address
    const char *name;
    bool checked;            // what it reports is to be compared
    bool finds_uses;         // the interpreter: it finds uses by itself
    char said[REPORT_BYTES]; // of this packet, a line each
    size_t n_said;
    char uses[REPORT_BYTES]; // places of those that are uses of something undefined
    size_t n_uses;
    const struct sk_pipeline_desc *pl; // null: the interpreter
    struct sk_pipe *pipe;
    struct interp *ip;
    struct sk_packet packet;
    uint8_t buffer[BUFFER_BYTES];
    struct sk_ingress_out in_out;
    struct sk_egress_out out_out;
    const struct op *op; // the packet, as received
    unsigned prefix, copies;
    bool changed; // a copy was not of the packet as received
};
struct rig {
    struct side sides[SUBJECT_MAX_BUILDS + 1]; // the interpreter first
    size_t n;
    struct interp *ip;
    const struct ir_program *program;
    const struct subject *subject;
    struct sk_hop hops[SK_PORTS];
    FILE *report;
    size_t op; // number of the line that is run
    bool wrong_mask;
};

unsigned scenario_violations[SK_VIOLATION_COUNT], scenario_events[SK_EV_COUNT];

static bool differs(struct rig *r, const struct side *s, const char *what, uint64_t real,
                    uint64_t wanted) {
    if (real == wanted)
        return false;
    fprintf(r->report,
            "line %zu: %s: the %s build has 0x%" PRIx64 ", the interpreter 0x%" PRIx64 "\n",
            r->op + 1, what, s->name, real, wanted);
    return true;
}

// --------------------------------------------------------------------------------------------
// Control plane. The builds' descriptions name the same objects in the same order as interp.h.

static int find_register(const struct sk_pipeline_desc *pl, const char *name) {
    for (uint32_t i = 0; i < pl->n_registers; i++)
        if (strcmp(pl->registers[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int find_value_set(const struct sk_pipeline_desc *pl, const char *name) {
    for (uint32_t i = 0; i < pl->n_value_sets; i++)
        if (strcmp(pl->value_sets[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int find_action(const struct sk_table_desc *t, const char *name) {
    for (uint32_t i = 0; i < t->n_actions; i++)
        if (strcmp(t->actions[i]->name, name) == 0)
            return (int)i;
    return -1;
}

// Has the interpreter an entry with this key?
static bool has_entry(const struct interp_table *t, const struct op *op, bool by_priority) {
    for (size_t i = 0; i < t->n; i++) {
        const struct interp_entry *e = t->entries[i];
        size_t n = op->value.n * sizeof(uint64_t);
        if (memcmp(e->value, op->value.v, n) == 0 && memcmp(e->mask, op->mask.v, n) == 0 &&
            (!by_priority || e->priority == op->priority))
            return true;
    }
    return false;
}

static bool prioritised(const struct sk_table_desc *t) {
    for (uint32_t i = 0; i < t->n_keys; i++)
        if (t->keys[i].match == SK_TERNARY || t->keys[i].match == SK_RANGE)
            return true;
    return false;
}

static bool run_entry(struct rig *r, const struct op *op) {
    int table = interp_find_table(r->ip, op->name);
    int results[SUBJECT_MAX_BUILDS + 1] = {0}, action = -1;
    if (table < 0)
        return true;
    const struct sk_table_desc *d = r->sides[1].pl->tables[table];
    action = find_action(d, op->action);
    if (action < 0 || d->key_words != op->value.n || d->key_words != op->mask.n ||
        d->actions[action]->data_words != op->data.n)
        return true;
    struct interp_table *t = interp_table(r->ip, (unsigned)table);
    for (size_t i = 1; i < r->n; i++) {
        struct side *s = &r->sides[i];
        results[i] = sk_table_add(s->pl->table(s->pipe, (uint32_t)table), op->value.v, op->mask.v,
                                  op->priority, (uint32_t)action, op->data.v);
        if (differs(r, s, "result of adding the entry", (uint64_t)(int64_t)results[i],
                    (uint64_t)(int64_t)results[1]))
            return false;
    }
    bool exists = has_entry(t, op, prioritised(d));
    bool legal = results[1] == SK_OK         ? !exists
                 : results[1] == SK_E_FULL   ? t->n >= d->size
                 : results[1] == SK_E_EXISTS ? exists
                                             : true;
    if (!legal)
        fprintf(r->report, "line %zu: adding the entry: %s\n", r->op + 1,
                sk_table_strerror(results[1]));
    else if (results[1] == SK_OK)
        interp_add(r->ip, (unsigned)table, op->value.v, op->mask.v, op->priority, (unsigned)action,
                   op->data.v);
    return legal;
}

static bool run_default(struct rig *r, const struct op *op) {
    int table = interp_find_table(r->ip, op->name), first = SK_OK;
    if (table < 0)
        return true;
    const struct sk_table_desc *d = r->sides[1].pl->tables[table];
    int action = find_action(d, op->action);
    if (action < 0 || d->actions[action]->data_words != op->data.n)
        return true;
    for (size_t i = 1; i < r->n; i++) {
        struct side *s = &r->sides[i];
        int result = sk_table_set_default(s->pl->table(s->pipe, (uint32_t)table), (uint32_t)action,
                                          op->data.v);
        first = i == 1 ? result : first;
        if (differs(r, s, "result of setting the default action", (uint64_t)(int64_t)result,
                    (uint64_t)(int64_t)first))
            return false;
    }
    if (first == SK_OK)
        interp_set_default(r->ip, (unsigned)table, (unsigned)action, op->data.v);
    return true;
}

static bool run_member(struct rig *r, const struct op *op) {
    int set = find_value_set(r->sides[1].pl, op->name), first = SK_OK;
    if (set < 0 || r->sides[1].pl->value_sets[set].key_words != op->value.n)
        return true;
    for (size_t i = 1; i < r->n; i++) {
        struct side *s = &r->sides[i];
        int result = sk_table_add(s->pl->value_set(s->pipe, (uint32_t)set), op->value.v, op->mask.v,
                                  0, 0, NULL);
        first = i == 1 ? result : first;
        if (differs(r, s, "result of adding to the value set", (uint64_t)(int64_t)result,
                    (uint64_t)(int64_t)first))
            return false;
    }
    if (first == SK_OK)
        interp_value_set_add(r->ip, (unsigned)set, op->value.v, op->mask.v);
    return true;
}

// Did all builds answer the same? Then their answer is in '*result'.
static bool agree(struct rig *r, const char *what, size_t i, int answer, int *result) {
    *result = i == 1 ? answer : *result;
    return !differs(r, &r->sides[i], what, (uint64_t)(int64_t)answer, (uint64_t)(int64_t)*result);
}

static int find_table_desc(const struct sk_pipeline_desc *pl, const char *name) {
    for (uint32_t i = 0; i < pl->n_tables; i++)
        if (strcmp(pl->tables[i]->name, name) == 0)
            return (int)i;
    return -1;
}

static bool run_profile(struct rig *r, const struct op *op) {
    int profile = interp_find_profile(r->ip, op->name), result = SK_OK;
    int table = find_table_desc(r->sides[1].pl, op->name);
    if (profile < 0 || table < 0)
        return true;
    const struct sk_table_desc *d = r->sides[1].pl->tables[table];
    int action = find_action(d, op->action);
    if (action < 0 || d->actions[action]->data_words != op->data.n)
        return true;
    for (size_t i = 1; i < r->n; i++) {
        struct sk_table *t = r->sides[i].pl->table(r->sides[i].pipe, (uint32_t)table);
        int answer = sk_table_add(t, &op->index, NULL, 0, (uint32_t)action, op->data.v);
        if (answer == SK_E_EXISTS)
            answer = sk_table_modify(t, &op->index, NULL, 0, (uint32_t)action, op->data.v);
        if (!agree(r, "result of setting the member", i, answer, &result))
            return false;
    }
    if (result == SK_OK)
        interp_set_member(r->ip, (unsigned)profile, op->index, (unsigned)action, op->data.v);
    return true;
}

#define MOST_PLACES 256u

static bool run_group(struct rig *r, const struct op *op) {
    struct sk_group_member members[MOST_PLACES];
    uint32_t n = (uint32_t)op->data.n / 2;
    const struct sk_pipeline_desc *pl = r->sides[1].pl;
    int result = SK_OK;
    uint32_t at = 0;
    while (at < pl->n_selectors && strcmp(pl->selectors[at]->name, op->name) != 0)
        at++;
    if (at == pl->n_selectors || n > MOST_PLACES)
        return true;
    for (uint32_t i = 0; i < n; i++)
        members[i] =
            (struct sk_group_member){(uint32_t)op->data.v[2 * i], op->data.v[2 * i + 1] != 0};
    for (size_t i = 1; i < r->n; i++) {
        struct sk_selector *s = r->sides[i].pl->selector(r->sides[i].pipe, at);
        int answer = sk_selector_find(s, (uint32_t)op->index)
                         ? sk_selector_modify(s, (uint32_t)op->index, 0, members, n)
                         : sk_selector_add(s, (uint32_t)op->index, 0, members, n);
        if (!agree(r, "result of setting the group", i, answer, &result))
            return false;
    }
    if (result == SK_OK)
        interp_set_group(r->ip, op->name, op->index, op->data.v, n);
    return true;
}

static bool run_register(struct rig *r, const struct op *op) {
    int i = find_register(r->sides[1].pl, op->name);
    if (i < 0)
        return true;
    const struct sk_register_desc *d = &r->sides[1].pl->registers[i];
    if (op->index >= d->size || op->word >= d->words)
        return true;
    uint64_t value =
        d->width >= 64 ? op->value.v[0] : op->value.v[0] & ((UINT64_C(1) << d->width) - 1);
    for (size_t k = 1; k < r->n; k++)
        r->sides[k].pl->register_write(r->sides[k].pipe, (uint32_t)i, op->index, (uint32_t)op->word,
                                       value);
    interp_register(r->ip, d->name)[op->index * d->words + op->word] = value;
    return true;
}

// --------------------------------------------------------------------------------------------
// Packets.

static const char *const violation_names[] = {
#define VIOLATION_NAME(name, word, text) word,
    SK_VIOLATIONS(VIOLATION_NAME)
#undef VIOLATION_NAME
};

static void say(char *text, size_t *length, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(char *text, size_t *length, const char *format, ...) {
    const size_t room = REPORT_BYTES - *length;
    va_list ap;
    va_start(ap, format);
    const int n = vsnprintf(text + *length, room, format, ap);
    va_end(ap);
    *length += (size_t)n < room ? (size_t)n : room - 1;
}

static void say_place(char *text, size_t *length, const struct sk_place *at) {
    if (at && at->line)
        say(text, length, " %s:%u:%u", at->file, at->line, at->column);
    else
        say(text, length, " -");
}

static void say_violation(struct side *s, enum sk_violation kind, const char *name, uint64_t number,
                          const struct sk_place *at, const struct sk_place *also) {
    say(s->said, &s->n_said, "%s %s %" PRIu64, violation_names[kind], name, number);
    say_place(s->said, &s->n_said, at);
    say_place(s->said, &s->n_said, also);
    say(s->said, &s->n_said, "\n");
}

static void say_event(struct side *s, const char *event, const struct sk_place *at) {
    say(s->said, &s->n_said, "%s", event);
    say_place(s->said, &s->n_said, at);
    say(s->said, &s->n_said, "\n");
}

static void say_use(struct side *s, const struct sk_place *at) {
    say_place(s->uses, &s->n_uses, at);
    say(s->uses, &s->n_uses, "\n");
}

static bool is_use(enum sk_violation v) {
    return v == SK_VIOLATION_INVALID_HEADER || v == SK_VIOLATION_NOT_SET ||
           v == SK_VIOLATION_UNDEFINED || v == SK_VIOLATION_EMITTED;
}

// Hears everything the checked build says, so that all of it runs.
static void hear(struct sk_observer *o, const struct sk_packet *p, const struct sk_event *e) {
    struct side *s = (struct side *)o;
    (void)p;
    scenario_events[e->kind]++;
    if (e->kind != SK_EV_VIOLATION) {
        struct arena *a = arena_new();
        say_event(s, event_text(a, e), e->at);
        arena_free(a);
        return;
    }
    say_violation(s, e->violation, e->name, e->number, e->at, e->also);
    if (is_use(e->violation))
        say_use(s, e->at);
}

static struct sk_place place_of(const struct diag *d, const struct loc *at) {
    if (!at || !at->line)
        return (struct sk_place){0};
    return (struct sk_place){diag_path(d, at->file), at->line, at->col};
}

// The same of the interpreter.
static void hear_interpreter(void *aux, const struct interp_violation *v) {
    struct rig *r = aux;
    const struct sk_place at = place_of(r->subject->d, &v->at);
    const struct sk_place also = place_of(r->subject->d, v->also);
    say_violation(&r->sides[0], v->violation, v->name, v->number, &at, &also);
    scenario_violations[v->violation]++;
}

static void hear_event(void *aux, const char *event, struct loc loc) {
    struct rig *r = aux;
    const struct sk_place at = place_of(r->subject->d, &loc);
    say_event(&r->sides[0], event, &at);
}

static void hear_use(void *aux, struct loc loc) {
    struct rig *r = aux;
    const struct sk_place at = place_of(r->subject->d, &loc);
    say_use(&r->sides[0], &at);
}

static void hear_mask(void *aux, const struct ir_var *mask) {
    struct rig *r = aux;
    fprintf(r->report, "line %zu: %s is not what the interpreter finds\n", r->op + 1, mask->name);
    r->wrong_mask = true;
}

static bool same_uses(struct rig *r, const struct side *s) {
    const struct side *o = &r->sides[0];
    if (!o->finds_uses || !s->checked || strcmp(o->uses, s->uses) == 0)
        return true;
    fprintf(r->report,
            "line %zu: the %s build finds uses of something undefined at\n%sthe interpreter at\n%s",
            r->op + 1, s->name, s->uses, o->uses);
    return false;
}

static bool same_reports(struct rig *r, const struct side *s) {
    const struct side *o = &r->sides[0];
    if (!o->checked || !s->checked || strcmp(o->said, s->said) == 0)
        return true;
    fprintf(r->report,
            "line %zu: the %s build reports\n%sthe interpreter of the instrumented program\n%s",
            r->op + 1, s->name, s->said, o->said);
    return false;
}

static void load_packet(struct side *s, const struct op *op, unsigned prefix) {
    memset(s->buffer, FILL, sizeof s->buffer);
    uint32_t start = START - prefix;
    memcpy(s->buffer + start, op->bytes, op->n_bytes);
    s->op = op;
    s->prefix = prefix;
    s->packet = (struct sk_packet){.buf = s->buffer,
                                   .cap = sizeof s->buffer,
                                   .head = START,
                                   .len = (uint32_t)op->n_bytes - prefix,
                                   .global_tstamp = op->time,
                                   .observer = &s->observer};
    s->said[0] = s->uses[0] = '\0';
    s->n_said = s->n_uses = 0;
    if (op->kind == OP_INGRESS) {
        s->packet.ingress_port = (uint16_t)((op->bytes[0] & 1) << 8 | op->bytes[1]);
        s->packet.resubmitted = op->bytes[0] >> 7;
    }
}

// A copy that a Tofino's ingress mirrors is of the packet as received.
static void copied(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m) {
    struct side *s = aux;
    (void)m;
    s->copies++;
    s->changed |= p->len != s->op->n_bytes - s->prefix ||
                  memcmp(p->buf + p->head, s->op->bytes + s->prefix, p->len) != 0;
}

// Bytes in front of a packet that has come around by 'port'.
static void metadata_of(unsigned port, uint8_t bytes[8]) {
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(port * 7 + i * 31);
}

// A pass, and those that a build goes on with, as long as the packet has come around fewer than
// 'most' times.
static void pass(struct rig *r, struct side *s, unsigned most) {
    s->in_out = (struct sk_ingress_out){.on_mirror = copied, .aux = s};
    if (s->ip) {
        interp_ingress(s->ip, &s->packet, &s->in_out);
        return;
    }
    for (unsigned port = 0; port < SK_PORTS && most; port++) {
        r->hops[port] = (struct sk_hop){.ingress = s->pl->ingress, .pipe = s->pipe};
        metadata_of(port, r->hops[port].metadata);
    }
    s->in_out.hops = most ? r->hops : NULL;
    s->in_out.max_passes = most;
    sk_ingress_wishes(s->pl->ingress(s->pipe, &s->packet, &s->in_out), &s->in_out);
}

static bool goes_past_egress(const struct sk_ingress_out *o) {
    return o->ucast_valid && o->bypass_egress && !o->mcast_a_valid && !o->mcast_b_valid &&
           !o->copy_to_cpu && !o->resubmit && !(o->drop_ctl & 1) && !o->parser_drop;
}

static void come_around(struct side *s, const struct op *op) {
    const uint16_t port = s->in_out.ucast_port & 0x1ff;
    uint8_t *const at = s->buffer + s->packet.head - SK_INGRESS_PREFIX;
    s->packet.ingress_port = port;
    s->packet.arrived = (uint16_t)s->packet.len;
    s->packet.mac_tstamp = op->time & SK_TSTAMP_MASK;
    s->packet.resubmitted = false;
    s->packet.passes++;
    const uint64_t first = htobe64((uint64_t)port << 48 | s->packet.mac_tstamp);
    memcpy(at, &first, 8);
    metadata_of(port, at + 8);
}

// The packet comes around 'hops' times in all. False: it does not.
static bool run_ingress(struct rig *r, struct side *s, const struct op *op, unsigned hops) {
    for (pass(r, s, hops); s->packet.passes < hops; pass(r, s, hops)) {
        if (!goes_past_egress(&s->in_out)) {
            differs(r, s, "passes", s->packet.passes, hops);
            return false;
        }
        come_around(s, op);
    }
    return true;
}

static void run_egress(struct side *s) {
    s->out_out = (struct sk_egress_out){0};
    if (s->ip)
        interp_egress(s->ip, &s->packet, &s->out_out);
    else
        sk_egress_wishes(s->pl->egress(s->pipe, &s->packet, &s->out_out), &s->out_out);
}

// Every member of the outputs, by name.
#define INGRESS_OUTPUTS(X)                                                                         \
    X(parser_err)                                                                                  \
    X(parser_drop)                                                                                 \
    X(ucast_valid)                                                                                 \
    X(mcast_a_valid)                                                                               \
    X(mcast_b_valid)                                                                               \
    X(bypass_egress)                                                                               \
    X(copy_to_cpu)                                                                                 \
    X(resubmit)                                                                                    \
    X(consumed)                                                                                    \
    X(twice)                                                                                       \
    X(drop_ctl)                                                                                    \
    X(qid)                                                                                         \
    X(ingress_cos)                                                                                 \
    X(icos_for_copy_to_cpu)                                                                        \
    X(color)                                                                                       \
    X(deflect_on_drop)                                                                             \
    X(ucast_port)                                                                                  \
    X(mcast_grp_a)                                                                                 \
    X(mcast_grp_b)                                                                                 \
    X(level1_mcast_hash)                                                                           \
    X(level2_mcast_hash)                                                                           \
    X(level1_exclusion_id)                                                                         \
    X(level2_exclusion_id)                                                                         \
    X(rid)                                                                                         \
    X(adv_flow_ctl)                                                                                \
    X(digest.packed)                                                                               \
    X(digest.index)

static bool same_mirror(struct rig *r, const struct side *s, const struct sk_mirror_out *a,
                        const struct sk_mirror_out *b) {
    const struct sk_mirror_choice *x = &a->choice, *y = &b->choice;
    if (a->wanted && b->wanted &&
        (differs(r, s, "mirrored at once", a->told, b->told) ||
         differs(r, s, "mirror_egress_port's validity", x->port_valid, y->port_valid) ||
         differs(r, s, "mirror_egress_port", x->port, y->port) ||
         differs(r, s, "mirror_qid", x->qid, y->qid) ||
         differs(r, s, "mirror_hash", x->hash, y->hash) ||
         differs(r, s, "mirror_ingress_cos", x->cos, y->cos) ||
         differs(r, s, "mirror_deflect_on_drop", x->deflect, y->deflect) ||
         differs(r, s, "mirror_multicast_ctrl", x->multicast, y->multicast)))
        return false;
    return !differs(r, s, "mirror", a->wanted, b->wanted) &&
           !differs(r, s, "mirror session", a->session, b->session) &&
           !differs(r, s, "mirror header's length", a->header_bytes, b->header_bytes) &&
           !differs(r, s, "mirror header (0: alike)",
                    memcmp(a->header, b->header, sizeof a->header) != 0, 0);
}

static bool same_outputs(struct rig *r, const struct side *s, const struct op *op) {
    const struct side *o = &r->sides[0];
    if (op->kind == OP_EGRESS)
        return !differs(r, s, "parser_err", s->out_out.parser_err, o->out_out.parser_err) &&
               !differs(r, s, "drop_ctl", s->out_out.drop_ctl, o->out_out.drop_ctl) &&
               !differs(r, s, "twice", s->out_out.twice, o->out_out.twice) &&
               !differs(r, s, "adv_flow_ctl", s->out_out.adv_flow_ctl, o->out_out.adv_flow_ctl) &&
               same_mirror(r, s, &s->out_out.mirror, &o->out_out.mirror);
#define SAME(m)                                                                                    \
    if (differs(r, s, #m, s->in_out.m, o->in_out.m))                                               \
        return false;
    INGRESS_OUTPUTS(SAME)
#undef SAME
    for (unsigned i = 0; i < SK_RESUBMIT_BYTES; i++)
        if (differs(r, s, "resubmit data", s->in_out.resubmit_data[i], o->in_out.resubmit_data[i]))
            return false;
    for (unsigned i = 0; i < SK_DIGEST_BYTES; i++)
        if (differs(r, s, "digest data", s->in_out.digest.data[i], o->in_out.digest.data[i]))
            return false;
    bool copy = o->in_out.mirror.wanted && !o->in_out.resubmit;
    return same_mirror(r, s, &s->in_out.mirror, &o->in_out.mirror) &&
           (r->program->ingress_prefix > 16 || // a Tofino 2 may copy what leaves
            (!differs(r, s, "copies to mirror", s->copies, copy) &&
             !differs(r, s, "copies of something else", s->changed, 0)));
}

static void print_bytes(FILE *f, const char *whose, const struct side *s) {
    fprintf(f, "  %-12s", whose);
    for (uint32_t i = 0; i < s->packet.len; i++)
        fprintf(f, "%02x", s->buffer[s->packet.head + i]);
    fputc('\n', f);
}

// A dropped packet's bytes are nobody's (pipeline/abi.h).
static bool dropped(const struct side *s, const struct op *op) {
    if (op->kind == OP_EGRESS)
        return s->out_out.drop_ctl & 1 && !(s->out_out.mirror.wanted && !(s->out_out.drop_ctl & 4));
    bool to_cpu = s->in_out.copy_to_cpu && !(s->in_out.drop_ctl & 2);
    return !s->in_out.resubmit && s->in_out.drop_ctl & 1 && !to_cpu;
}

// 'came' is how long the packet was: what a truncation cuts off stays in the buffer.
static bool same_bytes(struct rig *r, const struct side *s, const struct op *op, size_t came) {
    const struct side *o = &r->sides[0];
    if (dropped(o, op))
        return true;
    bool same = s->packet.len == o->packet.len && s->packet.head == o->packet.head &&
                memcmp(s->buffer + s->packet.head, o->buffer + o->packet.head, o->packet.len) == 0;
    if (!same) {
        fprintf(r->report, "line %zu: the packet's bytes differ:\n", r->op + 1);
        print_bytes(r->report, "interpreter", o);
        print_bytes(r->report, s->name, s);
        return false;
    }
    for (size_t i = START + came; i < BUFFER_BYTES; i++)
        if (differs(r, s, "a byte behind the packet", s->buffer[i], FILL))
            return false;
    return true;
}

static bool run_packet(struct rig *r, const struct op *op) {
    unsigned prefix =
        op->kind == OP_INGRESS ? r->program->ingress_prefix : r->program->egress_prefix;
    if (op->n_bytes < prefix || op->n_bytes > BUFFER_BYTES - START - SK_POOL_SLACK)
        return true;
    for (size_t i = 0; i < r->n; i++) {
        load_packet(&r->sides[i], op, prefix);
        r->sides[i].copies = 0;
        r->sides[i].changed = false;
        if (op->kind == OP_EGRESS)
            run_egress(&r->sides[i]);
    }
    if (op->kind == OP_INGRESS) {
        const bool hops = prefix == SK_INGRESS_PREFIX && r->n > 1;
        if (hops) // as often as it likes
            pass(r, &r->sides[1], op->time % (MOST_HOPS + 1));
        const unsigned passes = hops ? r->sides[1].packet.passes : 0;
        for (size_t i = 0; i < r->n; i++)
            if (!(hops && i == 1) && !run_ingress(r, &r->sides[i], op, passes))
                return false;
        for (size_t i = 1; i < r->n && passes; i++)
            if (differs(r, &r->sides[i], "bytes that came around", r->sides[i].packet.arrived,
                        r->sides[0].packet.arrived))
                return false;
        // what is copied of a packet that came around is another one
        for (size_t i = 0; i < r->n && passes; i++)
            r->sides[i].changed = false;
    }
    if (r->wrong_mask)
        return false;
    for (size_t i = 1; i < r->n; i++)
        if (!same_uses(r, &r->sides[i]) || !same_reports(r, &r->sides[i]) ||
            !same_outputs(r, &r->sides[i], op) ||
            !same_bytes(r, &r->sides[i], op, op->n_bytes - prefix))
            return false;
    return true;
}

// --------------------------------------------------------------------------------------------
// State.

static bool same_registers(struct rig *r, const struct side *s) {
    for (uint32_t i = 0; i < s->pl->n_registers; i++) {
        const struct sk_register_desc *d = &s->pl->registers[i];
        const uint64_t *words = interp_register(r->ip, d->name);
        for (uint64_t k = 0; k < d->size; k++)
            for (uint32_t w = 0; w < d->words; w++)
                if (differs(r, s, d->name, s->pl->register_read(s->pipe, i, k, w),
                            words[k * d->words + w]))
                    return false;
    }
    return true;
}

static bool same_counters(struct rig *r, const struct side *s) {
    for (uint32_t i = 0; i < s->pl->n_counters; i++) {
        const struct sk_counter_desc *d = &s->pl->counters[i];
        const struct sk_counter_cell *real = s->pl->counter(s->pipe, i);
        const struct sk_counter_cell *wanted = interp_counter(r->ip, d->name);
        for (uint64_t k = 0; k < d->size; k++)
            if (differs(r, s, d->name, real[k].packets, wanted[k].packets) ||
                differs(r, s, d->name, real[k].bytes, wanted[k].bytes))
                return false;
    }
    return true;
}

struct entry_check {
    struct rig *r;
    const struct side *s;
    const struct sk_table_desc *d;
    const struct interp_table *t;
    size_t n;
    bool same;
};

static bool same_entry(struct entry_check *c, const struct sk_entry *e,
                       const struct interp_entry *wanted) {
    c->same = !differs(c->r, c->s, c->d->name, sk_entry_hits(e), wanted->hits) &&
              !differs(c->r, c->s, c->d->name, e->packets, wanted->packets) &&
              !differs(c->r, c->s, c->d->name, e->bytes, wanted->bytes);
    for (uint32_t w = 0; c->same && w < c->d->direct_words; w++)
        c->same = !differs(c->r, c->s, c->d->name, e->direct[w], wanted->direct[w]);
    return c->same;
}

static bool check_entry(void *aux, const struct sk_entry *e) {
    struct entry_check *c = aux;
    size_t bytes = c->d->key_words * sizeof(uint64_t);
    for (size_t i = 0; i < c->t->n; i++) {
        const struct interp_entry *w = c->t->entries[i];
        if (memcmp(w->value, e->value, bytes) || memcmp(w->mask, e->mask, bytes) ||
            (prioritised(c->d) && w->priority != e->priority))
            continue;
        c->n++;
        return same_entry(c, e, w);
    }
    fprintf(c->r->report, "line %zu: table %s of the %s build has an entry too many\n",
            c->r->op + 1, c->d->name, c->s->name);
    return c->same = false;
}

static bool check_member(void *aux, const struct sk_entry *e) {
    struct entry_check *c = aux;
    for (size_t i = 0; i < c->t->n; i++) {
        const struct interp_entry *w = c->t->entries[i];
        if (w->value[0] != e->value[0])
            continue;
        c->n++;
        c->same = !differs(c->r, c->s, "action of a member", e->action, w->action);
        for (uint32_t k = 0; c->same && k < c->d->actions[e->action]->data_words; k++)
            c->same = !differs(c->r, c->s, "data of a member", e->data[k], w->data[k]);
        return c->same;
    }
    return c->same = !differs(c->r, c->s, "a member", e->value[0], UINT64_MAX);
}

static bool same_profile(struct rig *r, const struct side *s, uint32_t table) {
    const struct sk_table_desc *d = s->pl->tables[table];
    int profile = interp_find_profile(r->ip, d->name);
    struct entry_check c = {r, s, d, interp_profile(r->ip, (unsigned)profile), 0, true};
    sk_table_each(s->pl->table(s->pipe, table), check_member, &c);
    return c.same && !differs(r, s, "number of members", c.n, c.t->n);
}

static bool same_tables(struct rig *r, const struct side *s) {
    for (uint32_t i = 0; i < s->pl->n_tables; i++) {
        struct sk_table *real = s->pl->table(s->pipe, i);
        if (s->pl->tables[i]->is_profile) {
            if (!same_profile(r, s, i))
                return false;
            continue;
        }
        struct entry_check c = {r, s, s->pl->tables[i], interp_table(r->ip, i), 0, true};
        sk_table_each(real, check_entry, &c);
        if (!c.same || !same_entry(&c, sk_table_default(real), c.t->default_entry))
            return false;
    }
    return true;
}

// --------------------------------------------------------------------------------------------

static bool open_rig(struct rig *r, const struct subject *subject, const struct ir_program *ir) {
    const struct sk_observer all = {.everything = true, .event = hear};
    r->program = ir;
    r->subject = subject;
    r->ip = interp_new(ir, 0, 1);
    r->sides[0].name = "interpreter";
    r->sides[0].ip = r->ip;
    r->sides[0].checked = ir == subject->instrumented;
    r->sides[0].finds_uses = ir == subject->ir && subject->instrumented;
    if (r->sides[0].checked)
        interp_on_report(r->ip, hear_interpreter, r);
    if (r->sides[0].checked)
        interp_on_event(r->ip, hear_event, r);
    if (r->sides[0].checked)
        interp_on_mask(r->ip, hear_mask, r);
    if (r->sides[0].finds_uses)
        interp_on_use(r->ip, hear_use, r);
    r->n = 1;
    for (size_t i = 0; i < subject->n_builds; i++) {
        struct side *s = &r->sides[r->n++];
        s->observer = all;
        s->name = subject->names[i];
        s->checked = subject->checked[i];
        s->pl = sk_program_desc(subject->programs[i])->pipelines[0];
        s->pipe = s->pl->pipe_new(1);
        if (!s->pipe) {
            fprintf(r->report, "no memory for a pipe\n");
            return false;
        }
    }
    return true;
}

static void close_rig(struct rig *r) {
    for (size_t i = 1; i < r->n; i++)
        if (r->sides[i].pipe)
            r->sides[i].pl->pipe_free(r->sides[i].pipe);
    interp_free(r->ip);
    free(r);
}

static bool run_op(struct rig *r, const struct op *op) {
    switch (op->kind) {
    case OP_ENTRY:
        return run_entry(r, op);
    case OP_DEFAULT:
        return run_default(r, op);
    case OP_MEMBER:
        return run_member(r, op);
    case OP_PROFILE:
        return run_profile(r, op);
    case OP_GROUP:
        return run_group(r, op);
    case OP_REGISTER:
        return run_register(r, op);
    default:
        return run_packet(r, op);
    }
}

static bool run_with(const struct scenario *s, const struct subject *subject,
                     const struct ir_program *ir, FILE *report) {
    struct rig *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    r->report = report;
    bool same = open_rig(r, subject, ir);
    size_t line = 0;
    for (size_t i = 0; i < s->ops.n && same; i++) {
        if (s->ops.v[i].dropped)
            continue;
        r->op = line++; // as the scenario is written
        same = run_op(r, &s->ops.v[i]);
    }
    for (size_t i = 1; i < r->n && same; i++)
        same = same_registers(r, &r->sides[i]) && same_counters(r, &r->sides[i]) &&
               same_tables(r, &r->sides[i]);
    close_rig(r);
    return same;
}

bool scenario_run(const struct scenario *s, const struct subject *subject, FILE *report) {
    if (!run_with(s, subject, subject->ir, report))
        return false;
    if (subject->specialised && !run_with(s, subject, subject->specialised, report)) {
        fprintf(report, "with the specialised control in the interpreter\n");
        return false;
    }
    if (subject->instrumented && !run_with(s, subject, subject->instrumented, report)) {
        fprintf(report, "with the instrumented program in the interpreter\n");
        return false;
    }
    return true;
}
