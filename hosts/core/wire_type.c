// SPDX-License-Identifier: Apache-2.0
#include "hosts/core/wire_type.h"

#include <stdlib.h>
#include <string.h>

#include "hosts/core/float_bits.h"

// ---- halves ----------------------------------------------------------------------------------

#define F32_SIGN     0x80000000u
#define F32_INFINITY 0x7f800000u
#define F16_INFINITY 0x7c00u
#define F16_NAN      0x7e00u

float sk_f16_value(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fffu;

    if (rest >= F16_INFINITY)
        return sk_float_of_bits(sign | F32_INFINITY | (rest & 0x3ff) << 13);
    if (rest < 0x400) // zero or subnormal: an integer times 2^-24
        return sk_float_of_bits(sign | sk_bits_of_float((float)rest * 0x1p-24f));
    return sk_float_of_bits(sign | ((rest << 13) + (112u << 23)));
}

uint16_t sk_f16_nearest(float value) {
    uint32_t bits = sk_bits_of_float(value), sign = bits >> 16 & 0x8000, rest = bits & ~F32_SIGN;

    if (rest >= 0x47800000) // 65536
        return (uint16_t)(sign | (rest > F32_INFINITY ? F16_NAN : F16_INFINITY));
    if (rest < 0x38800000) // below 2^-14: an f32 from 1/2 on has the step of a subnormal half
        return (uint16_t)(sign | (sk_bits_of_float(sk_float_of_bits(rest) + 0.5f) -
                                  sk_bits_of_float(0.5f)));
    rest += 0xfff + (rest >> 13 & 1);
    return (uint16_t)(sign | (rest - (112u << 23)) >> 13);
}

float sk_bf16_value(uint16_t bits) {
    return sk_float_of_bits((uint32_t)bits << 16);
}

uint16_t sk_bf16_nearest(float value) {
    uint32_t bits = sk_bits_of_float(value);

    if ((bits & ~F32_SIGN) > F32_INFINITY)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// ---- integers of 64 bits ---------------------------------------------------------------------

#define LIMBS     3
#define LIMB_BITS 22
#define LIMB_MASK ((UINT64_C(1) << LIMB_BITS) - 1)

__extension__ typedef __int128 wire_i128;

// Plane i has the i-th limb of all elements.
static void wire_put_i64(int32_t *limbs, const int64_t *in, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t u = (uint64_t)in[i] ^ UINT64_C(1) << 63;
        for (unsigned l = 0; l < LIMBS; l++)
            limbs[l * count + i] = (int32_t)(u >> (l * LIMB_BITS) & LIMB_MASK);
    }
}

static wire_i128 wire_sum_i64(const struct sk_wire *w, size_t i) {
    const int32_t *limbs = w->room;
    wire_i128 sum = -((wire_i128)w->workers << 63);

    for (unsigned l = 0; l < LIMBS; l++)
        sum += (wire_i128)limbs[l * w->count + i] << (l * LIMB_BITS);
    return sum;
}

static int wire_get_i64(const struct sk_wire *w) {
    int64_t *out = w->out;

    for (size_t i = 0; i < w->count; i++) {
        wire_i128 sum = wire_sum_i64(w, i);
        if (sum < INT64_MIN || sum > INT64_MAX)
            return SILKEN_ERR_RANGE;
    }
    for (size_t i = 0; i < w->count; i++)
        out[i] = (int64_t)wire_sum_i64(w, i);
    return 0;
}

// ---- floats ----------------------------------------------------------------------------------

static void wire_put_floats(float *room, const void *in, size_t count, enum silken_type type) {
    const uint16_t *half = in;
    const double *wide = in;

    if (type == SILKEN_F64)
        for (size_t i = 0; i < count; i++)
            room[i] = (float)wide[i];
    else if (type == SILKEN_F16)
        for (size_t i = 0; i < count; i++)
            room[i] = sk_f16_value(half[i]);
    else
        for (size_t i = 0; i < count; i++)
            room[i] = sk_bf16_value(half[i]);
}

