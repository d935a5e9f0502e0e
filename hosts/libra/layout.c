// SPDX-License-Identifier: Apache-2.0
#include "hosts/libra/layout.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

#define FIRST_LINE        "silken libra layout 1\n"
#define DIGEST_OF_NOTHING UINT64_C(0xcbf29ce484222325)

// FNV-1a (Fowler, Noll, Vo) of 64 bits, continued.
static uint64_t layout_digest(uint64_t digest, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        digest = (digest ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
    return digest;
}

// ---- writing: to a file, or nowhere for the digest alone ----

struct layout_out {
    FILE *file; // or null
    uint64_t digest;
    bool failed;
};

static void layout_put(struct layout_out *o, const char *text, size_t length) {
    o->digest = layout_digest(o->digest, text, length);
    if (o->file && fwrite(text, 1, length, o->file) != length)
        o->failed = true;
}

static void layout_put_lines(const struct libra_layout *layout, struct layout_out *o) {
    char line[128];
    int n = snprintf(line, sizeof line, "%sjob %u\nepoch %u\nregisters %u\nkeys %zu\n", FIRST_LINE,
                     layout->job, layout->epoch, layout->registers, layout->n);
    layout_put(o, line, (size_t)n);
    for (size_t i = 0; i < layout->n; i++) {
        n = snprintf(line, sizeof line, "%" PRIu64 "\n", layout->keys[i]);
        layout_put(o, line, (size_t)n);
    }
}

int libra_layout_write(const struct libra_layout *layout, FILE *out) {
    struct layout_out o = {.file = out, .digest = DIGEST_OF_NOTHING};
    layout_put_lines(layout, &o);
    return !o.failed && fprintf(out, "digest %016" PRIx64 "\n", o.digest) > 0;
}

// ---- making ----

static int layout_check(unsigned registers, size_t n, struct sk_error *err) {
    if (registers < 1 || registers > LIBRA_REGISTERS_MOST)
        return sk_fail(err, "a layout has 1 to %u registers, not %u", LIBRA_REGISTERS_MOST,
                       registers);
    if (n < 1 || n > LIBRA_KEYS_MOST)
        return sk_fail(err, "a layout has 1 to %u keys, not %zu", LIBRA_KEYS_MOST, n);
    return 0;
}

static int layout_fill(struct libra_layout *layout, const uint64_t *keys, struct sk_error *err) {
    layout->keys = malloc(layout->n * sizeof *keys);
    if (!layout->keys)
        return sk_fail(err, "not enough memory for %zu keys", layout->n);
    for (size_t i = 0; i < layout->n; i++) {
        int added;
        const uint64_t *rank = libra_key_map_add(&layout->ranks, keys[i], i, &added);
        if (!added)
            return sk_fail(err, "key %" PRIu64 " has rank %" PRIu64 " and rank %zu", keys[i], *rank,
                           i);
        layout->keys[i] = keys[i];
    }
    struct layout_out o = {.digest = DIGEST_OF_NOTHING};
    layout_put_lines(layout, &o);
    layout->digest = o.digest;
    return 0;
}

int libra_layout_make(struct libra_layout *layout, uint8_t job, uint16_t epoch, unsigned registers,
                      const uint64_t *keys, size_t n, struct sk_error *err) {
    *layout = (struct libra_layout){.job = job, .epoch = epoch, .registers = registers, .n = n};
    int error = layout_check(registers, n, err);
    if (!error)
        error = layout_fill(layout, keys, err);
    if (error)
        libra_layout_clear(layout);
    return error;
}

// ---- reading ----

struct layout_in {
    const char *at, *end;
    unsigned line; // the one at 'at', from 1
    struct sk_error *err;
};

// The decimal number of the line "<word> <number>" or, without a word, "<number>".
static int layout_take(struct layout_in *in, const char *word, uint64_t most, uint64_t *out) {
    size_t skip = *word ? strlen(word) + 1 : 0;
    const char *end = memchr(in->at, '\n', (size_t)(in->end - in->at));
    if (!end)
        return sk_fail(in->err, "line %u: the file ends here", in->line);
    size_t length = (size_t)(end - in->at);
    if (*word && (length < skip || memcmp(in->at, word, skip - 1) != 0 || in->at[skip - 1] != ' '))
        return sk_fail(in->err, "line %u: not '%s' and a number", in->line, word);
    uint64_t value = 0;
    if (length == skip || (in->at[skip] == '0' && length > skip + 1))
        return sk_fail(in->err, "line %u: not a decimal number", in->line);
    for (const char *p = in->at + skip; p < end; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (*p < '0' || *p > '9')
            return sk_fail(in->err, "line %u: not a decimal number", in->line);
        if (value > (most - digit) / 10 || digit > most)
            return sk_fail(in->err, "line %u: a number above %" PRIu64, in->line, most);
        value = value * 10 + digit;
    }
    *out = value;
    in->at = end + 1;
    in->line++;
    return 0;
}

// The digest's line is the last one, and right.
static int layout_take_digest(struct layout_in *in, const char *text) {
    char said[32];
    uint64_t digest = layout_digest(DIGEST_OF_NOTHING, text, (size_t)(in->at - text));
    int n = snprintf(said, sizeof said, "digest %016" PRIx64 "\n", digest);
    size_t left = (size_t)(in->end - in->at);
    if (left < 7 || memcmp(in->at, "digest ", 7) != 0)
        return sk_fail(in->err, "line %u: not the digest, which comes after the last key",
                       in->line);
    if (left != (size_t)n || memcmp(in->at, said, left) != 0)
        return sk_fail(in->err,
                       "line %u: another digest than that of the lines before: the file is damaged",
                       in->line);
    return 0;
}

static int layout_take_keys(struct layout_in *in, uint64_t *keys, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int error = layout_take(in, "", UINT64_MAX, &keys[i]);
        if (error)
            return error;
    }
    return 0;
}

