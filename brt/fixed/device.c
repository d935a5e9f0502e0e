// SPDX-License-Identifier: Apache-2.0
//
// The device's own tables, and those of the chip's inside, which are only listed.
//
// tf1.dev.device_configuration and tf2.dev.device_configuration: what the device is. It has one
// entry, without a key. What can be set of it tells the chip's driver how to spend its time; it is
// kept and shown, and changes no packet: members of a selector's group stand in the order in which
// they were given in any case.
#include "brt/fixed/fixed.h"

enum {
    DEVICE_SKU,
    DEVICE_PIPES,
    DEVICE_STAGES,
    DEVICE_MAX_PORTS,
    DEVICE_FRONT_PORTS,
    DEVICE_PCIE_CPU,
    DEVICE_ETH_CPU,
    DEVICE_INTERNAL,
    DEVICE_EXTERNAL,
    DEVICE_RECIRC,
    DEVICE_LINK_INTERRUPTS,
    DEVICE_LEARN_INTERRUPTS,
    DEVICE_LRT_TIMEOUT,
    DEVICE_LEARN_TIMEOUT,
    DEVICE_NODE_DELETE,
    DEVICE_MEMBER_ORDER,
    DEVICE_FIELDS,
};

#define DEVICE_PORT_PCIE   320u // of a Tofino with four pipes
#define DEVICE_PORT_PCIE_2 0u

static const char *const device_skus[] = {
    "UNKNOWN",          "BFN-T10-064Q",     "BFN-T10-032Q",     "BFN-T10-032D",
    "BFN-T10-032D-020", "BFN-T10-032D-018", "BFN-T10-032D-012", NULL};
static const char *const device_skus_2[] = {
    "UNKNOWN",       "BFN-T20-128Q", "BFN-T20-128QM", "BFN-T20-080T",
    "BFN-T20-080TM", "BFN-T20-064Q", "BFN-T20-064D",  NULL};

#define DEVICE_DATA(skus)                                                                          \
    {FIXED_FIELD(1, "sku", STRING, 0), .choices = skus, .read_only = true},                        \
        {FIXED_FIELD(2, "num_pipes", UINT, 32), .read_only = true},                                \
        {FIXED_FIELD(3, "num_stages", UINT, 32), .read_only = true},                               \
        {FIXED_FIELD(4, "num_max_ports", UINT, 32), .read_only = true},                            \
        {FIXED_FIELD(5, "num_front_ports", UINT, 32), .read_only = true},                          \
        {FIXED_FIELD(6, "pcie_cpu_port", UINT, 32), .read_only = true},                            \
        {FIXED_FIELD(7, "eth_cpu_port_list", UINT, 32), .repeated = true, .read_only = true},      \
        {FIXED_FIELD(8, "internal_port_list", UINT, 32), .repeated = true, .read_only = true},     \
        {FIXED_FIELD(9, "external_port_list", UINT, 32), .repeated = true, .read_only = true},     \
        {FIXED_FIELD(10, "recirc_port_list", UINT, 32), .repeated = true, .read_only = true},      \
        {FIXED_FIELD(11, "intr_based_link_monitoring", BOOL, 0), .read_only = true},               \
        {FIXED_FIELD(12, "flow_learn_intr_mode", BOOL, 0)},                                        \
        {FIXED_FIELD(13, "lrt_dr_timeout_usec", UINT, 32)},                                        \
        {FIXED_FIELD(14, "flow_learn_timeout_usec", UINT, 32), .otherwise = 500},                  \
        {FIXED_FIELD(15, "inactive_node_delete", BOOL, 0)}, {                                      \
        FIXED_FIELD(16, "selector_member_order", BOOL, 0)                                          \
    }

static const struct fixed_field device_data[] = {DEVICE_DATA(device_skus)};
static const struct fixed_field device_data_2[] = {DEVICE_DATA(device_skus_2)};

static void device_number(struct fixed_entry *e, size_t field, uint64_t number) {
    e->data[field] = (struct fixed_value){.given = true, .number = number};
}

static bool device_is_cpu(unsigned port, bool tofino_2) {
    return tofino_2 ? port >= 2 && port <= 5 : port >= SK_CPU_PORT && port < SK_CPU_PORT + 4;
}

// Every port is in one of the lists; those that recirculate are in two.
static void device_ports(struct fixed_entry *e, bool tofino_2) {
    struct fixed_value *cpu = &e->data[DEVICE_ETH_CPU], *internal = &e->data[DEVICE_INTERNAL],
                       *external = &e->data[DEVICE_EXTERNAL], *recirc = &e->data[DEVICE_RECIRC];
    cpu->n = internal->n = external->n = recirc->n = 0;
    for (unsigned port = 0; port < SK_PORTS; port++) {
        if (!sk_port_exists(port))
            continue;
        if (device_is_cpu(port, tofino_2))
            cpu->list[cpu->n++] = port;
        else if (sk_port_is_internal(port, tofino_2))
            internal->list[internal->n++] = recirc->list[recirc->n++] = port;
        else if (sk_port_local(port) < SK_CPU_PORT || tofino_2)
            external->list[external->n++] = port;
    }
}

