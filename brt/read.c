// SPDX-License-Identifier: Apache-2.0
//
// Entries are appended to the answer one by one, each made in the scratch.
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "brt/brt_impl.h"
#include "brt/fixed/fixed.h"
#include "control/tables/idle.h"

struct reading {
    struct brt *b;
    struct sk_pauses *pauses;
    bool paused;
    struct brt_bytes out;
    // the entity that is read
    struct brt_change question; // its table and pipes, and the key if there is one
    const BfrtProto__TableEntry *entry;
    bool key_only;
    // The driver's own copy of a table that is alike in all pipes is asked for one of them: it has
    // none of that.
    bool has_no_copy;
    bool scoped;    // entries are of one pipe, or of some, not of all
    bool all_pipes; // it is asked in all
    bool from_hw;
    BfrtProto__TargetDevice owner; // where an entry is that was named by its handle alone
    enum brt_code code;
    struct sk_error *err;
};

// From here on what packets change stands still.
static void read_pause(struct reading *r) {
    const struct sk_table_desc *d = r->question.table->desc;
    const bool changes =
        d ? d->has_counter || d->meter_kind || d->idle_timeout || d->direct_words
          : r->question.table->kind == BRT_GET_MEMBER || brt_has_cells(r->question.table);
    if (!changes)
        return;
    if (r->paused)
        sk_pauses_breathe(r->pauses);
    else
        sk_pauses_begin(r->pauses);
    r->paused = true;
}

static bool read_append(struct reading *r, BfrtProto__Entity *e) {
    brt_append(&r->out, 1, &e->base);
    brt_memory_reuse(&r->b->scratch);
    if (!r->out.full)
        return true;
    r->code = brt_fail(r->err, BRT_NO_SYS_RESOURCES, "the answer needs too much memory");
    return false;
}

// Where an entry is: as it was asked for, or where it is by its handle. Null: the question says it.
static BfrtProto__TargetDevice *read_where_of(struct reading *r) {
    return r->entry->entry_tgt ? r->entry->entry_tgt : r->owner.base.descriptor ? &r->owner : NULL;
}

// ---- the data of an entry ----

// An entry in each pipe of the question.
struct read_entries {
    struct sk_entry *of[SK_PIPES];
    unsigned n;
    bool is_default;
};

struct read_data {
    struct reading *r;
    const struct read_entries *entries;
    BfrtProto__TableData message;
    BfrtProto__DataField *fields;
    struct sk_data attached;
    bool good; // memory was enough
};

static BfrtProto__DataField *read_next(struct read_data *d, const struct brt_field *f) {
    BfrtProto__DataField *out = &d->fields[d->message.n_fields];
    bfrt_proto__data_field__init(out);
    out->field_id = f->id;
    d->message.fields[d->message.n_fields++] = out;
    return out;
}

static void read_words(struct read_data *d, const struct brt_field *f, const uint64_t *words) {
    BfrtProto__DataField *out = read_next(d, f);
    out->value_case = BFRT_PROTO__DATA_FIELD__VALUE_STREAM;
    d->good = d->good && brt_stream(&d->r->b->scratch, words, f->width, &out->stream);
}

static bool read_refers(const struct read_data *d, uint8_t refers) {
    const struct sk_entry *e = d->entries->of[0];
    return d->r->question.table->desc->actions[e->action]->refers == refers;
}

static void read_attached(struct read_data *d, const struct brt_field *f) {
    const char *text = sk_data_find(&d->attached, f->name);
    if (!text && !d->entries->is_default)
        text = brt_unconfigured(f);
    if (text)
        d->good = brt_field_of_text(&d->r->b->scratch, f, text, read_next(d, f)) && d->good;
    else if (f->has_default && !d->entries->is_default) // a meter that is not configured
        read_words(d, f, &f->dflt);
}

static void read_one_datum(struct read_data *d, const struct brt_field *f) {
    const struct sk_entry *e = d->entries->of[0];
    switch (f->meaning) {
    case BRT_ARGUMENT:
        read_words(d, f, e->data + f->word);
        break;
    case BRT_MEMBER:
        if (read_refers(d, SK_REFERS_MEMBER))
            read_words(d, f, e->data);
        break;
    case BRT_GROUP:
        if (read_refers(d, SK_REFERS_GROUP))
            read_words(d, f, e->data);
        break;
    case BRT_ATTACHED:
        read_attached(d, f);
        break;
    case BRT_CELL: // of each pipe, as the driver has it
        for (unsigned i = 0; i < d->entries->n && f->width <= 64; i++)
            if (d->entries->of[i]->direct)
                read_words(d, f,
                           &d->entries->of[i]
                                ->direct[d->r->question.table->desc->direct_words + f->index]);
        break;
    default:
        break;
    }
}

