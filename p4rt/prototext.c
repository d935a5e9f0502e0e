// SPDX-License-Identifier: Apache-2.0
//
// Protobuf's text format, as far as the compiler writes it (compiler/describe/p4info.c): messages
// in braces, numbers, texts in quotes, names of choices, comments. The fields are those of the
// message's description.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "p4rt/p4rt_impl.h"

#define PROTOTEXT_DEPTH 32u
#define PROTOTEXT_WORD  128u

struct prototext {
    const char *at;
    unsigned line, depth;
    struct sk_error *err;
};

static bool prototext_fail(const struct prototext *t, const char *what, const char *which) {
    sk_fail(t->err, "line %u of the program's P4Info: %s '%s'", t->line, what, which);
    return false;
}

static void prototext_skip(struct prototext *t) {
    for (; isspace((unsigned char)*t->at) || *t->at == '#'; t->at++) {
        if (*t->at == '#')
            t->at += strcspn(t->at, "\n");
        if (!*t->at)
            return;
        t->line += *t->at == '\n';
    }
}

static bool prototext_word(struct prototext *t, char *out) {
    size_t n = 0;
    prototext_skip(t);
    while (n < PROTOTEXT_WORD - 1 &&
           (isalnum((unsigned char)t->at[n]) || t->at[n] == '_' || t->at[n] == '-'))
        n++;
    memcpy(out, t->at, n);
    out[n] = 0;
    t->at += n;
    return n > 0 || prototext_fail(t, "a name is missing before", *t->at ? "..." : "the end");
}

static bool prototext_sign(struct prototext *t, char sign) {
    prototext_skip(t);
    const bool there = *t->at == sign;
    t->at += there;
    return there;
}

// ---- values ----

// Where the next value of a field goes: its place, or a new one at the end of its list.
static void *prototext_place(ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, size_t size) {
    uint8_t *base = (uint8_t *)m;
    if (f->label != PROTOBUF_C_LABEL_REPEATED) {
        if (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF)
            *(uint32_t *)(base + f->quantifier_offset) = f->id;
        return base + f->offset;
    }
    size_t *n = (size_t *)(base + f->quantifier_offset);
    uint8_t **list = (uint8_t **)(base + f->offset);
    *list = sk_resize(*list, *n + 1, size);
    memset(*list + *n * size, 0, size);
    return *list + (*n)++ * size;
}

static bool prototext_number(struct prototext *t, const char *word, bool negative_too,
                             int64_t *out) {
    char *end;
    const bool negative = *word == '-';
    const uint64_t number = strtoull(word + negative, &end, 10);
    if (*end || !isdigit((unsigned char)word[negative]) || (negative && !negative_too) ||
        number > INT64_MAX)
        return prototext_fail(t, "this is not a number:", word);
    *out = negative ? -(int64_t)number : (int64_t)number;
    return true;
}

static bool prototext_enum(const struct prototext *t, ProtobufCMessage *m,
                           const ProtobufCFieldDescriptor *f, const char *word) {
    const ProtobufCEnumValue *v = protobuf_c_enum_descriptor_get_value_by_name(f->descriptor, word);
    if (!v)
        return prototext_fail(t, "there is no choice", word);
    *(int32_t *)prototext_place(m, f, sizeof(int32_t)) = v->value;
    return true;
}

static bool prototext_scalar(struct prototext *t, ProtobufCMessage *m,
                             const ProtobufCFieldDescriptor *f) {
    char word[PROTOTEXT_WORD];
    int64_t number;
    if (!prototext_word(t, word))
        return false;
    switch (f->type) {
    case PROTOBUF_C_TYPE_ENUM:
        return prototext_enum(t, m, f, word);
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)prototext_place(m, f, sizeof(protobuf_c_boolean)) =
            strcmp(word, "true") == 0;
        return true;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
        if (!prototext_number(t, word, f->type == PROTOBUF_C_TYPE_INT32, &number))
            return false;
        *(uint32_t *)prototext_place(m, f, sizeof(uint32_t)) = (uint32_t)number;
        return true;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        if (!prototext_number(t, word, f->type == PROTOBUF_C_TYPE_INT64, &number))
            return false;
        *(int64_t *)prototext_place(m, f, sizeof number) = number;
        return true;
    default:
        return prototext_fail(t, "a value of this type is not known:", word);
    }
}

// One character of a text, with its escape read.
static char prototext_character(struct prototext *t) {
    if (*t->at != '\\')
        return *t->at++;
    t->at++;
    if (*t->at < '0' || *t->at > '7')
        return *t->at ? *t->at++ : '\\';
    unsigned value = 0;
    for (unsigned i = 0; i < 3 && *t->at >= '0' && *t->at <= '7'; i++)
        value = value * 8 + (unsigned)(*t->at++ - '0');
    return (char)value;
}

static bool prototext_string(struct prototext *t, ProtobufCMessage *m,
                             const ProtobufCFieldDescriptor *f) {
    if (f->type != PROTOBUF_C_TYPE_STRING)
        return prototext_fail(t, "a text is not a value of field", f->name);
    char *text = malloc(strlen(t->at) + 1);
    size_t n = 0;
    if (!text)
        abort();
    for (t->at++; *t->at && *t->at != '"';)
        text[n++] = prototext_character(t);
    text[n] = 0;
    *(char **)prototext_place(m, f, sizeof text) = sk_resize(text, n + 1, 1);
    return *t->at++ == '"' || prototext_fail(t, "a text does not end: field", f->name);
}

// ---- messages ----

static bool prototext_fields(struct prototext *t, ProtobufCMessage *m, bool inner);

static bool prototext_message(struct prototext *t, ProtobufCMessage *m,
                              const ProtobufCFieldDescriptor *f) {
    const ProtobufCMessageDescriptor *type = f->descriptor;
    if (f->type != PROTOBUF_C_TYPE_MESSAGE || t->depth == PROTOTEXT_DEPTH)
        return prototext_fail(t, "a message is not a value of field", f->name);
    ProtobufCMessage *inner = malloc(type->sizeof_message);
    if (!inner)
        abort();
    protobuf_c_message_init(type, inner);
    *(ProtobufCMessage **)prototext_place(m, f, sizeof inner) = inner;
    t->depth++;
    const bool good = prototext_fields(t, inner, true);
    t->depth--;
    return good;
}

static bool prototext_fields(struct prototext *t, ProtobufCMessage *m, bool inner) {
    char name[PROTOTEXT_WORD];
    for (;;) {
        if (inner && prototext_sign(t, '}'))
            return true;
        prototext_skip(t);
        if (!inner && !*t->at)
            return true;
        if (!prototext_word(t, name))
            return false;
        const ProtobufCFieldDescriptor *f =
            protobuf_c_message_descriptor_get_field_by_name(m->descriptor, name);
        if (!f)
            return prototext_fail(t, "there is no field", name);
        prototext_sign(t, ':');
        prototext_skip(t);
        const bool good = prototext_sign(t, '{') ? prototext_message(t, m, f)
                          : *t->at == '"'        ? prototext_string(t, m, f)
                                                 : prototext_scalar(t, m, f);
        if (!good)
            return false;
    }
}

ProtobufCMessage *p4rt_text_read(const ProtobufCMessageDescriptor *type, const char *text,
                                 struct sk_error *err) {
    struct prototext t = {.at = text, .line = 1, .err = err};
    ProtobufCMessage *m = malloc(type->sizeof_message);
    if (!m)
        abort();
    protobuf_c_message_init(type, m);
    if (prototext_fields(&t, m, false))
        return m;
    protobuf_c_message_free_unpacked(m, NULL);
    return NULL;
}
