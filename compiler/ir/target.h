// SPDX-License-Identifier: Apache-2.0
//
// target: the chips that programs are written for, and their numbers (tna-facts 4, 6 and 7).
//
// The only source of them: what lowering and the rules refuse, what the printed code relies on,
// what schemas say and what the chip model counts (compiler/chip/chip.h) is the same number. So a
// program that one command refuses for the chip's sake is refused by all.
#ifndef SILKEN_COMPILER_IR_TARGET_H
#define SILKEN_COMPILER_IR_TARGET_H

#include "compiler/ir/ir.h"

enum chip_target { CHIP_TOFINO1, CHIP_TOFINO2 };

// What a stage has of each thing (tna-facts 7.3, 7.4). Order of the report.
enum chip_resource {
    CHIP_LOGICAL_TABLES,
    CHIP_SRAM,         // blocks of 1024 x 128 bits
    CHIP_TCAM,         // blocks of 512 x 44 bits
    CHIP_MAP_RAM,      // blocks
    CHIP_EXACT_XBAR,   // bytes
    CHIP_TERNARY_XBAR, // bytes
    CHIP_HASH_BITS,    // of 8 groups x 52
    CHIP_HASH_DIST,    // slices of 16 bits
    CHIP_ACTION_BUS,   // bytes
    CHIP_VLIW,         // instructions of both gresses
    CHIP_GATEWAYS,
    CHIP_STATEFUL_ALUS, // the same four serve registers, meters and selectors: CHIP_METER_ALUS
    CHIP_METER_ALUS,
    CHIP_STATS_ALUS,
    CHIP_TERNARY_TABLES,
    CHIP_RESOURCES
};
extern const char *const chip_resource_names[CHIP_RESOURCES];  // "sram", for JSON
extern const char *const chip_resource_titles[CHIP_RESOURCES]; // "SRAM blocks", for people

// The chip's numbers. One constant structure for each target (target.c). What is only a step in how
// memories are cut (entries packed into a row, bytes that two TCAM blocks share) is in memory/,
// where it is used.
struct chip_limits {
    const char *name;  // "tofino1"
    const char *title; // "Tofino 1"
    unsigned stages;
    unsigned long_branches; // tags with which a table's successor may be in a later stage
    unsigned per_stage[CHIP_RESOURCES];
    // Register actions and stateful ALUs (6.2, 6.3).
    unsigned register_actions, salu_compares, salu_constants /* rows of the register file */;
    int salu_immediate_low, salu_immediate_high;
    unsigned ram_rows, ram_bits, sram_rows /* of blocks in a stage */, map_ram_rows, tcam_rows,
        tcam_bits, salu_rams;
    // Match formats (7.3).
    unsigned max_ways, min_way_depth, max_key_exact /* bytes of a table's exact key */,
        max_key_ternary, max_key_ternary_bits, gateway_bits, gateway_bytes, gateway_rows,
        action_data_bytes, immediate_bits;
    // Actions (7.4).
    int action_const_low, action_const_high;
    unsigned action_phv_sources;
    // PHV (7.2): containers by size 8, 16, 32.
    unsigned containers[3], tagalong[3], tagalong_collections, pov_bits, phv_group_size,
        phv_own_groups /* of a size, that each gress has for itself */,
        phv_lot[3] /* containers that one gress has together */;
    // Parser (7.5).
    unsigned parser_rows, parser_match_bits, parser_extracts[3], parser_window, parser_depth[2],
        parser_checksums, port_metadata_bytes;
    // Deparser (7.5, 7.1).
    unsigned deparser_entries, deparser_entry_bytes /* under one validity bit */,
        deparser_bytes /* of headers before one packet */, deparser_checksums, mirror_bytes,
        mirror_session_bits, resubmit_bytes, digest_bits, digest_types, mirror_types[2],
        resubmit_types;
};
const struct chip_limits *chip_limits_of(enum chip_target target);
// What the chips' compiler takes when the program does not say (tna-facts 4.12).
enum { CHIP_TABLE_SIZE = 512, CHIP_ALPM_PARTITIONS = 1024, CHIP_ALPM_SUBTREES = 2 };

// The chip whose architecture a program includes.
enum chip_target ir_target(const struct ir_program *p);
const struct chip_limits *ir_limits(const struct ir_program *p); // of that chip

#endif
