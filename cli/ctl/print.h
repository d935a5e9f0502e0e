// SPDX-License-Identifier: Apache-2.0
//
// print: replies of a switch (control/socket/requests.h) as aligned text for people.
//
// Of results that come in pages, the first is printed with a heading.
#ifndef SILKEN_CLI_CTL_PRINT_H
#define SILKEN_CLI_CTL_PRINT_H

#include <jansson.h>
#include <stdbool.h>

void ctl_print_json(const json_t *result);
void ctl_print_tables(const json_t *result);
void ctl_print_registers(const json_t *result);
void ctl_print_counters(const json_t *result);
void ctl_print_entries(const json_t *result, bool first);
void ctl_print_register(const json_t *result, bool first);
void ctl_print_meters(const json_t *result);
void ctl_print_meter(const json_t *result, bool first);
void ctl_print_data(const json_t *result);   // of an entry
void ctl_print_events(const json_t *result); // a list of them
void ctl_print_event(const json_t *event);
void ctl_print_counter(const json_t *result, bool first);
void ctl_print_counter_above_zero(const json_t *result, bool first);
void ctl_print_ports(const json_t *result);
void ctl_print_stats(const json_t *result);
void ctl_print_pre(const json_t *result);
// An event that is a digest: one line, flushed; with 'json' as it came.
void ctl_print_digest(const json_t *event, bool json);
void ctl_print_groups(const json_t *result, bool first);
void ctl_print_member(const json_t *result);
void ctl_print_hashes(const json_t *result);
void ctl_print_hash(const json_t *result);
void ctl_print_masks(const json_t *result);
void ctl_print_jobs(const json_t *result);
void ctl_print_alarms(const json_t *result);

#endif
