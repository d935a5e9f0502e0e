// SPDX-License-Identifier: Apache-2.0
//
// collective: all-reduces by hosts alone, as a plan: who sends which part of a tensor to whom, and
// after what. Whoever carries it out counts what arrives.
//
// A worker goes through stages 0 to collective_stages(). Its own values are there when it enters
// stage 0. On entering a stage it sends what collective_sends() lists, each of which arrives in a
// stage of its receiver; it leaves the stage when collective_expects() have arrived in it. What it
// sends is the sum of its own values and of what has arrived in earlier stages, except that what
// arrives in a stage of whole sums takes the place of what was there. In the last stage it has
// the whole sum.
//
//     for (stage = 0;; stage++) {
//         n = collective_sends(c, rank, stage, out);   ... send them ...
//         if (stage == collective_stages(c))
//             break;                                   ... it is done ...
//         ... wait until collective_expects(c, rank, stage) have arrived in 'stage' ...
//     }
//
// HALVING: recursive halving, then doubling (Thakur, Rabenseifner, Gropp: Optimization of
// collective communication operations in MPICH, 2005, section 4): worker v exchanges half of what
// it has with v ^ p/2, v ^ p/4, ..., then whole sums the other way round. p is the largest power
// of two; of 2 (n - p) workers every other one gives its values to the next and gets the sum at
// the end.
// TREE: a binary tree, worker r below (r - 1) / 2: sums go up, and the whole one goes down. Two
// trees (NCCL 2.4's): the second one has the workers in the opposite order, and half of the tensor.
// A tree works on chunks of the tensor one after another, so a worker sends and receives at a time.
// HIERARCHICAL: groups of workers that follow each other, as those of a rack: a ring in the group
// until each has the group's sum of a part, a ring of that part over the groups, and a ring in
// the group to pass whole sums on (Jia et al.: Highly scalable deep learning training system, 2018,
// section 4.2).
//
// Pure; thread-safe.
#ifndef SILKEN_SIM_EXCHANGE_COLLECTIVE_H
#define SILKEN_SIM_EXCHANGE_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

enum collective_kind { COLLECTIVE_HALVING, COLLECTIVE_TREE, COLLECTIVE_HIERARCHICAL };

struct collective {
    enum collective_kind kind;
    uint32_t n;       // workers, at least 2
    uint32_t group;   // HIERARCHICAL: workers of a group, a divisor of 'n'
    bool upside_down; // TREE: the opposite order
};

#define COLLECTIVE_MOST 2u // sends on entering a stage

struct collective_send {
    uint32_t to, stage; // a rank, and its stage
    uint32_t from, end; // parts 'from' to 'end' - 1 of collective_parts()
};

uint32_t collective_stages(const struct collective *c);
// A tensor is cut into so many equal parts.
uint32_t collective_parts(const struct collective *c);
uint32_t collective_expects(const struct collective *c, uint32_t rank, uint32_t stage);
uint32_t collective_sends(const struct collective *c, uint32_t rank, uint32_t stage,
                          struct collective_send out[COLLECTIVE_MOST]);
// Whether what arrives in this stage are whole sums.
bool collective_is_whole(const struct collective *c, uint32_t stage);

#endif
