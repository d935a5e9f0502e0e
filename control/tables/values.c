// SPDX-License-Identifier: Apache-2.0
#include "control/tables/values.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct slice {
    const char *p;
    size_t n;
};

static struct slice trim(struct slice s) {
    while (s.n > 0 && isspace((unsigned char)s.p[0]))
        s.p++, s.n--;
    while (s.n > 0 && isspace((unsigned char)s.p[s.n - 1]))
        s.n--;
    return s;
}

// Splits at the first 'separator'; false when there is none.
static bool split(struct slice s, const char *separator, struct slice *before,
                  struct slice *after) {
    size_t n = strlen(separator);
    const char *at = memmem(s.p, s.n, separator, n);
    if (!at)
        return false;
    *before = trim((struct slice){s.p, (size_t)(at - s.p)});
    *after = trim((struct slice){at + n, s.n - (size_t)(at - s.p) - n});
    return true;
}

// ---- words ----

static void set_ones(uint64_t *words, uint32_t width) {
    unsigned n = sk_words(width);
    memset(words, 0xff, n * sizeof *words);
    if (width % 64)
        words[n - 1] = ((uint64_t)1 << width % 64) - 1;
}

static bool get_bit(const uint64_t *words, uint32_t bit) {
    return words[bit / 64] >> bit % 64 & 1;
}

