// SPDX-License-Identifier: Apache-2.0
//
// meter: statements about time, meters, counters and ageing. stf.h lists them.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/tables/attached.h"
#include "control/tables/entry.h"
#include "control/tables/idle.h"
#include "pcap/stf/stf_impl.h"

// An event that no statement has asked for yet.
struct stf_idle {
    struct stf_idle *next;
    const struct sk_table_desc *table;
    uint32_t entry;
    bool idle;
};

// ---- time ---------------------------------------------------------------------------------------

// number: ns
bool stf_parse_advance_time(struct parser *p, struct stf_statement *s) {
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    if (!stf_number(p, "the time", UINT64_MAX, &s->number))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (stf_keyword(p, units[i].name)) {
            if (s->number > UINT64_MAX / units[i].ns)
                return stf_fail(p, "the time is too long");
            s->number *= units[i].ns;
            break;
        }
    return stf_end(p);
}

bool stf_run_time(struct run *r, const struct stf_statement *s) {
    uint64_t *clock = stf_clock(r), now = *clock;
    *clock = s->kind == STF_SET_TIME ? s->number : now + s->number;
    if (*clock < now)
        return stf_unusable(r, "the clock is at %" PRIu64 " ns and does not go back", now);
    sk_switch_run(stf_switch(r), *clock);
    return true;
}

// ---- meters by index ----------------------------------------------------------------------------

// name, index
bool stf_parse_cell(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a name");
    bool parenthesis = s->name && stf_take(p, '(');
    if (!s->name || !stf_number(p, "the index", UINT64_MAX - 1, &s->index))
        return false;
    if (parenthesis && !stf_take(p, ')'))
        return stf_fail(p, "')' is missing after the index");
    return s->kind == STF_COUNTER_READ || s->kind == STF_METER_GET ? stf_end(p) : true;
}

// name
bool stf_parse_object(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a name");
    return s->name && stf_end(p);
}

static bool stf_meter_fields(struct parser *p, struct stf_statement *s) {
    while (!stf_at_end(p)) {
        const char *field = stf_name(p, "a field");
        if (!field)
            return false;
        if (*stf_rest(p) != ':')
            return stf_fail(p, "':' is missing after field '%s'", field);
        if (!stf_push_value(p, &s->args, &s->n_args, field))
            return false;
    }
    return s->n_args > 0 || stf_fail(p, "a field is missing");
}

// name, index, args
bool stf_parse_meter_write(struct parser *p, struct stf_statement *s) {
    return stf_parse_cell(p, s) && stf_meter_fields(p, s);
}

// rates
static bool two_rates(struct parser *p, struct stf_statement *s) {
    for (int i = 0; i < 2; i++) {
        const char *text = stf_value(p, "a rate");
        const char *colon = text ? strchr(text, ':') : NULL;
        if (!text)
            return false;
        if (!colon)
            return stf_fail(p, "'%s' should be RATE:BURST", text);
        s->rates[i] = text;
    }
    return stf_end(p);
}

bool stf_parse_meter_set_rates(struct parser *p, struct stf_statement *s) {
    return stf_parse_cell(p, s) && two_rates(p, s);
}

bool stf_parse_meter_array_set_rates(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a meter's name");
    s->index = SK_ALL_CELLS;
    return s->name && two_rates(p, s);
}

bool stf_run_meter_write(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    return stf_done(r,
                    sk_control_meter_write(stf_switch(r), NULL, s->name, s->index, s->args,
                                           s->n_args, -1, &err),
                    &err);
}

// A decimal in units of 10^-9; false when it is none or has more digits.
static bool nano(const char *text, size_t n, uint64_t *out) {
    uint64_t v = 0;
    unsigned decimals = 0;
    bool point = false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9' || v > UINT64_MAX / 100 || decimals == 9)
            return false;
        v = 10 * v + (uint64_t)(text[i] - '0');
        decimals += point;
    }
    for (; decimals < 9; decimals++) {
        if (v > UINT64_MAX / 10)
            return false;
        v *= 10;
    }
    *out = v;
    return n > 0;
}

