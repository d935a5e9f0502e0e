// SPDX-License-Identifier: Apache-2.0
#include "control/config/config_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "control/tables/attached.h"
#include "control/config/ports.h"
#include "control/tables/entry.h"
#include "control/tables/hashes.h"
#include "control/tables/masks.h"
#include "control/tables/names.h"
#include "control/tables/values.h"
#include "pipeline/tm/pre.h"

static int set_node(struct sk_switch *sw, const struct sk_config_item *item, struct sk_error *err) {
    int rc = sk_pre_node_set_lags(sw, (uint32_t)item->index, item->rid, item->ports, item->n_ports,
                                  item->lags, item->n_lags);
    return rc ? sk_fail(err, "%s", strerror(-rc)) : 0;
}

static int config_apply_set_group(struct sk_switch *sw, const struct sk_config_item *item,
                                  struct sk_error *err) {
    int rc = sk_pre_group_set(sw, (uint16_t)item->index, item->members, item->n_members);
    if (rc == -ENOENT)
        return sk_fail(err, "it contains a node that is not in \"nodes\"");
    if (rc == -EEXIST)
        return sk_fail(err, "it contains a node twice");
    return rc ? sk_fail(err, "%s", strerror(-rc)) : 0;
}

static int set_register(struct sk_switch *sw, const struct sk_config_item *item,
                        struct sk_error *err) {
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < item->n_words; i++)
        rc = sk_control_register_write(sw, item->name, item->index, item->words[i].name,
                                       item->words[i].value, item->entry.pipe, err);
    return rc;
}

static int set_hash(struct sk_switch *sw, const struct sk_config_item *item, struct sk_error *err) {
    int pipe = item->entry.pipe, rc = 0;
    if (item->n_texts)
        rc = sk_control_hash_fields(sw, item->name, item->texts, item->n_texts, pipe, err);
    if (rc == 0 && item->n_words)
        rc = sk_control_hash_algorithm(sw, item->name, item->words, item->n_words, pipe, err);
    return rc;
}

int sk_item_apply(struct sk_switch *sw, const struct sk_config_item *item, struct sk_error *err) {
    switch (item->kind) {
    case ENTRY:
        return sk_bf_apply(sw, item->bf, err);
    case MEMBER:
        return sk_control_entry_add(sw, &item->entry, err);
    case DEFAULT:
        return sk_control_default_set(sw, &item->entry, err);
    case REGISTER:
        return set_register(sw, item, err);
    case METER:
        return sk_control_meter_write(sw, NULL, item->name, item->index, item->words, item->n_words,
                                      item->entry.pipe, err);
    case COUNTER:
        return sk_control_counter_write(sw, item->name, item->index, &item->count, err);
    case VALUE_SET:
        return sk_control_value_set_add(sw, item->name, item->entry.keys, item->entry.n_keys, err);
    case HASH:
        return set_hash(sw, item, err);
    case KEY_MASK:
        return sk_control_key_mask_set(sw, item->name, item->words, item->n_words, item->entry.pipe,
                                       err);
    case FILLED:
        return sk_control_table_fill_text(sw, item->name, item->entry.action, item->texts[0],
                                          item->entry.pipe, err);
    case MEMBERS_GROUP:
        return sk_control_group_add(sw, &item->group, err);
    case NODE:
        return set_node(sw, item, err);
    case GROUP:
        return config_apply_set_group(sw, item, err);
    case TM:
        return sk_tm_apply(sw, item->tm, err);
    default:
        return sk_pre_prune_set(sw, (uint16_t)item->index, item->ports, item->n_ports)
                   ? sk_fail(err, "it cannot be set")
                   : 0;
    }
}

// ---- changing it ----

static bool member_is_there(struct sk_switch *sw, const struct sk_entry_spec *e) {
    struct sk_found found;
    return sk_control_entry_find(sw, e, &found, NULL) == 0;
}

