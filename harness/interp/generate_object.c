// SPDX-License-Identifier: Apache-2.0
//
// generate_object: what a control declares: registers and their actions, counters, hashes, actions,
// tables, sub-controls.
//
// What a packet may use once (a register: tna-facts 6.1; a table) becomes a statement in g->uses or
// an entry of g->tables, taken out when it is printed.
#include "harness/interp/generate_impl.h"

#include <string.h>

static const char *any_bits(struct gen *g, unsigned width) {
    return gen_expr(g, GEN_BITS, width, 1);
}

// "place = text;" for a result of 'width' bits, or only "text;".
static const char *result_of(struct gen *g, enum gen_type type, unsigned width, const char *text) {
    const struct gen_var *v = gen_place(g, type, width);
    return v && CHANCE(g, 85) ? gen_text(g, "%s = %s;", v->name, text) : gen_text(g, "%s;", text);
}

// ---- registers ----

// The body of a register action: its last 'own' variables are value and rv.
static void regaction_body(struct gen *g, unsigned own, unsigned n) {
    bool action = g->in_action;
    g->in_action = true;
    for (; n > 0; n--) {
        const struct gen_var *v = &g->vars.v[g->vars.n - 1 - BELOW(g, own)];
        if (CHANCE(g, 40)) {
            gen_open(g, "if (%s) {", gen_bool(g, 2));
            gen_line(g, "%s = %s;", v->name, gen_expr(g, v->type, v->width, 2));
            gen_close(g, "}");
        } else {
            gen_line(g, "%s = %s;", v->name, gen_expr(g, v->type, v->width, 2));
        }
    }
    g->in_action = action;
}

static unsigned register_width(struct gen *g) {
    static const unsigned widths[] = {8, 16, 32, 32};
    return widths[BELOW(g, 4)];
}

static const char *regaction(struct gen *g, const char *reg, bool direct, enum gen_type type,
                             unsigned width, unsigned index_width, bool pair) {
    const char *name = gen_name(g, "ra"), *t = gen_type_text(g, type, width);
    const char *value = gen_text(g, "%s", pair ? "pair_t" : t);
    if (pair)
        t = "bit<32>";
    size_t vars = g->vars.n;
    bool has_rv = CHANCE(g, 80);
    if (CHANCE(g, 15)) {
        const char *param = gen_name(g, "rp");
        gen_line(g, "RegisterParam<%s>(%s) %s;", pair ? "bit<32>" : t,
                 gen_const(g, type, pair ? 32 : width), param);
        gen_declare(g, gen_text(g, "%s.read()", param), type, pair ? 32 : width, false);
    }
    if (CHANCE(g, 15) && !pair && type == GEN_BITS) {
        static const char *const ops[] = {"MUL", "SQR", "SQRT", "DIV", "RSQR", "RSQRT"};
        const char *unit = gen_name(g, "mu");
        gen_line(g, "MathUnit<%s>(MathOp_t.%s, %u, %u) %s;", t, ops[BELOW(g, 6)], 1 + BELOW(g, 50),
                 1 + BELOW(g, 50), unit);
        gen_declare(g, gen_text(g, "%s.execute(value)", unit), type, width, false);
    }
    if (direct)
        gen_open(g, "DirectRegisterAction<%s, %s>(%s) %s = {", value, t, reg, name);
    else
        gen_open(g, "RegisterAction<%s, bit<%u>, %s>(%s) %s = {", value, index_width, t, reg, name);
    if (has_rv)
        gen_open(g, "void apply(inout %s value, out %s rv) {", value, t);
    else
        gen_open(g, "void apply(inout %s value) {", value);
    if (has_rv) {
        gen_line(g, "rv = %s;", gen_const(g, type, pair ? 32 : width));
        gen_declare(g, "rv", type, pair ? 32 : width, true);
    }
    if (pair) {
        gen_declare(g, "value.lo", GEN_BITS, 32, true);
        gen_declare(g, "value.hi", GEN_BITS, 32, true);
    } else {
        gen_declare(g, "value", type, width, true);
    }
    regaction_body(g, 1u + pair + has_rv, 1 + BELOW(g, 4));
    g->vars.n = vars;
    gen_close(g, "}");
    gen_close(g, "};");
    const char *call = direct ? gen_text(g, "%s.execute()", name)
                              : gen_text(g, "%s.execute(%s)", name, any_bits(g, index_width));
    return result_of(g, type, pair ? 32 : width, call);
}

