// SPDX-License-Identifier: Apache-2.0
//
// names: finds the object that a name means.
//
// The compiler gives every object its full name ("pipe.Ingress.forward"). A person may write any
// dotted suffix that only one object has ("forward"). An exact full name always wins. Key fields
// also match in the spellings that scripts use: h[1].f for h$1.f, h.isValid() for h.$valid, and a
// slice without its bounds.
#ifndef SILKEN_CONTROL_TABLES_NAMES_H
#define SILKEN_CONTROL_TABLES_NAMES_H

#include "control/tables/control.h"

// Is 'name' the whole of 'full' or what follows one of its dots?
bool sk_name_matches(const char *full, const char *name);

// Decimal, or hexadecimal with 0x; a '-' may stand before it.
bool sk_is_number(const char *word);

// Index of the one name in a list of 'n' that 'name' means; negative, with a sentence that lists
// the candidates, when there is none or more than one. 'what' is the kind of thing, for the
// sentence.
struct sk_name_list {
    const char *what;
    size_t n;
    const char *(*at)(const void *list, size_t i);
    const void *list;
};
int sk_find_name(const struct sk_name_list *names, const char *name, struct sk_error *err);

enum sk_object_kind {
    SK_TABLE,
    SK_REGISTER,
    SK_COUNTER,
    SK_VALUE_SET,
    SK_METER_OBJECT,
    SK_SELECTOR,
    SK_HASH // one that can be changed
};

// An object of a program; it exists once in each hardware pipe that runs its pipeline.
struct sk_object {
    enum sk_object_kind kind;
    uint32_t pipeline, index;
    const struct sk_pipeline_desc *desc;
};
int sk_find_object(const struct sk_switch *sw, enum sk_object_kind kind, const char *name,
                   struct sk_object *object, struct sk_error *err);
// The same without a sentence, for callers that ask often: false when no object, or more than one,
// has that name.
bool sk_has_object(const struct sk_switch *sw, enum sk_object_kind kind, const char *name,
                   struct sk_object *object);
const char *sk_object_name(const struct sk_object *object);
// The pipes that have it: all (-1), or the one asked for.
struct sk_pipe_list {
    unsigned list[SK_PIPES];
    unsigned n;
};
int sk_find_pipes(const struct sk_switch *sw, const struct sk_object *object, int pipe,
                  struct sk_pipe_list *pipes, struct sk_error *err);
// Does hardware pipe 'pipe' have it?
bool sk_object_in_pipe(const struct sk_switch *sw, const struct sk_object *object, unsigned pipe);
// The i-th object of a kind over all pipelines; false beyond the last.
bool sk_object_at(const struct sk_switch *sw, enum sk_object_kind kind, size_t i,
                  struct sk_object *object);

// Index of a field or action.
int sk_find_field(const char *what, const struct sk_field_desc *fields, uint32_t n,
                  const char *name, struct sk_error *err);
int sk_find_action(const struct sk_table_desc *table, const char *name, struct sk_error *err);

#endif
