// SPDX-License-Identifier: Apache-2.0
//
// report: differences as lines, as they are found, or all as one JSON object.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "twin/items.h"

struct twin_report {
    const struct twin_diff_options *opt;
    json_t *differences; // of JSON; else null
    json_t *skipped;     // by what: {"why", "values", "differ"}
    int64_t n;
    uint64_t entries, packets;
    const char *a, *b;
};

struct twin_report *twin_report_begin(const struct twin_diff_options *opt, const char *a,
                                      const char *b) {
    struct twin_report *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    *r = (struct twin_report){.opt = opt,
                              .a = a,
                              .b = b,
                              .differences = opt->json ? json_array() : NULL,
                              .skipped = json_object()};
    return r;
}

void twin_report_difference(struct twin_report *r, const char *table, const char *key,
                            const char *field, const char *a, const char *b) {
    r->n++;
    if (r->differences)
        json_array_append_new(r->differences,
                              json_pack("{s:s, s:s, s:s, s:s, s:s}", "table", table, "key", key,
                                        "field", field, "a", a, "b", b));
    else
        fprintf(r->opt->out, "%s: %s: %s: A %s, B %s\n", table, key, field, a, b);
}

void twin_report_skip(struct twin_report *r, const char *what, const char *why, int differs) {
    json_t *one = json_object_get(r->skipped, what);
    if (!one) {
        one = json_pack("{s:s, s:i, s:i}", "why", why, "values", 0, "differ", 0);
        json_object_set_new(r->skipped, what, one);
    }
    json_t *values = json_object_get(one, "values"), *differ = json_object_get(one, "differ");
    json_integer_set(values, json_integer_value(values) + 1);
    json_integer_set(differ, json_integer_value(differ) + (differs > 0));
    if (differs < 0)
        json_object_set_new(one, "unknown", json_true());
}

void twin_report_count(struct twin_report *r, bool is_packet) {
    r->entries += !is_packet;
    r->packets += is_packet;
}

static void report_end_json(struct twin_report *r) {
    const char *what;
    json_t *one, *list = json_array();
    json_object_foreach(r->skipped, what, one) {
        json_object_set_new(one, "what", json_string(what));
        json_array_append(list, one);
    }
    json_t *all =
        json_pack("{s:s, s:s, s:b, s:I, s:I, s:o, s:o}", "a", r->a, "b", r->b, "alike", r->n == 0,
                  "entries", (json_int_t)r->entries, "packets", (json_int_t)r->packets,
                  "differences", r->differences, "not_compared", list);
    json_dumpf(all, r->opt->out, JSON_INDENT(1));
    fputc('\n', r->opt->out);
    json_decref(all);
}

static void report_end_text(const struct twin_report *r) {
    const char *what;
    json_t *one;
    json_object_foreach(r->skipped, what, one) {
        const json_int_t values = json_integer_value(json_object_get(one, "values")),
                         differ = json_integer_value(json_object_get(one, "differ"));
        if (json_object_get(one, "unknown"))
            fprintf(r->opt->out, "not compared: %s (%s)\n", what,
                    json_string_value(json_object_get(one, "why")));
        else
            fprintf(r->opt->out,
                    "not compared: %s (%s): %" JSON_INTEGER_FORMAT
                    ", of which %" JSON_INTEGER_FORMAT " differ\n",
                    what, json_string_value(json_object_get(one, "why")), values, differ);
    }
    fprintf(r->opt->out, "%" PRIu64 " entries and %" PRIu64 " packets compared: ", r->entries,
            r->packets);
    if (r->n)
        fprintf(r->opt->out, "%" PRId64 " difference%s\n", r->n, r->n == 1 ? "" : "s");
    else
        fputs("no difference\n", r->opt->out);
}

int64_t twin_report_end(struct twin_report *r) {
    const int64_t n = r->n;
    if (r->differences)
        report_end_json(r);
    else
        report_end_text(r);
    json_decref(r->skipped);
    free(r);
    return n;
}