// Returns a statement that accesses the register once.
static const char *a_register(struct gen *g) {
    bool pair = CHANCE(g, 20);
    enum gen_type type = !pair && CHANCE(g, 30) ? GEN_INT : GEN_BITS;
    unsigned width = pair ? 64 : register_width(g), index_width = 1 + BELOW(g, 10);
    const char *name = gen_name(g, "r");
    const char *t = pair ? "pair_t" : gen_type_text(g, type, width);
    unsigned size = CHANCE(g, 50) ? 1u << BELOW(g, 6) : 1 + BELOW(g, 70);
    if (!pair && CHANCE(g, 40))
        gen_line(g, "Register<%s, bit<%u>>(%u, %s) %s;", t, index_width, size,
                 gen_const(g, type, width), name);
    else if (pair && CHANCE(g, 40))
        gen_line(g, "Register<%s, bit<%u>>(%u, {%u, %u}) %s;", t, index_width, size, BELOW(g, 100),
                 BELOW(g, 100), name);
    else
        gen_line(g, "Register<%s, bit<%u>>(%u) %s;", t, index_width, size, name);
    if (!pair && CHANCE(g, 15))
        return result_of(g, type, width,
                         gen_text(g, "%s.read(%s)", name, any_bits(g, index_width)));
    if (!pair && CHANCE(g, 15))
        return gen_text(g, "%s.write(%s, %s);", name, any_bits(g, index_width),
                        gen_expr(g, type, width, 2));
    return regaction(g, name, false, type, pair ? 32 : width, index_width, pair);
}

// ---- counters, hashes, random numbers ----

static const char *a_counter(struct gen *g) {
    static const char *const types[] = {"PACKETS", "BYTES", "PACKETS_AND_BYTES"};
    const char *name = gen_name(g, "c");
    unsigned index_width = 1 + BELOW(g, 8), size = 1 + BELOW(g, 40), type = BELOW(g, 3);
    const bool leaving =
        !g->ingress && !g->calm && type > 0 && CHANCE(g, 25); // only bytes can be counted late
    gen_line(g, "%sCounter<bit<64>, bit<%u>>(%u, CounterType_t.%s) %s;",
             leaving ? "@true_egress_accounting " : "", index_width, size, types[type], name);
    return gen_text(g, "%s.count(%s);", name, any_bits(g, index_width));
}

static const char *a_hash(struct gen *g) {
    static const char *const algorithms[] = {"IDENTITY", "RANDOM", "XOR8",  "XOR16", "XOR32",
                                             "CRC8",     "CRC16",  "CRC32", "CRC64"};
    const char *name = gen_name(g, "h"), *fields = "";
    unsigned width = gen_narrow_width(g);
    if (CHANCE(g, 25)) {
        unsigned crc = 8u << BELOW(g, 4);
        const char *poly = gen_name(g, "poly");
        gen_line(g, "CRCPolynomial<bit<%u>>(%uw%llu, %s, false, %s, %s, %s) %s;", crc, crc,
                 (unsigned long long)(random_bits(&g->r, crc) | 1),
                 CHANCE(g, 50) ? "true" : "false", CHANCE(g, 50) ? "true" : "false",
                 gen_const(g, GEN_BITS, crc), gen_const(g, GEN_BITS, crc), poly);
        gen_line(g, "Hash<bit<%u>>(HashAlgorithm_t.CUSTOM, %s) %s;", width, poly, name);
    } else {
        gen_line(g, "Hash<bit<%u>>(HashAlgorithm_t.%s) %s;", width, algorithms[BELOW(g, 9)], name);
    }
    for (unsigned i = 0, n = 1 + BELOW(g, 4); i < n; i++) {
        const struct gen_var *v = gen_any_var(g);
        const char *e = CHANCE(g, 80) && v->type != GEN_BOOL ? v->name : any_bits(g, gen_width(g));
        fields = gen_text(g, "%s%s%s", fields, i ? ", " : "", e);
    }
    return result_of(g, GEN_BITS, width, gen_text(g, "%s.get({%s})", name, fields));
}

static const char *a_random(struct gen *g) {
    const char *name = gen_name(g, "rnd");
    unsigned width = gen_narrow_width(g);
    gen_line(g, "Random<bit<%u>>() %s;", width, name);
    return result_of(g, GEN_BITS, width, gen_text(g, "%s.get()", name));
}

