// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/board.h"

#include "cli/demo/model.h"

#include <sys/mman.h>

// Tensors start on a cache line.
#define LINE        64
#define TENSOR_SIZE ((MODEL_PARAMS * sizeof(float) + LINE - 1) / LINE * LINE)

static size_t header_size(unsigned workers) {
    size_t size = sizeof(struct board) + (workers + 1) * sizeof(struct board_status);
    return (size + LINE - 1) / LINE * LINE;
}

static size_t board_size(unsigned workers) {
    size_t gradients = 2 * workers, weights = workers + 1;
    return header_size(workers) + (gradients + weights) * TENSOR_SIZE;
}

static float *tensor(const struct board *b, size_t index) {
    return (float *)((char *)b + header_size(b->workers) + index * TENSOR_SIZE);
}

struct board *board_new(unsigned workers) {
    struct board *b =
        mmap(NULL, board_size(workers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (b == MAP_FAILED) {
        return NULL;
    }
    b->workers = workers;
    return b;
}

void board_free(struct board *b) {
    if (b) {
        munmap(b, board_size(b->workers));
    }
}

float *board_gradient(const struct board *b, unsigned worker, unsigned step) {
    return tensor(b, 2 * (size_t)worker + step % 2);
}

float *board_weights(const struct board *b, unsigned trainee) {
    return tensor(b, 2 * (size_t)b->workers + trainee);
}
