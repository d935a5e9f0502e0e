// SPDX-License-Identifier: Apache-2.0
#include "base/address.h"
#include "control/config/watch.h"

#define MOST_SLOTS 8192u
#define HOUR       3600u
#define LEAST_PORT 1024u
#define UDP_PORT   4000u // in the published client's configuration

static uint64_t job_service_number(const struct sk_at *at, const char *key, uint64_t least,
                                   uint64_t most, uint64_t otherwise) {
    const struct sk_at value = sk_at_member(at, key);
    return value.value ? sk_at_between(&value, true, least, most) : otherwise;
}

// A ToR has addresses of its own; a switch without one, as its jobs' workers are to send to.
static void job_service_addresses(const struct sk_at *at, bool of_tor, uint8_t mac[6],
                                  uint32_t *ip) {
    const struct sk_at mac_at = sk_at_member(at, "mac"), ip_at = sk_at_member(at, "ip");
    if (of_tor && (mac_at.value || ip_at.value)) {
        sk_at_fail(mac_at.value ? &mac_at : &ip_at, "a ToR's jobs have the ToR's own addresses");
        return;
    }
    if (!of_tor && !at->doc->failed && (!mac_at.value || !ip_at.value)) {
        sk_at_fail(at, "without \"tor\" it needs \"mac\" and \"ip\", the addresses that workers "
                       "send to");
        return;
    }
    const char *mac_text = sk_at_string(&mac_at, !of_tor), *ip_text = sk_at_string(&ip_at, !of_tor);
    if (mac_text && (!sk_mac_parse(mac_text, mac) || mac[0] & 1))
        sk_at_fail(&mac_at, "it must be the MAC address of a station, like 02:00:00:00:00:fe");
    if (ip_text && !sk_ip_parse(ip_text, ip))
        sk_at_fail(&ip_at, "it must be an IPv4 address like 10.0.0.254");
}

// Whoever has the token may ask; so it may listen at any address.
void sk_config_read_job_service(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"listen",  "token_file", "slots", "wait", "grace",
                                       "silence", "mac",        "ip",    NULL};
    const struct sk_at at = sk_at_member(root, "job_service");
    if (!at.value)
        return;
    sk_at_keys(&at, keys);
    const struct sk_at listen = sk_at_member(&at, "listen"),
                       token = sk_at_member(&at, "token_file");
    struct sk_config_job_service *j = &c->job_service;
    j->listen = sk_at_string(&listen, true);
    j->token_file = sk_at_string(&token, true);
    j->slots = (uint32_t)job_service_number(&at, "slots", 1, MOST_SLOTS, 128);
    j->wait = job_service_number(&at, "wait", 1, 24 * HOUR, 300);
    j->grace = job_service_number(&at, "grace", 0, HOUR, 2);
    j->silence = job_service_number(&at, "silence", 2, HOUR, 10);
    if (!at.doc->failed && !sk_socket_address(j->listen, &j->address))
        sk_at_fail(&listen, "'%.60s' is not ADDRESS:PORT; an IPv6 address is written in brackets",
                   j->listen);
    job_service_addresses(&at, c->tor != NULL, j->mac, &j->ip);
}

// Whoever reaches the address may ask: the protocol has no token.
void sk_config_read_switchml_jobs(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"listen", "mac",   "ip",      "slots", "udp_port",
                                       "wait",   "grace", "silence", NULL};
    const struct sk_at at = sk_at_member(root, "switchml_jobs");
    struct sk_config_switchml_jobs *s = &c->switchml_jobs;
    struct sockaddr_storage address;
    if (!at.value)
        return;
    sk_at_keys(&at, keys);
    const struct sk_at listen = sk_at_member(&at, "listen");
    s->listen = sk_at_string(&listen, true);
    job_service_addresses(&at, c->tor != NULL, s->mac, &s->ip);
    s->slots = (uint32_t)job_service_number(&at, "slots", 1, MOST_SLOTS, 512);
    s->udp_port = (uint16_t)job_service_number(&at, "udp_port", LEAST_PORT, 65535, UDP_PORT);
    s->wait = job_service_number(&at, "wait", 1, 24 * HOUR, 300);
    s->grace = job_service_number(&at, "grace", 0, HOUR, 2);
    s->silence = job_service_number(&at, "silence", 1, 24 * HOUR, 60);
    if (!at.doc->failed && !sk_socket_address(s->listen, &address))
        sk_at_fail(&listen, "'%.60s' is not ADDRESS:PORT; an IPv6 address is written in brackets",
                   s->listen);
    if (!at.doc->failed && c->sessions)
        sk_at_fail(&at, "\"switchml_jobs\" and \"sessions\" exclude each other: the published "
                        "client's packets have all job numbers and no session");
}