// An entry is as old as in the pipe that matched it last, and was hit when one of them has.
static void read_age(const struct read_data *d, struct sk_entry *sum) {
    const uint64_t now = sk_switch_now(d->r->b->now.sw);
    bool hit = sum->idle.hit;
    for (unsigned i = 1; i < d->entries->n; i++) {
        const struct sk_entry *e = d->entries->of[i];
        hit = hit || e->idle.hit;
        if (sk_idle_age(e, now) >= sk_idle_age(sum, now))
            continue;
        sum->idle = e->idle;
        sum->hits = e->hits;
        sum->last_hit = e->last_hit;
        sum->elsewhere = e->elsewhere;
    }
    const struct brt_idle_state *state =
        &brt_schema_state(brt_served(d->r->b), d->r->question.table)->idle;
    sk_idle_freeze(sum, brt_idle_time(state, now), now);
    sum->idle.hit = hit;
}

// Counts are sums over the pipes, as the driver has them; the rest is of the first.
static void read_what_is_attached(struct read_data *d) {
    const struct sk_table_desc *desc = d->r->question.table->desc;
    struct sk_holder holder = sk_holder_of_table(desc);
    struct sk_entry sum = *d->entries->of[0];
    sum.packets = sum.bytes = 0;
    for (unsigned i = 0; i < d->entries->n; i++) {
        if (d->r->from_hw)
            brt_copy_entry(desc, d->entries->of[i], BRT_COPY_COUNTS | BRT_COPY_DIRECT);
        sum.packets += d->entries->of[i]->seen_packets;
        sum.bytes += d->entries->of[i]->seen_bytes;
    }
    holder.idle = holder.idle && !d->entries->is_default;
    read_age(d, &sum);
    sk_attached_read(&holder, &sum, sum.meter, sk_switch_now(d->r->b->now.sw), &d->attached);
}

static bool brt_read_fields(struct reading *r, struct read_data *d, const struct brt_action *a) {
    const struct brt_table *t = r->question.table;
    const size_t most = (a ? a->n : 0) + t->n_data * SK_PIPES;
    d->fields = brt_take(&r->b->scratch, (most + 1) * sizeof *d->fields);
    d->message.fields = brt_take(&r->b->scratch, (most + 1) * sizeof *d->message.fields);
    d->good = d->fields && d->message.fields;
    for (size_t i = 0; d->good && a && i < a->n; i++)
        if (brt_is_wanted(r->entry->data, a->fields[i].id))
            read_one_datum(d, &a->fields[i]);
    for (size_t i = 0; d->good && i < t->n_data; i++)
        if (brt_is_wanted(r->entry->data, t->data[i].id))
            read_one_datum(d, &t->data[i]);
    return d->good;
}

// A field that is asked for and that the entry cannot have.
static bool read_check_wanted(struct reading *r, const struct brt_action *a) {
    const BfrtProto__TableData *wanted = r->entry->data;
    const struct brt_table *t = r->question.table;
    for (size_t i = 0; wanted && i < wanted->n_fields; i++) {
        const uint32_t id = wanted->fields[i]->field_id;
        if (!brt_find(t->data, t->n_data, id) && !(a && brt_find(a->fields, a->n, id))) {
            r->code =
                brt_fail(r->err, BRT_OBJECT_NOT_FOUND, "there is no data field with id %u", id);
            return false;
        }
    }
    return true;
}

// ---- an entry ----

static bool read_no_memory(struct reading *r) {
    r->code = brt_fail(r->err, BRT_NO_SYS_RESOURCES, "an entry needs too much memory");
    return false;
}

static bool read_emit(struct reading *r, const struct read_entries *entries) {
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    BfrtProto__TableEntry out = BFRT_PROTO__TABLE_ENTRY__INIT;
    const struct brt_table *t = r->question.table;
    const struct sk_entry *e = entries->of[0];
    const struct brt_action *a = t->desc ? brt_table_action_at(t, e->action) : NULL;
    struct read_data d = {.r = r, .entries = entries, .message = BFRT_PROTO__TABLE_DATA__INIT};
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY;
    entity.table_entry = &out;
    out.table_id = t->id;
    out.entry_tgt = read_where_of(r);
    // by its handle it is read as an entry like others
    out.is_default_entry =
        entries->is_default && r->entry->value_case != BFRT_PROTO__TABLE_ENTRY__VALUE_HANDLE_ID;
    if (!entries->is_default &&
        !brt_entry_key_message(&r->b->scratch, t, e->value, e->mask, e->priority, &out))
        return read_no_memory(r);
    if (!r->key_only && t->kind == BRT_VALUE_SET)
        out.data = &d.message; // without fields
    if (!r->key_only && t->desc) {
        if (!read_check_wanted(r, a))
            return false;
        d.message.action_id = a ? a->id : 0;
        read_what_is_attached(&d);
        if (!brt_read_fields(r, &d, a))
            return read_no_memory(r);
        out.data = &d.message;
    }
    return read_append(r, &entity);
}

static bool read_action_wanted(const struct reading *r, const struct sk_entry *e) {
    const uint32_t wanted = r->entry->data ? r->entry->data->action_id : 0;
    const struct brt_action *a = brt_table_action_at(r->question.table, e->action);
    return !wanted || (a && a->id == wanted);
}

