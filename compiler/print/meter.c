// SPDX-License-Identifier: Apache-2.0
//
// meter: counters, meters and filters: what packets do to them, their memory and descriptions.
//
// A direct one's cell is in the table entry ("entry"); of the others the pipe's state holds arrays.
// An index beyond the last cell counts nothing, and is to a meter a cell nobody configured.
#include "compiler/ir/walk.h"
#include "compiler/print/emit_impl.h"

static char letter(const struct emit *e) {
    return e->g->kind == IR_INGRESS ? 'i' : 'e';
}

// ---- counting -----------------------------------------------------------------------------------

// A length in bytes with an adjustment, never below zero.
static const char *emit_meter_adjusted(const struct emit *e, const char *bytes, int64_t adjust) {
    if (adjust == 0)
        return bytes;
    if (adjust < 0)
        return emit_text(e, "(%s + %lldu)", bytes, (long long)-adjust);
    return emit_text(e, "(%s > %lldu ? %s - %lldu : 0u)", bytes, (long long)adjust, bytes,
                     (long long)adjust);
}

static void count_cell(const struct emit *e, const struct ir_stmt *s, const char *cell) {
    const struct ir_counter *const c = s->counter;
    const char *const counted = emit_meter_adjusted(e, "v->packet_bytes", c->adjust);
    if (s->flag)
        emit_note_count(e, c->type != IR_COUNT_BYTES ? emit_text(e, "%spackets", cell) : NULL,
                        c->type != IR_COUNT_PACKETS ? emit_text(e, "%sbytes", cell) : NULL,
                        counted);
    if (c->type != IR_COUNT_BYTES)
        emit_line(e, "%spackets++;", cell);
    if (c->type != IR_COUNT_PACKETS && c->true_egress)
        emit_line(e, "v->late%u = &%sbytes;", c->id, cell);
    else if (c->type != IR_COUNT_PACKETS)
        emit_line(e, "%sbytes += %s;", cell, counted);
}

void emit_count(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_counter *c = s->counter;
    if (c->direct) {
        count_cell(e, s, "entry->");
        return;
    }
    unsigned t = e->to->n_temps++;
    emit_open(e, "{");
    emit_line(e, "const uint64_t i%u = %s;", t, emit_u64(e, s->e));
    emit_open(e, "if (i%u < UINT64_C(%llu)) {", t, (unsigned long long)c->size);
    count_cell(e, s, emit_text(e, "s->%c_counter%u[i%u].", letter(e), c->id, t));
    emit_close(e, "}");
    emit_close(e, "}");
}

// Of IR_COUNT_LEAVING: the cell, from IR_COUNT to where the packet leaves.
static void emit_meter_late_member(void *aux, const struct ir_stmt *s) {
    const struct emit *e = aux;
    if (s->kind == IR_COUNT_LEAVING)
        emit_line(e, "uint64_t *late%u; // %s: bytes counted when the packet leaves",
                  s->counter->id, emit_comment(e, s->counter->name));
}

void emit_late_members(const struct emit *e) {
    struct emit of = *e;
    ir_walk(e->g->deparser, emit_meter_late_member, NULL, &of);
}

static void emit_meter_late_count(void *aux, const struct ir_stmt *s) {
    const struct emit *e = aux;
    if (s->kind != IR_COUNT_LEAVING)
        return;
    emit_line(e, "if (v->late%u)", s->counter->id);
    emit_line(e, "    *v->late%u += %s;", s->counter->id,
              emit_meter_adjusted(e, "(packet->len + SK_FCS_BYTES)", s->counter->adjust));
}

void emit_late_counts(const struct emit *e) {
    struct emit of = *e;
    ir_walk(e->g->deparser, emit_meter_late_count, NULL, &of);
}

// ---- metering -----------------------------------------------------------------------------------

bool emit_has_meters_of_bytes(const struct emit *e) {
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].meters.n; i++)
            if (ir_meter_of_bytes(e->pipeline->gress[k].meters.v[i]))
                return true;
    return false;
}

// Declares 'cell'.
static void emit_meter_find_cell(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_meter *m = s->meter;
    if (m->direct) {
        emit_line(e, "struct sk_meter_cell *const cell = entry->meter;");
        return;
    }
    emit_line(e, "const uint64_t at = %s;", emit_u64(e, s->e));
    emit_line(e,
              "struct sk_meter_cell *const cell = at < UINT64_C(%llu) ? &s->%c_meter%u[at] : NULL;",
              (unsigned long long)m->size, letter(e), m->id);
}

static const char *color_text(const struct emit *e, const struct ir_stmt *s) {
    return s->e2 ? emit_text(e, "sk_color_of(%s)", emit_u64(e, s->e2)) : "SK_GREEN";
}

