// SPDX-License-Identifier: Apache-2.0
//
// tf1.pktgen.*, tf2.pktgen.*: the packet generators (tna-facts 5.8). Applications, and the buffer
// that their packets are in, are a pipe's; asked for all pipes, an application is the first pipe's,
// with the counts of all.
//
// Not there: jitter, source ports that are counted up, a length and offset from the packet, and the
// triggers of a Tofino 2's packets that recirculate, deparser and flow control.
#include <errno.h>
#include <string.h>

#include "brt/fixed/fixed.h"

#define PKTGEN_SIZE(a) (sizeof(a) / sizeof *(a))

// ---- one pipe, or all ----

static unsigned pktgen_pipe(const struct fixed_entry *e) {
    return e->pipe < 0 ? 0 : (unsigned)e->pipe;
}

static bool pktgen_is_tofino_2(const struct brt *b) {
    return sk_switch_is_tofino_2(b->now.sw);
}

static enum brt_code pktgen_no_memory(struct sk_error *err) {
    return brt_fail(err, BRT_NO_SYS_RESOURCES, "there is no memory for a packet generator");
}

// From here on the pipe's ports do what clients say, as after a start of the chip.
static enum brt_code pktgen_gate(struct brt *b, unsigned pipe, struct sk_pktgen_ports ports,
                                 struct sk_error *err) {
    return sk_pktgen_gate(b->now.sw, pipe, ports) ? pktgen_no_memory(err) : BRT_OK;
}

// ---- port_cfg ----

enum { PORT_RECIRCULATES, PORT_GENERATES, PORT_MATCHES, PORT_CLEAR };

static const struct fixed_field pktgen_port_key[] = {
    {FIXED_FIELD(1, "dev_port", UINT, 32), .port_class = "dev_port"}};
static const struct fixed_field pktgen_port_data[] = {
    [PORT_RECIRCULATES] = {FIXED_FIELD(1, "recirculation_enable", BOOL, 0)},
    [PORT_GENERATES] = {FIXED_FIELD(2, "pktgen_enable", BOOL, 0)},
    [PORT_MATCHES] = {FIXED_FIELD(3, "pattern_matching_enable", BOOL, 0)},
    [PORT_CLEAR] = {FIXED_FIELD(4, "clear_port_down_enable", BOOL, 0)},
};

// The bit of a port that can generate; 0: it cannot.
static uint8_t pktgen_bit(const struct brt *b, uint64_t port) {
    const unsigned local = port & 127u;
    if (!sk_port_is_internal((uint16_t)port, pktgen_is_tofino_2(b)))
        return 0;
    return (uint8_t)(1u << (pktgen_is_tofino_2(b) ? local : local - SK_RECIRCULATION_PORT));
}

// In pipes 1 and 3 of a Tofino the quad that is the CPU's in pipe 0 is nobody's (tna-facts 5.8):
// its ports recirculate when a client says so.
static bool pktgen_may_recirculate(const struct brt *b, uint64_t port) {
    const unsigned local = sk_port_local((unsigned)port);
    return !pktgen_is_tofino_2(b) && port < SK_PORTS && sk_port_pipe((unsigned)port) % 2 == 1 &&
           local >= SK_CPU_PORT && local < SK_RECIRCULATION_PORT;
}

static bool pktgen_port_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    (void)m;
    if (e->key[0] >= SK_PORTS)
        return false;
    const struct sk_pktgen_ports ports =
        sk_pktgen_ports(b->now.sw, sk_port_pipe((uint16_t)e->key[0]));
    const uint8_t bit = pktgen_bit(b, e->key[0]);
    const bool data[] = {bit || (pktgen_may_recirculate(b, e->key[0]) &&
                                 sk_switch_port_is_loopback(brt_live(b), (uint16_t)e->key[0])),
                         ports.generate & bit, ports.match & bit,
                         sk_pktgen_is_clear(b->now.sw, (uint16_t)e->key[0])};
    for (size_t i = 0; i < PKTGEN_SIZE(data); i++)
        e->data[i] = (struct fixed_value){.given = true, .number = data[i]};
    return true;
}

