// SPDX-License-Identifier: Apache-2.0
//
// thresholds: from which depths a port's queues drop small and large gradients, so that what is
// lost costs least (DLCP, appendix B).
//
// Packets of class i come at lambda_i = lambda size_i / size and are served at mu_i = mu (1 -
// rho_1) ... (1 - rho_(i-1)), rho_i = lambda_i / mu_i: strict priority, class 0 first. The queue is
// taken for two: small gradients, a part theta of all, have theta S_i places, large ones L_i -
// theta S_i; each loses as an M/M/1/m queue does, rho^m (1 - rho) / (1 - rho^(m+1)). A lost share r
// costs r / tolerance more rounds of training, tolerance being the share that costs one unit. All
// places together are the port's.
//
// Each further place takes less of the loss than the one before, so giving one place after the
// other to whoever gains most is the optimum, as long as S_i is not above L_i; a place that would
// break that goes to the next best (then it is an approximation).
//
// Concurrency: no state.
#ifndef SILKEN_SIM_TRANSPORT_THRESHOLDS_H
#define SILKEN_SIM_TRANSPORT_THRESHOLDS_H

#include <stddef.h>
#include <stdint.h>

#define THRESHOLDS_CLASSES 7u

struct thresholds_config {
    double load;                                // lambda / mu, above 0, below 1
    double small;                               // theta, above 0, below 1
    double size[THRESHOLDS_CLASSES];            // bytes of each class's layers; 0: no layer
    double small_tolerance[THRESHOLDS_CLASSES]; // above 0
    double large_tolerance[THRESHOLDS_CLASSES];
    uint32_t places; // packets that a port has room for
};
struct thresholds_class {
    double rho;
    uint32_t small_places, large_places; // theta S_i and L_i - theta S_i
    double small_limit, large_limit;     // S_i and L_i, packets
    double small_loss, large_loss;       // 0 to 1
};

// Of an M/M/1/m queue. m at least 1, rho above 0.
double thresholds_loss(double rho, uint32_t m);
// 'places' is at least two for each class that has layers. Returns the cost.
double thresholds_find(const struct thresholds_config *c,
                       struct thresholds_class out[THRESHOLDS_CLASSES]);

#endif
