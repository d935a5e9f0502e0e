// SPDX-License-Identifier: Apache-2.0
//
// change: changes a running switch from one configuration to another.
//
// An item that is the same in both files stays, with its counts. An item that only the old file has
// is removed. An item that differs is changed in place, so that a packet sees either the old or the
// new one. Items written at run time stay, except where the new file has the same key.
//
// The switch is changed some items at a time, between 'pause' and 'resume'.
#ifndef SILKEN_CONTROL_CONFIG_CHANGE_H
#define SILKEN_CONTROL_CONFIG_CHANGE_H

#include "control/config/config.h"

struct sk_change_pause {
    void (*pause)(void *aux);
    void (*resume)(void *aux);
    void *aux;
};
struct sk_change_counts {
    size_t added, changed, removed;
};

// Tries 'c' on a second switch with the program, which is freed afterwards. Returns 0 if that
// switch can be configured so, or a negative code with a sentence that has the place in the file.
int sk_config_try(const struct sk_config *c, const struct sk_program *program,
                  const struct sk_switch_options *opt, struct sk_error *err);
// All but ports, "tor" and what only a start can set (sk_config_fixed). 0; or negative with a
// sentence, and the switch as it was.
int sk_config_change(const struct sk_config *from, const struct sk_config *to, struct sk_switch *sw,
                     const struct sk_change_pause *pause, struct sk_change_counts *counts,
                     struct sk_error *err);
// For a switch that gets another program ('with', which does not run): first what both files say
// alike, then keep(), which gives it what is kept of the old program's tables, registers..., then
// what the new file says otherwise or does not say any more. Of everything else (multicast, queues,
// ...) nothing. 0, or negative with a sentence that has the place in the file.
int sk_config_bring(const struct sk_config *from, const struct sk_config *to,
                    struct sk_switch *with, void (*keep)(void *aux), void *aux,
                    struct sk_error *err);
// As sk_config_change, but of everything else only.
int sk_config_change_rest(const struct sk_config *from, const struct sk_config *to,
                          struct sk_switch *sw, const struct sk_change_pause *pause,
                          struct sk_change_counts *counts, struct sk_error *err);
// Whether it has multicast groups or mirror sessions.
bool sk_config_has_copies(const struct sk_config *c);
// Of the members that a running switch cannot change ("pipes", "lcores", ...) the first that
// differs; null: none.
const char *sk_config_fixed(const struct sk_config *from, const struct sk_config *to);
// Whether the member is the same in both files (or in neither).
bool sk_config_same(const struct sk_config *a, const struct sk_config *b, const char *member);

#endif
