// SPDX-License-Identifier: Apache-2.0
#include "control/tables/hashes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "control/tables/names.h"
#include "control/tables/values.h"

struct target {
    struct sk_switch *sw;
    struct sk_object object;
    struct sk_pipe_list pipes;
    const struct sk_hash_desc *desc;
};

static int hashes_find(struct sk_switch *sw, const char *name, int pipe, struct target *t,
                       struct sk_error *err) {
    *t = (struct target){.sw = sw};
    int rc = sk_find_object(sw, SK_HASH, name, &t->object, err);
    if (rc == 0)
        rc = sk_find_pipes(sw, &t->object, pipe, &t->pipes, err);
    if (rc == 0)
        t->desc = &t->object.desc->hashes[t->object.index];
    return rc;
}

static struct sk_dynhash **hashes_place(const struct target *t, unsigned i) {
    return t->object.desc->hash(sk_switch_pipe(t->sw, t->pipes.list[i]), t->object.index);
}

// What a change of the one part keeps of the other.
static const struct sk_hash_algorithm *algorithm_of(const struct target *t,
                                                    const struct sk_dynhash *h) {
    return h ? &h->algorithm : &t->desc->algorithm;
}

// What a hash is to be; a part that is not given stays what it is in each pipe.
struct hashes_change {
    const struct sk_hash_algorithm *algorithm; // null: not given
    bool has_slices;
    const struct sk_hash_slice *slices;
    uint32_t n_slices; // 0: the fields as compiled
};

static bool hashes_is_compiled(const struct sk_hash_desc *d, const struct sk_dynhash *h) {
    return h->n_slices == 0 && memcmp(&h->algorithm, &d->algorithm, sizeof h->algorithm) == 0;
}

// In all pipes or in none.
static int hashes_put(const struct target *t, const struct hashes_change *c, struct sk_error *err) {
    struct sk_dynhash *made[SK_PIPES];
    for (unsigned i = 0; i < t->pipes.n; i++) {
        const struct sk_dynhash *old = *hashes_place(t, i);
        const struct sk_hash_slice *slices = c->has_slices ? c->slices : old ? old->slices : NULL;
        const uint32_t n = c->has_slices ? c->n_slices : old ? old->n_slices : 0;
        made[i] =
            sk_dynhash_new(t->desc, c->algorithm ? c->algorithm : algorithm_of(t, old), slices, n);
        if (made[i])
            continue;
        while (i-- > 0)
            sk_dynhash_free(made[i]);
        return sk_fail(err, "out of memory");
    }
    for (unsigned i = 0; i < t->pipes.n; i++) {
        sk_dynhash_free(*hashes_place(t, i));
        if (hashes_is_compiled(t->desc, made[i])) {
            sk_dynhash_free(made[i]);
            made[i] = NULL;
        }
        *hashes_place(t, i) = made[i];
    }
    sk_tables_changed();
    return 0;
}

// ---- fields -------------------------------------------------------------------------------------

static const char *hashes_field_name_at(const void *list, size_t i) {
    return ((const struct sk_hash_field *)list)[i].name;
}

static int find_hash_field(const struct target *t, const char *name, struct sk_error *err) {
    return sk_find_name(&(struct sk_name_list){"field of the hash", t->desc->n_fields,
                                               hashes_field_name_at, t->desc->fields},
                        name, err);
}

// "[HIGH:LOW]" at the end of a text; false when it is written otherwise.
static bool read_bounds(const char *text, uint32_t *high, uint32_t *low) {
    unsigned h, l;
    int end = 0;
    if (sscanf(text, "[%5u:%5u]%n", &h, &l, &end) != 2 || text[end] || end == 0)
        return false;
    *high = h;
    *low = l;
    return true;
}

