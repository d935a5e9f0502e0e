// SPDX-License-Identifier: Apache-2.0
//
// object: what an instantiation makes (section 18.3, tna-facts 4).
//
// Objects of the architecture that Silken does not run yet may be declared; using one is refused.
#include "compiler/lower/lower_impl.h"

#include <string.h>

#define OBJECT_WORK 200u // an instance weighs as much as that many expressions

static const struct {
    const char *name;
    enum object_kind kind;
} extern_kinds[] = {
    {"Register", OBJ_REGISTER},
    {"DirectRegister", OBJ_REGISTER},
    {"RegisterAction", OBJ_REGACTION},
    {"RegisterAction2", OBJ_REGACTION},
    {"RegisterAction3", OBJ_REGACTION},
    {"RegisterAction4", OBJ_REGACTION},
    {"MinMaxAction", OBJ_REGACTION},
    {"MinMaxAction2", OBJ_REGACTION},
    {"MinMaxAction3", OBJ_REGACTION},
    {"MinMaxAction4", OBJ_REGACTION},
    {"DirectRegisterAction", OBJ_REGACTION},
    {"DirectRegisterAction2", OBJ_REGACTION},
    {"DirectRegisterAction3", OBJ_REGACTION},
    {"DirectRegisterAction4", OBJ_REGACTION},
    {"SelectorAction", OBJ_REGACTION},
    {"RegisterParam", OBJ_REG_PARAM},
    {"MathUnit", OBJ_MATH_UNIT},
    {"Counter", OBJ_COUNTER},
    {"DirectCounter", OBJ_COUNTER},
    {"Meter", OBJ_METER},
    {"DirectMeter", OBJ_METER},
    {"Lpf", OBJ_METER},
    {"DirectLpf", OBJ_METER},
    {"Wred", OBJ_METER},
    {"DirectWred", OBJ_METER},
    {"Hash", OBJ_HASH},
    {"CRCPolynomial", OBJ_CRC_POLYNOMIAL},
    {"Random", OBJ_RANDOM},
    {"Checksum", OBJ_CHECKSUM},
    {"Resubmit", OBJ_RESUBMIT},
    {"Mirror", OBJ_MIRROR},
    {"Digest", OBJ_DIGEST},
    {"ParserPriority", OBJ_PARSER_PRIORITY},
    {"ParserCounter", OBJ_PARSER_COUNTER},
    {"Alpm", OBJ_ALPM},
    {"Atcam", OBJ_ATCAM},
    {"ActionProfile", OBJ_ACTION_PROFILE},
    {"ActionSelector", OBJ_SELECTOR},
    {"packet_in", OBJ_PACKET_IN},
    {"packet_out", OBJ_PACKET_OUT},
};

static enum object_kind lower_object_kind_of(const struct decl *d) {
    switch (d->kind) {
    case D_CONTROL:
        return OBJ_CONTROL;
    case D_PARSER:
        return OBJ_PARSER;
    case D_PACKAGE:
        return OBJ_PACKAGE;
    default:
        break;
    }
    for (size_t i = 0; i < sizeof extern_kinds / sizeof *extern_kinds; i++)
        if (d->name && strcmp(d->name, extern_kinds[i].name) == 0)
            return extern_kinds[i].kind;
    return OBJ_UNSUPPORTED;
}

static struct type *lower_object_type_arg(struct lower *lw, const struct object *o, size_t i) {
    const struct type *t = o->type;
    return t && i < t->args.n ? env_type(lw, t->args.v[i]) : NULL;
}

// ---- hashes (tna-facts 4.6) ---------------------------------------------------------------------

struct standard_crc {
    const char *name;
    unsigned width;
    uint64_t coeff, init, xor_out;
    bool reversed;
};
static const struct standard_crc standard_crcs[] = {
    {"CRC8", 8, 0x07, 0, 0, false},
    {"CRC16", 16, 0x8005, 0, 0, true},
    {"CRC32", 32, 0x04c11db7, 0xffffffff, 0xffffffff, true},
    {"CRC64", 64, 0x42f0e1eba9ea3693, 0, 0, false},
};

static bool use_standard_crc(struct ir_hash *h, const char *name) {
    for (size_t i = 0; i < sizeof standard_crcs / sizeof *standard_crcs; i++) {
        const struct standard_crc *c = &standard_crcs[i];
        if (strcmp(c->name, name) != 0)
            continue;
        h->algorithm = IR_HASH_CRC;
        h->crc_width = c->width;
        h->coeff = c->coeff;
        h->init = c->init;
        h->xor_out = c->xor_out;
        h->reversed = c->reversed;
        h->extended = true;
        return true;
    }
    return false;
}

