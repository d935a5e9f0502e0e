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

void sk_config_check_controllers(const struct sk_at *root) {
    static const char *const keys[] = {"listen", "public",           "insecure",  "certificate",
                                       "key",    "client_authority", "device_id", NULL};
    static const char *const bfrt_keys[] = {"listen", "public",           "insecure", "certificate",
                                            "key",    "client_authority", "programs", NULL};
    controllers_check_section(root, "bfrt", bfrt_keys, BFRT_HERE);
    controllers_check_section(root, "p4runtime", keys, P4RUNTIME_HERE);
    const struct sk_at p4runtime = sk_at_member(root, "p4runtime"),
                       device = sk_at_member(&p4runtime, "device_id");
    if (device.value && !root->doc->failed)
        sk_at_between(&device, true, 1, INT64_MAX);
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