// bmv2's rates are bytes or packets in a microsecond, its bursts bytes or packets; ours whole
// numbers of kbit/s and kbit, or of packets/s and packets.
static bool whole_rate(uint64_t nano_per_us, bool bytes, uint64_t *out) {
    uint64_t unit = bytes ? 125000 : 1000; // 1 kbit/s is 0.000125 byte/us
    *out = nano_per_us / unit;
    return nano_per_us % unit == 0;
}

static bool whole_burst(uint64_t nano_units, bool bytes, uint64_t *out) {
    uint64_t unit = UINT64_C(1000000000) * (bytes ? 125 : 1);
    *out = nano_units / unit;
    return nano_units % unit == 0;
}

static bool rate_text(struct run *r, const char *text, bool bytes, char rate[24], char burst[24]) {
    const char *colon = strchr(text, ':');
    uint64_t n, v;
    if (!nano(text, (size_t)(colon - text), &n) || !whole_rate(n, bytes, &v))
        return stf_unusable(r, "the rate in '%s' must be a whole number of %s", text,
                            bytes ? "kbit/s (0.000125 bytes/us)" : "packets/s (0.000001 a us)");
    snprintf(rate, 24, "%" PRIu64, v);
    if (!nano(colon + 1, strlen(colon + 1), &n) || !whole_burst(n, bytes, &v))
        return stf_unusable(r, "the burst in '%s' must be a whole number of %s", text,
                            bytes ? "kbits (125 bytes)" : "packets");
    snprintf(burst, 24, "%" PRIu64, v);
    return true;
}

bool stf_run_meter_rates(struct run *r, const struct stf_statement *s) {
    char text[4][24];
    struct sk_error err;
    struct sk_data now;
    uint64_t index = s->index == SK_ALL_CELLS ? 0 : s->index;
    if (!stf_done(r, sk_control_meter_read(stf_switch(r), s->name, index, -1, &now, &err), &err))
        return false;
    bool bytes = sk_data_find(&now, "cir_kbps") != NULL;
    if (!rate_text(r, s->rates[0], bytes, text[0], text[1]) ||
        !rate_text(r, s->rates[1], bytes, text[2], text[3]))
        return false;
    const struct sk_named_value values[] = {{bytes ? "cir_kbps" : "cir_pps", text[0]},
                                            {bytes ? "cbs_kbits" : "cbs_pkts", text[1]},
                                            {bytes ? "pir_kbps" : "pir_pps", text[2]},
                                            {bytes ? "pbs_kbits" : "pbs_pkts", text[3]}};
    return stf_done(
        r, sk_control_meter_write(stf_switch(r), NULL, s->name, s->index, values, 4, -1, &err),
        &err);
}

bool stf_run_meter_get(struct run *r, const struct stf_statement *s) {
    struct sk_data d;
    struct sk_error err;
    if (!stf_done(r, sk_control_meter_read(stf_switch(r), s->name, s->index, -1, &d, &err), &err))
        return false;
    for (size_t i = 0; i < d.n; i++)
        stf_print(r, "%s(%" PRIu64 ") %s %s", s->name, s->index, d.list[i].name, d.list[i].value);
    return true;
}

bool stf_run_meter_reset(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    return stf_done(r, sk_control_meter_reset(stf_switch(r), NULL, s->name, SK_ALL_CELLS, -1, &err),
                    &err);
}

// field, op, value
static bool comparison(struct parser *p, struct stf_statement *s) {
    s->field = stf_name(p, "a field");
    if (!s->field || !stf_operator(p, &s->op))
        return false;
    s->value = stf_value(p, s->field);
    return s->value && stf_end(p);
}

// name, index, field, op, value
bool stf_parse_check_meter(struct parser *p, struct stf_statement *s) {
    return stf_parse_cell(p, s) && comparison(p, s);
}

// Numbers by size, other texts by letters.
static int order(const char *a, const char *b) {
    char *end_a, *end_b;
    long double x = strtold(a, &end_a), y = strtold(b, &end_b);
    if (!*end_a && !*end_b)
        return x < y ? -1 : x > y;
    return strcasecmp(a, b);
}

