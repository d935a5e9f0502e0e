// SPDX-License-Identifier: Apache-2.0
//
// A client that commits the program with VERIFY_AND_COMMIT begins with what the program has at its
// start (P4Runtime specification, section 10).
#include <string.h>

#include "p4rt/p4rt_impl.h"

static enum rpc_status clear_one(struct p4rt *p, const struct brt_table *t, bool is_default,
                                 struct sk_error *err) {
    struct brt_change c;
    bool existed;
    const enum rpc_status status = p4rt_begin(p, t, P4__V1__UPDATE__TYPE__DELETE, &c, err);
    c.is_default = is_default;
    if (status || (!is_default && t->desc && t->desc->const_entries))
        return status;
    return brt_rpc_status(brt_apply(p->b, &c, &existed, err));
}

// What names others goes before them.
static enum rpc_status p4rt_clear_tables(struct p4rt *p, struct sk_pauses *pauses,
                                         struct sk_error *err) {
    const struct p4rt_info *info = p->info;
    enum rpc_status status = RPC_OK;
    for (size_t i = 0; status == RPC_OK && i < info->n_tables; i++) {
        status = clear_one(p, info->tables[i].table, false, err);
        if (status == RPC_OK)
            status = clear_one(p, info->tables[i].table, true, err);
        sk_pauses_breathe(pauses);
    }
    for (size_t i = 0; status == RPC_OK && i < info->n_profiles; i++) {
        if (info->profiles[i].groups)
            status = clear_one(p, info->profiles[i].groups, false, err);
        if (status == RPC_OK)
            status = clear_one(p, info->profiles[i].members, false, err);
        sk_pauses_breathe(pauses);
    }
    return status;
}

enum rpc_status p4rt_clear(struct p4rt *p, struct sk_error *err) {
    struct sk_pauses *pauses = brt_pauses(p->b, true);
    sk_pauses_begin(pauses);
    enum rpc_status status = p4rt_clear_tables(p, pauses, err);
    for (size_t i = 0; status == RPC_OK && i < p->info->n_arrays; i++) {
        status = clear_one(p, p->info->arrays[i].table, false, err);
        sk_pauses_breathe(pauses);
    }
    if (status == RPC_OK)
        p4rt_sets_clear(p->info);
    p4rt_replicas_clear(p);
    sk_pauses_end(pauses);
    p4rt_notes_clear(p);
    p4rt_watch_clear(p);
    memset(p->info->digests, 0, p->info->message->n_digests * sizeof *p->info->digests);
    return status;
}
