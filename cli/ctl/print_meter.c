// SPDX-License-Identifier: Apache-2.0
//
// print_meter: what `silken ctl` shows of meters, entries' data and events.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/ctl/print.h"
#include "base/json.h"

void ctl_print_meters(const json_t *result) {
    size_t i;
    json_t *m;
    json_array_foreach(json_object_get(result, "meters"), i, m) {
        const char *table = sk_json_text(m, "table");
        if (*table)
            printf("%-48s %-5s of the entries of %s\n", sk_json_text(m, "name"),
                   sk_json_text(m, "kind"), table);
        else
            printf("%-48s %-5s %8lld%s%s\n", sk_json_text(m, "name"), sk_json_text(m, "kind"),
                   (long long)json_integer_value(json_object_get(m, "size")),
                   *sk_json_text(m, "unit") ? " of " : "", sk_json_text(m, "unit"));
    }
}

// "CIR_KBPS 8  PIR_KBPS 16": without what all names begin with
static void ctl_print_meter_values(const json_t *data) {
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
        ctl_print_meter_values(cell);
    }
}

void ctl_print_data(const json_t *result) {
    ctl_print_meter_values(json_object_get(result, "data"));
}

static void print_other(const json_t *event) {
    const char *name;
    json_t *v;
    fputs(sk_json_text(event, "event"), stdout);
    json_object_foreach((json_t *)event, name, v) {
        char *value = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
        if (strcmp(name, "event") != 0)
            printf("  %s=%s", name, json_is_string(v) ? json_string_value(v) : value);
        free(value);
    }
    putchar('\n');
}

void ctl_print_event(const json_t *event) {
    const char *name;
    json_t *v;
    if (!json_object_get(event, "table")) {
        print_other(event);
        return;
    }
    printf("%s %s", sk_json_text(event, "table"), sk_json_text(event, "state"));
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

void ctl_print_alarms(const json_t *result) {
    size_t i;
    json_t *alarm;
    json_array_foreach(json_object_get(result, "alarms"), i, alarm) {
        const time_t since =
            (time_t)(json_integer_value(json_object_get(alarm, "since")) / 1000000000);
        char at[32];
        struct tm t;
        strftime(at, sizeof at, "%Y-%m-%d %H:%M:%S", localtime_r(&since, &t));
        printf("%s  %-18s  %s\n", at, sk_json_text(alarm, "alarm"), sk_json_text(alarm, "text"));
    }
    if (json_array_size(json_object_get(result, "alarms")) == 0)
        puts("no alarm");
}
