// SPDX-License-Identifier: Apache-2.0
//
// stf_impl: a parsed script, between its parser (parse.c), the executor (run.c) and the
// comparison of outputs (match.c).
#ifndef SILKEN_PCAP_STF_STF_IMPL_H
#define SILKEN_PCAP_STF_STF_IMPL_H

#include "control/tables/control.h"
#include "pcap/packet/layout.h"
#include "pcap/stf/stf.h"

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
    STF_ADVANCE_TIME,
    STF_SET_TIME,
    STF_METER_WRITE,
    STF_METER_RATES,
    STF_METER_GET,
    STF_CHECK_METER,
    STF_METER_RESET,
    STF_COUNTER_READ,
    STF_COUNTER_WRITE,
    STF_COUNTER_CLEAR,
    STF_CHECK_ENTRY_COUNTER,
    STF_ENTRY_WRITE,
    STF_CHECK_ENTRY,
    STF_EXPECT_IDLE,
    STF_EXPECT_ACTIVE,
    STF_NO_IDLE,
    STF_UPDATE_HIT_STATE,
    STF_TM, // words of its own: tm.c
    STF_MEMBER,
    STF_MEMBER_REMOVE,
    STF_GROUP,
    STF_GROUP_REMOVE,
    STF_GET_MEMBER,
    STF_GET_INDEX,
    STF_VALUE_SET_REMOVE,
    STF_VALUE_SET_CLEAR,
    STF_TABLE_CLEAR,
    STF_HASH_FIELDS,
    STF_HASH_ALGORITHM,
    STF_HASH_RESET,
    STF_HASH_COMPUTE,
    STF_KEY_MASK,
    STF_HINT,
};

enum stf_op { STF_EQ, STF_NE, STF_LT, STF_LE, STF_GT, STF_GE };

#define STF_ANY_NIBBLE 16u

// Which members a kind uses is said by its parse function.
struct stf_statement {
    enum stf_kind kind;
    unsigned line;
    const char *name, *action, *id, *field, *value;
    const char *member, *group; // instead of 'action'
    struct sk_group_member *members;
    size_t n_members;
    bool has_priority, exact_length, bytes;
    bool refused; // it must fail
    int64_t priority;
    struct sk_named_value *keys, *args;
    size_t n_keys, n_args;
    bool has_pipe; // ADD, SETDEFAULT: of one pipe only
    uint64_t pipe;
    uint16_t port;
    uint8_t *nibbles; // 0..15 or STF_ANY_NIBBLE
    size_t n_nibbles;
    uint64_t index, number, second;
    enum stf_op op;
    uint16_t *ports;
    size_t n_ports;
    const char *rates[2]; // "RATE:BURST"
    uint8_t *lags;
    size_t n_lags;
    const char **words; // STF_TM: the statement's, blanks removed; 'name' is its keyword
    size_t n_words;
    const struct stf_statement *target; // REMOVE: the ADD with that ID
};

struct stf_script {
    const char *name;
    struct stf_statement *list;
    size_t n;
    struct stf_block *blocks; // all memory of the above
};

// ---- parsing: for the statements outside of parse.c ----
struct parser;
bool stf_fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *stf_name(struct parser *p, const char *what); // null after an error
const char *stf_value(struct parser *p, const char *what);
bool stf_number(struct parser *p, const char *what, uint64_t max, uint64_t *out);
bool stf_keyword(struct parser *p, const char *word); // takes it when it is there
bool stf_take(struct parser *p, char c);
bool stf_end(struct parser *p); // false after an error
bool stf_at_end(struct parser *p);
bool stf_operator(struct parser *p, enum stf_op *op);
const char *stf_rest(struct parser *p); // what follows, blanks skipped
bool stf_push_value(struct parser *p, struct sk_named_value **list, size_t *n, const char *field);
bool stf_priority(struct parser *p, struct stf_statement *s);
bool stf_arguments(struct parser *p, struct stf_statement *s); // "(ARG:VALUE, ...)" or nothing
void *stf_keep(struct parser *p, size_t size);                 // zeroed, as long as the script

