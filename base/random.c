// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <stdlib.h>
#include <sys/random.h>

uint64_t sk_random_secret(void) {
    uint64_t number = 0;

    while (number == 0)
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            abort(); // the kernel has no randomness: it has no such state after boot
    return number;
}
