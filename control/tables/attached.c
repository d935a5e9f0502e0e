// SPDX-License-Identifier: Apache-2.0
#include "control/tables/attached.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/tables/idle.h"
#include "control/tables/values.h"

// The highest rate and burst that a Tofino's meter can be given; what one has that nobody set.
#define TOFINO_MAX_KBPS  UINT64_C(5195848221)
#define TOFINO_MAX_KBITS UINT64_C(4380866642)

#define FS_PER_NS 1000000u
#define ONE       (UINT64_C(1) << 32) // probability 1

enum datum {
    PKTS,
    BYTES,
    CIR_KBPS,
    PIR_KBPS,
    CBS_KBITS,
    PBS_KBITS,
    CIR_PPS,
    PIR_PPS,
    CBS_PKTS,
    PBS_PKTS,
    LPF_TYPE,
    LPF_GAIN,
    LPF_DECAY,
    LPF_SCALE,
    WRED_TAU,
    WRED_MIN,
    WRED_MAX,
    WRED_PROBABILITY,
    TTL,
    HIT_STATE,
    N_DATA
};
static const struct {
    const char *name;
    const char *brief; // where it starts in 'name'
} data[N_DATA] = {
#define NAME(prefix, rest)                                                                         \
    { prefix rest, rest }
    [PKTS] = NAME("$COUNTER_SPEC_", "PKTS"),
    [BYTES] = NAME("$COUNTER_SPEC_", "BYTES"),
    [CIR_KBPS] = NAME("$METER_SPEC_", "CIR_KBPS"),
    [PIR_KBPS] = NAME("$METER_SPEC_", "PIR_KBPS"),
    [CBS_KBITS] = NAME("$METER_SPEC_", "CBS_KBITS"),
    [PBS_KBITS] = NAME("$METER_SPEC_", "PBS_KBITS"),
    [CIR_PPS] = NAME("$METER_SPEC_", "CIR_PPS"),
    [PIR_PPS] = NAME("$METER_SPEC_", "PIR_PPS"),
    [CBS_PKTS] = NAME("$METER_SPEC_", "CBS_PKTS"),
    [PBS_PKTS] = NAME("$METER_SPEC_", "PBS_PKTS"),
    [LPF_TYPE] = NAME("$LPF_SPEC_", "TYPE"),
    [LPF_GAIN] = NAME("$LPF_SPEC_", "GAIN_TIME_CONSTANT_NS"),
    [LPF_DECAY] = NAME("$LPF_SPEC_", "DECAY_TIME_CONSTANT_NS"),
    [LPF_SCALE] = NAME("$LPF_SPEC_", "OUT_SCALE_DOWN_FACTOR"),
    [WRED_TAU] = NAME("$WRED_SPEC_", "TIME_CONSTANT_NS"),
    [WRED_MIN] = NAME("$WRED_SPEC_", "MIN_THRESH_CELLS"),
    [WRED_MAX] = NAME("$WRED_SPEC_", "MAX_THRESH_CELLS"),
    [WRED_PROBABILITY] = NAME("$WRED_SPEC_", "MAX_PROBABILITY"),
    [TTL] = NAME("$ENTRY_", "TTL"),
    [HIT_STATE] = NAME("$ENTRY_", "HIT_STATE"),
#undef NAME
};
#define BIT(d)     (1u << (d))
#define KBITS_BITS (BIT(CIR_KBPS) | BIT(PIR_KBPS) | BIT(CBS_KBITS) | BIT(PBS_KBITS))
#define PKTS_BITS  (BIT(CIR_PPS) | BIT(PIR_PPS) | BIT(CBS_PKTS) | BIT(PBS_PKTS))
#define LPF_BITS   (BIT(LPF_TYPE) | BIT(LPF_GAIN) | BIT(LPF_DECAY) | BIT(LPF_SCALE))
#define WRED_BITS  (BIT(WRED_TAU) | BIT(WRED_MIN) | BIT(WRED_MAX) | BIT(WRED_PROBABILITY))

_Static_assert(N_DATA <= 32, "one bit each");

// ---- names --------------------------------------------------------------------------------------

