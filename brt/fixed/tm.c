// SPDX-License-Identifier: Apache-2.0
//
// The tables of the traffic manager: clients find their names, ids and keys; calls end with the
// status of what is not implemented, and the table's name.
#include "brt/fixed/fixed.h"

static const char *const tm_colors[] = {"GREEN", "YELLOW", "RED", NULL};
static const char *const tm_pools[] = {"IG_APP_POOL_0", "IG_APP_POOL_1", "IG_APP_POOL_2",
                                       "IG_APP_POOL_3", "EG_APP_POOL_0", "EG_APP_POOL_1",
                                       "EG_APP_POOL_2", "EG_APP_POOL_3", NULL};
static const char *const tm_ingress_pools[] = {"IG_APP_POOL_0", "IG_APP_POOL_1", "IG_APP_POOL_2",
                                               "IG_APP_POOL_3", NULL};
static const char *const tm_all_pools[] = {"IG_APP_POOL_0",
                                           "IG_APP_POOL_1",
                                           "IG_APP_POOL_2",
                                           "IG_APP_POOL_3",
                                           "EG_APP_POOL_0",
                                           "EG_APP_POOL_1",
                                           "EG_APP_POOL_2",
                                           "EG_APP_POOL_3",
                                           "IG_SKID_POOL",
                                           "IG_EG_NEGATIVE_MIRROR_POOL",
                                           "EG_PRE_FIFO",
                                           "IG_EG_GUARANTEED_MIN",
                                           "EG_UNICAST_CUT_THROUGH",
                                           "EG_MULTICAST_CUT_THROUGH",
                                           NULL};

static const struct fixed_field tm_port[] = {
    {FIXED_FIELD(1, "dev_port", UINT, 32), .mandatory = true}};
static const struct fixed_field tm_group[] = {
    {FIXED_FIELD(1, "pg_id", UINT, 8), .mandatory = true}};
static const struct fixed_field tm_queue[] = {
    {FIXED_FIELD(1, "pg_id", UINT, 8), .mandatory = true},
    {FIXED_FIELD(2, "pg_queue", UINT, 8), .mandatory = true}};
static const struct fixed_field tm_node[] = {
    {FIXED_FIELD(1, "pg_id", UINT, 8), .mandatory = true},
    {FIXED_FIELD(2, "pg_l1_node", UINT, 8), .mandatory = true}};
static const struct fixed_field tm_ppg[] = {{FIXED_FIELD(1, "ppg_id", UINT, 8), .mandatory = true}};
static const struct fixed_field tm_ppg_counter[] = {
    {FIXED_FIELD(1, "ppg_counter_id", UINT, 8), .mandatory = true}};
static const struct fixed_field tm_color[] = {
    {FIXED_FIELD(1, "color", STRING, 0), .mandatory = true, .choices = tm_colors}};
static const struct fixed_field tm_app_pool[] = {
    {FIXED_FIELD(1, "pool", STRING, 0), .mandatory = true, .choices = tm_pools}};
static const struct fixed_field tm_any_pool[] = {
    {FIXED_FIELD(1, "pool", STRING, 0), .mandatory = true, .choices = tm_all_pools}};
static const struct fixed_field tm_pool_cos[] = {
    {FIXED_FIELD(1, "pool", STRING, 0), .mandatory = true, .choices = tm_ingress_pools},
    {FIXED_FIELD(2, "cos", BYTES, 3), .mandatory = true}};

#define TM_TABLE(number, called, kind, entries)                                                    \
    { .id = 0xff050000 + (number), .name = called, .type = "Tm" kind, .size = entries }
#define TM_KEYED(number, called, kind, entries, fields)                                            \
    {                                                                                              \
        .id = 0xff050000 + (number), .name = called, .type = "Tm" kind, .size = entries,           \
        .keys = fields, .n_keys = sizeof(fields) / sizeof *(fields)                                \
    }

