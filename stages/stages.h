// SPDX-License-Identifier: Apache-2.0
//
// stages: the parts of a match-action stage. Generated code calls them, and inlines most of them;
// they do not depend on a packet's path.
//
//     bits.h           bit fields and arithmetic of up to 128 bits; wide.h: beyond
//     parse.c          bounds checks of a parser
//     checksum.h       the ones' complement sum
//     hash.c           CRCs and other hashes; dynhash.c: hashes that the control plane has changed
//     mathunit.h       approximate arithmetic of a stateful ALU
//     meter.c          cells of meters and filters
//     table.c          tables: making, changing, reading them (table_writer.h: shared by its
//                      writers)
//     table_entry.c    one entry of any kind of table
//     table_filled.c   tables that were filled as a whole: values, and no entries
//     numbers.h        tables that were filled, read for many lanes at once
//     table_exact.c    arrays and hashes (table_impl.h: inline lookups)
//     table_lpm.c      longest prefix match
//     table_ternary.c  ternary and range match; table_ternary_writer.c: changes of such a table
//     rank.c           objects in order of precedence
//     selector.c       groups of action selectors; selector_bits.c: their memory as packets see it
//     notes.h          the flow record of a pass
//     state.c          memory of a pipe's state
#ifndef SILKEN_STAGES_STAGES_H
#define SILKEN_STAGES_STAGES_H

#include "stages/bits.h"
#include "stages/checksum.h"
#include "stages/dynhash.h"
#include "stages/hash.h"
#include "stages/mathunit.h"
#include "stages/meter.h"
#include "stages/notes.h"
#include "stages/numbers.h"
#include "stages/parse.h"
#include "stages/selector.h"
#include "stages/selector_bits.h"
#include "stages/state.h"
#include "stages/table.h"
#include "stages/wide.h"

#endif