static int item_set(struct sk_switch *sw, const struct sk_config_item *item, struct sk_error *err) {
    const struct sk_group_spec *g = &item->group;
    switch (item->kind) {
    case ENTRY:
        return sk_bf_set(sw, item->bf, err);
    case MEMBER:
        return member_is_there(sw, &item->entry) ? sk_control_entry_modify(sw, &item->entry, err)
                                                 : sk_control_entry_add(sw, &item->entry, err);
    case VALUE_SET:
        sk_control_value_set_delete(sw, item->name, item->entry.keys, item->entry.n_keys, NULL);
        return sk_item_apply(sw, item, err);
    case MEMBERS_GROUP:
        return sk_control_group_exists(sw, g->selector, g->id, g->pipe)
                   ? sk_control_group_modify(sw, g, err)
                   : sk_control_group_add(sw, g, err);
    case HASH:
        sk_control_hash_reset(sw, item->name, item->entry.pipe, NULL);
        return sk_item_apply(sw, item, err);
    default:
        return sk_item_apply(sw, item, err);
    }
}

// What can be in some of its pipes only: after a change by pipe, or of another program's pipes. The
// object that has it; false: of another kind.
static bool item_object(const struct sk_switch *sw, const struct sk_config_item *item,
                        struct sk_object *o) {
    const bool bf = item->kind == ENTRY;
    const bool group = bf ? item->bf->kind == SK_BF_GROUP : item->kind == MEMBERS_GROUP;
    const bool entry =
        bf ? item->bf->kind == SK_BF_MEMBER || item->bf->kind == SK_BF_ENTRY : item->kind == MEMBER;
    const char *const selector = bf ? item->bf->group.selector : item->group.selector;
    const char *const table = bf ? item->bf->entry.table : item->entry.table;
    return (group && sk_find_object(sw, SK_SELECTOR, selector, o, NULL) == 0) ||
           (entry && sk_find_object(sw, SK_TABLE, table, o, NULL) == 0);
}

// The item in one pipe.
struct item_of_pipe {
    struct sk_config_item item;
    struct sk_bf_entry bf;
    bool there;
};

static void item_of_pipe(struct sk_switch *sw, const struct sk_config_item *item, int pipe,
                         struct item_of_pipe *out) {
    out->item = *item;
    out->item.entry.pipe = out->item.group.pipe = pipe;
    if (item->kind == ENTRY) {
        out->bf = *item->bf;
        out->bf.entry.pipe = out->bf.group.pipe = pipe;
        out->item.bf = &out->bf;
        out->there = sk_bf_is_there(sw, &out->bf);
    } else if (item->kind == MEMBER)
        out->there = member_is_there(sw, &out->item.entry);
    else
        out->there =
            sk_control_group_exists(sw, item->group.selector, item->group.id, out->item.group.pipe);
}

// An item of all pipes that is in some of them: 'of' is it in each, *n of them. False: it is in all
// or in none.
static bool item_is_in_some(struct sk_switch *sw, const struct sk_config_item *item,
                            struct item_of_pipe of[SK_PIPES], size_t *n) {
    struct sk_object o;
    size_t there = 0;
    *n = 0;
    const int pipe = item->kind == ENTRY           ? item->bf->entry.pipe
                     : item->kind == MEMBERS_GROUP ? item->group.pipe
                                                   : item->entry.pipe;
    if (pipe >= 0 || !item_object(sw, item, &o))
        return false;
    for (unsigned i = 0; i < SK_PIPES; i++)
        if (sk_object_in_pipe(sw, &o, i)) {
            item_of_pipe(sw, item, (int)i, &of[*n]);
            there += of[(*n)++].there;
        }
    return there > 0 && there < *n;
}

