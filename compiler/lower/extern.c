// SPDX-License-Identifier: Apache-2.0
//
// extern: methods of the architecture's externs (tna-facts 4), except registers
// (register.c), hashes (hash.c) and what parsers and deparsers do to packets (packet.c).
#include "compiler/lower/lower_impl.h"

#include <string.h>

struct ir_var *result_var(struct lower *lw, struct ir_var *wanted, unsigned width, struct loc at) {
    return wanted && wanted->width == width ? wanted : temp_new(lw, "r", width, at);
}

static struct value *lower_extern_none(struct lower *lw, struct expr *e) {
    return value_zero(lw, env_type(lw, e->type), e->at);
}

// ---- random numbers -----------------------------------------------------------------------------

static struct value *random_method(struct lower *lw, struct object *o, struct expr *e,
                                   struct ir_var *wanted) {
    struct ir_stmt *s = ir_stmt_new(lw->a, IR_RANDOM, e->at);
    s->random = o->random;
    s->var = result_var(lw, wanted, o->random->width, e->at);
    put(lw, s);
    return value_bits(lw, env_type(lw, e->type), ir_ref(lw->a, s->var));
}

// ---- all of them --------------------------------------------------------------------------------

static struct value *method_of(struct lower *lw, struct object *o, struct expr *e,
                               struct ir_var *wanted) {
    switch (o->kind) {
    case OBJ_PACKET_IN:
        return packet_method(lw, o, e);
    case OBJ_PACKET_OUT:
        return deparser_emit(lw, e);
    case OBJ_REGISTER:
        return register_method(lw, o, e, wanted);
    case OBJ_REGACTION:
        return regaction_method(lw, o, e, wanted);
    case OBJ_REG_PARAM:
        return reg_param_read(lw, o, e);
    case OBJ_MATH_UNIT:
        return math_unit_execute(lw, o, e);
    case OBJ_COUNTER:
        return counter_method(lw, o, e);
    case OBJ_METER:
        return meter_method(lw, o, e, wanted);
    case OBJ_HASH:
        return hash_method(lw, o, e, wanted);
    case OBJ_RANDOM:
        return random_method(lw, o, e, wanted);
    case OBJ_CHECKSUM:
        return checksum_method(lw, o, e, wanted);
    case OBJ_RESUBMIT:
        return resubmit_method(lw, o, e);
    case OBJ_PARSER_COUNTER:
        return pcounter_method(lw, o, e);
    case OBJ_MIRROR:
        return mirror_method(lw, o, e);
    case OBJ_DIGEST:
        return digest_method(lw, o, e);
    case OBJ_PARSER_PRIORITY: // decides who is parsed first, not what comes of it
        return lower_extern_none(lw, e);
    default:
        lower_unsupported(lw, e->at, "'%s' of extern '%s'", e->a->name, o->type_name);
        return lower_extern_none(lw, e);
    }
}

struct value *extern_method(struct lower *lw, struct expr *e, struct ir_var *wanted) {
    if (!e->a || e->a->kind != EX_MEMBER || !e->a->a || !e->a->name) {
        lower_unsupported(lw, e->at, "this call");
        return lower_extern_none(lw, e);
    }
    if (e->a->a->kind == EX_THIS)
        return this_method(lw, e);
    struct object *o = object_of(lw, e->a->a);
    if (!o) {
        lower_unsupported(lw, e->at, "method '%s' of this", e->a->name);
        return lower_extern_none(lw, e);
    }
    if (!place_method(lw, o, e))
        return lower_extern_none(lw, e);
    bool owned = o->kind != OBJ_PACKET_IN && o->kind != OBJ_PACKET_OUT;
    if (owned && !object_use(lw, o, e->at))
        return lower_extern_none(lw, e);
    return method_of(lw, o, e, wanted);
}
