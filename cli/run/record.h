// SPDX-License-Identifier: Apache-2.0
//
// record: a switch that records itself from its first packet on: `silken run --record` and "record"
// of its configuration.
//
// A thread of its own writes the files, so that pipes never wait for a disk. When it cannot go on
// (the disk is full) it says so once and the switch goes on without it.
#ifndef SILKEN_CLI_RUN_RECORD_H
#define SILKEN_CLI_RUN_RECORD_H

#include "control/config/config.h"
#include "control/socket/recording.h"

struct run_journal;
struct run_record;

// Whether that can be, without making or changing a file: neither the recording nor
// FILE.config.json may take the place of the configuration that the switch was given ('given') or
// of its program. 0, or negative with a sentence.
int run_record_check(const struct sk_config *c, const char *file, const char *given,
                     const char *program, struct sk_error *err);
// When all else is ready, since an older FILE is lost from here on; before the lcores run, on a
// switch that was configured at 'clock'. Writes FILE.config.json too. 'file' is c->record's, by its
// path from here. 'journal' is what notes go into it from, or null. Null with a sentence.
struct run_record *run_record_start(struct sk_recording *recording, const struct sk_config *c,
                                    const char *file, const char *program, uint64_t clock,
                                    struct run_journal *journal, struct sk_error *err);
// It cannot go on, and sk_recording_own_stop() has still to be called. Null: false.
bool run_record_failed(const struct run_record *r);
// After the last packet: writes what is left, says what was recorded, frees 'r' (null allowed).
// What is recorded has ended (sk_recording_own_stop).
void run_record_end(struct run_record *r);

#endif
