// SPDX-License-Identifier: Apache-2.0
//
// IDX files: good ones are read, plain and compressed; each way of being wrong is refused with a
// sentence that names the file and leaves nothing behind.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "cli/demo/dataset.h"
#include "cli/demo/rng.h"

#define COUNT       7
#define IMAGE_BYTES (16 + COUNT * DATASET_PIXELS)
#define LABEL_BYTES (8 + COUNT)

struct files {
    char folder[64], images[96], labels[96];
    uint8_t image_bytes[IMAGE_BYTES], label_bytes[LABEL_BYTES];
};

static void put_u32(uint8_t *p, uint32_t v) {
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(v >> (24 - 8 * i));
    }
}

static void write_file(const char *path, const uint8_t *bytes, size_t size, bool compressed) {
    gzFile f = gzopen(path, compressed ? "wb" : "wbT");

    assert_non_null(f);
    assert_int_equal(size, gzfwrite(bytes, 1, size, f));
    assert_int_equal(Z_OK, gzclose(f));
}

static void write_both(const struct files *x, bool compressed) {
    write_file(x->images, x->image_bytes, IMAGE_BYTES, compressed);
    write_file(x->labels, x->label_bytes, LABEL_BYTES, compressed);
}

static int set_up(void **state) {
    struct files *x = calloc(1, sizeof *x);
    struct rng r = {1};

    assert_non_null(x);
    strcpy(x->folder, "/tmp/silken-idx-XXXXXX");
    assert_non_null(mkdtemp(x->folder));
    snprintf(x->images, sizeof x->images, "%s/train-images-idx3-ubyte.gz", x->folder);
    snprintf(x->labels, sizeof x->labels, "%s/train-labels-idx1-ubyte.gz", x->folder);
    put_u32(x->image_bytes, 0x803);
    put_u32(x->image_bytes + 4, COUNT);
    put_u32(x->image_bytes + 8, 28);
    put_u32(x->image_bytes + 12, 28);
    for (size_t i = 16; i < IMAGE_BYTES; i++) {
        x->image_bytes[i] = (uint8_t)rng_next(&r);
    }
    put_u32(x->label_bytes, 0x801);
    put_u32(x->label_bytes + 4, COUNT);
    for (size_t i = 8; i < LABEL_BYTES; i++) {
        x->label_bytes[i] = (uint8_t)rng_below(&r, 10);
    }
    write_both(x, true);
    *state = x;
    return 0;
}

static int tear_down(void **state) {
    struct files *x = *state;

    unlink(x->images);
    unlink(x->labels);
    rmdir(x->folder);
    free(x);
    return 0;
}

static void expect_good(const struct files *x, size_t limit, size_t count) {
    struct dataset set;
    char error[512] = "";

    if (dataset_load_train(&set, x->folder, limit, error, sizeof error)) {
        fail_msg("refused: %s", error);
    }
    assert_int_equal(count, set.count);
    assert_memory_equal(x->image_bytes + 16, set.pixels, count * DATASET_PIXELS);
    assert_memory_equal(x->label_bytes + 8, set.labels, count);
    dataset_free(&set);
}

static void expect_refused(const struct files *x, const char *sentence) {
    struct dataset set;
    char error[512] = "";

    assert_int_equal(-1, dataset_load_train(&set, x->folder, 0, error, sizeof error));
    if (!strstr(error, sentence)) {
        fail_msg("expected '%s' in: %s", sentence, error);
    }
    assert_non_null(strstr(error, x->folder));
    assert_null(set.pixels);
    assert_null(set.labels);
    assert_int_equal(0, set.count);
}

static void test_reads_good_files(void **state) {
    struct files *x = *state;

    expect_good(x, 0, COUNT);
    expect_good(x, COUNT + 1, COUNT);
    expect_good(x, 3, 3);
    write_both(x, false);
    expect_good(x, 0, COUNT);
}

static void test_missing_file_names_the_package(void **state) {
    struct files *x = *state;

    unlink(x->labels);
    expect_refused(x, "package dataset-fashion-mnist");
    unlink(x->images);
    expect_refused(x, "package dataset-fashion-mnist");
}

// Cut anywhere: both as a short file and as a gzip stream without its end.
static void test_truncated(void **state) {
    struct files *x = *state;
    uint8_t packed[2 * IMAGE_BYTES];
    FILE *f = fopen(x->images, "rb");
    size_t size;

    assert_non_null(f);
    size = fread(packed, 1, sizeof packed, f);
    fclose(f);
    for (size_t cut = 0; cut < IMAGE_BYTES; cut += cut < 20 ? 1 : 611) {
        write_file(x->images, x->image_bytes, cut, false);
        expect_refused(x, cut < 16 ? "middle of the header" : "middle of the images");
    }
    for (size_t cut = 2; cut < size; cut += 37) {
        write_file(x->images, packed, cut, false);
        expect_refused(x, x->images);
    }
    write_file(x->images, x->image_bytes, IMAGE_BYTES, true);
    write_file(x->labels, x->label_bytes, LABEL_BYTES - 1, true);
    expect_refused(x, "middle of the labels");
}

static void test_wrong_header(void **state) {
    struct files *x = *state;
    static const struct {
        size_t at;
        uint32_t value;
        const char *sentence;
    } wrong[] = {
        {0, 0x801, "not an IDX file of images"},
        {0, 0, "not an IDX file of images"},
        {4, 0, "says it has 0 images"},
        {4, 0xffffffff, "says it has 4294967295 images"},
        {4, COUNT + 1, "middle of the images"},
        {4, COUNT - 1, "has 7 labels for 6 images"},
        {8, 0xffffffff, "4294967295 x 28 pixels"},
        {12, 27, "28 x 27 pixels"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t bytes[IMAGE_BYTES];
        memcpy(bytes, x->image_bytes, sizeof bytes);
        put_u32(bytes + wrong[i].at, wrong[i].value);
        write_file(x->images, bytes, sizeof bytes, i % 2);
        expect_refused(x, wrong[i].sentence);
    }
}

static void test_wrong_label(void **state) {
    struct files *x = *state;

    x->label_bytes[8 + 4] = 10;
    write_both(x, true);
    expect_refused(x, "label 4 is 10; classes are 0 to 9");
}

// Any damage to the compressed bytes: read or refused, and never more than that.
static void test_damaged(void **state) {
    struct files *x = *state;
    uint8_t packed[2 * IMAGE_BYTES];
    FILE *f = fopen(x->images, "rb");
    struct rng r = {2};
    size_t size;

    assert_non_null(f);
    size = fread(packed, 1, sizeof packed, f);
    fclose(f);
    for (int i = 0; i < 300; i++) {
        size_t at = rng_below(&r, size);
        uint8_t kept = packed[at];
        struct dataset set;
        char error[512];
        packed[at] ^= (uint8_t)(1 + rng_below(&r, 255));
        write_file(x->images, packed, size, false);
        if (dataset_load_train(&set, x->folder, 0, error, sizeof error) == 0) {
            assert_int_equal(COUNT, set.count);
        }
        dataset_free(&set);
        packed[at] = kept;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads_good_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_file_names_the_package, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_truncated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_header, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wrong_label, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
