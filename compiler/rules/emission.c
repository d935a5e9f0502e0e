// SPDX-License-Identifier: Apache-2.0
//
// emission: what emission refuses, found before anything is printed.
#include "compiler/rules/rules.h"

#include "compiler/ir/emitted.h"

#include "stages/meter.h"
#include "stages/table.h"

struct emission {
    struct diag *d;
    const struct ir_gress *g;
};

static void rules_emission_check_register(const struct emission *e, const struct ir_register *r,
                                          uint64_t *bytes) {
    if (r->width > 64 || r->words < 1 || r->words > 2)
        diag_unsupported(e->d, r->at, "register '%s' of %u words of %u bits", r->name, r->words,
                         r->width);
    bool owned = !r->direct;
    for (size_t i = 0; i < e->g->tables.n; i++)
        for (size_t k = 0; k < e->g->tables.v[i]->direct_registers.n; k++)
            owned = owned || e->g->tables.v[i]->direct_registers.v[k] == r;
    if (!owned)
        diag_error(e->d, r->at,
                   "register '%s' belongs to no table; list it in a table's "
                   "'registers' property",
                   r->name);
    uint64_t each = (r->width + 7) / 8 * r->words;
    if (r->size > RULES_MAX_STATE / each)
        diag_limit(e->d, r->at,
                   "register '%s' has %llu cells; all registers and counters of a pipe together "
                   "may take 4 GiB",
                   r->name, (unsigned long long)r->size);
    else
        *bytes += r->size * each;
}

static void check_regaction(const struct emission *e, const struct ir_regaction *ra) {
    const struct ir_register *r = ra->reg;
    uint64_t memory = r->size * r->width * r->words; // bounded by rules_emission_check_register
    if (!r->direct && memory < (uint64_t)ra->width * ra->words)
        diag_error(e->d, ra->at,
                   "register '%s' has %llu bits in all; action '%s' works on entries of %u",
                   r->name, (unsigned long long)memory, ra->name, ra->width * ra->words);
}

static void check_counter(const struct emission *e, const struct ir_counter *c, uint64_t *bytes) {
    if (c->size > RULES_MAX_STATE / 16)
        diag_limit(e->d, c->at,
                   "counter '%s' has %llu cells; all registers and counters of a pipe together may "
                   "take 4 GiB",
                   c->name, (unsigned long long)c->size);
    else
        *bytes += c->size * 16;
}

// A direct one that no table has would have no cells.
static void check_owned(const struct emission *e, const struct ir_counter *c,
                        const struct ir_meter *m) {
    bool owned = false;
    for (size_t i = 0; i < e->g->tables.n; i++) {
        const struct ir_table *t = e->g->tables.v[i];
        owned = owned || (m && t->direct_meter == m);
        for (size_t k = 0; k < t->direct_counters.n; k++)
            owned = owned || t->direct_counters.v[k] == c;
    }
    if (!owned && c && c->direct)
        diag_error(e->d, c->at,
                   "counter '%s' belongs to no table; list it in a table's 'counters' property",
                   c->name);
    if (!owned && m && m->direct)
        diag_error(e->d, m->at, "'%s' belongs to no table; list it in a table's '%s' property",
                   m->name, m->kind == IR_METER ? "meters" : "filters");
}

static void check_meter(const struct emission *e, const struct ir_meter *m, uint64_t *bytes) {
    const uint64_t each = sizeof(struct sk_meter_cell);
    if (m->size > RULES_MAX_STATE / each)
        diag_limit(e->d, m->at,
                   "meter '%s' has %llu cells; all registers, counters and meters of a pipe "
                   "together may take 4 GiB",
                   m->name, (unsigned long long)m->size);
    else
        *bytes += m->size * each;
}

static unsigned rules_emission_bytes_of(unsigned width) {
    return (width + 7) / 8;
}

static void rules_emission_check_action(const struct emission *e, const struct ir_action *a) {
    unsigned bytes = 0;
    for (size_t i = 0; i < a->params.n; i++)
        bytes += rules_emission_bytes_of(a->params.v[i].var->width);
    if (bytes > SK_MAX_DATA_BYTES)
        diag_limit(e->d, a->at, "the parameters of action '%s' take %u bytes; at most %u", a->name,
                   bytes, SK_MAX_DATA_BYTES);
}