static enum brt_code pktgen_port_check(const struct brt *b, uint8_t bit,
                                       const struct fixed_entry *e, struct sk_error *err) {
    const struct fixed_value *d = e->data;
    if (!bit && (d[PORT_GENERATES].number || d[PORT_MATCHES].number))
        return brt_fail(err, BRT_INVALID_ARG, "port %u does not generate packets",
                        (unsigned)e->key[0]);
    if ((bit != 0) != (d[PORT_RECIRCULATES].number != 0) && !pktgen_may_recirculate(b, e->key[0]))
        return brt_fail(err, BRT_NOT_SUPPORTED, "whether port %u recirculates cannot be changed",
                        (unsigned)e->key[0]);
    return BRT_OK;
}

static enum brt_code pktgen_port_set(struct brt *b, const struct fixed_entry *e,
                                     struct sk_error *err) {
    const uint16_t port = (uint16_t)e->key[0];
    if (e->key[0] >= SK_PORTS)
        return brt_fail(err, BRT_INVALID_ARG, "there is no port %llu",
                        (unsigned long long)e->key[0]);
    const unsigned pipe = sk_port_pipe(port);
    const uint8_t bit = pktgen_bit(b, e->key[0]);
    struct sk_pktgen_ports ports = sk_pktgen_ports(b->now.sw, pipe);
    enum brt_code code = pktgen_port_check(b, bit, e, err);
    if (code)
        return code;
    ports.generate =
        (uint8_t)((ports.generate & ~bit) | (e->data[PORT_GENERATES].number ? bit : 0));
    ports.match = (uint8_t)((ports.match & ~bit) | (e->data[PORT_MATCHES].number ? bit : 0));
    if (e->data[PORT_CLEAR].number && sk_pktgen_clear_down(b->now.sw, port))
        return pktgen_no_memory(err);
    code = pktgen_gate(b, pipe, ports, err);
    if (code == BRT_OK && pktgen_may_recirculate(b, port))
        sk_switch_port_loopback(brt_live(b), port, e->data[PORT_RECIRCULATES].number != 0);
    return code;
}

static enum brt_code pktgen_port_remove(struct brt *b, const struct fixed_entry *e,
                                        struct sk_error *err) {
    struct fixed_value data[PKTGEN_SIZE(pktgen_port_data)] = {{.given = false}};
    struct fixed_entry first = *e;
    first.data = data;
    data[PORT_RECIRCULATES].number = pktgen_bit(b, e->key[0]) != 0;
    return pktgen_port_set(b, &first, err);
}

// Those that can generate.
static struct fixed_entry *pktgen_port_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    struct fixed_entry *keys = brt_take(m, 8u * SK_PIPES * sizeof *keys);
    *n = 0;
    for (uint64_t port = 0; keys && port < SK_PORTS; port++)
        if (pktgen_bit(b, port))
            keys[(*n)++].key[0] = port;
    return keys;
}

// ---- app_cfg ----

// The data of both chips; a Tofino has no APP_FROM_PACKET to APP_MASK_SEL.
enum {
    APP_TIMER,
    APP_PATTERN,
    APP_MASK,
    APP_ENABLE,
    APP_LENGTH,
    APP_OFFSET,
    APP_SOURCE,
    APP_COUNT_UP,
    APP_BATCHES,
    APP_PACKETS,
    APP_BATCH_GAP,
    APP_BATCH_JITTER,
    APP_PACKET_GAP,
    APP_PACKET_JITTER,
    APP_BATCH_COUNT,
    APP_PACKET_COUNT,
    APP_TRIGGER_COUNT,
    APP_COMMON,
    APP_FROM_PACKET = APP_COMMON,
    APP_WRAP,
    APP_CHANNEL,
    APP_MASK_SEL,
    APP_FIELDS
};
enum { ACTION_ONE_SHOT = 1, ACTION_PERIODIC, ACTION_PORT_DOWN, ACTION_RECIRCULATION };
enum {
    OF_TIMERS = 1 << ACTION_ONE_SHOT | 1 << ACTION_PERIODIC,
    OF_PORT_DOWN = 1 << ACTION_PORT_DOWN,
    OF_PATTERNS = 1 << ACTION_RECIRCULATION,
    OF_PATTERNS_2 = OF_PATTERNS | 1 << 5
};

static const struct fixed_field pktgen_app_key[] = {{FIXED_FIELD(1, "app_id", UINT, 32)}};