static void use_polynomial(struct lower *lw, struct ir_hash *h, struct expr *arg) {
    struct value *v = eval(lw, arg);
    if (v->kind != VAL_OBJECT || v->object->kind != OBJ_CRC_POLYNOMIAL) {
        lower_error(lw, arg->at, "a CRCPolynomial is needed here");
        return;
    }
    const struct crc_polynomial *p = &v->object->poly;
    h->algorithm = IR_HASH_CRC;
    h->crc_width = p->width;
    h->coeff = big_to_u64(p->coeff);
    h->init = big_to_u64(p->init);
    h->xor_out = big_to_u64(p->xor_out);
    h->reversed = p->reversed;
    h->extended = p->extended;
}

// Name of the enumerator an argument denotes, through constants and constructor parameters.
static const char *enumerator_name(struct lower *lw, struct expr *arg) {
    big v = eval_const(lw, arg, "algorithm");
    const struct type *t = plain(arg->type);
    if (!v || t->kind != TY_ENUM || !big_fits_u64(v) || big_to_u64(v) >= t->decl->members.n)
        return "";
    return t->decl->members.v[big_to_u64(v)]->name;
}

static void hash_new(struct lower *lw, struct object *o, struct expr *ctor) {
    static const struct {
        const char *name;
        enum ir_hash_algorithm algorithm;
    } plain_ones[] = {{"IDENTITY", IR_HASH_IDENTITY},
                      {"RANDOM", IR_HASH_RANDOM},
                      {"XOR8", IR_HASH_XOR8},
                      {"XOR16", IR_HASH_XOR16},
                      {"XOR32", IR_HASH_XOR32}};
    struct ir_hash *h = ARENA_NEW(lw->a, struct ir_hash);
    struct type *w = lower_object_type_arg(lw, o, 0);
    o->hash = h;
    h->name = o->name;
    h->at = o->at;
    h->width = w && is_scalar_type(w) ? extern_width(lw, o, w) : 1;
    if (!bound_arg(ctor, 0))
        return;
    const char *name = enumerator_name(lw, bound_arg(ctor, 0));
    if (bound_arg(ctor, 1)) {
        use_polynomial(lw, h, bound_arg(ctor, 1));
        return;
    }
    for (size_t i = 0; i < sizeof plain_ones / sizeof *plain_ones; i++)
        if (strcmp(name, plain_ones[i].name) == 0) {
            h->algorithm = plain_ones[i].algorithm;
            return;
        }
    if (!use_standard_crc(h, name))
        lower_error(lw, o->at, "a Hash with HashAlgorithm_t.CUSTOM needs a CRCPolynomial");
}

static big poly_arg(struct lower *lw, struct expr *ctor, size_t i, const char *what) {
    struct expr *e = bound_arg(ctor, i);
    big v = e ? eval_const(lw, e, what) : NULL;
    return v ? v : big_u64(lw->a, 0);
}

static void polynomial_new(struct lower *lw, struct object *o, struct expr *ctor) {
    struct crc_polynomial *p = &o->poly;
    struct type *t = lower_object_type_arg(lw, o, 0);
    p->width = t && is_scalar_type(t) ? extern_width(lw, o, t) : 32;
    p->coeff = poly_arg(lw, ctor, 0, "coefficient");
    p->reversed = big_sign(poly_arg(lw, ctor, 1, "'reversed'")) != 0;
    p->extended = big_sign(poly_arg(lw, ctor, 3, "'extended'")) != 0;
    p->init = poly_arg(lw, ctor, 4, "initial value");
    p->xor_out = poly_arg(lw, ctor, 5, "final value");
    if (p->width > 64)
        lower_error(lw, o->at, "a CRC of %u bits; a Tofino computes at most 64", p->width);
    else if ((big_to_u64(p->coeff) & 1) == 0) {
        // the chip's compiler keeps it without its last bit, which a polynomial has anyway
        p->coeff = big_u64(lw->a, big_to_u64(p->coeff) | 1);
        diag_warning(lw->d, o->at,
                     "the coefficient of a CRC is odd: 0x%llx is used, as the chip's compiler does",
                     (unsigned long long)big_to_u64(p->coeff));
    }
}

// ---- the rest -----------------------------------------------------------------------------------

static void random_new(struct lower *lw, struct object *o) {
    struct type *t = lower_object_type_arg(lw, o, 0);
    o->random = ARENA_NEW(lw->a, struct ir_random);
    o->random->name = o->name;
    o->random->width = t && is_scalar_type(t) ? extern_width(lw, o, t) : 32;
}

static void checksum_new(struct lower *lw, struct object *o) {
    o->checksum = ARENA_NEW(lw->a, struct ir_checksum);
    o->checksum->name = o->name;
}

