// SPDX-License-Identifier: Apache-2.0
//
// policy_lists: access lists into entries, and from one configuration to the next (policy_impl.h
// says how).
#include <stdlib.h>
#include <string.h>

#include "control/tor/policy_impl.h"
#include "hash.h"
#include "util.h"

// Where the first rule of a list stands, how far rules are apart, and at most when they come
// between others: most lists grow before their last rule.
#define FIRST_PRIORITY (UINT64_C(1) << 30)
#define APART          (UINT64_C(1) << 20)
#define APART_BETWEEN  (UINT64_C(1) << 12)
#define PRIORITIES     (UINT64_C(1) << 32)

// ---- lists ----

static struct placed_list *find_list(const struct policy *p, const char *name) {
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->lists[i].name, name) == 0)
            return &p->lists[i];
    return NULL;
}

static uint8_t policy_lists_free_group(const struct policy *p) {
    bool taken[256] = {true};
    unsigned group = 1;
    for (size_t i = 0; i < p->n; i++)
        taken[p->lists[i].group] = true;
    while (taken[group]) // there are at most 2 x TOR_ACLS_MOST of them
        group++;
    return (uint8_t)group;
}

static void free_rules(struct placed *rules, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(rules[i].text);
    free(rules);
}

void policy_lists_free(struct policy *p) {
    for (size_t i = 0; i < p->n; i++)
        free_rules(p->lists[i].rules, p->lists[i].n);
    free(p->lists);
}

bool policy_list_changed(const struct policy *p, const char *name) {
    const struct placed_list *l = find_list(p, name);
    return l && l->changed;
}

unsigned tor_acl_group(const struct tor *t, uint32_t acl) {
    const struct policy *p = t->states[TOR_MODULE_POLICY];
    const struct placed_list *l = acl == TOR_NONE ? NULL : find_list(p, t->section->acls[acl].name);
    return l ? l->group : 0;
}

// ---- what stays, what comes, what goes ----

// The rules that two lists have in the same order, as many as there can be: stay[i] is that of the
// new list which is the old one's i-th, or TOR_NONE. What is the same at both ends is not looked at
// further.
static void find_common(const struct placed *old, size_t n_old, const struct placed *new,
                        size_t n_new, uint32_t *stay) {
    size_t top = 0, end = 0;
    for (size_t i = 0; i < n_old; i++)
        stay[i] = TOR_NONE;
#define SAME(i, j) (old[i].hash == new[j].hash &&strcmp(old[i].text, new[j].text) == 0)
    for (; top < n_old && top < n_new && SAME(top, top); top++)
        stay[top] = (uint32_t)top;
    for (; top + end < n_old && top + end < n_new && SAME(n_old - 1 - end, n_new - 1 - end); end++)
        stay[n_old - 1 - end] = (uint32_t)(n_new - 1 - end);
    const size_t rows = n_old - top - end, columns = n_new - top - end, width = columns + 1;
    uint16_t *longest = xcalloc((rows + 1) * width, sizeof *longest); // of what begins there
    for (size_t i = rows; i-- > 0;)
        for (size_t j = columns; j-- > 0;)
            longest[i * width + j] =
                SAME(top + i, top + j)
                    ? (uint16_t)(longest[(i + 1) * width + j + 1] + 1)
                    : MAX(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    for (size_t i = 0, j = 0; i < rows && j < columns;) {
        if (SAME(top + i, top + j))
            stay[top + i++] = (uint32_t)(top + j++);
        else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1])
            i++;
        else
            j++;
    }
#undef SAME
    free(longest);
}