static bool stf_meter_compare(struct run *r, const struct stf_statement *s,
                              const struct sk_data *d) {
    const char *got = sk_data_find(d, s->field);
    if (!got)
        return stf_unusable(r, "'%s' has no '%s'", s->name, s->field);
    if (!stf_holds(order(got, s->value), s->op))
        stf_differs(r, "%s of %s is %s, expected %s %s", s->field, s->name, got, stf_op_text[s->op],
                    s->value);
    return true;
}

bool stf_run_check_meter(struct run *r, const struct stf_statement *s) {
    struct sk_data d;
    struct sk_error err;
    int rc = sk_control_meter_read(stf_switch(r), s->name, s->index, -1, &d, &err);
    return stf_done(r, rc, &err) && stf_meter_compare(r, s, &d);
}

// ---- counters -----------------------------------------------------------------------------------

// name, index, number (packets), second (bytes)
bool stf_parse_counter_write(struct parser *p, struct stf_statement *s) {
    return stf_parse_cell(p, s) && stf_number(p, "the packets", UINT64_MAX, &s->number) &&
           stf_number(p, "the bytes", UINT64_MAX, &s->second) && stf_end(p);
}

bool stf_run_counter(struct run *r, const struct stf_statement *s) {
    struct sk_counter_cell cell = {s->number, s->second};
    struct sk_error err;
    int rc;
    if (s->kind == STF_COUNTER_CLEAR)
        rc = sk_control_counter_clear(stf_switch(r), NULL, s->name, &err);
    else if (s->kind == STF_COUNTER_WRITE)
        rc = sk_control_counter_write(stf_switch(r), s->name, s->index, &cell, &err);
    else
        rc = sk_control_counter_read(stf_switch(r), s->name, s->index, &cell, &err);
    if (rc == 0 && s->kind == STF_COUNTER_READ)
        stf_print(r, "%s(%" PRIu64 ") %" PRIu64 " packets, %" PRIu64 " bytes", s->name, s->index,
                  cell.packets, cell.bytes);
    return stf_done(r, rc, &err);
}

// ---- entries ------------------------------------------------------------------------------------

// priority and keys; stops before a word that is no KEY:VALUE, and of $NAME in capitals
bool stf_parse_entry(struct parser *p, struct stf_statement *s) {
    if (!stf_priority(p, s))
        return false;
    for (;;) {
        const char *rest = stf_rest(p);
        size_t word = strcspn(rest, " \t\r\v\f");
        if ((*rest == '$' && isupper((unsigned char)rest[1])) || !memchr(rest, ':', word))
            return s->n_keys > 0 || stf_fail(p, "an entry's key is missing");
        const char *field = stf_name(p, "a key field");
        if (!field || !stf_push_value(p, &s->keys, &s->n_keys, field))
            return field ? stf_fail(p, "':' is missing after '%s'", field) : false;
    }
}

// After the name: keys, bytes, op, number
bool stf_parse_entry_counter(struct parser *p, struct stf_statement *s) {
    s->kind = STF_CHECK_ENTRY_COUNTER;
    if (!stf_parse_entry(p, s))
        return false;
    s->bytes = stf_keyword(p, "bytes");
    if (!s->bytes)
        stf_keyword(p, "packets");
    return stf_operator(p, &s->op) && stf_number(p, "the count", UINT64_MAX, &s->number) &&
           stf_end(p);
}

bool stf_run_entry_counter(struct run *r, const struct stf_statement *s) {
    struct sk_entry_spec e;
    struct sk_error err;
    struct sk_data d;
    const char *table;
    if (!stf_done(r, sk_control_counter_owner(stf_switch(r), s->name, &table, &err), &err) ||
        !stf_entry_spec(r, s, table, &e) ||
        !stf_done(r, sk_control_entry_read(stf_switch(r), &e, &d, &err), &err))
        return false;
    const char *got = sk_data_find(&d, s->bytes ? "bytes" : "pkts");
    if (!got)
        return stf_unusable(r, "counter '%s' counts no %s", s->name,
                            s->bytes ? "bytes" : "packets");
    uint64_t n = strtoull(got, NULL, 10);
    if (!stf_holds(n < s->number ? -1 : n > s->number, s->op))
        stf_differs(r, "the entry's counter %s has %s %s, expected %s %" PRIu64, s->name, got,
                    s->bytes ? "bytes" : "packets", stf_op_text[s->op], s->number);
    return true;
}