// 'number': how a Tofino has numbers of 16 bits, and a Tofino 2.
#define APP_DATA(number)                                                                           \
    [APP_TIMER] = {FIXED_FIELD(1, "timer_nanosec", UINT, 32), .actions = OF_TIMERS},               \
    [APP_ENABLE] = {FIXED_FIELD(12, "app_enable", BOOL, 0), .stays = true},                        \
    [APP_LENGTH] = {FIXED_FIELD(13, "pkt_len", number, 16)},                                       \
    [APP_OFFSET] = {FIXED_FIELD(14, "pkt_buffer_offset", number, 16)},                             \
    [APP_SOURCE] = {FIXED_FIELD(15, "pipe_local_source_port", UINT, 32),                           \
                    .port_class = "dev_port"},                                                     \
    [APP_COUNT_UP] = {FIXED_FIELD(16, "increment_source_port", BOOL, 0)},                          \
    [APP_BATCHES] = {FIXED_FIELD(17, "batch_count_cfg", number, 16)},                              \
    [APP_PACKETS] = {FIXED_FIELD(18, "packets_per_batch_cfg", number, 16)},                        \
    [APP_BATCH_GAP] = {FIXED_FIELD(19, "ibg", UINT, 32)},                                          \
    [APP_BATCH_JITTER] = {FIXED_FIELD(20, "ibg_jitter", UINT, 32)},                                \
    [APP_PACKET_GAP] = {FIXED_FIELD(21, "ipg", UINT, 32)},                                         \
    [APP_PACKET_JITTER] = {FIXED_FIELD(22, "ipg_jitter", UINT, 32)},                               \
    [APP_BATCH_COUNT] = {FIXED_FIELD(23, "batch_counter", UINT, 64), .stays = true},               \
    [APP_PACKET_COUNT] = {FIXED_FIELD(24, "pkt_counter", UINT, 64), .stays = true},                \
    [APP_TRIGGER_COUNT] = {FIXED_FIELD(25, "trigger_counter", UINT, 64), .stays = true}

static const struct fixed_field pktgen_app_data[] = {
    APP_DATA(UINT),
    [APP_PATTERN] = {FIXED_FIELD(4, "pattern_value", UINT, 32), .actions = OF_PATTERNS},
    [APP_MASK] = {FIXED_FIELD(5, "pattern_mask", UINT, 32), .actions = OF_PATTERNS},
};
static const struct fixed_field pktgen_app_data_2[] = {
    APP_DATA(BYTES),
    [APP_PATTERN] = {FIXED_FIELD(4, "pattern_value", BYTES, 128), .actions = OF_PATTERNS_2},
    [APP_MASK] = {FIXED_FIELD(5, "pattern_mask", BYTES, 128), .actions = OF_PATTERNS_2},
    [APP_FROM_PACKET] = {FIXED_FIELD(26, "offset_len_from_recir_pkt_enable", BOOL, 0)},
    [APP_WRAP] = {FIXED_FIELD(27, "source_port_wrap_max", BYTES, 8)},
    [APP_CHANNEL] = {FIXED_FIELD(28, "assigned_chnl_id", BYTES, 8)},
    [APP_MASK_SEL] = {FIXED_FIELD(3, "port_mask_sel", UINT, 32), .actions = OF_PORT_DOWN},
};
// Of actions that are not served.
static const struct fixed_field pktgen_flow_control[] = {
    {FIXED_FIELD(8, "pfc_header", BYTES, 128)},
    {FIXED_FIELD(9, "timer_enable", BOOL, 0)},
    {FIXED_FIELD(10, "timer", BYTES, 16)},
    {FIXED_FIELD(11, "max_pfc_events", BYTES, 10)},
};

// One that was never set is as a deleted one.
static const struct sk_pktgen_app pktgen_first = {
    .length = 60, .batches = 1, .packets = 1, .source_port = SK_PKTGEN_USUAL};

static void pktgen_app(const struct brt *b, unsigned pipe, unsigned app, struct sk_pktgen_app *as,
                       struct sk_pktgen_counts *counts) {
    sk_pktgen_get(b->now.sw, pipe, app, as, counts);
    if (as->length == 0)
        *as = pktgen_first;
}

