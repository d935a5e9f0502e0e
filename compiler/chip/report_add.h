// SPDX-License-Identifier: Apache-2.0
//
// report_add: how a phase of the model tells what it found. Below all phases.
#ifndef SILKEN_COMPILER_CHIP_REPORT_ADD_H
#define SILKEN_COMPILER_CHIP_REPORT_ADD_H

#include "compiler/chip/chip.h"

// Adds a violation. 'message' and 'suggestion' are printf'ed by the caller (arena_printf).
// Returned for also/limit/used to be set; valid until the next one is added. The same rule at the
// same place is added once: afterwards a scratch violation is returned.
struct chip_violation *chip_violate(struct chip_report *r, const char *rule, struct loc at,
                                    const char *message, const char *suggestion);
void chip_exceed(struct chip_violation *v, uint64_t used, uint64_t limit);
// What is no part of the verdict; the same rule at the same place once.
void chip_warn(struct chip_report *r, struct chip_violation v);
// Once all phases have told what they found: what is over a limit by no more than the model is
// known to err (chip_violation.within_error) is a warning.
void chip_trust_known_error(struct chip_report *r);
void chip_note(struct chip_report *r, const char *note); // once each

#endif