// Nobody configures it: see interp_meter.
static const char *a_meter(struct gen *g) {
    const char *name = gen_name(g, "met");
    unsigned index_width = 1 + BELOW(g, 8);
    gen_line(g, "Meter<bit<%u>>(%u, MeterType_t.%s) %s;", index_width, 1 + BELOW(g, 40),
             CHANCE(g, 50) ? "BYTES" : "PACKETS", name);
    return result_of(g, GEN_BITS, 8, gen_text(g, "%s.execute(%s)", name, any_bits(g, index_width)));
}

// Sometimes so that a packet decides whether it comes there twice (compiler/rules/regonce.h).
static const char *maybe_twice(struct gen *g, const char *once) {
    if (!strstr(once, ".execute(") || CHANCE(g, 85))
        return once;
    return gen_text(g, "if (%s) { %s } if (%s) { %s }", gen_bool(g, 2), once, gen_bool(g, 2), once);
}

static const char *an_object(struct gen *g) {
    switch (g->calm && CHANCE(g, 95) ? 4 + BELOW(g, 3) : g->calm ? 7 + BELOW(g, 2) : BELOW(g, 9)) {
    case 8:
        return a_meter(g);
    case 0:
    case 1:
    case 2:
    case 3:
        return maybe_twice(g, a_register(g));
    case 4:
        return a_counter(g);
    case 5:
    case 6:
        return a_hash(g);
    default:
        return a_random(g);
    }
}

// For one action of a table: a table reaches one counter, meter or register, in one of its actions.
static const char *object_of_table(struct gen *g, bool *stateful) {
    if (*stateful || CHANCE(g, 30))
        return g->calm || CHANCE(g, 60) ? a_hash(g) : a_random(g);
    *stateful = true;
    unsigned what = g->calm ? 1 : BELOW(g, 6);
    return what == 0 ? a_meter(g) : what == 1 ? a_counter(g) : a_register(g);
}

// ---- actions ----

struct action {
    const char *name;
    struct gen_var params[4]; // of the control plane
    unsigned n;
    struct gen_var directional[2];
    unsigned n_directional;
};

static void action(struct gen *g, struct action *a, const char *extra) {
    *a = (struct action){.name = gen_name(g, "act")};
    const char *params = "";
    size_t vars = g->vars.n;
    a->n_directional = CHANCE(g, 25) ? 1 + BELOW(g, 2) : 0;
    a->n = BELOW(g, 4);
    for (unsigned i = 0; i < a->n_directional + a->n; i++) {
        bool directional = i < a->n_directional;
        struct gen_var *p = directional ? &a->directional[i] : &a->params[i - a->n_directional];
        p->name = gen_name(g, "p");
        p->type = CHANCE(g, 85) ? GEN_BITS : GEN_INT;
        p->width = CHANCE(g, 50) ? 8u << BELOW(g, 3) : gen_narrow_width(g);
        if (p->type == GEN_INT && p->width < 2)
            p->width = 2;
        p->writable = directional && CHANCE(g, 60);
        params = gen_text(g, "%s%s%s%s %s", params, i ? ", " : "",
                          !directional  ? ""
                          : p->writable ? "inout "
                                        : "in ",
                          gen_type_text(g, p->type, p->width), p->name);
    }
    if (g->ingress && CHANCE(g, g->calm ? 2 : 10))
        gen_line(g, "@silken_consumes");
    gen_open(g, "action %s(%s) {", a->name, params);
    for (unsigned i = 0; i < a->n_directional; i++)
        gen_declare(g, a->directional[i].name, a->directional[i].type, a->directional[i].width,
                    a->directional[i].writable);
    for (unsigned i = 0; i < a->n; i++)
        gen_declare(g, a->params[i].name, a->params[i].type, a->params[i].width, false);
    g->in_action = true;
    if (CHANCE(g, 30))
        gen_locals(g, 1);
    gen_stmts(g, BELOW(g, 4));
    if (extra)
        gen_line(g, "%s", extra);
    gen_stmts(g, BELOW(g, 3));
    g->in_action = false;
    gen_close(g, "}");
    g->vars.n = vars;
}