static void brt_read_default(struct reading *r) {
    struct read_entries entries = {.is_default = true, .n = r->question.pipes.n};
    const struct brt_table *t = r->question.table;
    if (!t->desc || t->desc->is_profile)
        return;
    if (r->scoped && r->all_pipes && r->entry->is_default_entry && r->from_hw) {
        r->code = brt_fail(r->err, BRT_INVALID_ARG,
                           "table '%s' has a default entry in each pipe, none in all", t->name);
        return;
    }
    read_pause(r);
    for (unsigned i = 0; i < entries.n; i++)
        entries.of[i] = sk_table_default(brt_table_in(r->b, t, r->question.pipes.list[i]));
    if (brt_table_action_at(t, entries.of[0]->action))
        read_emit(r, &entries);
}

// ---- all entries ----

static bool read_each(struct reading *r, struct sk_entry *e) {
    struct read_entries entries = {.of = {e}, .n = 1};
    if (r->question.table->desc && !read_action_wanted(r, e))
        return true;
    read_pause(r);
    for (unsigned i = 1; i < r->question.pipes.n; i++) {
        struct sk_table *t = brt_table_of(r->b, &r->question, i);
        struct sk_entry *other = sk_table_find(t, e->value, e->mask, e->priority);
        if (other)
            entries.of[entries.n++] = other;
    }
    return read_emit(r, &entries);
}

// In the order in which they were put there, by their handles, as the chip's driver has them.
struct read_list {
    struct sk_entry **entries;
    size_t n, room;
};

static bool read_list_entry(void *aux, const struct sk_entry *e) {
    struct read_list *l = aux;
    if (l->n < l->room) // to note what was seen of it
        l->entries[l->n++] = (struct sk_entry *)(uintptr_t)e;
    return true;
}

static int read_compare(const void *a, const void *b) {
    const struct sk_entry *x = *(const struct sk_entry *const *)a,
                          *y = *(const struct sk_entry *const *)b;
    return (x->id > y->id) - (x->id < y->id);
}

static void read_all(struct reading *r) {
    struct sk_table *t = brt_table_of(r->b, &r->question, 0);
    struct read_list l = {.room = sk_table_count(t)};
    l.entries = brt_take(&r->b->request, (l.room + 1) * sizeof *l.entries);
    if (!l.entries) {
        read_no_memory(r);
        return;
    }
    sk_table_each(t, read_list_entry, &l);
    qsort(l.entries, l.n, sizeof *l.entries, read_compare);
    for (size_t i = 0; i < l.n && read_each(r, l.entries[i]); i++)
        continue;
    if (r->code == BRT_OK)
        brt_read_default(r);
}

// ---- one entry ----

struct read_handle {
    uint32_t handle;
    struct sk_entry *found;
};

static bool read_is_handle(void *aux, const struct sk_entry *e) {
    struct read_handle *h = aux;
    if (e->id == h->handle)
        h->found = (struct sk_entry *)(uintptr_t)e;
    return !h->found;
}

// Entries of one pipe have numbers of their own in each: a handle says which pipe, above them.
#define READ_PIPE_SHIFT 28u
#define READ_ID_MASK    ((UINT32_C(1) << READ_PIPE_SHIFT) - 1)

// As by the chip's driver: the default entry of a table has handle 1.
#define READ_DEFAULT_HANDLE 1u

static uint32_t read_first_handle(const struct reading *r) {
    const struct sk_table_desc *d = r->question.table->desc;
    return d && !d->is_profile ? READ_DEFAULT_HANDLE + 1 : 0;
}

static uint32_t read_handle_for(const struct reading *r, const struct sk_entry *e) {
    const uint32_t handle = e->id + read_first_handle(r);
    return r->scoped ? (handle & READ_ID_MASK) | (r->question.pipes.list[0] + 1u) << READ_PIPE_SHIFT
                     : handle;
}

static bool read_asks_pipe(const struct reading *r, unsigned pipe) {
    for (unsigned i = 0; i < r->question.pipes.n; i++)
        if (r->question.pipes.list[i] == pipe)
            return true;
    return false;
}

// A key that is asked for by its handle comes with its target.
static void read_is_owned(struct reading *r, const struct brt_target *target) {
    bfrt_proto__target_device__init(&r->owner);
    r->owner.pipe_id = target->pipe < 0 ? BRT_ALL_PIPES : (uint32_t)target->pipe;
    r->owner.direction = target->gress;
    r->owner.prsr_id = target->parser;
}

// The pipes of the entry, if the question may be about them. False after an error.
static bool read_go_to_owner(struct reading *r, uint32_t owner) {
    const struct brt_table_state *state = brt_schema_state(brt_served(r->b), r->question.table);
    if (owner >= SK_PIPES || !read_asks_pipe(r, owner)) {
        r->code = r->from_hw ? brt_fail(r->err, BRT_INVALID_ARG,
                                        "table '%s': the handle is of another pipe",
                                        r->question.table->name)
                             : BRT_OK;
        return false;
    }
    if (!r->all_pipes)
        return true;
    if (state->scope == BRT_SCOPE_GROUPS)
        brt_scope_pipes(state, owner, &r->question.pipes);
    else
        r->question.pipes = (struct sk_pipe_list){.list = {(uint8_t)owner}, .n = 1};
    bfrt_proto__target_device__init(&r->owner);
    r->owner.pipe_id = owner;
    r->owner.direction = r->owner.prsr_id = 0xff;
    return true;
}