// words = words * factor + digit; false when that needs more than 'width' bits.
static bool multiply_add(uint64_t *words, uint32_t width, unsigned factor, unsigned digit) {
    unsigned n = sk_words(width);
    unsigned __int128 carry = digit;
    for (unsigned i = 0; i < n; i++) {
        carry += (unsigned __int128)words[i] * factor;
        words[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return carry == 0 && (width % 64 == 0 || words[n - 1] >> width % 64 == 0);
}

// Like multiply_add with a power of two, but bits beyond the width are lost.
static void shift_in(uint64_t *words, uint32_t width, unsigned bits, unsigned digit) {
    uint64_t carry = digit;
    for (unsigned i = 0; i < sk_words(width); i++) {
        uint64_t next = words[i] >> (64 - bits);
        words[i] = words[i] << bits | carry;
        carry = next;
    }
    if (width % 64)
        words[sk_words(width) - 1] &= ((uint64_t)1 << width % 64) - 1;
}

static void negate(uint64_t *words, uint32_t width) {
    uint64_t ones[SK_MAX_KEY_WORDS];
    set_ones(ones, width);
    uint64_t carry = 1;
    for (unsigned i = 0; i < sk_words(width); i++) {
        uint64_t inverted = ~words[i] & ones[i];
        words[i] = (inverted + carry) & ones[i];
        carry = carry && inverted == ones[i];
    }
}

static bool control_values_is_zero(const uint64_t *words, uint32_t width) {
    for (unsigned i = 0; i < sk_words(width); i++)
        if (words[i])
            return false;
    return true;
}

static bool below_or_equal(const uint64_t *a, const uint64_t *b, uint32_t width) {
    for (unsigned i = sk_words(width); i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i];
    return true;
}

// ---- numbers ----

static int bad_number(struct slice s, struct sk_error *err) {
    return sk_fail(err,
                   "'%.*s' is not a value; write 123, 0x7b, 0b101, 10.0.0.1 or 00:11:22:33:44:55",
                   (int)(s.n < 80 ? s.n : 80), s.p);
}

static int too_big(struct slice s, const struct sk_field_desc *f, struct sk_error *err) {
    return sk_fail(err, "%.*s does not fit %s%u bit%s", (int)(s.n < 80 ? s.n : 80), s.p,
                   f->is_signed ? "signed " : "", f->width, f->width == 1 ? "" : "s");
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

// 0x and 0b. 'mask' null: no don't-care digits.
static int parse_pattern(struct slice s, const struct sk_field_desc *f, uint64_t *value,
                         uint64_t *mask, struct sk_error *err) {
    unsigned bits = tolower((unsigned char)s.p[1]) == 'x' ? 4 : 1;
    memset(value, 0, sk_words(f->width) * sizeof *value);
    if (mask)
        set_ones(mask, f->width);
    if (s.n == 2)
        return bad_number(s, err);
    for (size_t i = 2; i < s.n; i++) {
        int digit = digit_value(s.p[i]);
        bool any = s.p[i] == '*' && mask;
        if (s.p[i] == '_' && i > 2)
            continue;
        if (!any && (digit < 0 || digit >= 1 << bits))
            return bad_number(s, err);
        if (!multiply_add(value, f->width, 1u << bits, any ? 0 : (unsigned)digit))
            return too_big(s, f, err);
        if (mask)
            shift_in(mask, f->width, bits, any ? 0 : (1u << bits) - 1);
    }
    return 0;
}

// Signed fields: at most 2^(w-1) - 1, and 2^(w-1) below zero.
static bool decimal_fits(const uint64_t *magnitude, const struct sk_field_desc *f, bool negative) {
    if (!f->is_signed || !get_bit(magnitude, f->width - 1))
        return true;
    bool lower_bits = false;
    for (uint32_t bit = 0; bit + 1 < f->width; bit++)
        lower_bits |= get_bit(magnitude, bit);
    return negative && !lower_bits;
}

static int parse_decimal(struct slice s, const struct sk_field_desc *f, uint64_t *value,
                         struct sk_error *err) {
    bool negative = s.p[0] == '-';
    memset(value, 0, sk_words(f->width) * sizeof *value);
    if (s.n == (size_t)negative)
        return bad_number(s, err);
    for (size_t i = negative; i < s.n; i++) {
        if (s.p[i] == '_' && i > negative)
            continue;
        if (s.p[i] < '0' || s.p[i] > '9')
            return bad_number(s, err);
        if (!multiply_add(value, f->width, 10, (unsigned)(s.p[i] - '0')))
            return too_big(s, f, err);
    }
    if (negative && !f->is_signed && !control_values_is_zero(value, f->width))
        return sk_fail(err, "%.*s is negative, but the field is unsigned",
                       (int)(s.n < 80 ? s.n : 80), s.p);
    if (!decimal_fits(value, f, negative))
        return too_big(s, f, err);
    if (negative)
        negate(value, f->width);
    return 0;
}

// ---- addresses ----

static void from_bytes(const uint8_t *bytes, unsigned n, uint64_t *words) {
    memset(words, 0, (n + 7) / 8 * sizeof *words);
    for (unsigned i = 0; i < n; i++) {
        unsigned bit = (n - 1 - i) * 8;
        words[bit / 64] |= (uint64_t)bytes[i] << bit % 64;
    }
}

static bool control_values_parse_mac(const char *text, uint8_t mac[6]) {
    for (int i = 0; i < 6; i++) {
        int high = digit_value(text[0]), low = high < 0 ? -1 : digit_value(text[1]);
        if (low < 0 || text[2] != (i < 5 ? ':' : 0))
            return false;
        mac[i] = (uint8_t)(high << 4 | low);
        text += 3;
    }
    return true;
}

static int control_values_parse_address(struct slice s, const struct sk_field_desc *f,
                                        uint64_t *value, struct sk_error *err) {
    char text[64];
    uint8_t bytes[16];
    if (s.n >= sizeof text)
        return bad_number(s, err);
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    unsigned n = 0;
    const char *kind = "";
    if (control_values_parse_mac(text, bytes))
        n = 6, kind = "a MAC address";
    else if (inet_pton(AF_INET, text, bytes) == 1)
        n = 4, kind = "an IPv4 address";
    else if (inet_pton(AF_INET6, text, bytes) == 1)
        n = 16, kind = "an IPv6 address";
    else
        return bad_number(s, err);
    if (f->width != n * 8)
        return sk_fail(err, "'%s' is %s of %u bits, the field has %u", text, kind, n * 8, f->width);
    from_bytes(bytes, n, value);
    return 0;
}

// ---- one value ----

static bool is_pattern(struct slice s) {
    return s.n >= 2 && s.p[0] == '0' && strchr("xXbB", s.p[1]);
}

static bool control_values_is_word(struct slice s, const char *word) {
    return s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

static int parse_one(struct slice s, const struct sk_field_desc *f, uint64_t *value,
                     struct sk_error *err) {
    if (s.n == 0)
        return sk_fail(err, "a value is missing");
    if (is_pattern(s) && !memchr(s.p, ':', s.n))
        return parse_pattern(s, f, value, NULL, err);
    if (memchr(s.p, ':', s.n) || memchr(s.p, '.', s.n))
        return control_values_parse_address(s, f, value, err);
    if (f->width == 1 &&
        (control_values_is_word(s, "true") || control_values_is_word(s, "false"))) {
        value[0] = s.p[0] == 't';
        return 0;
    }
    return parse_decimal(s, f, value, err);
}

static bool usable_width(const struct sk_field_desc *f) {
    return f->width > 0 && sk_words(f->width) <= SK_MAX_KEY_WORDS;
}

int sk_value_parse(const char *text, const struct sk_field_desc *f, uint64_t *words,
                   struct sk_error *err) {
    if (!usable_width(f))
        return sk_fail(err, "a field of %u bits cannot be written as text", f->width);
    return parse_one(trim((struct slice){text, strlen(text)}), f, words, err);
}

// ---- keys ----

static const char *const match_names[] = {"an exact", "a ternary", "an lpm", "a range"};

static int wrong_kind(const struct sk_field_desc *f, const char *form, struct sk_error *err) {
    return sk_fail(err, "%s is not allowed for %s key", form, match_names[f->match]);
}

static void prefix_mask(uint64_t *mask, uint32_t width, uint32_t length) {
    memset(mask, 0, sk_words(width) * sizeof *mask);
    for (uint32_t bit = width - length; bit < width; bit++)
        mask[bit / 64] |= (uint64_t)1 << bit % 64;
}

// Length of the prefix that 'mask' is, or -1.
static int prefix_length(const uint64_t *mask, uint32_t width) {
    uint32_t length = 0;
    while (length < width && get_bit(mask, width - 1 - length))
        length++;
    for (uint32_t bit = 0; bit < width - length; bit++)
        if (get_bit(mask, bit))
            return -1;
    return (int)length;
}

static int parse_prefix(struct slice value_text, struct slice length_text,
                        const struct sk_field_desc *f, uint64_t *value, uint64_t *mask,
                        struct sk_error *err) {
    const struct sk_field_desc length_field = {.width = 32};
    uint64_t length;
    if (f->match != SK_LPM && f->match != SK_TERNARY)
        return wrong_kind(f, "a prefix", err);
    int rc = parse_one(value_text, f, value, err);
    if (rc == 0)
        rc = parse_one(length_text, &length_field, &length, err);
    if (rc)
        return rc;
    if (length > f->width)
        return sk_fail(err, "prefix length %.*s is more than the field's %u bits",
                       (int)length_text.n, length_text.p, f->width);
    prefix_mask(mask, f->width, (uint32_t)length);
    return 0;
}

static int parse_masked(struct slice value_text, struct slice mask_text,
                        const struct sk_field_desc *f, uint64_t *value, uint64_t *mask,
                        struct sk_error *err) {
    if (f->match != SK_LPM && f->match != SK_TERNARY)
        return wrong_kind(f, "a mask", err);
    int rc = parse_one(value_text, f, value, err);
    return rc ? rc : parse_one(mask_text, f, mask, err);
}

static int parse_range(struct slice low, struct slice high, const struct sk_field_desc *f,
                       uint64_t *value, uint64_t *mask, struct sk_error *err) {
    if (f->match != SK_RANGE)
        return wrong_kind(f, "low..high", err);
    int rc = parse_one(low, f, value, err);
    if (rc == 0)
        rc = parse_one(high, f, mask, err);
    if (rc == 0 && !below_or_equal(value, mask, f->width))
        return sk_fail(err, "the range %.*s..%.*s ends before it starts", (int)low.n, low.p,
                       (int)high.n, high.p);
    return rc;
}

static int parse_dont_care(struct slice s, const struct sk_field_desc *f, uint64_t *value,
                           uint64_t *mask, struct sk_error *err) {
    if (f->match != SK_LPM && f->match != SK_TERNARY)
        return wrong_kind(f, "a don't-care digit", err);
    return is_pattern(s) ? parse_pattern(s, f, value, mask, err) : bad_number(s, err);
}

bool sk_key_any(const struct sk_field_desc *f, uint64_t *value, uint64_t *mask) {
    memset(value, 0, sk_words(f->width) * sizeof *value);
    memset(mask, 0, sk_words(f->width) * sizeof *mask);
    if (f->match == SK_RANGE)
        set_ones(mask, f->width);
    return f->match != SK_EXACT;
}

static int parse_key(struct slice s, const struct sk_field_desc *f, uint64_t *value, uint64_t *mask,
                     struct sk_error *err) {
    struct slice a, b;
    if (control_values_is_word(s, "*"))
        return sk_key_any(f, value, mask) ? 0 : wrong_kind(f, "*", err);
    if (split(s, "&&&", &a, &b))
        return parse_masked(a, b, f, value, mask, err);
    if (split(s, "..", &a, &b))
        return parse_range(a, b, f, value, mask, err);
    if (split(s, "/", &a, &b))
        return parse_prefix(a, b, f, value, mask, err);
    if (memchr(s.p, '*', s.n))
        return parse_dont_care(s, f, value, mask, err);
    int rc = parse_one(s, f, value, err);
    if (rc == 0 && f->match == SK_RANGE)
        memcpy(mask, value, sk_words(f->width) * sizeof *mask);
    else
        set_ones(mask, f->width);
    return rc;
}

int sk_key_parse(const char *text, const struct sk_field_desc *f, uint64_t *value, uint64_t *mask,
                 struct sk_error *err) {
    if (!usable_width(f))
        return sk_fail(err, "a field of %u bits cannot be written as text", f->width);
    struct slice s = trim((struct slice){text, strlen(text)});
    int rc = parse_key(s, f, value, mask, err);
    if (rc)
        return rc;
    if (f->match == SK_LPM && prefix_length(mask, f->width) < 0)
        return sk_fail(err, "the mask of an lpm key must be a prefix; '%.*s' is not one",
                       (int)(s.n < 80 ? s.n : 80), s.p);
    for (unsigned i = 0; f->match != SK_RANGE && i < sk_words(f->width); i++)
        value[i] &= mask[i];
    return 0;
}

// ---- formatting ----

struct text {
    char *out;
    size_t size, length;
};

static void control_values_put(struct text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void control_values_put(struct text *t, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    bool room = t->length < t->size;
    int n = vsnprintf(room ? t->out + t->length : NULL, room ? t->size - t->length : 0, format, ap);
    va_end(ap);
    t->length += (size_t)n;
}

static void put_hex(struct text *t, const uint64_t *words, uint32_t width) {
    unsigned i = sk_words(width) - 1;
    while (i > 0 && words[i] == 0)
        i--;
    control_values_put(t, "0x%llx", (unsigned long long)words[i]);
    while (i-- > 0)
        control_values_put(t, "%016llx", (unsigned long long)words[i]);
}

static void put_value(struct text *t, const struct sk_field_desc *f, const uint64_t *words) {
    uint64_t w = words[0];
    if (f->is_signed && f->width <= 64 && w >> (f->width - 1) & 1)
        control_values_put(
            t, "-%llu", (unsigned long long)(f->width == 64 ? -w : ((uint64_t)1 << f->width) - w));
    else if (f->is_signed && f->width <= 64)
        control_values_put(t, "%llu", (unsigned long long)w);
    else if (f->width == 48)
        control_values_put(t, "%02x:%02x:%02x:%02x:%02x:%02x", (unsigned)(w >> 40 & 255),
                           (unsigned)(w >> 32 & 255), (unsigned)(w >> 24 & 255),
                           (unsigned)(w >> 16 & 255), (unsigned)(w >> 8 & 255),
                           (unsigned)(w & 255));
    else if (f->width <= 16)
        control_values_put(t, "%llu", (unsigned long long)w);
    else
        put_hex(t, words, f->width);
}

size_t sk_value_format(char *out, size_t size, const struct sk_field_desc *f,
                       const uint64_t *words) {
    struct text t = {out, size, 0};
    put_value(&t, f, words);
    return t.length;
}

static void control_values_put_masked(struct text *t, const struct sk_field_desc *f,
                                      const uint64_t *value, const uint64_t *mask) {
    int length = prefix_length(mask, f->width);
    if (length == 0) {
        control_values_put(t, "*");
    } else if (length == (int)f->width) {
        put_value(t, f, value);
    } else if (length > 0 && f->width > 8) {
        put_value(t, f, value);
        control_values_put(t, "/%d", length);
    } else {
        put_hex(t, value, f->width);
        control_values_put(t, " &&& ");
        put_hex(t, mask, f->width);
    }
}

static void put_range(struct text *t, const struct sk_field_desc *f, const uint64_t *low,
                      const uint64_t *high) {
    put_value(t, f, low);
    if (memcmp(low, high, sk_words(f->width) * sizeof *low) == 0)
        return;
    control_values_put(t, "..");
    put_value(t, f, high);
}

size_t sk_key_format(char *out, size_t size, const struct sk_field_desc *f, const uint64_t *value,
                     const uint64_t *mask) {
    struct text t = {out, size, 0};
    if (f->match == SK_EXACT)
        put_value(&t, f, value);
    else if (f->match == SK_RANGE)
        put_range(&t, f, value, mask);
    else
        control_values_put_masked(&t, f, value, mask);
    return t.length;
}
