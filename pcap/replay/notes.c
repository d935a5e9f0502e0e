// SPDX-License-Identifier: Apache-2.0
//
// notes: what a recording says of a ToR's control plane (control/journal/journal.h). The captures
// are read a second time for it, ahead of their packets, since what a call did is noted after it.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pcap/replay/map.h"
#include "pcap/replay/replay_impl.h"

#define MOST_BYTES (64u << 20) // of a note in parts

struct replay_notes {
    struct replay_files files; // in the order of their times
    size_t file;               // that comes next
    struct capture *capture;   // or null
    char *part;                // n bytes of a note that is not whole
    size_t n, room;
    struct journal_note read; // of a run: times that are left are from 'run' on
    size_t run;
    bool has; // 'out'
    struct replay_note out;
    uint64_t lost;
    bool failed;
    struct sk_error err;
};

static bool replay_notes_begins(const struct capture_frame *f, const char *word) {
    const size_t n = strlen(word);
    return f->comment_length >= n && memcmp(f->comment, word, n) == 0;
}

bool replay_is_control(const struct capture_frame *f) {
    return f->comment && f->length == 0 && f->direction == CAPTURE_UNKNOWN &&
           (replay_notes_begins(f, JOURNAL_NOTE) || replay_notes_begins(f, JOURNAL_PART));
}

// As replay_notes_peek(): the next frame that is a note, or a part.
static bool replay_notes_frame(struct replay_notes *n, struct capture_frame *f) {
    for (;;) {
        int rc = n->capture ? capture_next(n->capture, f, &n->err) : 0;
        if (rc > 0 && replay_is_control(f))
            return true;
        if (rc > 0)
            continue;
        capture_close(n->capture);
        n->capture = NULL;
        // what is wrong with a capture is said by who reads its packets, too
        while (rc == 0 && n->file < n->files.n && n->files.items[n->file].port != REPLAY_MAPPED)
            n->file++;
        if (rc == 0 && n->file < n->files.n) {
            n->capture = capture_open(n->files.items[n->file++].path, &n->err);
            rc = n->capture ? 0 : -1;
        }
        n->failed |= rc < 0;
        if (!n->capture)
            return false;
    }
}

static bool replay_notes_add(struct replay_notes *n, const char *text, size_t length) {
    if (n->n + length > MOST_BYTES) {
        n->failed = sk_fail(&n->err, "%s: a note of the control plane is too long",
                            capture_path(n->capture));
        return false;
    }
    n->part = sk_grow_bytes(n->part, n->n, length, &n->room);
    memcpy(n->part + n->n, text, length);
    n->n += length;
    return true;
}

// The next whole note, and its time.
static bool replay_notes_read(struct replay_notes *n, uint64_t *time_ns) {
    struct capture_frame f;
    struct sk_error why;
    n->n = 0;
    while (replay_notes_frame(n, &f)) {
        const bool whole = replay_notes_begins(&f, JOURNAL_NOTE);
        const size_t front = strlen(whole ? JOURNAL_NOTE : JOURNAL_PART);
        n->lost += f.lost;
        if (!replay_notes_add(n, f.comment + front, f.comment_length - front))
            return false;
        if (!whole)
            continue;
        *time_ns = f.time_ns;
        if (journal_read(n->part, n->n, &n->read, &why) == 0)
            return true;
        n->failed = sk_fail(&n->err, "%s: packet %llu: %s", capture_path(n->capture),
                            (unsigned long long)capture_count(n->capture), why.text);
        return false;
    }
    return false;
}

const struct replay_note *replay_notes_peek(struct replay_notes *n) {
    const bool run = n->read.kind == JOURNAL_RUN;
    if (n->has)
        return &n->out;
    if (n->failed)
        return NULL;
    uint64_t time_ns = 0;
    if (!run || ++n->run >= n->read.n) {
        journal_free(&n->read);
        n->run = 0;
        if (!replay_notes_read(n, &time_ns))
            return NULL;
    }
    const uint64_t before = n->out.at;
    n->out = (struct replay_note){.note = n->read};
    if (n->read.kind == JOURNAL_RUN)
        time_ns = n->out.note.now = n->read.list[n->run];
    n->out.at = time_ns > before ? time_ns : before;
    n->has = true;
    return &n->out;
}

void replay_notes_take(struct replay_notes *n) {
    n->has = false;
}

bool replay_notes_failed(const struct replay_notes *n, struct sk_error *err) {
    if (n->failed && err)
        *err = n->err;
    return n->failed;
}

uint64_t replay_notes_lost(const struct replay_notes *n) {
    return n->lost;
}

void replay_notes_close(struct replay_notes *n) {
    if (!n)
        return;
    capture_close(n->capture);
    journal_free(&n->read);
    free(n->files.items);
    free(n->part);
    free(n);
}

// Whether the first record of all is the note that all begin with.
static bool replay_notes_are_there(struct replay_notes *n) {
    struct capture_frame f;
    size_t i = 0;
    while (i < n->files.n && n->files.items[i].port != REPLAY_MAPPED)
        i++;
    struct capture *c = i < n->files.n ? capture_open(n->files.items[i].path, NULL) : NULL;
    const bool there = c && capture_next(c, &f, NULL) > 0 && replay_is_control(&f);
    capture_close(c);
    if (!there)
        return false;
    const struct replay_note *first = replay_notes_peek(n);
    return n->failed || (first && first->note.kind == JOURNAL_BEGIN);
}

int replay_notes_open(const struct replay_options *opt, struct replay_notes **out,
                      struct sk_error *err) {
    struct replay_notes *n = calloc(1, sizeof *n);
    if (!n)
        abort();
    n->read.kind = JOURNAL_KINDS;
    *out = NULL;
    if (replay_trace_possible(opt))
        n->files = replay_files_by_time(opt);
    const bool there = replay_notes_are_there(n), failed = replay_notes_failed(n, err);
    if (there && !failed)
        *out = n;
    else
        replay_notes_close(n);
    return failed ? -1 : 0;
}
