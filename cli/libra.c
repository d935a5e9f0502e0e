// SPDX-License-Identifier: Apache-2.0
//
// silken libra: what a job of Libra needs before it begins: profile finds out the hot parameters of
// a model from a sample of its updates (Libra 3.3), tables prints the tables with which p4/libra
// adds floats (3.5).
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/new_file.h"
#include "cli/libra_control.h"
#include "hosts/libra/libra.h"

static const char usage[] =
    "usage: silken libra profile [OPTION]... --output LAYOUT [UPDATES]...\n"
    "       silken libra tables\n"
    "       silken libra control [--move] FILE      (silken libra control --help)\n\n"
    "tables prints the section \"filled\" of a configuration with p4/libra: the tables with which\n"
    "the program adds floats.\n\n"
    "profile finds out which parameters of a sparse model are hot: counts their updates, ranks "
    "them, and\n"
    "writes the layout that all workers and servers of the job load. UPDATES are text files\n"
    "(without one: standard input) with a line for each iteration of a worker: the keys of the\n"
    "parameters that it updates, decimal numbers separated by spaces. Lines that begin with\n"
    "'#' are ignored.\n\n"
    "  --output LAYOUT   the layout's file\n"
    "  --job N           the job's number, 0 to 255 (0)\n"
    "  --epoch N         the layout's epoch, 0 to 65535 (0)\n"
    "  --portion P       the hot parameters are the fewest that together have the share P of all\n"
    "                    updates, above 0, at most 1 (0.5)\n"
    "  --stop-below-1%   stop earlier where 1,000 more parameters add less than 1 % of all "
    "updates\n"
    "  --memory C        share of the switch's 20 MB of memory that the hot parameters may take, "
    "at\n"
    "                    4 bytes each, above 0, at most 1 (0.05)\n"
    "  --sample P        take each line with probability P, above 0, at most 1 (1)\n"
    "  --seed N          seed of the sample (1)\n";

enum { OUTPUT = 256, JOB, EPOCH, PORTION, STOP, MEMORY, SAMPLE, SEED };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"output", required_argument, NULL, OUTPUT},
    {"job", required_argument, NULL, JOB},
    {"epoch", required_argument, NULL, EPOCH},
    {"portion", required_argument, NULL, PORTION},
    {"stop-below-1%", no_argument, NULL, STOP},
    {"memory", required_argument, NULL, MEMORY},
    {"sample", required_argument, NULL, SAMPLE},
    {"seed", required_argument, NULL, SEED},
    {NULL, 0, NULL, 0},
};

struct profile {
    struct cli_list updates; // files
    const char *output;
    uint8_t job;
    uint16_t epoch;
    struct libra_choice choice;
    double sample;
    uint64_t random; // state of the sample's generator
    struct libra_heat heat;
    uint64_t lines, taken;
};

// ---- options ----

// A number above 0 and at most 1.
static bool libra_portion(const char *text, double *out) {
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    return errno == 0 && end != text && *end == 0 && isfinite(*out) && *out > 0 && *out <= 1;
}

static int libra_take_number(struct profile *p, int option, const char *value) {
    uint64_t n;
    uint64_t most = option == JOB ? UINT8_MAX : option == EPOCH ? UINT16_MAX : UINT64_MAX;
    if (!cli_number(value, most, &n))
        return cli_misused("libra", "'%s' is not a number from 0 to %" PRIu64, value, most);
    if (option == JOB)
        p->job = (uint8_t)n;
    else if (option == EPOCH)
        p->epoch = (uint16_t)n;
    else
        p->random = n;
    return 0;
}

static int libra_take(void *aux, int option) {
    struct profile *p = aux;
    double *portion = option == PORTION  ? &p->choice.portion
                      : option == MEMORY ? &p->choice.memory
                                         : &p->sample;
    switch (option) {
    case 1:
        cli_push(&p->updates, optarg);
        return 0;
    case OUTPUT:
        p->output = optarg;
        return 0;
    case STOP:
        p->choice.stop_at_one_hundredth = true;
        return 0;
    case PORTION:
    case MEMORY:
    case SAMPLE:
        if (!libra_portion(optarg, portion))
            return cli_misused("libra", "'%s' is not a number above 0 and at most 1", optarg);
        return 0;
    default:
        return libra_take_number(p, option, optarg);
    }
}

static bool libra_repeats(int option) {
    (void)option;
    return false;
}

// ---- updates ----

// Is the next line of the sample (splitmix64).
static bool libra_is_sampled(struct profile *p) {
    uint64_t z = p->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53 < p->sample;
}

// Counts a line's keys. Null, or the word that is no key.
static const char *libra_count_line(struct profile *p, char *line) {
    for (char *rest = line, *word; (word = strsep(&rest, " \t\r\n"));) {
        uint64_t key;
        if (*word == 0)
            continue;
        if (!cli_decimal(word, 0, UINT64_MAX, &key))
            return word;
        libra_heat_add(&p->heat, key, 1);
    }
    return NULL;
}

// 0, or EXIT_UNUSABLE after a message.
static int libra_count_file(struct profile *p, FILE *in, const char *name) {
    char *line = NULL;
    size_t room = 0, number = 0;
    ssize_t length;
    int status = 0;
    while (status == 0 && (length = getline(&line, &room, in)) >= 0) {
        number++;
        if (line[0] == '#')
            continue;
        p->lines++;
        const char *wrong = memchr(line, 0, (size_t)length) ? "a zero byte"
                            : !libra_is_sampled(p)          ? NULL
                                                   : (p->taken++, libra_count_line(p, line));
        if (wrong) {
            fprintf(stderr, "silken libra: %s, line %zu: '%.40s' is not a key, a decimal number\n",
                    name, number, wrong);
            status = EXIT_UNUSABLE;
        }
    }
    if (status == 0 && ferror(in)) {
        fprintf(stderr, "silken libra: cannot read %s: %s\n", name, strerror(errno));
        status = EXIT_UNUSABLE;
    }
    free(line);
    return status;
}

