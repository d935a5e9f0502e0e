// SPDX-License-Identifier: Apache-2.0
//
// Updates are resolved a slice at a time and then applied in one pause, so that packets wait for
// the tables only and not for the messages.
#include <string.h>

#include "base/clock.h"
#include "brt/brt_impl.h"
#include "brt/fixed/fixed.h"

#define WRITE_SLICE 64u // updates in a pause: some hundred microseconds

struct sk_pauses *brt_pauses(struct brt *b, bool writes) {
    b->pauses.pause = b->host.pause;
    b->pauses.resume = writes ? b->host.resume : b->host.resume_same;
    b->pauses.idle = b->host.idle;
    b->pauses.aux = b->host.aux;
    return &b->pauses;
}

enum brt_code brt_target(const BfrtProto__TargetDevice *device, struct brt_target *out,
                         struct sk_error *err) {
    const uint32_t pipe = device ? device->pipe_id : 0;
    if (device && device->device_id)
        return brt_fail(err, BRT_INVALID_ARG, "there is no device %u, only 0", device->device_id);
    if (pipe != BRT_ALL_PIPES && pipe >= SK_PIPES)
        return brt_fail(err, BRT_INVALID_ARG, "there is no pipe %u", pipe);
    out->pipe = pipe == BRT_ALL_PIPES ? -1 : (int)pipe;
    out->gress = device ? device->direction : 0xff;
    out->parser = device ? device->prsr_id : 0xff;
    return BRT_OK;
}

bool brt_is_wanted(const BfrtProto__TableData *wanted, uint32_t id) {
    for (size_t i = 0; wanted && i < wanted->n_fields; i++)
        if (wanted->fields[i]->field_id == id)
            return true;
    return !wanted || wanted->n_fields == 0;
}

enum brt_code brt_not_served(const struct brt_table *t, const char *what, struct sk_error *err) {
    return brt_fail(err, BRT_NOT_IMPLEMENTED, "table '%s': %s is not implemented", t->name, what);
}

enum brt_code brt_resolve(struct brt *b, uint32_t table_id, const struct brt_target *target,
                          struct brt_change *c, struct sk_error *err) {
    memset(c, 0, sizeof *c);
    c->table = b->only_fixed ? NULL : brt_schema_table(brt_served(b), table_id);
    const struct fixed_table *fixed = fixed_table(b, table_id);
    if (fixed)
        return brt_fail(err, BRT_NOT_SUPPORTED,
                        "table '%s' has no handles, attributes or operations that can be used",
                        fixed->name);
    if (!c->table)
        return brt_fail(err, BRT_TABLE_NOT_FOUND, "there is no table with id %u", table_id);
    // where values are is known when they are (value_sets.c), and a port is in one
    const bool all = c->table->kind == BRT_VALUE_SET || c->table->kind == BRT_PORT_METADATA;
    const int pipe = all ? -1 : target->pipe;
    if (sk_find_pipes(b->now.sw, &c->table->object, pipe, &c->pipes, err))
        return BRT_INVALID_ARG;
    c->names_pipe = pipe >= 0;
    const struct brt_table_state *state = brt_schema_state(brt_served(b), c->table);
    if (pipe < 0 || state->scope != BRT_SCOPE_GROUPS)
        return BRT_OK;
    if (sk_find_pipes(b->now.sw, &c->table->object, -1, &c->pipes, err))
        return BRT_INVALID_ARG;
    brt_scope_pipes(state, (unsigned)pipe, &c->pipes);
    return c->pipes.n ? BRT_OK
                      : brt_fail(err, BRT_INVALID_ARG, "pipe %d is in no scope of table '%s'", pipe,
                                 c->table->name);
}

// ---- one update ----

