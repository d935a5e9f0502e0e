// SPDX-License-Identifier: Apache-2.0
//
// Cells of counters, meters and registers (P4Runtime specification, sections 9.3, 9.4 and 9.7).
// Rates and bursts are bytes there and kilobits in the switch, 125 bytes each: rates are rounded up,
// so that a meter with a rate has one, and bursts down, so that no packet passes that is longer.
#include <stdio.h>

#include "p4rt/p4rt_impl.h"

#define CELLS_BYTES_PER_KBIT 125u

static enum rpc_status cells_index(const struct p4rt_array *a, const P4__V1__Index *index,
                                   struct brt_change *c, struct sk_error *err) {
    const char *name = a->table->name;
    if (!index)
        return p4rt_fail(err, RPC_UNIMPLEMENTED,
                         "'%s': the index is missing: cells are written "
                         "one by one",
                         name);
    if (index->index < 0)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "'%s': an index is not negative", name);
    if ((uint64_t)index->index >= a->table->size)
        return p4rt_fail(err, RPC_OUT_OF_RANGE, "'%s' has %llu cells; there is no index %lld", name,
                         (unsigned long long)a->table->size, (long long)index->index);
    c->index = (uint64_t)index->index;
    c->has_key = true;
    return RPC_OK;
}

// Whatever a message of an array says first: which cell, and that it is to be modified.
static enum rpc_status cells_begin(struct p4rt *p, P4__V1__Update__Type type, enum brt_kind kind,
                                   uint32_t id, const P4__V1__Index *index, struct brt_change *c,
                                   const struct p4rt_array **out, struct sk_error *err) {
    static const char *const kinds[] = {
        [BRT_COUNTER] = "counter", [BRT_METER] = "meter", [BRT_REGISTER] = "register"};
    const struct p4rt_array *a = *out = p4rt_info_array(p->info, id, kind);
    if (!a)
        return p4rt_fail(err, RPC_NOT_FOUND, "there is no %s %u", kinds[kind], id);
    if (type != P4__V1__UPDATE__TYPE__MODIFY)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "'%s': cells are only modified",
                         a->table->name);
    const enum rpc_status status = p4rt_begin(p, a->table, type, c, err);
    return status ? status : cells_index(a, index, c, err);
}

// ---- counters ----

enum rpc_status p4rt_counter_change(struct p4rt *p, P4__V1__Update__Type type,
                                    const P4__V1__CounterEntry *e, struct brt_change *c,
                                    struct sk_error *err) {
    const struct p4rt_array *a;
    const enum rpc_status status =
        cells_begin(p, type, BRT_COUNTER, e->counter_id, e->index, c, &a, err);
    if (status)
        return status;
    if (!e->data || e->data->byte_count < 0 || e->data->packet_count < 0)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "'%s': %s", a->table->name,
                         e->data ? "a count is not negative" : "the data are missing");
    c->counts = (struct sk_counter_cell){.packets = (uint64_t)e->data->packet_count,
                                         .bytes = (uint64_t)e->data->byte_count};
    return RPC_OK;
}

// ---- meters ----

static enum rpc_status cells_rate(int64_t value, const char *name, bool up,
                                  const struct sk_holder *holder, struct sk_attached *out,
                                  struct sk_error *err) {
    const uint64_t unit = holder->meter_bytes ? CELLS_BYTES_PER_KBIT : 1;
    char text[24];
    if (value < 0)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "a meter's rates and bursts are not negative");
    snprintf(text, sizeof text, "%llu",
             (unsigned long long)((uint64_t)value / unit + (up && (uint64_t)value % unit != 0)));
    return sk_attached_parse(holder, name, text, out, err) ? RPC_OUT_OF_RANGE : RPC_OK;
}

