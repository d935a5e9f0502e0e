// SPDX-License-Identifier: Apache-2.0
//
// $PORT and the tables beside it. As on the chip, a port is in $PORT once a client has put it
// there; one that Silken's configuration gave a device works without that. Names of ports are
// those of a box whose connectors have the ports of pipe 0 first, four lanes each: port 5 is "2/1".
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "brt/fixed/fixed.h"

#define PORT_LANES      4u
#define PORT_FRONT      64u // ports of a pipe that have connectors; the CPU's come after all
#define PORT_CONNECTORS (SK_PIPES * PORT_FRONT / PORT_LANES)
#define PORT_CPU        64u // the first of four, in pipe 0

enum {
    PORT_SPEED,
    PORT_FEC,
    PORT_N_LANES,
    PORT_ENABLE,
    PORT_AN,
    PORT_LOOPBACK,
    PORT_TX_MTU,
    PORT_RX_MTU,
    PORT_MEDIA = 14,
    PORT_IS_VALID = 20,
    PORT_IS_INTERNAL,
    PORT_CONN,
    PORT_CHNL,
    PORT_UP,
    PORT_NAME,
    PORT_FIELDS = 33, // of a Tofino; a Tofino 2 has one less
};

struct fixed_port {
    bool there;
    uint64_t data[PORT_FIELDS]; // as it was set
    char name[24];
    struct sk_port_stats cleared; // counts when they were last set to 0
};

static const char *const port_speeds[] = {"BF_SPEED_NONE",
                                          "BF_SPEED_1G",
                                          "BF_SPEED_10G",
                                          "BF_SPEED_25G",
                                          "BF_SPEED_40G",
                                          "BF_SPEED_40G_NB",
                                          "BF_SPEED_40G_NON_BREAKABLE",
                                          "BF_SPEED_50G",
                                          "BF_SPEED_100G",
                                          "BF_SPEED_200G",
                                          "BF_SPEED_400G",
                                          NULL};
static const char *const port_fecs[] = {"BF_FEC_TYP_NONE",         "BF_FEC_TYP_FIRECODE",
                                        "BF_FEC_TYP_REED_SOLOMON", "BF_FEC_TYP_FC",
                                        "BF_FEC_TYP_RS",           NULL};
static const char *const port_negotiations[] = {"PM_AN_DEFAULT", "PM_AN_FORCE_ENABLE",
                                                "PM_AN_FORCE_DISABLE", NULL};
static const char *const port_loopbacks[] = {"BF_LPBK_NONE",
                                             "BF_LPBK_MAC_NEAR",
                                             "BF_LPBK_MAC_FAR",
                                             "BF_LPBK_PCS_NEAR",
                                             "BF_LPBK_SERDES_NEAR",
                                             "BF_LPBK_SERDES_FAR",
                                             NULL};
static const char *const port_loopbacks_2[] = {
    "BF_LPBK_NONE",        "BF_LPBK_MAC_NEAR",   "BF_LPBK_MAC_FAR", "BF_LPBK_PCS_NEAR",
    "BF_LPBK_SERDES_NEAR", "BF_LPBK_SERDES_FAR", "BF_LPBK_PIPE",    NULL};
static const char *const port_directions[] = {"PM_PORT_DIR_DEFAULT", "PM_PORT_DIR_TX_ONLY",
                                              "PM_PORT_DIR_RX_ONLY", NULL};
static const char *const port_media[] = {"BF_MEDIA_TYPE_COPPER", "BF_MEDIA_TYPE_OPTICAL",
                                         "BF_MEDIA_TYPE_UNKNOWN", NULL};

static const struct fixed_field port_key[] = {
    {FIXED_FIELD(1, "$DEV_PORT", UINT, 32), .mandatory = true, .port_class = "dev_port"}};