static bool spells(enum datum d, const char *name) {
    return strcasecmp(data[d].name, name) == 0 || strcasecmp(data[d].name + 1, name) == 0 ||
           strcasecmp(data[d].brief, name) == 0;
}

bool sk_is_attached_name(const char *name) {
    return name[0] == '$';
}

static unsigned meter_bits(const struct sk_holder *holder) {
    switch (holder->meter_kind) {
    case SK_METER:
        return holder->meter_bytes ? KBITS_BITS : PKTS_BITS;
    case SK_LPF:
        return LPF_BITS;
    case SK_WRED:
        return WRED_BITS;
    default:
        return 0;
    }
}

// What the place holds.
static unsigned held(const struct sk_holder *holder) {
    unsigned bits = meter_bits(holder);
    if (holder->counter)
        bits |= holder->counter_type == 0   ? BIT(PKTS)
                : holder->counter_type == 1 ? BIT(BYTES)
                                            : BIT(PKTS) | BIT(BYTES);
    return bits | (holder->idle ? BIT(TTL) | BIT(HIT_STATE) : 0);
}

static int no_such(const struct sk_holder *holder, const char *name, struct sk_error *err) {
    char list[320] = "";
    unsigned bits = held(holder);
    for (unsigned d = 0; d < N_DATA; d++)
        if (bits & BIT(d)) {
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", data[d].name);
        }
    return sk_fail(err, "%s has no '%s'; it has %s", holder->what, name,
                   *list ? list : "no counter, meter or ageing");
}

static int find_datum(const struct sk_holder *holder, const char *name, struct sk_error *err) {
    for (unsigned d = 0; d < N_DATA; d++)
        if (held(holder) & BIT(d) && spells(d, name))
            return (int)d;
    return no_such(holder, name, err);
}

void sk_attached_each(const struct sk_holder *holder,
                      void (*fn)(void *aux, const char *name, const char *brief), void *aux) {
    for (unsigned d = 0; d < N_DATA; d++)
        if (held(holder) & BIT(d))
            fn(aux, data[d].name, data[d].brief);
}

const char *sk_data_find(const struct sk_data *list, const char *name) {
    for (size_t i = 0; i < list->n; i++)
        for (unsigned d = 0; d < N_DATA; d++)
            if (strcmp(list->list[i].name, data[d].name) == 0 && spells(d, name))
                return list->list[i].value;
    return NULL;
}

struct sk_holder sk_holder_of_table(const struct sk_table_desc *d) {
    return (struct sk_holder){.what = "the table",
                              .counter = d->has_counter,
                              .counter_type = d->counter_type,
                              .idle = d->idle_timeout,
                              .meter_kind = d->meter_kind,
                              .meter_bytes = d->meter_bytes};
}

// ---- values -------------------------------------------------------------------------------------

static int attached_number(const char *text, uint64_t max, uint64_t *out, struct sk_error *err) {
    const struct sk_field_desc f = {.width = 64};
    int rc = sk_value_parse(text, &f, out, err);
    if (rc == 0 && *out > max)
        rc = sk_fail(err, "%s is too large; it must be at most %" PRIu64, text, max);
    return rc;
}

// "12.34" in units of 10^-digits. At most 18 digits before the point count.
static int decimal(const char *text, unsigned digits, uint64_t max, uint64_t *out,
                   struct sk_error *err) {
    uint64_t v = 0;
    const char *at = text;
    bool any = false;
    for (; isdigit((unsigned char)*at) && v <= UINT64_MAX / 100; any = true)
        v = 10 * v + (uint64_t)(*at++ - '0');
    if (*at == '.')
        at++;
    for (; digits > 0; digits--) {
        if (v > UINT64_MAX / 100)
            return sk_fail(err, "%s is too large", text);
        any |= isdigit((unsigned char)*at) != 0;
        v = 10 * v + (isdigit((unsigned char)*at) ? (uint64_t)(*at++ - '0') : 0);
    }
    while (*at == '0')
        at++;
    if (!any || *at)
        return sk_fail(err, "'%s' is not a number, or has more decimals than are kept", text);
    if (v > max)
        return sk_fail(err, "%s is too large", text);
    *out = v;
    return 0;
}

