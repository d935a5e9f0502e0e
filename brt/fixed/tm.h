// SPDX-License-Identifier: Apache-2.0
//
// tm: the traffic manager's tables between their files: tm.c has pools, ports, counters and the
// list of all, queues.c what is said of a queue. A queue is known by its port group, a number in
// the target's pipe, and its number in the group, as the driver divides a group's queues among its
// ports unless it is told otherwise: of a Tofino's 32 each of four ports has 8, of a Tofino 2's 128
// each of eight has 16. Queues of a port beyond these have no entry.
#ifndef SILKEN_BRT_FIXED_TM_H
#define SILKEN_BRT_FIXED_TM_H

#include "brt/fixed/fixed.h"

struct tm_shape {
    unsigned groups, ports, queues; // of a pipe; of a group; of a port
};
struct tm_shape fixed_tm_shape(const struct brt *b);
// The port and queue that the entry's key names in its pipe. False: the pipe has no such queue.
bool fixed_tm_queue_of(const struct brt *b, const struct fixed_entry *e, uint16_t *port,
                       unsigned *qid);
enum brt_code fixed_tm_queue_check(struct brt *b, const struct fixed_entry *e,
                                   struct sk_error *err);
struct fixed_entry *fixed_tm_queue_keys(struct brt *b, struct brt_memory *m, size_t *n);

// The value of a field of the entry that get fills.
void fixed_tm_say(struct fixed_entry *e, size_t field, uint64_t number);
// What the switch cannot do otherwise: fails when a field of 'list' has another value than it.
struct tm_constant {
    size_t field;
    uint64_t number;
};
enum brt_code fixed_tm_constants(const struct fixed_entry *e, const struct fixed_field *fields,
                                 const struct tm_constant *list, size_t n, struct sk_error *err);
// Fails when the entry has a value for one of these: the switch does not have it at all.
enum brt_code fixed_tm_absent(const struct fixed_entry *e, const struct fixed_field *fields,
                              const size_t *list, size_t n, struct sk_error *err);
enum brt_code fixed_tm_set_queues(struct brt *b, uint16_t port, const struct sk_port_queue *q,
                                  struct sk_error *err);

extern const char *const fixed_tm_egress_pools[5];

// ---- queues.c
extern const struct fixed_field fixed_tm_map[5], fixed_tm_color[5], fixed_tm_buffer[6],
    fixed_tm_schedule[6], fixed_tm_schedule_2[9];
bool fixed_tm_map_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e);
bool fixed_tm_color_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e);
enum brt_code fixed_tm_color_set(struct brt *b, const struct fixed_entry *e, struct sk_error *err);
enum brt_code fixed_tm_color_reset(struct brt *b, const struct fixed_entry *e,
                                   struct sk_error *err);
bool fixed_tm_buffer_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e);
enum brt_code fixed_tm_buffer_set(struct brt *b, const struct fixed_entry *e, struct sk_error *err);
enum brt_code fixed_tm_buffer_reset(struct brt *b, const struct fixed_entry *e,
                                    struct sk_error *err);
bool fixed_tm_schedule_get(struct brt *b, struct brt_memory *m, struct fixed_entry *e);
enum brt_code fixed_tm_schedule_set(struct brt *b, const struct fixed_entry *e,
                                    struct sk_error *err);
enum brt_code fixed_tm_schedule_reset(struct brt *b, const struct fixed_entry *e,
                                      struct sk_error *err);

#endif