static void rules_emission_check_table(const struct emission *e, const struct ir_table *t) {
    unsigned bytes = 0;
    for (size_t i = 0; i < t->keys.n; i++)
        bytes += rules_emission_bytes_of(t->keys.v[i].expr->width);
    if (bytes > SK_MAX_KEY_BYTES)
        diag_limit(e->d, t->at, "the key of table '%s' takes %u bytes; at most %u", t->name, bytes,
                   SK_MAX_KEY_BYTES);
}

static void check_hash(const struct emission *e, const struct ir_hash *h) {
    if (h->width > RULES_MAX_WIDTH)
        diag_unsupported(e->d, h->at, "hash '%s' of %u bits; at most %u", h->name, h->width,
                         RULES_MAX_WIDTH);
    if (h->algorithm == IR_HASH_CRC && (h->crc_width < 1 || h->crc_width > 64))
        diag_unsupported(e->d, h->at, "hash '%s': a CRC of %u bits; at most 64", h->name,
                         h->crc_width);
}

static void rules_emission_check_gress(const struct emission *e, uint64_t *bytes) {
    const struct ir_gress *g = e->g;
    for (size_t i = 0; i < g->registers.n; i++)
        rules_emission_check_register(e, g->registers.v[i], bytes);
    for (size_t i = 0; i < g->regactions.n; i++)
        check_regaction(e, g->regactions.v[i]);
    for (size_t i = 0; i < g->counters.n; i++)
        check_counter(e, g->counters.v[i], bytes);
    for (size_t i = 0; i < g->meters.n; i++)
        check_meter(e, g->meters.v[i], bytes);
    for (size_t i = 0; i < g->counters.n; i++)
        check_owned(e, g->counters.v[i], NULL);
    for (size_t i = 0; i < g->meters.n; i++)
        check_owned(e, NULL, g->meters.v[i]);
    for (size_t i = 0; i < g->actions.n; i++)
        rules_emission_check_action(e, g->actions.v[i]);
    for (size_t i = 0; i < g->tables.n; i++)
        rules_emission_check_table(e, g->tables.v[i]);
    for (size_t i = 0; i < g->hashes.n; i++)
        check_hash(e, g->hashes.v[i]);
}

unsigned emit_most_allowed(const struct ir_program *p) {
    const unsigned chip = ir_limits(p)->deparser_bytes;
    return chip < RULES_MAX_HEADERS ? chip : RULES_MAX_HEADERS;
}

// The type of a digest goes along in a byte of its own.
static void check_digest(struct diag *d, const struct chip_limits *l, const struct ir_digest *g) {
    const unsigned bytes = (g->bits + 7) / 8 + 1, most = l->digest_bits / 8;
    if (bytes > most)
        diag_error(d, g->at, "digest '%s' has %u bytes with its type; at most %u", g->name, bytes,
                   most);
}

static void check_deparser(struct arena *a, struct diag *d, const struct ir_program *p,
                           const struct ir_gress *g) {
    const struct chip_limits *l = ir_limits(p);
    const char *const gress = g->kind == IR_INGRESS ? "ingress" : "egress";
    const ir_header_vec emits = ir_emits(a, g, d);
    const unsigned most = ir_most_emitted(a, g);
    for (size_t i = 0; i < g->digests.n; i++)
        check_digest(d, l, g->digests.v[i]);
    if (most > l->deparser_bytes)
        diag_error(d, emits.v[0]->at,
                   "the %s deparser can emit %u bytes of headers; a %s emits at most %u", gress,
                   most, l->title, l->deparser_bytes);
    else if (most > emit_most_allowed(p))
        diag_unsupported(d, emits.v[0]->at,
                         "the %s deparser can emit %u bytes of headers; Silken has room for %u",
                         gress, most, emit_most_allowed(p));
}

bool emit_check(struct arena *a, struct diag *d, const struct ir_program *program,
                const struct ir_pipeline *p) {
    unsigned errors = diag_errors(d);
    uint64_t bytes = 0;
    for (unsigned k = 0; k < 2; k++)
        check_deparser(a, d, program, &p->gress[k]);
    for (unsigned k = 0; k < 2; k++)
        rules_emission_check_gress(&(struct emission){d, &p->gress[k]}, &bytes);
    if (bytes > RULES_MAX_STATE)
        diag_limit(d, (struct loc){0},
                   "pipeline '%s': its registers and counters take %llu "
                   "MiB; at most 4096",
                   p->name, (unsigned long long)(bytes >> 20));
    return diag_errors(d) == errors;
}