static enum brt_code write_check_type(const struct brt_change *c, struct sk_error *err) {
    const bool value_set = c->table->kind == BRT_VALUE_SET;
    switch (c->type) {
    case BFRT_PROTO__UPDATE__TYPE__INSERT:
    case BFRT_PROTO__UPDATE__TYPE__DELETE:
        break;
    case BFRT_PROTO__UPDATE__TYPE__MODIFY:
    case BFRT_PROTO__UPDATE__TYPE__INSERT_OR_MODIFY:
        if (value_set)
            return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s': a value cannot be changed",
                            c->table->name);
        break;
    case BFRT_PROTO__UPDATE__TYPE__MODIFY_INC:
        return brt_not_served(c->table, "MODIFY_INC", err);
    case BFRT_PROTO__UPDATE__TYPE__RESET:
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s': its entries cannot be reset",
                        c->table->name);
    default:
        return brt_fail(err, BRT_INVALID_ARG, "the update has no type");
    }
    if (c->is_default && value_set)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' has no default entry", c->table->name);
    return BRT_OK;
}

static enum brt_code write_check_default(const struct brt_change *c, struct sk_error *err) {
    if (c->type == BFRT_PROTO__UPDATE__TYPE__INSERT)
        return brt_fail(err, BRT_NOT_SUPPORTED,
                        "the default entry is always there: it is set by MODIFY");
    if (c->type == BFRT_PROTO__UPDATE__TYPE__INSERT_OR_MODIFY)
        return brt_fail(err, BRT_INVALID_ARG, "the key is missing");
    return BRT_OK;
}

// Which parts an update must have.
static enum brt_code write_check_parts(const struct brt_change *c, struct sk_error *err) {
    if (c->is_default)
        return write_check_default(c, err);
    if (c->type == BFRT_PROTO__UPDATE__TYPE__DELETE)
        return BRT_OK;
    if (!c->has_key)
        return brt_fail(err, BRT_INVALID_ARG, "the key is missing");
    if (!c->has_action && c->table->desc && c->type != BFRT_PROTO__UPDATE__TYPE__MODIFY)
        return brt_fail(err, BRT_INVALID_ARG, "table '%s': the action is missing", c->table->name);
    return BRT_OK;
}

static void write_flags(const BfrtProto__TableEntry *e, struct brt_change *c) {
    const bool modifies = c->type == BFRT_PROTO__UPDATE__TYPE__MODIFY;
    c->reset_ttl = modifies && e->table_flags && e->table_flags->reset_ttl;
    c->reset_stats = modifies && e->table_flags && e->table_flags->reset_stats;
    c->is_default = e->is_default_entry;
}

static enum brt_code write_entry(struct brt *b, const BfrtProto__TableEntry *e,
                                 const struct brt_target *target, struct brt_change *c,
                                 struct sk_error *err) {
    static const BfrtProto__TableData nothing = BFRT_PROTO__TABLE_DATA__INIT;
    const BfrtProto__Update__Type type = c->type;
    struct brt_target own = *target;
    enum brt_code code = e->entry_tgt ? brt_target(e->entry_tgt, &own, err) : BRT_OK;
    c->fixed = fixed_table(b, e->table_id);
    if (code == BRT_OK && c->fixed)
        return fixed_change(b, e, own.pipe, c, err);
    code = code ? code : brt_resolve(b, e->table_id, &own, c, err);
    if (code == BRT_OK && c->table->kind == BRT_VALUE_SET)
        code = brt_resolve_values(b, &own, c, err);
    if (code)
        return code;
    c->type = type;
    write_flags(e, c);
    if (e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_HANDLE_ID)
        return brt_fail(err, BRT_INVALID_ARG, "an entry is written by its key, not by its handle");
    if (brt_has_cells(c->table))
        return brt_cell_change(b, e, c, err);
    if (brt_has_groups(c->table))
        return brt_group_change(b, e, c, err);
    if (c->table->kind == BRT_PORT_METADATA)
        return brt_port_metadata_change(b, e, c, err);
    if (brt_has_hash(c->table))
        return brt_hash_change(b, e, c, err);
    if (brt_is_snapshot(c->table))
        return brt_snapshot_change(b, e, &own, c, err);
    if (c->table->kind == BRT_GET_MEMBER)
        return brt_fail(err, BRT_NOT_SUPPORTED, "table '%s' is only read", c->table->name);
    if ((code = write_check_type(c, err)))
        return code;
    const bool has_key = e->value_case == BFRT_PROTO__TABLE_ENTRY__VALUE_KEY;
    if (has_key && c->is_default && e->key->n_fields)
        return brt_fail(err, BRT_INVALID_ARG, "the default entry has no key");
    if (has_key && !c->is_default)
        code = brt_entry_key(b, e->key, c, err);
    if (code == BRT_OK)
        code = brt_entry_data(b, e->data ? e->data : &nothing, c, err);
    return code ? code : write_check_parts(c, err);
}