const struct fixed_table *fixed_tm(bool tofino_2, size_t *n) {
    static const struct fixed_table tables[] = {
        TM_KEYED(0x02, "tf1.tm.pool.cfg", "PoolCfg", 14, tm_any_pool),
        TM_TABLE(0x03, "tf1.tm.pool.skid", "PoolSkid", 1),
        TM_KEYED(0x04, "tf1.tm.pool.app", "PoolApp", 8, tm_app_pool),
        TM_KEYED(0x05, "tf1.tm.pool.color", "PoolColor", 3, tm_color),
        TM_KEYED(0x06, "tf1.tm.pool.app_pfc", "PoolAppPfc", 32, tm_pool_cos),
        TM_KEYED(0x10, "tf1.tm.port.cfg", "PortCfg", 288, tm_port),
        TM_TABLE(0x11, "tf1.tm.port.group_cfg", "PortGroupCfg", 1),
        TM_KEYED(0x12, "tf1.tm.port.group", "PortGroup", 72, tm_group),
        TM_KEYED(0x13, "tf1.tm.port.buffer", "PortBuffer", 288, tm_port),
        TM_KEYED(0x14, "tf1.tm.port.flowcontrol", "PortFlowcontrol", 288, tm_port),
        TM_KEYED(0x15, "tf1.tm.port.dpg", "PortDpg", 288, tm_port),
        TM_KEYED(0x16, "tf1.tm.port.sched_cfg", "PortSchedCfg", 288, tm_port),
        TM_KEYED(0x17, "tf1.tm.port.sched_shaping", "PortSchedShaping", 288, tm_port),
        TM_KEYED(0x21, "tf1.tm.queue.cfg", "QueueCfg", 2304, tm_queue),
        TM_KEYED(0x22, "tf1.tm.queue.map", "QueueMap", 2304, tm_queue),
        TM_KEYED(0x23, "tf1.tm.queue.color", "QueueColor", 2304, tm_queue),
        TM_KEYED(0x24, "tf1.tm.queue.buffer", "QueueBuffer", 2304, tm_queue),
        TM_KEYED(0x25, "tf1.tm.queue.sched_cfg", "QueueSchedCfg", 2304, tm_queue),
        TM_KEYED(0x26, "tf1.tm.queue.sched_shaping", "QueueSchedShaping", 2304, tm_queue),
        TM_KEYED(0x30, "tf1.tm.ppg.cfg", "PpgCfg", 512, tm_ppg),
        TM_KEYED(0x41, "tf1.tm.counter.ig_port", "CounterIgPort", 288, tm_port),
        TM_KEYED(0x42, "tf1.tm.counter.eg_port", "CounterEgPort", 288, tm_port),
        TM_KEYED(0x43, "tf1.tm.counter.queue", "CounterQueue", 576, tm_queue),
        TM_KEYED(0x44, "tf1.tm.counter.pool", "CounterPool", 8, tm_app_pool),
        TM_TABLE(0x45, "tf1.tm.counter.pipe", "CounterPipe", 1),
        TM_KEYED(0x46, "tf1.tm.counter.dpg", "CounterPortDpg", 288, tm_port),
        TM_TABLE(0x47, "tf1.tm.counter.mirror_dpg", "CounterMirrorPortDpg", 1),
        TM_KEYED(0x48, "tf1.tm.counter.ppg", "CounterPpg", 128, tm_ppg_counter),
        TM_TABLE(0x50, "tf1.tm.pipe.cfg", "PipeCfg", 4),
        TM_TABLE(0x51, "tf1.tm.pipe.multicast_fifo", "PipeMulticastFifo", 1),
        TM_TABLE(0x52, "tf1.tm.pipe.sched_cfg", "PipeSchedCfg", 4),
        TM_TABLE(0x71, "tf1.tm.mirror.dpg", "MirrorDpg", 4),
        TM_TABLE(0x81, "tf1.tm.cfg", "Cfg", 1),
    };
    static const struct fixed_table tables_2[] = {
        TM_KEYED(0x02, "tf2.tm.pool.cfg", "PoolCfg", 14, tm_any_pool),
        TM_TABLE(0x03, "tf2.tm.pool.skid", "PoolSkid", 1),
        TM_KEYED(0x04, "tf2.tm.pool.app", "PoolApp", 8, tm_app_pool),
        TM_KEYED(0x05, "tf2.tm.pool.color", "PoolColor", 3, tm_color),
        TM_KEYED(0x06, "tf2.tm.pool.app_pfc", "PoolAppPfc", 32, tm_pool_cos),
        TM_KEYED(0x10, "tf2.tm.port.cfg", "PortCfg", 288, tm_port),
        TM_TABLE(0x11, "tf2.tm.port.group_cfg", "PortGroupCfg", 1),
        TM_KEYED(0x12, "tf2.tm.port.group", "PortGroup", 36, tm_group),
        TM_KEYED(0x13, "tf2.tm.port.buffer", "PortBuffer", 288, tm_port),
        TM_KEYED(0x14, "tf2.tm.port.flowcontrol", "PortFlowcontrol", 288, tm_port),
        TM_KEYED(0x15, "tf2.tm.port.dpg", "PortDpg", 288, tm_port),
        TM_KEYED(0x16, "tf2.tm.port.sched_cfg", "PortSchedCfg", 288, tm_port),
        TM_KEYED(0x17, "tf2.tm.port.sched_shaping", "PortSchedShaping", 288, tm_port),
        TM_KEYED(0x21, "tf2.tm.queue.cfg", "QueueCfg", 4608, tm_queue),
        TM_KEYED(0x22, "tf2.tm.queue.map", "QueueMap", 4608, tm_queue),
        TM_KEYED(0x23, "tf2.tm.queue.color", "QueueColor", 4608, tm_queue),
        TM_KEYED(0x24, "tf2.tm.queue.buffer", "QueueBuffer", 4608, tm_queue),
        TM_KEYED(0x25, "tf2.tm.queue.sched_cfg", "QueueSchedCfg", 4608, tm_queue),
        TM_KEYED(0x26, "tf2.tm.queue.sched_shaping", "QueueSchedShaping", 4608, tm_queue),
        TM_KEYED(0x30, "tf2.tm.ppg.cfg", "PpgCfg", 512, tm_ppg),
        TM_KEYED(0x41, "tf2.tm.counter.ig_port", "CounterIgPort", 288, tm_port),
        TM_KEYED(0x42, "tf2.tm.counter.eg_port", "CounterEgPort", 288, tm_port),
        TM_KEYED(0x43, "tf2.tm.counter.queue", "CounterQueue", 1152, tm_queue),
        TM_KEYED(0x44, "tf2.tm.counter.pool", "CounterPool", 8, tm_app_pool),
        TM_TABLE(0x45, "tf2.tm.counter.pipe", "CounterPipe", 1),
        TM_KEYED(0x46, "tf2.tm.counter.dpg", "CounterPortDpg", 288, tm_port),
        TM_TABLE(0x47, "tf2.tm.counter.mirror_dpg", "CounterMirrorPortDpg", 1),
        TM_KEYED(0x48, "tf2.tm.counter.ppg", "CounterPpg", 128, tm_ppg_counter),
        TM_TABLE(0x50, "tf2.tm.pipe.cfg", "PipeCfg", 4),
        TM_TABLE(0x51, "tf2.tm.pipe.multicast_fifo", "PipeMulticastFifo", 1),
        TM_TABLE(0x52, "tf2.tm.pipe.sched_cfg", "PipeSchedCfg", 4),
        TM_KEYED(0x61, "tf2.tm.l1_node.sched_cfg", "L1NodeSchedCfg", 1152, tm_node),
        TM_KEYED(0x62, "tf2.tm.l1_node.sched_shaping", "L1NodeSchedShaping", 1152, tm_node),
        TM_TABLE(0x71, "tf2.tm.mirror.dpg", "MirrorDpg", 4),
        TM_TABLE(0x81, "tf2.tm.cfg", "Cfg", 1),
    };
    *n = tofino_2 ? sizeof tables_2 / sizeof *tables_2 : sizeof tables / sizeof *tables;
    return tofino_2 ? tables_2 : tables;
}
