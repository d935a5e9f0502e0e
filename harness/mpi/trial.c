// SPDX-License-Identifier: Apache-2.0
//
// A program of MPI, which knows nothing of a switch, for test_mpi.py:
//
//      trial sums        every kind of call that goes through the switch
//      trial passed      every kind of call that is passed on
//      trial range       int64 sums beyond the type, and others after them
//      trial late        one rank comes later than the limit of libsilken
//      trial killed      rank 0 ends the switch in mid-run, by SWITCH_PID
//      trial dups        sums on duplicates of MPI_COMM_WORLD
//
// Results are compared with numbers that are known, and ranks' with each other by MPI_Gather, which
// never goes through the switch. A wrong one ends the job with an error.
#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT 4003 // elements: no multiple of a packet's

static int rank, ranks;

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d, rank %d: ", __func__, __LINE__, rank);                         \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            PMPI_Abort(MPI_COMM_WORLD, 1);                                                         \
        }                                                                                          \
    } while (0)

static void *room(size_t bytes) {
    void *p = calloc(bytes, 1);
    CHECK(p, "out of memory");
    return p;
}

// From -1 to 1, the same for the same arguments.
static double fraction(int of_rank, size_t i) {
    uint64_t x = (uint64_t)(of_rank + 1) * 0x9e3779b97f4a7c15u + i * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 31) * 0x94d049bb133111ebu;
    return (double)(int64_t)(x ^ x >> 29) / 9223372036854775808.0;
}

// ---- sums of each type ----

struct kind {
    const char *name;
    MPI_Datatype type;
    size_t bytes;
    int integer;
};

static void fill(const struct kind *k, void *at, int of_rank, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double f = fraction(of_rank, i);
        if (k->type == MPI_FLOAT)
            ((float *)at)[i] = (float)f;
        else if (k->type == MPI_DOUBLE)
            ((double *)at)[i] = f;
        else if (k->bytes == 4)
            ((int32_t *)at)[i] = (int32_t)(f * 4e8);
        else
            ((int64_t *)at)[i] = (int64_t)(f * 1e18);
    }
}

// What libsilken promises of terms up to 1: h n N / 2^31, 2^-24 of each term for double, and a
// float's rounding.
static double bound(void) {
    int power = 1;
    while (power < ranks)
        power *= 2;
    return ldexp((double)ranks * power, -31) + ldexp(ranks, -24) + ldexp(ranks, -23);
}

static void compare(const struct kind *k, const void *got, size_t first, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        int64_t whole = 0;
        for (int r = 0; r < ranks; r++) {
            double f = fraction(r, first + i);
            sum += k->type == MPI_FLOAT ? (float)f : f;
            whole += k->bytes == 4 ? (int32_t)(f * 4e8) : (int64_t)(f * 1e18);
        }
        if (!k->integer) {
            double x = k->bytes == 4 ? ((const float *)got)[i] : ((const double *)got)[i];
            CHECK(fabs(x - sum) <= bound(), "%s %zu: %.9g, not %.9g", k->name, i, x, sum);
        } else if (k->bytes == 4) {
            CHECK(((const int32_t *)got)[i] == (int32_t)whole, "%s %zu", k->name, i);
        } else {
            CHECK(((const int64_t *)got)[i] == whole, "%s %zu", k->name, i);
        }
    }
}

// All ranks have the same bits.
static void same(const void *got, size_t bytes) {
    unsigned char *others = room(bytes * (size_t)ranks);
    MPI_Gather(got, (int)bytes, MPI_BYTE, others, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < ranks; r++)
        CHECK(memcmp(others + (size_t)r * bytes, got, bytes) == 0, "rank %d has other bits", r);
    free(others);
}