static enum brt_code write_resolve(struct brt *b, const BfrtProto__Update *u,
                                   const struct brt_target *target, uint32_t client,
                                   struct brt_change *c, struct sk_error *err) {
    enum brt_code code;
    c->type = u->type;
    switch (u->entity ? u->entity->entity_case : BFRT_PROTO__ENTITY__ENTITY__NOT_SET) {
    case BFRT_PROTO__ENTITY__ENTITY_TABLE_ENTRY:
        return write_entry(b, u->entity->table_entry, target, c, err);
    case BFRT_PROTO__ENTITY__ENTITY_TABLE_USAGE:
        return brt_fail(err, BRT_NOT_SUPPORTED, "the usage of a table cannot be written");
    case BFRT_PROTO__ENTITY__ENTITY_TABLE_ATTRIBUTE:
        c->fixed = fixed_table(b, u->entity->table_attribute->table_id);
        if (c->fixed) {
            c->attribute = u->entity->table_attribute;
            return fixed_attribute_change(c->fixed, c->attribute, err);
        }
        code = brt_resolve(b, u->entity->table_attribute->table_id, target, c, err);
        c->attribute = u->entity->table_attribute;
        break;
    case BFRT_PROTO__ENTITY__ENTITY_TABLE_OPERATION:
        code = brt_resolve(b, u->entity->table_operation->table_id, target, c, err);
        c->operation = u->entity->table_operation->table_operations_type;
        break;
    default:
        return brt_fail(err, BRT_NOT_SUPPORTED, "the update has nothing that can be written");
    }
    c->client = client;
    return code;
}

// ---- slices of updates ----

struct write_item {
    struct brt_change change;
    enum brt_code code;
    bool existed;
    struct sk_error err;
};
struct writing {
    struct brt *b;
    const BfrtProto__WriteRequest *request;
    struct brt_wishes wishes;
    struct brt_result *results; // of the updates, n_done of them known
    size_t n_done;
    bool short_of_memory;
    // all or nothing
    bool takes_back, failed;
    bool atomic; // and in one step for packets
    struct brt_undo *log;
    enum brt_code undone; // of an atomic list that failed: was everything put back?
    struct sk_error why;
};

static const char *write_keep(struct writing *w, const char *sentence) {
    const size_t n = strlen(sentence) + 1;
    char *kept = brt_take(&w->b->request, n);
    w->short_of_memory = w->short_of_memory || !kept;
    return kept ? memcpy(kept, sentence, n) : "";
}

static void write_note(struct writing *w, const struct write_item *i, struct brt_result *r) {
    const bool deletes = i->change.type == BFRT_PROTO__UPDATE__TYPE__DELETE;
    r->status = r->canonical = brt_rpc_status(i->code);
    r->message = i->code ? write_keep(w, i->err.text) : "";
    if (i->existed && i->code == BRT_OK) {
        r->status = RPC_ALREADY_EXISTS;
        r->message = "the entry existed and was modified";
    }
    if (w->wishes.error_in_response && w->wishes.ignore_not_found && deletes &&
        r->canonical == RPC_NOT_FOUND)
        r->canonical = RPC_OK;
}

// Does this one end a list that is done whole or not at all?
static bool write_ends(const struct writing *w, const struct write_item *i) {
    return w->takes_back && i->code != BRT_OK &&
           !(w->wishes.ignore_not_found && brt_rpc_status(i->code) == RPC_NOT_FOUND);
}

