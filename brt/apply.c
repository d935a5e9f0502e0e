// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "brt/brt_impl.h"
#include "brt/fixed/fixed.h"
#include "control/tables/idle.h"

static enum brt_code apply_failure(const struct brt_change *c, int error, struct sk_error *err) {
    const char *name = c->table->name;
    if (error == SK_E_FULL)
        return brt_fail(err, BRT_NO_SPACE, "table '%s' is full: it holds %llu entries", name,
                        (unsigned long long)c->table->size);
    return brt_fail(err, brt_of_table_error(error), "table '%s': %s", name,
                    sk_table_strerror(error));
}

static struct sk_table *brt_apply_table(struct brt *b, const struct brt_change *c, unsigned i) {
    return brt_table_of(b, c, i);
}

// ---- what hangs on entries ----

static enum brt_code apply_check(const struct brt_change *c, const struct sk_entry *e,
                                 struct sk_error *err) {
    if (!c->attached.given)
        return BRT_OK;
    const struct sk_holder holder = sk_holder_of_table(c->table->desc);
    if (sk_attached_check(&holder, &c->attached, e->meter, err)) {
        sk_error_prefix(err, "table '%s'", c->table->name);
        return BRT_INVALID_ARG;
    }
    return BRT_OK;
}

static void brt_apply_attached(struct brt *b, const struct brt_change *c, struct sk_entry *e,
                               bool first) {
    if (c->reset_stats)
        e->packets = e->bytes = e->seen_packets = e->seen_bytes = 0;
    if (c->reset_ttl && c->table->desc->idle_timeout)
        sk_idle_start(e, e->idle.ttl_ms, sk_switch_now(b->now.sw));
    if (c->attached.given) {
        const struct sk_holder holder = sk_holder_of_table(c->table->desc);
        sk_attached_apply(&holder, &c->attached, e, first, sk_switch_now(b->now.sw));
    }
    const uint32_t words = c->table->desc->direct_words;
    for (uint32_t i = 0; c->has_direct && e->direct && i < words; i++)
        if (c->has_direct[i])
            e->direct[i] = e->direct[words + i] = c->direct[i];
}

static struct sk_entry *apply_find(struct brt *b, const struct brt_change *c, unsigned i) {
    struct sk_table *t = brt_apply_table(b, c, i);
    return c->is_default ? sk_table_default(t) : sk_table_find(t, c->value, c->mask, c->priority);
}

// Does the change say anything of what hangs on entries? Else they need not be looked for.
static bool apply_has_attached(const struct brt_change *c) {
    return c->reset_stats || c->reset_ttl || c->attached.given || c->has_direct;
}

static void apply_attached_everywhere(struct brt *b, const struct brt_change *c) {
    if (!apply_has_attached(c))
        return;
    for (unsigned i = 0; c->table->desc && i < c->pipes.n; i++) {
        struct sk_entry *e = apply_find(b, c, i);
        if (e)
            brt_apply_attached(b, c, e, i == 0);
    }
}

static enum brt_code apply_check_everywhere(struct brt *b, const struct brt_change *c,
                                            struct sk_error *err) {
    for (unsigned i = 0; i < c->pipes.n; i++) {
        const struct sk_entry *e = apply_find(b, c, i);
        const enum brt_code code =
            e ? apply_check(c, e, err) : apply_failure(c, SK_E_NOT_FOUND, err);
        if (!code && c->same_action && e->action != c->action)
            return brt_fail(err, BRT_INVALID_ARG,
                            "table '%s': the entry has another action: arguments are missing",
                            c->table->name);
        if (code)
            return code;
    }
    return BRT_OK;
}

// ---- entries ----

static enum brt_code apply_insert(struct brt *b, const struct brt_change *c, struct sk_error *err) {
    struct sk_meter_cell none = {0};
    const enum brt_code code = apply_check(c, &(struct sk_entry){.meter = &none}, err);
    if (code)
        return code;
    for (unsigned i = 0; i < c->pipes.n; i++) {
        struct sk_table *t = brt_apply_table(b, c, i);
        const int error = sk_table_add(t, c->value, c->mask, c->priority, c->action, c->data);
        sk_table_quiesce(t);
        if (error == SK_OK)
            continue;
        while (i-- > 0) {
            t = brt_apply_table(b, c, i);
            sk_table_delete(t, c->value, c->mask, c->priority);
            sk_table_quiesce(t);
        }
        return apply_failure(c, error, err);
    }
    apply_attached_everywhere(b, c);
    return BRT_OK;
}

// Every pipe is asked before one is changed.
typedef int apply_fn(const struct brt_change *c, struct sk_table *t);

static enum brt_code apply_change(struct brt *b, const struct brt_change *c, apply_fn *may,
                                  apply_fn *change, struct sk_error *err) {
    for (unsigned i = 0; may && i < c->pipes.n; i++) {
        const int error = may(c, brt_apply_table(b, c, i));
        if (error)
            return apply_failure(c, error, err);
    }
    for (unsigned i = 0; i < c->pipes.n; i++) {
        struct sk_table *t = brt_apply_table(b, c, i);
        const int error = change(c, t);
        sk_table_quiesce(t);
        if (error)
            return apply_failure(c, error, err);
    }
    return BRT_OK;
}

static int apply_may_modify(const struct brt_change *c, struct sk_table *t) {
    return sk_table_may_modify(t, c->value, c->mask, c->priority, c->action, c->data);
}