#define PORT_DATA(loopbacks)                                                                       \
    {FIXED_FIELD(1, "$SPEED", STRING, 0), .choices = port_speeds},                                 \
        {FIXED_FIELD(2, "$FEC", STRING, 0), .choices = port_fecs},                                 \
        {FIXED_FIELD(3, "$N_LANES", UINT, 32), .otherwise = 1},                                    \
        {FIXED_FIELD(4, "$PORT_ENABLE", BOOL, 0)},                                                 \
        {FIXED_FIELD(5, "$AUTO_NEGOTIATION", STRING, 0), .choices = port_negotiations},            \
        {FIXED_FIELD(6, "$LOOPBACK_MODE", STRING, 0), .choices = loopbacks},                       \
        {FIXED_FIELD(7, "$TX_MTU", UINT, 32), .otherwise = 10240},                                 \
        {FIXED_FIELD(8, "$RX_MTU", UINT, 32), .otherwise = 10240},                                 \
        {FIXED_FIELD(9, "$TX_PFC_EN_MAP", UINT, 32)},                                              \
        {FIXED_FIELD(10, "$RX_PFC_EN_MAP", UINT, 32)},                                             \
        {FIXED_FIELD(11, "$TX_PAUSE_FRAME_EN", BOOL, 0)},                                          \
        {FIXED_FIELD(12, "$RX_PAUSE_FRAME_EN", BOOL, 0)},                                          \
        {FIXED_FIELD(13, "$CUT_THROUGH_EN", BOOL, 0)},                                             \
        {FIXED_FIELD(14, "$PORT_DIR", STRING, 0), .choices = port_directions},                     \
        {FIXED_FIELD(15, "$MEDIA_TYPE", STRING, 0), .choices = port_media, .read_only = true,      \
         .otherwise = 2},                                                                          \
        {FIXED_FIELD(16, "$SDS_TX_ATTN", UINT, 32)}, {FIXED_FIELD(17, "$SDS_TX_PRE", INT, 32)},    \
        {FIXED_FIELD(18, "$SDS_TX_PRE2", INT, 32)}, {FIXED_FIELD(19, "$SDS_TX_POST", INT, 32)},    \
        {FIXED_FIELD(20, "$SDS_TX_POST2", INT, 32)},                                               \
        {FIXED_FIELD(21, "$IS_VALID", BOOL, 0), .read_only = true},                                \
        {FIXED_FIELD(22, "$IS_INTERNAL", BOOL, 0), .read_only = true},                             \
        {FIXED_FIELD(23, "$CONN_ID", UINT, 32), .read_only = true,                                 \
         .port_class = "port_hdl_conn_id"},                                                        \
        {FIXED_FIELD(24, "$CHNL_ID", UINT, 32), .read_only = true,                                 \
         .port_class = "port_hdl_chnl_id"},                                                        \
        {FIXED_FIELD(25, "$PORT_UP", BOOL, 0), .read_only = true},                                 \
        {FIXED_FIELD(26, "$PORT_NAME", STRING, 0), .read_only = true, .port_class = "port_name"},  \
        {FIXED_FIELD(27, "$RX_PRSR_PRI_THRESH", UINT, 32)},                                        \
        {FIXED_FIELD(28, "$TIMESTAMP_1588_DELTA_TX", UINT, 16)},                                   \
        {FIXED_FIELD(30, "$TIMESTAMP_1588_VALID", BOOL, 0), .read_only = true},                    \
        {FIXED_FIELD(31, "$TIMESTAMP_1588_VALUE", UINT, 64), .read_only = true},                   \
        {FIXED_FIELD(32, "$TIMESTAMP_1588_ID", UINT, 32), .read_only = true}, {                    \
        FIXED_FIELD(33, "$PLL_OVRCLK", FLOAT, 0)                                                   \
    }

static const struct fixed_field port_data[PORT_FIELDS] = {
    PORT_DATA(port_loopbacks), {FIXED_FIELD(29, "$TIMESTAMP_1588_DELTA_RX", UINT, 16)}};
static const struct fixed_field port_data_2[PORT_FIELDS - 1] = {PORT_DATA(port_loopbacks_2)};