enum rpc_status p4rt_meter_spec(const P4__V1__MeterConfig *config, const struct sk_holder *holder,
                                struct sk_attached *out, struct sk_error *err) {
    static const char *const names[2][4] = {{"$METER_SPEC_CIR_PPS", "$METER_SPEC_CBS_PKTS",
                                             "$METER_SPEC_PIR_PPS", "$METER_SPEC_PBS_PKTS"},
                                            {"$METER_SPEC_CIR_KBPS", "$METER_SPEC_CBS_KBITS",
                                             "$METER_SPEC_PIR_KBPS", "$METER_SPEC_PBS_KBITS"}};
    const int64_t values[] = {config->cir, config->cburst, config->pir, config->pburst};
    enum rpc_status status = RPC_OK;
    if (config->eburst)
        return p4rt_fail(err, RPC_UNIMPLEMENTED, "a meter has two rates, without an excess burst");
    for (int i = 0; status == RPC_OK && i < 4; i++)
        status = cells_rate(values[i], names[holder->meter_bytes][i], i % 2 == 0, holder, out, err);
    return status;
}

bool p4rt_meter_message(const struct sk_meter_cell *cell, bool bytes, P4__V1__MeterConfig *out) {
    const int64_t unit = bytes ? CELLS_BYTES_PER_KBIT : 1;
    p4__v1__meter_config__init(out);
    if (!cell || !cell->configured)
        return false;
    out->cir = (int64_t)cell->meter.spec.cir * unit;
    out->pir = (int64_t)cell->meter.spec.pir * unit;
    out->cburst = (int64_t)cell->meter.spec.cbs * unit;
    out->pburst = (int64_t)cell->meter.spec.pbs * unit;
    return true;
}

// A meter without a configuration is as if it never had one: the change then has no specification.
enum rpc_status p4rt_meter_change(struct p4rt *p, P4__V1__Update__Type type,
                                  const P4__V1__MeterEntry *e, struct brt_change *c,
                                  struct sk_error *err) {
    const struct p4rt_array *a;
    const enum rpc_status status =
        cells_begin(p, type, BRT_METER, e->meter_id, e->index, c, &a, err);
    if (status || !e->config)
        return status;
    if (e->counter_data)
        return p4rt_fail(err, RPC_UNIMPLEMENTED, "meters do not count by colour");
    const struct sk_meter_desc *d = &a->table->object.desc->meters[a->table->object.index];
    const struct sk_holder holder = {
        .what = a->table->name, .meter_kind = d->kind, .meter_bytes = d->bytes};
    return p4rt_meter_spec(e->config, &holder, &c->attached, err);
}

// ---- registers ----

struct cells_bits {
    uint32_t width;
    bool is_signed;
};

static struct cells_bits cells_type(const P4__Config__V1__P4DataTypeSpec *type) {
    const P4__Config__V1__P4BitstringLikeTypeSpec *b = type->bitstring;
    if (type->type_spec_case != P4__CONFIG__V1__P4_DATA_TYPE_SPEC__TYPE_SPEC_BITSTRING)
        return (struct cells_bits){.width = 0};
    if (b->type_spec_case == P4__CONFIG__V1__P4_BITSTRING_LIKE_TYPE_SPEC__TYPE_SPEC_INT)
        return (struct cells_bits){.width = (uint32_t)b->int_->bitwidth, .is_signed = true};
    return (struct cells_bits){.width = (uint32_t)b->bit->bitwidth};
}

// The values of a register: one, or those of a tuple.
static size_t cells_types(const P4__Config__V1__P4DataTypeSpec *type, struct cells_bits out[2]) {
    if (type->type_spec_case != P4__CONFIG__V1__P4_DATA_TYPE_SPEC__TYPE_SPEC_TUPLE) {
        out[0] = cells_type(type);
        return 1;
    }
    for (size_t i = 0; i < 2 && i < type->tuple->n_members; i++)
        out[i] = cells_type(type->tuple->members[i]);
    return type->tuple->n_members;
}

