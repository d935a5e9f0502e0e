// SPDX-License-Identifier: Apache-2.0
//
// snapshot: snapshots of a packet at a range of stages (tna-facts 8.3), with what the trace of one
// packet can give (control/watch/shadow.h). A client says a range (table cfg), what a packet must
// have (ingress_trigger, enabled); the next packet that has it is caught by the host, its way is
// taken as events, and the client reads it stage by stage (ingress_data). With a timer no packet
// triggers: the next one after its time is caught, as by the chip's driver.
//
// The switch has no stages: which table is in which, and up to where a field is in a container, is
// the model's placement (compiler/chip), which comes with the schema. A field is shown at a stage
// when the chip would have it there and no earlier stage may have written it: then it is what the
// parser found. Others are left out.
//
// One snapshot is armed at a time, of ingress.
#ifndef SILKEN_BRT_SNAPSHOT_H
#define SILKEN_BRT_SNAPSHOT_H

#include <jansson.h>

#include "brt/brt_impl.h"

struct snapshot_match {
    const struct brt_field *field; // of the trigger's table: the value, not the mask
    uint64_t value[2], mask[2];
};
struct brt_snapshot {
    struct brt_snapshot *next;
    uint32_t pipeline, handle;
    int pipe; // -1: all
    uint32_t start, end;
    uint32_t timer_us;
    bool has_timer; // packets trigger nothing: the next one after timer_us is caught
    bool has_trigger, enabled;
    bool by_timer;      // as it was enabled
    uint64_t timer_due; // of one that is; 0: it has not begun
    struct snapshot_match *matches;
    size_t n_matches;
    bool full;
    unsigned full_pipe;
    json_t *events; // of a full one: of the packet's first pass through ingress
};
struct brt_snapshots {
    struct brt_snapshot *first;
    uint32_t handles;
    struct brt_snapshot *armed; // by the host
    bool drops;                 // what the host has is not wanted any more
};

// What an update says.
struct brt_snapshot_change {
    uint32_t start, end; // a trigger's stage is both
    int pipe;
    bool has_timer, has_timer_enable, enables_timer, has_enable, enables, has_thread;
    uint32_t timer_us;
    struct snapshot_match *matches;
    size_t n_matches;
};

// ---- snapshot.c
// The one with these stages in this pipe (-1: any); a trigger's is found by its first stage, 'end'
// then UINT32_MAX. Null: no snapshot has them.
struct brt_snapshot *snapshot_find(const struct brt *b, const struct brt_table *t, int pipe,
                                   uint32_t start, uint32_t end);
uint32_t snapshot_stages(const struct brt_table *t); // that the chip has
bool snapshot_is_ingress(const struct brt_table *t);

#endif
