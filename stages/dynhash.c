// SPDX-License-Identifier: Apache-2.0
#include "stages/dynhash.h"

#include <stdlib.h>
#include <string.h>

static unsigned dynhash_bytes_of(unsigned bits) {
    return (bits + 7) / 8;
}

struct sk_dynhash *sk_dynhash_new(const struct sk_hash_desc *desc,
                                  const struct sk_hash_algorithm *algorithm,
                                  const struct sk_hash_slice *slices, uint32_t n_slices) {
    struct sk_dynhash *h = malloc(sizeof *h);
    if (!h)
        return NULL;
    *h = (struct sk_dynhash){.desc = desc, .algorithm = *algorithm, .n_slices = n_slices};
    h->bits = n_slices ? 0 : desc->bits;
    if (n_slices) {
        h->slices = malloc(n_slices * sizeof *slices);
        if (!h->slices) {
            free(h);
            return NULL;
        }
        memcpy(h->slices, slices, n_slices * sizeof *slices);
    }
    for (uint32_t i = 0; i < n_slices; i++)
        h->bits += slices[i].length;
    if (algorithm->kind == SK_HASH_CRC)
        sk_crc_table(h->table, algorithm->width, algorithm->coeff, algorithm->reversed);
    return h;
}

void sk_dynhash_free(struct sk_dynhash *h) {
    if (h)
        free(h->slices);
    free(h);
}

// First bit of a field in the compiled hash's input.
static unsigned dynhash_field_at(const struct sk_hash_desc *d, uint32_t field) {
    unsigned at = 8 * dynhash_bytes_of(d->bits) - d->bits;
    for (uint32_t i = 0; i < field; i++)
        at += d->fields[i].width;
    return at;
}

// First bit of a slice there.
static unsigned dynhash_slice_at(const struct sk_dynhash *h, const struct sk_hash_slice *s) {
    return dynhash_field_at(h->desc, s->field) + h->desc->fields[s->field].width - s->start -
           s->length;
}

static void dynhash_gather(const struct sk_dynhash *h, const uint8_t *input, uint8_t *out) {
    unsigned to = 8 * dynhash_bytes_of(h->bits) - h->bits;
    for (uint32_t i = 0; i < h->n_slices; i++) {
        const struct sk_hash_slice *s = &h->slices[i];
        const unsigned from = dynhash_slice_at(h, s),
                       twin = s->twin ? dynhash_slice_at(h, &h->slices[s->twin - 1]) : 0;
        for (uint32_t done = 0; done < s->length;) {
            const unsigned n = s->length - done < 64 ? s->length - done : 64;
            uint64_t bits = sk_bits_get(input, from + done, n);
            if (s->twin)
                bits ^= sk_bits_get(input, twin + done, n);
            sk_bits_put(out, to, n, bits);
            to += n, done += n;
        }
    }
}

static sk_u128 dynhash_hash(const struct sk_dynhash *h, const uint8_t *p) {
    const struct sk_hash_algorithm *a = &h->algorithm;
    const unsigned n = dynhash_bytes_of(h->bits);
    switch (a->kind) {
    case SK_HASH_IDENTITY:
        return sk_hash_identity(p, n);
    case SK_HASH_RANDOM:
        return sk_hash_random(p, n);
    case SK_HASH_XOR:
        return sk_hash_xor(a->width, p, h->bits);
    default:
        return sk_crc_widen(sk_crc(h->table, a->width, a->reversed,
                                   sk_crc_start(a->width, a->reversed, a->init), a->xor_out, p, n),
                            a->width, h->desc->width, a->extended);
    }
}

sk_u128 sk_dynhash_run(const struct sk_dynhash *h, const uint8_t *input) {
    uint8_t gathered[SK_HASH_MAX_BYTES] = {0};
    if (h->n_slices > 0) {
        dynhash_gather(h, input, gathered);
        input = gathered;
    }
    const unsigned width = h->desc->width, rotate = h->algorithm.rotate;
    sk_u128 v = dynhash_hash(h, input) & sk_mask128(width);
    return rotate ? (v << rotate | v >> (width - rotate)) & sk_mask128(width) : v;
}
