// SPDX-License-Identifier: Apache-2.0
//
// mathunit: a stateful ALU's approximate arithmetic (tna-facts 4.3): products, squares, roots and
// their reciprocals by a table over the operand's leading bits.
//
// The operand x is read as (i / 8) * 2^e with i in 8..15; for 'shift' -1, where e has to be even,
// with i in 4..15. Bits of x below that are lost. The exponent is halved (shift -1), kept (0) or
// doubled (1), and negated with 'invert'. The result is table[i] * 2^(exponent + scale), rounded
// down and cut to 'width' bits (at most 32). x = 0 takes table[0] with exponent 0.
#ifndef SILKEN_STAGES_MATHUNIT_H
#define SILKEN_STAGES_MATHUNIT_H

#include "stages/bits.h"

struct sk_math_unit {
    bool invert;
    int8_t shift, scale; // -1..1, -32..31
    uint8_t table[16];
};

static inline uint32_t sk_math_unit(const struct sk_math_unit *m, uint32_t x, unsigned width) {
    int exponent = x ? 31 - __builtin_clz(x) : 0;
    if (m->shift < 0)
        exponent += exponent & 1;
    uint64_t eighths = (uint64_t)x << 3; // x / 2^exponent in eighths is its integer part
    unsigned i = (unsigned)(eighths >> exponent);
    if (m->shift < 0)
        exponent /= 2;
    else
        exponent <<= m->shift;
    if (m->invert)
        exponent = -exponent;
    exponent += m->scale;
    uint32_t v = m->table[i];
    if (exponent <= -8 || exponent >= 32)
        return 0;
    return (exponent < 0 ? v >> -exponent : v << exponent) & sk_mask32(width);
}

#endif
