// SPDX-License-Identifier: Apache-2.0
#include "control/tor/tor.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "control/tor/ip.h"
#include "control/tor/tor_impl.h"
#include "openvswitch/vlog.h"
#include "util.h"

VLOG_DEFINE_THIS_MODULE(tor);

// Writes while the pipes wait: so many (where the host says nothing), or as many as fit in so long
// a time, one at least. And how often that may be in one call.
#define WRITES_IN_A_PAUSE 16u
#define PAUSE_NS          UINT64_C(100000)
#define PAUSES_IN_A_RUN   64
// Between calls that write: so many times as long as the last one took. What comes meanwhile is
// written together, so that a flood of new addresses takes a fortieth of the pipes' time at most.
#define REST_SHARE      UINT64_C(39)
#define LONGEST_REST_NS UINT64_C(100000000)

#define CPU_HEADER    8u
#define VLAN_TAG      4u
#define FRAME_LONGEST 9300u

enum { ORDER_PORT = 1, ORDER_VLAN = 2 }; // cpu_order_t of p4/tor

static const struct tor_module *const modules[TOR_MODULES] = {
    [TOR_MODULE_LINKS] = &tor_links_module,   [TOR_MODULE_LAG] = &tor_lag_module,
    [TOR_MODULE_FDB] = &tor_fdb_module,       [TOR_MODULE_NEIGHBOURS] = &tor_neighbours_module,
    [TOR_MODULE_ROUTES] = &tor_routes_module, [TOR_MODULE_ICMP] = &tor_icmp_module,
    [TOR_MODULE_SNOOP] = &tor_snoop_module,   [TOR_MODULE_POLICY] = &tor_policy_module,
    [TOR_MODULE_JOBS] = &tor_jobs_module,
};

#define EACH_MODULE(t, i, function)                                                                \
    for (int i = 0; i < TOR_MODULES; i++)                                                          \
        if (modules[i]->function)

// ---- events ----

void tor_event(struct tor *t, const char *event, const char *format, ...) {
    json_error_t error;
    va_list args;
    va_start(args, format);
    json_t *members = json_vpack_ex(&error, 0, format, args);
    va_end(args);
    if (!members)
        ovs_abort(0, "event %s: %s", event, error.text);
    json_object_set_new(members, "event", json_string(event));
    char *text = json_dumps(members, JSON_COMPACT | JSON_SORT_KEYS);
    VLOG_INFO("%s", text);
    free(text);
    if (t->host.event)
        t->host.event(t->host.aux, members);
    else
        json_decref(members);
}

static void tor_refused(void *aux, const char *object, const char *why) {
    tor_event(aux, "alarm", "{s:s, s:s, s:s}", "alarm", "refused", "object", object, "why", why);
}

void tor_moved(struct tor *t, uint16_t vid, const uint8_t mac[6], struct tor_link *link) {
    EACH_MODULE(t, i, moved)
    modules[i]->moved(t, t->states[i], vid, mac, link);
}

// ---- writing ----

uint64_t tor_fact(struct tor *t, enum tor_fact fact, uint64_t found) {
    uint64_t value;
    if (t->host.recall && t->host.recall(t->host.aux, fact, &value))
        return value;
    if (t->host.learn)
        t->host.learn(t->host.aux, fact, found);
    return found;
}

// Where nobody runs the pipes meanwhile the number of writes is the same each time.
void tor_flush_once(struct tor *t, void (*refused)(void *aux, const char *object, const char *why),
                    void *aux) {
    const unsigned most = t->host.writes_in_a_pause ? t->host.writes_in_a_pause : WRITES_IN_A_PAUSE;
    if (!t->host.pause) {
        tor_wanted_flush(t->wanted, t->host.sw, (int)most, refused, aux);
        return;
    }
    t->host.pause(t->host.aux);
    uint64_t all = most, n = 0;
    const bool known = t->host.recall && t->host.recall(t->host.aux, TOR_FACT_WRITES, &all);
    // the processor's time: one that was interrupted makes no more pauses for it
    const uint64_t end = known ? UINT64_MAX : sk_clock_worked() + PAUSE_NS;
    for (; n < all && tor_wanted_waits(t->wanted); n++) {
        if (n > 0 && sk_clock_worked() > end)
            break;
        tor_wanted_flush(t->wanted, t->host.sw, 1, refused, aux);
    }
    if (!known && t->host.learn)
        t->host.learn(t->host.aux, TOR_FACT_WRITES, n);
    if (t->host.resume)
        t->host.resume(t->host.aux);
}

static void tor_flush(struct tor *t, int pauses) {
    while (pauses-- > 0 && tor_wanted_waits(t->wanted))
        tor_flush_once(t, tor_refused, t);
}