static int probability(const char *text, uint64_t *out, struct sk_error *err) {
    const uint64_t unit = 1000000000;
    uint64_t v;
    int rc = decimal(text, 9, unit, &v, err);
    if (rc)
        return rc;
    *out = (uint64_t)((((sk_u128)v << 32) + unit / 2) / unit);
    return *out > 0 ? 0 : sk_fail(err, "a probability of zero is not supported by WRED");
}

static int lpf_type(const char *text, bool *rate, struct sk_error *err) {
    *rate = strcasecmp(text, "RATE") == 0;
    return *rate || strcasecmp(text, "SAMPLE") == 0
               ? 0
               : sk_fail(err, "'%s' must be RATE or SAMPLE", text);
}

static int attached_hit_state(const char *text, bool *hit, struct sk_error *err) {
    *hit = strcasecmp(text, "ENTRY_ACTIVE") == 0;
    return *hit || strcasecmp(text, "ENTRY_IDLE") == 0
               ? 0
               : sk_fail(err, "'%s' must be ENTRY_ACTIVE or ENTRY_IDLE", text);
}

static int parse_value(enum datum d, const char *text, struct sk_attached *a,
                       struct sk_error *err) {
    uint64_t v = 0;
    int rc;
    switch (d) {
    case PKTS:
        return attached_number(text, UINT64_MAX, &a->packets, err);
    case BYTES:
        return attached_number(text, UINT64_MAX, &a->bytes, err);
    case CIR_KBPS:
    case CIR_PPS:
        return attached_number(text, SK_RATE_MAX, &a->rate.cir, err);
    case PIR_KBPS:
    case PIR_PPS:
        return attached_number(text, SK_RATE_MAX, &a->rate.pir, err);
    case CBS_KBITS:
    case CBS_PKTS:
        return attached_number(text, SK_BURST_MAX, &a->rate.cbs, err);
    case PBS_KBITS:
    case PBS_PKTS:
        return attached_number(text, SK_BURST_MAX, &a->rate.pbs, err);
    case LPF_TYPE:
        return lpf_type(text, &a->lpf.rate, err);
    case LPF_GAIN:
        return decimal(text, 6, SK_TAU_MAX_FS, &a->lpf.gain_fs, err);
    case LPF_DECAY:
        return decimal(text, 6, SK_TAU_MAX_FS, &a->lpf.decay_fs, err);
    case LPF_SCALE:
        rc = attached_number(text, 31, &v, err);
        a->lpf.scale_down = (uint32_t)v;
        return rc;
    case WRED_TAU:
        return decimal(text, 6, SK_TAU_MAX_FS, &a->wred.tau_fs, err);
    case WRED_MIN:
        rc = attached_number(text, UINT32_MAX, &v, err);
        a->wred.min = (uint32_t)v;
        return rc;
    case WRED_MAX:
        rc = attached_number(text, UINT32_MAX, &v, err);
        a->wred.max = (uint32_t)v;
        return rc;
    case WRED_PROBABILITY:
        return probability(text, &a->wred.probability, err);
    case TTL:
        return attached_number(text, UINT32_MAX, &a->ttl_ms, err);
    case HIT_STATE:
        return attached_hit_state(text, &a->hit, err);
    case N_DATA:
        break;
    }
    return sk_fail(err, "it cannot be set");
}

int sk_attached_parse(const struct sk_holder *holder, const char *name, const char *value,
                      struct sk_attached *out, struct sk_error *err) {
    int d = find_datum(holder, name, err);
    if (d < 0)
        return d;
    if (out->given & BIT(d))
        return sk_fail(err, "'%s' is given twice", data[d].name);
    int rc = parse_value((enum datum)d, value, out, err);
    if (rc)
        sk_error_prefix(err, "%s", data[d].name);
    out->given |= BIT(d);
    return rc;
}

// ---- whole specifications -----------------------------------------------------------------------