// Where it is not yet comes first: that may be refused, and is taken back.
static int item_set_in_each(struct sk_switch *sw, const struct item_of_pipe *of, size_t n,
                            struct sk_error *err) {
    struct sk_error ignored;
    for (int there = 0; there <= 1; there++)
        for (size_t i = 0; i < n; i++) {
            const int rc = of[i].there == there ? item_set(sw, &of[i].item, err) : 0;
            for (size_t k = 0; rc && !there && k < i; k++)
                if (!of[k].there)
                    sk_item_remove(sw, &of[k].item, &ignored);
            if (rc)
                return rc;
        }
    return 0;
}

int sk_item_set(struct sk_switch *sw, const struct sk_config_item *item, struct sk_error *err) {
    struct item_of_pipe of[SK_PIPES];
    size_t n;
    const int rc = item_set(sw, item, err);
    return rc < 0 && item_is_in_some(sw, item, of, &n) ? item_set_in_each(sw, of, n, err) : rc;
}

static int gone(int rc, struct sk_error *err) {
    return rc == -ENOENT ? 1 : rc ? sk_fail(err, "%s", strerror(-rc)) : 0;
}

static int remove_tm(struct sk_switch *sw, const struct sk_tm_item *i, struct sk_error *err) {
    switch (i->kind) {
    case SK_TM_MIRROR:
        return gone(sk_mirror_set(sw, (uint16_t)i->id, &(struct sk_mirror_session){0}), err);
    case SK_TM_LAG:
        return gone(sk_pre_lag_set(sw, (uint8_t)i->id, &(struct sk_pre_lag){0}), err);
    case SK_TM_ECMP:
        return gone(sk_pre_ecmp_delete(sw, i->id), err);
    case SK_TM_BACKUP:
        return gone(sk_pre_backup_set(sw, i->port, i->port), err);
    case SK_TM_GLOBAL:
        sk_pre_global_rid(sw, 0);
        return 0;
    case SK_TM_POOL:
        return gone(sk_switch_app_pool(sw, i->id, &(struct sk_app_pool){0}), err);
    case SK_TM_QUEUE:
        return gone(sk_switch_port_queue(sw, i->port, &(struct sk_port_queue){0}), err);
    case SK_TM_DEFLECT:
        sk_switch_deflect_to(sw, SK_PORT_INVALID, 0);
        return 0;
    case SK_TM_BUFFER:
        return 0; // nobody sends it any more
    default: {
        struct sk_pktgen_app off = i->app;
        off.enabled = false;
        return gone(sk_pktgen_set(sw, i->pipe, i->id, &off, sk_switch_now(sw)), err);
    }
    }
}

static int item_remove(struct sk_switch *sw, const struct sk_config_item *item,
                       struct sk_error *err) {
    const struct sk_group_spec *g = &item->group;
    switch (item->kind) {
    case ENTRY:
        return sk_bf_remove(sw, item->bf, err);
    case MEMBER:
        return member_is_there(sw, &item->entry) ? sk_control_entry_delete(sw, &item->entry, err)
                                                 : 1;
    case DEFAULT:
        return sk_control_default_reset(sw, item->entry.table, item->entry.pipe, err);
    case METER:
        return sk_control_meter_reset(sw, NULL, item->name, item->index, item->entry.pipe, err);
    case VALUE_SET:
        sk_control_value_set_delete(sw, item->name, item->entry.keys, item->entry.n_keys, NULL);
        return 0;
    case NODE:
        return gone(sk_pre_node_delete(sw, (uint32_t)item->index), err);
    case GROUP:
        return gone(sk_pre_group_delete(sw, (uint16_t)item->index), err);
    case PRUNE:
        return gone(sk_pre_prune_set(sw, (uint16_t)item->index, NULL, 0), err);
    case MEMBERS_GROUP:
        return sk_control_group_exists(sw, g->selector, g->id, g->pipe)
                   ? sk_control_group_delete(sw, g->selector, g->id, g->pipe, err)
                   : 1;
    case HASH:
        return sk_control_hash_reset(sw, item->name, item->entry.pipe, err);
    case KEY_MASK:
        return sk_control_key_mask_set(sw, item->name, NULL, 0, item->entry.pipe, err);
    case FILLED:
        return sk_control_table_clear(sw, NULL, item->name, item->entry.pipe, err);
    case TM:
        return remove_tm(sw, item->tm, err);
    default: // registers and counters: what they count is theirs
        return 0;
    }
}

