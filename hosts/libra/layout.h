// SPDX-License-Identifier: Apache-2.0
//
// layout.h: where the hot parameters of a job lie (Libra 3.4). `silken libra profile` writes the
// file, and all workers and servers of the job load the same one; its digest tells whether they do.
//
// A parameter's index is its rank. Rank r lies in register r mod m, cell r div m (figure 8), so the
// hottest m are in registers of their own. Text, a line each:
//
//     silken libra layout 1
//     job 3                       0 to 255
//     epoch 1                     0 to 65535: another layout of the same job has another epoch
//     registers 16                m, 1 to 64
//     keys 30000                  at least 1
//     8231                        the keys by rank, decimal, each once
//     ...
//     digest 0123456789abcdef     of all before: FNV-1a, 64 bits, in hexadecimal
//
// A digest tells apart files that differ by accident; it does not hold against somebody who writes
// layouts on purpose.
//
// A layout does not change once it is made; any thread may read it.
#ifndef SILKEN_HOSTS_LIBRA_LAYOUT_H
#define SILKEN_HOSTS_LIBRA_LAYOUT_H

#include <stdio.h>

#include "base/error.h"
#include "hosts/libra/key_map.h"

#define LIBRA_REGISTERS_MOST 64u
#define LIBRA_KEYS_MOST      (1u << 22)

struct libra_layout {
    uint8_t job;
    uint16_t epoch;
    unsigned registers;         // m
    size_t n;                   // hot parameters
    uint64_t *keys;             // by rank; owned
    struct libra_key_map ranks; // key -> rank
    uint64_t digest;
};

// Of 'n' keys (copied) by rank. 0, or a negative code with a sentence: a number out of its range, a
// key that comes twice. On failure the layout is empty.
int libra_layout_make(struct libra_layout *layout, uint8_t job, uint16_t epoch, unsigned registers,
                      const uint64_t *keys, size_t n, struct sk_error *err);
// The same from a file or its text, which must be whole.
int libra_layout_read(struct libra_layout *layout, const char *path, struct sk_error *err);
int libra_layout_parse(struct libra_layout *layout, const char *text, size_t length,
                       struct sk_error *err);
// Whether all was written.
int libra_layout_write(const struct libra_layout *layout, FILE *out);
// The rank of a key, or -1 if it is cold.
int64_t libra_layout_rank(const struct libra_layout *layout, uint64_t key);
void libra_layout_clear(struct libra_layout *layout);

#endif