enum rpc_status p4rt_register_change(struct p4rt *p, P4__V1__Update__Type type,
                                     const P4__V1__RegisterEntry *e, struct brt_change *c,
                                     struct sk_error *err) {
    const struct p4rt_array *a;
    struct cells_bits types[2];
    enum rpc_status status =
        cells_begin(p, type, BRT_REGISTER, e->register_id, e->index, c, &a, err);
    if (status)
        return status;
    const size_t n = cells_types(a->type, types);
    const P4__V1__P4Data *d = e->data;
    const bool tuple =
        n == 2 && d && d->data_case == P4__V1__P4_DATA__DATA_TUPLE && d->tuple->n_members == 2;
    if (!tuple && !(n == 1 && d && d->data_case == P4__V1__P4_DATA__DATA_BITSTRING))
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "register '%s' holds %s", a->table->name,
                         n == 1 ? "a bit string" : "a tuple of two bit strings");
    c->data = brt_take(brt_scratch_memory(p->b), 4 * sizeof *c->data);
    if (!c->data)
        return p4rt_no_memory(err);
    for (size_t i = 0; status == RPC_OK && i < n; i++) {
        const P4__V1__P4Data *member = tuple ? d->tuple->members[i] : d;
        if (member->data_case != P4__V1__P4_DATA__DATA_BITSTRING)
            return p4rt_fail(err, RPC_INVALID_ARGUMENT, "register '%s' holds bit strings",
                             a->table->name);
        status = p4rt_words(&member->bitstring, types[i].width, types[i].is_signed, a->table->name,
                            c->data + i, err);
    }
    return status;
}

// ---- reads ----

static bool cells_register_data(struct p4rt *p, const struct p4rt_array *a, const uint64_t *words,
                                P4__V1__P4Data *out) {
    struct cells_bits types[2];
    struct brt_memory *m = brt_scratch_memory(p->b);
    const size_t n = cells_types(a->type, types);
    p4__v1__p4_data__init(out);
    if (n == 1) {
        out->data_case = P4__V1__P4_DATA__DATA_BITSTRING;
        return p4rt_bytes(m, words, types[0].width, types[0].is_signed, &out->bitstring);
    }
    P4__V1__P4StructLike *tuple = brt_take(m, sizeof *tuple);
    P4__V1__P4Data *members = brt_take(m, n * sizeof *members);
    if (!tuple || !members)
        return false;
    p4__v1__p4_struct_like__init(tuple);
    tuple->members = brt_take(m, n * sizeof *tuple->members);
    out->data_case = P4__V1__P4_DATA__DATA_TUPLE;
    out->tuple = tuple;
    for (size_t i = 0; tuple->members && i < n; i++) {
        p4__v1__p4_data__init(&members[i]);
        members[i].data_case = P4__V1__P4_DATA__DATA_BITSTRING;
        tuple->members[tuple->n_members++] = &members[i];
        if (!p4rt_bytes(m, words + i, types[i].width, types[i].is_signed, &members[i].bitstring))
            return false;
    }
    return tuple->members;
}

struct cells_cell {
    struct sk_counter_cell counts; // the sum of all pipes
    struct sk_meter_cell meter;    // of the first pipe
    uint64_t words[2];             // the same of a register
};

static void cells_copy(struct p4rt *p, const struct brt_change *c, uint64_t index,
                       struct cells_cell *out) {
    const struct brt_table *t = c->table;
    *out = (struct cells_cell){.counts = {0}};
    for (unsigned i = 0; t->kind == BRT_COUNTER && i < c->pipes.n; i++) {
        struct sk_counter_cell cell;
        brt_cells_copy(p->b, t, c->pipes.list[i], index, index + 1, &cell);
        out->counts.packets += cell.packets;
        out->counts.bytes += cell.bytes;
    }
    if (t->kind == BRT_METER)
        brt_cells_copy(p->b, t, c->pipes.list[0], index, index + 1, &out->meter);
    else if (t->kind == BRT_REGISTER)
        brt_cells_copy(p->b, t, c->pipes.list[0], index, index + 1, out->words);
}

