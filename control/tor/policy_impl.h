// SPDX-License-Identifier: Apache-2.0
//
// policy_impl: what the files of policy share.
//
//     policy.c           the module; queues, marks, the rates of the control plane
//     policy_lists.c     access lists into entries, and from one configuration to the next
//     policy_entries.c   a rule as entries of its table, and as words
//     policy_classify.c  which rule a packet meets, and which no packet does
//     policy_show.c      requests
//
// From one configuration to the next. Rules that both have, in the same order, stay as they are,
// with their counts: only what differs is written. New rules go between those that stay, above the
// old ones that they take the place of, and are written from the top of the list to its end; when
// all of them are there, and the ports have their lists, the old ones are removed from the end to
// the top. So each packet, whenever it comes, meets the rule that the old list has for it or the
// one that the new list has, and nothing else:
//   - while rules are added: if a new rule takes it, all new rules above are there, and none of
//     them and none that stays takes it: it is the new list's. Else all old rules are there, and it
//     is the old list's.
//   - while rules are removed: all new rules are there, and of the old ones the upper part, by the
//     same reasons.
// (A second copy of the list, and ports switched over, would need twice the room, forget all
// counts, and ports would not change at once either.) What does not fit so, for want of room in the
// table or between two priorities, is written in one pause of the switch.
#ifndef SILKEN_CONTROL_TOR_POLICY_IMPL_H
#define SILKEN_CONTROL_TOR_POLICY_IMPL_H

#include "control/tor/tor_impl.h"

// A rule that is in the switch, or on its way there.
struct placed {
    char *text; // its entries' tables and keys, a line each, and the action after " -> "
    uint32_t hash;
    enum tor_family family;
    uint32_t entries, priority; // the smaller number wins
    bool fresh, dying;          // to be written, to be removed
    uint32_t rule;              // its place in the section's list
};
struct placed_list {
    char name[TOR_NAME];
    uint8_t group;        // acl_group: the list's, as long as there is a list of that name
    struct placed *rules; // in order
    size_t n;
    bool changed; // by the last configuration
};
struct policy {
    struct placed_list *lists; // n of them; those without a rule that lives are on their way out
    size_t n;
    bool dying;
};

// ---- policy_entries.c
// The text of 'placed' (xmalloc).
char *policy_entries(const struct tor_section *s, const struct tor_rule *rule, uint8_t group);
// Calls 'fn' with the object of each entry ("entry ipv4_acl ... priority=7") and the action.
void policy_each_entry(const struct placed *rule,
                       void (*fn)(void *aux, const char *object, const char *action), void *aux);
// "deny ipv4 from 10.0.0.0/8 protocol tcp to_port 80" (xmalloc).
char *policy_words(const struct tor_section *s, const struct tor_rule *rule);

// ---- policy_lists.c
void policy_lists_configure(struct tor *t, struct policy *p);
bool policy_list_changed(const struct policy *p, const char *name);
void policy_lists_run(struct tor *t, struct policy *p);
void policy_lists_free(struct policy *p);

// ---- policy_classify.c
// Rules of the list by Open vSwitch's classifier.
struct policy_classifier;
struct policy_classifier *policy_classifier_new(const struct tor_acl *acl);
void policy_classifier_free(struct policy_classifier *c);
// The rule that a packet meets, which is given as a rule of single values; TOR_NONE: none, it may
// pass.
uint32_t policy_classify(const struct policy_classifier *c, const struct tor_rule *packet);
// Whether no packet meets the rule. '*by' is the one that takes them all, or TOR_NONE: several do.
// False, too, when it takes more than '*lookups' to know: they are counted down.
bool policy_unreachable(const struct policy_classifier *c, uint32_t rule, uint32_t *by,
                        unsigned *lookups);
#define POLICY_LOOKUPS 20000u

// ---- policy_show.c
json_t *policy_request(struct tor *t, struct policy *p, const char *op, json_t *request,
                       struct sk_error *err);

#endif
