// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/dataset.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAGIC_IMAGES UINT32_C(0x00000803)
#define MAGIC_LABELS UINT32_C(0x00000801)

// More than any set of this format has; keeps products far from overflow.
#define MAX_COUNT 10000000

struct idx {
    gzFile file;
    const char *path;
    char *error;
    size_t error_size;
};

__attribute__((format(printf, 2, 3))) static int dataset_fail(const struct idx *x,
                                                              const char *format, ...) {
    int n = snprintf(x->error, x->error_size, "%s: ", x->path);
    va_list args;

    if (n >= 0 && (size_t)n < x->error_size) {
        va_start(args, format);
        vsnprintf(x->error + n, x->error_size - (size_t)n, format, args);
        va_end(args);
    }
    return -1;
}

static int idx_open(struct idx *x) {
    errno = 0;
    x->file = gzopen(x->path, "rb");
    if (x->file) {
        return 0;
    }
    if (errno == ENOENT || errno == ENOTDIR) {
        return dataset_fail(x, "missing; it comes with the Debian package " DATASET_PACKAGE);
    }
    return dataset_fail(x, "%s", errno ? strerror(errno) : "out of memory");
}

// All of 'size' bytes or an error. gzread takes an unsigned count, hence the pieces.
static int idx_read(const struct idx *x, uint8_t *to, size_t size, const char *what) {
    while (size > 0) {
        unsigned piece = size < (1u << 30) ? (unsigned)size : 1u << 30;
        int got = gzread(x->file, to, piece);
        if (got < 0) {
            int code;
            return dataset_fail(x, "damaged: %s", gzerror(x->file, &code));
        }
        if (got == 0) {
            return dataset_fail(x, "ends in the middle of the %s", what);
        }
        to += got;
        size -= (size_t)got;
    }
    return 0;
}

static int idx_read_u32(const struct idx *x, uint32_t *value) {
    uint8_t b[4];

    if (idx_read(x, b, sizeof b, "header")) {
        return -1;
    }
    *value = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    return 0;
}

static int read_header(const struct idx *x, uint32_t magic, const char *what, uint32_t *count) {
    uint32_t found;

    if (idx_read_u32(x, &found)) {
        return -1;
    }
    if (found != magic) {
        return dataset_fail(x, "not an IDX file of %s: it starts with 0x%08x, not with 0x%08x",
                            what, (unsigned)found, (unsigned)magic);
    }
    if (idx_read_u32(x, count)) {
        return -1;
    }
    if (*count == 0 || *count > MAX_COUNT) {
        return dataset_fail(x, "says it has %u %s; it can have 1 to %d", (unsigned)*count, what,
                            MAX_COUNT);
    }
    return 0;
}

static size_t smaller(size_t count, size_t limit) {
    return limit && limit < count ? limit : count;
}

static int read_images(const struct idx *x, size_t limit, struct dataset *set, uint32_t *count) {
    uint32_t rows, columns;

    if (read_header(x, MAGIC_IMAGES, "images", count) || idx_read_u32(x, &rows) ||
        idx_read_u32(x, &columns)) {
        return -1;
    }
    if (rows != DATASET_SIDE || columns != DATASET_SIDE) {
        return dataset_fail(x, "has images of %u x %u pixels, not of %d x %d", (unsigned)rows,
                            (unsigned)columns, DATASET_SIDE, DATASET_SIDE);
    }
    set->count = smaller(*count, limit);
    set->pixels = malloc(set->count * DATASET_PIXELS);
    if (!set->pixels) {
        return dataset_fail(x, "out of memory");
    }
    return idx_read(x, set->pixels, set->count * DATASET_PIXELS, "images");
}

static int check_labels(const struct idx *x, const struct dataset *set) {
    for (size_t i = 0; i < set->count; i++) {
        if (set->labels[i] >= DATASET_CLASSES) {
            return dataset_fail(x, "label %zu is %u; classes are 0 to %d", i,
                                (unsigned)set->labels[i], DATASET_CLASSES - 1);
        }
    }
    return 0;
}

static int read_labels(const struct idx *x, struct dataset *set, uint32_t images) {
    uint32_t count;

    if (read_header(x, MAGIC_LABELS, "labels", &count)) {
        return -1;
    }
    if (count != images) {
        return dataset_fail(x, "has %u labels for %u images", (unsigned)count, (unsigned)images);
    }
    set->labels = malloc(set->count);
    if (!set->labels) {
        return dataset_fail(x, "out of memory");
    }
    return idx_read(x, set->labels, set->count, "labels") || check_labels(x, set) ? -1 : 0;
}

int dataset_load(struct dataset *set, const char *images_path, const char *labels_path,
                 size_t limit, char *error, size_t error_size) {
    struct idx images = {.path = images_path, .error = error, .error_size = error_size};
    struct idx labels = {.path = labels_path, .error = error, .error_size = error_size};
    uint32_t count;
    int failed;

    *set = (struct dataset){0};
    failed = idx_open(&images) || idx_open(&labels) || read_images(&images, limit, set, &count) ||
             read_labels(&labels, set, count);
    if (images.file) {
        gzclose(images.file);
    }
    if (labels.file) {
        gzclose(labels.file);
    }
    if (failed) {
        dataset_free(set);
    }
    return failed ? -1 : 0;
}

static int load_part(struct dataset *set, const char *folder, const char *part, size_t limit,
                     char *error, size_t error_size) {
    char images[4096], labels[4096];
    int n = snprintf(images, sizeof images, "%s/%s-images-idx3-ubyte.gz", folder, part);

    snprintf(labels, sizeof labels, "%s/%s-labels-idx1-ubyte.gz", folder, part);
    if (n < 0 || (size_t)n >= sizeof images) {
        *set = (struct dataset){0};
        snprintf(error, error_size, "the data set's folder has too long a name");
        return -1;
    }
    return dataset_load(set, images, labels, limit, error, error_size);
}

int dataset_load_train(struct dataset *set, const char *folder, size_t limit, char *error,
                       size_t error_size) {
    return load_part(set, folder, "train", limit, error, error_size);
}

int dataset_load_test(struct dataset *set, const char *folder, size_t limit, char *error,
                      size_t error_size) {
    return load_part(set, folder, "t10k", limit, error, error_size);
}

void dataset_free(struct dataset *set) {
    free(set->pixels);
    free(set->labels);
    *set = (struct dataset){0};
}
