// SPDX-License-Identifier: Apache-2.0
#include "cli/ctl/print.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- reading a reply: what is missing is printed as nothing, never a reason to stop ----

static const json_t *ctl_print_list(const json_t *object, const char *key) {
    return json_object_get(object, key);
}

void ctl_print_json(const json_t *result) {
    json_dumpf(result, stdout, JSON_INDENT(2));
    putchar('\n');
}

// "1,2,3"
static void print_numbers(const json_t *array) {
    size_t i;
    json_t *v;
    json_array_foreach(array, i, v) {
        printf("%s%lld", i ? "," : "", (long long)json_integer_value(v));
    }
    if (json_array_size(array) == 0)
        putchar('-');
}

// ---- objects ----

static void print_table(const json_t *t) {
    size_t i, j;
    json_t *v, *param;
    printf("%s\n  %lld of %lld entries%s\n", sk_json_text(t, "name"),
           (long long)json_integer_value(json_array_get(ctl_print_list(t, "entries"), 0)),
           sk_json_number(t, "size"), json_is_true(json_object_get(t, "const")) ? ", const" : "");
    json_array_foreach(ctl_print_list(t, "keys"), i, v) {
        printf("  key     %s: %lld bits, %s\n", sk_json_text(v, "name"), sk_json_number(v, "width"),
               sk_json_text(v, "match"));
    }
    json_array_foreach(ctl_print_list(t, "actions"), i, v) {
        printf("  action  %s(", sk_json_text(v, "name"));
        json_array_foreach(ctl_print_list(v, "params"), j, param) {
            printf("%s%s: %lld", j ? ", " : "", sk_json_text(param, "name"),
                   sk_json_number(param, "width"));
        }
        printf(")\n");
    }
}

void ctl_print_tables(const json_t *result) {
    size_t i;
    json_t *t;
    json_array_foreach(ctl_print_list(result, "tables"), i, t) {
        if (!json_is_true(json_object_get(t, "hidden")))
            print_table(t);
    }
}

void ctl_print_registers(const json_t *result) {
    size_t i;
    json_t *r;
    json_array_foreach(ctl_print_list(result, "registers"), i, r) {
        printf("%-48s %8lld x %lld bits%s\n", sk_json_text(r, "name"), sk_json_number(r, "size"),
               sk_json_number(r, "width"), sk_json_number(r, "words") == 2 ? " x 2" : "");
    }
}

void ctl_print_counters(const json_t *result) {
    size_t i;
    json_t *c;
    json_array_foreach(ctl_print_list(result, "counters"), i, c) {
        printf("%-48s %8lld\n", sk_json_text(c, "name"), sk_json_number(c, "size"));
    }
}

// ---- entries ----

static void ctl_print_action(const json_t *e) {
    static const char *const references[] = {"member", "group"};
    for (size_t r = 0; r < 2; r++)
        if (json_object_get(e, references[r])) {
            printf("%s(%lld)", references[r], sk_json_number(e, references[r]));
            return;
        }
    const char *name;
    json_t *v;
    bool first = true;
    printf("%s(", sk_json_text(e, "action"));
    json_object_foreach((json_t *)ctl_print_list(e, "args"), name, v) {
        printf("%s%s=%s", first ? "" : ", ", name, json_string_value(v));
        first = false;
    }
    putchar(')');
}

static void print_counts(const json_t *e) {
    printf("  hits %lld", sk_json_number(e, "hits"));
    if (json_object_get(e, "packets"))
        printf("  packets %lld", sk_json_number(e, "packets"));
    if (json_object_get(e, "bytes"))
        printf("  bytes %lld", sk_json_number(e, "bytes"));
    putchar('\n');
}

static bool has_order(const json_t *table) {
    size_t i;
    json_t *key;
    json_array_foreach(ctl_print_list(table, "keys"), i, key) {
        if (strcmp(sk_json_text(key, "match"), "ternary") == 0 ||
            strcmp(sk_json_text(key, "match"), "range") == 0)
            return true;
    }
    return false;
}

void ctl_print_entries(const json_t *result, bool first) {
    size_t i;
    json_t *e, *v;
    const char *name;
    if (first)
        printf("%s, pipe %lld\n", sk_json_text(result, "name"), sk_json_number(result, "pipe"));
    json_array_foreach(ctl_print_list(result, "entries"), i, e) {
        printf("  ");
        if (has_order(result))
            printf("%lld  ", sk_json_number(e, "priority"));
        json_object_foreach((json_t *)ctl_print_list(e, "key"), name, v) {
            printf("%s=%s  ", name, json_string_value(v));
        }
        ctl_print_action(e);
        print_counts(e);
    }
    if (json_object_get(result, "next"))
        return;
    printf("  default  ");
    ctl_print_action(ctl_print_list(result, "default"));
    print_counts(ctl_print_list(result, "default"));
}