// The cell's specification with what is given put in.
static struct sk_attached merged(const struct sk_holder *holder, const struct sk_attached *a,
                                 const struct sk_meter_cell *cell) {
    struct sk_attached m = *a;
    if (!cell || !cell->configured)
        return m;
    if (holder->meter_kind == SK_METER) {
        const struct sk_rate_spec *s = &cell->meter.spec;
        m.rate.cir = a->given & (BIT(CIR_KBPS) | BIT(CIR_PPS)) ? a->rate.cir : s->cir;
        m.rate.pir = a->given & (BIT(PIR_KBPS) | BIT(PIR_PPS)) ? a->rate.pir : s->pir;
        m.rate.cbs = a->given & (BIT(CBS_KBITS) | BIT(CBS_PKTS)) ? a->rate.cbs : s->cbs;
        m.rate.pbs = a->given & (BIT(PBS_KBITS) | BIT(PBS_PKTS)) ? a->rate.pbs : s->pbs;
    } else if (holder->meter_kind == SK_LPF) {
        const struct sk_lpf_spec *s = &cell->lpf.spec;
        m.lpf.rate = a->given & BIT(LPF_TYPE) ? a->lpf.rate : s->rate;
        m.lpf.gain_fs = a->given & BIT(LPF_GAIN) ? a->lpf.gain_fs : s->gain_fs;
        m.lpf.decay_fs = a->given & BIT(LPF_DECAY) ? a->lpf.decay_fs : s->decay_fs;
        m.lpf.scale_down = a->given & BIT(LPF_SCALE) ? a->lpf.scale_down : s->scale_down;
    } else {
        const struct sk_wred_spec *s = &cell->wred.spec;
        m.wred.tau_fs = a->given & BIT(WRED_TAU) ? a->wred.tau_fs : s->tau_fs;
        m.wred.min = a->given & BIT(WRED_MIN) ? a->wred.min : s->min;
        m.wred.max = a->given & BIT(WRED_MAX) ? a->wred.max : s->max;
        m.wred.probability =
            a->given & BIT(WRED_PROBABILITY) ? a->wred.probability : s->probability;
    }
    return m;
}

static int check_values(const struct sk_holder *holder, const struct sk_attached *m,
                        struct sk_error *err) {
    if (holder->meter_kind == SK_METER && m->rate.pir < m->rate.cir)
        return sk_fail(err,
                       "the peak rate %" PRIu64 " is below the committed rate %" PRIu64
                       "; it must be at least that",
                       m->rate.pir, m->rate.cir);
    if (holder->meter_kind == SK_WRED && m->wred.max < m->wred.min)
        return sk_fail(err, "the maximum threshold %" PRIu32 " is below the minimum, %" PRIu32,
                       m->wred.max, m->wred.min);
    if (holder->meter_kind == SK_WRED && m->wred.max == m->wred.min && m->wred.probability != ONE)
        return sk_fail(err, "with equal thresholds the maximum probability must be 1");
    return 0;
}

int sk_attached_check(const struct sk_holder *holder, const struct sk_attached *a,
                      const struct sk_meter_cell *cell, struct sk_error *err) {
    unsigned needed = meter_bits(holder) & ~BIT(LPF_SCALE);
    if (!(a->given & meter_bits(holder)))
        return 0;
    for (unsigned d = 0; d < N_DATA && (!cell || !cell->configured); d++)
        if (needed & ~a->given & BIT(d))
            return sk_fail(err, "%s is missing; it has not been set yet", data[d].name);
    struct sk_attached m = merged(holder, a, cell);
    return check_values(holder, &m, err);
}

void sk_attached_meter(const struct sk_holder *holder, const struct sk_attached *a,
                       struct sk_meter_cell *cell) {
    if (!(a->given & meter_bits(holder)))
        return;
    struct sk_attached m = merged(holder, a, cell);
    if (holder->meter_kind == SK_METER)
        sk_meter_set(cell, &m.rate, holder->meter_bytes);
    else if (holder->meter_kind == SK_LPF)
        sk_lpf_set(cell, &m.lpf);
    else
        sk_wred_set(cell, &m.wred);
}

void sk_attached_apply(const struct sk_holder *holder, const struct sk_attached *a,
                       struct sk_entry *e, bool first, uint64_t now) {
    if (a->given & BIT(PKTS))
        e->packets = e->seen_packets = first ? a->packets : 0;
    if (a->given & BIT(BYTES))
        e->bytes = e->seen_bytes = first ? a->bytes : 0;
    if (a->given & BIT(TTL))
        sk_idle_start(e, (uint32_t)a->ttl_ms, now);
    if (a->given & BIT(HIT_STATE))
        e->idle.hit = a->hit;
    if (e->meter)
        sk_attached_meter(holder, a, e->meter);
}

