// SPDX-License-Identifier: Apache-2.0
//
// Ports that members of groups and actions of sets watch (P4Runtime specification, sections 9.2.2
// and 9.2.3): while the port is down, no packet is given to the member. Ports are looked at every
// 10 ms; a group of which one changed is written again with the members that are up.
#include <stdlib.h>

#include "base/memory.h"
#include "p4rt/p4rt_impl.h"

#define WATCH_NS   UINT64_C(10000000) // between two looks
#define WATCH_MOST 4096u              // from here on a group's members may watch no more

static bool watch_is_of(const struct p4rt_watch *w, const struct p4rt_profile *profile,
                        uint32_t group) {
    return w->profile == profile->info->preamble->id && w->group == group;
}

enum rpc_status p4rt_watch_read(const struct p4rt *p, const ProtobufCBinaryData *bytes,
                                int32_t number, struct p4rt_watch *out, struct sk_error *err) {
    uint64_t id = (uint64_t)number, port = 0;
    *out = (struct p4rt_watch){.wanted = bytes ? bytes->len > 0 : number != 0, .as_number = !bytes};
    if (!out->wanted)
        return RPC_OK;
    if (p->n_watches >= WATCH_MOST)
        return p4rt_fail(err, RPC_RESOURCE_EXHAUSTED, "%zu members watch ports: no more may",
                         p->n_watches);
    const enum rpc_status status =
        bytes ? p4rt_words(bytes, 32, false, "a watched port's number", &id, err) : RPC_OK;
    if (status == RPC_OK && p4rt_port_from(p, id, &port) && port < SK_PORTS &&
        sk_port_exists((unsigned)port)) {
        out->port = (uint16_t)port;
        out->up = sk_switch_port_is_up(brt_switch(p->b), out->port);
        return RPC_OK;
    }
    return p4rt_fail(err, RPC_INVALID_ARGUMENT, "a watched port does not exist");
}

void p4rt_watch_drop(struct p4rt *p, const struct p4rt_profile *profile, uint32_t group) {
    size_t kept = 0;
    for (size_t i = 0; i < p->n_watches; i++)
        if (!watch_is_of(&p->watches[i], profile, group))
            p->watches[kept++] = p->watches[i];
    p->n_watches = kept;
}

void p4rt_watch_add(struct p4rt *p, const struct p4rt_profile *profile, uint32_t group,
                    uint32_t member, const struct p4rt_watch *w) {
    if (!w->wanted)
        return;
    p->watches = sk_grow(p->watches, p->n_watches, &p->watches_room, sizeof *p->watches);
    p->watches[p->n_watches] = *w;
    p->watches[p->n_watches].profile = profile->info->preamble->id;
    p->watches[p->n_watches].group = group;
    p->watches[p->n_watches++].member = member;
}

const struct p4rt_watch *p4rt_watch_find(const struct p4rt *p, const struct p4rt_profile *profile,
                                         uint32_t group, uint32_t member) {
    for (size_t i = 0; i < p->n_watches; i++)
        if (watch_is_of(&p->watches[i], profile, group) && p->watches[i].member == member)
            return &p->watches[i];
    return NULL;
}

bool p4rt_watch_bytes(struct p4rt *p, const struct p4rt_watch *w, ProtobufCBinaryData *bytes,
                      int32_t *number) {
    const uint64_t id = p4rt_port_number(p, w->port);
    *number = (int32_t)id;
    return w->as_number || p4rt_bytes(brt_scratch_memory(p->b), &id, 64, false, bytes);
}

void p4rt_watch_clear(struct p4rt *p) {
    free(p->watches);
    p->watches = NULL;
    p->n_watches = p->watches_room = 0;
}

// ---- what became of ports ----

// The group again, with the members that are up now. False: it is gone.
static bool watch_rewrite(struct p4rt *p, const struct p4rt_profile *profile, uint32_t group) {
    struct brt_memory *m = brt_scratch_memory(p->b);
    struct brt_change c;
    struct sk_error err;
    bool existed;
    if (!profile->groups || p4rt_begin(p, profile->groups, P4__V1__UPDATE__TYPE__MODIFY, &c, &err))
        return false;
    const struct sk_group *g =
        sk_selector_find(brt_selector_in(p->b, c.table, c.pipes.list[0]), group);
    c.members = g ? brt_take(m, (g->n + 1) * sizeof *c.members) : NULL;
    if (!c.members)
        return g; // memory is short: at the next look
    c.index = group;
    c.has_key = c.has_members = true;
    for (uint32_t i = 0; i < g->n; i++) {
        const struct p4rt_watch *w = p4rt_watch_find(p, profile, group, g->members[i].member);
        c.members[c.n_members] = g->members[i];
        c.members[c.n_members++].up = w ? w->up : g->members[i].up;
    }
    brt_apply(p->b, &c, &existed, &err);
    brt_memory_reuse(m);
    return true;
}

void p4rt_watch_poll(struct p4rt *p, uint64_t now_ns) {
    struct sk_pauses *pauses = NULL;
    if (!p->n_watches || !p->info || now_ns < p->watch_due)
        return;
    p->watch_due = now_ns + WATCH_NS;
    for (size_t i = 0; i < p->n_watches; i++) {
        const struct p4rt_watch was = p->watches[i];
        const struct p4rt_profile *profile = p4rt_info_profile(p->info, was.profile);
        const bool up = sk_switch_port_is_up(brt_switch(p->b), was.port);
        if (up == was.up)
            continue;
        if (pauses)
            sk_pauses_breathe(pauses);
        else
            sk_pauses_begin(pauses = brt_pauses(p->b, true));
        // what others of the group say of this port changes with it
        for (size_t k = 0; k < p->n_watches; k++)
            if (p->watches[k].profile == was.profile && p->watches[k].group == was.group)
                p->watches[k].up = sk_switch_port_is_up(brt_switch(p->b), p->watches[k].port);
        if (profile && !watch_rewrite(p, profile, was.group))
            p4rt_watch_drop(p, profile, was.group);
    }
    if (pauses)
        sk_pauses_end(pauses);
}