// ---- registers and counters ----

static void print_register_heading(const json_t *result) {
    size_t i, j;
    json_t *field, *pipe;
    printf("%s\n%10s", sk_json_text(result, "name"), "index");
    json_array_foreach(ctl_print_list(result, "fields"), i, field) {
        json_array_foreach(ctl_print_list(result, "pipes"), j, pipe) {
            char heading[64];
            snprintf(heading, sizeof heading, "%s[%lld]", json_string_value(field),
                     (long long)json_integer_value(pipe));
            printf(" %14s", heading);
        }
    }
    putchar('\n');
}

void ctl_print_register(const json_t *result, bool first) {
    size_t i, j, k;
    json_t *cell, *field, *v;
    if (first)
        print_register_heading(result);
    json_array_foreach(ctl_print_list(result, "cells"), i, cell) {
        printf("%10lld", sk_json_number(cell, "index"));
        json_array_foreach(ctl_print_list(result, "fields"), j, field) {
            json_array_foreach(ctl_print_list(cell, json_string_value(field)), k, v) {
                printf(" %14s", json_string_value(v));
            }
        }
        putchar('\n');
    }
}

static void print_cells(const json_t *result, bool first, bool above_zero) {
    size_t i;
    json_t *cell;
    if (first)
        printf("%s\n", sk_json_text(result, "name"));
    json_array_foreach(ctl_print_list(result, "cells"), i, cell) {
        if (above_zero && sk_json_number(cell, "packets") == 0 &&
            sk_json_number(cell, "bytes") == 0)
            continue;
        printf("%10lld", sk_json_number(cell, "index"));
        if (json_object_get(cell, "packets"))
            printf("  packets %12lld", sk_json_number(cell, "packets"));
        if (json_object_get(cell, "bytes"))
            printf("  bytes %14lld", sk_json_number(cell, "bytes"));
        putchar('\n');
    }
}

void ctl_print_counter(const json_t *result, bool first) {
    print_cells(result, first, false);
}

void ctl_print_counter_above_zero(const json_t *result, bool first) {
    print_cells(result, first, true);
}

// ---- ports, statistics, replication ----

static void print_drops(const json_t *drops, const char *indent) {
    const char *reason;
    json_t *n;
    json_object_foreach((json_t *)drops, reason, n) {
        printf("%s%-44s %12lld\n", indent, reason, (long long)json_integer_value(n));
    }
}

// What queues did not take.
static void print_queue_drops(const json_t *queues) {
    const char *colour, *reason;
    json_t *q, *reasons, *n;
    size_t i;
    json_array_foreach((json_t *)queues, i, q) {
        json_object_foreach(json_object_get(q, "drops"), colour, reasons) {
            json_object_foreach(reasons, reason, n) {
                char what[96];
                snprintf(what, sizeof what, "queue %lld, %s, %s", sk_json_number(q, "queue"),
                         colour, reason);
                printf("        %-51s %12lld\n", what, (long long)json_integer_value(n));
            }
        }
    }
}

static void print_port_metadata(json_t *metadata) {
    const char *name;
    json_t *value;
    if (!metadata)
        return;
    printf("      metadata:");
    if (json_is_string(metadata))
        printf(" %s", json_string_value(metadata));
    json_object_foreach(metadata, name, value) {
        printf(" %s=%s", name, json_string_value(value));
    }
    putchar('\n');
}

void ctl_print_ports(const json_t *result) {
    size_t i;
    json_t *p;
    printf("%-5s %-5s %14s %16s %14s %16s  %s\n", "port", "link", "rx packets", "rx bytes",
           "tx packets", "tx bytes", "device");
    json_array_foreach(ctl_print_list(result, "ports"), i, p) {
        const char *link = json_is_true(json_object_get(p, "loopback")) ? "loop"
                           : !json_is_true(json_object_get(p, "link"))  ? "down"
                           : json_is_false(json_object_get(p, "up"))    ? "off"
                                                                        : "up";
        printf("%-5lld %-5s %14lld %16lld %14lld %16lld  %s %s\n", sk_json_number(p, "port"), link,
               sk_json_number(p, "rx_packets"), sk_json_number(p, "rx_bytes"),
               sk_json_number(p, "tx_packets"), sk_json_number(p, "tx_bytes"),
               sk_json_text(p, "device"), sk_json_text(p, "name"));
        print_port_metadata(json_object_get(p, "metadata"));
        const long long missed = sk_json_number(json_object_get(p, "device_state"), "missed");
        if (missed > 0)
            printf("      missed by its device: %lld\n", missed);
        print_drops(ctl_print_list(p, "drops"), "      dropped: ");
        print_queue_drops(json_object_get(p, "queues"));
    }
}

