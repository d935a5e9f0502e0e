// SPDX-License-Identifier: Apache-2.0
//
// ctl_print_meter: what `silken ctl` shows of meters, entries' data and events.
#include <stdio.h>
#include <string.h>

#include "cli/ctl_print.h"

static const char *text(const json_t *object, const char *key) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

void ctl_print_meters(const json_t *result) {
    size_t i;
    json_t *m;
    json_array_foreach(json_object_get(result, "meters"), i, m) {
        const char *table = text(m, "table");
        if (*table)
            printf("%-48s %-5s of the entries of %s\n", text(m, "name"), text(m, "kind"), table);
        else
            printf("%-48s %-5s %8lld%s%s\n", text(m, "name"), text(m, "kind"),
                   (long long)json_integer_value(json_object_get(m, "size")),
                   *text(m, "unit") ? " of " : "", text(m, "unit"));
    }
}

// "CIR_KBPS 8  PIR_KBPS 16": without what all names begin with
static void print_values(const json_t *data) {
    const char *name;
    json_t *v;
    bool any = false;
    json_object_foreach((json_t *)data, name, v) {
        const char *brief = strstr(name, "SPEC_");
        if (!json_string_value(v))
            continue;
        printf("  %s %s",
               brief                              ? brief + 5
               : strncmp(name, "$ENTRY_", 7) == 0 ? name + 7
                                                  : name,
               json_string_value(v));
        any = true;
    }
    puts(any ? "" : "  -");
}

void ctl_print_meter(const json_t *result, bool first) {
    size_t i;
    json_t *cell;
    (void)first;
    json_array_foreach(json_object_get(result, "cells"), i, cell) {
        printf("%8lld", (long long)json_integer_value(json_object_get(cell, "index")));
        print_values(cell);
    }
}

void ctl_print_data(const json_t *result) {
    print_values(json_object_get(result, "data"));
}

void ctl_print_event(const json_t *event) {
    const char *name;
    json_t *v;
    printf("%s %s", text(event, "table"), text(event, "state"));
    json_object_foreach(json_object_get(event, "key"), name, v) {
        printf("  %s=%s", name, json_string_value(v) ? json_string_value(v) : "");
    }
    putchar('\n');
}

void ctl_print_events(const json_t *result) {
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(result, "events"), i, event) {
        ctl_print_event(event);
    }
}
