// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "hosts/mpi/shim.h"

static atomic_uint_fast64_t counts_calls, counts_bytes, counts_passed[SK_MPI_REASON_COUNT];

static const char *const counts_reasons[] = {
#define SK_MPI_REASON_TEXT(name, text) text,
    SK_MPI_REASONS(SK_MPI_REASON_TEXT)
#undef SK_MPI_REASON_TEXT
};

void sk_mpi_count_switch(size_t bytes) {
    atomic_fetch_add(&counts_calls, 1);
    atomic_fetch_add(&counts_bytes, bytes);
}

void sk_mpi_count_passed(enum sk_mpi_reason reason) {
    atomic_fetch_add(&counts_passed[reason], 1);
}

// One write, so that lines of several ranks do not mix.
void sk_mpi_report(int rank) {
    char line[2048];
    uint64_t passed = 0;
    int length;

    for (int i = 0; i < SK_MPI_REASON_COUNT; i++)
        passed += atomic_load(&counts_passed[i]);
    length = snprintf(line, sizeof line,
                      "silken-mpi, rank %d: switch %" PRIu64 " calls, %" PRIu64
                      " bytes; passed on %" PRIu64 " calls",
                      rank, (uint64_t)atomic_load(&counts_calls),
                      (uint64_t)atomic_load(&counts_bytes), passed);
    for (int i = 0; i < SK_MPI_REASON_COUNT; i++) {
        uint64_t n = atomic_load(&counts_passed[i]);
        if (n > 0) {
            length += snprintf(line + length, sizeof line - (size_t)length, "; %" PRIu64 " %s", n,
                               counts_reasons[i]);
        }
    }
    fprintf(stderr, "%s\n", line);
}
