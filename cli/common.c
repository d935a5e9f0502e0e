// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "compiler/chip/chip.h"
#include "filter/filter.h"

int cli_misused(const char *command, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fprintf(stderr, "silken %s: ", command);
    vfprintf(stderr, format, ap);
    fprintf(stderr, "; see 'silken help %s'\n", command);
    va_end(ap);
    return EXIT_UNUSABLE;
}

int cli_filter(const char *command, const char *expression, struct sk_filter **filter) {
    struct sk_error err;
    sk_filter_free(*filter);
    *filter = sk_filter_parse(expression, &err);
    return *filter ? 0 : cli_misused(command, "%s", err.text);
}

int cli_bad_option(const char *command, int result, char **argv) {
    const char *word = argv[optind - 1];
    if (result == ':')
        return cli_misused(command, "option '%s' needs an argument", word);
    // optopt is 0 for a long option nobody knows, else the letter (or the value of a long option
    // that was given an argument it does not take)
    if (optopt > 0 && optopt < 128 && word[0] == '-' && word[1] != '-')
        return cli_misused(command, "there is no option '-%c'", optopt);
    return cli_misused(
        command, optopt > 0 ? "option '%s' takes no argument" : "there is no option '%s'", word);
}

static bool whole_number(const char *text, int base, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, base);
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno;
}

bool cli_number(const char *text, uint64_t max, uint64_t *out) {
    return whole_number(text, 0, out) && *out <= max;
}

bool cli_decimal(const char *text, uint64_t min, uint64_t max, uint64_t *out) {
    return whole_number(text, 10, out) && *out >= min && *out <= max;
}

// Of a long option that takes a value; 'given' has a bit for each of them, at most 64.
static int given_twice(const struct cli_words *words, int option, uint64_t *given) {
    const struct option *o = words->options;
    unsigned i = 0;
    while (o[i].name && o[i].val != option)
        i++;
    if (!o[i].name || o[i].has_arg == no_argument || words->repeats(option))
        return 0;
    const bool twice = *given >> i & 1;
    *given |= UINT64_C(1) << i;
    return twice ? cli_misused(words->command, "option '--%s' is given twice", o[i].name) : 0;
}

int cli_each_word(const struct cli_words *words, void *aux, int argc, char **argv) {
    int status = 0;
    uint64_t given = 0;
    opterr = 0;
    for (int o;
         !status && (o = getopt_long(argc, argv, words->letters, words->options, NULL)) != -1;) {
        if (o == 'h') {
            fputs(words->usage, stdout);
            return CLI_HELPED;
        }
        status = o == '?' || o == ':' ? cli_bad_option(words->command, o, argv)
                                      : given_twice(words, o, &given);
        if (!status)
            status = words->take(aux, o);
    }
    for (; !status && optind < argc; optind++) {
        optarg = argv[optind];
        status = words->take(aux, 1);
    }
    return status;
}

void cli_push(struct cli_list *list, const char *item) {
    list->items = sk_resize(list->items, list->n + 1, sizeof *list->items);
    list->items[list->n++] = item;
}

void cli_push_flag(struct cli_flags *flags, int option, const char *argument) {
    cli_push(option == 'I' ? &flags->includes : &flags->defines, argument);
}

int cli_take_target(const char *command, struct cli_flags *flags, const char *word) {
    flags->target = word;
    return strcmp(word, chip_limits_of(CHIP_TOFINO1)->name) == 0 ||
                   strcmp(word, chip_limits_of(CHIP_TOFINO2)->name) == 0
               ? 0
               : cli_misused(command, "--target takes tofino1 or tofino2, not '%s'", word);
}

void cli_use_flags(struct compile_options *opt, const struct cli_flags *flags) {
    opt->include_dirs = flags->includes.items;
    opt->n_include_dirs = flags->includes.n;
    opt->defines = flags->defines.items;
    opt->n_defines = flags->defines.n;
    opt->target = flags->target;
    opt->status_at_limit = EXIT_FAILED;
}

void cli_free_flags(struct cli_flags *flags) {
    free(flags->includes.items);
    free(flags->defines.items);
}

bool cli_trace_form(const char *word, enum sk_trace_form *form) {
    bool json = word && strcmp(word, "json") == 0;
    *form = json ? SK_TRACE_JSON : SK_TRACE_TEXT;
    return !word || json || strcmp(word, "text") == 0;
}

struct sk_program *cli_load_program(const struct compile_options *opt) {
    char *object = compile_p4(opt, stderr);
    if (!object)
        return NULL;
    char error[512];
    struct sk_program *prog = sk_program_load(object, error, sizeof error);
    if (!prog)
        fprintf(stderr, "silken: %s\n", error);
    free(object);
    return prog;
}

// Terminals that are known to have none; most others have. https://no-color.org
bool cli_in_colour(int fd) {
    static const char *const without[] = {"dumb", "unknown", "vt52", "vt100", "vt102", "vt220"};
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    if (!isatty(fd) || !term || !*term || (no && *no))
        return false;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (strcmp(term, without[i]) == 0)
            return false;
    const size_t n = strlen(term);
    return !(n > 2 && strcmp(term + n - 2, "-m") == 0) &&
           !(n > 5 && strcmp(term + n - 5, "-mono") == 0);
}

bool cli_write_json(const char *command, const json_t *what, const char *path) {
    FILE *f = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    bool good = f && json_dumpf(what, f, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0 &&
                fputc('\n', f) != EOF;
    good = f && (f == stdout ? fflush(f) : fclose(f)) == 0 && good;
    if (!good)
        fprintf(stderr, "silken %s: cannot write %s: %s\n", command, path, strerror(errno));
    return good;
}

bool cli_can_write(const char *command, const char *path) {
    struct stat st;
    if (!path || strcmp(path, "-") == 0)
        return true;
    const bool is_new = stat(path, &st) < 0 && errno == ENOENT;
    if (!is_new && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return true; // a FIFO is opened once
    FILE *f = fopen(path, "ae");
    if (!f) {
        fprintf(stderr, "silken %s: cannot write %s: %s\n", command, path, strerror(errno));
        return false;
    }
    fclose(f);
    if (is_new)
        remove(path);
    return true;
}

// ---- folders ----

static bool common_make_folder(const char *command, const char *path) {
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    fprintf(stderr, "silken %s: cannot make the folder %s: %s\n", command, path, strerror(errno));
    return false;
}

bool cli_make_folders(const char *command, const char *path) {
    char *own = strdup(path);
    if (!own)
        abort();
    bool ok = true;
    for (char *p = own + 1; *own && ok && *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        ok = common_make_folder(command, own);
        *p = '/';
    }
    ok = ok && common_make_folder(command, own);
    free(own);
    return ok;
}

char *cli_program_name(const char *path) {
    const char *slash = strrchr(path, '/');
    char *name = sk_copy_text(slash ? slash + 1 : path), *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = 0;
    return name;
}
