// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/address.h"
#include "base/json.h"
#include "control/service/service.h"

#define MOST_SLOTS 8192u
#define LEAST_PORT 1024u
#define SWITCHML   "switchml"
#define ROCE       "switchml-roce"
#define ROCE_PORT  4791u
#define NUMBERS    0x1000000u // of queue pairs and packets: 24 bits
#define KNOWN_NAMES                                                                                \
    "token", "job", "rank", "workers", "kind", "ip", "port", "mac", "slots", "pairs",              \
        "queue_pair", "psn", "rkey"

static void request_job(const struct sk_at *at, struct admission_request *out) {
    const char *name = sk_at_string(at, true);
    if (at->doc->failed)
        return;
    const size_t length = strlen(name);
    if (length == 0 || length >= sizeof out->job || strchr(name, ' '))
        sk_at_fail(at, "it must be text of 1 to %zu characters without blanks",
                   sizeof out->job - 1);
    else
        memcpy(out->job, name, length + 1);
}

static void request_addresses(const struct sk_at *root, uint32_t from,
                              struct admission_request *out) {
    const struct sk_at ip = sk_at_member(root, "ip"), mac = sk_at_member(root, "mac");
    const char *ip_text = sk_at_string(&ip, false), *mac_text = sk_at_string(&mac, false);
    out->ip = from;
    out->has_mac = mac_text;
    if (ip_text && !sk_ip_parse(ip_text, &out->ip))
        sk_at_fail(&ip, "it must be an IPv4 address like 10.0.10.2");
    if (mac_text && (!sk_mac_parse(mac_text, out->mac) || out->mac[0] & 1))
        sk_at_fail(&mac, "it must be the MAC address of a station, like 02:00:00:00:01:00");
    if (!ip_text && from == 0)
        sk_at_fail(root, "\"ip\" is missing: the connection does not come from an IPv4 address");
}

// Queue pairs follow each other, and begin with one number.
static void request_roce(const struct sk_at *root, struct admission_request *out) {
    const struct sk_at pairs = sk_at_member(root, "pairs"), qpn = sk_at_member(root, "queue_pair"),
                       psn = sk_at_member(root, "psn"), rkey = sk_at_member(root, "rkey");
    struct admission_roce *r = &out->roce;
    r->pairs = (uint32_t)sk_at_between(&pairs, true, 1, ADMISSION_PAIRS);
    r->rkey = (uint32_t)sk_at_between(&rkey, true, 0, UINT32_MAX);
    const uint32_t first = (uint32_t)sk_at_between(&qpn, true, 0, NUMBERS - ADMISSION_PAIRS),
                   number = psn.value ? (uint32_t)sk_at_between(&psn, true, 0, NUMBERS - 1) : 0;
    for (uint32_t i = 0; i < r->pairs; i++) {
        r->qpn[i] = first + i;
        r->psn[i] = number;
    }
    const struct sk_at port = sk_at_member(root, "port");
    if (port.value)
        sk_at_fail(&port, "jobs of the kind " ROCE " have RoCEv2's port");
    out->port = ROCE_PORT;
}

static void request_no_roce(const struct sk_at *root) {
    static const char *const keys[] = {"pairs", "queue_pair", "psn", "rkey"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct sk_at at = sk_at_member(root, keys[i]);
        if (at.value)
            sk_at_fail(&at, "it is for jobs of the kind " ROCE);
    }
}

static void request_read(const struct sk_at *root, uint32_t from, struct admission_request *out) {
    static const char *const keys[] = {KNOWN_NAMES, NULL};
    sk_at_keys(root, keys);
    const struct sk_at job = sk_at_member(root, "job"), rank = sk_at_member(root, "rank"),
                       workers = sk_at_member(root, "workers"), kind = sk_at_member(root, "kind"),
                       port = sk_at_member(root, "port"), slots = sk_at_member(root, "slots");
    const char *kind_text = sk_at_string(&kind, false);
    request_job(&job, out);
    out->workers = (uint32_t)sk_at_between(&workers, true, 1, ADMISSION_WORKERS);
    out->rank = (uint32_t)sk_at_between(&rank, true, 0, out->workers ? out->workers - 1 : 0);
    const bool roce = kind_text && strcmp(kind_text, ROCE) == 0;
    if (kind_text && !roce && strcmp(kind_text, SWITCHML) != 0)
        sk_at_fail(&kind,
                   "it must be " SWITCHML " or " ROCE ": the service admits jobs of no other kind");
    out->port = port.value ? (uint16_t)sk_at_between(&port, true, LEAST_PORT, 65535) : 0;
    if (roce)
        request_roce(root, out);
    else
        request_no_roce(root);
    out->slots = slots.value ? (uint32_t)sk_at_between(&slots, true, 1, MOST_SLOTS) : 0;
    request_addresses(root, from, out);
}

int service_request(const char *line, size_t length, const char *token, uint32_t from,
                    struct admission_request *out, bool *known, struct sk_error *err) {
    struct sk_error why = {.text = ""};
    json_t *value = sk_json_parse("request", line, length, &why);
    const char *given = json_string_value(json_object_get(value, "token"));
    struct sk_json doc = {.name = "request", .text = line, .length = length, .err = err};
    const struct sk_at root = {.doc = &doc, .value = value};
    *out = (struct admission_request){.rank = 0};
    *known = given && service_token_same(given, token);
    if (!json_is_object(value))
        sk_fail(err, "the request must be an object of JSON on one line");
    else if (!given)
        sk_fail(err, "the request has no \"token\"");
    else if (!*known)
        sk_fail(err, "the token is not that of this service");
    else
        request_read(&root, from, out);
    const bool good = *known && !doc.failed;
    sk_json_release(&doc);
    json_decref(value);
    return good ? 0 : -1;
}

bool service_is_leave(const char *line, size_t length) {
    struct sk_error ignored;
    json_t *value = sk_json_parse("request", line, length, &ignored);
    const bool is = json_object_size(value) == 1 && json_is_true(json_object_get(value, "leave"));
    json_decref(value);
    return is;
}