// ---- reading ------------------------------------------------------------------------------------

static char *next_value(struct sk_data *out, enum datum d) {
    out->list[out->n].name = data[d].name;
    return out->list[out->n++].value;
}

static void attached_put_number(struct sk_data *out, enum datum d, uint64_t v) {
    snprintf(next_value(out, d), sizeof out->list->value, "%" PRIu64, v);
}

// v / unit with its decimals, none that are zero at the end.
static void put_decimal(struct sk_data *out, enum datum d, uint64_t whole, uint64_t part,
                        int digits) {
    char *text = next_value(out, d);
    int n = snprintf(text, sizeof out->list->value, "%" PRIu64 ".%0*" PRIu64, whole, digits, part);
    while (n > 0 && text[n - 1] == '0')
        text[--n] = 0;
    if (n > 0 && text[n - 1] == '.')
        text[n - 1] = 0;
}

static void put_ns(struct sk_data *out, enum datum d, uint64_t fs) {
    put_decimal(out, d, fs / FS_PER_NS, fs % FS_PER_NS, 6);
}

static void attached_read_meter(const struct sk_holder *holder, const struct sk_meter_cell *cell,
                                struct sk_data *out) {
    static const struct sk_rate_spec highest = {TOFINO_MAX_KBPS, TOFINO_MAX_KBPS, TOFINO_MAX_KBITS,
                                                TOFINO_MAX_KBITS};
    const struct sk_rate_spec *s = cell->configured ? &cell->meter.spec : &highest;
    if (!cell->configured && !holder->meter_bytes)
        return;
    attached_put_number(out, holder->meter_bytes ? CIR_KBPS : CIR_PPS, s->cir);
    attached_put_number(out, holder->meter_bytes ? PIR_KBPS : PIR_PPS, s->pir);
    attached_put_number(out, holder->meter_bytes ? CBS_KBITS : CBS_PKTS, s->cbs);
    attached_put_number(out, holder->meter_bytes ? PBS_KBITS : PBS_PKTS, s->pbs);
}

static void read_lpf(const struct sk_lpf_spec *s, struct sk_data *out) {
    strcpy(next_value(out, LPF_TYPE), s->rate ? "RATE" : "SAMPLE");
    put_ns(out, LPF_GAIN, s->gain_fs);
    put_ns(out, LPF_DECAY, s->decay_fs);
    attached_put_number(out, LPF_SCALE, s->scale_down);
}

static void read_wred(const struct sk_wred_spec *s, struct sk_data *out) {
    uint64_t nano = (uint64_t)(((sk_u128)s->probability * 1000000000 + ONE / 2) >> 32);
    put_ns(out, WRED_TAU, s->tau_fs);
    attached_put_number(out, WRED_MIN, s->min);
    attached_put_number(out, WRED_MAX, s->max);
    put_decimal(out, WRED_PROBABILITY, nano / 1000000000, nano % 1000000000, 9);
}

void sk_attached_read(const struct sk_holder *holder, const struct sk_entry *e,
                      const struct sk_meter_cell *cell, uint64_t now, struct sk_data *out) {
    out->n = 0;
    if (e && held(holder) & BIT(PKTS))
        attached_put_number(out, PKTS, e->packets);
    if (e && held(holder) & BIT(BYTES))
        attached_put_number(out, BYTES, e->bytes);
    if (cell && holder->meter_kind == SK_METER)
        attached_read_meter(holder, cell, out);
    else if (cell && cell->configured && holder->meter_kind == SK_LPF)
        read_lpf(&cell->lpf.spec, out);
    else if (cell && cell->configured && holder->meter_kind == SK_WRED)
        read_wred(&cell->wred.spec, out);
    if (e && holder->idle) {
        attached_put_number(out, TTL, sk_idle_left(e, now));
        strcpy(next_value(out, HIT_STATE), sk_idle_hit(e) ? "ENTRY_ACTIVE" : "ENTRY_IDLE");
    }
}
