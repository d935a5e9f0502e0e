// SPDX-License-Identifier: Apache-2.0
//
// wire_type.h: tensors of all types as what engines add up, floats or integers of 32 bits; internal
// to hosts/.
//
//      f32, i32    as they are
//      f16         as they are, if the switch adds 16-bit floats ('halves'); else as bf16
//      bf16        as f32, without a loss; the sum is rounded once, to nearest even
//      f64         rounded to f32
//      i64         three i32 with 22, 22 and 20 bits of the number plus 2^63: sums over up to
//                  SK_WIRE_I64_WORKERS workers fit, so that every rank knows the exact sum and sees
//                  alike whether it is an int64_t
//
//      sk_wire_begin()     the tensor for the engines, with the values in it
//      sk_wire_end()       once it holds sums: the result in its own type
//      sk_wire_free()      in any case; the zeroed struct is accepted
//
// Concurrency: a struct belongs to one thread at a time.
#ifndef SILKEN_HOSTS_CORE_WIRE_TYPE_H
#define SILKEN_HOSTS_CORE_WIRE_TYPE_H

#include "hosts/core/engine.h"

#define SK_WIRE_I64_WORKERS 512

struct sk_wire {
    enum silken_type type;
    enum silken_op op;
    uint32_t workers;
    size_t count;
    void *out;
    void *room; // of the converted values, or NULL: the engines' tensor is the caller's
    bool halves;
};

// Fills '*tensor'. 'halves': the switch adds 16-bit floats. Returns 0, SILKEN_ERR_INVALID,
// SILKEN_ERR_UNSUPPORTED (too many workers for i64, the average of integers, or integers where the
// switch adds 16-bit floats) or SILKEN_ERR_NOMEM.
int sk_wire_begin(struct sk_wire *w, struct sk_tensor *tensor, const void *in, void *out,
                  size_t count, enum silken_type type, enum silken_op op, uint32_t workers,
                  bool halves);

// Returns 0, or SILKEN_ERR_RANGE: a sum is no int64_t, and 'out' is as it was.
int sk_wire_end(struct sk_wire *w);

void sk_wire_free(struct sk_wire *w);

// Bytes of an element; 0: there is no such type.
size_t sk_type_bytes(enum silken_type type);

// One element: bits of a half or a bfloat16 and its value, and the nearest of the type, ties to
// even. NaN stays NaN, what is too large becomes an infinity.
float sk_f16_value(uint16_t bits);
uint16_t sk_f16_nearest(float value);
float sk_bf16_value(uint16_t bits);
uint16_t sk_bf16_nearest(float value);

#endif