static struct sk_entry *read_by_handle(struct reading *r, uint32_t handle) {
    struct read_handle h = {.handle = (r->scoped ? handle & READ_ID_MASK : handle) -
                                      read_first_handle(r)};
    if (r->scoped && !read_go_to_owner(r, (handle >> READ_PIPE_SHIFT) - 1))
        return NULL;
    sk_table_each(brt_table_of(r->b, &r->question, 0), read_is_handle, &h);
    return h.found;
}

static bool read_not_found(struct reading *r) {
    r->code = brt_fail(r->err, BRT_OBJECT_NOT_FOUND, "table '%s': there is no such entry",
                       r->question.table->name);
    return false;
}

// The entry in the first pipe, by its key or its handle; null after an error.
static struct sk_entry *read_find(struct reading *r) {
    struct sk_entry *e;
    if (r->entry->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_HANDLE_ID)
        e = read_by_handle(r, r->entry->handle_id);
    else if (r->scoped && r->all_pipes)
        e = NULL; // no entry is in all pipes
    else {
        r->code = brt_entry_key(r->b, r->entry->key, &r->question, r->err);
        if (r->code)
            return NULL;
        e = sk_table_find(brt_table_of(r->b, &r->question, 0), r->question.value, r->question.mask,
                          r->question.priority);
    }
    if ((!e || r->has_no_copy) && r->code == BRT_OK)
        read_not_found(r);
    return r->has_no_copy ? NULL : e;
}

static void read_one(struct reading *r) {
    if (r->entry->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_HANDLE_ID &&
        r->entry->handle_id == READ_DEFAULT_HANDLE && read_first_handle(r)) {
        brt_read_default(r);
        return;
    }
    struct sk_entry *e = read_find(r); // packets change no keys: they need not wait
    if (!e)
        return;
    if (r->question.table->desc && !read_action_wanted(r, e))
        r->code = brt_fail(r->err, BRT_INVALID_ARG, "the entry has another action");
    else
        read_each(r, e);
}

// ---- cells ----

// The driver looks at the chip first.
static void read_refresh(struct reading *r) {
    const struct sk_pipe_list *pipes = &r->question.pipes;
    for (unsigned i = 0; r->from_hw && brt_has_copy(r->question.table) && i < pipes->n; i++)
        brt_copy_cell(r->b, r->question.table, pipes->list[i], r->question.index);
}

static bool read_cell(struct reading *r, uint64_t index) {
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    BfrtProto__TableEntry out = BFRT_PROTO__TABLE_ENTRY__INIT;
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY;
    entity.table_entry = &out;
    out.entry_tgt = read_where_of(r);
    r->question.index = index;
    read_pause(r);
    read_refresh(r);
    if (!brt_cell_message(r->b, &r->question, r->entry->data, &out))
        return read_no_memory(r);
    if (r->key_only)
        out.data = NULL;
    return read_append(r, &entity);
}

static void read_cells(struct reading *r) {
    const struct brt_table *t = r->question.table;
    uint64_t index = r->entry->handle_id;
    if (!read_check_wanted(r, NULL) ||
        (r->from_hw && (r->code = brt_cell_copies(r->b, &r->question, r->err))))
        return;
    if (r->entry->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY) {
        r->code = brt_cell_key(r->entry->key, &r->question, r->err);
        index = r->question.index;
    } else if (r->entry->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_HANDLE_ID)
        r->code = brt_cell_check(t, index, r->err);
    else if (r->entry->is_default_entry && t->kind != BRT_PARAM)
        r->code = brt_fail(r->err, BRT_NOT_SUPPORTED, "table '%s' has no default entry", t->name);
    else {
        for (index = 0; index < t->size && read_cell(r, index);)
            index++;
        return;
    }
    if (r->code == BRT_OK)
        read_cell(r, index);
}

// ---- groups ----

static bool read_group(void *aux, const struct sk_group *g) {
    struct reading *r = aux;
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    BfrtProto__TableEntry out = BFRT_PROTO__TABLE_ENTRY__INIT;
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY;
    entity.table_entry = &out;
    out.entry_tgt = read_where_of(r);
    if (!brt_group_message(&r->b->scratch, r->question.table, g, r->entry->data, &out))
        return read_no_memory(r);
    if (r->key_only)
        out.data = NULL;
    return read_append(r, &entity);
}

