// SPDX-License-Identifier: Apache-2.0
#include "control/watch/shadow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "control/tables/names.h"
#include "control/tables/values.h"
#include "control/watch/shadow_impl.h"
#include "stages/bits.h"
#include "pipeline/switch/core.h"

#define RUNS 64u // at most: each finds something new

// ---- what a run comes to ----

static bool shadow_same_key(const uint64_t *a, const uint64_t *b, uint32_t words) {
    return !a || !b ? a == b : memcmp(a, b, words * sizeof *a) == 0;
}

static void shadow_note_touch(struct sk_shadow *s, struct shadow_touch t, uint32_t words) {
    for (size_t i = 0; i < s->n_touches; i++) {
        const struct shadow_touch *o = &s->touches[i];
        if (o->kind == t.kind && o->pipe == t.pipe && o->object == t.object &&
            o->index == t.index && shadow_same_key(o->key, t.key, words))
            return;
    }
    if (t.key) {
        uint64_t *copy = malloc(words * sizeof *copy);
        if (!copy)
            abort();
        t.key = memcpy(copy, t.key, words * sizeof *copy);
    }
    s->touches = sk_grow(s->touches, s->n_touches, &s->room_touches, sizeof *s->touches);
    s->touches[s->n_touches++] = t;
    s->news = true;
}

static void touch_cell(struct sk_shadow *s, unsigned pipe, const struct sk_event *e) {
    const struct sk_pipeline_desc *d = sk_switch_pipeline(s->sw, pipe);
    if (e->number == SK_NO_INDEX)
        return; // it hangs on an entry, and comes with that
    for (uint32_t i = 0; e->kind == SK_EV_REGISTER && i < d->n_registers; i++)
        if (strcmp(d->registers[i].name, e->name) == 0)
            shadow_note_touch(s,
                              (struct shadow_touch){.kind = SHADOW_REGISTER,
                                                    .pipe = (uint8_t)pipe,
                                                    .object = i,
                                                    .index = e->number},
                              0);
    for (uint32_t i = 0; e->kind == SK_EV_METER && i < d->n_meters; i++)
        if (strcmp(d->meters[i].name, e->name) == 0)
            shadow_note_touch(
                s,
                (struct shadow_touch){
                    .kind = SHADOW_METER, .pipe = (uint8_t)pipe, .object = i, .index = e->number},
                0);
}

static void touch_table(struct sk_shadow *s, unsigned pipe, const struct sk_event *e) {
    const struct sk_pipeline_desc *d = sk_switch_pipeline(s->sw, pipe);
    for (uint32_t i = 0; i < d->n_tables; i++)
        if (d->tables[i] == e->table)
            shadow_note_touch(s,
                              (struct shadow_touch){.kind = SHADOW_TABLE,
                                                    .pipe = (uint8_t)pipe,
                                                    .object = i,
                                                    .key = (uint64_t *)e->key},
                              e->table->key_words);
}

static void add_outcome(struct sk_shadow *s, const struct sk_event *e) {
    struct shadow_list *l = s->list;
    uint64_t h = 14695981039346656037u;
    for (uint32_t i = 0; e->bytes && i < e->length; i++)
        h = (h ^ e->bytes[i]) * 1099511628211u;
    l->items = sk_grow(l->items, l->n, &l->room, sizeof *l->items);
    l->items[l->n++] = (struct shadow_outcome){.sent = e->kind == SK_EV_SENT,
                                               .port = e->port,
                                               .length = e->length,
                                               .bytes = h,
                                               .why = e->text};
}

// ---- fields ----

static void shadow_match_field(struct sk_shadow *s, const struct sk_event *e, uint32_t i) {
    const struct sk_trace_field *f = &e->header->fields[i];
    char name[512];
    if (f->width > 128)
        return;
    snprintf(name, sizeof name, "%s.%s", e->header->name, f->name);
    const sk_u128 bits = sk_bits_get128(e->bytes, f->bit_offset, f->width);
    const uint64_t got[2] = {(uint64_t)bits, (uint64_t)(bits >> 64)};
    const struct sk_field_desc d = {
        .name = name, .width = f->width, .match = SK_TERNARY, .is_signed = f->is_signed};
    for (size_t k = 0; k < s->n_fields; k++) {
        uint64_t value[2] = {0}, mask[2] = {0};
        struct sk_error ignored;
        if (!sk_name_matches(name, s->fields[k].name) ||
            (s->fields[k].ingress && e->gress != SK_IN_INGRESS) ||
            sk_key_parse(s->fields[k].value, &d, value, mask, &ignored))
            continue;
        if (((got[0] ^ value[0]) & mask[0]) == 0 &&
            (f->width <= 64 || ((got[1] ^ value[1]) & mask[1]) == 0))
            s->matched |= 1u << k;
    }
}