// A field's own name may end with bounds: the whole text is tried first.
static int read_slice(const struct target *t, const char *text, struct sk_hash_slice *s,
                      struct sk_error *err) {
    struct sk_error ignored;
    int field = find_hash_field(t, text, &ignored);
    const char *bracket = strrchr(text, '[');
    uint32_t high = 0, low = 0;
    bool part = false;
    for (uint32_t i = 0; bracket && !part && i < t->desc->n_fields; i++)
        part = strcmp(t->desc->fields[i].name, text) == 0; // named like this: no part of another
    part = bracket && !part && read_bounds(bracket, &high, &low);
    if (part) {
        char name[256];
        if ((size_t)(bracket - text) >= sizeof name)
            return sk_fail(err, "the name '%.40s...' is too long", text);
        snprintf(name, sizeof name, "%.*s", (int)(bracket - text), text);
        int whole = find_hash_field(t, name, field < 0 ? err : &ignored);
        if (whole >= 0)
            field = whole;
        else if (field < 0)
            return whole;
        part = whole >= 0;
    }
    if (field < 0)
        return find_hash_field(t, text, err);
    uint32_t width = t->desc->fields[field].width;
    if (!part) {
        *s = (struct sk_hash_slice){.field = (uint32_t)field, .length = width};
        return 0;
    }
    if (high < low || high >= width)
        return sk_fail(err, "hash '%s': '%s' has bits %u to 0, so '%s' is not a slice of it",
                       t->desc->name, t->desc->fields[field].name, width - 1, bracket);
    *s = (struct sk_hash_slice){.field = (uint32_t)field, .start = low, .length = high - low + 1};
    return 0;
}

static int hashes_check_slice(const struct target *t, const struct sk_hash_slice *slices, size_t n,
                              size_t i, struct sk_error *err) {
    const struct sk_hash_slice *s = &slices[i];
    const uint32_t width = s->field < t->desc->n_fields ? t->desc->fields[s->field].width : 0;
    if (s->length == 0 || s->start >= width || s->length > width - s->start)
        return sk_fail(err, "hash '%s': slice %zu does not lie in a field", t->desc->name, i + 1);
    if (!s->twin)
        return 0;
    if (s->twin > n || slices[s->twin - 1].twin != i + 1 || s->twin == i + 1)
        return sk_fail(err, "hash '%s': slice %zu and its twin do not name each other",
                       t->desc->name, i + 1);
    if (slices[s->twin - 1].length != s->length)
        return sk_fail(err, "hash '%s': symmetric slices of %u and %u bits", t->desc->name,
                       s->length, slices[s->twin - 1].length);
    for (unsigned p = 0; p < t->pipes.n; p++)
        if (algorithm_of(t, *hashes_place(t, p))->kind != SK_HASH_CRC)
            return sk_fail(err, "only CRCs can be symmetric");
    return 0;
}

static int hashes_put_slices(const struct target *t, const struct sk_hash_slice *slices, size_t n,
                             struct sk_error *err) {
    uint64_t bits = 0;
    if (n > 8 * SK_HASH_MAX_BYTES)
        return sk_fail(err, "hash '%s': more than %u bits", t->desc->name, 8 * SK_HASH_MAX_BYTES);
    for (size_t i = 0; i < n; i++) {
        if (hashes_check_slice(t, slices, n, i, err))
            return -1;
        bits += slices[i].length;
    }
    if (bits > 8 * SK_HASH_MAX_BYTES)
        return sk_fail(err, "hash '%s': %llu bits; at most %u can be hashed", t->desc->name,
                       (unsigned long long)bits, 8 * SK_HASH_MAX_BYTES);
    return hashes_put(
        t, &(struct hashes_change){.has_slices = true, .slices = slices, .n_slices = (uint32_t)n},
        err);
}

int sk_control_hash_slices(struct sk_switch *sw, const char *name,
                           const struct sk_hash_slice *slices, size_t n, int pipe,
                           struct sk_error *err) {
    struct target t;
    const int rc = hashes_find(sw, name, pipe, &t, err);
    return rc ? rc : hashes_put_slices(&t, slices, n, err);
}

int sk_control_hash_fields(struct sk_switch *sw, const char *name, const char *const *fields,
                           size_t n, int pipe, struct sk_error *err) {
    struct target t;
    int rc = hashes_find(sw, name, pipe, &t, err);
    if (rc)
        return rc;
    if (n == 0)
        return sk_fail(err, "hash '%s': no fields are given", t.desc->name);
    if (n > 8 * SK_HASH_MAX_BYTES)
        return sk_fail(err, "hash '%s': more than %u bits", t.desc->name, 8 * SK_HASH_MAX_BYTES);
    struct sk_hash_slice *slices = calloc(n, sizeof *slices);
    if (!slices)
        return sk_fail(err, "out of memory");
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = read_slice(&t, fields[i], &slices[i], err);
    if (rc == 0)
        rc = hashes_put_slices(&t, slices, n, err);
    free(slices);
    return rc;
}

