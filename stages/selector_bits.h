// SPDX-License-Identifier: Apache-2.0
//
// selector_bits: the memory of an action selector, when the data plane reaches it (tna-facts 4.9).
//
// It is a register of one-bit cells, 128 to a line, of which the first 120 may belong to members. A
// group has one line, or several when more than 120 members may be in it, and each place in it has
// one bit: 1 while the member gets packets. The bit's index is what a SelectorAction is executed
// at.
//
// Which lines a group gets is the driver's rule (power2_allocator.c of the open driver): free lines
// are seen as aligned blocks of powers of two, the smallest block that is large enough is taken, of
// those the first, and of it the last lines on which the group can be aligned. So the first group
// of one line has the last line of the first 1024, the next one the line before it.
//
// Places (pipe_mgr_select_tbl.c): new members take the next free places; who leaves is replaced by
// the member at the last place. Silken's own rule for groups of several lines: members are placed
// in the order of their list, one line after the other, and each has one bit. (The driver repeats
// them in each line until they do not fit into one.)
#ifndef SILKEN_STAGES_SELECTOR_BITS_H
#define SILKEN_STAGES_SELECTOR_BITS_H

#include "stages/selector.h"

struct sk_selector_bits {
    uint8_t *cells; // in the pipe's state
    size_t stride;  // bytes from one bit's cell to the next
    uint32_t n_lines;
    uint8_t *used; // n_lines: 1 when a group has it
};

// 'g', new or the next version of 'old' (or null), gets lines and its members their indices, by
// g->max_size. The memory is not changed but for the lines that are taken. False: no lines are
// free.
bool sk_bits_place(struct sk_selector_bits *b, struct sk_group *g, const struct sk_group *old);
// Takes back what 'place' took.
void sk_bits_unplace(struct sk_selector_bits *b, const struct sk_group *g,
                     const struct sk_group *old);
// Writes what changes from 'old' (or null) to 'g' (or null: it is deleted), frees lines no longer
// needed. Members that stay at their place with the status they had keep the bit they have.
void sk_bits_write(struct sk_selector_bits *b, const struct sk_group *g,
                   const struct sk_group *old);

static inline bool sk_bit(const struct sk_selector_bits *b, uint32_t index) {
    return b->cells[index * b->stride];
}

#endif
