// SPDX-License-Identifier: Apache-2.0
//
// tell: the engine's events that carry values (pipeline/trace.h).
#include "pipeline/switch/switch_impl.h"

#define MAX_WISHES 20u
// Of those below: which have a validity of their own.
enum { FIRST_VALID = 1, LAST_VALID = 3 };

static bool nobody_watches(const struct sk_core *core) {
    return !core->observer || !core->observer->everything;
}

static void tell_observer(const struct sk_core *core, const struct sk_packet *p,
                          struct sk_event e) {
    e.gress = SK_IN_ENGINE;
    e.bytes = sk_packet_data(p);
    e.length = p->len;
    core->observer->event(core->observer, p, &e);
}

// By the names of TNA's intrinsic metadata (tna-facts 5.3).
static uint32_t tell_list_wishes(const struct sk_ingress_out *out,
                                 struct sk_trace_value list[MAX_WISHES]) {
    const struct {
        const char *name;
        uint32_t width, value;
        bool there; // also when it is 0
    } all[] = {
        {"drop_ctl", 3, out->drop_ctl, false},
        {"ucast_egress_port", 9, out->ucast_port, out->ucast_valid},
        {"mcast_grp_a", 16, out->mcast_grp_a, out->mcast_a_valid},
        {"mcast_grp_b", 16, out->mcast_grp_b, out->mcast_b_valid},
        {"copy_to_cpu", 1, out->copy_to_cpu, false},
        {"icos_for_copy_to_cpu", 3, out->icos_for_copy_to_cpu, false},
        {"bypass_egress", 1, out->bypass_egress, false},
        {"deflect_on_drop", 1, out->deflect_on_drop, false},
        {"ingress_cos", 3, out->ingress_cos, false},
        {"qid", 7, out->qid, false},
        {"packet_color", 2, out->color, false},
        {"rid", 16, out->rid, false},
        {"level1_exclusion_id", 16, out->level1_exclusion_id, false},
        {"level2_exclusion_id", 9, out->level2_exclusion_id, false},
        {"level1_mcast_hash", 13, out->level1_mcast_hash, false},
        {"level2_mcast_hash", 13, out->level2_mcast_hash, false},
        {"resubmit", 1, out->resubmit, false},
        {"consumed", 1, out->consumed, false},
        {"register_twice", 1, out->twice, false},
    };
    uint32_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].there || (all[i].value && (i < FIRST_VALID || i > LAST_VALID)))
            list[n++] = (struct sk_trace_value){
                .name = all[i].name, .width = all[i].width, .low = all[i].value};
    return n;
}

void tell_wishes(const struct sk_core *core, const struct sk_packet *p,
                 const struct sk_ingress_out *out) {
    if (nobody_watches(core))
        return;
    struct sk_trace_value in[MAX_WISHES];
    uint32_t n = tell_list_wishes(out, in);
    tell_observer(
        core, p,
        (struct sk_event){.kind = SK_EV_WISHES, .port = p->ingress_port, .in = in, .n_in = n});
}

void tell_copy(const struct sk_core *core, const struct sk_packet *p, const struct destination *d,
               const struct sk_ingress_out *out, const char *why, uint16_t group) {
    if (nobody_watches(core))
        return;
    const struct sk_trace_value in = {.name = "group", .width = 16, .low = group};
    tell_observer(core, p,
                  (struct sk_event){.kind = SK_EV_COPY,
                                    .port = d->port,
                                    .number = d->rid,
                                    .name = why,
                                    .in = &in,
                                    .n_in = why[0] == 'm',
                                    .text = out->bypass_egress ? "bypass_egress" : NULL});
}

void tell_mirrored(const struct sk_core *core, const struct sk_packet *p,
                   const struct sk_mirror_out *m, uint16_t port, unsigned direction) {
    if (nobody_watches(core))
        return;
    tell_observer(core, p,
                  (struct sk_event){.kind = SK_EV_MIRRORED,
                                    .port = port,
                                    .number = m->session,
                                    .flags = m->header_bytes,
                                    .text = direction == SK_MIRROR_IN ? "ingress" : "egress"});
}