static void brt_read_groups(struct reading *r) {
    const struct brt_table *t = r->question.table;
    struct sk_selector *s = brt_selector_in(r->b, t, r->question.pipes.list[0]);
    if (!read_check_wanted(r, NULL))
        return;
    if (r->entry->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE__NOT_SET) {
        sk_selector_each(s, read_group, r);
        return;
    }
    if (r->entry->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_HANDLE_ID)
        r->question.index = r->entry->handle_id;
    else
        r->code = brt_group_key(r->entry->key, &r->question, r->err);
    if (r->code)
        return;
    const struct sk_group *g = sk_selector_find(s, (uint32_t)r->question.index);
    if (g)
        read_group(r, g);
    else
        read_not_found(r);
}

static void read_chosen(struct reading *r) {
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    BfrtProto__TableEntry out = BFRT_PROTO__TABLE_ENTRY__INIT;
    if (r->entry->value_case != BFRT_PROTO__TABLE_ENTRY__VALUE_KEY) {
        r->code = brt_fail(r->err, BRT_NOT_SUPPORTED, "table '%s' is read with a key",
                           r->question.table->name);
        return;
    }
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY;
    entity.table_entry = &out;
    out.entry_tgt = read_where_of(r);
    read_pause(r);
    r->code = brt_get_member(r->b, &r->question, r->entry->key, &out, r->err);
    if (r->code == BRT_OK)
        read_append(r, &entity);
}

// ---- hashes ----

static void brt_read_hash(struct reading *r) {
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    BfrtProto__TableEntry out = BFRT_PROTO__TABLE_ENTRY__INIT;
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY;
    entity.table_entry = &out;
    out.entry_tgt = read_where_of(r);
    r->code = brt_hash_message(r->b, &r->question, r->entry, &out, r->err);
    if (r->key_only)
        out.data = NULL;
    if (r->code == BRT_OK)
        read_append(r, &entity);
}

// ---- metadata of ports ----

static bool read_port(struct reading *r, uint64_t port) {
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    BfrtProto__TableEntry out = BFRT_PROTO__TABLE_ENTRY__INIT;
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY;
    entity.table_entry = &out;
    out.entry_tgt = read_where_of(r);
    if (!brt_port_metadata_message(r->b, r->question.table, port, r->entry->data, &out))
        return read_no_memory(r);
    if (r->key_only)
        out.data = NULL;
    return read_append(r, &entity);
}

static void read_ports(struct reading *r) {
    const struct brt_table *t = r->question.table;
    if (!read_check_wanted(r, NULL))
        return;
    if (r->entry->is_default_entry)
        r->code = brt_fail(r->err, BRT_NOT_SUPPORTED, "table '%s' has no default entry", t->name);
    else if (r->entry->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_HANDLE_ID) {
        if (r->entry->handle_id < SK_PORTS &&
            brt_port_metadata_next(r->b, t, r->entry->handle_id) == r->entry->handle_id)
            read_port(r, r->entry->handle_id);
        else
            read_not_found(r);
    } else if (r->entry->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY) {
        r->code = brt_port_metadata_key(r->b, r->entry->key, &r->question, r->err);
        if (r->code == BRT_OK)
            read_port(r, r->question.index);
    } else
        for (uint64_t port = brt_port_metadata_next(r->b, t, 0);
             port < SK_PORTS && read_port(r, port);)
            port = brt_port_metadata_next(r->b, t, port + 1);
}

// ---- tables that every switch has ----

static bool read_fixed(void *aux, BfrtProto__TableEntry *out) {
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY;
    entity.table_entry = out;
    out->entry_tgt = read_where_of(aux);
    return read_append(aux, &entity);
}

static void brt_read_fixed(struct reading *r, const struct fixed_table *t, int pipe) {
    const enum brt_code code =
        fixed_read(r->b, t, r->entry, pipe, r->key_only, read_fixed, r, r->err);
    if (r->code == BRT_OK)
        r->code = code;
}

static void brt_read_snapshot(struct reading *r, const struct brt_target *target) {
    const enum brt_code code =
        brt_snapshot_read(r->b, &r->question, r->entry, target, r->key_only, read_fixed, r, r->err);
    if (r->code == BRT_OK)
        r->code = code;
}

// The table, and where what is asked of it is.
static enum brt_code read_resolve(struct reading *r, uint32_t table,
                                  const struct brt_target *target) {
    const enum brt_code code = brt_resolve(r->b, table, target, &r->question, r->err);
    return code == BRT_OK && r->question.table->kind == BRT_VALUE_SET
               ? brt_resolve_values(r->b, target, &r->question, r->err)
               : code;
}

static bool read_from_hw(const BfrtProto__TableEntry *e) {
    return (e->table_flags && e->table_flags->from_hw) ||
           (e->table_read_flag && e->table_read_flag->from_hw);
}

// The driver's own copy of entries is kept for the first pipe of those that share them.
static void brt_read_where(struct reading *r, const struct brt_target *target, bool from_hw) {
    const struct brt_table *t = r->question.table;
    const enum brt_scope scope = brt_schema_state(brt_served(r->b), t)->scope;
    const bool is_copy = (unsigned)target->pipe != r->question.pipes.list[0];
    r->scoped = t->desc && scope != BRT_SCOPE_ALL;
    r->all_pipes = target->pipe < 0;
    r->from_hw = from_hw;
    r->has_no_copy = t->desc && !t->desc->is_profile && target->pipe >= 0 && !from_hw &&
                     (scope == BRT_SCOPE_ALL || (scope == BRT_SCOPE_GROUPS && is_copy));
}