int libra_layout_parse(struct libra_layout *layout, const char *text, size_t length,
                       struct sk_error *err) {
    struct layout_in in = {.at = text, .end = text + length, .line = 2, .err = err};
    uint64_t job, epoch, registers, n;
    *layout = (struct libra_layout){0};
    if (length < strlen(FIRST_LINE) || memcmp(text, FIRST_LINE, strlen(FIRST_LINE)) != 0)
        return sk_fail(err, "not a layout: its first line is not 'silken libra layout 1'");
    in.at += strlen(FIRST_LINE);
    int error;
    if ((error = layout_take(&in, "job", UINT8_MAX, &job)) ||
        (error = layout_take(&in, "epoch", UINT16_MAX, &epoch)) ||
        (error = layout_take(&in, "registers", LIBRA_REGISTERS_MOST, &registers)) ||
        (error = layout_take(&in, "keys", LIBRA_KEYS_MOST, &n)) ||
        (error = layout_check((unsigned)registers, (size_t)n, err)))
        return error;
    // a key is two bytes at least, so no more memory is taken than the file has
    if (n * 2 > (uint64_t)(in.end - in.at))
        return sk_fail(err, "line %u: the file is too short for %" PRIu64 " keys", in.line, n);
    uint64_t *keys = malloc((size_t)n * sizeof *keys);
    error = keys ? layout_take_keys(&in, keys, (size_t)n)
                 : sk_fail(err, "not enough memory for %" PRIu64 " keys", n);
    if (!error)
        error = layout_take_digest(&in, text);
    if (!error)
        error = libra_layout_make(layout, (uint8_t)job, (uint16_t)epoch, (unsigned)registers, keys,
                                  (size_t)n, err);
    free(keys);
    return error;
}

int libra_layout_read(struct libra_layout *layout, const char *path, struct sk_error *err) {
    size_t length;
    char *text = sk_read_file(path, &length, err);
    *layout = (struct libra_layout){0};
    if (!text)
        return -1;
    int error = libra_layout_parse(layout, text, length, err);
    if (error)
        sk_error_prefix(err, "%s", path);
    free(text);
    return error;
}

int64_t libra_layout_rank(const struct libra_layout *layout, uint64_t key) {
    const uint64_t *rank = libra_key_map_find(&layout->ranks, key);
    return rank ? (int64_t)*rank : -1;
}

void libra_layout_clear(struct libra_layout *layout) {
    free(layout->keys);
    libra_key_map_clear(&layout->ranks);
    *layout = (struct libra_layout){0};
}