static void pktgen_counts(const struct brt *b, const struct fixed_entry *e,
                          struct sk_pktgen_counts *sum) {
    *sum = (struct sk_pktgen_counts){0};
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        struct sk_pktgen_app as;
        struct sk_pktgen_counts one;
        if (e->pipe >= 0 && pipe != (unsigned)e->pipe)
            continue;
        sk_pktgen_get(b->now.sw, pipe, (unsigned)e->key[0], &as, &one);
        sum->triggers += one.triggers;
        sum->batches += one.batches;
        sum->packets += one.packets;
    }
}

static bool pktgen_app_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    struct sk_pktgen_app as;
    struct sk_pktgen_counts counts;
    const unsigned pipe = pktgen_pipe(e);
    (void)m;
    if (e->key[0] >= sk_pktgen_apps(b->now.sw))
        return false;
    pktgen_app(b, pipe, (unsigned)e->key[0], &as, &counts);
    pktgen_counts(b, e, &counts);
    const uint64_t numbers[APP_FIELDS] = {
        [APP_TIMER] = as.timer_ns,
        [APP_PATTERN] = as.pattern,
        [APP_MASK] = as.mask,
        [APP_ENABLE] = as.enabled,
        [APP_LENGTH] = as.length,
        [APP_OFFSET] = as.offset,
        [APP_SOURCE] = b->now.pktgen_sources[pipe][e->key[0]],
        [APP_BATCHES] = as.batches - 1u,
        [APP_PACKETS] = as.packets - 1u,
        [APP_BATCH_GAP] = as.batch_gap_ns,
        [APP_PACKET_GAP] = as.packet_gap_ns,
        [APP_BATCH_COUNT] = counts.batches,
        [APP_PACKET_COUNT] = counts.packets,
        [APP_TRIGGER_COUNT] = counts.triggers,
        [APP_CHANNEL] = as.source_port,
        [APP_MASK_SEL] = as.port_mask,
    };
    const size_t n = pktgen_is_tofino_2(b) ? APP_FIELDS : APP_COMMON;
    for (size_t i = 0; i < n; i++)
        e->data[i] = (struct fixed_value){.given = true, .number = numbers[i]};
    e->action = as.trigger + 1u;
    return true;
}

// What an application cannot be told; the driver's checks, and what the engine has not.
static enum brt_code pktgen_app_check(const struct fixed_entry *e, bool tofino_2,
                                      const struct sk_pktgen_app *before, struct sk_error *err) {
    static const size_t absent[] = {APP_COUNT_UP, APP_BATCH_JITTER, APP_PACKET_JITTER,
                                    APP_FROM_PACKET, APP_WRAP};
    const struct fixed_value *d = e->data;
    const struct fixed_field *fields = tofino_2 ? pktgen_app_data_2 : pktgen_app_data;
    for (size_t i = 0; i < PKTGEN_SIZE(absent); i++)
        if (absent[i] < (tofino_2 ? APP_FIELDS : APP_COMMON) && d[absent[i]].number)
            return brt_fail(err, BRT_NOT_SUPPORTED, "field '%s' is not supported",
                            fields[absent[i]].name);
    if (tofino_2 && d[APP_MASK_SEL].number >= SK_PKTGEN_MASKS)
        return brt_fail(err, BRT_INVALID_ARG, "field 'port_mask_sel' is 0 or 1");
    if (before->enabled && before->trigger + 1u != e->action)
        return brt_fail(err, BRT_IN_USE,
                        "the trigger of an application cannot change while it is "
                        "enabled");
    if (e->action == ACTION_PORT_DOWN && d[APP_BATCHES].number)
        return brt_fail(err, BRT_INVALID_ARG, "a port that goes down triggers a single batch");
    if (d[APP_OFFSET].number % 16)
        return brt_fail(err, BRT_INVALID_ARG, "field 'pkt_buffer_offset' is a multiple of 16");
    if (d[APP_LENGTH].number < 54) // 64 bytes with what the chip adds
        return brt_fail(err, BRT_INVALID_ARG, "field 'pkt_len' is at least 54");
    if (d[APP_OFFSET].number + d[APP_LENGTH].number > SK_PKTGEN_BUFFER)
        return brt_fail(err, BRT_INVALID_ARG, "the packet ends outside of the buffer");
    return BRT_OK;
}