// The arguments of the directional parameters, or null when there is no place for one.
static const char *directional_args(struct gen *g, const struct action *a) {
    const char *args = "";
    for (unsigned i = 0; i < a->n_directional; i++) {
        const struct gen_var *p = &a->directional[i], *place = NULL;
        if (p->writable && !(place = gen_place(g, p->type, p->width)))
            return NULL;
        args = gen_text(g, "%s%s%s", args, i ? ", " : "",
                        place ? place->name : gen_expr(g, p->type, p->width, 1));
    }
    return args;
}

static void callable(struct gen *g, const struct action *a) {
    const char *args = directional_args(g, a);
    for (unsigned i = 0; args && i < a->n; i++)
        args = gen_text(g, "%s%s%s", args, *args ? ", " : "",
                        gen_expr(g, a->params[i].type, a->params[i].width, 1));
    if (args)
        VEC_PUSH(g->a, &g->calls, gen_text(g, "%s(%s);", a->name, args));
}

// ---- tables ----

// One key of an entry. '*canonical': the same for two sets that are the same.
static const char *key_set(struct gen *g, const char *match, unsigned width,
                           const char **canonical) {
    unsigned long long ones = width >= 64 ? ~0ull : (1ull << width) - 1;
    unsigned long long value = random_bits(&g->r, width), mask = ones, high = value;
    if (width > 64)
        return *canonical = gen_const(g, GEN_BITS, width);
    if (match[0] != 'e' && CHANCE(g, 10)) {
        *canonical = match[0] == 'r' ? gen_text(g, "0 %llx", ones) : "0 0";
        return "_";
    }
    if (match[0] == 'r') {
        high = CHANCE(g, 30) ? value : value + BELOW(g, 40);
        if (high > ones || high < value)
            high = ones;
        *canonical = gen_text(g, "%llx %llx", value, high);
        return high == value && CHANCE(g, 50)
                   ? gen_text(g, "%uw%llu", width, value)
                   : gen_text(g, "%uw%llu..%uw%llu", width, value, width, high);
    }
    if (match[0] == 'l') {
        unsigned host = BELOW(g, width + 1);
        mask = host == 64 ? 0 : ones << host & ones;
    } else if (match[0] == 't') {
        mask = CHANCE(g, 20) ? ones : random_bits(&g->r, width);
    }
    if (mask != ones && match[0] == 'l')
        value &= mask;
    *canonical = gen_text(g, "%llx %llx", value & mask, mask);
    return mask == ones ? gen_text(g, "%uw%llu", width, value)
                        : gen_text(g, "%uw%llu &&& %uw%llu", width, value, width, mask);
}

static const char *entry_args(struct gen *g, const struct action *a) {
    const char *args = "";
    for (unsigned i = 0; i < a->n; i++)
        args = gen_text(g, "%s%s%s", args, i ? ", " : "",
                        gen_const(g, a->params[i].type, a->params[i].width));
    return args;
}

struct listed {
    struct action a;
    const char *args; // of directional parameters
};

static const char *listed_call(struct gen *g, const struct listed *l) {
    const char *more = entry_args(g, &l->a);
    return gen_text(g, "%s(%s%s%s)", l->a.name, l->args, *l->args && *more ? ", " : "", more);
}

static bool is_new(const char *key, const char **seen, unsigned *n) {
    for (unsigned i = 0; i < *n; i++)
        if (strcmp(seen[i], key) == 0)
            return false;
    seen[(*n)++] = key;
    return true;
}

static void table_entries(struct gen *g, const char *const *match, const unsigned *widths,
                          unsigned n_keys, const struct listed *actions, unsigned n_actions) {
    const char *seen[80];
    unsigned n_seen = 0;
    gen_open(g, "%sentries = {", CHANCE(g, 60) ? "const " : "");
    for (unsigned n = 1 + BELOW(g, CHANCE(g, 15) ? 70 : 7); n > 0; n--) {
        const char *keys = "", *all = "", *canonical;
        for (unsigned k = 0; k < n_keys; k++) {
            const char *one = key_set(g, match[k], widths[k], &canonical);
            keys = gen_text(g, "%s%s%s", keys, k ? ", " : "", one);
            all = gen_text(g, "%s, %s", all, canonical);
        }
        if (is_new(all, seen, &n_seen))
            gen_line(g, n_keys > 1 ? "(%s) : %s;" : "%s : %s;", keys,
                     listed_call(g, &actions[BELOW(g, n_actions)]));
    }
    gen_close(g, "}");
}

// An action profile or a selector.
struct implementation {
    const char *profile;
    bool selects;
    const char *instead; // of applying the table: a statement that changes the selector's memory
};

