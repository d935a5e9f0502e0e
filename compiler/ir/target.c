// SPDX-License-Identifier: Apache-2.0
//
// target: the chips' numbers (tna-facts 4, 6 and 7).
#include "compiler/ir/target.h"

const char *const chip_resource_names[CHIP_RESOURCES] = {
    [CHIP_LOGICAL_TABLES] = "logical_tables",
    [CHIP_SRAM] = "sram",
    [CHIP_TCAM] = "tcam",
    [CHIP_MAP_RAM] = "map_ram",
    [CHIP_EXACT_XBAR] = "exact_crossbar",
    [CHIP_TERNARY_XBAR] = "ternary_crossbar",
    [CHIP_HASH_BITS] = "hash_bits",
    [CHIP_HASH_DIST] = "hash_distribution",
    [CHIP_ACTION_BUS] = "action_data_bus",
    [CHIP_VLIW] = "vliw",
    [CHIP_GATEWAYS] = "gateways",
    [CHIP_STATEFUL_ALUS] = "stateful_alus",
    [CHIP_METER_ALUS] = "meter_alus",
    [CHIP_STATS_ALUS] = "stats_alus",
    [CHIP_TERNARY_TABLES] = "ternary_tables",
};

const char *const chip_resource_titles[CHIP_RESOURCES] = {
    [CHIP_LOGICAL_TABLES] = "logical tables",
    [CHIP_SRAM] = "SRAM blocks",
    [CHIP_TCAM] = "TCAM blocks",
    [CHIP_MAP_RAM] = "map RAM blocks",
    [CHIP_EXACT_XBAR] = "exact crossbar bytes",
    [CHIP_TERNARY_XBAR] = "ternary crossbar bytes",
    [CHIP_HASH_BITS] = "hash bits",
    [CHIP_HASH_DIST] = "hash distribution slices",
    [CHIP_ACTION_BUS] = "action data bus bytes",
    [CHIP_VLIW] = "VLIW instructions",
    [CHIP_GATEWAYS] = "gateways",
    [CHIP_STATEFUL_ALUS] = "stateful ALUs",
    [CHIP_METER_ALUS] = "meter ALUs",
    [CHIP_STATS_ALUS] = "statistics ALUs",
    [CHIP_TERNARY_TABLES] = "ternary tables",
};

#define PER_STAGE                                                                                  \
    {                                                                                              \
        [CHIP_LOGICAL_TABLES] = 16, [CHIP_SRAM] = 80, [CHIP_TCAM] = 24, [CHIP_MAP_RAM] = 48,       \
        [CHIP_EXACT_XBAR] = 128, [CHIP_TERNARY_XBAR] = 66, [CHIP_HASH_BITS] = 416,                 \
        [CHIP_HASH_DIST] = 6, [CHIP_ACTION_BUS] = 128, [CHIP_VLIW] = 64, [CHIP_GATEWAYS] = 16,     \
        [CHIP_STATEFUL_ALUS] = 4, [CHIP_METER_ALUS] = 4, [CHIP_STATS_ALUS] = 4,                    \
        [CHIP_TERNARY_TABLES] = 8,                                                                 \
    }

// What both chips have alike. The immediates of a Tofino 2's stateful ALUs are -32 to 31 in
// comparisons, of which its compiler makes no use.
#define ALIKE                                                                                      \
    .per_stage = PER_STAGE, .register_actions = 4, .salu_constants = 4, .salu_immediate_low = -8,  \
    .salu_immediate_high = 7, .ram_rows = 1024, .ram_bits = 128, .sram_rows = 8,                   \
    .map_ram_rows = 1024, .tcam_rows = 512, .tcam_bits = 44, .max_ways = 8, .min_way_depth = 4,    \
    .max_key_exact = 128, .max_key_ternary = 66, .max_key_ternary_bits = 524, .gateway_bits = 44,  \
    .gateway_bytes = 4, .gateway_rows = 4, .action_data_bytes = 128, .immediate_bits = 32,         \
    .action_const_low = -8, .action_const_high = 7, .action_phv_sources = 2,                       \
    .containers = {64, 96, 64}, .phv_group_size = 16, .parser_rows = 256, .parser_match_bits = 32, \
    .parser_window = 32, .mirror_bytes = 32, .mirror_session_bits = 10, .digest_bits = 384,        \
    .digest_types = 8, .resubmit_types = 8

static const struct chip_limits limits[] = {
    [CHIP_TOFINO1] =
        {
            .name = "tofino1",
            .title = "Tofino 1",
            .stages = 12,
            .salu_compares = 2,
            .salu_rams = 36,
            .phv_own_groups = 1,
            .phv_lot = {8, 8, 4},
            .tagalong = {32, 48, 32},
            .tagalong_collections = 8,
            .pov_bits = 256,
            .parser_extracts = {4, 4, 4},
            .parser_depth = {1023 * 16, 160},
            .parser_checksums = 2,
            .port_metadata_bytes = 8,
            .deparser_entries = 192,
            .deparser_entry_bytes = 4,
            .deparser_bytes = 480,
            .deparser_checksums = 6,
            .resubmit_bytes = 8,
            .mirror_types = {7, 8},
            ALIKE,
        },
    [CHIP_TOFINO2] =
        {
            .name = "tofino2",
            .title = "Tofino 2",
            .stages = 20,
            .long_branches = 8,
            .salu_compares = 4,
            .salu_rams = 24,
            .phv_own_groups = 0,
            .phv_lot = {4, 4, 2},
            .tagalong = {0, 0, 0},
            .tagalong_collections = 0,
            .pov_bits = 128,
            .parser_extracts = {0, 20, 0},
            .parser_depth = {1023 * 16, 512},
            .parser_checksums = 5,
            .port_metadata_bytes = 16,
            .deparser_entries = 128,
            .deparser_entry_bytes = 8,
            .deparser_bytes = 1024,
            .deparser_checksums = 8,
            .resubmit_bytes = 16,
            .mirror_types = {16, 16},
            ALIKE,
        },
};

const struct chip_limits *chip_limits_of(enum chip_target target) {
    return &limits[target];
}

#define INGRESS_PREFIX                                                                             \
    16u // bytes before a packet; a Tofino 2's are more, for its metadata of ports is

enum chip_target ir_target(const struct ir_program *p) {
    return p->ingress_prefix > INGRESS_PREFIX ? CHIP_TOFINO2 : CHIP_TOFINO1;
}

const struct chip_limits *ir_limits(const struct ir_program *p) {
    return chip_limits_of(ir_target(p));
}
