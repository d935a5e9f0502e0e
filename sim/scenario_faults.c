// SPDX-License-Identifier: Apache-2.0
//
// The faults of a scenario.
#include "sim/scenario_impl.h"

#define MAX_US 3.6e9

static const char *const kinds[] = {
    "loss",       "duplicate",    "reorder",        "corrupt",        "link_down", "switch_restart",
    "host_crash", "slow_control", "worker_restart", "server_restart", "slow_cpu",  "migrate",
    NULL};
static const char *const keys[][12] = {
    {"kind", "chance", "links", "to", "rate", "packets"},
    {"kind", "chance", "links", "to", "rate"},
    {"kind", "chance", "links", "to", "rate", "by_us"},
    {"kind", "chance", "links", "to", "rate", "undetected"},
    {"kind", "chance", "links", "one", "at_us", "for_us"},
    {"kind", "chance", "switches", "one", "at_us", "for_us", "times"},
    {"kind", "chance", "hosts", "one", "at_us", "for_us"},
    {"kind", "chance", "switches", "delay_us"},
    {"kind", "chance", "hosts", "one", "at_us", "for_us", "times", "late_us"},
    {"kind", "chance", "hosts", "one", "at_us", "for_us", "times", "late_us"},
    {"kind", "chance", "switches", "one", "at_us", "for_us", "service_us"},
    {"kind", "chance", "at_us"},
};

static void read_packets(const struct sk_at *at, struct scn_fault *f) {
    const struct sk_at list = sk_at_member(at, "packets");
    f->n_packets = sk_at_length(&list);
    f->packets = scn_keep(&list, f->n_packets, sizeof *f->packets);
    for (size_t i = 0; i < f->n_packets; i++) {
        const struct sk_at item = sk_at_item(&list, i);
        f->packets[i] = (uint32_t)sk_at_number(&item, true, UINT32_MAX);
        if (i ? f->packets[i] <= f->packets[i - 1] : !f->packets[i])
            sk_at_fail(&item, "packets are counted from 1 and must be listed in ascending order");
    }
}

static void read_where(const struct scenario *s, const struct sk_at *at, struct scn_fault *f) {
    const struct sk_at links = sk_at_member(at, "links"), switches = sk_at_member(at, "switches"),
                       hosts = sk_at_member(at, "hosts");
    f->n_cables = sk_at_length(&links);
    f->cables = scn_keep(&links, f->n_cables, sizeof *f->cables);
    for (size_t i = 0; i < f->n_cables; i++) {
        const struct sk_at item = sk_at_item(&links, i);
        f->cables[i] = scn_cable_named(s, &item);
        for (size_t k = 0; k < i; k++)
            if (f->cables[k] == f->cables[i])
                sk_at_fail(&item, "is in the list twice");
    }
    if (links.value && !f->n_cables)
        sk_at_fail(&links, "is not a list of links; leave it out for all links");
    if (switches.value)
        f->stations = scn_stations(s, &switches, false, true, &f->n_stations);
    if (hosts.value)
        f->stations = scn_stations(s, &hosts, true, false, &f->n_stations);
}

static void read_fault(struct scenario *s, const struct sk_at *at, struct scn_fault *f) {
    static const char *const ways[] = {"both", "switches", "hosts", NULL};
    if (!sk_at_member(at, "kind").value) {
        sk_at_fail(at, "it has no kind");
        return;
    }
    f->kind = (enum scn_fault_kind)scn_choice(at, "kind", kinds, SCN_LOSS);
    sk_at_keys(at, keys[f->kind]);
    f->chance = scn_number(at, "chance", 0, 1, 1);
    f->rate = scn_range(at, "rate", 0, 1, 0);
    f->by_us = scn_range(at, "by_us", 0, MAX_US, 10);
    f->undetected = scn_flag(at, "undetected", false);
    f->one = scn_flag(at, "one", false);
    f->way = (enum scn_way)scn_choice(at, "to", ways, SCN_BOTH);
    f->at_us = scn_range(at, "at_us", 0, MAX_US, 0);
    f->for_us = scn_range(at, "for_us", 0, MAX_US, 0);
    f->delay_us = scn_range(at, "delay_us", 0, MAX_US, 0);
    f->late_us = scn_range(at, "late_us", 0, MAX_US, 0);
    f->service_us = scn_range(at, "service_us", 0.001, MAX_US, 1000);
    f->times = scn_range(at, "times", 0, 1000, 1);
    if (f->kind == SCN_MIGRATE && !s->controller)
        sk_at_fail(at, "the scenario has no \"controller\" that could move jobs");
    read_packets(at, f);
    read_where(s, at, f);
    if (f->n_packets && sk_at_member(at, "rate").value)
        sk_at_fail(at, "it has both a rate and packets; give one of them");
    if (f->kind <= SCN_CORRUPT && !sk_at_member(at, "rate").value && !f->n_packets)
        sk_at_fail(at,
                   f->kind == SCN_LOSS ? "it has neither a rate nor packets" : "it has no rate");
}

void scn_read_faults(struct scenario *s, const struct sk_at *root) {
    const struct sk_at list = sk_at_member(root, "faults");
    s->n_faults = sk_at_length(&list);
    s->faults = scn_keep(&list, s->n_faults, sizeof *s->faults);
    for (size_t i = 0; i < s->n_faults && !root->doc->failed; i++) {
        const struct sk_at item = sk_at_item(&list, i);
        if (!json_is_object(item.value))
            sk_at_fail(&item, "must be an object");
        else
            read_fault(s, &item, &s->faults[i]);
    }
}
