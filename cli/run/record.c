// SPDX-License-Identifier: Apache-2.0
#include "cli/run/record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/run/journal.h"
#include "cli/run/run.h"
#include "control/config/record.h"
#include "pcap/record/record.h"

#define IDLE_US 500

struct run_record {
    struct sk_recorder *recorder;
    struct sk_record_reader *reader;
    struct record_files *out;
    pthread_t thread;
    atomic_bool failed;
};

static void *write_records(void *aux) {
    struct run_record *r = aux;
    struct sk_error err;
    for (;;) {
        enum record_progress p = record_pump(r->out, r->reader, &err);
        if (p == RECORD_FAILED) {
            fprintf(stderr, "silken run: the recording ends here: %s\n", err.text);
            atomic_store(&r->failed, true);
            return NULL;
        }
        if (p == RECORD_DONE)
            return NULL;
        if (p == RECORD_IDLE)
            usleep(IDLE_US);
    }
}

static int run_record_write_config(const struct sk_config *c, const char *file, const char *program,
                                   uint64_t clock, struct sk_error *err) {
    char absolute[PATH_MAX];
    if (!record_has_beside(file))
        return 0;
    char *path = record_config_path(file);
    char *text = sk_config_for_replay(c, realpath(program, absolute) ? absolute : program, clock);
    FILE *f = fopen(path, "we");
    int rc = f ? 0 : -1;
    if (f && fprintf(f, "%s\n", text) < 0)
        rc = -1;
    if (f && fclose(f))
        rc = -1;
    if (rc)
        sk_fail(err, "cannot write %s: %s", path, strerror(errno));
    free(text);
    free(path);
    return rc;
}

static void run_record_describe_ports(struct run_record *r, const struct sk_config *c) {
    struct record_port *list = calloc(c->n_ports + 1, sizeof *list);
    size_t n = 0;
    if (!list)
        abort();
    for (size_t i = 0; i < c->n_ports; i++) {
        bool wanted = c->record.n_ports == 0;
        for (size_t k = 0; k < c->record.n_ports; k++)
            wanted |= c->record.ports[k] == c->ports[i].port;
        if (wanted)
            list[n++] =
                (struct record_port){c->ports[i].port, c->ports[i].device, c->ports[i].name};
    }
    record_ports(r->out, list, n);
    free(list);
}

static struct record_options files_of(const struct sk_config *c, const char *file) {
    return (struct record_options){
        .path = file, .file_bytes = c->record.file_mib << 20, .files = c->record.files};
}

static bool run_record_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static int record_check_distinct(const char *written, const char *given, const char *program,
                                 struct sk_error *err) {
    const bool config = run_record_same_file(written, given);
    if (!config && !run_record_same_file(written, program))
        return 0;
    return sk_fail(
        err, "the recording would overwrite %s, the %s of this switch; record under another name",
        written, config ? "configuration" : "program");
}

static int run_record_check_devices(const struct sk_config *c, const char *file,
                                    struct sk_error *err) {
    for (size_t i = 0; i < c->n_ports; i++)
        if (record_is_of_device(file, c->ports[i].device))
            return sk_fail(err, "%s is used by port %u's device; record under another name", file,
                           c->ports[i].port);
    return 0;
}

// The configuration of an earlier recording has its clock; what has none is somebody's.
static int check_beside(const char *beside, struct sk_error *err) {
    struct stat st;
    if (stat(beside, &st) || !S_ISREG(st.st_mode) || st.st_size == 0)
        return record_check(&(struct record_options){.path = beside}, err);
    json_t *root = json_load_file(beside, 0, NULL);
    const bool ours = json_is_integer(json_object_get(root, "clock"));
    json_decref(root);
    if (!ours)
        return sk_fail(
            err, "%s exists and does not belong to a recording; record under another name", beside);
    return access(beside, W_OK) ? sk_fail(err, "cannot write %s: %s", beside, strerror(errno)) : 0;
}

