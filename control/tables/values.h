// SPDX-License-Identifier: Apache-2.0
//
// values: field values between text and words (stages/table.h: least significant word first).
//
// control.h lists the forms. A value that does not fit its field is refused, never cut: decimal
// numbers must lie in the field's range (negative ones only in a signed field); hexadecimal and
// binary ones are bit patterns of at most the field's width. Addresses need a field of their width.
// A '_' between digits is a separator.
//
// A key whose value has bits outside its mask is taken as P4 does: those bits do not matter.
#ifndef SILKEN_CONTROL_TABLES_VALUES_H
#define SILKEN_CONTROL_TABLES_VALUES_H

#include "control/tables/control.h"

// 'words' has room for sk_words(f->width) words. Errors do not name the field: the caller knows
// more.
int sk_value_parse(const char *text, const struct sk_field_desc *f, uint64_t *words,
                   struct sk_error *err);
// By the field's match kind; for a range 'value' is the low end and 'mask' the high end.
int sk_key_parse(const char *text, const struct sk_field_desc *f, uint64_t *value, uint64_t *mask,
                 struct sk_error *err);
// What matches everything; false for an exact field, for which there is no such thing.
bool sk_key_any(const struct sk_field_desc *f, uint64_t *value, uint64_t *mask);

// In a form that parses back to the same words. Writes at most 'size' bytes with the final zero and
// returns the length of the whole text, like snprintf.
size_t sk_value_format(char *out, size_t size, const struct sk_field_desc *f,
                       const uint64_t *words);
size_t sk_key_format(char *out, size_t size, const struct sk_field_desc *f, const uint64_t *value,
                     const uint64_t *mask);

#endif