// What Silken counts of a port has a name; the others are 0, as long as nobody counts them.
#define PORT_STATS(X)                                                                              \
    X(FramesReceivedOK)                                                                            \
    X(FramesReceivedAll)                                                                           \
    X(FramesReceivedwithFCSError)                                                                  \
    X(FrameswithanyError)                                                                          \
    X(OctetsReceivedinGoodFrames)                                                                  \
    X(OctetsReceived)                                                                              \
    X(FramesReceivedwithUnicastAddresses)                                                          \
    X(FramesReceivedwithMulticastAddresses)                                                        \
    X(FramesReceivedwithBroadcastAddresses)                                                        \
    X(FramesReceivedoftypePAUSE)                                                                   \
    X(FramesReceivedwithLengthError)                                                               \
    X(FramesReceivedUndersized)                                                                    \
    X(FramesReceivedOversized)                                                                     \
    X(FragmentsReceived)                                                                           \
    X(JabberReceived)                                                                              \
    X(PriorityPauseFrames)                                                                         \
    X(CRCErrorStomped)                                                                             \
    X(FrameTooLong)                                                                                \
    X(RxVLANFramesGood)                                                                            \
    X(FramesDroppedBufferFull)                                                                     \
    X(FramesReceivedLength_lt_64)                                                                  \
    X(FramesReceivedLength_eq_64)                                                                  \
    X(FramesReceivedLength_65_127)                                                                 \
    X(FramesReceivedLength_128_255)                                                                \
    X(FramesReceivedLength_256_511)                                                                \
    X(FramesReceivedLength_512_1023)                                                               \
    X(FramesReceivedLength_1024_1518)                                                              \
    X(FramesReceivedLength_1519_2047)                                                              \
    X(FramesReceivedLength_2048_4095)                                                              \
    X(FramesReceivedLength_4096_8191)                                                              \
    X(FramesReceivedLength_8192_9215)                                                              \
    X(FramesReceivedLength_9216)                                                                   \
    X(FramesTransmittedOK)                                                                         \
    X(FramesTransmittedAll)                                                                        \
    X(FramesTransmittedwithError)                                                                  \
    X(OctetsTransmittedwithouterror)                                                               \
    X(OctetsTransmittedTotal)                                                                      \
    X(FramesTransmittedUnicast)                                                                    \
    X(FramesTransmittedMulticast)                                                                  \
    X(FramesTransmittedBroadcast)                                                                  \
    X(FramesTransmittedPause)                                                                      \
    X(FramesTransmittedPriPause)                                                                   \
    X(FramesTransmittedVLAN)                                                                       \
    X(FramesTransmittedLength_lt_64)                                                               \
    X(FramesTransmittedLength_eq_64)                                                               \
    X(FramesTransmittedLength_65_127)                                                              \
    X(FramesTransmittedLength_128_255)                                                             \
    X(FramesTransmittedLength_256_511)                                                             \
    X(FramesTransmittedLength_512_1023)                                                            \
    X(FramesTransmittedLength_1024_1518)                                                           \
    X(FramesTransmittedLength_1519_2047)                                                           \
    X(FramesTransmittedLength_2048_4095)                                                           \
    X(FramesTransmittedLength_4096_8191)                                                           \
    X(FramesTransmittedLength_8192_9215)                                                           \
    X(FramesTransmittedLength_9216)                                                                \
    X(Pri0FramesTransmitted)                                                                       \
    X(Pri1FramesTransmitted)                                                                       \
    X(Pri2FramesTransmitted)                                                                       \
    X(Pri3FramesTransmitted)                                                                       \
    X(Pri4FramesTransmitted)                                                                       \
    X(Pri5FramesTransmitted)                                                                       \
    X(Pri6FramesTransmitted)                                                                       \
    X(Pri7FramesTransmitted)                                                                       \
    X(Pri0FramesReceived)                                                                          \
    X(Pri1FramesReceived)                                                                          \
    X(Pri2FramesReceived)                                                                          \
    X(Pri3FramesReceived)                                                                          \
    X(Pri4FramesReceived)                                                                          \
    X(Pri5FramesReceived)                                                                          \
    X(Pri6FramesReceived)                                                                          \
    X(Pri7FramesReceived)                                                                          \
    X(TransmitPri0Pause1USCount)                                                                   \
    X(TransmitPri1Pause1USCount)                                                                   \
    X(TransmitPri2Pause1USCount)                                                                   \
    X(TransmitPri3Pause1USCount)                                                                   \
    X(TransmitPri4Pause1USCount)                                                                   \
    X(TransmitPri5Pause1USCount)                                                                   \
    X(TransmitPri6Pause1USCount)                                                                   \
    X(TransmitPri7Pause1USCount)                                                                   \
    X(ReceivePri0Pause1USCount)                                                                    \
    X(ReceivePri1Pause1USCount)                                                                    \
    X(ReceivePri2Pause1USCount)                                                                    \
    X(ReceivePri3Pause1USCount)                                                                    \
    X(ReceivePri4Pause1USCount)                                                                    \
    X(ReceivePri5Pause1USCount)                                                                    \
    X(ReceivePri6Pause1USCount)                                                                    \
    X(ReceivePri7Pause1USCount)                                                                    \
    X(ReceiveStandardPause1USCount)                                                                \
    X(FramesTruncated)                                                                             \
    X(TimeInSec)                                                                                   \
    X(TimeinNSec)                                                                                  \
    X(TX_PPS)                                                                                      \
    X(RX_PPS)                                                                                      \
    X(TX_RATE)                                                                                     \
    X(RX_RATE)

