// SPDX-License-Identifier: Apache-2.0
//
// journal: what the control plane of a ToR was told, and what chance and the machine decided for
// it, note by note, as a recording of the switch has it and a replay reads it.
//
// Control planes are functions of their calls (control/tor/tor.h). Their calls follow from packets,
// and when each was made among the packets, what came by other ways than packets, and the facts
// of the machine are in the notes: with these and the packets everything happens again. A note is a
// line of JSON:
//
//     {"control": 1, "secret": 7, "interval": 4000000, "down": [3], "state": "..."}   first: the
//                              secret of hashes, ns between pauses, ports whose link is down, the
//                              text of the file of jobs, if there was one
//     {"frames": 3, "now": T}  so many frames were taken from the CPU port
//     {"digest": T}            a digest was taken
//     {"run": [T, d, d...]}    timers were looked at, at T, d ns later, d ns later
//     {"pause": true}          the pipes wait, or have waited: for writes, or for reading
//     {"writes": 5}            that were made in it
//     {"took": 1000}           ns that writing took
//     {"random": 7}            a number that nobody can guess
//     {"sent": true}           a frame is given to the CPU port; what that received is recorded
//                              with the time of its pipe's last look at the clock, maybe before
//     {"refused": true}        it had no room for the frame
//     {"port": 3, "up": true}  a link changed, for packets; all wait meanwhile
//     {"link": 3, "up": true, "now": T}            and the control plane is told
//     {"request": {...}, "op": "job.add", "now": T}
//     {"ports": [{"port": 3, "name": "web3"}]}     are there now
//     {"section": {...}}                           is the configuration now
//     {"replaced": true}                           is the program
//
// Times are those of the switch's clock, ns.
//
//     text = journal_write(&note);                     malloc'ed
//     journal_read(text, length, &note, &err) == 0     then journal_free(&note)
//
// Thread-safety: no state.
//
// Files:
//
//     journal.c  notes to text and back
#ifndef SILKEN_CONTROL_JOURNAL_JOURNAL_H
#define SILKEN_CONTROL_JOURNAL_JOURNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define JOURNAL_FORM 1
// In front of a note in a recording, and in front of each part but the last of a long one.
#define JOURNAL_NOTE "silken control: "
#define JOURNAL_PART "silken control, part: "

enum journal_kind {
    JOURNAL_BEGIN,
    JOURNAL_FRAMES,
    JOURNAL_DIGEST,
    JOURNAL_RUN,
    JOURNAL_PAUSE,
    JOURNAL_WRITES,
    JOURNAL_TOOK,
    JOURNAL_RANDOM,
    JOURNAL_SENT,
    JOURNAL_REFUSED,
    JOURNAL_PORT,
    JOURNAL_LINK,
    JOURNAL_REQUEST,
    JOURNAL_PORTS,
    JOURNAL_SECTION,
    JOURNAL_REPLACED,
    JOURNAL_KINDS
};

// Of each kind the members that the list above has; others are ignored, and 0 when it was read.
struct journal_note {
    enum journal_kind kind;
    uint64_t now, interval;
    uint64_t number; // of frames, of writes, ns, the number that nobody can guess, the secret
    uint16_t port;
    bool up;
    uint64_t *list; // n of them: times of runs, ports that are down
    size_t n;
    char *text;    // the file of jobs, or null; the request's op
    json_t *value; // the request, ports, section
};

// Text without an end of a line, the caller's to free.
char *journal_write(const struct journal_note *note);
// 0 and the note, whose parts are the caller's to free; or negative with a sentence.
int journal_read(const char *text, size_t length, struct journal_note *note, struct sk_error *err);
void journal_free(struct journal_note *note); // what it points to

#endif
