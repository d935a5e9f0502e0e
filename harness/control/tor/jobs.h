// SPDX-License-Identifier: Apache-2.0
//
// jobs: a ToR with hosts of aggregation jobs, for tests on the rig: sections, requests, packets of
// both protocols.
#ifndef SILKEN_HARNESS_CONTROL_TOR_JOBS_H
#define SILKEN_HARNESS_CONTROL_TOR_JOBS_H

#include "harness/control/tor/ethernet.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "control/tables/control.h"
#include "control/tor/tor_impl.h"

// Host n is 10.0.10.n, 02:00:00:00:00:0n. Hosts 2 to 7 are neighbours whom the section knows; 8 and
// 9 answer for themselves. Link t is a trunk, l a LAG.
enum { A, B, C, T, S, X, L1, L2, PORTS };
#define NEIGHBOUR(n)                                                                               \
    "{\"address\": \"10.0.10." #n "\", \"mac\": \"02:00:00:00:00:0" #n "\", \"vid\": 10}"
#define LINKS_WITHOUT_C                                                                            \
    "{\"name\": \"a\", \"port\": 0, \"access\": 10}, {\"name\": \"b\", \"port\": 1, "              \
    "\"access\": 10}, {\"name\": \"t\", \"port\": 3, \"trunk\": [10, 20]}, {\"name\": \"s\", "     \
    "\"port\": 4, \"access\": 10}, {\"name\": \"x\", \"port\": 5, \"access\": 10}, {\"name\": "    \
    "\"l\", \"ports\": [6, 7], \"access\": 10}"
#define LINK_C ", {\"name\": \"c\", \"port\": 2, \"access\": 10}"
#define SECTION(links, jobs)                                                                       \
    "{\"mac\": \"" ETH_OWN_TEXT "\", \"vlans\": [{\"vid\": 10, \"addresses\": "                    \
    "[\"10.0.10.1/24\"]}, {\"vid\": 20, \"addresses\": [\"10.0.20.1/24\"]}], \"links\": [" links   \
    "], \"neighbours\": [" NEIGHBOUR(2) "," NEIGHBOUR(3) "," NEIGHBOUR(4) "," NEIGHBOUR(           \
        5) "," NEIGHBOUR(6) "," NEIGHBOUR(7) "], \"jobs\": [" jobs "]}"

// Of hosts without sessions; test_jobs_sessions has the others.
#define SML(name, workers, more)                                                                   \
    "{\"name\": \"" name                                                                           \
    "\", \"protocol\": \"switchml\", \"sessions\": false, \"workers\": [" workers "]" more "}"
#define ATP(name, workers, server, more)                                                           \
    "{\"name\": \"" name "\", \"protocol\": \"atp\", \"sessions\": false, \"workers\": [" workers  \
    "], \"server\": \"" server "\"" more "}"
#define TWO       "\"a:10.0.10.2\", \"b:10.0.10.3\""
#define OTHER_TWO "\"p2:10.0.10.4\", \"5:10.0.10.5\""

static inline struct rig *start(void) {
    return rig_new_with("p4/rack/rack.p4", PORTS, SECTION(LINKS_WITHOUT_C LINK_C, ""));
}

// ---- requests ----

static inline void add(struct rig *r, const char *job) {
    struct sk_error err = {.text = ""};
    json_t *answer = rig_request(r, "job.add", job, &err);
    if (!answer)
        fail_msg("%s: %s", job, err.text);
    json_decref(answer);
}

static inline void removed(struct rig *r, const char *name) {
    struct sk_error err = {.text = ""};
    char members[100];
    snprintf(members, sizeof members, "{\"name\": \"%s\"}", name);
    json_t *answer = rig_request(r, "job.remove", members, &err);
    if (!answer)
        fail_msg("%s: %s", name, err.text);
    json_decref(answer);
}