enum {
#define PORT_STAT_ENUM(name) STAT_##name,
    PORT_STATS(PORT_STAT_ENUM) STAT_FIELDS
#undef PORT_STAT_ENUM
};

static const struct fixed_field port_stats[] = {
#define PORT_STAT_FIELD(name) {FIXED_FIELD(STAT_##name + 1, "$" #name, UINT, 64)},
    PORT_STATS(PORT_STAT_FIELD)
#undef PORT_STAT_FIELD
};

static const struct fixed_field port_handle_key[] = {
    {FIXED_FIELD(1, "$CONN_ID", UINT, 32), .mandatory = true, .port_class = "port_hdl_conn_id"},
    {FIXED_FIELD(2, "$CHNL_ID", UINT, 32), .mandatory = true, .port_class = "port_hdl_chnl_id"}};
static const struct fixed_field port_index_key[] = {
    {FIXED_FIELD(1, "$FP_IDX", UINT, 32), .mandatory = true, .port_class = "fp_port"}};
static const struct fixed_field port_name_key[] = {
    {FIXED_FIELD(1, "$PORT_NAME", STRING, 0), .mandatory = true, .port_class = "port_name"}};
static const struct fixed_field port_of_name[] = {
    {FIXED_FIELD(1, "$DEV_PORT", UINT, 32), .read_only = true, .port_class = "dev_port"}};

// ---- names ----

struct port_place {
    uint32_t connector, channel; // from 1 and from 0
};

static bool port_place(uint64_t port, struct port_place *out) {
    if (port >= SK_PORTS || !sk_port_exists((unsigned)port))
        return false;
    const unsigned pipe = sk_port_pipe((unsigned)port), local = sk_port_local((unsigned)port);
    const bool cpu = port >= PORT_CPU && port < PORT_CPU + PORT_LANES;
    if (local >= PORT_FRONT && !cpu)
        return false; // no connector
    out->connector = cpu ? PORT_CONNECTORS + 1 : 1 + (pipe * PORT_FRONT + local) / PORT_LANES;
    out->channel = local % PORT_LANES;
    return true;
}

static bool port_of_handle(uint64_t connector, uint64_t channel, uint64_t *port) {
    if (connector < 1 || connector > PORT_CONNECTORS + 1 || channel >= PORT_LANES)
        return false;
    const uint64_t lane = (connector - 1) * PORT_LANES + channel;
    *port = connector > PORT_CONNECTORS
                ? PORT_CPU + channel
                : (lane / PORT_FRONT) * (SK_PORTS / SK_PIPES) + lane % PORT_FRONT;
    return true;
}

static void port_give(struct fixed_value *v, uint64_t number) {
    *v = (struct fixed_value){.given = true, .number = number};
}

static bool port_by_handle(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    uint64_t port;
    (void)b;
    (void)m;
    if (!port_of_handle(e->key[0], e->key[1], &port))
        return false;
    port_give(&e->data[0], port);
    return true;
}