// ---- time ----

// A call begins. Who calls has looked at the clock before, and may call in another order than that:
// time never goes back here.
static uint64_t tor_enter(struct tor *t, uint64_t now_ns) {
    if (now_ns > t->now)
        t->now = now_ns;
    tor_time_is(t->now);
    return t->now;
}

static void tor_leave(void) {
    tor_time_is(0);
}

// ---- from beginning to end ----

static void tor_configure(struct tor *t, struct tor_section *section) {
    struct tor_section *old = t->section;
    if (old)
        tor_section_keep_sessions(section, old);
    t->section = section;
    EACH_MODULE(t, i, configure)
    modules[i]->configure(t, t->states[i], old);
    tor_section_free(old);
}

struct tor *tor_new(const struct tor_host *host, const struct sk_at *section,
                    struct sk_error *err) {
    struct tor_section *s = tor_section_read(section, host, err);
    if (!s)
        return NULL;
    struct tor *t = xzalloc(sizeof *t);
    t->host = *host;
    tor_enter(t, sk_switch_now(host->sw));
    t->wanted = tor_wanted_new();
    EACH_MODULE(t, i, create)
    t->states[i] = modules[i]->create(t);
    tor_configure(t, s);
    tor_flush(t, INT_MAX);
    tor_leave();
    return t;
}

void tor_free(struct tor *t) {
    if (!t)
        return;
    tor_enter(t, t->now);
    for (int i = TOR_MODULES - 1; i >= 0; i--)
        if (modules[i]->destroy)
            modules[i]->destroy(t, t->states[i]);
    tor_wanted_free(t->wanted);
    tor_section_free(t->section);
    free(t);
    tor_leave();
}

int tor_reload(struct tor *t, const struct tor_host *host, const struct sk_at *section,
               struct sk_error *err) {
    struct tor_section *s = tor_section_read(section, host, err);
    if (!s)
        return -1;
    t->host = *host;
    tor_enter(t, t->now);
    tor_configure(t, s);
    tor_leave();
    return 0;
}

void tor_host_changed(struct tor *t, const struct tor_host *host) {
    t->host = *host;
}

void tor_switch_replaced(struct tor *t, const struct tor_host *host, bool kept) {
    t->host = *host;
    tor_enter(t, t->now);
    tor_wanted_anew(t->wanted);
    tor_jobs_replaced(t, kept);
    tor_flush(t, INT_MAX);
    tor_leave();
}

static void work(struct tor *t, uint64_t now_ns) {
    EACH_MODULE(t, i, run)
    modules[i]->run(t, t->states[i], now_ns);
    if (now_ns < t->write_due || !tor_wanted_waits(t->wanted))
        return;
    // by the clock, which on a shared processor is mostly the wait for the pipes' turn to end and
    // for their next one to begin: they lose that time, too
    const uint64_t from = sk_clock_now(), interval = t->host.pause_interval_ns;
    tor_flush(t, PAUSES_IN_A_RUN);
    const uint64_t took = tor_fact(t, TOR_FACT_TOOK, sk_clock_now() - from);
    const uint64_t rest = took < LONGEST_REST_NS / REST_SHARE ? took * REST_SHARE : LONGEST_REST_NS;
    t->write_due = interval ? now_ns + took + (rest > interval ? rest : interval) : now_ns;
}

void tor_run(struct tor *t, uint64_t now_ns) {
    work(t, tor_enter(t, now_ns));
    tor_leave();
}

// ---- frames ----

// The tag that the frame came with says no more than 'vid'.
static uint32_t without_tag(const uint8_t *frame, uint32_t length, uint8_t *out) {
    const bool tagged = length >= ETH_BYTES + VLAN_TAG && get16(frame + 12) == 0x8100;
    const uint32_t behind = 12 + (tagged ? VLAN_TAG : 0);
    memcpy(out, frame, 12);
    memcpy(out + 12, frame + behind, length - behind);
    return length - behind + 12;
}