static int libra_count_files(struct profile *p) {
    if (p->updates.n == 0)
        return libra_count_file(p, stdin, "standard input");
    for (size_t i = 0; i < p->updates.n; i++) {
        FILE *in = fopen(p->updates.items[i], "r");
        if (!in) {
            fprintf(stderr, "silken libra: cannot open %s: %s\n", p->updates.items[i],
                    strerror(errno));
            return EXIT_UNUSABLE;
        }
        int status = libra_count_file(p, in, p->updates.items[i]);
        fclose(in);
        if (status)
            return status;
    }
    return 0;
}

// ---- the layout ----

static int libra_write(const struct profile *p, const struct libra_layout *layout) {
    struct new_file f;
    const char *why = new_file_open(&f, p->output);
    if (!why) {
        libra_layout_write(layout, f.out);
        why = new_file_close(&f);
    }
    if (why) {
        fprintf(stderr, "silken libra: cannot write %s: %s\n", p->output, why);
        return EXIT_UNUSABLE;
    }
    return 0;
}

static void libra_report(const struct profile *p, const struct libra_ranked *ranked,
                         const struct libra_layout *layout) {
    uint64_t hot = 0;
    for (size_t i = 0; i < layout->n; i++)
        hot += ranked[i].count;
    printf("updates: %" PRIu64 " of %zu parameters, in %" PRIu64 " of %" PRIu64 " lines\n",
           p->heat.total, p->heat.map.n, p->taken, p->lines);
    printf("hot: %zu parameters with %.2f %% of the updates, %zu bytes of the switch\n", layout->n,
           100.0 * (double)hot / (double)p->heat.total, layout->n * LIBRA_PARAMETER_BYTES);
    printf("layout: job %u, epoch %u, %u registers, digest %016" PRIx64 "\n", layout->job,
           layout->epoch, layout->registers, layout->digest);
}

static int libra_choose(struct profile *p) {
    if (p->heat.total == 0) {
        fprintf(stderr, "silken libra: there are no updates in the sample\n");
        return EXIT_FAILED;
    }
    struct libra_ranked *ranked = libra_heat_rank(&p->heat);
    size_t n = libra_heat_hot(ranked, p->heat.map.n, &p->choice);
    uint64_t *keys = calloc(n ? n : 1, sizeof *keys);
    struct libra_layout layout = {0};
    struct sk_error err;
    int status = EXIT_FAILED;
    for (size_t i = 0; keys && i < n; i++)
        keys[i] = ranked[i].key;
    if (!keys || n == 0)
        fprintf(stderr, "silken libra: no parameter is hot by these options\n");
    else if (libra_layout_make(&layout, p->job, p->epoch, LIBRA_PLACES, keys, n, &err))
        fprintf(stderr, "silken libra: %s\n", err.text);
    else
        status = libra_write(p, &layout);
    if (status == 0)
        libra_report(p, ranked, &layout);
    libra_layout_clear(&layout);
    free(keys);
    free(ranked);
    return status;
}

static int libra_profile(int argc, char **argv) {
    static const struct cli_words words = {.command = "libra",
                                           .usage = usage,
                                           .letters = "-:h",
                                           .options = options,
                                           .take = libra_take,
                                           .repeats = libra_repeats};
    struct profile p = {.choice = {.portion = 0.5, .memory = 0.05}, .sample = 1, .random = 1};
    int status = cli_each_word(&words, &p, argc, argv);
    if (status == CLI_HELPED)
        status = EXIT_GOOD;
    else if (status == 0 && !p.output)
        status = cli_misused("libra", "--output is needed");
    else if (status == 0 && !(status = libra_count_files(&p)))
        status = libra_choose(&p);
    libra_heat_clear(&p.heat);
    free(p.updates.items);
    return status;
}

static int libra_print_table(void *aux, const char *table, const char *action,
                             const uint32_t *values, size_t n) {
    bool *first = aux;
    printf("%s\n  {\"table\": \"%s\", \"action\": \"%s\", \"values\": \"", *first ? "" : ",", table,
           action);
    for (size_t i = 0; i < n; i++)
        printf("%04x", values[i]);
    fputs("\"}", stdout);
    *first = false;
    return ferror(stdout);
}

static int libra_tables(int argc, char **argv) {
    bool first = true;
    if (argc > 1)
        return cli_misused("libra tables", "it takes no arguments; '%s' is one", argv[1]);
    fputs("{\"filled\": [", stdout);
    libra_adder_fill(libra_adder(), libra_print_table, &first);
    puts("]}");
    if (fflush(stdout) || ferror(stdout)) {
        fprintf(stderr, "silken libra tables: standard output: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    return EXIT_GOOD;
}

int cmd_libra(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "tables") == 0)
        return libra_tables(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "profile") == 0)
        return libra_profile(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "control") == 0)
        return cmd_libra_control(argc - 1, argv + 1);
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return EXIT_GOOD;
    }
    return argc > 1
               ? cli_misused("libra", "there is no '%s'; there are profile, tables and control",
                             argv[1])
               : cli_misused("libra", "what to do is missing: profile, tables or control");
}
