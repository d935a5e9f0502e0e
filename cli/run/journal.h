// SPDX-License-Identifier: Apache-2.0
//
// journal: notes about the ToR's control plane in the recording of a switch that records itself
// (control/journal/journal.h has what they say).
//
// Notes that come before the recording wait for it. The control plane runs a thousand times a
// second; runs after which nothing happens share a note. All calls on the control thread, or before
// it is started; with a null journal they do nothing.
#ifndef SILKEN_CLI_RUN_JOURNAL_H
#define SILKEN_CLI_RUN_JOURNAL_H

#include "control/journal/journal.h"
#include "pipeline/observe/recorder.h"

struct run_journal;

struct run_journal *run_journal_new(uint16_t cpu_port); // whose interface has the notes
void run_journal_free(struct run_journal *j);
// What waits goes into the recording, at this time, and what comes from now on. Null: what comes is
// forgotten.
void run_journal_into(struct run_journal *j, struct sk_recorder *recorder, uint64_t now);

// At this time, which is that of the clock, not of the note.
void run_journal_note(struct run_journal *j, const struct journal_note *note, uint64_t now);
// Timers are looked at, at 'now'; notes of what follows from it come after this call.
void run_journal_run(struct run_journal *j, uint64_t now);
// Nothing more has happened up to this time.
void run_journal_quiet(struct run_journal *j, uint64_t now);

#endif