// Which values a bit may have: bit 0 if 0, bit 1 if 1.
static unsigned shadow_bit_values(const char *text) {
    const struct sk_field_desc d = {.name = "$valid", .width = 1, .match = SK_TERNARY};
    uint64_t value[2] = {0}, mask[2] = {0};
    struct sk_error ignored;
    if (sk_key_parse(text, &d, value, mask, &ignored))
        return 0;
    return mask[0] & 1 ? 1u << (value[0] & 1) : 3u;
}

// Until ingress' parser finds it a header is not valid.
static void shadow_match_valid(struct sk_shadow *s, const struct sk_event *e) {
    for (size_t k = 0; k < s->n_fields; k++) {
        const size_t n = shadow_header_length(s->fields[k].name);
        const unsigned values = n ? shadow_bit_values(s->fields[k].value) : 0;
        if (!n || (e && !shadow_is_header(e->header->name, strlen(e->header->name),
                                          s->fields[k].name, n)))
            continue;
        const uint32_t bit = UINT32_C(1) << k;
        s->matched = values >> (e ? 1 : 0) & 1 ? s->matched | bit : s->matched & ~bit;
    }
}

static void shadow_hear(struct sk_observer *o, const struct sk_packet *p,
                        const struct sk_event *e) {
    struct sk_shadow *s = (struct sk_shadow *)o;
    const unsigned pipe =
        sk_port_pipe(e->gress == SK_IN_EGRESS ? p->egress_port : p->ingress_port) % SK_PIPES;
    if (e->kind == SK_EV_EXTRACT && s->fields && e->gress == SK_IN_INGRESS)
        shadow_match_valid(s, e);
    if (e->kind == SK_EV_EXTRACT && s->fields)
        for (uint32_t i = 0; i < e->header->n_fields; i++)
            shadow_match_field(s, e, i);
    if (e->kind == SK_EV_REGISTER || e->kind == SK_EV_METER)
        touch_cell(s, pipe, e);
    if (e->kind == SK_EV_TABLE)
        touch_table(s, pipe, e);
    if (e->kind == SK_EV_VALUE && e->text && strcmp(e->text, "random") == 0)
        s->random = true;
    if (s->list && (e->kind == SK_EV_SENT || e->kind == SK_EV_DROPPED))
        add_outcome(s, e);
    if (s->printer)
        s->printer->event(s->printer, p, e);
}

// ---- from start to end ----

static bool shadow_alike(const struct sk_pipeline_desc *a, const struct sk_pipeline_desc *b) {
    if (strcmp(a->name, b->name) != 0 || a->n_tables != b->n_tables ||
        a->n_registers != b->n_registers || a->n_meters != b->n_meters ||
        a->n_selectors != b->n_selectors || a->n_value_sets != b->n_value_sets ||
        a->n_hashes != b->n_hashes)
        return false;
    for (uint32_t i = 0; i < a->n_tables; i++)
        if (strcmp(a->tables[i]->name, b->tables[i]->name) != 0 ||
            a->tables[i]->key_words != b->tables[i]->key_words ||
            a->tables[i]->n_actions != b->tables[i]->n_actions ||
            a->tables[i]->direct_words != b->tables[i]->direct_words)
            return false;
    for (uint32_t i = 0; i < a->n_registers; i++)
        if (strcmp(a->registers[i].name, b->registers[i].name) != 0 ||
            a->registers[i].size != b->registers[i].size ||
            a->registers[i].words != b->registers[i].words)
            return false;
    for (uint32_t i = 0; i < a->n_meters; i++)
        if (strcmp(a->meters[i].name, b->meters[i].name) != 0 ||
            a->meters[i].size != b->meters[i].size)
            return false;
    return true;
}

struct sk_shadow *sk_shadow_new(const struct sk_program *checked, struct sk_switch *live,
                                struct sk_error *err) {
    char error[256];
    struct sk_switch *sw = sk_switch_new(
        checked,
        &(struct sk_switch_options){.tx = sk_tx_nowhere, .packet_bytes = 9216, .n_packets = 1024},
        error, sizeof error);
    if (!sw) {
        sk_fail(err, "%s", error);
        return NULL;
    }
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++)
        if (!shadow_alike(sk_switch_pipeline(sw, pipe), sk_switch_pipeline(live, pipe))) {
            sk_fail(err, "the program's source has changed since the switch loaded it");
            sk_switch_free(sw);
            return NULL;
        }
    struct sk_shadow *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    s->observer = (struct sk_observer){.everything = true, .event = shadow_hear};
    s->sw = sw;
    s->live = live;
    sk_core_observe(sk_switch_core(sw, 0), &s->observer);
    return s;
}

void sk_shadow_free(struct sk_shadow *s) {
    if (!s)
        return;
    shadow_return(s);
    sk_switch_free(s->sw);
    shadow_forget(s);
    free(s->touches);
    free(s->did.items);
    free(s->live_did.items);
    free(s);
}

static void shadow_run(struct sk_shadow *s, uint16_t port, const uint8_t *frame, uint32_t length,
                       uint64_t now_ns) {
    sk_switch_rx(s->sw, port, frame, length, now_ns);
    sk_switch_run(s->sw, now_ns);
}