static bool port_by_index(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    uint64_t port;
    (void)b;
    (void)m;
    if (!port_of_handle(1 + e->key[0] / PORT_LANES, e->key[0] % PORT_LANES, &port))
        return false;
    port_give(&e->data[0], port);
    return true;
}

static void port_name(const struct port_place *p, char *out, size_t size) {
    snprintf(out, size, "%u/%u", p->connector, p->channel);
}

static bool port_by_name(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    unsigned connector, channel;
    char again[24];
    uint64_t port;
    (void)b;
    (void)m;
    if (sscanf(e->key_text, "%5u/%5u", &connector, &channel) != 2 ||
        !port_of_handle(connector, channel, &port))
        return false;
    port_name(&(struct port_place){connector, channel}, again, sizeof again);
    port_give(&e->data[0], port);
    return strcmp(again, e->key_text) == 0;
}

// All that have a connector, ascending by it.
static struct fixed_entry *port_connected(struct brt *b, struct brt_memory *m, size_t *n) {
    struct fixed_entry *keys = brt_take(m, (PORT_CONNECTORS + 1) * PORT_LANES * sizeof *keys);
    (void)b;
    *n = 0;
    for (uint32_t i = 0; keys && i < (PORT_CONNECTORS + 1) * PORT_LANES; i++) {
        const struct port_place p = {1 + i / PORT_LANES, i % PORT_LANES};
        struct fixed_entry *e = &keys[(*n)++];
        e->key[0] = p.connector;
        e->key[1] = p.channel;
        port_name(&p, e->key_text, sizeof e->key_text);
    }
    return keys;
}

static struct fixed_entry *port_indices(struct brt *b, struct brt_memory *m, size_t *n) {
    struct fixed_entry *keys = port_connected(b, m, n);
    for (size_t i = 0; keys && i < *n; i++)
        keys[i].key[0] = i;
    return keys;
}

// ---- $PORT ----

static size_t port_fields(const struct brt *b) {
    return sk_switch_is_tofino_2(b->now.sw) ? PORT_FIELDS - 1 : PORT_FIELDS;
}

static struct fixed_port *port_state(struct brt *b, uint64_t port) {
    if (!b->ports)
        b->ports = calloc(SK_PORTS, sizeof *b->ports);
    if (!b->ports)
        abort();
    return port < SK_PORTS && sk_port_exists((unsigned)port) ? &b->ports[port] : NULL;
}

static bool port_device(const struct brt *b, uint64_t port, struct brt_port *out) {
    *out = (struct brt_port){.link = false};
    return b->host.port && b->host.port(b->host.aux, (uint16_t)port, out);
}

bool fixed_port_is_up(struct brt *b, uint16_t port) {
    const struct fixed_port *p = b->ports ? port_state(b, port) : NULL;
    struct brt_port device;
    return p && p->there && port_device(b, port, &device) && device.link &&
           sk_switch_port_is_up(brt_live(b), port);
}

static bool port_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    struct fixed_port *p = port_state(b, e->key[0]);
    struct port_place place = {0, 0};
    (void)m;
    if (!p || !p->there)
        return false;
    for (size_t i = 0; i < port_fields(b); i++)
        port_give(&e->data[i], p->data[i]);
    if (port_place(e->key[0], &place))
        port_name(&place, p->name, sizeof p->name);
    else
        snprintf(p->name, sizeof p->name, "-/-");
    e->data[PORT_MEDIA].number = 2;
    e->data[PORT_IS_VALID].number = 1;
    e->data[PORT_IS_INTERNAL].number = place.connector == 0;
    e->data[PORT_CONN].number = place.connector;
    e->data[PORT_CHNL].number = place.channel;
    e->data[PORT_UP].number = fixed_port_is_up(b, (uint16_t)e->key[0]);
    e->data[PORT_NAME].text = p->name;
    return true;
}

static void port_enable(struct brt *b, uint64_t port, bool enabled) {
    if (b->host.enable_port)
        b->host.enable_port(b->host.aux, (uint16_t)port, enabled);
}