static void hear(struct tor *t, const uint8_t *frame, uint32_t length, uint64_t now_ns) {
    uint8_t bytes[FRAME_LONGEST];
    const bool whole = length >= CPU_HEADER + ETH_BYTES && length - CPU_HEADER <= FRAME_LONGEST;
    const bool copied = whole && (frame[0] & TOR_REASON_ACL);
    const uint8_t reason = whole ? frame[0] & (uint8_t)~TOR_REASON_ACL : 0;
    if (!whole || frame[0] == 0 || reason > TOR_REASON_TOO_LONG) {
        t->frames_bad++;
        return;
    }
    const struct tor_frame f = {.reason = reason ? (enum tor_reason)reason : TOR_REASON_ACL,
                                .copied = copied,
                                .interface = get16(frame + 2) & 0x3ff,
                                .port = get16(frame + 4) & 0x1ff,
                                .vid = get16(frame + 6) & 0xfff,
                                .link = tor_link_by_interface(t, get16(frame + 2) & 0x3ff),
                                .bytes = bytes,
                                .length =
                                    without_tag(frame + CPU_HEADER, length - CPU_HEADER, bytes),
                                .now = now_ns};
    t->frames_in[f.reason]++;
    if (copied && reason)
        t->frames_in[TOR_REASON_ACL]++;
    if (f.length < ETH_BYTES) {
        t->frames_bad++;
        return;
    }
    t->by = f.link;
    EACH_MODULE(t, i, frame)
    modules[i]->frame(t, t->states[i], &f);
    t->by = NULL;
}

void tor_frame(struct tor *t, const uint8_t *frame, uint32_t length, uint64_t now_ns) {
    hear(t, frame, length, tor_enter(t, now_ns));
    tor_leave();
}

static void tor_give(struct tor *t, uint8_t order, uint16_t interface, uint16_t port, uint16_t vid,
                     const uint8_t *frame, uint32_t length) {
    uint8_t bytes[CPU_HEADER + FRAME_LONGEST] = {order,
                                                 0,
                                                 (uint8_t)(interface >> 8),
                                                 (uint8_t)interface,
                                                 (uint8_t)(port >> 8),
                                                 (uint8_t)port,
                                                 (uint8_t)(vid >> 8),
                                                 (uint8_t)vid};
    if (length < ETH_BYTES || length > FRAME_LONGEST)
        ovs_abort(0, "a frame of %u bytes is sent", length);
    memcpy(bytes + CPU_HEADER, frame, length);
    if (t->host.send(t->host.aux, bytes, CPU_HEADER + length))
        t->frames_out++;
    else
        t->frames_lost++;
}

void tor_send_port(struct tor *t, uint16_t port, uint16_t vid, const uint8_t *frame,
                   uint32_t length) {
    tor_give(t, ORDER_PORT, 0, port, vid, frame, length);
}

void tor_send_vlan(struct tor *t, uint16_t vid, uint16_t interface, const uint8_t *frame,
                   uint32_t length) {
    tor_give(t, ORDER_VLAN, interface, 0, vid, frame, length);
}

// ---- what else happens ----

void tor_digest(struct tor *t, const struct sk_digest *digest, uint64_t now_ns) {
    now_ns = tor_enter(t, now_ns);
    EACH_MODULE(t, i, digest)
    modules[i]->digest(t, t->states[i], digest, now_ns);
    tor_leave();
}

// links.c comes first and keeps what the others look at.
void tor_link(struct tor *t, uint16_t port, bool up, uint64_t now_ns) {
    struct tor_link *link = tor_link_by_port(t, port);
    tor_enter(t, now_ns);
    if (link)
        EACH_MODULE(t, i, link)
    modules[i]->link(t, t->states[i], link, port, up);
    tor_leave();
}

static json_t *status(const struct tor *t) {
    json_int_t in = 0;
    for (size_t i = 0; i < sizeof t->frames_in / sizeof *t->frames_in; i++)
        in += (json_int_t)t->frames_in[i];
    return json_pack("{s:I, s:I, s:I, s:I}", "frames_in", in, "frames_out",
                     (json_int_t)t->frames_out, "frames_lost", (json_int_t)t->frames_lost,
                     "frames_bad", (json_int_t)t->frames_bad);
}

static void list_object(void *aux, enum tor_set set, const char *object, const char *as,
                        bool written) {
    json_array_append_new(aux, json_pack("{s:i, s:s, s:s, s:b}", "set", (int)set, "object", object,
                                         "as", as, "written", (int)written));
}

static json_t *answer(struct tor *t, const char *op, json_t *request, struct sk_error *err) {
    err->text[0] = '\0';
    if (strcmp(op, "tor.status") == 0)
        return status(t);
    if (strcmp(op, "tor.wanted") == 0) {
        json_t *list = json_array();
        tor_wanted_each(t->wanted, list_object, list);
        return list;
    }
    EACH_MODULE(t, i, request) {
        json_t *result = modules[i]->request(t, t->states[i], op, request, err);
        if (result || err->text[0])
            return result;
    }
    sk_fail(err, "there is no request '%s'", op);
    return NULL;
}

json_t *tor_request(struct tor *t, const char *op, json_t *request, uint64_t now_ns,
                    struct sk_error *err) {
    tor_enter(t, now_ns);
    json_t *result = answer(t, op, request, err);
    tor_leave();
    return result;
}
