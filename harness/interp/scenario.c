// SPDX-License-Identifier: Apache-2.0
//
// scenario: reading and writing. See scenario.h.
#include "harness/interp/scenario.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void write_words(FILE *f, const word_vec *w) {
    fputs(" |", f);
    for (size_t i = 0; i < w->n; i++)
        fprintf(f, " %" PRIx64, w->v[i]);
}

static void write_op(FILE *f, const struct op *op) {
    switch (op->kind) {
    case OP_ENTRY:
        fprintf(f, "entry %s %" PRId64 " %s", op->name, op->priority, op->action);
        write_words(f, &op->value);
        write_words(f, &op->mask);
        write_words(f, &op->data);
        break;
    case OP_DEFAULT:
        fprintf(f, "default %s %s", op->name, op->action);
        write_words(f, &op->data);
        break;
    case OP_MEMBER:
        fprintf(f, "member %s", op->name);
        write_words(f, &op->value);
        write_words(f, &op->mask);
        break;
    case OP_PROFILE:
        fprintf(f, "profile %s %" PRIu64 " %s", op->name, op->index, op->action);
        write_words(f, &op->data);
        break;
    case OP_GROUP:
        fprintf(f, "group %s %" PRIu64, op->name, op->index);
        write_words(f, &op->data);
        break;
    case OP_REGISTER:
        fprintf(f, "register %s %" PRIu64 " %" PRIu64 " %" PRIx64, op->name, op->index, op->word,
                op->value.v[0]);
        break;
    case OP_INGRESS:
    case OP_EGRESS:
        fprintf(f, "%s %" PRIx64 " ", op->kind == OP_INGRESS ? "ingress" : "egress", op->time);
        for (size_t i = 0; i < op->n_bytes; i++)
            fprintf(f, "%02x", op->bytes[i]);
        break;
    }
    fputc('\n', f);
}

void scenario_write(FILE *f, const struct scenario *s) {
    for (size_t i = 0; i < s->ops.n; i++)
        if (!s->ops.v[i].dropped)
            write_op(f, &s->ops.v[i]);
}

// --------------------------------------------------------------------------------------------

struct line {
    struct arena *a;
    char *save;
    bool ok;
};

static const char *word(struct line *l) {
    const char *w = strtok_r(NULL, " \t\n", &l->save);
    l->ok &= w != NULL;
    return w ? arena_strdup(l->a, w) : "";
}

static uint64_t number(struct line *l, int base) {
    const char *w = word(l);
    char *end;
    uint64_t v = strtoull(w, &end, base);
    l->ok &= *w && !*end;
    return v;
}

// Words up to the next '|' or the line's end; the '|' in front has been read.
static word_vec words(struct line *l) {
    word_vec v = {0};
    for (char *w; (w = strtok_r(NULL, " \t\n", &l->save)) && strcmp(w, "|") != 0;)
        VEC_PUSH(l->a, &v, strtoull(w, NULL, 16));
    return v;
}

static void bytes(struct line *l, struct op *op) {
    const char *hex = word(l);
    op->n_bytes = strlen(hex) / 2;
    op->bytes = arena_alloc(l->a, op->n_bytes);
    for (size_t i = 0; i < op->n_bytes; i++) {
        char two[3] = {hex[2 * i], hex[2 * i + 1], 0};
        op->bytes[i] = (uint8_t)strtoul(two, NULL, 16);
    }
}

static void expect_bar(struct line *l) {
    l->ok &= strcmp(word(l), "|") == 0;
}

static struct op read_op(struct line *l, const char *keyword) {
    struct op op = {0};
    if (strcmp(keyword, "entry") == 0) {
        op.kind = OP_ENTRY;
        op.name = word(l);
        op.priority = (int64_t)number(l, 10);
        op.action = word(l);
        expect_bar(l);
        op.value = words(l);
        op.mask = words(l);
        op.data = words(l);
    } else if (strcmp(keyword, "default") == 0) {
        op.kind = OP_DEFAULT;
        op.name = word(l);
        op.action = word(l);
        expect_bar(l);
        op.data = words(l);
    } else if (strcmp(keyword, "member") == 0) {
        op.kind = OP_MEMBER;
        op.name = word(l);
        expect_bar(l);
        op.value = words(l);
        op.mask = words(l);
    } else if (strcmp(keyword, "profile") == 0) {
        op.kind = OP_PROFILE;
        op.name = word(l);
        op.index = number(l, 10);
        op.action = word(l);
        expect_bar(l);
        op.data = words(l);
    } else if (strcmp(keyword, "group") == 0) {
        op.kind = OP_GROUP;
        op.name = word(l);
        op.index = number(l, 10);
        expect_bar(l);
        op.data = words(l);
    } else if (strcmp(keyword, "register") == 0) {
        op.kind = OP_REGISTER;
        op.name = word(l);
        op.index = number(l, 10);
        op.word = number(l, 10);
        VEC_PUSH(l->a, &op.value, number(l, 16));
    } else {
        op.kind = strcmp(keyword, "ingress") == 0 ? OP_INGRESS : OP_EGRESS;
        l->ok &= op.kind == OP_INGRESS || strcmp(keyword, "egress") == 0;
        op.time = number(l, 16);
        bytes(l, &op);
    }
    return op;
}

bool scenario_read(struct scenario *s, struct arena *a, FILE *f) {
    char *text = NULL;
    size_t cap = 0;
    bool ok = true;
    *s = (struct scenario){.a = a};
    for (unsigned n = 1; ok && getline(&text, &cap, f) >= 0; n++) {
        struct line l = {.a = a, .ok = true};
        char *keyword = strtok_r(text, " \t\n", &l.save);
        if (!keyword || *keyword == '#')
            continue;
        struct op op = read_op(&l, keyword);
        ok = l.ok;
        if (ok)
            VEC_PUSH(a, &s->ops, op);
        else
            fprintf(stderr, "line %u of the scenario is not understood\n", n);
    }
    free(text);
    return ok;
}
