// SPDX-License-Identifier: Apache-2.0
#include "stages/meter.h"

#include "stages/hash.h"

#define CLOCK_MASK       ((UINT64_C(1) << 48) - 1)
#define PARTS_PER_BIT    UINT64_C(1000000)
#define PARTS_PER_KBIT   UINT64_C(1000000000)
#define PARTS_PER_PACKET UINT64_C(1000000000)
#define POINT            16 // bits of a filter's value after the point

_Static_assert(SK_BURST_MAX <= UINT64_MAX / PARTS_PER_KBIT, "a full bucket fits in 64 bits");
_Static_assert(sizeof(struct sk_meter_cell) <= 72, "a cell and its flags: one or two lines");

// Time since 'last', which moves up to 'now'.
static uint64_t passed(uint64_t *last, uint64_t now) {
    uint64_t dt = (now - *last) & CLOCK_MASK;
    if (dt > CLOCK_MASK - SK_METER_BACK)
        return 0; // stamped before the last one
    *last = now;
    return dt;
}

// ---- meters -------------------------------------------------------------------------------------

void sk_meter_reset(struct sk_meter_cell *cell) {
    *cell = (struct sk_meter_cell){0};
}

void sk_meter_set(struct sk_meter_cell *cell, const struct sk_rate_spec *spec, bool bytes) {
    uint64_t unit = bytes ? PARTS_PER_KBIT : PARTS_PER_PACKET;
    *cell = (struct sk_meter_cell){
        .configured = true,
        .meter = {.spec = *spec, .c = spec->cbs * unit, .p = spec->pbs * unit},
    };
}

static uint64_t refill(uint64_t tokens, uint64_t rate, uint64_t dt, uint64_t full) {
    sk_u128 gain = (sk_u128)rate * dt;
    return gain >= full - tokens ? full : tokens + (uint64_t)gain;
}

// 'cost' and 'unit' (of a burst size) are in parts.
static enum sk_color meter_mark(struct sk_meter_cell *cell, uint64_t now, sk_u128 cost,
                                uint64_t unit, enum sk_color color) {
    if (!cell || !cell->configured)
        return color;
    struct sk_meter_state *m = &cell->meter;
    if (!cell->started) {
        cell->started = true;
        m->last = now;
    }
    uint64_t dt = passed(&m->last, now);
    m->c = refill(m->c, m->spec.cir, dt, m->spec.cbs * unit);
    m->p = refill(m->p, m->spec.pir, dt, m->spec.pbs * unit);
    if (color == SK_RED || m->p < cost)
        return SK_RED;
    m->p -= (uint64_t)cost;
    if (color == SK_YELLOW || m->c < cost)
        return SK_YELLOW;
    m->c -= (uint64_t)cost;
    return SK_GREEN;
}

enum sk_color sk_meter_bytes(struct sk_meter_cell *cell, uint64_t now, int64_t bytes,
                             enum sk_color color) {
    uint64_t n = bytes > 0 ? (uint64_t)bytes : 0; // an adjustment may exceed the packet
    return meter_mark(cell, now, (sk_u128)n * (8 * PARTS_PER_BIT), PARTS_PER_KBIT, color);
}

enum sk_color sk_meter_packet(struct sk_meter_cell *cell, uint64_t now, enum sk_color color) {
    return meter_mark(cell, now, PARTS_PER_PACKET, PARTS_PER_PACKET, color);
}

// ---- filters ------------------------------------------------------------------------------------

// 2^-(2^-i) for i = 1 .. 32, in units of 2^-64.
static const uint64_t root[32] = {
    UINT64_C(0xb504f333f9de6484), UINT64_C(0xd744fccad69d6af4), UINT64_C(0xeac0c6e7dd24392f),
    UINT64_C(0xf5257d152486cc2c), UINT64_C(0xfa83b2db722a033a), UINT64_C(0xfd3e0c0cf486c175),
    UINT64_C(0xfe9e115c7b8f884c), UINT64_C(0xff4ecb59511ec8a5), UINT64_C(0xffa756521c8daed2),
    UINT64_C(0xffd3a751c0f7e10c), UINT64_C(0xffe9d2b2f7db2756), UINT64_C(0xfff4e91bff1b8c3e),
    UINT64_C(0xfffa747ea0040664), UINT64_C(0xfffd3a3b7814eb54), UINT64_C(0xfffe9d1cc60ddab1),
    UINT64_C(0xffff4e8e25879bfa), UINT64_C(0xffffa7470363f451), UINT64_C(0xffffd3a37dda0313),
    UINT64_C(0xffffe9d1bdf703af), UINT64_C(0xfffff4e8debe025e), UINT64_C(0xfffffa746f4fa150),
    UINT64_C(0xfffffd3a37a3f8b0), UINT64_C(0xfffffe9d1bd1065a), UINT64_C(0xffffff4e8de845ae),
    UINT64_C(0xffffffa746f41377), UINT64_C(0xffffffd3a37a05e4), UINT64_C(0xffffffe9d1bd01fc),
    UINT64_C(0xfffffff4e8de80c0), UINT64_C(0xfffffffa746f4051), UINT64_C(0xfffffffd3a37a025),
    UINT64_C(0xfffffffe9d1bd011), UINT64_C(0xffffffff4e8de808),
};
#define LOG2_E UINT64_C(0x5c551d94ae0bf85e) // log2(e) in units of 2^-62