// Priorities of the fresh rules between those that have one. False: there is no room.
static bool number_rules(struct placed_list *l) {
    uint64_t above = UINT64_MAX; // of the last rule that has one: none
    for (size_t i = 0; i < l->n;) {
        size_t end = i;
        while (end < l->n && l->rules[end].fresh)
            end++;
        const uint64_t n = end - i;
        const bool first = above == UINT64_MAX, last = end == l->n;
        uint64_t apart = APART, start;
        if (!last && !first) {
            apart = MIN((l->rules[end].priority - above) / (n + 1), APART_BETWEEN);
            start = above + apart;
        } else if (!last) { // before all others
            if (l->rules[end].priority < n * APART)
                return false;
            start = l->rules[end].priority - n * APART;
        } else {
            start = first ? FIRST_PRIORITY : above + APART;
        }
        if (apart == 0 || (n && start + (n - 1) * apart >= PRIORITIES))
            return false;
        for (uint64_t k = 0; k < n; k++)
            l->rules[i + k].priority = (uint32_t)(start + k * apart);
        if (last)
            break;
        above = l->rules[end].priority;
        i = end + 1;
    }
    return true;
}

// The list becomes what stays, what comes ('rules', taken over) and what goes, in the order of
// their priorities.
static void policy_lists_merge(struct placed_list *l, struct placed *rules, size_t n) {
    struct placed *merged = xcalloc(l->n + n + 1, sizeof *merged);
    uint32_t *stay = xcalloc(l->n + 1, sizeof *stay);
    size_t m = 0, next = 0;
    find_common(l->rules, l->n, rules, n, stay);
    for (size_t i = 0; i < l->n;) {
        size_t kept = i;
        while (kept < l->n && stay[kept] == TOR_NONE)
            kept++;
        const size_t until = kept < l->n ? stay[kept] : n;
        for (; next < until; next++)
            merged[m++] = rules[next];
        for (; i < kept; i++) {
            merged[m] = l->rules[i];
            merged[m++].dying = true;
        }
        if (kept < l->n) {
            merged[m] = l->rules[i++];
            merged[m++].rule = rules[next].rule;
            free(rules[next++].text);
        }
    }
    for (; next < n; next++)
        merged[m++] = rules[next];
    free(rules);
    free(l->rules);
    free(stay);
    l->rules = merged;
    l->n = m;
}

static void merge_section_list(struct placed_list *l, const struct tor_section *s,
                               const struct tor_acl *acl) {
    struct placed *rules = xcalloc(acl->n_rules + 1, sizeof *rules);
    for (size_t i = 0; i < acl->n_rules; i++) {
        char *text = policy_entries(s, &acl->rules[i], l->group);
        rules[i] = (struct placed){.text = text,
                                   .hash = hash_string(text, 0),
                                   .family = acl->rules[i].family,
                                   .entries = (uint32_t)tor_rule_entries(&acl->rules[i]),
                                   .fresh = true,
                                   .rule = (uint32_t)i};
    }
    policy_lists_merge(l, rules, acl->n_rules);
    l->changed = false;
    for (size_t i = 0; i < l->n; i++)
        l->changed |= l->rules[i].fresh || l->rules[i].dying;
}

static void merge_section(struct policy *p, const struct tor_section *s) {
    const size_t before = p->n;
    bool *named = xcalloc(before + 1, sizeof *named);
    p->lists = xrealloc(p->lists, (p->n + s->n_acls + 1) * sizeof *p->lists);
    for (size_t i = 0; i < s->n_acls; i++) {
        struct placed_list *l = find_list(p, s->acls[i].name);
        if (!l) {
            const uint8_t group = policy_lists_free_group(p);
            l = &p->lists[p->n++];
            *l = (struct placed_list){.group = group};
            ovs_strlcpy(l->name, s->acls[i].name, sizeof l->name);
        } else {
            named[l - p->lists] = true;
        }
        merge_section_list(l, s, &s->acls[i]);
    }
    for (size_t i = 0; i < before; i++)
        for (size_t k = 0; !named[i] && k < p->lists[i].n; k++)
            p->lists[i].rules[k].dying = true;
    free(named);
}

static bool policy_lists_fits(struct policy *p) {
    size_t entries[TOR_FAMILIES] = {0};
    for (size_t i = 0; i < p->n; i++) {
        if (!number_rules(&p->lists[i]))
            return false;
        for (size_t k = 0; k < p->lists[i].n; k++)
            entries[p->lists[i].rules[k].family] += p->lists[i].rules[k].entries;
    }
    for (int f = 0; f < TOR_FAMILIES; f++)
        if (entries[f] > TOR_RULES_MOST)
            return false;
    return true;
}

