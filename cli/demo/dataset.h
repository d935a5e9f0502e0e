// SPDX-License-Identifier: Apache-2.0
//
// dataset: labelled 28 x 28 grey images from IDX files, the format of MNIST and Fashion-MNIST.
//
// An IDX file is a header of big-endian 32-bit numbers and then bytes:
//
//      images   0x00000803  count  rows  columns   count * rows * columns pixels, row by row
//      labels   0x00000801  count                  count class numbers
//
// Files may be compressed with gzip or not. They come from outside and are not trusted: every
// number is checked before it is used, and whatever is wrong is refused with one sentence that
// names the file. Only as much memory is taken as the images that are asked for need, and only
// once the header was believed.
#ifndef SILKEN_CLI_DEMO_DATASET_H
#define SILKEN_CLI_DEMO_DATASET_H

#include <stddef.h>
#include <stdint.h>

#define DATASET_SIDE    28
#define DATASET_PIXELS  (DATASET_SIDE * DATASET_SIDE)
#define DATASET_CLASSES 10

// Where Debian's package dataset-fashion-mnist puts its files.
#define DATASET_FOLDER  "/usr/share/datasets/fashion-mnist"
#define DATASET_PACKAGE "dataset-fashion-mnist"

struct dataset {
    size_t count;
    uint8_t *pixels; // count * DATASET_PIXELS
    uint8_t *labels; // count, each below DATASET_CLASSES
};

// Reads the first 'limit' images (all when it is 0 or there are fewer) and their labels. Returns 0,
// or -1 with a sentence in 'error' and '*set' empty.
int dataset_load(struct dataset *set, const char *images_path, const char *labels_path,
                 size_t limit, char *error, size_t error_size);

// The two parts of the set in 'folder', under their customary names ending in "-ubyte.gz".
int dataset_load_train(struct dataset *set, const char *folder, size_t limit, char *error,
                       size_t error_size);
int dataset_load_test(struct dataset *set, const char *folder, size_t limit, char *error,
                      size_t error_size);

// Accepts an empty set.
void dataset_free(struct dataset *set);

#endif