void ctl_print_stats(const json_t *result) {
    static const char *const keys[] = {"rx_packets", "copies",       "generated",   "tx_packets",
                                       "inside",     "recirculated", "resubmitted", "remembered"};
    static const char *const names[] = {
        "received", "copies made",  "generated",   "sent",
        "inside",   "recirculated", "resubmitted", "of flows remembered"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        printf("%-46s %12lld\n", names[i], sk_json_number(result, keys[i]));
    puts("dropped");
    print_drops(ctl_print_list(result, "drops"), "  ");
}

void ctl_print_digest(const json_t *event, bool json) {
    const char *name;
    json_t *value;
    if (json) {
        json_dumpf(event, stdout, JSON_COMPACT);
    } else if (json_object_get(event, "lost")) {
        printf("%lld digests lost so far", sk_json_number(event, "lost"));
    } else {
        printf("%s  pipe %lld", json_string_value(json_object_get(event, "digest")),
               sk_json_number(event, "pipe"));
        json_object_foreach(json_object_get(event, "fields"), name, value) {
            printf("  %s=%s", name, json_string_value(value));
        }
    }
    putchar('\n');
    fflush(stdout);
}

void ctl_print_groups(const json_t *result, bool first) {
    size_t i, j;
    json_t *g, *m;
    if (first)
        printf("%s, pipe %lld, members of %s\n", sk_json_text(result, "name"),
               sk_json_number(result, "pipe"), sk_json_text(result, "profile"));
    json_array_foreach(ctl_print_list(result, "list"), i, g) {
        printf("  group %lld  at most %lld  members", sk_json_number(g, "id"),
               sk_json_number(g, "max_size"));
        json_array_foreach(ctl_print_list(g, "members"), j, m) {
            printf(" %lld%s", sk_json_number(m, "member"),
                   json_is_true(json_object_get(m, "up")) ? "" : ":down");
            if (json_object_get(m, "index"))
                printf("@%lld%s", sk_json_number(m, "index"),
                       json_is_true(json_object_get(m, "live")) ? "" : "=0");
        }
        putchar('\n');
    }
}

void ctl_print_member(const json_t *result) {
    printf("%lld\n", sk_json_number(result, "member"));
}

void ctl_print_pre(const json_t *result) {
    size_t i, j;
    json_t *v, *node;
    json_array_foreach(ctl_print_list(result, "nodes"), i, v) {
        printf("node %lld  rid %lld  ports ", sk_json_number(v, "id"), sk_json_number(v, "rid"));
        print_numbers(ctl_print_list(v, "ports"));
        putchar('\n');
    }
    json_array_foreach(ctl_print_list(result, "groups"), i, v) {
        printf("group %lld  nodes", sk_json_number(v, "id"));
        json_array_foreach(ctl_print_list(v, "nodes"), j, node) {
            if (json_object_get(node, "ecmp"))
                printf(" ecmp %lld", sk_json_number(node, "ecmp"));
            else
                printf(" %lld", sk_json_number(node, "node"));
            if (json_object_get(node, "xid"))
                printf(":%lld", sk_json_number(node, "xid"));
        }
        putchar('\n');
    }
}

// ---- jobs ----

static bool waits_alike(const json_t *a, const json_t *b) {
    return json_equal(ctl_print_list(a, "present"), ctl_print_list(b, "present")) &&
           json_equal(ctl_print_list(a, "pipes"), ctl_print_list(b, "pipes")) &&
           sk_json_number(b, "slot") - sk_json_number(a, "slot") <= 1;
}

// One line for the i-th and those after it that wait for the same workers; returns how many.
static size_t print_waiting(const json_t *waiting, size_t i) {
    const json_t *first = json_array_get(waiting, i), *last = first;
    size_t n = 1;
    for (; i + n < json_array_size(waiting); n++) {
        const json_t *next = json_array_get(waiting, i + n);
        if (!waits_alike(last, next))
            break;
        last = next;
    }
    if (sk_json_number(first, "slot") == sk_json_number(last, "slot"))
        printf("  slot %lld", sk_json_number(first, "slot"));
    else
        printf("  slots %lld to %lld", sk_json_number(first, "slot"), sk_json_number(last, "slot"));
    printf(", pipes ");
    print_numbers(ctl_print_list(first, "pipes"));
    printf(": has ");
    print_numbers(ctl_print_list(first, "present"));
    printf("; waits for ");
    print_numbers(ctl_print_list(first, "missing"));
    putchar('\n');
    return n;
}

static void ctl_print_job(const json_t *job) {
    size_t i;
    json_t *v;
    printf("job %lld: %zu of %lld workers registered, slots %lld to %lld\n",
           sk_json_number(job, "job"), json_array_size(ctl_print_list(job, "workers")),
           sk_json_number(job, "size"), sk_json_number(job, "first_slot"),
           sk_json_number(job, "first_slot") + sk_json_number(job, "slots") - 1);
    json_array_foreach(ctl_print_list(job, "workers"), i, v) {
        printf("  worker %2lld  port %3lld  %-15s", sk_json_number(v, "worker"),
               sk_json_number(v, "port"), sk_json_text(v, "ip"));
        if (json_object_get(v, "packets"))
            printf("  packets %lld", sk_json_number(v, "packets"));
        if (sk_json_number(v, "wrong_checksums") > 0)
            printf("  wrong IPv4 checksums %lld", sk_json_number(v, "wrong_checksums"));
        if (json_object_get(v, "idle_ms"))
            printf("  last %.1f s ago", (double)sk_json_number(v, "idle_ms") / 1000);
        else
            printf("  no packet yet");
        putchar('\n');
    }
    if (json_array_size(ctl_print_list(job, "waiting")) == 0)
        puts("  no slot waits for a worker");
    for (i = 0; i < json_array_size(ctl_print_list(job, "waiting"));)
        i += print_waiting(ctl_print_list(job, "waiting"), i);
    if (sk_json_number(job, "more") > 0)
        printf("  %lld more slots wait\n", sk_json_number(job, "more"));
}

static void ctl_print_libra_job(const json_t *job) {
    size_t i;
    json_t *v;
    printf("job %s of Libra: epoch %lld, cells %lld to %lld of each register\n",
           sk_json_text(job, "name"), sk_json_number(job, "epoch"),
           sk_json_number(job, "first_cell"),
           sk_json_number(job, "first_cell") + sk_json_number(job, "cells") - 1);
    json_array_foreach(ctl_print_list(job, "workers"), i, v) {
        printf("  %s %2lld", sk_json_is(v, "server") ? "server, number" : "worker",
               sk_json_number(v, "worker"));
        if (json_object_get(v, "port"))
            printf("  port %3lld", sk_json_number(v, "port"));
        printf("  %-15s  packets %lld, added before %lld", sk_json_text(v, "ip"),
               sk_json_number(v, "packets"), sk_json_number(v, "repeated"));
        if (json_object_get(v, "idle_ms"))
            printf("  last %.1f s ago\n", (double)sk_json_number(v, "idle_ms") / 1000);
        else
            puts("  no packet yet");
    }
}

static void ctl_print_job_drops(const json_t *result, const char *key, const char *what) {
    size_t i;
    json_t *v;
    json_array_foreach(ctl_print_list(result, key), i, v) {
        printf("dropped%s, %s: %lld\n", what, sk_json_text(v, "reason"),
               sk_json_number(v, "packets"));
    }
}

void ctl_print_jobs(const json_t *result) {
    const json_t *jobs = ctl_print_list(result, "jobs"), *libra = ctl_print_list(result, "libra");
    size_t i;
    json_t *v;
    json_array_foreach(jobs, i, v) {
        ctl_print_job(v);
    }
    json_array_foreach(libra, i, v) {
        ctl_print_libra_job(v);
    }
    if (json_array_size(jobs) + json_array_size(libra) == 0)
        puts("no job: no worker is registered");
    ctl_print_job_drops(result, "drops", "");
    ctl_print_job_drops(result, "libra_drops", " of Libra");
}

void ctl_print_masks(const json_t *result) {
    const char *key;
    json_t *v;
    json_object_foreach(json_object_get(result, "masks"), key, v) {
        printf("%s=%s\n", key, json_string_value(v));
    }
}