static const char *emit_meter_result(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_meter *m = s->meter;
    const uint8_t *v = m->value;
    if (m->kind == IR_LPF)
        return emit_text(e, "sk_lpf_run(cell, v->now, (uint32_t)%s, %u)", emit_u64(e, s->e2),
                         m->width);
    if (m->kind == IR_WRED)
        return emit_text(e,
                         "sk_wred_run(cell, v->now, (uint32_t)%s, &s->%c_meter%u_random) ? %u : %u",
                         emit_u64(e, s->e2), letter(e), m->id, v[1], v[0]);
    const char *mark =
        m->bytes ? emit_text(e,
                             "sk_meter_bytes(cell, v->now, sk_meter_counted(v->packet_bytes, "
                             "s->%c_meter%u_more), %s)",
                             letter(e), m->id, color_text(e, s))
                 : emit_text(e, "sk_meter_packet(cell, v->now, %s)", color_text(e, s));
    return emit_text(e, "((const uint8_t[]){%u, %u, %u})[%s]", v[0], v[1], v[2], mark);
}

void emit_meter_exec(const struct emit *e, const struct ir_stmt *s) {
    emit_open(e, "{ // %s", emit_comment(e, s->meter->name));
    emit_meter_find_cell(e, s);
    emit_line(e, "%s;", emit_set(e, s->var, emit_meter_result(e, s)));
    emit_close(e, "}");
}

// ---- memory -------------------------------------------------------------------------------------

void emit_meter_state(const struct emit *e) {
    for (size_t i = 0; i < e->g->meters.n; i++) {
        const struct ir_meter *m = e->g->meters.v[i];
        if (!m->direct)
            emit_line(e, "struct sk_meter_cell %c_meter%zu[%llu]; // %s", letter(e), i,
                      (unsigned long long)(m->size + !m->size), emit_comment(e, m->name));
        if (m->kind == IR_WRED)
            emit_line(e, "uint64_t %c_meter%zu_random;", letter(e), i);
        if (ir_meter_of_bytes(m))
            emit_line(e, "int32_t %c_meter%zu_more; // bytes that are added to a packet's",
                      letter(e), i);
    }
}

// Random numbers of streams of their own, apart from those of Random externs; adjustments of bytes.
void emit_meter_start(const struct emit *e) {
    for (size_t i = 0; i < e->g->meters.n; i++) {
        const struct ir_meter *m = e->g->meters.v[i];
        if (m->kind == IR_WRED)
            emit_line(e, "s->%c_meter%zu_random = sk_prng_seed(seed, UINT64_C(0x%llx));", letter(e),
                      i, (1ull << 32) + 2 * i + (e->g->kind == IR_EGRESS));
        if (ir_meter_of_bytes(m) && m->adjust)
            emit_line(e, "s->%c_meter%zu_more = %lld;", letter(e), i, -(long long)m->adjust);
    }
}

// ---- descriptions -------------------------------------------------------------------------------

// Number of the table in the pipeline's list whose entries hold it.
static size_t owner_of(const struct emit *e, unsigned k, const struct ir_counter *c,
                       const struct ir_meter *m) {
    const struct ir_gress *g = &e->pipeline->gress[k];
    size_t before = k ? e->pipeline->gress[0].tables.n : 0;
    for (size_t i = 0; i < g->tables.n; i++) {
        const struct ir_table *t = g->tables.v[i];
        if ((m && t->direct_meter == m) ||
            (c && t->direct_counters.n && t->direct_counters.v[0] == c))
            return before + i;
    }
    return 0;
}

void emit_counter_descs(const struct emit *e) {
    emit_open(e, "static const struct sk_counter_desc p%u_counters[] = {", e->pipeline_index);
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].counters.n; i++) {
            const struct ir_counter *c = e->pipeline->gress[k].counters.v[i];
            emit_line(e, "{.name = %s, .type = %d, .size = %llu, .direct = %d, .table = %zu},",
                      emit_string(e, c->name), (int)c->type, (unsigned long long)c->size, c->direct,
                      c->direct ? owner_of(e, k, c, NULL) : 0);
        }
    emit_line(e, "{.name = NULL},");
    emit_close(e, "};");
}

static const char *kind_name(const struct ir_meter *m) {
    return m->kind == IR_METER ? "SK_METER" : m->kind == IR_LPF ? "SK_LPF" : "SK_WRED";
}

void emit_meter_descs(const struct emit *e) {
    emit_open(e, "static const struct sk_meter_desc p%u_meters[] = {", e->pipeline_index);
    for (unsigned k = 0; k < 2; k++)
        for (size_t i = 0; i < e->pipeline->gress[k].meters.n; i++) {
            const struct ir_meter *m = e->pipeline->gress[k].meters.v[i];
            emit_line(e,
                      "{.name = %s, .kind = %s, .bytes = %d, .size = %llu, .direct = %d, .table = "
                      "%zu},",
                      emit_string(e, m->name), kind_name(m), m->bytes, (unsigned long long)m->size,
                      m->direct, m->direct ? owner_of(e, k, NULL, m) : 0);
        }
    emit_line(e, "{.name = NULL},");
    emit_close(e, "};");
}

void emit_table_attachments(const struct emit *e, const struct ir_table *t) {
    if (t->direct_counters.n)
        emit_line(e, ".has_counter = true, .counter_type = %d,",
                  (int)t->direct_counters.v[0]->type);
    if (t->direct_meter)
        emit_line(e, ".meter_kind = %s, .meter_bytes = %d,", kind_name(t->direct_meter),
                  t->direct_meter->bytes);
    if (t->idle_timeout)
        emit_line(e, ".idle_timeout = true,");
}
