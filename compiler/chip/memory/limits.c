// SPDX-License-Identifier: Apache-2.0
//
// limits: what no empty stage could hold (tna-facts 6.1, 6.3, 7.3).
#include "compiler/chip/graph/graph.h"
#include "compiler/chip/report_add.h"
#include "compiler/chip/memory/memory_impl.h"
#include "compiler/ir/build.h"

enum { RANGE_NIBBLES = 5 };

static void memory_limits_check_key(struct chip_report *r, const struct chip_unit *u,
                                    const struct memory_format *f) {
    const struct chip_limits *l = r->limits;
    memory_byte_vec bytes = {0};
    memory_bytes(r->arena, &bytes, u->key.v, u->key.n);
    unsigned bits = 0;
    for (size_t i = 0; i < u->key.n; i++)
        bits += u->key.v[i].width;
    if (f->match == MEMORY_TERNARY && f->match_bytes > l->max_key_ternary)
        chip_exceed(
            chip_violate(r, "ternary-key", u->at,
                         arena_printf(r->arena,
                                      "table %s matches ternary on %u bytes; a stage matches on %u",
                                      u->name, f->match_bytes, l->max_key_ternary),
                         "split the key over two tables, or hash a part of it first"),
            f->match_bytes, l->max_key_ternary);
    else if (f->match == MEMORY_TERNARY && bits > l->max_key_ternary_bits)
        chip_exceed(
            chip_violate(r, "ternary-key", u->at,
                         arena_printf(r->arena,
                                      "table %s matches ternary on %u bits; a stage's TCAM has %u",
                                      u->name, bits, l->max_key_ternary_bits),
                         "split the key over two tables, or hash a part of it first"),
            bits, l->max_key_ternary_bits);
    else if (f->match != MEMORY_TERNARY && bytes.n > l->max_key_exact)
        chip_exceed(chip_violate(r, "exact-key", u->at,
                                 arena_printf(r->arena,
                                              "table %s matches on %zu bytes; a stage's crossbar "
                                              "carries %u",
                                              u->name, bytes.n, l->max_key_exact),
                                 "split the key over two tables, or let a hash stand for it "
                                 "(proxy_hash)"),
                    bytes.n, l->max_key_exact);
    else if (f->match == MEMORY_EXACT && memory_best(r, f, u->entries, false).logical == 0)
        chip_violate(r, "exact-key", u->at,
                     arena_printf(r->arena,
                                  "an entry of table %s, %u bits of key and %u bits of other data, "
                                  "does not fit into the 8 RAM words that are matched together",
                                  u->name, f->match_bits, f->overhead_bits),
                     "shorten the key, or let a hash stand for it (proxy_hash)");
    for (size_t i = 0; i < u->table->keys.n; i++) {
        const struct ir_key *k = &u->table->keys.v[i];
        if (k->match == IR_MATCH_RANGE && k->expr->width > RANGE_NIBBLES * 4)
            chip_exceed(
                chip_violate(
                    r, "range-key", k->at,
                    arena_printf(
                        r->arena,
                        "key %s is matched as a range of %u bits; at most %u bits are possible",
                        k->name, k->expr->width, RANGE_NIBBLES * 4),
                    "match on the upper bits as a range, or ternary"),
                k->expr->width, RANGE_NIBBLES * 4);
    }
}

static void check_action_data(struct chip_report *r, const struct chip_unit *u,
                              const struct memory_format *f) {
    unsigned bytes = f->options[0].data_bytes;
    if (u->table && u->table->profile)
        bytes = f->profile_bytes;
    if (bytes <= r->limits->action_data_bytes)
        return;
    chip_exceed(
        chip_violate(r, "action-data", u->at,
                     arena_printf(r->arena,
                                  "an action of %s needs %u bytes of action data (records are "
                                  "powers of two); an entry has %u",
                                  u->name, bytes, r->limits->action_data_bytes),
                     "split the action over two tables with the same key"),
        bytes, r->limits->action_data_bytes);
}

// A hash of constants is a constant.
static bool is_hash_of_fields(const struct chip_report *r, const struct ir_stmt *t) {
    chip_bits_vec bits = {0};
    for (size_t i = 0; t->kind == IR_HASH && i < t->args.n; i++)
        chip_expr_bits(r->arena, t->args.v[i], &bits);
    return bits.n > 0;
}

// Bits that an extern sends to where its result goes: what a field is wider is zero.
static unsigned memory_limits_come(const struct chip_op *op) {
    const struct ir_stmt *t = op->stmt;
    unsigned all = op->to.width;
    if (t->kind == IR_HASH && t->hash && t->hash->width < all)
        all = t->hash->width;
    return all;
}

static bool memory_limits_same_hash(const struct ir_stmt *x, const struct ir_stmt *y) {
    bool same = x && x->kind == y->kind && x->hash == y->hash && x->args.n == y->args.n;
    for (size_t n = 0; same && n < y->args.n; n++)
        same = ir_same(x->args.v[n], y->args.v[n]);
    return same && (y->kind != IR_ASSIGN || (x->in_hash && ir_same(x->e, y->e)));
}