static bool device_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e) {
    const bool tofino_2 = sk_switch_is_tofino_2(b->now.sw);
    device_number(e, DEVICE_SKU, 0);
    device_number(e, DEVICE_PIPES, SK_PIPES);
    device_number(e, DEVICE_STAGES, tofino_2 ? 20 : 12);
    device_number(e, DEVICE_MAX_PORTS, SK_PIPES * SK_PIPE_PORTS);
    device_number(e, DEVICE_PCIE_CPU, tofino_2 ? DEVICE_PORT_PCIE_2 : DEVICE_PORT_PCIE);
    device_number(e, DEVICE_LINK_INTERRUPTS, false);
    for (size_t i = DEVICE_LEARN_INTERRUPTS; i < DEVICE_FIELDS; i++)
        device_number(e, i,
                      b->device_is_set ? b->device[i - DEVICE_LEARN_INTERRUPTS]
                                       : device_data[i].otherwise);
    for (size_t i = DEVICE_ETH_CPU; i <= DEVICE_RECIRC; i++)
        if (!fixed_list(m, &e->data[i], SK_PORTS))
            return false;
    device_ports(e, tofino_2);
    device_number(e, DEVICE_FRONT_PORTS, e->data[DEVICE_EXTERNAL].n);
    return true;
}

_Static_assert(DEVICE_FIELDS - DEVICE_LEARN_INTERRUPTS == BRT_DEVICE_SETTINGS,
               "what can be set of a device");

static enum brt_code device_set(struct brt *b, const struct fixed_entry *e, struct sk_error *err) {
    (void)err;
    b->device_is_set = true;
    for (size_t i = DEVICE_LEARN_INTERRUPTS; i < DEVICE_FIELDS; i++)
        b->device[i - DEVICE_LEARN_INTERRUPTS] = e->data[i].number;
    return BRT_OK;
}

static enum brt_code device_reset(struct brt *b, const struct fixed_entry *e,
                                  struct sk_error *err) {
    (void)e;
    (void)err;
    b->device_is_set = false;
    return BRT_OK;
}

// ---- only listed ----

static const char *const device_starts[] = {"INIT_COLD", "WARM_INIT_FAST_RECFG",
                                            "WARM_INIT_HITLESS", NULL};
static const struct fixed_field device_start[] = {
    {FIXED_FIELD(1, "error", BOOL, 0), .read_only = true},
    {FIXED_FIELD(2, "init_mode", STRING, 0), .choices = device_starts},
    {FIXED_FIELD(3, "upgrade_agents", BOOL, 0)},
};
static const struct fixed_field device_stage[] = {
    {FIXED_FIELD(0, "stage", UINT, 32), .mandatory = true}};
static const struct fixed_field device_log_table[] = {
    {FIXED_FIELD(1, "stage", UINT, 32), .mandatory = true},
    {FIXED_FIELD(2, "log_tbl", UINT, 32), .mandatory = true}};

#define DEVICE_SIZE(of) (sizeof(of) / sizeof *(of))
#define DEVICE_TABLES(chip, its_data, stages)                                                      \
    {                                                                                              \
        {.id = 0xff060001,                                                                         \
         .name = chip ".dev.device_configuration",                                                 \
         .type = "DevConfigure",                                                                   \
         .size = 1,                                                                                \
         .data = its_data,                                                                         \
         .n_data = DEVICE_FIELDS,                                                                  \
         .functions = {device_get, device_set, device_reset, NULL}},                               \
            {.id = 0xff060002,                                                                     \
             .name = chip ".dev.warm_init",                                                        \
             .type = "WarmInit",                                                                   \
             .size = 1,                                                                            \
             .data = device_start,                                                                 \
             .n_data = DEVICE_SIZE(device_start),                                                  \
             .why = "programs are replaced by SetForwardingPipelineConfig"},                       \
            {.id = 0xff070001,                                                                     \
             .name = chip ".snapshot.phv",                                                         \
             .type = "SnapshotPhv",                                                                \
             .size = stages,                                                                       \
             .keys = device_stage,                                                                 \
             .n_keys = DEVICE_SIZE(device_stage),                                                  \
             .why = "the switch has no containers"},                                               \
        {                                                                                          \
            .id = 0xff070004, .name = chip ".log_tbl_counter", .type = "LogDbgCnt",                \
            .size = (stages) == 12 ? 192 : 1280, .keys = device_log_table,                         \
            .n_keys = DEVICE_SIZE(device_log_table), .why = "tables have no places in stages"      \
        }                                                                                          \
    }

const struct fixed_table *fixed_device(bool tofino_2, size_t *n) {
    static const struct fixed_table tables[] = DEVICE_TABLES("tf1", device_data, 12);
    static const struct fixed_table tables_2[] = DEVICE_TABLES("tf2", device_data_2, 20);
    *n = DEVICE_SIZE(tables);
    return tofino_2 ? tables_2 : tables;
}