static int apply_do_modify(const struct brt_change *c, struct sk_table *t) {
    return sk_table_modify(t, c->value, c->mask, c->priority, c->action, c->data);
}

// Without an action, only what hangs on the entry changes.
static enum brt_code apply_modify(struct brt *b, const struct brt_change *c, struct sk_error *err) {
    enum brt_code code = apply_check_everywhere(b, c, err);
    if (code == BRT_OK && c->table->desc->const_entries)
        return apply_failure(c, SK_E_CONST, err);
    if (code == BRT_OK && c->has_action)
        code = apply_change(b, c, apply_may_modify, apply_do_modify, err);
    if (code == BRT_OK)
        apply_attached_everywhere(b, c);
    return code;
}

static int apply_may_delete(const struct brt_change *c, struct sk_table *t) {
    return sk_table_may_delete(t, c->value, c->mask, c->priority);
}

static int apply_do_delete(const struct brt_change *c, struct sk_table *t) {
    return sk_table_delete(t, c->value, c->mask, c->priority);
}

// Packets meet a table that empties.
static enum brt_code apply_clear(struct brt *b, const struct brt_change *c, struct sk_error *err) {
    for (unsigned i = 0; i < c->pipes.n; i++) {
        const int error = sk_table_may_clear(brt_apply_table(b, c, i));
        if (error)
            return apply_failure(c, error, err);
    }
    if (c->table->desc && c->table->desc->const_entries)
        return apply_failure(c, SK_E_CONST, err);
    for (unsigned i = 0; i < c->pipes.n; i++) {
        struct sk_table *t = brt_apply_table(b, c, i);
        sk_table_clear_between(t, sk_pauses_between, &b->pauses);
        sk_table_quiesce(t);
    }
    return BRT_OK;
}

// ---- the default entry ----

static int apply_may_default(const struct brt_change *c, struct sk_table *t) {
    if (c->table->desc->const_default)
        return SK_E_CONST;
    return sk_table_may_set_default(t, c->action, c->data);
}

static int apply_do_default(const struct brt_change *c, struct sk_table *t) {
    return sk_table_set_default(t, c->action, c->data);
}

static int apply_do_reset(const struct brt_change *c, struct sk_table *t) {
    if (!c->table->desc->const_default)
        sk_table_reset_default(t);
    return SK_OK;
}

static enum brt_code apply_default(struct brt *b, const struct brt_change *c,
                                   struct sk_error *err) {
    if (c->type == BFRT_PROTO__UPDATE__TYPE__DELETE)
        return apply_change(b, c, NULL, apply_do_reset, err);
    enum brt_code code = apply_check_everywhere(b, c, err);
    if (code == BRT_OK && c->has_action)
        code = apply_change(b, c, apply_may_default, apply_do_default, err);
    if (code == BRT_OK)
        apply_attached_everywhere(b, c);
    return code;
}

static bool apply_is_anywhere(struct brt *b, const struct brt_change *c) {
    for (unsigned i = 0; i < c->pipes.n; i++)
        if (apply_find(b, c, i))
            return true;
    return false;
}

static bool apply_is_of_entry(const struct brt_change *c) {
    return !c->fixed && !c->attribute && !c->operation && !c->is_default && c->has_key &&
           c->table->kind == BRT_MATCH;
}

void brt_prefetch(struct brt *b, const struct brt_change *c) {
    for (unsigned i = 0; apply_is_of_entry(c) && i < c->pipes.n; i++)
        sk_table_prefetch(brt_apply_table(b, c, i), c->value);
}

void brt_tend(struct brt *b, const struct brt_change *c) {
    for (unsigned i = 0; apply_is_of_entry(c) && i < c->pipes.n; i++)
        sk_table_tend(brt_apply_table(b, c, i));
}

enum brt_code brt_apply(struct brt *b, const struct brt_change *c, bool *existed,
                        struct sk_error *err) {
    *existed = false;
    if (c->fixed)
        return fixed_apply(b, c, existed, err);
    if (c->attribute)
        return brt_attribute_apply(b, c, err);
    if (c->operation)
        return brt_operation_apply(b, c, err);
    if (brt_is_snapshot(c->table))
        return brt_snapshot_apply(b, c, err);
    if (c->table->kind == BRT_PORT_METADATA)
        return brt_port_metadata_apply(b, c, existed, err);
    if (brt_has_cells(c->table))
        return brt_cell_apply(b, c, err);
    if (brt_has_groups(c->table))
        return brt_group_apply(b, c, existed, err);
    if (brt_has_hash(c->table))
        return brt_hash_apply(b, c, err);
    if (c->is_default)
        return apply_default(b, c, err);
    switch (c->type) {
    case BFRT_PROTO__UPDATE__TYPE__INSERT:
        return apply_insert(b, c, err);
    case BFRT_PROTO__UPDATE__TYPE__MODIFY:
        return apply_modify(b, c, err);
    case BFRT_PROTO__UPDATE__TYPE__INSERT_OR_MODIFY:
        *existed = apply_is_anywhere(b, c);
        return *existed ? apply_modify(b, c, err) : apply_insert(b, c, err);
    default:
        break;
    }
    return c->has_key ? apply_change(b, c, apply_may_delete, apply_do_delete, err)
                      : apply_clear(b, c, err);
}
