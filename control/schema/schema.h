// SPDX-License-Identifier: Apache-2.0
//
// schema: a JSON Schema (draft 2020-12) of configuration and entries files (config.h, bf_entry.h),
// for editors, and for programs that write such files.
//
// In general it says what members there are and what they may be. Of a program it also says its
// tables, keys, actions, arguments, registers, counters, meters, value sets, selectors, hashes and
// port metadata, with every spelling of a name that is accepted, and the values that fit. What it
// cannot say (two entries with one key, a node that is named and not there, a value that has too
// many digits) is found when the file is read.
//
// Files:
//
//     schema.c   the schema in general
//     tor.c      the member "tor"
//     names.c    spellings of names, values that fit a field
//     tables.c   a program's match tables and action profiles
//     objects.c  its registers, counters, meters, value sets, selectors, hashes, port metadata
#ifndef SILKEN_CONTROL_SCHEMA_SCHEMA_H
#define SILKEN_CONTROL_SCHEMA_SCHEMA_H

#include <jansson.h>

#include "pipeline/switch/switch.h"

// 'sw' runs the program, or is null: the schema in general. 'whole': a file must name its program.
// A new reference.
json_t *sk_schema(const struct sk_switch *sw, bool whole);

#endif
