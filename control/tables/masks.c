// SPDX-License-Identifier: Apache-2.0
#include "control/tables/masks.h"

#include "control/tables/names.h"
#include "control/tables/values.h"

struct target {
    struct sk_object object;
    const struct sk_table_desc *desc;
    struct sk_pipe_list pipes;
};

static int masks_find(struct sk_switch *sw, const char *table, int pipe, struct target *t,
                      struct sk_error *err) {
    int rc = table ? sk_find_object(sw, SK_TABLE, table, &t->object, err)
                   : sk_fail(err, "a table name is missing");
    if (rc)
        return rc;
    t->desc = t->object.desc->tables[t->object.index];
    if (!t->desc->key_masks)
        return sk_fail(err, "table '%s' has no key masks: it has no @dynamic_table_key_masks(1)",
                       t->desc->name);
    return sk_find_pipes(sw, &t->object, pipe, &t->pipes, err);
}

static struct sk_table *masks_table_in(struct sk_switch *sw, const struct target *t, unsigned i) {
    return t->object.desc->table(sk_switch_pipe(sw, t->pipes.list[i]), t->object.index);
}

static void all_bits(const struct sk_field_desc *f, uint64_t *words) {
    for (uint32_t left = f->width; left > 0; left -= left < 64 ? left : 64)
        *words++ = left < 64 ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
}

static int read_masks(const struct sk_table_desc *d, const struct sk_named_value *masks, size_t n,
                      uint64_t *words, struct sk_error *err) {
    bool given[SK_MAX_KEY_WORDS] = {false};
    uint32_t at[SK_MAX_KEY_WORDS], next = 0;
    for (uint32_t i = 0; i < d->n_keys; i++) {
        at[i] = next;
        all_bits(&d->keys[i], words + next);
        next += sk_words(d->keys[i].width);
    }
    for (size_t k = 0; k < n; k++) {
        int i = sk_find_field("key field", d->keys, d->n_keys, masks[k].name, err);
        if (i < 0)
            return i;
        if (given[i])
            return sk_fail(err, "key field '%s' is given twice", d->keys[i].name);
        given[i] = true;
        const struct sk_field_desc bits = {.name = d->keys[i].name, .width = d->keys[i].width};
        int rc = sk_value_parse(masks[k].value, &bits, words + at[i], err);
        if (rc) {
            sk_error_prefix(err, "mask of key field '%s'", d->keys[i].name);
            return rc;
        }
    }
    return 0;
}

int sk_control_key_mask_set(struct sk_switch *sw, const char *table,
                            const struct sk_named_value *masks, size_t n, int pipe,
                            struct sk_error *err) {
    struct target t;
    uint64_t words[SK_MAX_KEY_WORDS];
    int rc = masks_find(sw, table, pipe, &t, err);
    if (rc)
        return rc;
    rc = read_masks(t.desc, masks, n, words, err);
    for (unsigned i = 0; rc == 0 && i < t.pipes.n; i++)
        if (sk_table_count(masks_table_in(sw, &t, i)) > 0)
            rc = sk_fail(err, "%s", sk_table_strerror(SK_E_NOT_EMPTY));
    if (rc) {
        sk_error_prefix(err, "table '%s'", t.desc->name);
        return rc;
    }
    for (unsigned i = 0; i < t.pipes.n; i++)
        sk_table_set_key_mask(masks_table_in(sw, &t, i), words);
    return 0;
}

int sk_control_key_mask(struct sk_switch *sw, const char *table, int pipe,
                        struct sk_key_mask_view *view, struct sk_error *err) {
    struct target t;
    int rc = masks_find(sw, table, pipe, &t, err);
    if (rc == 0)
        *view = (struct sk_key_mask_view){t.desc, sk_table_key_mask(masks_table_in(sw, &t, 0))};
    return rc;
}
