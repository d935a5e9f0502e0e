// SPDX-License-Identifier: Apache-2.0
//
// bf_entry: the items of "entries" in a configuration, also as a BF Runtime controller writes them.
//
// To BF Runtime everything is a table with a key and data (tna-facts 8.2, 8.3; the names are those
// of `silken build --bf-rt`). So besides entries of match tables an item may be
//
//     {"table": REGISTER, "key": {"$REGISTER_INDEX": 3}, "data": {"Ingress.reg.f1": 7}}
//     {"table": PARAM, "data": {"value": 7}}                                a RegisterParam
//     {"table": COUNTER, "key": {"$COUNTER_INDEX": 3}, "data": {"$COUNTER_SPEC_PKTS": 7}}
//     {"table": METER, "key": {"$METER_INDEX": 3}, "data": {"$METER_SPEC_CIR_PPS": 8, ...}}
//                              $LPF_INDEX, $WRED_INDEX likewise
//     {"table": PROFILE, "key": {"$ACTION_MEMBER_ID": 1}, "action": A, "data": {...}}
//     {"table": SELECTOR, "key": {"$SELECTOR_GROUP_ID": 1}, "data": {"$ACTION_MEMBER_ID": [1, 2],
//         "$ACTION_MEMBER_STATUS": [true, false], "$MAX_GROUP_SIZE": 8}}
//     {"table": VALUE_SET, "key": {"f1": 7}}
//     {"table": "pipe.IngressParser.$PORT_METADATA", "key": {"ig_intr_md.ingress_port": 4},
//         "data": {"vrf": 7}}                            "$DEFAULT_FIELD": all of it
//
// and in an entry of a match table "data" is another word for "args", "$MATCH_PRIORITY" in the key
// for "priority", "$ACTION_MEMBER_ID" and "$SELECTOR_GROUP_ID" in the data for "member" and
// "group", and data may have the fields of direct registers ("Ingress.reg.f1").
#ifndef SILKEN_CONTROL_TABLES_BF_ENTRY_H
#define SILKEN_CONTROL_TABLES_BF_ENTRY_H

#include "control/tables/json_switch.h"

enum sk_bf_kind {
    SK_BF_MEMBER, // of an action profile; these three in this order, as one refers to another
    SK_BF_GROUP,
    SK_BF_ENTRY,
    SK_BF_REGISTER,
    SK_BF_PARAM,
    SK_BF_COUNTER,
    SK_BF_METER,
    SK_BF_VALUE_SET,
    SK_BF_PORT_METADATA,
};
// What an item is, by its members alone.
enum sk_bf_kind sk_bf_kind(const struct sk_at *at);

struct sk_bf_entry {
    enum sk_bf_kind kind;
    struct sk_entry_spec entry; // its table, pipe and keys are those of all kinds
    struct sk_group_spec group;
    uint64_t index; // of a cell; a port
    struct sk_named_value *data;
    size_t n_data;
};
// Fails the document when it is none of the above.
void sk_bf_read(const struct sk_at *at, struct sk_bf_entry *out);
int sk_bf_apply(struct sk_switch *sw, const struct sk_bf_entry *e, struct sk_error *err);
// The same where it may be there already, with other content; and its end (1: it was not there;
// config_impl.h says of what).
int sk_bf_set(struct sk_switch *sw, const struct sk_bf_entry *e, struct sk_error *err);
// Of an entry, a member or a group: it is in all pipes that it names.
bool sk_bf_is_there(struct sk_switch *sw, const struct sk_bf_entry *e);
int sk_bf_remove(struct sk_switch *sw, const struct sk_bf_entry *e, struct sk_error *err);

#endif