// As 'source_port' of the switch: a Tofino's port for it is the one that generates, unless the
// client says another of the pipe's internal ones.
static enum brt_code pktgen_source(const struct fixed_entry *e, bool tofino_2, uint8_t *out,
                                   struct sk_error *err) {
    const uint64_t source = e->data[APP_SOURCE].number;
    *out = tofino_2 ? (uint8_t)e->data[APP_CHANNEL].number
           : source ? (uint8_t)source
                    : SK_RECIRCULATION_PORT;
    if (tofino_2 ? *out >= 8 || (source && source != *out)
                 : source && (source < SK_RECIRCULATION_PORT || source > SK_RECIRCULATION_PORT + 3))
        return brt_fail(err, BRT_NOT_SUPPORTED, "packets do not come from port %llu",
                        (unsigned long long)(source ? source : *out));
    return BRT_OK;
}

static bool pktgen_same(const struct sk_pktgen_app *x, const struct sk_pktgen_app *y) {
    return x->enabled == y->enabled && x->trigger == y->trigger && x->timer_ns == y->timer_ns &&
           x->pattern == y->pattern && x->mask == y->mask && x->length == y->length &&
           x->offset == y->offset && x->batches == y->batches && x->packets == y->packets &&
           x->batch_gap_ns == y->batch_gap_ns && x->packet_gap_ns == y->packet_gap_ns &&
           x->source_port == y->source_port && x->port_mask == y->port_mask;
}

static enum brt_code pktgen_refused(int rc, struct sk_error *err) {
    return rc == -ENOMEM    ? pktgen_no_memory(err)
           : rc == -ENOTSUP ? brt_fail(err, BRT_NOT_SUPPORTED,
                                       "a Tofino 2's packets that recirculate trigger nothing")
                            : brt_fail(err, BRT_INVALID_ARG,
                                       "the application cannot be enabled: its trigger, timer or "
                                       "port does not fit");
}

static enum brt_code pktgen_app_set(struct brt *b, const struct fixed_entry *e,
                                    struct sk_error *err) {
    const struct fixed_value *d = e->data;
    const unsigned pipe = pktgen_pipe(e), app = (unsigned)e->key[0];
    struct sk_pktgen_app before;
    struct sk_pktgen_counts counts, begun = {0};
    uint8_t source;
    if (e->key[0] >= sk_pktgen_apps(b->now.sw))
        return brt_fail(err, BRT_INVALID_ARG, "applications are 0 to %u",
                        sk_pktgen_apps(b->now.sw) - 1);
    pktgen_app(b, pipe, app, &before, &counts);
    enum brt_code code = pktgen_source(e, pktgen_is_tofino_2(b), &source, err);
    const struct sk_pktgen_app as = {
        .enabled = d[APP_ENABLE].number != 0,
        .trigger = (enum sk_pktgen_trigger)(e->action - 1),
        .timer_ns = d[APP_TIMER].number,
        .pattern = (uint32_t)d[APP_PATTERN].number,
        .mask = (uint32_t)d[APP_MASK].number,
        .length = (uint16_t)d[APP_LENGTH].number,
        .offset = (uint16_t)d[APP_OFFSET].number,
        .batches = (uint32_t)d[APP_BATCHES].number + 1,
        .packets = (uint32_t)d[APP_PACKETS].number + 1,
        .batch_gap_ns = (uint32_t)d[APP_BATCH_GAP].number,
        .packet_gap_ns = (uint32_t)d[APP_PACKET_GAP].number,
        .source_port = source,
        .port_mask = pktgen_is_tofino_2(b) ? (uint8_t)(d[APP_MASK_SEL].number & 0xff) : 0,
    };
    if (code == BRT_OK && !pktgen_same(&as, &before)) {
        code = pktgen_app_check(e, pktgen_is_tofino_2(b), &before, err);
        const int rc =
            code ? 0 : sk_pktgen_set(b->now.sw, pipe, app, &as, sk_switch_now(b->now.sw));
        code = rc ? pktgen_refused(rc, err) : code;
        struct sk_pktgen_app now;
        sk_pktgen_get(b->now.sw, pipe, app, &now, &begun);
    }
    if (code)
        return code;
    b->now.pktgen_sources[pipe][app] = (uint8_t)d[APP_SOURCE].number;
    // with what ports that are down have triggered already
    counts = (struct sk_pktgen_counts){.triggers = d[APP_TRIGGER_COUNT].number + begun.triggers,
                                       .batches = d[APP_BATCH_COUNT].number + begun.batches,
                                       .packets = d[APP_PACKET_COUNT].number};
    code = pktgen_gate(b, pipe, sk_pktgen_ports(b->now.sw, pipe), err);
    sk_pktgen_put_counts(b->now.sw, pipe, app, &counts);
    return code;
}

