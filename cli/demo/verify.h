// SPDX-License-Identifier: Apache-2.0
//
// verify: is what came back from the switch the sum of what the workers put in?
//
// Holds the result of one all-reduce against the workers' true tensors, which reach this code
// without passing the switch or the host stack. Nothing here is shared with the code under test:
// the block's exponent, its scale and the bound are worked out again from the definitions of
// SwitchML 4.6 and appendix E.
//
// A block is the part of the tensor that travels in one packet. With n workers and h the largest
// magnitude that any worker has in the block,
//
//      m   the smallest whole number, at least -126, with h < 2^m
//      f = (2^31 - 1) / (n 2^m)
//      |result - exact sum| <= n / f + (half a unit in the last place of the result)
//
// The first term is theorem 1. The theorem speaks of the value A / f as a real number; a worker
// gets it as a float, and the second term is the rounding that this alone may add. The exact sum is
// taken in double precision, whose own error is a millionth of the first term.
//
// ATP has one factor for all, f = 10^8, and no blocks; theorem 1 is the same. Sums that do not fit
// are added up as floats, with an error of the second term alone.
//
// A switch that adds 16-bit floats (11 digits, the last of 2^-24 at least) gets a block times 2^-m.
// Each worker's element is rounded to one of them, and so is the sum, so
//
//      |result - exact sum| <= sum of r(|x|) + r(|exact sum| + sum of r(|x|)),
//      r(x) = max(x * 2^-11, 2^(m-25)), half a unit in the last place of x
//
// A block in which all tensors are zero must come back as zeros; one that has a NaN, an infinity or
// a magnitude of 2^126 and above, whose sum no 8-bit exponent can carry, as NaN everywhere.
#ifndef SILKEN_CLI_DEMO_VERIFY_H
#define SILKEN_CLI_DEMO_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What was found so far; starts as zeros. Only the first failure is kept in detail.
struct verify_tally {
    uint64_t sums;          // elements compared
    uint64_t failed;        // of these, outside their bound
    double worst;           // largest error found, as a share of its bound
    double errors, squares; // of sums of 16-bit floats: squares of errors, and of exact sums, added
    struct {
        size_t element;
        double got, expected, bound;
    } first;
};

// Compares the sums result[0..n) of the tensors inputs[0..workers), element by element, in blocks
// of 'block' elements of which the last one may be shorter. Adds to '*tally' and returns true when
// everything was within its bound.
bool verify_sums(const float *result, const float *const *inputs, unsigned workers, size_t n,
                 size_t block, struct verify_tally *tally);

// The same of a switch that adds 16-bit floats.
bool verify_half_sums(const float *result, const float *const *inputs, unsigned workers, size_t n,
                      size_t block, struct verify_tally *tally);

// The same with the one factor 'f'. A sum that is no number, or is infinite, must come back as
// that.
bool verify_scaled_sums(const float *result, const float *const *inputs, unsigned workers, size_t n,
                        double f, struct verify_tally *tally);

// The bound n / f of a block with this largest magnitude, infinity when no number is expected.
double verify_bound(double largest, unsigned workers);

#endif
