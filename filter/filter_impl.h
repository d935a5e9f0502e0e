// SPDX-License-Identifier: Apache-2.0
//
// filter_impl: machine code of a filter's steps; for filter.c.
#ifndef SILKEN_FILTER_FILTER_IMPL_H
#define SILKEN_FILTER_FILTER_IMPL_H

#include <pcap/pcap.h>
#include <stddef.h>
#include <stdint.h>

// What the last step of the way returns, or 0: 'length' bytes are at 'frame', of 'wire_length'.
typedef uint32_t filter_call(const uint8_t *frame, uint32_t length, uint32_t wire_length);

struct filter_code {
    filter_call *call; // null: the interpreter runs the steps
    size_t bytes;      // of its pages
};

// Of 'n' steps that filter_is_sound() lets by. Without x86-64, or where the kernel refuses pages
// that can be run, 'call' is null.
struct filter_code filter_code_make(const struct bpf_insn *steps, size_t n);
void filter_code_free(struct filter_code *code);

#endif