static void sum_allreduce(const struct kind *k) {
    void *in = room(COUNT * k->bytes), *out = room(COUNT * k->bytes);
    fill(k, in, rank, COUNT);
    CHECK(MPI_Allreduce(in, out, COUNT, k->type, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS, "failed");
    compare(k, out, 0, COUNT);
    same(out, COUNT * k->bytes);
    CHECK(MPI_Allreduce(MPI_IN_PLACE, in, COUNT, k->type, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS,
          "failed");
    CHECK(memcmp(in, out, COUNT * k->bytes) == 0, "%s: in place is another sum", k->name);
    free(in);
    free(out);
}

static void sum_reduce_scatter(const struct kind *k) {
    size_t all = COUNT * (size_t)ranks;
    char *in = room(all * k->bytes), *out = room(COUNT * k->bytes);
    fill(k, in, rank, all);
    CHECK(MPI_Reduce_scatter_block(in, out, COUNT, k->type, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS,
          "failed");
    compare(k, out, COUNT * (size_t)rank, COUNT);
    CHECK(MPI_Reduce_scatter_block(MPI_IN_PLACE, in, COUNT, k->type, MPI_SUM, MPI_COMM_WORLD) ==
              MPI_SUCCESS,
          "failed");
    CHECK(memcmp(in, out, COUNT * k->bytes) == 0, "%s: in place is another sum", k->name);
    free(in);
    free(out);
}

static void copies(void) {
    double *all = room(COUNT * sizeof *all * (size_t)ranks), *own = room(COUNT * sizeof *own);
    const struct kind k = {"double", MPI_DOUBLE, sizeof(double), 0};
    for (int root = 0; root < ranks; root++) {
        fill(&k, own, rank, COUNT);
        CHECK(MPI_Bcast(own, COUNT, MPI_DOUBLE, root, MPI_COMM_WORLD) == MPI_SUCCESS, "failed");
        for (size_t i = 0; i < COUNT; i++)
            CHECK(own[i] == fraction(root, i), "root %d, element %zu", root, i);
    }
    fill(&k, own, rank, COUNT);
    for (int in_place = 0; in_place < 2; in_place++) {
        memset(all, 0, COUNT * sizeof *all * (size_t)ranks);
        memcpy(all + COUNT * (size_t)rank, own, in_place ? COUNT * sizeof *own : 0);
        CHECK(MPI_Allgather(in_place ? MPI_IN_PLACE : (void *)own, COUNT, MPI_DOUBLE, all, COUNT,
                            MPI_DOUBLE, MPI_COMM_WORLD) == MPI_SUCCESS,
              "failed");
        for (size_t i = 0; i < COUNT * (size_t)ranks; i++)
            CHECK(all[i] == fraction((int)(i / COUNT), i % COUNT), "element %zu", i);
    }
    free(all);
    free(own);
}

static void sums(void) {
    const struct kind kinds[] = {{"float", MPI_FLOAT, 4, 0},   {"double", MPI_DOUBLE, 8, 0},
                                 {"int", MPI_INT, 4, 1},       {"int32", MPI_INT32_T, 4, 1},
                                 {"int64", MPI_INT64_T, 8, 1}, {"long", MPI_LONG, 8, 1}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        sum_allreduce(&kinds[i]);
        sum_reduce_scatter(&kinds[i]);
    }
    copies();
}

// ---- what is passed on ----

static void on_communicator(MPI_Comm comm, int remote_first, int n) {
    int *x = room(COUNT * sizeof *x), *y = room(COUNT * sizeof *y), expected = 0;
    for (size_t i = 0; i < COUNT; i++)
        x[i] = rank + 1;
    CHECK(MPI_Allreduce(x, y, COUNT, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "failed");
    for (int r = 0; r < n; r++)
        expected += remote_first + 2 * r + 1;
    for (size_t i = 0; i < COUNT; i++)
        CHECK(y[i] == expected, "%d, not %d", y[i], expected);
    free(x);
    free(y);
}

// The odd ranks and the even ones, and an intercommunicator between them.
static void other_communicators(void) {
    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    on_communicator(half, rank % 2, ranks / 2);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 1, &inter);
    on_communicator(inter, 1 - rank % 2, ranks / 2);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

// The root has a type of its own for what the others take as floats.
static void derived_types(void) {
    float *x = room(2 * COUNT * sizeof *x);
    MPI_Datatype every_second;
    MPI_Type_vector(COUNT, 1, 2, MPI_FLOAT, &every_second);
    MPI_Type_commit(&every_second);
    for (size_t i = 0; i < 2 * COUNT; i++)
        x[i] = rank == 0 ? (float)i : -1;
    if (rank == 0)
        MPI_Bcast(x, 1, every_second, 0, MPI_COMM_WORLD);
    else
        MPI_Bcast(x, COUNT, MPI_FLOAT, 0, MPI_COMM_WORLD);
    for (size_t i = 0; rank > 0 && i < COUNT; i++)
        CHECK(x[i] == (float)(2 * i), "element %zu", i);
    MPI_Type_free(&every_second);
    free(x);
}

static void passed(void) {
    float *x = room(COUNT * sizeof *x), *y = room(COUNT * sizeof *y);
    short *s = room(COUNT * sizeof *s), *t = room(COUNT * sizeof *t);
    double *d = room(COUNT * sizeof *d), *e = room(COUNT * sizeof *e);
    char *odd = room((COUNT + 1) * sizeof *x);
    MPI_Request request;
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = (float)rank, s[i] = (short)rank, d[i] = rank;
    }
    MPI_Allreduce(x, y, COUNT, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(y[COUNT - 1] == (float)(ranks - 1), "MPI_MAX");
    MPI_Allreduce(x, y, 10, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(y[9] == (float)(ranks * (ranks - 1) / 2), "few");
    MPI_Allreduce(x, y, 0, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(s, t, COUNT, MPI_SHORT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(t[COUNT - 1] == ranks * (ranks - 1) / 2, "short");
    MPI_Allreduce(d, e, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(e[COUNT - 1] == ranks * (ranks - 1) / 2, "double");
    MPI_Iallreduce(x, y, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(y[COUNT - 1] == (float)(ranks * (ranks - 1) / 2), "MPI_Iallreduce");
    // rank 0 alone: all pass on
    memcpy(odd + (rank == 0), x, COUNT * sizeof *x);
    MPI_Allreduce(odd + (rank == 0), y, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(y[COUNT - 1] == (float)(ranks * (ranks - 1) / 2), "not aligned");
    free(x), free(y), free(s), free(t), free(d), free(e), free(odd);
    other_communicators();
    derived_types();
}

static void range(void) {
    const struct kind k = {"int64", MPI_INT64_T, 8, 1};
    int64_t *x = room(COUNT * sizeof *x), *y = room(COUNT * sizeof *y);
    fill(&k, x, rank, COUNT);
    x[COUNT / 2] = INT64_MAX;
    MPI_Allreduce(x, y, COUNT, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, x, COUNT, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK(memcmp(x, y, COUNT * sizeof *x) == 0, "in place is another sum");
    CHECK(x[COUNT / 2] == (int64_t)((uint64_t)INT64_MAX * (uint64_t)ranks), "not as MPI adds");
    compare(&k, y, 0, COUNT / 2);
    free(x);
    free(y);
    sum_allreduce(&k);
}

static void late(void) {
    const struct kind k = {"float", MPI_FLOAT, 4, 0};
    sum_allreduce(&k);
    sleep(rank == 1 ? 4 : 0); // test_mpi.py sets a limit of 3 s
    sum_allreduce(&k);
}

static void killed(void) {
    const struct kind k = {"float", MPI_FLOAT, 4, 0};
    const char *pid = getenv("SWITCH_PID");
    float *x = room(COUNT * sizeof *x);
    CHECK(pid && atoi(pid) > 1, "SWITCH_PID is expected");
    for (int n = 0; n < 40; n++) {
        fill(&k, x, rank, COUNT);
        if (n == 10 && rank == 0)
            kill(atoi(pid), SIGKILL);
        MPI_Allreduce(MPI_IN_PLACE, x, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        compare(&k, x, 0, COUNT);
        same(x, COUNT * sizeof *x);
    }
    free(x);
}

static void dups(void) {
    for (int n = 0; n < 3; n++) {
        int *x = room(COUNT * sizeof *x);
        MPI_Comm dup;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        for (size_t i = 0; i < COUNT; i++)
            x[i] = rank + n;
        MPI_Allreduce(MPI_IN_PLACE, x, COUNT, MPI_INT, MPI_SUM, dup);
        for (size_t i = 0; i < COUNT; i++)
            CHECK(x[i] == ranks * (ranks - 1) / 2 + n * ranks, "element %zu", i);
        MPI_Comm_free(&dup);
        free(x);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } trials[] = {{"sums", sums}, {"passed", passed}, {"range", range},
                  {"late", late}, {"killed", killed}, {"dups", dups}};
    int level, many = getenv("TRIAL_THREADS") != NULL;
    MPI_Init_thread(&argc, &argv, many ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        if (argc == 2 && strcmp(argv[1], trials[i].name) == 0)
            trials[i].run();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: all right at %d ranks\n", argc == 2 ? argv[1] : "", ranks);
    MPI_Finalize();
    return 0;
}