static enum brt_code pktgen_app_remove(struct brt *b, const struct fixed_entry *e,
                                       struct sk_error *err) {
    for (unsigned pipe = 0; pipe < SK_PIPES; pipe++) {
        if (e->pipe >= 0 && pipe != (unsigned)e->pipe)
            continue;
        const int rc = sk_pktgen_set(b->now.sw, pipe, (unsigned)e->key[0], &pktgen_first,
                                     sk_switch_now(b->now.sw));
        if (rc)
            return pktgen_refused(rc, err);
        b->now.pktgen_sources[pipe][e->key[0]] = 0;
    }
    return BRT_OK;
}

static struct fixed_entry *pktgen_app_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    struct fixed_entry *keys = brt_take(m, SK_PKTGEN_APPS * sizeof *keys);
    *n = sk_pktgen_apps(b->now.sw);
    for (uint64_t i = 0; keys && i < *n; i++)
        keys[i].key[0] = i;
    return keys;
}

// ---- pkt_buffer: a key is a piece of it ----

static const struct fixed_field pktgen_buffer_key[] = {
    {FIXED_FIELD(1, "pkt_buffer_offset", UINT, 32)}, {FIXED_FIELD(2, "pkt_buffer_size", UINT, 32)}};
static const struct fixed_field pktgen_buffer_data[] = {
    {FIXED_FIELD(1, "buffer", BYTES, 8), .repeated = true}};

static bool pktgen_is_piece(const struct fixed_entry *e) {
    return e->key[1] > 0 && e->key[0] + e->key[1] <= SK_PKTGEN_BUFFER;
}

static bool pktgen_buffer_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    if (!pktgen_is_piece(e))
        return false;
    const uint8_t *bytes = sk_pktgen_bytes(b->now.sw, pktgen_pipe(e));
    if (!fixed_list(m, &e->data[0], e->key[1]))
        return false;
    for (size_t i = 0; i < e->key[1]; i++)
        e->data[0].list[i] = bytes ? bytes[e->key[0] + i] : 0;
    return true;
}

static enum brt_code pktgen_buffer_write(struct brt *b, const struct fixed_entry *e, unsigned pipe,
                                         struct sk_error *err) {
    uint8_t bytes[SK_PKTGEN_BUFFER] = {0};
    for (size_t i = 0; e->data && i < e->key[1]; i++)
        bytes[i] = (uint8_t)e->data[0].list[i];
    return sk_pktgen_buffer(b->now.sw, pipe, (uint32_t)e->key[0], bytes, (uint32_t)e->key[1])
               ? pktgen_no_memory(err)
               : BRT_OK;
}

static enum brt_code pktgen_buffer_set(struct brt *b, const struct fixed_entry *e,
                                       struct sk_error *err) {
    if (!pktgen_is_piece(e))
        return brt_fail(err, BRT_INVALID_ARG, "the buffer has %u bytes", SK_PKTGEN_BUFFER);
    if (e->data[0].n != e->key[1])
        return brt_fail(err, BRT_INVALID_ARG,
                        "'pkt_buffer_size' is %llu and 'buffer' has %zu bytes",
                        (unsigned long long)e->key[1], e->data[0].n);
    return pktgen_buffer_write(b, e, pktgen_pipe(e), err);
}

static enum brt_code pktgen_buffer_remove(struct brt *b, const struct fixed_entry *e,
                                          struct sk_error *err) {
    const struct fixed_entry zero = {.key = {e->key[0], e->key[1]}};
    enum brt_code code = BRT_OK;
    for (unsigned pipe = 0; code == BRT_OK && pipe < SK_PIPES; pipe++)
        if (e->pipe < 0 || pipe == (unsigned)e->pipe)
            code = pktgen_buffer_write(b, &zero, pipe, err);
    return code;
}

// All of it, in one piece.
static struct fixed_entry *pktgen_buffer_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    struct fixed_entry *keys = brt_take(m, sizeof *keys);
    (void)b;
    *n = 1;
    if (keys)
        keys[0].key[1] = SK_PKTGEN_BUFFER;
    return keys;
}