bool sk_shadow_matches(struct sk_shadow *s, uint16_t port, const uint8_t *frame, uint32_t length,
                       const struct sk_shadow_field *fields, size_t n) {
    s->fields = fields;
    s->n_fields = n;
    s->matched = 0;
    shadow_match_valid(s, NULL);
    shadow_run(s, port, frame, length, sk_switch_now(s->sw));
    s->fields = NULL;
    shadow_forget(s);
    return s->matched == (1u << n) - 1;
}

// ---- showing ----

// Of a port with a speed the live packet waits, and nothing has become of it yet.
static bool shadow_waits(const struct sk_shadow *s, const struct shadow_outcome *o) {
    struct sk_port_queue q;
    sk_switch_port_queue_get(s->live, o->port, &q);
    return q.speed_mbps > 0;
}

// In any order: copies take turns. What is the same is crossed out.
static const struct shadow_outcome *shadow_first_difference(struct sk_shadow *s, bool *missing) {
    bool *done = calloc(s->live_did.n + 1, sizeof *done);
    const struct shadow_outcome *found = NULL;
    if (!done)
        abort();
    for (size_t i = 0; i < s->did.n && !found; i++) {
        const struct shadow_outcome *a = &s->did.items[i];
        size_t k = 0;
        while (k < s->live_did.n &&
               (done[k] || a->sent != s->live_did.items[k].sent ||
                a->port != s->live_did.items[k].port || a->length != s->live_did.items[k].length ||
                (a->sent && a->bytes != s->live_did.items[k].bytes) ||
                (!a->sent && strcmp(a->why, s->live_did.items[k].why) != 0)))
            k++;
        if (k < s->live_did.n)
            done[k] = true;
        else if (!shadow_waits(s, a))
            found = a;
    }
    *missing = found != NULL;
    for (size_t k = 0; k < s->live_did.n && !found; k++)
        if (!done[k] && !shadow_waits(s, &s->live_did.items[k]))
            found = &s->live_did.items[k];
    free(done);
    return found;
}

static bool shadow_compare(struct sk_shadow *s, char *out, size_t size) {
    bool missing;
    const struct shadow_outcome *o = shadow_first_difference(s, &missing);
    if (o) {
        snprintf(out, size, "the switch %s %s%s: port %u, %u bytes%s%s",
                 missing ? "did not do everything that is shown here,"
                         : "did more than is shown here,",
                 o->sent ? "sent" : "dropped", "", o->port, o->length, o->why ? ", " : "",
                 o->why ? o->why : "");
        return false;
    }
    return !shadow_differs(s, out, size);
}

static void remark(FILE *out, enum sk_trace_form form, const char *kind, const char *text) {
    if (form == SK_TRACE_JSON)
        fprintf(out, "{\"event\": \"%s\", \"text\": \"%s\"}\n", kind, text);
    else
        fprintf(out, "  %s: %s\n", kind, text);
}

static void find_way(struct sk_shadow *s, uint16_t port, const struct sk_packet *p, uint64_t now) {
    shadow_forget(s);
    shadow_bring_all(s);
    for (unsigned i = 0; i < RUNS; i++) {
        s->news = false;
        shadow_bring(s);
        shadow_run(s, port, sk_packet_data(p), p->len, now);
        if (!s->news)
            return;
        shadow_bring_all(s);
    }
}

bool sk_shadow_show(struct sk_shadow *s, unsigned core, uint64_t now_ns, FILE *out,
                    enum sk_trace_form form) {
    uint16_t port;
    char text[300];
    const struct sk_packet *p = sk_trap_first(s->live, core, &port);
    struct sk_tracer *tracer = sk_tracer_new(out, form, NULL);
    struct sk_pre *own = sk_switch_borrow(s->sw, s->live);
    // what other packets left between two cores would be taken for this one's doing
    sk_switch_settle(s->live, now_ns);
    const uint64_t now = now_ns > sk_switch_now(s->live) ? now_ns : sk_switch_now(s->live);
    s->random = false;
    find_way(s, port, p, now);
    shadow_bring_all(s);
    shadow_bring(s);
    s->did.n = s->live_did.n = 0;
    s->list = &s->did;
    s->printer = tracer ? sk_tracer_observer(tracer) : NULL;
    sk_core_set_serial(sk_switch_core(s->sw, 0), sk_core_serial(sk_switch_core(s->live, core)));
    shadow_run(s, port, sk_packet_data(p), p->len, now);
    s->printer = NULL;
    // the live switch says of itself what became of it
    s->list = &s->live_did;
    const size_t touches = s->n_touches;
    sk_trap_run_first(s->live, core, now, &s->observer);
    s->n_touches = touches;
    s->list = NULL;
    const bool good = shadow_compare(s, text, sizeof text);
    if (s->random)
        remark(out, form, "note", "Random draws other numbers in the switch than are shown here");
    else if (!good)
        remark(out, form, "differs", text);
    shadow_forget(s);
    sk_switch_give_back(s->sw, own);
    sk_tracer_free(tracer);
    return good;
}
