// SPDX-License-Identifier: Apache-2.0
#include "control/config/controllers.h"

#include <string.h>

#include "base/address.h"
#include "control/config/record.h"

#define BFRT_HERE        "127.0.0.1:50052"
#define P4RUNTIME_HERE   "127.0.0.1:9559" // the port that IANA has assigned
#define P4RUNTIME_DEVICE 1u

static bool controllers_flag(const struct sk_at *at, const char *key) {
    const struct sk_at value = sk_at_member(at, key);
    if (value.value && !json_is_boolean(value.value))
        sk_at_fail(&value, "it must be true or false");
    return json_is_true(value.value);
}

static const char *controllers_file(const struct sk_at *at, const char *key) {
    const struct sk_at value = sk_at_member(at, key);
    return sk_at_string(&value, false);
}

static bool controllers_is_local(const struct sk_at *listen, const char *text) {
    struct sockaddr_storage address;
    if (strncmp(text, "unix:", 5) == 0 && text[5])
        return true;
    if (!sk_socket_address(text, &address))
        sk_at_fail(listen,
                   "'%.60s' is neither ADDRESS:PORT nor unix:PATH; an IPv6 address is written in "
                   "brackets",
                   text);
    return sk_socket_is_local(&address);
}

// A controller writes everything, so other machines must be wanted, and must show who they are.
static void controllers_check(const struct sk_at *at, const struct sk_config_controllers *s) {
    const struct sk_at listen = sk_at_member(at, "listen");
    const bool tls = s->certificate && s->key && s->client_authority,
               some = s->certificate || s->key || s->client_authority;
    if (some && !(s->certificate && s->key))
        sk_at_fail(at, "TLS needs \"certificate\" and \"key\"");
    if (controllers_is_local(&listen, s->listen) || at->doc->failed)
        return;
    if (!controllers_flag(at, "public"))
        sk_at_fail(&listen,
                   "'%s' is reachable from other machines; if they may control the switch, say "
                   "\"public\": true",
                   s->listen);
    else if (!tls && !controllers_flag(at, "insecure"))
        sk_at_fail(at, "controllers on other machines need certificates: \"certificate\", \"key\" "
                       "and \"client_authority\", or \"insecure\": true without");
}

static void controllers_check_section(const struct sk_at *root, const char *name,
                                      const char *const *keys, const char *here) {
    const struct sk_at at = sk_at_member(root, name);
    if (!at.value)
        return;
    sk_at_keys(&at, keys);
    const char *listen = controllers_file(&at, "listen");
    const struct sk_config_controllers s = {.listen = listen ? listen : here,
                                            .certificate = controllers_file(&at, "certificate"),
                                            .key = controllers_file(&at, "key"),
                                            .client_authority =
                                                controllers_file(&at, "client_authority")};
    controllers_flag(&at, "public");
    controllers_flag(&at, "insecure");
    controllers_flag(&at, "programs");
    if (!at.doc->failed)
        controllers_check(&at, &s);
}

#define PORT_ID_LAST UINT64_C(0xfffeffff) // larger ones name ports that are not listed

static void controllers_check_ports(const struct sk_at *ports) {
    static const char *const keys[] = {"id", "port", NULL};
    const size_t n = sk_at_length(ports);
    if (ports->value && !ports->doc->failed && (n < 1 || n > SK_PORTS))
        sk_at_fail(ports, "it has 1 to %u ports", (unsigned)SK_PORTS);
    for (size_t i = 0; i < n && !ports->doc->failed; i++) {
        const struct sk_at one = sk_at_item(ports, i);
        sk_at_keys(&one, keys);
        const struct sk_at id = sk_at_member(&one, "id"), port = sk_at_member(&one, "port");
        const uint64_t number = sk_at_between(&id, true, 1, PORT_ID_LAST),
                       of = sk_at_between(&port, true, 0, SK_PORTS - 1);
        for (size_t k = 0; k < i && !ports->doc->failed; k++) {
            const json_t *other = json_array_get(ports->value, k);
            if ((uint64_t)json_integer_value(json_object_get(other, "id")) == number)
                sk_at_fail(&id, "two ports have the id %llu", (unsigned long long)number);
            else if ((uint64_t)json_integer_value(json_object_get(other, "port")) == of)
                sk_at_fail(&port, "port %llu has two ids", (unsigned long long)of);
        }
    }
}

size_t sk_config_p4runtime_ports(const struct sk_config *c, struct sk_config_port_id *out) {
    const json_t *ports = json_object_get(json_object_get(sk_config_json(c), "p4runtime"), "ports");
    const size_t n = json_array_size(ports);
    for (size_t i = 0; i < n && i < SK_PORTS; i++) {
        const json_t *one = json_array_get(ports, i);
        out[i] = (struct sk_config_port_id){
            .id = (uint32_t)json_integer_value(json_object_get(one, "id")),
            .port = (uint16_t)json_integer_value(json_object_get(one, "port"))};
    }
    return n < SK_PORTS ? n : SK_PORTS;
}

void sk_config_check_controllers(const struct sk_at *root) {
    static const char *const keys[] = {"listen",      "public", "insecure",
                                       "certificate", "key",    "client_authority",
                                       "device_id",   "ports",  NULL};
    static const char *const bfrt_keys[] = {"listen", "public",           "insecure", "certificate",
                                            "key",    "client_authority", "programs", NULL};
    controllers_check_section(root, "bfrt", bfrt_keys, BFRT_HERE);
    controllers_check_section(root, "p4runtime", keys, P4RUNTIME_HERE);
    const struct sk_at p4runtime = sk_at_member(root, "p4runtime"),
                       device = sk_at_member(&p4runtime, "device_id");
    if (device.value && !root->doc->failed)
        sk_at_between(&device, true, 1, INT64_MAX);
    const struct sk_at ports = sk_at_member(&p4runtime, "ports");
    controllers_check_ports(&ports);
    const struct sk_at bfrt = sk_at_member(root, "bfrt"),
                       programs = sk_at_member(&bfrt, "programs");
    if (p4runtime.value && json_is_true(programs.value))
        sk_at_fail(&programs,
                   "beside \"p4runtime\", whose clients have the tables of the program that "
                   "runs, it can only be false");
}

static const char *controllers_text(const json_t *section, const char *key) {
    return json_string_value(json_object_get(section, key));
}

static struct sk_config_controllers controllers_of(const struct sk_config *c, const char *name,
                                                   const char *here) {
    const json_t *section = json_object_get(sk_config_json(c), name),
                 *device = json_object_get(section, "device_id");
    const char *listen = controllers_text(section, "listen");
    return (struct sk_config_controllers){
        .listen = listen || !section ? listen : here,
        .device_id = device ? (uint64_t)json_integer_value(device) : P4RUNTIME_DEVICE,
        .certificate = controllers_text(section, "certificate"),
        .key = controllers_text(section, "key"),
        .client_authority = controllers_text(section, "client_authority"),
        .programs = !json_is_false(json_object_get(section, "programs"))};
}

struct sk_config_controllers sk_config_bfrt(const struct sk_config *c) {
    struct sk_config_controllers s = controllers_of(c, "bfrt", BFRT_HERE);
    s.programs = s.programs && !json_object_get(sk_config_json(c), "p4runtime");
    return s;
}

struct sk_config_controllers sk_config_p4runtime(const struct sk_config *c) {
    return controllers_of(c, "p4runtime", P4RUNTIME_HERE);
}
