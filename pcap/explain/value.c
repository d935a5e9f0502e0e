// SPDX-License-Identifier: Apache-2.0
//
// value: values as people write them. The JSON form has them in hexadecimal throughout.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pcap/explain/explain_impl.h"
#include "stages/bits.h"

const char *explain_short_name(const char *name) {
    const char *dot = strchr(name, '.');
    return dot && strchr(dot + 1, '.') && strncmp(name, "pipe.", 5) == 0 ? dot + 1 : name;
}

const char *explain_last_name(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

// A constant of the program speaks for itself.
bool explain_is_constant(const struct sk_trace_value *v) {
    return *v->name >= '0' && *v->name <= '9' && !strpbrk(v->name, " (");
}

struct sk_trace_value explain_field(const struct sk_header_desc *d, const uint8_t *bytes,
                                    uint32_t i) {
    const struct sk_event e = {.header = d, .bytes = bytes};
    struct sk_trace_value v = tracer_header_field(&e, i);
    v.is_signed = d->fields[i].is_signed;
    return v;
}

static bool explain_value_has(const char *name, const char *const *words) {
    for (; *words; words++)
        if (strcasestr(name, *words))
            return true;
    return false;
}

// What a field holds is told by its width and name; P4 says no more.
static bool explain_value_is_hexadecimal(const char *name) {
    static const char *const words[] = {"type", "sum",   "flags",  "mask",   "hash",
                                        "crc",  "magic", "digest", "bitmap", NULL};
    return explain_value_has(explain_last_name(name), words);
}

static const char *explain_value_written(struct explain *x, const struct sk_trace_value *v,
                                         void (*put)(FILE *out, const struct sk_trace_value *v)) {
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        abort();
    put(f, v);
    if (fclose(f) != 0)
        abort();
    const char *kept = explain_keep(x, text, n + 1);
    free(text);
    return kept;
}

const char *explain_value(struct explain *x, const struct sk_trace_value *v) {
    if (v->bytes || v->high)
        return explain_value_written(x, v, tracer_hex);
    if (v->is_signed && v->width <= 64)
        return explain_printf(x, "%" PRId64,
                              (int64_t)(v->low << (64 - v->width)) >> (64 - v->width));
    if (tracer_is_address(v))
        return explain_value_written(x, v, tracer_address);
    bool hex = explain_value_is_hexadecimal(v->name);
    if (v->low == 0 || (v->low < 10 && (!hex || v->width < 8)) ||
        (!hex && (v->width <= 32 || strcasestr(v->name, "stamp"))))
        return explain_printf(x, "%" PRIu64, v->low);
    return explain_value_written(x, v, tracer_hex);
}
