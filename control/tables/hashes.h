// SPDX-License-Identifier: Apache-2.0
//
// hashes: changing what a Hash computes while the switch runs (tna-facts 4.6; BF Runtime's tables
// <hash>.configure, <hash>.algorithm and <hash>.compute).
//
// Only a hash whose get() is called at one place of the program can be changed, as on the chip. An
// unchanged hash computes what the program says. Errors as in control.h: a refused call changes
// nothing.
#ifndef SILKEN_CONTROL_TABLES_HASHES_H
#define SILKEN_CONTROL_TABLES_HASHES_H

#include "control/tables/control.h"

// The fields that are hashed, the first most significant: "hdr.ipv4.src_addr" or some of its bits,
// "hdr.ipv4.src_addr[23:0]", where a field may come more than once. A name is one of the get()'s
// list or a suffix that is unique.
int sk_control_hash_fields(struct sk_switch *sw, const char *name, const char *const *fields,
                           size_t n, int pipe, struct sk_error *err);

// The same by number: 'fields' of 'slices' are positions in the description's list. Twins are of
// one length and each other's, and only CRCs have them. 'n' 0: the fields as the program has them.
int sk_control_hash_slices(struct sk_switch *sw, const char *name,
                           const struct sk_hash_slice *slices, size_t n, int pipe,
                           struct sk_error *err);

// The algorithm, by names and values:
//   algorithm       IDENTITY, RANDOM, or a CRC by BF Runtime's name (CRC_16, CRC_32C, X_25...)
// or one of one's own:
//   polynomial (without its leading 1), hash_bit_width (1 to 64), reverse, init, final_xor
// and with either, or alone (the algorithm stays what it was)
//   extend          of a CRC narrower than the result: it is repeated
//   rotate          bits to the left, within the width of the Hash's type
//   msb             is accepted and changes nothing
// What is not given is 0 or false.
int sk_control_hash_algorithm(struct sk_switch *sw, const char *name,
                              const struct sk_named_value *values, size_t n, int pipe,
                              struct sk_error *err);

// The algorithm as the program has it again.
int sk_control_hash_algorithm_reset(struct sk_switch *sw, const char *name, int pipe,
                                    struct sk_error *err);
// Algorithm and fields as the program has them again.
int sk_control_hash_reset(struct sk_switch *sw, const char *name, int pipe, struct sk_error *err);

// What the hash is, in one pipe (the first that has it when 'pipe' is -1), for values of the fields
// that are no constants, in any order; all must be given. 'result' gets two words.
int sk_control_hash_compute(struct sk_switch *sw, const char *name,
                            const struct sk_named_value *values, size_t n, int pipe,
                            uint64_t result[2], struct sk_error *err);

// The state of a hash in one pipe: 'changed' null when it is as compiled.
struct sk_hash_view {
    const struct sk_hash_desc *desc;
    const struct sk_dynhash *changed;
    unsigned pipe;
};
int sk_control_hash_view(struct sk_switch *sw, const char *name, int pipe,
                         struct sk_hash_view *view, struct sk_error *err);
// BF Runtime's name of an algorithm, or null when it has none.
const char *sk_hash_algorithm_name(const struct sk_hash_algorithm *a);

#endif