// e^-x = 2^-(x log2 e): the whole part shifts, each bit of the rest multiplies by its root of 1/2.
uint64_t sk_decay(uint64_t dt_ns, uint64_t tau_fs) {
    if (tau_fs == 0)
        return 0;
    if (dt_ns == 0)
        return UINT64_C(1) << 32;
    sk_u128 x = ((sk_u128)dt_ns * 1000000 << 32) / tau_fs; // dt / tau in units of 2^-32
    if (x >> 32 >= 64)
        return 0;
    sk_u128 y = x * LOG2_E >> 62;
    unsigned whole = (unsigned)(y >> 32);
    uint32_t rest = (uint32_t)y;
    uint64_t product = UINT64_MAX;
    for (unsigned i = 0; rest; i++, rest <<= 1)
        if (rest >> 31)
            product = (uint64_t)((sk_u128)product * root[i] >> 64);
    return whole >= 32 ? 0 : product >> 32 >> whole;
}

static uint64_t meter_scaled(uint64_t v, uint64_t factor) { // factor: units of 2^-32
    return (uint64_t)((sk_u128)v * factor >> 32);
}

static uint64_t since_last(struct sk_filter *f, uint64_t now) {
    if (!f->started)
        f->last = now;
    return passed(&f->last, now);
}

// The value moves towards x; what is cut off makes it arrive.
static void filter_sample(struct sk_filter *f, uint64_t now, uint32_t value, uint64_t gain_fs,
                          uint64_t decay_fs) {
    uint64_t x = (uint64_t)value << POINT, dt = since_last(f, now);
    if (!f->started)
        f->value = x;
    else if (x >= f->value)
        f->value = x - meter_scaled(x - f->value, sk_decay(dt, gain_fs));
    else
        f->value = x + meter_scaled(f->value - x, sk_decay(dt, decay_fs));
    f->started = true;
}

static void filter_rate(struct sk_filter *f, uint64_t now, uint32_t value, uint64_t decay_fs) {
    uint64_t x = (uint64_t)value << POINT, dt = since_last(f, now);
    uint64_t left = f->started ? meter_scaled(f->value, sk_decay(dt, decay_fs)) : 0;
    f->value = left > UINT64_MAX - x ? UINT64_MAX : left + x;
    f->started = true;
}

void sk_lpf_set(struct sk_meter_cell *cell, const struct sk_lpf_spec *spec) {
    *cell = (struct sk_meter_cell){.configured = true, .lpf = {.spec = *spec}};
}

uint32_t sk_lpf_run(struct sk_meter_cell *cell, uint64_t now, uint32_t value, unsigned width) {
    if (!cell || !cell->configured)
        return value;
    const struct sk_lpf_spec *s = &cell->lpf.spec;
    if (s->rate)
        filter_rate(&cell->lpf.f, now, value, s->decay_fs);
    else
        filter_sample(&cell->lpf.f, now, value, s->gain_fs, s->decay_fs);
    uint64_t v = cell->lpf.f.value, half = UINT64_C(1) << (POINT - 1);
    v = (v > UINT64_MAX - half ? UINT64_MAX : v + half) >> POINT >> s->scale_down;
    return v > sk_mask(width) ? sk_mask32(width) : (uint32_t)v;
}

void sk_wred_set(struct sk_meter_cell *cell, const struct sk_wred_spec *spec) {
    *cell = (struct sk_meter_cell){.configured = true, .wred = {.spec = *spec}};
}

bool sk_wred_run(struct sk_meter_cell *cell, uint64_t now, uint32_t value, uint64_t *random) {
    if (!cell || !cell->configured)
        return false;
    const struct sk_wred_spec *s = &cell->wred.spec;
    filter_sample(&cell->wred.f, now, value, s->tau_fs, s->tau_fs);
    uint64_t average = cell->wred.f.value, low = (uint64_t)s->min << POINT;
    if (average >= (uint64_t)s->max << POINT && average > low)
        return true;
    if (average <= low)
        return false;
    // random / 2^32 < probability / 2^32 * (average - min) / (max - min)
    uint64_t r = sk_prng_next(random) >> 32;
    uint64_t span = (uint64_t)(s->max - s->min) << POINT;
    return (sk_u128)r * span < (sk_u128)s->probability * (average - low);
}