// name, priority, keys, args
bool stf_parse_entry_write(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a table's name");
    return s->name && stf_parse_entry(p, s) && stf_meter_fields(p, s);
}

bool stf_run_entry_write(struct run *r, const struct stf_statement *s) {
    struct sk_entry_spec e;
    struct sk_error err;
    return stf_entry_spec(r, s, s->name, &e) &&
           stf_done(r, sk_control_entry_write(stf_switch(r), &e, s->args, s->n_args, &err), &err);
}

// name, priority, keys, field, op, value
bool stf_parse_check_entry(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a table's name");
    return s->name && stf_parse_entry(p, s) && comparison(p, s);
}

bool stf_run_check_entry(struct run *r, const struct stf_statement *s) {
    struct sk_entry_spec e;
    struct sk_error err;
    struct sk_data d;
    return stf_entry_spec(r, s, s->name, &e) &&
           stf_done(r, sk_control_entry_read(stf_switch(r), &e, &d, &err), &err) &&
           stf_meter_compare(r, s, &d);
}

// ---- ageing -------------------------------------------------------------------------------------

// name, priority, keys
bool stf_parse_expect_idle(struct parser *p, struct stf_statement *s) {
    s->name = stf_name(p, "a table's name");
    return s->name && stf_parse_entry(p, s) && stf_end(p);
}

static void stf_meter_keep_event(void *aux, const struct sk_idle_event *event) {
    struct stf_idle **list = aux, *e = malloc(sizeof *e);
    if (!e)
        abort();
    *e = (struct stf_idle){.table = event->table, .entry = event->entry->id, .idle = event->idle};
    while (*list)
        list = &(*list)->next;
    *list = e;
}

void stf_idle_free(struct stf_idle *list) {
    for (struct stf_idle *next; list; list = next) {
        next = list->next;
        free(list);
    }
}

bool stf_run_expect_idle(struct run *r, const struct stf_statement *s) {
    struct sk_entry_spec e;
    struct sk_found found;
    struct sk_error err;
    bool idle = s->kind == STF_EXPECT_IDLE;
    if (!stf_entry_spec(r, s, s->name, &e) ||
        !stf_done(r, sk_control_entry_find(stf_switch(r), &e, &found, &err), &err))
        return false;
    sk_control_idle_poll(
        stf_switch(r), NULL,
        &(struct sk_idle_listener){.fn = stf_meter_keep_event, .aux = stf_idle(r)});
    for (struct stf_idle **at = stf_idle(r); *at; at = &(*at)->next) {
        struct stf_idle *event = *at;
        if (event->table != found.desc || event->entry != found.entry[0]->id || event->idle != idle)
            continue;
        *at = event->next;
        free(event);
        return true;
    }
    stf_differs(r, "no report that the entry of '%s' became %s", s->name, idle ? "idle" : "active");
    return true;
}

bool stf_run_no_idle(struct run *r, const struct stf_statement *s) {
    (void)s;
    sk_control_idle_poll(
        stf_switch(r), NULL,
        &(struct sk_idle_listener){.fn = stf_meter_keep_event, .aux = stf_idle(r)});
    if (*stf_idle(r))
        stf_differs(r, "an entry of '%s' was reported %s", (*stf_idle(r))->table->name,
                    (*stf_idle(r))->idle ? "idle" : "active");
    return true;
}

bool stf_run_update_hit_state(struct run *r, const struct stf_statement *s) {
    struct sk_error err;
    return stf_done(r, sk_control_hit_update(stf_switch(r), NULL, s->name, &err), &err);
}