int sk_item_remove(struct sk_switch *sw, const struct sk_config_item *item, struct sk_error *err) {
    struct item_of_pipe of[SK_PIPES];
    size_t n;
    int rc = item_remove(sw, item, err);
    if (rc != 1 || !item_is_in_some(sw, item, of, &n))
        return rc;
    rc = 0;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = of[i].there ? item_remove(sw, &of[i].item, err) : 0;
    return rc;
}

// ---- all of it ----

struct cell {
    const struct sk_config_item *item;
    const char *name; // as the program says it
};

static int by_cell(const void *a, const void *b) {
    const struct cell *x = a, *y = b;
    const int order = strcmp(x->name, y->name), pipes = x->item->entry.pipe - y->item->entry.pipe;
    if (order || x->item->index != y->item->index)
        return order ? order : x->item->index < y->item->index ? -1 : 1;
    return pipes ? pipes : x->item < y->item ? -1 : x->item > y->item;
}

// Two fields of a cell may be said apart, and a cell of one pipe after that of all.
static bool says_again(const struct sk_config_item *a, const struct sk_config_item *b) {
    for (size_t i = 0; i < a->n_words; i++)
        for (size_t k = 0; k < b->n_words; k++) {
            const char *x = a->words[i].name, *y = b->words[k].name;
            if (!x || !y || strcmp(x, y) == 0)
                return true;
        }
    return false;
}

// Of a register's cell that is there twice, only one value can be meant.
static int check_cells(const struct sk_config *c, const struct sk_switch *sw,
                       struct sk_error *err) {
    struct cell *cells = calloc(c->private->n + 1, sizeof *cells);
    size_t n = 0;
    int rc = 0;
    if (!cells)
        abort();
    for (size_t i = 0; i < c->private->n; i++) {
        const struct sk_config_item *item = &c->private->items[i];
        struct sk_object o;
        if (item->kind == REGISTER && !sk_find_object(sw, SK_REGISTER, item->name, &o, NULL))
            cells[n++] = (struct cell){item, sk_object_name(&o)};
    }
    qsort(cells, n, sizeof *cells, by_cell);
    for (size_t i = 1; rc == 0 && i < n; i++) {
        const struct sk_config_item *a = cells[i - 1].item, *b = cells[i].item;
        char place[192];
        if (strcmp(cells[i - 1].name, cells[i].name) != 0 || a->index != b->index ||
            a->entry.pipe != b->entry.pipe || !says_again(a, b))
            continue;
        sk_at_place(&b->at, place, sizeof place);
        rc = sk_fail(err, "%s: cell %" PRIu64 " of register '%s' is listed twice", place, b->index,
                     cells[i].name);
    }
    free(cells);
    return rc;
}

int sk_config_apply(const struct sk_config *c, struct sk_switch *sw, struct sk_error *err) {
    if (check_cells(c, sw, err) || sk_config_apply_ports(c, sw, err))
        return -1;
    if (c->has_cpu_port)
        sk_switch_cpu_port(sw, c->cpu_port);
    for (size_t i = 0; i < c->n_loopback; i++)
        sk_switch_port_loopback(sw, c->loopback[i], true);
    for (size_t i = 0; i < c->private->n; i++) {
        int rc = sk_item_apply(sw, &c->private->items[i], err);
        if (rc) {
            char place[192];
            sk_at_place(&c->private->items[i].at, place, sizeof place);
            sk_error_prefix(err, "%s", place);
            return rc;
        }
    }
    sk_switch_faults(sw, c->loss, c->fault_seed);
    return 0;
}