// ---- algorithms ---------------------------------------------------------------------------------

// BF Runtime's predefined CRCs, parameters as the chip's control plane has them, which are not in
// every case the RevEng catalogue's of that name.
static const struct {
    const char *name;
    unsigned width;
    uint64_t coeff;
    bool reversed;
    uint64_t init, xor_out;
} crcs[] = {
    {"CRC_8", 8, 0x07, false, 0, 0},
    {"CRC_8_DARC", 8, 0x39, true, 0, 0},
    {"CRC_8_I_CODE", 8, 0x1d, false, 0xfd, 0},
    {"CRC_8_ITU", 8, 0x07, false, 0x55, 0x55},
    {"CRC_8_MAXIM", 8, 0x31, true, 0, 0},
    {"CRC_8_ROHC", 8, 0x07, true, 0xff, 0},
    {"CRC_8_WCDMA", 8, 0x9b, true, 0, 0},
    {"CRC_16", 16, 0x8005, true, 0, 0},
    {"CRC_16_BYPASS", 16, 0x8005, false, 0, 0},
    {"CRC_16_DDS_110", 16, 0x8005, false, 0x800d, 0},
    {"CRC_16_DECT", 16, 0x0589, false, 1, 1},
    {"CRC_16_DECT_R", 16, 0x0589, false, 0, 1},
    {"CRC_16_DECT_X", 16, 0x0589, false, 0, 0},
    {"CRC_16_DNP", 16, 0x3d65, true, 0, 0xffff},
    {"CRC_16_EN_13757", 16, 0x3d65, false, 0, 0xffff},
    {"CRC_16_GENIBUS", 16, 0x1021, false, 0xffff, 0xffff},
    {"CRC_16_MAXIM", 16, 0x8005, true, 0, 0xffff},
    {"CRC_16_MCRF4XX", 16, 0x1021, true, 0xffff, 0},
    {"CRC_16_RIELLO", 16, 0x1021, true, 0xb2aa, 0},
    {"CRC_16_T10_DIF", 16, 0x8bb7, false, 0, 0},
    {"CRC_16_TELEDISK", 16, 0xa097, false, 0, 0},
    {"CRC_16_USB", 16, 0x8005, true, 0xffff, 0xffff},
    {"X_25", 16, 0x1021, true, 0xffff, 0xffff},
    {"XMODEM", 16, 0x1021, false, 0, 0},
    {"MODBUS", 16, 0x8005, true, 0xffff, 0},
    {"KERMIT", 16, 0x1021, true, 0, 0},
    {"CRC_CCITT_FALSE", 16, 0x1021, false, 0xffff, 0},
    {"CRC_AUG_CCITT", 16, 0x1021, false, 0x1d0f, 0},
    {"CRC_32", 32, 0x04c11db7, true, 0xffffffff, 0xffffffff},
    {"CRC_32_BZIP2", 32, 0x04c11db7, false, 0xffffffff, 0xffffffff},
    {"CRC_32C", 32, 0x1edc6f41, true, 0xffffffff, 0xffffffff},
    {"CRC_32D", 32, 0xa833982b, true, 0xffffffff, 0xffffffff},
    {"CRC_32_MPEG", 32, 0x04c11db7, false, 0xffffffff, 0},
    {"POSIX", 32, 0x04c11db7, false, 0, 0xffffffff},
    {"CRC_32Q", 32, 0x814141ab, false, 0, 0},
    {"JAMCRC", 32, 0x04c11db7, true, 0xffffffff, 0},
    {"XFER", 32, 0x000000af, false, 0, 0},
    {"CRC_64", 64, 0x42f0e1eba9ea3693, false, 0, 0},
    {"CRC_64_GO_ISO", 64, 0x1b, true, UINT64_MAX, UINT64_MAX},
    {"CRC_64_WE", 64, 0x42f0e1eba9ea3693, false, UINT64_MAX, UINT64_MAX},
    {"CRC_64_JONES", 64, 0xad93d23594c935a9, true, UINT64_MAX, 0},
};
#define N_CRCS (sizeof crcs / sizeof *crcs)

