// SPDX-License-Identifier: Apache-2.0
//
// checked: reports of the checked build. See checked.h.
#include "compiler/print/checked/checked.h"

#include <string.h>

const char *emit_gress_name(const struct emit *e) {
    return e->g->kind == IR_INGRESS ? "SK_IN_INGRESS" : "SK_IN_EGRESS";
}

static const char *checked_place_text(const struct emit *e, struct loc at) {
    return emit_text(e, "{%s, %u, %u}",
                     emit_string(e, at.line ? diag_path(e->d, at.file) : e->program->path), at.line,
                     at.col);
}

void emit_place(const struct emit *e, const char *name, struct loc at) {
    emit_line(e, "static const struct sk_place %s = %s;", name,
              checked_place_text(e, at.line ? at : e->at));
}

// Lowering's parts of a thing are shown as that thing: "hdr.s[1].data.$8" is hdr.s[1].data.
const char *emit_shown_name(const struct emit *e, const char *name) {
    const char *part = strstr(name, ".$");
    return part ? arena_strndup(e->a, name, (size_t)(part - name)) : name;
}

// --------------------------------------------------------------------------------------------
// Layout.

void emit_checked_phv(const struct emit *e) {
    if (!e->checked)
        return;
    emit_line(e, "struct sk_packet *packet;");
    emit_line(e, "bool traced;");
}

static const char *places_name(const struct emit *e, const struct ir_places *p) {
    return emit_text(e, "%s_places%u", e->p, p->id);
}

void emit_checked_places(const struct emit *e) {
    for (size_t i = 0; i < e->g->places.n; i++) {
        const struct ir_places *p = e->g->places.v[i];
        emit_open(e, "static const struct sk_place %s[] = {", places_name(e, p));
        for (size_t k = 0; k < p->v.n; k++)
            emit_line(e, "%s,", checked_place_text(e, p->v.v[k]));
        emit_close(e, "};");
    }
}

void emit_checked_begin(const struct emit *e) {
    if (!e->checked)
        return;
    emit_line(e, "v->packet = packet;");
    emit_line(e, "v->traced = packet->observer && packet->observer->everything;");
}

// --------------------------------------------------------------------------------------------
// Reports.

static const char *violation(const struct emit *e, const struct ir_blame *b) {
    return emit_text(e, "SK_VIOLATION_%s", ir_violation_names[b->violation]);
}

// Declares the names and kinds that it may be, and 'which' of them it is.
static void blames(const struct emit *e, const struct ir_stmt *s) {
    const struct ir_report *r = s->report;
    const char *names = "", *kinds = "", *which = "";
    for (size_t i = 0; i < r->blames.n; i++) {
        names = emit_text(e, "%s%s, ", names, emit_string(e, r->blames.v[i].name));
        kinds = emit_text(e, "%s%s, ", kinds, violation(e, &r->blames.v[i]));
    }
    for (size_t i = 0; i < s->args.n; i++)
        which = emit_text(e, "%s%s ? %zu : ", which, emit_cond(e, s->args.v[i]), i);
    emit_line(e, "static const char *const names[] = {%s};", names);
    emit_line(e, "static const enum sk_violation kinds[] = {%s};", kinds);
    emit_line(e, "const unsigned which = %s%zu;", which, s->args.n);
}

static const char *other_place(const struct emit *e, const struct ir_stmt *s) {
    if (!s->e3)
        return "NULL";
    const char *number = emit_u64(e, s->e3);
    return emit_text(e, "%s ? &%s[%s - 1] : NULL", number, places_name(e, s->report->places),
                     number);
}

void emit_checked_report(const struct emit *e, const struct ir_stmt *s) {
    const bool one = s->args.n == 0;
    emit_open(e, "if (__builtin_expect(%s, 0)) {", emit_cond(e, s->e));
    emit_place(e, "at", s->at);
    if (!one)
        blames(e, s);
    emit_line(e, "sk_report(v->packet, %s, %s, &at, %s, %s, %s);", emit_gress_name(e),
              one ? violation(e, &s->report->blames.v[0]) : "kinds[which]",
              one ? emit_string(e, s->report->blames.v[0].name) : "names[which]",
              s->e2 ? emit_u64(e, s->e2) : "0", other_place(e, s));
    emit_close(e, "}");
}

// --------------------------------------------------------------------------------------------
// Tables: which key of those with undefined bits decides about the entry.

// Bits that are undefined of a word of a key, least significant first.
static const char *undefined_word(const struct emit *e, const struct ir_expr *key,
                                  struct ir_expr *defined, unsigned word) {
    const unsigned left = key->width - 64 * word, n = left < 64 ? left : 64;
    if (!defined)
        return "0";
    if (plan_is_wide(key->width))
        return emit_text(e, "%s ? 0 : %s", emit_cond(e, defined), emit_ones(e, n));
    return emit_text(e, "~%s & %s", emit_word(e, defined, word), emit_ones(e, n));
}

void emit_checked_key(const struct emit *e, const struct ir_table *t) {
    if (t->doubtful) {
        emit_open(e, "{");
        emit_open(e, "const uint64_t undefined[] = {");
        for (size_t i = 0; i < t->keys.n; i++) {
            const struct ir_expr *x = t->keys.v[i].expr;
            for (unsigned w = 0; w < (x->width + 63) / 64; w++)
                emit_line(e, "%s,", undefined_word(e, x, t->key_defined.v[i], w));
        }
        emit_close(e, "};");
        emit_line(e, "uint64_t some = 0;");
        emit_line(e, "for (unsigned i = 0; i < sizeof undefined / sizeof *undefined; i++)");
        emit_line(e, "    some |= undefined[i];");
        emit_line(e, "%s;",
                  emit_set(e, t->doubtful,
                           emit_text(e, "some ? sk_key_matters(%s, key, undefined) + 1 : 0",
                                     emit_table_ref(e, t))));
        emit_close(e, "}");
    }
    emit_block(e, t->reports);
}

// --------------------------------------------------------------------------------------------
// Parser and deparser: what only the run time knows.

void emit_checked_parser(const struct emit *e) {
    if (!e->checked)
        return;
    emit_line(e, "const struct sk_place *here = NULL;");
    emit_line(e, "const char *doing = NULL;");
    emit_line(e, "const int here_gress = %s;", emit_gress_name(e));
}

void emit_checked_here(const struct emit *e, struct loc at, const char *what) {
    if (!e->checked)
        return;
    emit_open(e, "{");
    emit_place(e, "at", at);
    emit_line(e, "here = &at;");
    emit_line(e, "doing = %s;", emit_string(e, emit_shown_name(e, what)));
    emit_close(e, "}");
}

void emit_checked_too_long(const struct emit *e, const struct ir_state *st) {
    if (!e->checked)
        return;
    emit_open(e, "{");
    emit_place(e, "at", st->at);
    emit_line(e,
              "sk_report(v->packet, %s, SK_VIOLATION_PARSER_LOOP, &at, %s, SK_PARSER_MAX_STATES, "
              "NULL);",
              emit_gress_name(e), emit_string(e, st->name));
    emit_close(e, "}");
}

void emit_checked_headroom(const struct emit *e) {
    if (e->checked)
        emit_line(e,
                  "sk_report(v->packet, %s, SK_VIOLATION_HEADROOM, NULL, \"what is emitted\", "
                  "gathered - (size_t)(q - packet->buf), NULL);",
                  emit_gress_name(e));
}
