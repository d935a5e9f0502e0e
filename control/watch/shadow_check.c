// SPDX-License-Identifier: Apache-2.0
//
// shadow_check: refuses a trace that no packet could match, before it is armed.
#include <stdio.h>
#include <string.h>

#include "control/tables/names.h"
#include "control/tables/values.h"
#include "control/watch/shadow_impl.h"

#define SHADOW_WIDEST  128u // bits of a field that is compared, as in shadow.c
#define SHADOW_LONGEST 64u  // bytes of a name that is likened to others
#define SHADOW_NEAREST 3u

// ---- the nearest names ----

// The edit distance: how many single characters must change.
static unsigned shadow_distance(const char *a, const char *b) {
    unsigned row[SHADOW_LONGEST + 1];
    const size_t n = strnlen(a, SHADOW_LONGEST), m = strnlen(b, SHADOW_LONGEST);
    for (size_t k = 0; k <= m; k++)
        row[k] = (unsigned)k;
    for (size_t i = 1; i <= n; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t k = 1; k <= m; k++) {
            const unsigned above = row[k], other = corner + (a[i - 1] != b[k - 1]);
            const unsigned beside = (above < row[k - 1] ? above : row[k - 1]) + 1;
            row[k] = other < beside ? other : beside;
            corner = above;
        }
    }
    return row[m];
}

// The end of a full name that has as many parts as what was asked for.
static const char *shadow_as_long(const char *full, const char *asked) {
    unsigned dots = 0;
    const char *at = full + strlen(full);
    for (const char *c = asked; *c; c++)
        dots += *c == '.';
    while (at > full && (at[-1] != '.' || dots-- > 0))
        at--;
    return at;
}

struct shadow_near {
    const char *name[SHADOW_NEAREST];
    unsigned distance[SHADOW_NEAREST];
    size_t n;
};

static void shadow_add_near(struct shadow_near *near, const char *full, const char *asked) {
    const unsigned distance = shadow_distance(shadow_as_long(full, asked), asked);
    size_t at = near->n;
    for (size_t i = 0; i < near->n; i++)
        if (strcmp(near->name[i], full) == 0)
            return;
    while (at > 0 && near->distance[at - 1] > distance)
        at--;
    if (at == SHADOW_NEAREST)
        return;
    near->n += near->n < SHADOW_NEAREST;
    for (size_t i = near->n - 1; i > at; i--) {
        near->name[i] = near->name[i - 1];
        near->distance[i] = near->distance[i - 1];
    }
    near->name[at] = full;
    near->distance[at] = distance;
}

// ---- the fields ----

static int shadow_fail_unknown(const struct shadow_near *near, const char *asked,
                               struct sk_error *err) {
    char list[3 * SHADOW_LONGEST + 64] = "";
    for (size_t i = 0; i < near->n; i++) {
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%.*s", i ? ", " : "", (int)SHADOW_LONGEST,
                 near->name[i]);
    }
    return sk_fail(err, "the parser extracts no field '%.80s'%s%s", asked,
                   near->n ? "; there is " : "", list);
}

size_t shadow_header_length(const char *name) {
    static const char ending[] = ".$valid";
    const size_t n = strlen(name), end = sizeof ending - 1;
    return n > end && strcmp(name + n - end, ending) == 0 ? n - end : 0;
}

bool shadow_is_header(const char *full, size_t n_full, const char *asked, size_t n) {
    return n <= n_full && memcmp(full + n_full - n, asked, n) == 0 &&
           (n == n_full || full[n_full - n - 1] == '.');
}

// Of "hdr.ipv4.$valid": is there a field of that header? It has one bit.
static bool shadow_check_valid(const struct sk_switch *live, const struct sk_shadow_field *field,
                               struct sk_error *err, int *rc) {
    const struct sk_program_desc *d = sk_switch_program(live);
    const size_t n = shadow_header_length(field->name);
    uint64_t value[2] = {0}, mask[2] = {0};
    const struct sk_field_desc bit = {.name = field->name, .width = 1, .match = SK_TERNARY};
    bool there = false;
    if (n == 0)
        return false;
    for (uint32_t p = 0; p < d->n_pipelines; p++)
        for (uint32_t i = 0; i < d->pipelines[p]->n_packet_fields; i++) {
            const char *name = d->pipelines[p]->packet_fields[i].name, *dot = strrchr(name, '.');
            there = there || (dot && shadow_is_header(name, (size_t)(dot - name), field->name, n));
        }
    *rc = there ? sk_key_parse(field->value, &bit, value, mask, err)
                : sk_fail(err, "the parser extracts no header '%.*s'", (int)n, field->name);
    return true;
}

// Of several fields with the name one must be able to have the value.
static int shadow_check_one(const struct sk_switch *live, const struct sk_shadow_field *field,
                            struct sk_error *err) {
    const struct sk_program_desc *d = sk_switch_program(live);
    struct shadow_near near = {.n = 0};
    struct sk_error why = {""};
    bool there = false;
    int rc = 0;
    if (shadow_check_valid(live, field, err, &rc))
        return rc;
    for (uint32_t p = 0; p < d->n_pipelines; p++)
        for (uint32_t i = 0; i < d->pipelines[p]->n_packet_fields; i++) {
            struct sk_field_desc f = d->pipelines[p]->packet_fields[i];
            uint64_t value[2] = {0}, mask[2] = {0};
            if (!there)
                shadow_add_near(&near, f.name, field->name);
            if (!sk_name_matches(f.name, field->name))
                continue;
            there = true;
            f.match = SK_TERNARY;
            if (f.width > SHADOW_WIDEST)
                sk_fail(&why, "it has %u bits; fields of up to %u are compared", f.width,
                        SHADOW_WIDEST);
            else if (sk_key_parse(field->value, &f, value, mask, &why) == 0)
                return 0;
        }
    return there ? sk_fail(err, "%.80s: %s", field->name, why.text)
                 : shadow_fail_unknown(&near, field->name, err);
}

int sk_shadow_check(const struct sk_switch *live, const struct sk_shadow_field *fields, size_t n,
                    struct sk_error *err) {
    for (size_t i = 0; i < n; i++)
        if (shadow_check_one(live, &fields[i], err))
            return -1;
    return 0;
}