static void wire_get_floats(const struct sk_wire *w, float divisor) {
    const float *room = w->room ? w->room : w->out;
    uint16_t *half = w->out;
    double *wide = w->out;
    float *same = w->out;

    for (size_t i = 0; i < w->count; i++) {
        switch (w->type) {
        case SILKEN_F64:
            wide[i] = (double)room[i] / (double)divisor;
            break;
        case SILKEN_F16:
            half[i] = sk_f16_nearest(room[i] / divisor);
            break;
        case SILKEN_BF16:
            half[i] = sk_bf16_nearest(room[i] / divisor);
            break;
        default:
            same[i] = room[i] / divisor;
        }
    }
}

// ---- both ways -------------------------------------------------------------------------------

size_t sk_type_bytes(enum silken_type type) {
    switch (type) {
    case SILKEN_F16:
    case SILKEN_BF16:
        return 2;
    case SILKEN_F32:
    case SILKEN_I32:
        return 4;
    case SILKEN_F64:
    case SILKEN_I64:
        return 8;
    }
    return 0;
}

static bool wire_is_integer(enum silken_type type) {
    return type == SILKEN_I32 || type == SILKEN_I64;
}

static int wire_check(size_t count, const void *in, const void *out, enum silken_type type,
                      enum silken_op op, uint32_t workers, bool halves) {
    if (sk_type_bytes(type) == 0 || (op != SILKEN_SUM && op != SILKEN_AVERAGE) ||
        count > SIZE_MAX / 32 || (count > 0 && (!in || !out)))
        return SILKEN_ERR_INVALID;
    if ((wire_is_integer(type) && (op == SILKEN_AVERAGE || halves)) ||
        (type == SILKEN_I64 && workers > SK_WIRE_I64_WORKERS))
        return SILKEN_ERR_UNSUPPORTED;
    return 0;
}

int sk_wire_begin(struct sk_wire *w, struct sk_tensor *tensor, const void *in, void *out,
                  size_t count, enum silken_type type, enum silken_op op, uint32_t workers,
                  bool halves) {
    int rc = wire_check(count, in, out, type, op, workers, halves);
    const bool half = halves && type == SILKEN_F16;

    *w = (struct sk_wire){
        .type = type, .op = op, .workers = workers, .count = count, .out = out, .halves = half};
    *tensor = (struct sk_tensor){.type = wire_is_integer(type) ? SILKEN_I32
                                         : half                ? SILKEN_F16
                                                               : SILKEN_F32,
                                 .in = in,
                                 .out = out,
                                 .count = type == SILKEN_I64 ? LIMBS * count : count};
    if (rc != 0 || type == SILKEN_F32 || type == SILKEN_I32 || half || count == 0)
        return rc;
    w->room = malloc(4 * tensor->count);
    if (!w->room)
        return SILKEN_ERR_NOMEM;
    if (type == SILKEN_I64)
        wire_put_i64(w->room, in, count);
    else
        wire_put_floats(w->room, in, count, type);
    tensor->in = tensor->out = w->room;
    return 0;
}

static void wire_average_halves(const struct sk_wire *w) {
    uint16_t *half = w->out;

    for (size_t i = 0; i < w->count; i++)
        half[i] = sk_f16_nearest(sk_f16_value(half[i]) / (float)w->workers);
}

int sk_wire_end(struct sk_wire *w) {
    if (w->type == SILKEN_I64)
        return wire_get_i64(w);
    if (w->halves) {
        if (w->op == SILKEN_AVERAGE)
            wire_average_halves(w);
        return 0;
    }
    if (w->room || w->op == SILKEN_AVERAGE)
        wire_get_floats(w, w->op == SILKEN_AVERAGE ? (float)w->workers : 1);
    return 0;
}

void sk_wire_free(struct sk_wire *w) {
    free(w->room);
    w->room = NULL;
}