const char *sk_hash_algorithm_name(const struct sk_hash_algorithm *a) {
    if (a->kind != SK_HASH_CRC)
        return a->kind == SK_HASH_IDENTITY ? "IDENTITY"
               : a->kind == SK_HASH_RANDOM ? "RANDOM"
                                           : "XOR";
    for (size_t i = 0; i < N_CRCS; i++)
        if (crcs[i].width == a->width && crcs[i].coeff == a->coeff &&
            crcs[i].reversed == a->reversed && crcs[i].init == a->init &&
            crcs[i].xor_out == a->xor_out)
            return crcs[i].name;
    return NULL;
}

static int predefined(const char *name, struct sk_hash_algorithm *a, struct sk_error *err) {
    for (size_t i = 0; i < N_CRCS; i++)
        if (strcasecmp(name, crcs[i].name) == 0) {
            *a = (struct sk_hash_algorithm){.kind = SK_HASH_CRC,
                                            .width = crcs[i].width,
                                            .coeff = crcs[i].coeff,
                                            .init = crcs[i].init,
                                            .xor_out = crcs[i].xor_out,
                                            .reversed = crcs[i].reversed};
            return 0;
        }
    *a = (struct sk_hash_algorithm){.kind = strcasecmp(name, "RANDOM") == 0 ? SK_HASH_RANDOM
                                                                            : SK_HASH_IDENTITY};
    if (strcasecmp(name, "IDENTITY") == 0 || a->kind == SK_HASH_RANDOM)
        return 0;
    if (strcasecmp(name, "XOR") == 0)
        return sk_fail(err, "not supported yet: XOR as a hash's algorithm, since the control plane "
                            "does not give its width");
    return sk_fail(err,
                   "there is no algorithm '%.40s'; the algorithms are IDENTITY, RANDOM, CRC_8, "
                   "CRC_16, CRC_32, CRC_32C, CRC_64 and BF Runtime's others",
                   name);
}

enum word {
    ALGORITHM,
    POLYNOMIAL,
    WIDTH,
    REVERSE,
    INIT,
    FINAL_XOR,
    EXTEND,
    ROTATE,
    SEED,
    MSB,
    WORDS
};
static const struct {
    const char *name;
    unsigned width; // bits of its number; 0: a bool
} words[WORDS] = {
    [ALGORITHM] = {"algorithm", 0},
    [POLYNOMIAL] = {"polynomial", 64},
    [WIDTH] = {"hash_bit_width", 32},
    [REVERSE] = {"reverse", 0},
    [INIT] = {"init", 64},
    [FINAL_XOR] = {"final_xor", 64},
    [EXTEND] = {"extend", 0},
    [ROTATE] = {"rotate", 32},
    [SEED] = {"seed", 32},
    [MSB] = {"msb", 0},
};

struct given {
    const char *text[WORDS]; // null: not given
    uint64_t number[WORDS];  // of all but ALGORITHM
};

static int hashes_read_word(struct given *g, const struct sk_named_value *v, struct sk_error *err) {
    const char *name = v->name ? v->name : "";
    enum word w = 0;
    while (w < WORDS && strcmp(words[w].name, name) != 0)
        w++;
    if (w == WORDS && strcmp(name, "algorithm_name") == 0)
        w = ALGORITHM;
    if (w == WORDS)
        return sk_fail(err, "a hash's algorithm has no '%.40s'", name);
    if (g->text[w])
        return sk_fail(err, "'%s' is given twice", words[w].name);
    g->text[w] = v->value;
    if (w == ALGORITHM)
        return 0;
    if (words[w].width == 0 && (strcmp(v->value, "true") == 0 || strcmp(v->value, "false") == 0)) {
        g->number[w] = v->value[0] == 't';
        return 0;
    }
    const struct sk_field_desc f = {.name = words[w].name,
                                    .width = words[w].width ? words[w].width : 1};
    return sk_value_parse(v->value, &f, &g->number[w], err);
}

static bool hashes_fits(uint64_t v, unsigned width) {
    return width == 64 || v >> width == 0;
}

