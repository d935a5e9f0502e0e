// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hosts/mpi/shim.h"
#include "silken/service.h"

enum job_state { JOB_NOT_BEGUN, JOB_NOT_OPEN, JOB_OPEN, JOB_ALONE, JOB_NO_SWITCH, JOB_LOST };

// Of the process. After sk_mpi_begin() only calls that are eligible change it, which come one after
// the other.
static struct {
    enum job_state state;
    int rank, size;
    bool threads; // some rank has MPI_THREAD_MULTIPLE
    bool doubles, require, report;
    size_t min_bytes;
    struct silken_config config;
    char texts[SILKEN_ENV_TEXTS];
    char why[512]; // what was wrong at this rank
    bool configured;
    struct silken_comm *comm;
    void *scratch;
    size_t scratch_bytes;
} job;

enum { JOB_ALIKE = 5 }; // numbers that all ranks have alike

// Ends the job after a sentence that says why. A launcher that hears of the end may not pass on any
// more what the ranks wrote just before it: MPICH's does not.
static void job_abort(void) {
    const struct timespec until_passed_on = {.tv_nsec = 300000000};
    nanosleep(&until_passed_on, NULL);
    PMPI_Abort(MPI_COMM_WORLD, 2);
}

__attribute__((format(printf, 1, 2))) static void job_say(const char *format, ...) {
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "silken-mpi, rank %d: %s\n", job.rank, text);
}

// ---- beginning -------------------------------------------------------------------------------

// 0 or 1; else it says so, and counts it in '*wrong'.
static bool job_flag(const char *name, long long *wrong) {
    const char *text = getenv(name);

    if (!text || !*text || strcmp(text, "0") == 0 || strcmp(text, "1") == 0)
        return text && *text == '1';
    job_say("%s=%.40s: 0 or 1 is expected", name, text);
    ++*wrong;
    return false;
}

