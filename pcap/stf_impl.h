// SPDX-License-Identifier: Apache-2.0
//
// stf_impl: a parsed script, between its parser (stf_parse.c), the executor (stf_run.c) and the
// comparison of outputs (stf_match.c).
#ifndef SILKEN_PCAP_STF_IMPL_H
#define SILKEN_PCAP_STF_IMPL_H

#include "control/control.h"
#include "pcap/stf.h"

enum stf_kind {
    STF_ADD,
    STF_SETDEFAULT,
    STF_REMOVE,
    STF_REMOVE_ALL,
    STF_PACKET,
    STF_EXPECT,
    STF_NO_PACKET,
    STF_WAIT,
    STF_CHECK_COUNTER,
    STF_REGISTER_WRITE,
    STF_REGISTER_READ,
    STF_REGISTER_RESET,
    STF_VALUE_SET,
    STF_PORT_METADATA,
    STF_LOOPBACK,
    STF_GROUP_CREATE,
    STF_NODE_CREATE,
    STF_NODE_UPDATE,
    STF_NODE_ASSOCIATE,
    STF_PRUNE,
};

enum stf_op { STF_EQ, STF_NE, STF_LT, STF_LE, STF_GT, STF_GE };

#define STF_ANY_NIBBLE 16u

// Which members a kind uses is said by its parse function.
struct stf_statement {
    enum stf_kind kind;
    unsigned line;
    const char *name, *action, *id, *field, *value;
    bool has_priority, exact_length, bytes;
    int64_t priority;
    struct sk_named_value *keys, *args;
    size_t n_keys, n_args;
    uint16_t port;
    uint8_t *nibbles; // 0..15 or STF_ANY_NIBBLE
    size_t n_nibbles;
    uint64_t index, number;
    enum stf_op op;
    uint16_t *ports;
    size_t n_ports;
    const struct stf_statement *target; // REMOVE: the ADD with that ID
};

struct stf_script {
    const char *name;
    struct stf_statement *list;
    size_t n;
    struct stf_block *blocks; // all memory of the above
};

// ---- outputs ----

struct stf_output {
    uint16_t port;
    uint32_t length;
    uint8_t *bytes;
    unsigned line; // of the packet that caused it
};
struct stf_outputs {
    struct stf_output *list;
    size_t n, room;
};
// Compares outputs with what the script expects, prints each difference; returns their number.
unsigned stf_match(const struct stf_script *s, const struct stf_outputs *outputs, FILE *messages);

#endif