// At a place of one of the first groups: they are in the last lines.
static const char *on_members(struct gen *g, const char *type, const char *of, unsigned last_line) {
    static const char *const bodies[] = {
        "inout bit<1> value) { value = 0; }",
        "inout bit<1> value) { value = 1; }",
        "inout bit<1> value, out bit<1> rv) { rv = value; value = 0; }",
    };
    const char *name = gen_name(g, "sa");
    gen_open(g, "%s(%s) %s = {", type, of, name);
    gen_line(g, "void apply(%s", bodies[CHANCE(g, 60) ? 0 : 1 + BELOW(g, 2)]);
    gen_close(g, "};");
    return gen_text(g, "%s.execute(25w%u ++ 4w0 ++ %s);", name, last_line - BELOW(g, 4),
                    any_bits(g, 3));
}

static struct implementation implementation(struct gen *g) {
    static const char *const algorithms[] = {"IDENTITY", "RANDOM", "CRC16", "CRC32", "CRC64"};
    struct implementation im = {gen_name(g, "ap"), CHANCE(g, 65), NULL};
    bool old_form = im.selects && CHANCE(g, 20);
    if (!old_form)
        gen_line(g, "ActionProfile(%u) %s;", 4 + BELOW(g, 12), im.profile);
    if (!im.selects)
        return im;
    const char *hash = gen_name(g, "h"), *name = gen_name(g, "sel");
    const char *mode = CHANCE(g, 50) ? "FAIR" : "RESILIENT", *reg = NULL;
    bool changed = !g->calm && CHANCE(g, 60);
    if (changed && !old_form && CHANCE(g, 30)) {
        reg = gen_name(g, "r");
        gen_line(g, "Register<bit<1>, bit<32>>(%u) %s;", 1024, reg);
    }
    gen_line(g, "Hash<bit<%u>>(HashAlgorithm_t.%s) %s;", CHANCE(g, 50) ? 14 : 16 + BELOW(g, 49),
             algorithms[BELOW(g, 5)], hash);
    if (old_form)
        gen_line(g, "ActionSelector(%u, %s, SelectorMode_t.%s) %s;", 8 + BELOW(g, 8), hash, mode,
                 name);
    else
        gen_line(g, "ActionSelector(%s, %s, SelectorMode_t.%s, %s%s%u, %u) %s;", im.profile, hash,
                 mode, reg ? reg : "", reg ? ", " : "", CHANCE(g, 20) ? 130 : 1 + BELOW(g, 6),
                 1 + BELOW(g, 5), name);
    if (reg)
        im.instead = on_members(g, "RegisterAction<bit<1>, bit<32>, bit<1>>", reg, 7);
    else if (changed)
        im.instead = on_members(g, "SelectorAction", name, 1023);
    im.profile = name;
    return im;
}

static void selector_keys(struct gen *g) {
    for (unsigned n = 1 + BELOW(g, 3); n > 0; n--) {
        const struct gen_var *v = gen_any_var(g);
        const char *e = v->type == GEN_BITS ? v->name : any_bits(g, gen_width(g));
        gen_line(g, "%s : selector @name(\"%s\");", e, gen_name(g, "k"));
    }
}

static unsigned table_key(struct gen *g, bool selects, const char **match, unsigned *widths) {
    static const char *const kinds[] = {"exact", "exact", "ternary", "range"};
    unsigned n = 1 + BELOW(g, 3), lpm = CHANCE(g, 20) ? BELOW(g, n) : 9, made = 0;
    gen_open(g, "key = {");
    for (unsigned i = 0; i < n; i++) {
        const struct gen_var *v = gen_any_var(g);
        const char *kind = lpm == 9 ? kinds[BELOW(g, 4)] : i == lpm ? "lpm" : "exact";
        const char *e = v->name;
        unsigned width = v->width;
        if (v->type != GEN_BITS || CHANCE(g, 20)) {
            width = gen_width(g);
            e = gen_expr(g, GEN_BITS, width, 1);
        }
        if (kind[0] == 'r' && width > 20)
            kind = "ternary";
        gen_line(g, "%s : %s @name(\"%s\");", e, kind, gen_name(g, "k"));
        match[made] = kind;
        widths[made++] = width;
    }
    if (selects)
        selector_keys(g);
    gen_close(g, "}");
    return made;
}