// A number of bytes, or -1.
static long long job_read_min_bytes(void) {
    const char *text = getenv("SILKEN_MPI_MIN_BYTES");
    char *end;
    long long n;

    if (!text || !*text)
        return 65536;
    n = strtoll(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && n < INT64_MAX ? n : -1;
}

// libsilken reads rank and number of workers from the environment: ours go before a launcher's, and
// are gone again afterwards.
static void job_configure(void) {
    const char *const names[] = {"SILKEN_RANK", "SILKEN_WORKERS"};
    const int values[] = {job.rank, job.size};
    char text[16], *before[2] = {NULL, NULL};

    for (int i = 0; i < 2; i++) {
        const char *old = getenv(names[i]);
        before[i] = old ? strdup(old) : NULL;
        snprintf(text, sizeof text, "%d", values[i]);
        setenv(names[i], text, 1);
    }
    job.configured = silken_config_env(&job.config, job.texts, job.why, sizeof job.why) == 0;
    for (int i = 0; i < 2; i++) {
        if (before[i])
            setenv(names[i], before[i], 1);
        else
            unsetenv(names[i]);
        free(before[i]);
    }
}

int sk_mpi_begin(const struct sk_mpi_own *mpi, int rank, int size, bool threads) {
    long long said[4], wrong = 0, own = job_read_min_bytes();
    int rc;

    job.rank = rank;
    job.size = size;
    job.require = job_flag("SILKEN_MPI_REQUIRE", &wrong);
    job.report = job_flag("SILKEN_MPI_REPORT", &wrong);
    job_configure();
    said[0] = own;
    said[1] = threads;
    said[3] = !job_flag("SILKEN_MPI_DOUBLE", &wrong);
    said[2] = wrong + (own < 0);
    rc = mpi->largest(mpi, said, 4);
    job.min_bytes = (size_t)(said[0] > 0 ? said[0] : 0);
    job.threads = said[1] > 0;
    job.doubles = said[3] == 0;
    if (own < 0) {
        job_say("SILKEN_MPI_MIN_BYTES=%.40s: a number of bytes is expected",
                getenv("SILKEN_MPI_MIN_BYTES"));
    }
    if (rc == MPI_SUCCESS && said[2] > 0)
        job_abort();
    job.state = job.size > 1 ? JOB_NOT_OPEN : JOB_ALONE;
    return rc;
}

void sk_mpi_end(void) {
    if (job.state == JOB_NOT_BEGUN)
        return;
    silken_close(job.comm);
    job.comm = NULL;
    free(job.scratch);
    job.scratch = NULL;
    job.scratch_bytes = 0;
    if (job.report)
        sk_mpi_report(job.rank);
    job.state = JOB_NOT_BEGUN;
}

// ---- one call --------------------------------------------------------------------------------

enum sk_mpi_reason sk_mpi_eligible(const struct sk_mpi_own *own, MPI_Comm comm, size_t bytes) {
    if (job.state == JOB_NOT_BEGUN)
        return SK_MPI_NO_SWITCH;
    if (bytes == 0)
        return SK_MPI_EMPTY;
    if (bytes < job.min_bytes)
        return SK_MPI_SMALL;
    if (!own->has_all_ranks(comm))
        return SK_MPI_COMMUNICATOR;
    if (job.threads && comm != MPI_COMM_WORLD)
        return SK_MPI_THREADS;
    switch (job.state) {
    case JOB_ALONE:
        return SK_MPI_ALONE;
    case JOB_NO_SWITCH:
        return SK_MPI_NO_SWITCH;
    case JOB_LOST:
        return SK_MPI_LOST;
    default:
        return SK_MPI_NONE;
    }
}

bool sk_mpi_doubles(void) {
    return job.doubles;
}

// The ranks have no switch, or none any more: 'worst' is job.size - the first rank that found
// out.
static void job_without(enum job_state state, long long worst) {
    silken_close(job.comm);
    job.comm = NULL;
    job.state = state;
    if (job.rank != job.size - worst)
        return;
    job_say("%s: %s; %s", state == JOB_LOST ? "the switch is lost" : "there is no switch", job.why,
            job.require ? "the job is aborted, as SILKEN_MPI_REQUIRE asks"
                        : "all calls are MPI's from here on");
    if (job.require)
        job_abort();
}

// 'own' is 0, or what job_without() is told when this rank cannot go on. '*worst' is the largest of
// all ranks'. While it is 0, '*same' says whether 'values' are the same at all ranks: each is said
// twice, once negative, and the largest of both tell. Returns MPI's error code.
static int job_agree(const struct sk_mpi_own *mpi, long long own, const int64_t values[JOB_ALIKE],
                     long long *worst, bool *same) {
    long long said[1 + 2 * JOB_ALIKE];
    int rc;

    said[0] = own;
    for (int i = 0; i < JOB_ALIKE; i++) {
        said[1 + 2 * i] = own ? INT64_MIN : values[i];
        said[2 + 2 * i] = own ? INT64_MIN : -values[i];
    }
    rc = mpi->largest(mpi, said, 1 + 2 * JOB_ALIKE);
    *worst = said[0];
    *same = true;
    for (int i = 0; i < JOB_ALIKE && *worst == 0; i++)
        *same = *same && said[1 + 2 * i] == -said[2 + 2 * i];
    return rc;
}

// Opens the job, at all ranks or none. They compare what each has from its environment before one
// of them asks the switch: the job service waits for all ranks of a job, and would wait in vain.
static int job_open(const struct sk_mpi_own *mpi) {
    const struct silken_config *c = &job.config;
    struct silken_service service = {0};
    const bool served = silken_service_from_env(&service);
    const int64_t before[JOB_ALIKE] = {served, c->hard_limit_ms, served ? 0 : c->job,
                                       served ? 0 : c->pool_size, served ? 0 : c->k};
    int64_t after[JOB_ALIKE] = {0};
    const long long mine = job.size - job.rank;
    long long worst;
    bool same;
    int rc = job_agree(mpi, job.configured ? 0 : mine, before, &worst, &same);

    if (rc == MPI_SUCCESS && worst == 0 && same) {
        if (silken_config_admit(&job.config, job.why, sizeof job.why) == 0 &&
            silken_open(&job.comm, c, job.why, sizeof job.why) != 0)
            silken_lease_close(c->lease);
        memcpy(after, (int64_t[JOB_ALIKE]){c->job, c->pool_size, c->k}, sizeof after);
        rc = job_agree(mpi, job.comm ? 0 : mine, after, &worst, &same);
    }
    if (rc != MPI_SUCCESS)
        return rc;
    if (worst == 0 && !same) {
        snprintf(job.why, sizeof job.why,
                 "the ranks differ in SILKEN_JOB, SILKEN_POOL, SILKEN_K, SILKEN_HARD_LIMIT_MS "
                 "or SILKEN_CONTROLLER");
        worst = job.size;
    }
    if (worst == 0)
        job.state = JOB_OPEN;
    else
        job_without(JOB_NO_SWITCH, worst);
    return MPI_SUCCESS;
}

bool sk_mpi_enter(const struct sk_mpi_own *mpi, enum sk_mpi_reason own, int *rc) {
    long long reason = own;

    *rc = job.state == JOB_NOT_OPEN ? job_open(mpi) : MPI_SUCCESS;
    if (*rc == MPI_SUCCESS && job.state != JOB_OPEN) {
        sk_mpi_count_passed(SK_MPI_NO_SWITCH);
        return false;
    }
    if (*rc == MPI_SUCCESS)
        *rc = mpi->largest(mpi, &reason, 1);
    if (*rc == MPI_SUCCESS && reason != SK_MPI_NONE)
        sk_mpi_count_passed((enum sk_mpi_reason)reason);
    return *rc == MPI_SUCCESS && reason == SK_MPI_NONE;
}

struct silken_comm *sk_mpi_comm(void) {
    return job.comm;
}

// What libsilken's 'code' means for one call: the sum is not there, but the switch is.
static enum sk_mpi_reason job_refused(int code) {
    switch (code) {
    case SILKEN_ERR_RANGE:
        return SK_MPI_RANGE;
    case SILKEN_ERR_INVALID:
    case SILKEN_ERR_UNSUPPORTED:
        return SK_MPI_REFUSED;
    default:
        return SK_MPI_NONE;
    }
}

bool sk_mpi_leave(const struct sk_mpi_own *mpi, int code, size_t bytes, int *rc) {
    const enum sk_mpi_reason refused = job_refused(code);
    long long said[2] = {code != 0 && !refused ? job.size - job.rank : 0, refused};

    *rc = mpi->largest(mpi, said, 2);
    if (*rc != MPI_SUCCESS)
        return false;
    if (said[0] > 0) {
        snprintf(job.why, sizeof job.why, "%s", silken_strerror(code));
        job_without(JOB_LOST, said[0]);
        sk_mpi_count_passed(SK_MPI_LOST);
    } else if (said[1] > 0) {
        sk_mpi_count_passed((enum sk_mpi_reason)said[1]);
    } else {
        sk_mpi_count_switch(bytes);
    }
    return said[0] == 0 && said[1] == 0;
}

void *sk_mpi_scratch(size_t bytes) {
    if (bytes > job.scratch_bytes) {
        free(job.scratch);
        job.scratch = malloc(bytes);
        job.scratch_bytes = job.scratch ? bytes : 0;
    }
    return job.scratch;
}
