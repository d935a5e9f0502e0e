// SPDX-License-Identifier: Apache-2.0
//
// zipf: batches of sparse gradients as figures and simulations have them: features drawn from
// Zipf's law, each key once a batch.
//
// Ranks are 0 to n - 1, and the chance of rank r is proportional to (r + 1)^-s. 'uniform' returns
// independent numbers in (0, 1), so the caller's generator decides whether runs repeat.
//
// Concurrency: a struct zipf does not change once it is made.
#ifndef SILKEN_SIM_LIBRA_ZIPF_H
#define SILKEN_SIM_LIBRA_ZIPF_H

#include <stddef.h>
#include <stdint.h>

struct zipf {
    double n, s;
};
typedef double zipf_uniform(void *aux);

uint64_t zipf_draw(const struct zipf *z, zipf_uniform *uniform, void *aux);
// Fills keys[draws] with the ranks of a batch, rising, each once; returns how many there are.
size_t zipf_batch(const struct zipf *z, size_t draws, zipf_uniform *uniform, void *aux,
                  uint64_t *keys);
// Of the updates of batches of so many draws: the share of the first 'top' ranks.
double zipf_share(const struct zipf *z, size_t draws, double top);
// Chooses s such that this share is 'share'.
void zipf_fit(struct zipf *z, size_t draws, double top, double share);

#endif