static void brt_read_entry(struct reading *r, const BfrtProto__TableEntry *e,
                           const struct brt_target *target) {
    struct brt_target own = *target;
    r->entry = e;
    r->owner = (BfrtProto__TargetDevice){.base = {.descriptor = NULL}};
    r->key_only = (e->table_flags && e->table_flags->key_only) ||
                  (e->table_read_flag && e->table_read_flag->key_only);
    r->code = e->entry_tgt ? brt_target(e->entry_tgt, &own, r->err) : BRT_OK;
    const struct fixed_table *fixed = fixed_table(r->b, e->table_id);
    if (r->code == BRT_OK && fixed) {
        brt_read_fixed(r, fixed, own.pipe);
        return;
    }
    if (r->code == BRT_OK)
        r->code = read_resolve(r, e->table_id, &own);
    if (r->code)
        return;
    brt_read_where(r, &own, read_from_hw(e));
    if (r->key_only && e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_HANDLE_ID)
        read_is_owned(r, &own);
    if (brt_has_cells(r->question.table))
        read_cells(r);
    else if (brt_has_groups(r->question.table))
        brt_read_groups(r);
    else if (r->question.table->kind == BRT_PORT_METADATA)
        read_ports(r);
    else if (r->question.table->kind == BRT_GET_MEMBER)
        read_chosen(r);
    else if (brt_has_hash(r->question.table))
        brt_read_hash(r);
    else if (brt_is_snapshot(r->question.table))
        brt_read_snapshot(r, &own);
    else if (e->value_case != BFRT_PROTO__TABLE_ENTRY__VALUE__NOT_SET)
        read_one(r);
    else if (e->is_default_entry)
        brt_read_default(r);
    else
        read_all(r);
}

// ---- other entities ----

static bool read_has_entries(const struct reading *r) {
    return r->question.table->kind == BRT_MATCH || r->question.table->kind == BRT_VALUE_SET;
}

static size_t read_count(const struct reading *r) {
    const unsigned pipe = r->question.pipes.list[0];
    return brt_has_groups(r->question.table)
               ? sk_selector_count(brt_selector_in(r->b, r->question.table, pipe))
               : sk_table_count(brt_table_of(r->b, &r->question, 0));
}

static void read_usage(struct reading *r, const BfrtProto__TableUsage *u,
                       const struct brt_target *target) {
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    BfrtProto__TableUsage out = BFRT_PROTO__TABLE_USAGE__INIT;
    const struct fixed_table *fixed = fixed_table(r->b, u->table_id);
    uint32_t used = 0;
    if (fixed)
        r->code = fixed_usage(r->b, fixed, &used, r->err);
    else
        r->code = read_resolve(r, u->table_id, target);
    const bool snapshot = !fixed && r->code == BRT_OK && brt_is_snapshot(r->question.table);
    if (snapshot)
        used = brt_snapshot_count(r->b, r->question.table);
    if (r->code == BRT_OK && !fixed && !snapshot && !read_has_entries(r) &&
        !brt_has_groups(r->question.table))
        r->code =
            brt_fail(r->err, BRT_NOT_SUPPORTED, "table '%s' has no usage", r->question.table->name);
    if (r->code)
        return;
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_USAGE;
    entity.table_usage = &out;
    out.table_id = u->table_id;
    out.usage = fixed || snapshot ? used : (uint32_t)read_count(r);
    read_append(r, &entity);
}

static void read_emit_handle(struct reading *r, const BfrtProto__HandleId *h, uint32_t handle) {
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    BfrtProto__HandleId out = BFRT_PROTO__HANDLE_ID__INIT;
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_HANDLE;
    entity.handle = &out;
    out.table_id = h->table_id;
    out.value_case = BFRT_PROTO__HANDLE_ID__VALUE_HANDLE_ID;
    out.handle_id = handle;
    read_append(r, &entity);
}

static void read_snapshot_handle(struct reading *r, const BfrtProto__HandleId *h,
                                 const struct brt_target *target) {
    uint32_t handle = 0;
    r->code = brt_snapshot_handle(r->b, &r->question, h->key, target, &handle, r->err);
    if (r->code == BRT_OK)
        read_emit_handle(r, h, handle);
}

// Of what has a number as its key, and of a group or port that is there: the number.
static void read_number_handle(struct reading *r, const BfrtProto__HandleId *h) {
    const struct brt_table *t = r->question.table;
    if (brt_has_cells(t))
        r->code = brt_cell_key(h->key, &r->question, r->err);
    else if (t->kind == BRT_PORT_METADATA)
        r->code = brt_port_metadata_key(r->b, h->key, &r->question, r->err);
    else if (brt_has_groups(t)) {
        r->code = brt_group_key(h->key, &r->question, r->err);
        if (r->code == BRT_OK &&
            !sk_selector_find(brt_selector_in(r->b, t, r->question.pipes.list[0]),
                              (uint32_t)r->question.index))
            read_not_found(r);
    } else
        r->code = brt_fail(r->err, BRT_NOT_SUPPORTED, "table '%s' has no handles", t->name);
    if (r->code == BRT_OK)
        read_emit_handle(r, h, (uint32_t)r->question.index);
}