static inline char *text_of(struct rig *r, const char *op) {
    struct sk_error err;
    json_t *answer = rig_request(r, op, NULL, &err);
    assert_non_null(answer);
    char *text = json_dumps(answer, JSON_SORT_KEYS | JSON_COMPACT);
    json_decref(answer);
    return text;
}

static inline int compare(const void *a, const void *b) {
    return strcmp(json_string_value(json_object_get(*(json_t *const *)a, "object")),
                  json_string_value(json_object_get(*(json_t *const *)b, "object")));
}

// What is wanted of the tables, in order.
static inline char *wanted(struct rig *r) {
    struct sk_error err;
    json_t *answer = rig_request(r, "tor.wanted", NULL, &err), *sorted = json_array();
    const size_t n = json_array_size(answer);
    json_t **list = calloc(n, sizeof(json_t *));
    for (size_t i = 0; i < n; i++)
        list[i] = json_array_get(answer, i);
    qsort(list, n, sizeof *list, compare);
    for (size_t i = 0; i < n; i++)
        json_array_append(sorted, list[i]);
    char *text = json_dumps(sorted, JSON_SORT_KEYS | JSON_INDENT(1));
    free(list);
    json_decref(sorted);
    json_decref(answer);
    return text;
}

static inline void refused(struct rig *r, const char *op, const char *members,
                           const char *sentence) {
    struct sk_error err = {.text = ""};
    char *jobs = text_of(r, "job.list"), *tables = wanted(r);
    assert_null(rig_request(r, op, members, &err));
    if (!strstr(err.text, sentence))
        fail_msg("'%s' is not in '%s' for %s", sentence, err.text, members);
    char *jobs_after = text_of(r, "job.list"), *tables_after = wanted(r);
    assert_string_equal(jobs, jobs_after);
    assert_string_equal(tables, tables_after);
    free(jobs);
    free(tables);
    free(jobs_after);
    free(tables_after);
}

static inline json_t *job(struct rig *r, const char *name) {
    struct sk_error err;
    json_t *answer = rig_request(r, "job.list", NULL, &err), *found = NULL, *item;
    size_t i;
    json_array_foreach(json_object_get(answer, "jobs"), i,
                       item) if (strcmp(json_string_value(json_object_get(item, "name")), name) ==
                                 0) found = json_incref(item);
    json_decref(answer);
    assert_non_null(found);
    return found;
}

static inline long long number(struct rig *r, const char *name, const char *member) {
    json_t *j = job(r, name);
    const long long n = json_integer_value(json_object_get(j, member));
    json_decref(j);
    return n;
}

static inline long long dropped(struct rig *r, unsigned reason) {
    struct sk_counter_cell sum;
    struct sk_error err;
    assert_int_equal(
        sk_control_counter_read(rig_switch(r), "pipe.Ingress.drops", reason, &sum, &err), 0);
    return (long long)sum.packets;
}

// ---- frames ----