static void write_apply(struct writing *w, struct write_item *i) {
    if (i->code == BRT_OK && w->takes_back && brt_is_snapshot(i->change.table))
        i->code = brt_fail(&i->err, BRT_NOT_IMPLEMENTED,
                           "table '%s': what is done with snapshots is not taken back",
                           i->change.table->name);
    if (i->code == BRT_OK && w->takes_back && !brt_undo_save(w->b, &w->log, &i->change))
        i->code =
            brt_fail(&i->err, BRT_NO_SYS_RESOURCES, "taking updates back needs too much memory");
    if (i->code == BRT_OK)
        i->code = brt_apply(w->b, &i->change, &i->existed, &i->err);
}

// One step for packets is one pause. What may take longer than that, or more than one, is not in
// such a list: clearing, attributes, operations, fixed tables.
static enum brt_code write_check_atomic(const struct brt_change *c, struct sk_error *err) {
    const bool clears =
        c->type == BFRT_PROTO__UPDATE__TYPE__DELETE && !c->has_key && !c->is_default;
    if (!c->fixed && !c->attribute && !c->operation && !clears)
        return BRT_OK;
    return brt_fail(err, BRT_NOT_IMPLEMENTED, "table '%s': DATAPLANE_ATOMIC is not for %s",
                    c->fixed ? c->fixed->name : c->table->name,
                    c->fixed       ? "fixed tables"
                    : c->attribute ? "attributes"
                    : c->operation ? "operations"
                                   : "all entries at once");
}

// Each update is resolved before the first one is made: how many are to be tried.
static size_t write_until_bad(struct writing *w, struct write_item *items, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (items[i].code == BRT_OK)
            items[i].code = write_check_atomic(&items[i].change, &items[i].err);
        if ((w->failed = write_ends(w, &items[i])))
            return i + 1;
    }
    return n;
}

static void write_slice(struct writing *w, const struct brt_target *target,
                        struct write_item *items, struct sk_pauses *pauses) {
    const size_t left = w->request->n_updates - w->n_done;
    size_t n = left < WRITE_SLICE ? left : WRITE_SLICE;
    bool any = false;
    if (!w->takes_back)
        brt_memory_reuse(&w->b->scratch);
    for (size_t i = 0; i < n; i++) {
        items[i] = (struct write_item){.code = BRT_OK};
        items[i].code = write_resolve(w->b, w->request->updates[w->n_done + i], target,
                                      w->request->client_id, &items[i].change, &items[i].err);
        any = any || items[i].code == BRT_OK;
        if (items[i].code == BRT_OK)
            brt_prefetch(w->b, &items[i].change);
        if (items[i].change.attribute && !w->atomic) // what follows is resolved under it
            n = i + 1;
    }
    if (w->atomic)
        n = write_until_bad(w, items, n);
    any = any && !w->failed;
    if (any)
        sk_pauses_begin(pauses);
    for (size_t i = 0; any && i < n; i++) {
        write_apply(w, &items[i]);
        if ((w->failed = write_ends(w, &items[i])))
            n = i + 1;
    }
    if (w->atomic && w->failed) {
        w->undone = brt_undo_paused(w->b, w->log, &w->why);
        w->log = NULL;
    }
    if (any)
        sk_pauses_end(pauses);
    for (size_t i = 0; i < n; i++)
        if (items[i].code == BRT_OK)
            brt_tend(w->b, &items[i].change);
    for (size_t i = 0; i < n; i++)
        write_note(w, &items[i], &w->results[w->n_done + i]);
    w->n_done += n;
}

// Of the next slice, at most; to take memory is to clear it.
static struct write_item *write_items(struct writing *w) {
    const size_t left = w->request->n_updates - w->n_done;
    const size_t n = left < WRITE_SLICE ? left : WRITE_SLICE;
    return brt_take(&w->b->request, (n + 1) * sizeof(struct write_item));
}

// False when its time was over before its end; what was written stays.
static bool write_all(struct writing *w, const struct brt_target *target) {
    struct sk_pauses *pauses = brt_pauses(w->b, true);
    struct write_item *items = write_items(w);
    w->results = brt_take(&w->b->request, (w->request->n_updates + 1) * sizeof *w->results);
    w->short_of_memory = !items || !w->results;
    while (!w->short_of_memory && !w->failed && w->n_done < w->request->n_updates) {
        if (brt_is_late(&w->wishes))
            return false;
        write_slice(w, target, items, pauses);
        if (w->takes_back) // the log points to them
            items = write_items(w);
        w->short_of_memory = w->short_of_memory || !items;
    }
    return true;
}