static enum brt_code port_set(struct brt *b, const struct fixed_entry *e, struct sk_error *err) {
    struct fixed_port *p = port_state(b, e->key[0]);
    if (!p || sk_port_is_internal((unsigned)e->key[0], sk_switch_is_tofino_2(b->now.sw)))
        return brt_fail(err, BRT_INVALID_ARG, "port %llu is not one that can be configured",
                        (unsigned long long)e->key[0]);
    if (e->data[PORT_N_LANES].number < 1 || e->data[PORT_N_LANES].number > 8)
        return brt_fail(err, BRT_INVALID_ARG, "a port has 1 to 8 lanes");
    p->there = true;
    for (size_t i = 0; i < port_fields(b); i++)
        p->data[i] = e->data[i].number;
    sk_switch_port_loopback(brt_live(b), (uint16_t)e->key[0], e->data[PORT_LOOPBACK].number != 0);
    port_enable(b, e->key[0], e->data[PORT_ENABLE].number != 0);
    return BRT_OK;
}

static enum brt_code port_remove(struct brt *b, const struct fixed_entry *e, struct sk_error *err) {
    struct fixed_port *p = port_state(b, e->key[0]);
    (void)err;
    p->there = false;
    sk_switch_port_loopback(brt_live(b), (uint16_t)e->key[0], false);
    port_enable(b, e->key[0], false);
    return BRT_OK;
}

// Those in $PORT, and with 'devices' those that have one.
static struct fixed_entry *port_list(struct brt *b, struct brt_memory *m, bool devices, size_t *n) {
    struct fixed_entry *keys = brt_take(m, SK_PORTS * sizeof *keys);
    struct brt_port device;
    *n = 0;
    for (uint64_t i = 0; keys && i < SK_PORTS; i++) {
        const struct fixed_port *p = port_state(b, i);
        if (p && (p->there || (devices && port_device(b, i, &device))))
            keys[(*n)++].key[0] = i;
    }
    return keys;
}

static struct fixed_entry *port_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    return port_list(b, m, false, n);
}

// ---- $PORT_STAT ----

static bool port_get_stats(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    const struct fixed_port *p = port_state(b, e->key[0]);
    struct sk_port_stats now;
    struct brt_port device;
    (void)m;
    if (!p || !(p->there || port_device(b, e->key[0], &device)))
        return false;
    sk_switch_port_stats(brt_live(b), (uint16_t)e->key[0], &now);
    for (size_t i = 0; i < STAT_FIELDS; i++)
        port_give(&e->data[i], 0);
    e->data[STAT_FramesReceivedOK].number = e->data[STAT_FramesReceivedAll].number =
        now.rx_packets - p->cleared.rx_packets;
    e->data[STAT_OctetsReceivedinGoodFrames].number = e->data[STAT_OctetsReceived].number =
        now.rx_bytes - p->cleared.rx_bytes;
    e->data[STAT_FramesTransmittedOK].number = e->data[STAT_FramesTransmittedAll].number =
        now.tx_packets - p->cleared.tx_packets;
    e->data[STAT_OctetsTransmittedwithouterror].number =
        e->data[STAT_OctetsTransmittedTotal].number = now.tx_bytes - p->cleared.tx_bytes;
    return true;
}

// The counts go on from what is given. A frame is counted once, so the two counts of all frames and
// of good ones, and those of their bytes, are one.
static enum brt_code port_set_stats(struct brt *b, const struct fixed_entry *e,
                                    struct sk_error *err) {
    struct fixed_port *p = port_state(b, e->key[0]);
    struct sk_port_stats now;
    struct brt_port device;
    if (!p || !(p->there || port_device(b, e->key[0], &device)))
        return brt_fail(err, BRT_INVALID_ARG, "port %llu has no counts",
                        (unsigned long long)e->key[0]);
    sk_switch_port_stats(brt_live(b), (uint16_t)e->key[0], &now);
    p->cleared.rx_packets = now.rx_packets - e->data[STAT_FramesReceivedOK].number;
    p->cleared.rx_bytes = now.rx_bytes - e->data[STAT_OctetsReceivedinGoodFrames].number;
    p->cleared.tx_packets = now.tx_packets - e->data[STAT_FramesTransmittedOK].number;
    p->cleared.tx_bytes = now.tx_bytes - e->data[STAT_OctetsTransmittedwithouterror].number;
    return BRT_OK;
}

