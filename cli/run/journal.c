// SPDX-License-Identifier: Apache-2.0
#include "cli/run/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define RUNS       256u
#define PART_BYTES 60000u // of a comment, which has 65,535 at most

struct run_journal {
    struct sk_recorder *recorder; // null: not yet, or no longer
    bool ended;
    uint16_t port;
    uint64_t runs[RUNS];
    size_t n_runs;
    char **waiting; // texts for the recording; n_waiting of them
    size_t n_waiting, room;
};

struct run_journal *run_journal_new(uint16_t cpu_port) {
    struct run_journal *j = calloc(1, sizeof *j);
    if (!j)
        abort();
    j->port = cpu_port;
    return j;
}

static void journal_drop_waiting(struct run_journal *j) {
    for (size_t i = 0; i < j->n_waiting; i++)
        free(j->waiting[i]);
    free(j->waiting);
    j->waiting = NULL;
    j->n_waiting = j->room = 0;
}

void run_journal_free(struct run_journal *j) {
    if (!j)
        return;
    journal_drop_waiting(j);
    free(j);
}

// In parts, of which the last one says that it is the last.
static void journal_record(struct run_journal *j, const char *text, uint64_t now) {
    char part[sizeof JOURNAL_PART + PART_BYTES];
    for (size_t left = strlen(text), n; left > 0; left -= n, text += n) {
        n = left < PART_BYTES ? left : PART_BYTES;
        const int length = snprintf(part, sizeof part, "%s%.*s",
                                    n == left ? JOURNAL_NOTE : JOURNAL_PART, (int)n, text);
        sk_record_note(j->recorder, j->port, part, (uint32_t)length, now);
    }
}

static void journal_put(struct run_journal *j, const struct journal_note *note, uint64_t now) {
    if (j->ended)
        return;
    char *text = journal_write(note);
    if (j->recorder) {
        journal_record(j, text, now);
        free(text);
        return;
    }
    j->waiting = sk_grow(j->waiting, j->n_waiting, &j->room, sizeof *j->waiting);
    j->waiting[j->n_waiting++] = text;
}

static void journal_put_runs(struct run_journal *j, uint64_t now) {
    if (j->n_runs > 0)
        journal_put(j, &(struct journal_note){.kind = JOURNAL_RUN, .list = j->runs, .n = j->n_runs},
                    now);
    j->n_runs = 0;
}

void run_journal_into(struct run_journal *j, struct sk_recorder *recorder, uint64_t now) {
    if (!j)
        return;
    j->recorder = recorder;
    j->ended = !recorder;
    for (size_t i = 0; recorder && i < j->n_waiting; i++)
        journal_record(j, j->waiting[i], now);
    journal_drop_waiting(j);
}

void run_journal_note(struct run_journal *j, const struct journal_note *note, uint64_t now) {
    if (!j)
        return;
    journal_put_runs(j, now);
    journal_put(j, note, now);
}

void run_journal_run(struct run_journal *j, uint64_t now) {
    if (!j || j->ended)
        return;
    if (j->n_runs == RUNS)
        journal_put_runs(j, now);
    j->runs[j->n_runs++] = now;
}

void run_journal_quiet(struct run_journal *j, uint64_t now) {
    if (j && j->recorder && !j->ended)
        sk_record_quiet(j->recorder, now);
}
