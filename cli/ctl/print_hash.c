// SPDX-License-Identifier: Apache-2.0
//
// print_hash: hashes that can be changed, as text.
#include <stdio.h>
#include <string.h>

#include "cli/ctl/print.h"
#include "base/json.h"

static void print_algorithm(const json_t *a) {
    const char *key;
    json_t *v;
    json_object_foreach((json_t *)a, key, v) {
        if (json_is_string(v))
            printf(" %s=%s", key, json_string_value(v));
        else if (json_is_boolean(v))
            printf(" %s=%s", key, json_is_true(v) ? "true" : "false");
        else
            printf(" %s=%lld", key, (long long)json_integer_value(v));
    }
}

void ctl_print_hashes(const json_t *result) {
    size_t i, j, k;
    json_t *h, *pipe, *field;
    json_array_foreach(json_object_get(result, "hashes"), i, h) {
        printf("%s: %lld bits\n", sk_json_text(h, "name"),
               (long long)json_integer_value(json_object_get(h, "width")));
        json_array_foreach(json_object_get(h, "pipes"), j, pipe) {
            printf("  pipe %lld%s ", (long long)json_integer_value(json_object_get(pipe, "pipe")),
                   json_is_true(json_object_get(pipe, "changed")) ? ", changed" : "");
            print_algorithm(json_object_get(pipe, "algorithm"));
            printf("\n   ");
            json_array_foreach(json_object_get(pipe, "fields"), k, field) {
                const char *s = json_string_value(field);
                printf(" %s", s ? s : "");
            }
            putchar('\n');
        }
    }
}

void ctl_print_hash(const json_t *result) {
    puts(sk_json_text(result, "hash"));
}