// The hash of statement 'op' of an action was taken by a statement before it, be it another
// action's.
static bool memory_limits_seen(const struct chip_unit *u, size_t action, size_t op) {
    const struct ir_stmt *t = u->actions.v[action].ops.v[op].stmt;
    for (size_t i = 0; i <= action; i++) {
        size_t end = i < action ? u->actions.v[i].ops.n : op;
        for (size_t k = 0; k < end; k++) {
            const struct chip_op *o = &u->actions.v[i].ops.v[k];
            if (!o->dead && o->stmt != t && memory_limits_same_hash(o->stmt, t))
                return true;
        }
    }
    return false;
}

struct immediate {
    unsigned hashed; // bits of hashes, which are there whichever action runs
    unsigned other;  // of random numbers and meters' colours
    chip_bits_vec parts;
};

static void memory_limits_immediate_of(struct chip_report *r, const struct chip_unit *u, size_t i,
                                       struct immediate *m) {
    const struct chip_action *act = &u->actions.v[i];
    unsigned other = 0;
    for (size_t k = 0; k < act->ops.n; k++) {
        const struct chip_op *op = &act->ops.v[k];
        if (!op->stmt) // of a unit that a test makes up
            continue;
        const enum ir_stmt_kind kind = op->stmt->kind;
        bool comes = kind == IR_ASSIGN
                         ? op->kind == CHIP_OP_SET && op->hash
                         : op->to.var->header && (is_hash_of_fields(r, op->stmt) ||
                                                  kind == IR_RANDOM || kind == IR_METER_EXEC);
        // one that is too long by itself, whatever is left of it
        const unsigned all = kind == IR_RANDOM ? op->stmt->random->width : 0;
        const bool too_long = all > r->limits->immediate_bits;
        if (op->dead || !(comes || too_long))
            continue;
        if (kind == IR_ASSIGN && !op->stmt->in_hash)
            chip_expr_bits(r->arena, op->stmt->e, &m->parts);
        else if (kind == IR_ASSIGN || kind == IR_HASH)
            m->hashed += memory_limits_seen(u, i, k) ? 0 : memory_limits_come(op);
        else
            other += too_long ? all : memory_limits_come(op);
    }
    m->other = other > m->other ? other : m->other;
}

static unsigned memory_limits_bits_of(const struct immediate *m) {
    unsigned bits = m->hashed + m->other;
    for (size_t i = 0; i < m->parts.n; i++)
        bits += m->parts.v[i].width;
    return bits;
}

// Hashes, random numbers and meters' colours come to an action by the way of immediate data, each
// bit once. A hash's bits are in the immediate data of all actions of the table.
static void check_immediate(struct chip_report *r, const struct chip_unit *u) {
    struct immediate m = {0};
    struct loc at = u->at;
    bool alone = false; // one action takes too many
    for (size_t i = 0; i < u->actions.n; i++) {
        struct immediate one = {0};
        memory_limits_immediate_of(r, u, i, &m);
        memory_limits_immediate_of(r, u, i, &one);
        if (!alone && memory_limits_bits_of(&one) > r->limits->immediate_bits) {
            at = u->actions.v[i].at;
            alone = true;
        }
    }
    unsigned bits = memory_limits_bits_of(&m);
    if (bits > r->limits->immediate_bits)
        chip_exceed(chip_violate(r, "immediate-bits", at,
                                 arena_printf(r->arena,
                                              "this takes %u bits from hashes, random numbers and "
                                              "meters; the actions of a table receive %u",
                                              bits, r->limits->immediate_bits),
                                 "take some of them in the action of another table"),
                    bits, r->limits->immediate_bits);
}

// ---- actions that run on a hit only -------------------------------------------------------------

static bool memory_limits_indexed(const struct chip_access *x) {
    return x->stmt && (x->index.n > 0 || x->index_is_hash);
}

// What the action takes that comes with a hit only; null: nothing.
static const char *memory_limits_hit_only(const struct chip_report *r,
                                          const struct chip_action *act, bool accesses) {
    for (size_t i = 0; i < act->ops.n; i++) {
        const struct chip_op *op = &act->ops.v[i];
        if (!op->stmt || op->dead)
            continue;
        if (op->stmt->kind == IR_RANDOM)
            return "takes a random number";
        if (is_hash_of_fields(r, op->stmt) ||
            (op->stmt->kind == IR_ASSIGN && op->stmt->in_hash && op->hash))
            return "takes a hash";
    }
    for (size_t i = 0; accesses && i < act->accesses.n; i++)
        if (memory_limits_indexed(&act->accesses.v[i]))
            return "reaches a memory by an index from the packet";
    return NULL;
}

