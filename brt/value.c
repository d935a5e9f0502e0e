// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brt/brt_impl.h"

static size_t value_bytes(uint32_t width) {
    return (width + 7) / 8;
}

enum brt_code brt_words(const ProtobufCBinaryData *bytes, const struct brt_field *f,
                        uint64_t *words, struct sk_error *err) {
    const size_t n = value_bytes(f->width);
    if (bytes->len != n)
        return brt_fail(err, BRT_INVALID_ARG, "field '%s' has %zu bytes, it needs %zu", f->name,
                        bytes->len, n);
    memset(words, 0, sk_words(f->width) * sizeof *words);
    for (size_t i = 0; i < n; i++)
        words[i / 8] |= (uint64_t)bytes->data[n - 1 - i] << (8 * (i % 8));
    if (f->width % 8 && bytes->data[0] >> (f->width % 8))
        return brt_fail(err, BRT_INVALID_ARG, "the value of field '%s' is wider than its %u bits",
                        f->name, f->width);
    return BRT_OK;
}

void brt_bytes_of(const uint64_t *words, uint32_t width, uint8_t *bytes) {
    const size_t n = value_bytes(width);
    for (size_t i = 0; i < n; i++)
        bytes[n - 1 - i] = (uint8_t)(words[i / 8] >> (8 * (i % 8)));
}

bool brt_stream(struct brt_memory *m, const uint64_t *words, uint32_t width,
                ProtobufCBinaryData *out) {
    out->len = value_bytes(width);
    out->data = brt_take(m, out->len);
    if (out->data)
        brt_bytes_of(words, width, out->data);
    return out->data;
}

// ---- data fields ----

static enum brt_code value_wrong_type(const struct brt_field *f, struct sk_error *err) {
    static const char *const types[] = {"bytes", "a float", "a string", "a bool"};
    return brt_fail(err, BRT_INVALID_ARG, "field '%s' takes %s", f->name, types[f->type]);
}

enum brt_code brt_number(const BfrtProto__DataField *d, const struct brt_field *f, uint64_t *out,
                         struct sk_error *err) {
    if (d->value_case != BFRT_PROTO__DATA_FIELD__VALUE_STREAM || f->width > 64)
        return value_wrong_type(f, err);
    return brt_words(&d->stream, f, out, err);
}

enum brt_code brt_text(const BfrtProto__DataField *d, const struct brt_field *f, char *out,
                       size_t size, struct sk_error *err) {
    uint64_t number;
    if (f->type == BRT_STREAM) {
        const enum brt_code code = brt_number(d, f, &number, err);
        if (code == BRT_OK)
            snprintf(out, size, "%" PRIu64, number);
        return code;
    }
    if (f->type == BRT_FLOAT && d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_FLOAT_VAL) {
        // as many decimals as are kept: femtoseconds of a time
        const size_t n = strlen(f->name);
        const bool time = n > 3 && strcmp(f->name + n - 3, "_NS") == 0;
        snprintf(out, size, "%.*f", time ? 6 : 9, (double)d->float_val);
        char *end = out + strlen(out);
        while (strchr(out, '.') && (end[-1] == '0' || end[-1] == '.')) {
            const bool point = end[-1] == '.';
            *--end = 0;
            if (point)
                break;
        }
        return BRT_OK;
    }
    if (f->type == BRT_STRING && d->value_case == BFRT_PROTO__DATA_FIELD__VALUE_STR_VAL) {
        snprintf(out, size, "%s", d->str_val);
        return BRT_OK;
    }
    return value_wrong_type(f, err);
}

bool brt_field_of_text(struct brt_memory *m, const struct brt_field *f, const char *text,
                       BfrtProto__DataField *out) {
    bfrt_proto__data_field__init(out);
    out->field_id = f->id;
    if (f->type == BRT_STREAM) {
        const uint64_t number = strtoull(text, NULL, 10);
        out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
        return brt_stream(m, &number, f->width, &out->stream);
    }
    if (f->type == BRT_FLOAT) {
        out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_FLOAT_VAL;
        out->float_val = strtof(text, NULL);
        return true;
    }
    const size_t n = strlen(text) + 1;
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STR_VAL;
    out->str_val = brt_take(m, n);
    return out->str_val && memcpy(out->str_val, text, n);
}
