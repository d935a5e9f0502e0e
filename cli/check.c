// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/new_file.h"
#include "compiler/chip/report/report.h"

#define PLAIN_WIDTH 100u // of lines that go to no terminal
#define NARROWEST   40u

enum { EXIT_IN_DOUBT = 3 };

static const char usage[] =
    "usage: silken check [OPTION]... PROGRAM.p4\n\n"
    "Checks whether a P4 program fits a Tofino, and reports how full the chip is and what to\n"
    "change. The result comes from a model of the chip and of the way a compiler places a "
    "program.\n"
    "The exit status is 0 if the program fits, 1 if it does not, and 3 if it may not fit: the\n"
    "model finds no placement, but a compiler for the chip may. It is 2 without a result: the\n"
    "program or an option has errors, or the program exceeds a limit of Silken's own.\n\n"
    "  --target CHIP             tofino1 or tofino2 (default: that of the program's architecture)\n"
    "  --json                    one JSON document\n"
    "  --html FILE               also write the report to this file, as one HTML page\n"
    "  -I DIR, -D NAME[=VALUE]   as for 'silken build'\n"
    "  --width N                 width of a line in columns (the terminal's, else 100)\n"
    "  --color WHEN              always, never or auto: on a terminal, if NO_COLOR is not set\n";

enum { JSON = 256, HTML, WIDTH, COLOR };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    CLI_TARGET_OPTION,
    {"json", no_argument, NULL, JSON},
    {"html", required_argument, NULL, HTML},
    {"width", required_argument, NULL, WIDTH},
    {"color", required_argument, NULL, COLOR},
    {NULL, 0, NULL, 0},
};

struct command {
    struct compile_options compile;
    struct cli_flags flags;
    const char *html, *colour;
    bool json;
    unsigned width;
};

// ---- the command line: 0, or the exit status after a message ----

static int cmd_check_take_word(struct command *c, const char *word) {
    if (c->compile.path)
        return cli_misused("check", "only one P4 file can be given");
    c->compile.path = word;
    return 0;
}

static int take_width(struct command *c, const char *word) {
    uint64_t n;
    if (!cli_number(word, 10000, &n) || n < NARROWEST)
        return cli_misused("check", "--width takes %u to 10000, not '%s'", NARROWEST, word);
    c->width = (unsigned)n;
    return 0;
}

static int take_colour(struct command *c, const char *word) {
    c->colour = word;
    return strcmp(word, "always") == 0 || strcmp(word, "never") == 0 || strcmp(word, "auto") == 0
               ? 0
               : cli_misused("check", "--color takes always, never or auto, not '%s'", word);
}

static int cmd_check_take(void *aux, int option) {
    struct command *c = aux;
    switch (option) {
    case 1:
        return cmd_check_take_word(c, optarg);
    case CLI_TARGET:
        return cli_take_target("check", &c->flags, optarg);
    case JSON:
        c->json = true;
        return 0;
    case HTML:
        if (!*optarg || strcmp(optarg, "-") == 0)
            return cli_misused("check", "--html needs the name of a file");
        c->html = optarg;
        return 0;
    case WIDTH:
        return take_width(c, optarg);
    case COLOR:
        return take_colour(c, optarg);
    default:
        cli_push_flag(&c->flags, option, optarg);
        return 0;
    }
}

static bool cmd_check_repeats(int option) {
    (void)option;
    return false;
}

static int cmd_check_outputs(const struct command *c) {
    struct stat program, page;
    if (c->html && stat(c->compile.path, &program) == 0 && S_ISREG(program.st_mode) &&
        stat(c->html, &page) == 0 && page.st_dev == program.st_dev && page.st_ino == program.st_ino)
        return cli_misused("check", "%s is the program; it would be overwritten", c->html);
    return 0;
}

// ---- showing ----

static unsigned width(const struct command *c) {
    struct winsize w;
    if (c->width)
        return c->width;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || !w.ws_col)
        return PLAIN_WIDTH;
    return w.ws_col < NARROWEST ? NARROWEST : w.ws_col;
}

static bool in_colour(const struct command *c) {
    return strcmp(c->colour, "always") == 0 ||
           (strcmp(c->colour, "auto") == 0 && cli_in_colour(STDOUT_FILENO));
}

static int cannot_write(const char *path, const char *why) {
    if (path)
        fprintf(stderr, "silken check: cannot write %s: %s\n", path, why);
    else
        fprintf(stderr, "silken check: cannot write: %s\n", why);
    return EXIT_UNUSABLE;
}

// A report as text, malloc'ed: written in one go, a failure has its reason at hand.
struct printed {
    char *text;
    size_t length;
};

static struct printed cmd_check_print(const struct command *c, const struct compile_checked *k,
                                      bool page) {
    struct printed p = {0};
    FILE *f = open_memstream(&p.text, &p.length);
    if (!f)
        abort();
    if (page)
        chip_print_html(f, k->report);
    else if (c->json)
        chip_print_json(f, k->report);
    else if (k->verdict != COMPILE_REFUSED) // else its errors have been printed
        chip_print_text(f, k->report, in_colour(c), width(c));
    if (fclose(f) != 0)
        abort();
    return p;
}

// Null, or why not. Frees the text.
static const char *cmd_check_put(FILE *out, struct printed *p) {
    const bool good = fwrite(p->text, 1, p->length, out) == p->length && fflush(out) == 0;
    const int error = errno;
    free(p->text);
    return good ? NULL : strerror(error);
}

static int write_page(const struct command *c, const struct compile_checked *k) {
    struct new_file f;
    const char *why = new_file_open(&f, c->html);
    if (!why) {
        struct printed p = cmd_check_print(c, k, true);
        why = cmd_check_put(f.out, &p);
        const char *close = new_file_close(&f);
        why = why ? why : close;
    }
    return why ? cannot_write(c->html, why) : 0;
}

static int write_report(const struct command *c, const struct compile_checked *k) {
    struct printed p = cmd_check_print(c, k, false);
    const char *why = cmd_check_put(stdout, &p);
    return why ? cannot_write(NULL, why) : 0;
}

static int cmd_check_run(struct command *c) {
    static const int status_of[] = {[COMPILE_FITS] = EXIT_GOOD,
                                    [COMPILE_MAY_NOT_FIT] = EXIT_IN_DOUBT,
                                    [COMPILE_DOES_NOT_FIT] = EXIT_FAILED,
                                    [COMPILE_REFUSED] = EXIT_UNUSABLE};
    cli_use_flags(&c->compile, &c->flags);
    c->compile.status_at_limit = EXIT_UNUSABLE;
    struct compile_checked *k = compile_check(&c->compile, stderr);
    int status = c->html && k->verdict != COMPILE_REFUSED ? write_page(c, k) : 0;
    if (!status)
        status = write_report(c, k);
    if (!status)
        status = status_of[k->verdict];
    compile_checked_free(k);
    return status;
}

int cmd_check(int argc, char **argv) {
    struct command c = {.compile = {.colour = cli_in_colour(STDERR_FILENO)}, .colour = "auto"};
    int status = cli_each_word(
        &(struct cli_words){"check", usage, "-:hI:D:", options, cmd_check_take, cmd_check_repeats},
        &c, argc, argv);
    if (!status && !c.compile.path)
        status = cli_misused("check", "a P4 file is missing");
    if (!status)
        status = cmd_check_outputs(&c);
    if (!status)
        status = cmd_check_run(&c);
    cli_free_flags(&c.flags);
    return status == CLI_HELPED ? EXIT_GOOD : status;
}