static bool cells_emit(struct p4rt_answer *answer, struct p4rt *p, const struct p4rt_array *a,
                       const struct brt_change *c, uint64_t at) {
    P4__V1__Entity entity = P4__V1__ENTITY__INIT;
    P4__V1__Index index = P4__V1__INDEX__INIT;
    P4__V1__CounterEntry counter = P4__V1__COUNTER_ENTRY__INIT;
    P4__V1__CounterData counts = P4__V1__COUNTER_DATA__INIT;
    P4__V1__MeterEntry meter = P4__V1__METER_ENTRY__INIT;
    P4__V1__MeterConfig config;
    P4__V1__RegisterEntry reg = P4__V1__REGISTER_ENTRY__INIT;
    P4__V1__P4Data data;
    struct cells_cell cell;
    cells_copy(p, c, at, &cell);
    index.index = (int64_t)at;
    if (a->table->kind == BRT_COUNTER) {
        entity.entity_case = P4__V1__ENTITY__ENTITY_COUNTER_ENTRY;
        entity.counter_entry = &counter;
        counter.counter_id = a->id;
        counter.index = &index;
        counter.data = &counts;
        counts.packet_count = (int64_t)cell.counts.packets;
        counts.byte_count = (int64_t)cell.counts.bytes;
    } else if (a->table->kind == BRT_METER) {
        const bool bytes = a->table->object.desc->meters[a->table->object.index].bytes;
        entity.entity_case = P4__V1__ENTITY__ENTITY_METER_ENTRY;
        entity.meter_entry = &meter;
        meter.meter_id = a->id;
        meter.index = &index;
        meter.config = p4rt_meter_message(&cell.meter, bytes, &config) ? &config : NULL;
    } else {
        entity.entity_case = P4__V1__ENTITY__ENTITY_REGISTER_ENTRY;
        entity.register_entry = &reg;
        reg.register_id = a->id;
        reg.index = &index;
        reg.data = &data;
        if (!cells_register_data(p, a, cell.words, &data))
            return false;
    }
    return p4rt_answer_add(answer, &entity);
}

static enum rpc_status cells_read_array(struct p4rt *p, struct p4rt_answer *answer,
                                        const struct p4rt_array *a, const P4__V1__Index *index,
                                        struct sk_error *err) {
    struct brt_change c;
    enum rpc_status status = p4rt_begin(p, a->table, P4__V1__UPDATE__TYPE__MODIFY, &c, err);
    if (status == RPC_OK && index)
        status = cells_index(a, index, &c, err);
    if (status)
        return status;
    p4rt_answer_pause(answer);
    if (index)
        return cells_emit(answer, p, a, &c, c.index) ? RPC_OK : p4rt_no_memory(err);
    for (uint64_t i = 0; i < a->table->size; i++) {
        p4rt_answer_pause(answer);
        if (!cells_emit(answer, p, a, &c, i))
            return p4rt_no_memory(err);
    }
    return RPC_OK;
}

enum rpc_status p4rt_cells_read(struct p4rt *p, struct p4rt_answer *answer, enum brt_kind kind,
                                uint32_t id, const P4__V1__Index *index, struct sk_error *err) {
    const struct p4rt_array *a = p4rt_info_array(p->info, id, kind);
    enum rpc_status status = RPC_OK;
    if (id && !a)
        return p4rt_fail(err, RPC_NOT_FOUND, "the program has nothing with id %u of this kind", id);
    if (id)
        return cells_read_array(p, answer, a, index, err);
    if (index)
        return p4rt_fail(err, RPC_INVALID_ARGUMENT, "an index needs the id of what it belongs to");
    for (size_t i = 0; status == RPC_OK && i < p->info->n_arrays; i++)
        if (p->info->arrays[i].table->kind == kind)
            status = cells_read_array(p, answer, &p->info->arrays[i], NULL, err);
    return status;
}