// ---- running, likewise ----
struct run;
struct sk_switch *stf_switch(struct run *r);
bool stf_unusable(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
void stf_differs(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool stf_done(struct run *r, int rc, const struct sk_error *err);
void stf_print(struct run *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool stf_holds(int order, enum stf_op op);
int stf_compare_words(uint64_t a, uint64_t b, const struct sk_field_desc *f);
extern const char *const stf_op_text[];
uint64_t *stf_clock(struct run *r);
// Specification of an entry of 'table' from the statement's keys and priority.
bool stf_entry_spec(struct run *r, const struct stf_statement *s, const char *table,
                    struct sk_entry_spec *e);
struct stf_idle **stf_idle(struct run *r); // events not asked for yet; freed by stf_idle_free
void stf_idle_free(struct stf_idle *list);

// ---- direct.c ----
bool stf_run_direct_write(struct run *r, const struct stf_statement *s);
bool stf_run_direct_read(struct run *r, const struct stf_statement *s);

// ---- profile.c ----
bool stf_parse_member(struct parser *p, struct stf_statement *s);
bool stf_parse_group(struct parser *p, struct stf_statement *s);
bool stf_parse_get_member(struct parser *p, struct stf_statement *s);
bool stf_run_member(struct run *r, const struct stf_statement *s);
bool stf_run_member_remove(struct run *r, const struct stf_statement *s);
bool stf_run_group(struct run *r, const struct stf_statement *s);
bool stf_run_group_remove(struct run *r, const struct stf_statement *s);
bool stf_run_get_member(struct run *r, const struct stf_statement *s);
bool stf_run_get_index(struct run *r, const struct stf_statement *s);

// ---- mask.c ----
bool stf_parse_key_mask(struct parser *p, struct stf_statement *s);
bool stf_run_key_mask(struct run *r, const struct stf_statement *s);

// ---- hash.c ----
bool stf_parse_hash_fields(struct parser *p, struct stf_statement *s);
bool stf_parse_hash_values(struct parser *p, struct stf_statement *s);
bool stf_run_hash_fields(struct run *r, const struct stf_statement *s);
bool stf_run_hash_algorithm(struct run *r, const struct stf_statement *s);
bool stf_run_hash_reset(struct run *r, const struct stf_statement *s);
bool stf_run_hash_compute(struct run *r, const struct stf_statement *s);

// ---- meter.c ----
bool stf_parse_entry(struct parser *p, struct stf_statement *s); // priority and keys
bool stf_parse_advance_time(struct parser *p, struct stf_statement *s);
bool stf_parse_meter_write(struct parser *p, struct stf_statement *s);
bool stf_parse_meter_set_rates(struct parser *p, struct stf_statement *s);
bool stf_parse_meter_array_set_rates(struct parser *p, struct stf_statement *s);
bool stf_parse_cell(struct parser *p, struct stf_statement *s); // NAME INDEX
bool stf_parse_object(struct parser *p, struct stf_statement *s);
bool stf_parse_check_meter(struct parser *p, struct stf_statement *s);
bool stf_parse_counter_write(struct parser *p, struct stf_statement *s);
bool stf_parse_entry_counter(struct parser *p, struct stf_statement *s); // after its name
bool stf_parse_entry_write(struct parser *p, struct stf_statement *s);
bool stf_parse_check_entry(struct parser *p, struct stf_statement *s);
bool stf_parse_expect_idle(struct parser *p, struct stf_statement *s);
bool stf_run_time(struct run *r, const struct stf_statement *s);
bool stf_run_meter_write(struct run *r, const struct stf_statement *s);
bool stf_run_meter_rates(struct run *r, const struct stf_statement *s);
bool stf_run_meter_get(struct run *r, const struct stf_statement *s);
bool stf_run_check_meter(struct run *r, const struct stf_statement *s);
bool stf_run_meter_reset(struct run *r, const struct stf_statement *s);
bool stf_run_counter(struct run *r, const struct stf_statement *s);
bool stf_run_entry_counter(struct run *r, const struct stf_statement *s);
bool stf_run_entry_write(struct run *r, const struct stf_statement *s);
bool stf_run_check_entry(struct run *r, const struct stf_statement *s);
bool stf_run_expect_idle(struct run *r, const struct stf_statement *s);
bool stf_run_no_idle(struct run *r, const struct stf_statement *s);
bool stf_run_update_hit_state(struct run *r, const struct stf_statement *s);
// ---- the traffic manager's statements (tm.c) ----
const char *stf_tm_keyword(const char *at, size_t n); // null: it is none of them

// ---- outputs ----

// Packets that were dropped for one reason after the packet of a line had been sent and before the
// next one was.
struct stf_fate {
    unsigned line;
    enum sk_drop_reason reason;
    uint64_t packets;
};

struct stf_output {
    uint16_t port;
    uint32_t length;
    uint8_t *bytes;
    unsigned line;          // of the packet that caused it
    struct layout *headers; // where its headers are; null: nobody followed it
};
struct stf_outputs {
    struct stf_output *list;
    size_t n, room;
    struct stf_fate *fates; // by line
    size_t n_fates, fates_room;
};
// Compares outputs with what the script expects, prints each difference; returns their number.
// 'first' becomes the least line with a difference if that is less than it was.
unsigned stf_match(const struct stf_script *s, const struct stf_outputs *outputs, unsigned *first,
                   FILE *messages);

// ---- help.c: what a script that fails says besides ----

bool stf_parse_hint(struct parser *p, struct stf_statement *s);
// "; the packet in line 6 was dropped: REASON" of the packet that the expectation 'e' is about: the
// last one before it, or if there is none the first one.
void stf_print_fate(const struct stf_script *s, const struct stf_outputs *outputs,
                    const struct stf_statement *e, FILE *messages);
// The hint that is in force at a line; nothing if there is none.
void stf_print_hint(const struct stf_script *s, unsigned line, FILE *messages);

#endif