static inline void put(uint8_t *at, unsigned bytes, uint64_t value) {
    while (bytes-- > 0) {
        at[bytes] = (uint8_t)value;
        value >>= 8;
    }
}
static inline uint64_t get(const uint8_t *at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

#define HEAD       42
#define HOST_IP(n) (0x0a000a00u + (n))
#define SWITCH_IP  HOST_IP(1)

static inline void head(uint8_t *f, uint32_t to, uint32_t from, uint32_t dst, uint16_t port,
                        unsigned payload) {
    memset(f, 0, HEAD);
    eth_address(f, to);
    eth_address(f + 6, from);
    put(f + 12, 2, 0x0800);
    put(f + 14, 2, 0x4500);
    put(f + 16, 2, 28 + payload);
    put(f + 22, 2, 0x4011);
    put(f + 26, 4, HOST_IP(from));
    put(f + 30, 4, dst);
    put(f + 24, 2, internet_checksum(0, f + 14, 20));
    put(f + 34, 2, port);
    put(f + 36, 2, port);
    put(f + 38, 2, 8 + payload);
}

static inline void send_tagged(struct rig *r, uint16_t port, unsigned tag, const uint8_t *f,
                               size_t n) {
    uint8_t g[RIG_FRAME];
    if (!tag) {
        rig_send(r, port, f, n);
        return;
    }
    memcpy(g, f, 12);
    put(g + 12, 4, 0x81000000u | tag);
    memcpy(g + 16, f + 12, n - 12);
    rig_send(r, port, g, n + 4);
}

// 32 elements, all alike.
#define SML_BYTES (10 + 128)
static inline void sml_send(struct rig *r, uint16_t port, unsigned tag, uint32_t host,
                            unsigned number, unsigned slot, uint32_t value) {
    uint8_t f[HEAD + SML_BYTES];
    head(f, ETH_OWN, host, SWITCH_IP, 0xbee0, SML_BYTES);
    put(f + HEAD, 2, 0x1000 | number);
    put(f + HEAD + 2, 4, 0);
    put(f + HEAD + 6, 4, (uint64_t)slot << 16);
    for (int i = 0; i < 32; i++)
        put(f + HEAD + 10 + 4 * i, 4, value);
    send_tagged(r, port, tag, f, sizeof f);
}

static inline void sml_result(struct rig *r, uint16_t port, unsigned tag, uint32_t host,
                              uint32_t value) {
    uint8_t got[RIG_FRAME], mac[6];
    size_t n = rig_take(r, port, got);
    if (n == 0)
        fail_msg("no result left by port %u", port);
    if (tag) {
        assert_int_equal(get(got + 12, 4), 0x81000000u | tag);
        memmove(got + 12, got + 16, n - 16);
        n -= 4;
    }
    assert_int_equal(n, HEAD + SML_BYTES);
    eth_address(mac, host);
    assert_memory_equal(got, mac, 6);
    assert_int_equal(get(got + 30, 4), HOST_IP(host));
    for (int i = 0; i < 32; i++)
        assert_int_equal(get(got + HEAD + 10 + 4 * i, 4), value);
}

// 62 values, all alike.
#define ATP_BYTES (16 + 248)
struct gradient {
    uint32_t bits, fan_in, index, number, sequence, value;
    uint32_t bits1, fan_in1; // of the second level; 0: 1
    bool edge;
};
static inline size_t atp_frame(uint8_t *f, uint32_t from, uint32_t dst, const struct gradient *g,
                               bool is_ack) {
    head(f, 0x66, from, dst, 0xa790, ATP_BYTES);
    put(f + HEAD, 4, is_ack ? 0 : g->bits);
    put(f + HEAD + 4, 4, is_ack ? 0 : g->bits1 ? g->bits1 : 1);
    put(f + HEAD + 8, 1, is_ack ? 0 : (unsigned)g->edge << 7 | (g->fan_in - 1));
    put(f + HEAD + 9, 1, is_ack ? 0x20 : g->fan_in1 ? g->fan_in1 - 1 : 0);
    put(f + HEAD + 10, 2, g->index);
    put(f + HEAD + 12, 4, g->number << 24 | g->sequence);
    for (int i = 0; i < 62; i++)
        put(f + HEAD + 16 + 4 * i, 4, g->value);
    return HEAD + ATP_BYTES;
}
static inline void atp_send(struct rig *r, uint16_t port, uint32_t from, uint32_t dst,
                            const struct gradient *g, bool is_ack) {
    uint8_t f[HEAD + ATP_BYTES];
    rig_send(r, port, f, atp_frame(f, from, dst, g, is_ack));
}
static inline void atp_expect(struct rig *r, uint16_t port, uint64_t mac, uint32_t bits,
                              uint32_t value) {
    uint8_t got[RIG_FRAME];
    assert_int_equal(rig_take(r, port, got), HEAD + ATP_BYTES);
    assert_int_equal(get(got, 6), mac);
    assert_int_equal(get(got + HEAD, 4), bits);
    for (int i = 0; i < 62; i++)
        assert_int_equal(get(got + HEAD + 16 + 4 * i, 4), value);
}

#endif