// The hash distribution unit and the random numbers are the hit's. The default action of a table
// with a key runs on a miss; so does a table without a key, if the drivers may change what it does.
static void memory_limits_check_hit(struct chip_report *r, const struct chip_unit *u) {
    const struct ir_table *t = u->table;
    bool listed = false;
    for (size_t i = 0; i < t->actions.n; i++)
        listed = listed || t->actions.v[i].action == t->default_action;
    bool several = t->actions.n > 1 || !listed;
    for (size_t i = 0; i < u->actions.n; i++) {
        const struct chip_action *act = &u->actions.v[i];
        const char *what = memory_limits_hit_only(r, act, t->keys.n > 0);
        if (!what)
            continue;
        if (t->keys.n > 0 && act->action == t->default_action) {
            chip_violate(r, "default-hash", act->at,
                         arena_printf(r->arena,
                                      "the default action of table %s %s, which comes with a hit "
                                      "only",
                                      t->name, what),
                         "run it from a table without a key where the table was missed");
        } else if (t->keys.n == 0 && (several || act->data_bits > 0)) {
            chip_violate(r, "default-hash", act->at,
                         arena_printf(r->arena,
                                      "an action of table %s, which has no key, %s; that comes "
                                      "with a hit only, and a table without a key has one if %s",
                                      t->name, what,
                                      several ? "it has one action" : "no action has data"),
                         "leave it one action without data, or give the table a key");
        }
    }
}

static void memory_limits_check_attached(struct chip_report *r, const struct chip_unit *u,
                                         const struct memory_attached *m) {
    unsigned limit = r->limits->salu_rams;
    if (m->profile || m->used[CHIP_MAP_RAM] == 0 || m->used[CHIP_SRAM] <= limit)
        return;
    static const char *const what[] = {[CHIP_REGISTER] = "register",
                                       [CHIP_COUNTER] = "counter",
                                       [CHIP_METER] = "meter",
                                       [CHIP_SELECTOR] = "selector"};
    chip_exceed(
        chip_violate(r, m->kind == CHIP_REGISTER ? "register-size" : "attached-size",
                     m->at.line ? m->at : u->at,
                     arena_printf(r->arena,
                                  "%s %s takes %u RAMs, one of them spare; an ALU reaches %u",
                                  what[m->kind], m->name, m->used[CHIP_SRAM], limit),
                     "halve its size, or split it into several that are used in turn"),
        m->used[CHIP_SRAM], limit);
}

// Two memories that one table addresses in the same way must be of one kind.
static void check_pair(struct chip_report *r, const struct chip_unit *u,
                       const struct memory_attached *a, const struct memory_attached *b) {
    if (a->profile || b->profile || (a->kind == CHIP_COUNTER) != (b->kind == CHIP_COUNTER))
        return;
    if (a->kind == b->kind && !a->size == !b->size && a->cell_bits == b->cell_bits)
        return;
    if (a->selector && a->selector == b->selector)
        return; // a selector and the register that is its memory
    struct chip_violation *v = chip_violate(
        r, "table-addresses", u->at,
        arena_printf(r->arena, "table %s uses %s and %s; a table addresses one %s", u->name,
                     a->name, b->name,
                     a->kind == CHIP_COUNTER ? "counter" : "register, meter or selector"),
        "move one of them to a table of its own");
    v->also = b->at;
    v->also_text = "the second one is declared here";
}

// Each part of a table that is split has all of these.
static bool memory_limits_is_whole(enum chip_resource k) {
    return k == CHIP_VLIW || k == CHIP_STATEFUL_ALUS || k == CHIP_METER_ALUS ||
           k == CHIP_STATS_ALUS;
}

static void check_stage(struct chip_report *r, const struct chip_unit *u) {
    for (unsigned k = 0; k < CHIP_RESOURCES; k++) {
        unsigned limit = r->limits->per_stage[k];
        if (u->need[k] <= limit || (u->may_split && !memory_limits_is_whole(k)) ||
            k == CHIP_EXACT_XBAR || k == CHIP_TERNARY_XBAR)
            continue; // the key's length has a violation of its own
        chip_exceed(chip_violate(r, "table-size", u->at,
                                 arena_printf(r->arena, "%s needs %u %s; a stage has %u, and %s",
                                              u->name, u->need[k], chip_resource_titles[k], limit,
                                              u->may_split ? "each part of it would need them"
                                                           : "it cannot be split"),
                                 k == CHIP_SRAM || k == CHIP_TCAM || k == CHIP_MAP_RAM
                                     ? "make the table, or the objects attached to it, smaller"
                                     : "split its work over several tables"),
                    u->need[k], limit);
    }
}

void memory_check(struct chip_report *r, const struct chip_unit *u, const struct memory_format *f) {
    size_t before = r->violations.n;
    if (u->table && u->table->keys.n > 0)
        memory_limits_check_key(r, u, f);
    check_action_data(r, u, f);
    check_immediate(r, u);
    if (u->table)
        memory_limits_check_hit(r, u);
    for (size_t i = 0; i < f->attached.n; i++) {
        memory_limits_check_attached(r, u, &f->attached.v[i]);
        for (size_t k = 0; k < i; k++)
            check_pair(r, u, &f->attached.v[k], &f->attached.v[i]);
    }
    if (r->violations.n == before)
        check_stage(r, u);
}