// ---- port_mask, port_down_replay: of a Tofino 2 ----

static const struct fixed_field pktgen_mask_key[] = {{FIXED_FIELD(1, "port_mask_sel", UINT, 32)}};
static const struct fixed_field pktgen_mask_data[] = {{FIXED_FIELD(1, "mask", BYTES, 72)}};

static bool pktgen_mask_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    uint64_t ports[2];
    (void)m;
    if (e->key[0] >= SK_PKTGEN_MASKS)
        return false;
    sk_pktgen_mask(b->now.sw, pktgen_pipe(e), (unsigned)e->key[0], ports);
    e->data[0] = (struct fixed_value){.given = true, .number = ports[0], .high = ports[1] & 0xff};
    return true;
}

static enum brt_code pktgen_mask_set(struct brt *b, const struct fixed_entry *e,
                                     struct sk_error *err) {
    if (e->key[0] >= SK_PKTGEN_MASKS)
        return brt_fail(err, BRT_INVALID_ARG, "masks are 0 and 1");
    return sk_pktgen_set_mask(b->now.sw, pktgen_pipe(e), (unsigned)e->key[0],
                              (const uint64_t[]){e->data[0].number, e->data[0].high})
               ? pktgen_no_memory(err)
               : BRT_OK;
}

static enum brt_code pktgen_mask_remove(struct brt *b, const struct fixed_entry *e,
                                        struct sk_error *err) {
    struct fixed_value all = {.number = UINT64_MAX, .high = 0xff};
    struct fixed_entry first = *e;
    enum brt_code code = BRT_OK;
    first.data = &all;
    for (int pipe = 0; code == BRT_OK && pipe < (int)SK_PIPES; pipe++) {
        first.pipe = pipe;
        if (e->pipe < 0 || pipe == e->pipe)
            code = pktgen_mask_set(b, &first, err);
    }
    return code;
}

static struct fixed_entry *pktgen_mask_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    struct fixed_entry *keys = brt_take(m, SK_PKTGEN_MASKS * sizeof *keys);
    (void)b;
    *n = SK_PKTGEN_MASKS;
    for (uint64_t i = 0; keys && i < SK_PKTGEN_MASKS; i++)
        keys[i].key[0] = i;
    return keys;
}

// As enum sk_pktgen_replay.
static const char *const pktgen_replays[] = {"REPLAY_NONE", "REPLAY_ALL", "REPLAY_MISSED", NULL};
static const struct fixed_field pktgen_replay_data[] = {
    {FIXED_FIELD(1, "replay_mode", STRING, 0), .choices = pktgen_replays, .is_enum = true}};

static bool pktgen_replay_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    (void)m;
    e->data[0] =
        (struct fixed_value){.given = true, .number = sk_pktgen_replay(b->now.sw, pktgen_pipe(e))};
    return true;
}

static enum brt_code pktgen_replay_put(struct brt *b, unsigned pipe, uint64_t replay,
                                       struct sk_error *err) {
    return sk_pktgen_set_replay(b->now.sw, pipe, (enum sk_pktgen_replay)replay)
               ? pktgen_no_memory(err)
               : BRT_OK;
}

static enum brt_code pktgen_replay_set(struct brt *b, const struct fixed_entry *e,
                                       struct sk_error *err) {
    return pktgen_replay_put(b, pktgen_pipe(e), e->data[0].number, err);
}

static enum brt_code pktgen_replay_remove(struct brt *b, const struct fixed_entry *e,
                                          struct sk_error *err) {
    return pktgen_replay_put(b, pktgen_pipe(e), SK_PKTGEN_REPLAY_NONE, err);
}

// ---- the tables ----