// Resubmit, Mirror, Digest: the type of packets that the instance is for.
static void typed_new(struct lower *lw, struct object *o, struct expr *ctor) {
    if (bound_arg(ctor, 0))
        o->arg = eval(lw, bound_arg(ctor, 0));
    if (o->kind == OBJ_DIGEST)
        digest_new(lw, o);
}

static void object_init(struct lower *lw, struct object *o, struct expr *ctor) {
    switch (o->kind) {
    case OBJ_CONTROL:
        block_new(lw, o, ctor);
        if (lw->gress_env && !lw->no_locals)
            block_locals(lw, o);
        return;
    case OBJ_PARSER:
        block_new(lw, o, ctor);
        return;
    case OBJ_REGISTER:
        register_new(lw, o, ctor);
        return;
    case OBJ_REGACTION:
        regaction_new(lw, o, ctor);
        return;
    case OBJ_REG_PARAM:
        reg_param_new(lw, o, ctor);
        return;
    case OBJ_MATH_UNIT:
        math_unit_new(lw, o, ctor);
        return;
    case OBJ_COUNTER:
        counter_new(lw, o, ctor);
        return;
    case OBJ_METER:
        meter_new(lw, o, ctor);
        return;
    case OBJ_HASH:
        hash_new(lw, o, ctor);
        return;
    case OBJ_CRC_POLYNOMIAL:
        polynomial_new(lw, o, ctor);
        return;
    case OBJ_RANDOM:
        random_new(lw, o);
        return;
    case OBJ_ACTION_PROFILE:
        profile_new(lw, o, ctor);
        return;
    case OBJ_SELECTOR:
        selector_new(lw, o, ctor);
        return;
    case OBJ_ALPM:
    case OBJ_ATCAM:
        partitions_new(lw, o, ctor);
        return;
    case OBJ_CHECKSUM:
        checksum_new(lw, o);
        return;
    case OBJ_RESUBMIT:
    case OBJ_MIRROR:
    case OBJ_DIGEST:
        typed_new(lw, o, ctor);
        return;
    default:
        return;
    }
}

struct object *object_new(struct lower *lw, struct expr *ctor, struct decl *instance,
                          const char *name, struct loc at) {
    struct object *o = ARENA_NEW(lw->a, struct object);
    o->kind = OBJ_UNSUPPORTED;
    o->name = name;
    o->type_name = "object";
    o->instance = instance;
    o->at = at;
    o->env = lw->env;
    o->type = env_type(lw, ctor ? ctor->type : instance ? instance->type : NULL);
    o->decl = ctor ? ctor->decl : NULL;
    if (!o->decl && o->type)
        o->decl = o->type->decl;
    lw->work += OBJECT_WORK;
    if (!o->decl || !go_down(lw, at))
        return o;
    o->type_name = o->decl->name;
    o->kind = lower_object_kind_of(o->decl);
    object_init(lw, o, ctor);
    // What is declared in a gress belongs to it, used or not: a control plane can name it. A
    // register that no stateful ALU could execute is taken by the chip's compiler, too, if nobody
    // uses it.
    if (lw->gress_env && lw->env != lw->globals && o->kind != OBJ_CONTROL &&
        o->kind != OBJ_PARSER && !o->unfit)
        object_use(lw, o, at);
    go_up(lw);
    return o;
}

struct object *object_of(struct lower *lw, struct expr *e) {
    struct value *v = eval(lw, e);
    return v->kind == VAL_OBJECT ? v->object : NULL;
}

// ---- belonging to a gress -----------------------------------------------------------------------

#define ADOPT(list, thing)                                                                         \
    do {                                                                                           \
        (thing)->id = (unsigned)g->list.n;                                                         \
        VEC_PUSH(lw->a, &g->list, (thing));                                                        \
    } while (0)

bool object_use(struct lower *lw, struct object *o, struct loc at) {
    struct ir_gress *g = lw->gress;
    if (o->gress == g)
        return true;
    if (o->gress) {
        lower_error(lw, at,
                    "%s '%s' is used in ingress and in egress; each needs an instance of its own",
                    o->type_name, o->name);
        return false;
    }
    o->gress = g;
    if (o->reg && !register_unfit(lw, o))
        ADOPT(registers, o->reg);
    if (o->reg_param)
        ADOPT(reg_params, o->reg_param);
    if (o->math_unit)
        ADOPT(math_units, o->math_unit);
    if (o->counter)
        ADOPT(counters, o->counter);
    if (o->meter)
        ADOPT(meters, o->meter);
    if (o->hash)
        ADOPT(hashes, o->hash);
    if (o->random)
        ADOPT(randoms, o->random);
    if (o->checksum)
        ADOPT(checksums, o->checksum);
    if (o->digest)
        ADOPT(digests, o->digest);
    if (o->profile)
        ADOPT(profiles, o->profile);
    if (o->selector)
        ADOPT(selectors, o->selector);
    return true;
}