static int hashes_user_defined(const struct given *g, struct sk_hash_algorithm *a,
                               struct sk_error *err) {
    *a = (struct sk_hash_algorithm){.kind = SK_HASH_CRC,
                                    .width = (unsigned)g->number[WIDTH],
                                    .coeff = g->number[POLYNOMIAL],
                                    .init = g->number[INIT],
                                    .xor_out = g->number[FINAL_XOR],
                                    .reversed = g->number[REVERSE]};
    if (!g->text[POLYNOMIAL] || !g->text[WIDTH])
        return sk_fail(err, "a custom CRC needs 'polynomial' and 'hash_bit_width'");
    if (g->number[WIDTH] < 1 || g->number[WIDTH] > 64)
        return sk_fail(err, "a CRC has 1 to 64 bits, not %llu",
                       (unsigned long long)g->number[WIDTH]);
    if (!(a->coeff & 1))
        return sk_fail(err, "the polynomial must be odd");
    if (!hashes_fits(a->coeff, a->width) || !hashes_fits(a->init, a->width) ||
        !hashes_fits(a->xor_out, a->width))
        return sk_fail(err, "'polynomial', 'init' and 'final_xor' must fit in %u bits", a->width);
    return 0;
}

static bool hashes_has_twins(const struct target *t) {
    for (uint32_t i = 0; i < t->desc->n_fields; i++)
        if (t->desc->fields[i].twin >= 0)
            return true;
    for (unsigned p = 0; p < t->pipes.n; p++) {
        const struct sk_dynhash *h = *hashes_place(t, p);
        for (uint32_t i = 0; h && i < h->n_slices; i++)
            if (h->slices[i].twin)
                return true;
    }
    return false;
}

static int read_algorithm(const struct given *g, const struct target *t,
                          struct sk_hash_algorithm *a, struct sk_error *err) {
    const struct sk_hash_desc *d = t->desc;
    bool own = g->text[POLYNOMIAL] || g->text[WIDTH] || g->text[REVERSE] || g->text[INIT] ||
               g->text[FINAL_XOR];
    if (own && g->text[ALGORITHM])
        return sk_fail(err, "give either 'algorithm' or a polynomial, not both");
    int rc = own                  ? hashes_user_defined(g, a, err)
             : g->text[ALGORITHM] ? predefined(g->text[ALGORITHM], a, err)
                                  : 0;
    if (rc)
        return rc;
    if (g->number[SEED])
        return sk_fail(err, "not supported yet: a hash's seed");
    if (g->number[ROTATE] >= d->width)
        return sk_fail(err, "a hash of %u bits can be rotated by 0 to %u", d->width, d->width - 1);
    if (a->kind != SK_HASH_CRC && g->number[EXTEND])
        return sk_fail(err, "only a CRC can be extended");
    if (g->text[EXTEND] || own || g->text[ALGORITHM])
        a->extended = g->number[EXTEND];
    a->rotate = (unsigned)g->number[ROTATE];
    return a->kind != SK_HASH_CRC && hashes_has_twins(t)
               ? sk_fail(err, "only CRCs can be symmetric")
               : 0;
}