int run_record_check(const struct sk_config *c, const char *file, const char *given,
                     const char *program, struct sk_error *err) {
    const struct record_options files = files_of(c, file);
    char *beside = record_config_path(file);
    const bool kept = record_has_beside(file);
    // a ring has files of other names
    const bool bad = (!files.file_bytes && (record_check_distinct(file, given, program, err) ||
                                            run_record_check_devices(c, file, err))) ||
                     (kept && record_check_distinct(beside, given, program, err)) ||
                     record_check(&files, err) || (kept && check_beside(beside, err));
    free(beside);
    return bad ? -1 : 0;
}

static bool open_all(struct run_record *r, const struct sk_config *c, unsigned n_cores, bool notes,
                     const char *file, struct sk_error *err) {
    const struct sk_config_record *wanted = &c->record;
    const struct record_options files = files_of(c, file);
    bool ports[SK_PORTS] = {false};
    char error[256];
    for (size_t i = 0; i < wanted->n_ports; i++)
        ports[wanted->ports[i]] = true;
    const struct sk_recorder_options opt = {.n_cores = n_cores,
                                            .ring_bytes = wanted->ring_mib << 20,
                                            .snaplen = wanted->snaplen,
                                            .ports = wanted->n_ports ? ports : NULL,
                                            .notes = notes};
    r->recorder = sk_recorder_new(&opt, error, sizeof error);
    if (!r->recorder)
        return sk_fail(err, "%s", error) == 0;
    r->reader = sk_record_reader_of(r->recorder);
    // which are there only now
    if (!files.file_bytes && run_record_check_devices(c, file, err))
        return false;
    r->out = record_open(&files, err);
    if (!r->out)
        return false;
    run_record_describe_ports(r, c);
    return true;
}

static void run_record_free_all(struct run_record *r) {
    record_close(r->out, r->reader, NULL);
    sk_record_reader_close(r->reader);
    sk_recorder_free(r->recorder);
    free(r);
}

struct run_record *run_record_start(struct sk_recording *recording, const struct sk_config *c,
                                    const char *file, const char *program, uint64_t clock,
                                    struct run_journal *journal, struct sk_error *err) {
    struct run_record *r = calloc(1, sizeof *r);
    if (!r)
        abort();
    atomic_init(&r->failed, false);
    if (!open_all(r, c, sk_recording_cores(recording), journal, file, err) ||
        run_record_write_config(c, file, program, clock, err)) {
        run_record_free_all(r);
        return NULL;
    }
    int rc = sk_thread_anywhere(&r->thread, write_records, r);
    if (rc) {
        sk_fail(err, "cannot start a thread to record with: %s", strerror(rc));
        run_record_free_all(r);
        return NULL;
    }
    sk_recording_own(recording, r->recorder);
    run_journal_into(journal, r->recorder, run_now());
    printf("recording into %s\n", record_path(r->out));
    return r;
}

bool run_record_failed(const struct run_record *r) {
    return r && atomic_load_explicit(&r->failed, memory_order_relaxed);
}

void run_record_end(struct run_record *r) {
    struct record_counts n;
    struct sk_error err;
    if (!r)
        return;
    pthread_join(r->thread, NULL);
    record_counts(r->out, r->reader, &n);
    if (record_close(r->out, r->reader, &err) && !run_record_failed(r))
        fprintf(stderr, "silken run: the recording is incomplete: %s\n", err.text);
    r->out = NULL;
    printf("recorded %" PRIu64 " received + %" PRIu64 " sent, %" PRIu64 " dropped; %u file%s\n",
           n.received, n.sent, n.dropped, n.files, n.files == 1 ? "" : "s");
    if (n.lost)
        fprintf(stderr,
                "silken run: %" PRIu64 " records are missing: the ring was full; see "
                "\"ring\", \"snaplen\" and \"ports\" of \"record\"\n",
                n.lost);
    run_record_free_all(r);
}