// ---- writing ----

static void want_entry(void *aux, const char *object, const char *action) {
    tor_want(aux, TOR_POLICY, "%s -> %s", object, action);
}
static void unwant_entry(void *aux, const char *object, const char *action) {
    (void)action;
    tor_unwant(aux, "%s", object);
}

static void want_fresh(struct tor *t, struct policy *p) {
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->lists[i].n; k++)
            if (p->lists[i].rules[k].fresh) {
                policy_each_entry(&p->lists[i].rules[k], want_entry, t->wanted);
                p->lists[i].rules[k].fresh = false;
            }
}

// From the end of each list. Lists that the section does not have any more are forgotten with their
// last rule.
static void unwant_dying(struct tor *t, struct policy *p) {
    size_t lists = 0;
    for (size_t i = 0; i < p->n; i++) {
        struct placed_list *l = &p->lists[i];
        size_t n = 0;
        bool there = false;
        for (size_t k = l->n; k-- > 0;)
            if (l->rules[k].dying)
                policy_each_entry(&l->rules[k], unwant_entry, t->wanted);
        for (size_t k = 0; k < l->n; k++) {
            if (l->rules[k].dying)
                free(l->rules[k].text);
            else
                l->rules[n++] = l->rules[k];
        }
        l->n = n;
        for (size_t a = 0; a < t->section->n_acls; a++)
            there |= strcmp(t->section->acls[a].name, l->name) == 0;
        if (there || n > 0)
            p->lists[lists++] = *l;
        else
            free(l->rules);
    }
    p->n = lists;
    p->dying = false;
}

static void policy_lists_refused(void *aux, const char *object, const char *why) {
    tor_event(aux, "alarm", "{s:s, s:s, s:s}", "alarm", "refused", "object", object, "why", why);
}

static void policy_lists_write_all(struct tor *t) {
    tor_wanted_flush(t->wanted, t->host.sw, SIZE_MAX, policy_lists_refused, t);
}

static void policy_lists_stop(struct tor *t) {
    if (t->host.pause)
        t->host.pause(t->host.aux);
}
static void policy_lists_go_on(struct tor *t) {
    if (t->host.resume)
        t->host.resume(t->host.aux);
}

// While no packet passes: everything goes, and comes again with priorities of its own.
static void rewrite(struct tor *t, struct policy *p) {
    policy_lists_stop(t);
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = p->lists[i].n; k-- > 0;)
            if (!p->lists[i].rules[k].fresh) {
                policy_each_entry(&p->lists[i].rules[k], unwant_entry, t->wanted);
                p->lists[i].rules[k].fresh = true;
            }
    policy_lists_write_all(t);
    unwant_dying(t, p);
    for (size_t i = 0; i < p->n; i++)
        if (!number_rules(&p->lists[i]))
            ovs_abort(0, "no priorities for %zu rules", p->lists[i].n);
    want_fresh(t, p);
    policy_lists_write_all(t);
    policy_lists_go_on(t);
}

void policy_lists_configure(struct tor *t, struct policy *p) {
    if (p->dying) { // the last configuration's: it is finished first
        policy_lists_stop(t);
        policy_lists_write_all(t);
        unwant_dying(t, p);
        policy_lists_write_all(t);
        policy_lists_go_on(t);
    }
    merge_section(p, t->section);
    if (policy_lists_fits(p))
        want_fresh(t, p);
    else
        rewrite(t, p);
    for (size_t i = 0; i < p->n; i++)
        for (size_t k = 0; k < p->lists[i].n; k++)
            p->dying |= p->lists[i].rules[k].dying;
}

// What the configuration wants is written before anything else that is wanted meanwhile, some of it
// in a pause.
#define PAUSES 64
void policy_lists_run(struct tor *t, struct policy *p) {
    for (int i = 0; p->dying && i < PAUSES && tor_wanted_waits(t->wanted); i++)
        tor_flush_once(t, policy_lists_refused, t);
    if (p->dying && !tor_wanted_waits(t->wanted))
        unwant_dying(t, p);
}
