// SPDX-License-Identifier: Apache-2.0
//
// port_metadata: the metadata that the chip puts before the packets of a port (tna-facts 3.1), by
// the names that the program's parser gives its fields.
//
// The fields are those of the struct that port_metadata_unpack<T> yields, in order, the first in
// the most significant bits of the first byte: TNA leaves their places to the compiler. A program
// that does not unpack the metadata has no fields. In any program the metadata can be written as
// one value of all bits (64; 128 on a Tofino 2); without fields this is the only way.
#ifndef SILKEN_CONTROL_TABLES_PORT_METADATA_H
#define SILKEN_CONTROL_TABLES_PORT_METADATA_H

#include <jansson.h>

#include "control/tables/control.h"

// Fields that are not given are zero. Both return 0, or -1 with nothing changed.
int sk_control_port_metadata(struct sk_switch *sw, uint16_t port,
                             const struct sk_named_value *fields, size_t n, struct sk_error *err);
int sk_control_port_metadata_raw(struct sk_switch *sw, uint16_t port, const char *value,
                                 struct sk_error *err);
// {"field": "value", ...}, or the whole as text when the program has no fields. A new reference;
// null when all of it is zero.
json_t *sk_port_metadata_json(const struct sk_switch *sw, uint16_t port);

// 'width' bits that begin at bit 'at' of a port's bytes, counted from the first byte's most
// significant one; sk_words(width) words.
void sk_port_metadata_put(uint8_t *bytes, uint32_t at, uint32_t width, const uint64_t *words);
void sk_port_metadata_take(const uint8_t *bytes, uint32_t at, uint32_t width, uint64_t *words);

#endif
