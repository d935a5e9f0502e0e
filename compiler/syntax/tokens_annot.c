// SPDX-License-Identifier: Apache-2.0
//
// tokens_annot: annotations, one token each to the grammar.
#include "compiler/syntax/tokens_impl.h"

#include <string.h>

// The tokens [from, to) as text, with one space where there was any.
static const char *joined_text(struct parser *p, size_t from, size_t to) {
    size_t length = 1;
    for (size_t i = from; i < to; i++)
        length += p->tokens[i].length + 1;
    char *text = arena_alloc(p->a, length);
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        const struct token *t = &p->tokens[i];
        if (i > from && t[-1].text + t[-1].length != t->text)
            text[n++] = ' ';
        memcpy(text + n, t->text, t->length);
        n += t->length;
    }
    return text;
}

// Index of the token that closes the bracket at 'i', or 0 when none does.
static size_t find_close(const struct parser *p, size_t i, int open, int close) {
    unsigned depth = 0;
    for (; i < p->end; i++) {
        int kind = p->tokens[i].kind;
        if (kind == open)
            depth++;
        else if (kind == close && --depth == 0)
            return i;
    }
    return 0;
}

static struct annotation *annotation_new(struct parser *p, const struct token *name) {
    struct annotation *n = ARENA_NEW(p->a, struct annotation);
    n->at = name->at;
    n->name = arena_strndup(p->a, name->text, name->length);
    n->text = "";
    return n;
}

// '@' name, '@' name '(' anything ')', '@' name '[' expressions ']'. Null when it is none of these.
struct annotation *tokens_annotation(struct parser *p) {
    const struct token *name = token_at(p, p->next + 1);
    if (p->next + 1 >= p->end || !tokens_is_word(name))
        return NULL;
    struct annotation *n = annotation_new(p, name);
    size_t open = p->next + 2;
    p->next = open;
    int kind = kind_at(p, open);
    if (kind != '(' && kind != '[')
        return n;
    size_t close = find_close(p, open, kind, tokens_closing(kind));
    if (close == 0) {
        parse_error(p, token_at(p, open)->at, "this '%c' of annotation '@%s' is not closed", kind,
                    n->name);
        while (p->next < p->end && p->tokens[p->next].at.line == name->at.line)
            p->next++;
        return n;
    }
    n->text = joined_text(p, open + 1, close);
    n->structured = kind == '[';
    parse_annotation_args(p, open + 1, close, kind == '(', n);
    p->next = close + 1;
    return n;
}

// @pragma name anything, up to the end of the line.
struct annotation *tokens_pragma(struct parser *p) {
    size_t from = p->next + 1, to = from;
    while (to < p->end && p->tokens[to].kind != TOK_END_PRAGMA)
        to++;
    if (from == to || !tokens_is_word(token_at(p, from)))
        return NULL;
    struct annotation *n = annotation_new(p, token_at(p, from));
    n->text = joined_text(p, from + 1, to);
    parse_annotation_args(p, from + 1, to, true, n);
    p->next = to + 1;
    return n;
}
