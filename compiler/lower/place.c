// SPDX-License-Identifier: Apache-2.0
//
// place: where which extern may be called (tna-facts 1.4). Asked before anything else is done
// with a call, also for externs that are not supported, so that the first message is the useful
// one.
#include "compiler/lower/lower_impl.h"

#include <string.h>

enum {
    PARSER = 1 << IN_PARSER_STATE,
    CONTROL = 1 << IN_CONTROL_BODY | 1 << IN_ACTION_BODY,
    REGISTER = 1 << IN_REGISTER_BODY,
    DEPARSER = 1 << IN_DEPARSER_BODY,
};

struct rule {
    const char *name; // an extern's or an extern function's
    unsigned places;
    bool ingress_only;
};

static const struct rule objects[] = {
    {"ActionProfile", CONTROL, false},
    {"ActionSelector", CONTROL, false},
    {"SelectorAction", CONTROL, false},
    {"Alpm", CONTROL, false},
    {"Atcam", CONTROL, false},
    {"Counter", CONTROL, false},
    {"DirectCounter", CONTROL, false},
    {"Hash", CONTROL, false},
    {"Lpf", CONTROL, false},
    {"DirectLpf", CONTROL, false},
    {"Meter", CONTROL, false},
    {"DirectMeter", CONTROL, false},
    {"Wred", CONTROL, false},
    {"DirectWred", CONTROL, false},
    {"Random", CONTROL, false},
    {"Register", CONTROL, false},
    {"DirectRegister", CONTROL, false},
    {"RegisterAction", CONTROL, false},
    {"RegisterAction2", CONTROL, false},
    {"RegisterAction3", CONTROL, false},
    {"RegisterAction4", CONTROL, false},
    {"DirectRegisterAction", CONTROL, false},
    {"DirectRegisterAction2", CONTROL, false},
    {"DirectRegisterAction3", CONTROL, false},
    {"DirectRegisterAction4", CONTROL, false},
    {"LearnAction", CONTROL, false},
    {"LearnAction2", CONTROL, false},
    {"LearnAction3", CONTROL, false},
    {"LearnAction4", CONTROL, false},
    {"MinMaxAction", CONTROL, false},
    {"MinMaxAction2", CONTROL, false},
    {"MinMaxAction3", CONTROL, false},
    {"MinMaxAction4", CONTROL, false},
    {"RegisterParam", REGISTER, false},
    {"MathUnit", REGISTER, false},
    {"Checksum", PARSER | DEPARSER, false},
    {"ParserCounter", PARSER, false},
    {"ParserPriority", PARSER, false},
    {"packet_in", PARSER, false},
    {"packet_out", DEPARSER, false},
    {"Mirror", DEPARSER, false},
    {"Resubmit", DEPARSER, true},
    {"Digest", DEPARSER, true},
    {"Pktgen", DEPARSER, true},
};

static const struct rule functions[] = {
    {"max", CONTROL | REGISTER, false},     {"min", CONTROL | REGISTER, false},
    {"invalidate", CONTROL, false},         {"is_validated", CONTROL | DEPARSER, false},
    {"port_metadata_unpack", PARSER, true},
};

static const char *lower_place_where(const struct rule *r) {
    if (r->ingress_only)
        return r->places == PARSER ? "an ingress parser" : "an ingress deparser";
    switch (r->places) {
    case PARSER:
        return "a parser";
    case DEPARSER:
        return "a deparser";
    case PARSER | DEPARSER:
        return "a parser or a deparser";
    case CONTROL | DEPARSER:
        return "a control, an action or a deparser";
    case REGISTER:
        return "the body of a register action";
    case CONTROL | REGISTER:
        return "a control, an action or the body of a register action";
    default:
        return "a control or an action";
    }
}

static const struct rule *rule_for(const struct rule *rules, size_t n, const char *name) {
    for (size_t i = 0; name && i < n; i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

static bool obeys(const struct lower *lw, const struct rule *r) {
    return !r ||
           ((r->places & 1u << lw->place) && (!r->ingress_only || lw->gress->kind == IR_INGRESS));
}

bool place_method(struct lower *lw, const struct object *o, const struct expr *e) {
    const struct rule *r = rule_for(objects, sizeof objects / sizeof *objects, o->type_name);
    // a parameter may also be what Register.write writes: that becomes a register action
    if (obeys(lw, r) || (lw->written && o->kind == OBJ_REG_PARAM))
        return true;
    lower_error(lw, e->at, "'%s' of %s '%s' may only be called in %s", e->a->name, o->type_name,
                o->name, lower_place_where(r));
    return false;
}

bool place_function(struct lower *lw, const struct expr *e) {
    const struct rule *r = rule_for(functions, sizeof functions / sizeof *functions, e->decl->name);
    if (obeys(lw, r))
        return true;
    lower_error(lw, e->at, "'%s' may only be called in %s", e->decl->name, lower_place_where(r));
    return false;
}
