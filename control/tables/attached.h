// SPDX-License-Identifier: Apache-2.0
//
// attached: what belongs to a table's entry or stands in a cell of its own besides action data:
// counts, meter and filter specifications, ageing. By the names that BF Runtime gives them
// (tna-facts 8.3):
//
//     $COUNTER_SPEC_PKTS  $COUNTER_SPEC_BYTES
//     $METER_SPEC_CIR_KBPS  _PIR_KBPS  _CBS_KBITS  _PBS_KBITS      a meter of bytes
//     $METER_SPEC_CIR_PPS   _PIR_PPS   _CBS_PKTS   _PBS_PKTS       a meter of packets
//     $LPF_SPEC_TYPE (RATE or SAMPLE)  $LPF_SPEC_GAIN_TIME_CONSTANT_NS
//     $LPF_SPEC_DECAY_TIME_CONSTANT_NS  $LPF_SPEC_OUT_SCALE_DOWN_FACTOR (0 to 31)
//     $WRED_SPEC_TIME_CONSTANT_NS  $WRED_SPEC_MIN_THRESH_CELLS  _MAX_THRESH_CELLS
//     $WRED_SPEC_MAX_PROBABILITY (above 0, at most 1)
//     $ENTRY_TTL (milliseconds; 0: does not age)  $ENTRY_HIT_STATE (ENTRY_ACTIVE, ENTRY_IDLE)
//
// They may be written without the part up to SPEC_ or ENTRY_ and in small letters: cir_kbps, ttl.
// Time constants and the probability may have a fraction. A specification that nobody has set yet
// must be given whole, except for the scale-down factor, which is then 0; later ones may be given
// in part. Setting one makes its cell start again: full buckets, no average.
//
// In an entry's list of arguments (struct sk_entry_spec) names that start with '$' are these.
//
// Calls return 0 or a negative code with a sentence; a failed call changes nothing.
#ifndef SILKEN_CONTROL_TABLES_ATTACHED_H
#define SILKEN_CONTROL_TABLES_ATTACHED_H

#include "control/tables/control.h"

#define SK_MAX_DATA 12
struct sk_data {
    struct {
        const char *name; // "$METER_SPEC_CIR_KBPS"
        char value[40];
    } list[SK_MAX_DATA];
    size_t n;
};
// The value called 'name' in any of its spellings, or null.
const char *sk_data_find(const struct sk_data *data, const char *name);

// ---- cells of indirect meters and filters ----
#define SK_ALL_CELLS UINT64_MAX
// What changes many cells does it in a slice of 'pauses', which may be null, and in further ones.
int sk_control_meter_write(struct sk_switch *sw, struct sk_pauses *pauses, const char *name,
                           uint64_t index, const struct sk_named_value *values, size_t n, int pipe,
                           struct sk_error *err);
// Of one pipe (-1: the first that has it). An unconfigured cell gives what it does: a meter of
// bytes the highest rates of a Tofino, the others nothing.
int sk_control_meter_read(struct sk_switch *sw, const char *name, uint64_t index, int pipe,
                          struct sk_data *out, struct sk_error *err);
// As if it had never been configured.
int sk_control_meter_reset(struct sk_switch *sw, struct sk_pauses *pauses, const char *name,
                           uint64_t index, int pipe, struct sk_error *err);
// Every cell of an indirect counter to zero.
int sk_control_counter_clear(struct sk_switch *sw, struct sk_pauses *pauses, const char *name,
                             struct sk_error *err);

// ---- entries: 'e' says table, key, priority and pipe ----
int sk_control_entry_write(struct sk_switch *sw, const struct sk_entry_spec *e,
                           const struct sk_named_value *values, size_t n, struct sk_error *err);
// Counts are summed over the pipes, the rest is of the first pipe.
int sk_control_entry_read(struct sk_switch *sw, const struct sk_entry_spec *e, struct sk_data *out,
                          struct sk_error *err);
// The table whose entries hold the direct counter (or meter, filter) of that name.
int sk_control_counter_owner(const struct sk_switch *sw, const char *name, const char **table,
                             struct sk_error *err);
int sk_control_meter_owner(const struct sk_switch *sw, const char *name, const char **table,
                           struct sk_error *err);

// ---- for the rest of control/ ----
struct sk_attached { // new values for one entry or cell, read and checked as far as is known
    unsigned given;  // bits by position in the list of names
    uint64_t packets, bytes, ttl_ms;
    bool hit;
    struct sk_rate_spec rate;
    struct sk_lpf_spec lpf;
    struct sk_wred_spec wred;
};
// What a place can hold.
struct sk_holder {
    const char *what; // "table 'pipe.Ingress.t'", for messages
    bool counter, idle;
    uint8_t counter_type, meter_kind;
    bool meter_bytes;
};
struct sk_holder sk_holder_of_table(const struct sk_table_desc *d);
bool sk_is_attached_name(const char *name); // starts with '$'
// The names that can be written there, and the shorter ones.
void sk_attached_each(const struct sk_holder *holder,
                      void (*fn)(void *aux, const char *name, const char *brief), void *aux);
int sk_attached_parse(const struct sk_holder *holder, const char *name, const char *value,
                      struct sk_attached *out, struct sk_error *err);
// Would it make a whole specification of this cell (null: none)?
int sk_attached_check(const struct sk_holder *holder, const struct sk_attached *a,
                      const struct sk_meter_cell *cell, struct sk_error *err);
// After sk_attached_check of the same cell. 'first': of the pipes written, this is the first (it
// takes the counts, the others start from zero). 'now': for ageing.
void sk_attached_apply(const struct sk_holder *holder, const struct sk_attached *a,
                       struct sk_entry *e, bool first, uint64_t now);
void sk_attached_meter(const struct sk_holder *holder, const struct sk_attached *a,
                       struct sk_meter_cell *cell);
// What an entry or cell holds, in the order of the names. 'e' null: only the cell's.
void sk_attached_read(const struct sk_holder *holder, const struct sk_entry *e,
                      const struct sk_meter_cell *cell, uint64_t now, struct sk_data *out);

#endif