// ---- the answer ----

static void brt_write_answer(const struct writing *w, const struct brt_call *c) {
    BfrtProto__WriteResponse response = BFRT_PROTO__WRITE_RESPONSE__INIT;
    BfrtProto__Error *errors = brt_take(&w->b->request, (w->n_done + 1) * sizeof *errors);
    response.status = brt_take(&w->b->request, (w->n_done + 1) * sizeof *response.status);
    if (!errors || !response.status) {
        brt_end(c, BRT_NO_SYS_RESOURCES, "the answer needs too much memory");
        return;
    }
    for (size_t i = 0; i < w->n_done; i++) {
        const struct brt_result *r = &w->results[i];
        if (!w->wishes.error_in_response && r->status == r->canonical)
            continue;
        BfrtProto__Error *e = &errors[response.n_status];
        bfrt_proto__error__init(e);
        e->canonical_code = (int32_t)r->canonical;
        e->code = r->status == r->canonical ? 0 : (int32_t)r->status;
        e->message = (char *)r->message;
        response.status[response.n_status++] = e;
    }
    brt_send(c, &response.base);
    brt_end(c, BRT_OK, NULL);
}

static bool write_is_good(const struct writing *w) {
    for (size_t i = 0; i < w->n_done; i++)
        if (w->results[i].canonical != RPC_OK)
            return false;
    return true;
}

static void brt_write_request(struct brt *b, const struct brt_call *c,
                              const BfrtProto__WriteRequest *request) {
    struct writing w = {.b = b, .request = request, .wishes = brt_wishes(c)};
    struct brt_target target;
    struct sk_error err;
    const uint32_t device = request->target ? request->target->device_id : 0;
    enum brt_code code = brt_may(b, request->client_id, device, request->p4_name, &err);
    w.atomic = request->atomicity == BFRT_PROTO__WRITE_REQUEST__ATOMICITY__DATAPLANE_ATOMIC;
    w.takes_back =
        w.atomic || request->atomicity == BFRT_PROTO__WRITE_REQUEST__ATOMICITY__ROLLBACK_ON_ERROR;
    if (code == BRT_OK && request->atomicity && !w.takes_back)
        code = brt_fail(&err, BRT_NOT_IMPLEMENTED, "there is no such atomicity");
    if (code == BRT_OK && w.atomic && request->n_updates > WRITE_SLICE)
        code = brt_fail(&err, BRT_NO_SPACE, "in one step for packets there are at most %u updates",
                        WRITE_SLICE);
    if (code == BRT_OK)
        code = brt_target(request->target, &target, &err);
    const bool in_time = code || write_all(&w, &target);
    if (!code && (!in_time || w.failed || w.short_of_memory))
        code = w.atomic && w.undone ? brt_fail(&err, w.undone, "%s", w.why.text)
                                    : brt_undo_all(b, w.log, &err);
    if (code)
        brt_end(c, code, err.text);
    else if (!in_time)
        c->carrier->end(c->call, RPC_DEADLINE_EXCEEDED, "the call's time was over", NULL, 0);
    else if (w.short_of_memory)
        brt_end(c, BRT_NO_SYS_RESOURCES, "the request needs too much memory");
    else if (write_is_good(&w))
        brt_write_answer(&w, c);
    else
        brt_end_list(b, c, "Write Error Status", w.results, w.n_done);
}

void brt_write(struct brt *b, const struct brt_call *c, const uint8_t *bytes, size_t length) {
    BfrtProto__WriteRequest *request =
        bfrt_proto__write_request__unpack(&b->request.allocator, length, bytes);
    if (request)
        brt_write_request(b, c, request);
    else
        brt_end_unread(b, c);
    brt_memory_reuse(&b->request);
    brt_memory_reuse(&b->scratch);
}