int sk_control_hash_algorithm(struct sk_switch *sw, const char *name,
                              const struct sk_named_value *values, size_t n, int pipe,
                              struct sk_error *err) {
    struct target t;
    struct given g = {0};
    int rc = hashes_find(sw, name, pipe, &t, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = hashes_read_word(&g, &values[i], err);
    if (rc == 0 && n == 0)
        rc = sk_fail(err, "no algorithm is given");
    if (rc == 0 && !g.text[ALGORITHM] && !g.text[POLYNOMIAL]) {
        for (unsigned i = 1; rc == 0 && i < t.pipes.n; i++) // "what it was" must be one thing
            if (memcmp(algorithm_of(&t, *hashes_place(&t, 0)),
                       algorithm_of(&t, *hashes_place(&t, i)),
                       sizeof(struct sk_hash_algorithm)) != 0)
                rc = sk_fail(err, "the pipes have different algorithms: name the one to use");
    }
    if (rc)
        return rc;
    struct sk_hash_algorithm a = *algorithm_of(&t, *hashes_place(&t, 0));
    rc = read_algorithm(&g, &t, &a, err);
    if (rc == 0)
        return hashes_put(&t, &(struct hashes_change){.algorithm = &a}, err);
    sk_error_prefix(err, "hash '%s'", t.desc->name);
    return rc;
}

int sk_control_hash_algorithm_reset(struct sk_switch *sw, const char *name, int pipe,
                                    struct sk_error *err) {
    struct target t;
    const int rc = hashes_find(sw, name, pipe, &t, err);
    return rc ? rc : hashes_put(&t, &(struct hashes_change){.algorithm = &t.desc->algorithm}, err);
}

int sk_control_hash_reset(struct sk_switch *sw, const char *name, int pipe, struct sk_error *err) {
    struct target t;
    int rc = hashes_find(sw, name, pipe, &t, err);
    for (unsigned i = 0; rc == 0 && i < t.pipes.n; i++) {
        sk_dynhash_free(*hashes_place(&t, i));
        *hashes_place(&t, i) = NULL;
    }
    return rc;
}

// ---- reading ------------------------------------------------------------------------------------

int sk_control_hash_view(struct sk_switch *sw, const char *name, int pipe,
                         struct sk_hash_view *view, struct sk_error *err) {
    struct target t;
    int rc = hashes_find(sw, name, pipe, &t, err);
    if (rc == 0)
        *view = (struct sk_hash_view){t.desc, *hashes_place(&t, 0), t.pipes.list[0]};
    return rc;
}

#define FIELD_WORDS ((8 * SK_HASH_MAX_BYTES + 63) / 64)

static int hashes_fill(const struct target *t, const struct sk_named_value *values, size_t n,
                       uint8_t *input, struct sk_error *err) {
    const struct sk_hash_desc *d = t->desc;
    const struct sk_named_value **given = calloc(d->n_fields + 1, sizeof *given);
    uint64_t(*fields)[FIELD_WORDS] = calloc(d->n_fields + 1, sizeof *fields);
    int rc = given && fields ? 0 : sk_fail(err, "out of memory");
    for (size_t i = 0; rc == 0 && i < n; i++) {
        int field = find_hash_field(t, values[i].name ? values[i].name : "", err);
        if (field < 0)
            rc = field;
        else if (given[field] || d->fields[field].constant)
            rc = sk_fail(err, "'%s' is %s", d->fields[field].name,
                         given[field] ? "given twice" : "a constant");
        else
            given[field] = &values[i];
    }
    for (uint32_t i = 0; rc == 0 && i < d->n_fields; i++) {
        const struct sk_field_desc f = {.name = d->fields[i].name, .width = d->fields[i].width};
        if (d->fields[i].constant && f.width > 64)
            rc = sk_fail(err, "not supported yet: computing a hash with a constant of %u bits",
                         f.width);
        else if (d->fields[i].constant)
            fields[i][0] = d->fields[i].value;
        else if (!given[i])
            rc = sk_fail(err, "'%s' is not given", f.name);
        else
            rc = sk_value_parse(given[i]->value, &f, fields[i], err);
    }
    unsigned at = 8 * ((d->bits + 7) / 8) - d->bits;
    for (uint32_t i = 0; rc == 0 && i < d->n_fields; i++) {
        uint64_t both[FIELD_WORDS];
        memcpy(both, fields[i], sizeof both);
        for (unsigned w = 0; d->fields[i].twin >= 0 && w < FIELD_WORDS; w++)
            both[w] = (uint32_t)d->fields[i].twin > i ? 0 : both[w] ^ fields[d->fields[i].twin][w];
        sk_put_words(input, at, both, d->fields[i].width);
        at += d->fields[i].width;
    }
    free(given);
    free(fields);
    return rc;
}

int sk_control_hash_compute(struct sk_switch *sw, const char *name,
                            const struct sk_named_value *values, size_t n, int pipe,
                            uint64_t result[2], struct sk_error *err) {
    struct target t;
    int rc = hashes_find(sw, name, pipe, &t, err);
    if (rc)
        return rc;
    if (t.desc->n_fields == 0)
        return sk_fail(err, "hash '%s' does not hash a list of fields, so its input has no names",
                       t.desc->name);
    uint8_t input[SK_HASH_MAX_BYTES] = {0};
    rc = hashes_fill(&t, values, n, input, err);
    if (rc) {
        sk_error_prefix(err, "hash '%s'", t.desc->name);
        return rc;
    }
    const struct sk_dynhash *h = *hashes_place(&t, 0);
    struct sk_dynhash *compiled = h ? NULL : sk_dynhash_new(t.desc, &t.desc->algorithm, NULL, 0);
    if (!h && !compiled)
        return sk_fail(err, "out of memory");
    sk_u128 v = sk_dynhash_run(h ? h : compiled, input);
    result[0] = (uint64_t)v;
    result[1] = (uint64_t)(v >> 64);
    sk_dynhash_free(compiled);
    return 0;
}