const struct fixed_table *fixed_pktgen(bool tofino_2, size_t *n) {
    static const struct fixed_action actions[] = {
        {ACTION_ONE_SHOT, "trigger_timer_one_shot", true, NULL, 0},
        {ACTION_PERIODIC, "trigger_timer_periodic", true, NULL, 0},
        {ACTION_PORT_DOWN, "trigger_port_down", true, NULL, 0},
        {ACTION_RECIRCULATION, "trigger_recirc_pattern", true, NULL, 0},
    };
    static const struct fixed_action actions_2[] = {
        {ACTION_ONE_SHOT, "trigger_timer_one_shot", true, NULL, 0},
        {ACTION_PERIODIC, "trigger_timer_periodic", true, NULL, 0},
        {ACTION_PORT_DOWN, "trigger_port_down", true, NULL, 0},
        {ACTION_RECIRCULATION, "trigger_recirc_pattern", false, NULL, 0},
        {5, "trigger_dprsr", false, NULL, 0},
        {6, "trigger_pfc", false, pktgen_flow_control, PKTGEN_SIZE(pktgen_flow_control)},
    };
#define PKTGEN_TABLES(chip, entries, its_data, its_actions)                                        \
    {.id = 0xff030001,                                                                             \
     .name = chip ".pktgen.port_cfg",                                                              \
     .type = "PktgenPortCfg",                                                                      \
     .size = 256,                                                                                  \
     .keys = pktgen_port_key,                                                                      \
     .n_keys = PKTGEN_SIZE(pktgen_port_key),                                                       \
     .data = pktgen_port_data,                                                                     \
     .n_data = PKTGEN_SIZE(pktgen_port_data),                                                      \
     .always = true,                                                                               \
     .functions = {pktgen_port_get, pktgen_port_set, pktgen_port_remove, pktgen_port_keys}},       \
        {.id = 0xff030002,                                                                         \
         .name = chip ".pktgen.app_cfg",                                                           \
         .type = "PktgenAppCfg",                                                                   \
         .size = entries,                                                                          \
         .keys = pktgen_app_key,                                                                   \
         .n_keys = PKTGEN_SIZE(pktgen_app_key),                                                    \
         .data = its_data,                                                                         \
         .n_data = PKTGEN_SIZE(its_data),                                                          \
         .actions = its_actions,                                                                   \
         .n_actions = PKTGEN_SIZE(its_actions),                                                    \
         .always = true,                                                                           \
         .chooses = true,                                                                          \
         .by_pipe = true,                                                                          \
         .functions = {pktgen_app_get, pktgen_app_set, pktgen_app_remove, pktgen_app_keys}},       \
    {                                                                                              \
        .id = 0xff030003, .name = chip ".pktgen.pkt_buffer", .type = "PktgenPktBufferCfg",         \
        .size = 1024, .keys = pktgen_buffer_key, .n_keys = PKTGEN_SIZE(pktgen_buffer_key),         \
        .data = pktgen_buffer_data, .n_data = PKTGEN_SIZE(pktgen_buffer_data), .always = true,     \
        .by_pipe = true, .functions = {                                                            \
            pktgen_buffer_get,                                                                     \
            pktgen_buffer_set,                                                                     \
            pktgen_buffer_remove,                                                                  \
            pktgen_buffer_keys                                                                     \
        }                                                                                          \
    }
    static const struct fixed_table tables[] = {
        PKTGEN_TABLES("tf1", SK_PKTGEN_APPS / 2, pktgen_app_data, actions)};
    static const struct fixed_table tables_2[] = {
        PKTGEN_TABLES("tf2", SK_PKTGEN_APPS, pktgen_app_data_2, actions_2),
        {.id = 0xff030004,
         .name = "tf2.pktgen.port_mask",
         .type = "PktgenPortMaskCfg",
         .size = SK_PKTGEN_MASKS,
         .keys = pktgen_mask_key,
         .n_keys = PKTGEN_SIZE(pktgen_mask_key),
         .data = pktgen_mask_data,
         .n_data = PKTGEN_SIZE(pktgen_mask_data),
         .always = true,
         .by_pipe = true,
         .functions = {pktgen_mask_get, pktgen_mask_set, pktgen_mask_remove, pktgen_mask_keys}},
        {.id = 0xff030005,
         .name = "tf2.pktgen.port_down_replay",
         .type = "PktgenPortDownReplyCfg",
         .size = 1,
         .data = pktgen_replay_data,
         .n_data = PKTGEN_SIZE(pktgen_replay_data),
         .always = true,
         .by_pipe = true,
         .functions = {pktgen_replay_get, pktgen_replay_set, pktgen_replay_remove, NULL}},
    };
#undef PKTGEN_TABLES
    *n = tofino_2 ? PKTGEN_SIZE(tables_2) : PKTGEN_SIZE(tables);
    return tofino_2 ? tables_2 : tables;
}
