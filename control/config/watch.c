// SPDX-License-Identifier: Apache-2.0
#include "control/config/watch.h"

#include <string.h>

#include "base/address.h"

#define METRICS_HERE "127.0.0.1:9464"
#define PAGE_HERE    "127.0.0.1:9465"
#define MOST_PREFIX  32u

static bool config_watch_flag(const struct sk_at *at) {
    if (at->value && !json_is_boolean(at->value))
        sk_at_fail(at, "it must be true or false");
    return json_is_true(at->value);
}

// "listen" and "public" of a section whose port shows everything to whoever reaches it, so others
// than this machine must be wanted. Returns whether it is public.
static bool config_watch_read_listen(const struct sk_at *at, const char *otherwise,
                                     const char *shown, const char **text,
                                     struct sockaddr_storage *address) {
    struct sk_at listen = sk_at_member(at, "listen"), open = sk_at_member(at, "public");
    const char *given = sk_at_string(&listen, false);
    const bool is_public = config_watch_flag(&open);
    *text = given ? given : otherwise;
    if (at->doc->failed)
        return is_public;
    if (!sk_socket_address(*text, address))
        sk_at_fail(&listen, "'%.60s' is not ADDRESS:PORT; an IPv6 address is written in brackets",
                   *text);
    else if (!sk_socket_is_local(address) && !is_public)
        sk_at_fail(&listen,
                   "'%s' is reachable from other machines; if they may read the %s, say "
                   "\"public\": true",
                   *text, shown);
    return is_public;
}

static void config_watch_read_metrics(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"listen", "public", NULL};
    struct sk_at at = sk_at_member(root, "metrics");
    if (!at.value)
        return;
    sk_at_keys(&at, keys);
    config_watch_read_listen(&at, METRICS_HERE, "metrics", &c->metrics.listen, &c->metrics.address);
}

// By addresses and as localhost the page can be asked for anyway.
static void config_watch_read_names(const struct sk_at *at, struct sk_config_page *page) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
    const struct sk_at list = sk_at_member(at, "names");
    const size_t n = sk_at_length(&list);
    if (n > SK_CONFIG_PAGE_NAMES)
        sk_at_fail(&list, "there are more than %u of them", SK_CONFIG_PAGE_NAMES);
    for (size_t i = 0; i < n && !at->doc->failed; i++) {
        const struct sk_at item = sk_at_item(&list, i);
        page->names[i] = sk_at_string(&item, true);
        if (!at->doc->failed &&
            (!page->names[i][0] || strspn(page->names[i], letters) != strlen(page->names[i])))
            sk_at_fail(&item, "'%.60s' is not the name of a host", page->names[i]);
    }
}

static void config_watch_read_page(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"listen", "public", "names", "trace", NULL};
    struct sk_at at = sk_at_member(root, "page");
    if (!at.value)
        return;
    sk_at_keys(&at, keys);
    const bool is_public =
        config_watch_read_listen(&at, PAGE_HERE, "page", &c->page.listen, &c->page.address);
    const struct sk_at trace = sk_at_member(&at, "trace");
    c->page.trace = trace.value ? config_watch_flag(&trace) : !is_public;
    config_watch_read_names(&at, &c->page);
}

// A word in the name of a folder.
static void read_telemetry(const struct sk_at *root, struct sk_config *c) {
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const struct sk_at at = sk_at_member(root, "telemetry");
    const char *prefix = json_string_value(at.value);
    if (!at.value || json_is_boolean(at.value)) {
        c->telemetry = json_is_true(at.value) ? "silken" : NULL;
        return;
    }
    c->telemetry = prefix;
    if (!prefix || !*prefix || strlen(prefix) > MOST_PREFIX ||
        strspn(prefix, letters) != strlen(prefix))
        sk_at_fail(&at,
                   "it must be true, false, or a file prefix: at most %u letters, digits, '-' "
                   "and '_'",
                   MOST_PREFIX);
}

// In the ToR's section, too; there it is the same switch's.
static void read_sampling(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"one_in", "to", "counts", NULL};
    const struct sk_at tor = sk_at_member(root, "tor"), own = sk_at_member(root, "sampling"),
                       in_tor = sk_at_member(&tor, "sampling"), *at = own.value ? &own : &in_tor;
    if (!at->value)
        return;
    if (own.value && in_tor.value)
        sk_at_fail(&own, "\"tor\" has it already");
    sk_at_keys(at, keys);
    const struct sk_at one_in = sk_at_member(at, "one_in"), to = sk_at_member(at, "to"),
                       counts = sk_at_member(at, "counts");
    c->sampling.one_in = (uint32_t)sk_at_number(&one_in, true, 1u << 24);
    c->sampling.to = sk_at_string(&to, true);
    c->sampling.counts = counts.value ? (uint32_t)sk_at_number(&counts, true, 86400) : 20;
    if (!at->doc->failed && c->sampling.one_in == 0)
        sk_at_fail(&one_in, "it must be at least 1");
    if (!at->doc->failed && !sk_socket_address(c->sampling.to, &c->sampling.address))
        sk_at_fail(&to, "'%.60s' is not ADDRESS:PORT; an IPv6 address is written in brackets",
                   c->sampling.to);
}

static uint64_t config_watch_limit(const struct sk_at *at, const char *key, uint64_t most,
                                   uint64_t otherwise) {
    const struct sk_at value = sk_at_member(at, key);
    return value.value ? sk_at_number(&value, true, most) : otherwise;
}

static void read_alarms(const struct sk_at *root, struct sk_config *c) {
    static const char *const keys[] = {"job_stuck",  "aggregator", "queue_drops",
                                       "table_full", "flaps",      NULL};
    const struct sk_at at = sk_at_member(root, "alarms");
    sk_at_keys(&at, keys);
    c->alarms = (struct sk_config_alarms){
        .job_stuck = config_watch_limit(&at, "job_stuck", 86400, 10),
        .aggregator = config_watch_limit(&at, "aggregator", 86400, 10),
        .queue_drops = config_watch_limit(&at, "queue_drops", UINT32_MAX, 1000),
        .table_full = (unsigned)config_watch_limit(&at, "table_full", 100, 100),
        .flaps = (unsigned)config_watch_limit(&at, "flaps", 32, 6)};
}

void sk_config_read_watch(const struct sk_at *root, struct sk_config *c) {
    config_watch_read_metrics(root, c);
    config_watch_read_page(root, c);
    read_telemetry(root, c);
    read_alarms(root, c);
    read_sampling(root, c);
}