static void read_handle_of(struct reading *r, const BfrtProto__HandleId *h,
                           const struct brt_target *target) {
    BfrtProto__TableEntry entry = BFRT_PROTO__TABLE_ENTRY__INIT;
    if (h->value_case != BFRT_PROTO__HANDLE_ID__VALUE_KEY) {
        r->code = brt_fail(r->err, BRT_INVALID_ARG, "the key is missing");
        return;
    }
    r->code = read_resolve(r, h->table_id, target);
    if (r->code == BRT_OK && brt_is_snapshot(r->question.table)) {
        read_snapshot_handle(r, h, target);
        return;
    }
    if (r->code == BRT_OK && !read_has_entries(r)) {
        read_number_handle(r, h);
        return;
    }
    if (r->code)
        return;
    brt_read_where(r, target, true);
    entry.value_case = BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    entry.key = h->key;
    r->entry = &entry;
    const struct sk_entry *e = read_find(r);
    if (!e)
        return;
    read_emit_handle(r, h, read_handle_for(r, e));
}

static void read_attribute(struct reading *r, const BfrtProto__TableAttribute *a,
                           const struct brt_target *target) {
    BfrtProto__TableAttribute out = BFRT_PROTO__TABLE_ATTRIBUTE__INIT;
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    const struct fixed_table *fixed = fixed_table(r->b, a->table_id);
    if (fixed)
        r->code = fixed_attribute(r->b, fixed, a, &out, r->err);
    else
        r->code = brt_resolve(r->b, a->table_id, target, &r->question, r->err);
    r->question.attribute = a;
    if (r->code == BRT_OK && !fixed)
        r->code = brt_attribute_message(r->b, &r->question, &out, r->err);
    if (r->code)
        return;
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_TABLE_ATTRIBUTE;
    entity.table_attribute = &out;
    read_append(r, &entity);
}