// What belongs to the entries of a table: declared in front of its actions, one of which uses it.
struct direct {
    const char *counter, *reg, *use;
};

static struct direct direct_objects(struct gen *g) {
    struct direct d = {0};
    if (CHANCE(g, 25)) {
        d.counter = gen_name(g, "dc");
        gen_line(g, "%sDirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) %s;",
                 !g->ingress && !g->calm && CHANCE(g, 25) ? "@true_egress_accounting " : "",
                 d.counter);
        d.use = gen_text(g, "%s.count();", d.counter);
    } else if (!g->calm && CHANCE(g, 25)) {
        unsigned width = register_width(g);
        d.reg = gen_name(g, "dr");
        gen_line(g, "DirectRegister<bit<%u>>(%s) %s;", width, gen_const(g, GEN_BITS, width), d.reg);
        d.use = regaction(g, d.reg, true, GEN_BITS, width, 0, false);
    }
    return d;
}

static void a_table(struct gen *g) {
    struct listed actions[5];
    struct gen_table t = {.name = gen_name(g, "t"), .has_key = CHANCE(g, 92)};
    struct direct d = {0};
    struct implementation im = {0};
    if (t.has_key && CHANCE(g, 25))
        im = implementation(g);
    else if (t.has_key)
        d = direct_objects(g);
    t.instead = im.instead;
    unsigned n = 0;
    bool stateful = false;
    size_t uses = g->uses.n; // they would be more than a table can have
    g->uses.n = 0;
    for (unsigned wanted = 1 + BELOW(g, 4); wanted > 0; wanted--) {
        const char *extra = d.use; // of every action of an entry
        if (!extra && CHANCE(g, 25))
            extra = object_of_table(g, &stateful);
        action(g, &actions[n].a, extra);
        actions[n].args = directional_args(g, &actions[n].a);
        if (actions[n].args)
            t.actions[t.n_actions++] = actions[n++].a.name;
    }
    g->uses.n = uses;
    const char *match[4] = {0};
    unsigned widths[4], n_keys = 0;
    const char *proxy = t.has_key && CHANCE(g, 15) ? gen_name(g, "h") : NULL;
    if (proxy)
        gen_line(g, "Hash<bit<%u>>(HashAlgorithm_t.CRC32) %s;", 8 + BELOW(g, 25), proxy);
    gen_open(g, "table %s {", t.name);
    if (t.has_key)
        n_keys = table_key(g, im.selects, match, widths);
    gen_open(g, "actions = {");
    for (unsigned i = 0; i < n; i++)
        gen_line(g, *actions[i].args ? "%s(%s);" : "%s%s;", actions[i].a.name, actions[i].args);
    gen_line(g, d.use ? "@defaultonly NoAction;" : "NoAction;");
    gen_close(g, "}");
    if (n && CHANCE(g, 70))
        gen_line(g, "%sdefault_action = %s;", CHANCE(g, 30) ? "const " : "",
                 listed_call(g, &actions[BELOW(g, n)]));
    bool exact = n_keys > 0;
    for (unsigned i = 0; i < n_keys; i++)
        exact &= match[i][0] == 'e';
    if (exact && proxy)
        gen_line(g, "proxy_hash = %s;", proxy);
    else if (n_keys && n && !im.selects && CHANCE(g, 40))
        table_entries(g, match, widths, n_keys, actions, n);
    if (n_keys)
        gen_line(g, "size = %u;", CHANCE(g, 90) ? 128 : 80 + BELOW(g, 8));
    if (im.profile)
        gen_line(g, "implementation = %s;", im.profile);
    if (d.counter)
        gen_line(g, "counters = %s;", d.counter);
    if (d.reg)
        gen_line(g, "registers = %s;", d.reg);
    gen_close(g, "}");
    VEC_PUSH(g->a, &g->tables, t);
}

void gen_control_objects(struct gen *g) {
    gen_locals(g, BELOW(g, 5));
    for (unsigned n = BELOW(g, 6); n > 0; n--) {
        const char *use = an_object(g);
        VEC_PUSH(g->a, &g->uses, use);
    }
    for (unsigned n = BELOW(g, 3); n > 0; n--) {
        struct action a;
        size_t uses = g->uses.n; // it may be called often
        g->uses.n = 0;
        action(g, &a, NULL);
        g->uses.n = uses;
        callable(g, &a);
    }
    for (unsigned n = BELOW(g, 5); n > 0; n--)
        a_table(g);
}