// Counts begin again at 0.
static enum brt_code port_clear_stats(struct brt *b, const struct fixed_entry *e,
                                      struct sk_error *err) {
    (void)err;
    sk_switch_port_stats(brt_live(b), (uint16_t)e->key[0], &port_state(b, e->key[0])->cleared);
    return BRT_OK;
}

static struct fixed_entry *port_stat_keys(struct brt *b, struct brt_memory *m, size_t *n) {
    return port_list(b, m, true, n);
}

// ---- clients are told of ports: notify.c ----

static enum brt_code port_set_notify(struct brt *b, const BfrtProto__TableAttribute *a,
                                     struct sk_error *err) {
    (void)err;
    b->tells_ports = a->port_status_notify->enable;
    for (unsigned port = 0; port < SK_PORTS; port++) {
        const uint64_t bit = UINT64_C(1) << port % 64;
        b->ports_up[port / 64] &= ~bit;
        if (b->tells_ports && fixed_port_is_up(b, (uint16_t)port))
            b->ports_up[port / 64] |= bit;
    }
    return BRT_OK;
}

static bool port_get_notify(struct brt *b, struct brt_memory *m, BfrtProto__TableAttribute *out) {
    BfrtProto__PortStatusChg *status = brt_take(m, sizeof *status);
    if (!status)
        return false;
    bfrt_proto__port_status_chg__init(status);
    status->enable = b->tells_ports;
    out->attribute_case = BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_PORT_STATUS_NOTIFY;
    out->port_status_notify = status;
    return true;
}

#define PORT_ATTRIBUTE(number, what) ((number) == FIXED_PORT_ID ? (what) : 0)
#define PORT_TABLE(number, called, kind, its_key, its_data, ...)                                   \
    {                                                                                              \
        .id = number, .name = called, .type = kind, .size = 256, .keys = its_key,                  \
        .lenient = number == FIXED_PORT_ID, .n_keys = sizeof(its_key) / sizeof *(its_key),         \
        .data = its_data, .n_data = sizeof(its_data) / sizeof *(its_data),                         \
        .functions = {__VA_ARGS__}, .attribute = PORT_ATTRIBUTE(number, "port_status_notif_cb"),   \
        .attribute_case =                                                                          \
            PORT_ATTRIBUTE(number, BFRT_PROTO__TABLE_ATTRIBUTE__ATTRIBUTE_PORT_STATUS_NOTIFY),     \
        .set_attribute = PORT_ATTRIBUTE(number, port_set_notify),                                  \
        .get_attribute = PORT_ATTRIBUTE(number, port_get_notify),                                  \
    }
#define PORT_TABLES(data)                                                                          \
    PORT_TABLE(FIXED_PORT_ID, "$PORT", "PortConfigure", port_key, data, port_get, port_set,        \
               port_remove, port_keys),                                                            \
        PORT_TABLE(0xff010002, "$PORT_STAT", "PortStat", port_key, port_stats, port_get_stats,     \
                   port_set_stats, port_clear_stats, port_stat_keys),                              \
        PORT_TABLE(0xff010003, "$PORT_HDL_INFO", "PortHdlInfo", port_handle_key, port_of_name,     \
                   port_by_handle, NULL, NULL, port_connected),                                    \
        PORT_TABLE(0xff010004, "$PORT_FP_IDX_INFO", "PortFpIdxInfo", port_index_key, port_of_name, \
                   port_by_index, NULL, NULL, port_indices),                                       \
        PORT_TABLE(0xff010005, "$PORT_STR_INFO", "PortStrInfo", port_name_key, port_of_name,       \
                   port_by_name, NULL, NULL, port_connected)

const struct fixed_table *fixed_port(bool tofino_2, size_t *n) {
    static const struct fixed_table tables[] = {PORT_TABLES(port_data), PORT_TABLES(port_data_2)};
    *n = sizeof tables / sizeof *tables / 2;
    return tables + (tofino_2 ? *n : 0);
}