static const struct brt_field *read_field_named(const struct brt_field *fields, size_t n,
                                                const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

static const struct brt_action *read_action_named(const struct brt_table *t, const char *name) {
    for (size_t i = 0; i < t->n_actions; i++)
        if (strcmp(t->actions[i].name, name) == 0)
            return &t->actions[i];
    return NULL;
}

// 0: there is no such thing.
static uint32_t read_id_in_table(const struct brt_table *t,
                                 const BfrtProto__ObjectId__TableObject *o) {
    const struct brt_action *a;
    const struct brt_field *f;
    switch (o->names_case) {
    case BFRT_PROTO__OBJECT_ID__TABLE_OBJECT__NAMES_ACTION_NAME:
        a = read_action_named(t, o->action_name->action);
        return a ? a->id : 0;
    case BFRT_PROTO__OBJECT_ID__TABLE_OBJECT__NAMES_KEY_FIELD_NAME:
        f = read_field_named(t->keys, t->n_keys, o->key_field_name->field);
        return f ? f->id : 0;
    case BFRT_PROTO__OBJECT_ID__TABLE_OBJECT__NAMES_DATA_FIELD_NAME:
        a = read_action_named(t, o->data_field_name->action);
        f = a ? read_field_named(a->fields, a->n, o->data_field_name->field)
              : read_field_named(t->data, t->n_data, o->data_field_name->field);
        return f ? f->id : 0;
    default:
        return t->id;
    }
}

static uint32_t read_id_of(const struct brt *b, const BfrtProto__ObjectId *o) {
    if (o->object_case == BFRT_PROTO__OBJECT_ID__OBJECT_TABLE_OBJECT) {
        const struct brt_table *t = brt_schema_named(brt_served(b), o->table_object->table_name);
        const struct fixed_table *fixed = fixed_table_named(b, o->table_object->table_name);
        if (fixed)
            return fixed_id(fixed, o->table_object);
        return t ? read_id_in_table(t, o->table_object) : 0;
    }
    if (o->object_case != BFRT_PROTO__OBJECT_ID__OBJECT_LEARN_OBJECT)
        return 0;
    const struct brt_learn *l = brt_schema_learn(brt_served(b), o->learn_object->learn_name);
    if (!l || !o->learn_object->data_field_name)
        return l ? l->id : 0;
    const struct brt_field *f =
        read_field_named(l->fields, l->n, o->learn_object->data_field_name->field);
    return f ? f->id : 0;
}

static void read_object_id(struct reading *r, const BfrtProto__ObjectId *o) {
    BfrtProto__Entity entity = BFRT_PROTO__ENTITY__INIT;
    BfrtProto__ObjectId out = BFRT_PROTO__OBJECT_ID__INIT;
    out.id = read_id_of(r->b, o);
    if (!out.id) {
        r->code = brt_fail(r->err, BRT_OBJECT_NOT_FOUND, "there is nothing with this name");
        return;
    }
    entity.entity_case = BFRT_PROTO__ENTITY__ENTITY_OBJECT_ID;
    entity.object_id = &out;
    read_append(r, &entity);
}

static void read_entity(struct reading *r, const BfrtProto__Entity *e,
                        const struct brt_target *target) {
    r->code = BRT_OK;
    brt_memory_reuse(&r->b->scratch);
    switch (e->entity_case) {
    case BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY:
        brt_read_entry(r, e->table_entry, target);
        break;
    case BFRT_PROTO__ENTITY__ENTITY_TABLE_USAGE:
        read_usage(r, e->table_usage, target);
        break;
    case BFRT_PROTO__ENTITY__ENTITY_HANDLE:
        read_handle_of(r, e->handle, target);
        break;
    case BFRT_PROTO__ENTITY__ENTITY_OBJECT_ID:
        read_object_id(r, e->object_id);
        break;
    case BFRT_PROTO__ENTITY__ENTITY_TABLE_ATTRIBUTE:
        read_attribute(r, e->table_attribute, target);
        break;
    case BFRT_PROTO__ENTITY__ENTITY_TABLE_OPERATION:
        r->code = brt_fail(r->err, BRT_NOT_SUPPORTED, "an operation cannot be read");
        break;
    default:
        r->code = brt_fail(r->err, BRT_INVALID_ARG, "the entity is empty");
    }
}

// ---- the call ----

struct read_results {
    struct brt_result *list;
    size_t n;
    bool any, late;
};

static bool read_note(struct reading *r, struct read_results *results) {
    struct brt_result *out = &results->list[results->n++];
    *out = (struct brt_result){.status = brt_rpc_status(r->code), .message = ""};
    out->canonical = out->status;
    if (r->code == BRT_OK)
        return true;
    results->any = true;
    const size_t length = strlen(r->err->text) + 1;
    char *kept = brt_take(&r->b->request, length);
    out->message = kept ? memcpy(kept, r->err->text, length) : "";
    return kept;
}

// False when memory is short.
static bool read_entities(struct reading *r, const BfrtProto__ReadRequest *request,
                          const struct brt_target *target, const struct brt_wishes *wishes,
                          struct read_results *results) {
    bool good = true;
    results->list = brt_take(&r->b->request, (request->n_entities + 1) * sizeof *results->list);
    for (size_t i = 0; good && results->list && i < request->n_entities; i++) {
        if ((results->late = brt_is_late(wishes)))
            break;
        read_entity(r, request->entities[i], target);
        good = read_note(r, results);
    }
    if (r->paused)
        sk_pauses_end(r->pauses);
    return good && results->list;
}

// Statuses stand in the answer, in place of the call's end.
static void read_append_statuses(struct reading *r, const struct read_results *results) {
    for (size_t i = 0; i < results->n; i++) {
        BfrtProto__Error e = BFRT_PROTO__ERROR__INIT;
        e.canonical_code = (int32_t)results->list[i].canonical;
        e.message = (char *)results->list[i].message;
        brt_append(&r->out, 2, &e.base);
    }
}

static void brt_read_request(struct brt *b, const struct brt_call *c,
                             const BfrtProto__ReadRequest *request) {
    struct sk_error err;
    struct brt_target target;
    struct read_results results = {.n = 0};
    const struct brt_wishes wishes = brt_wishes(c);
    const uint32_t device = request->target ? request->target->device_id : 0;
    struct reading r = {.b = b, .pauses = brt_pauses(b, false), .err = &err};
    enum brt_code code = brt_may(b, request->client_id, device, request->p4_name, &err);
    if (code == BRT_OK)
        code = brt_target(request->target, &target, &err);
    if (code) {
        brt_end(c, code, err.text);
        return;
    }
    const bool enough = read_entities(&r, request, &target, &wishes, &results);
    if (enough && wishes.error_in_response)
        read_append_statuses(&r, &results);
    if (results.late)
        c->carrier->end(c->call, RPC_DEADLINE_EXCEEDED, "the call's time was over", NULL, 0);
    else if (!enough || r.out.full)
        brt_end(c, BRT_NO_SYS_RESOURCES, "the answer needs too much memory");
    else {
        c->carrier->give(c->call, r.out.bytes, r.out.n);
        r.out.bytes = NULL;
        brt_end_list(b, c, "Read Error Status", results.list,
                     wishes.error_in_response ? 0 : results.n);
    }
    free(r.out.bytes);
}

void brt_read(struct brt *b, const struct brt_call *c, const uint8_t *bytes, size_t length) {
    const BfrtProto__ReadRequest *request =
        bfrt_proto__read_request__unpack(&b->request.allocator, length, bytes);
    if (request)
        brt_read_request(b, c, request);
    else
        brt_end_unread(b, c);
    brt_memory_reuse(&b->request);
    brt_memory_reuse(&b->scratch);
}
