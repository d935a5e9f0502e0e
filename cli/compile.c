// SPDX-License-Identifier: Apache-2.0
//
// compile: a compilation with limits, as a process of its own that `silken run` starts
// (run/compiler.c).
//
//     silken compile-for-run --seconds N --memory MIB [--beside] [--checked] [--colour]
//                            [--preprocessed] [--bf-rt FILE] [--emit-p4 FILE] [--p4info FILE]
//                            [--target CHIP] [-I DIR]... [-D NAME]... [--report] PROGRAM.p4
//
// Prints the path of the object; with --report, where the program's tables would be on the chip, as
// `silken check --json` does, and compiles nothing. The process leads a process group, in which all
// stay that it starts, and whose end the starter's SIGTERM or SIGKILL is. It ends, and with it the
// group, when the thread that started it does.
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "compiler/chip/report/report.h"

#define MOST_WRITTEN  (UINT64_C(1) << 30) // bytes of a file
#define LAST_PRIORITY 19

enum {
    SECONDS = 256,
    MEMORY,
    BESIDE,
    CHECKED,
    COLOUR,
    BF_RT,
    PREPROCESSED,
    EMIT_P4,
    P4INFO,
    REPORT
};

static const struct option options[] = {
    CLI_TARGET_OPTION,
    {"seconds", required_argument, NULL, SECONDS},
    {"memory", required_argument, NULL, MEMORY},
    {"beside", no_argument, NULL, BESIDE},
    {"checked", no_argument, NULL, CHECKED},
    {"colour", no_argument, NULL, COLOUR},
    {"bf-rt", required_argument, NULL, BF_RT},
    {"preprocessed", no_argument, NULL, PREPROCESSED},
    {"emit-p4", required_argument, NULL, EMIT_P4},
    {"p4info", required_argument, NULL, P4INFO},
    {"report", no_argument, NULL, REPORT},
    {NULL, 0, NULL, 0},
};

// Where C compilers run, this process waits for their end and removes what they wrote. Otherwise
// the signal ends it, the second time.
static void compile_end_group(int signal_number) {
    if (compile_stop())
        signal(signal_number, SIG_IGN);
    kill(0, signal_number);
}

// Of this process and all that it starts.
static bool compile_set_limit(int what, uint64_t most) {
    return setrlimit((__rlimit_resource_t)what, &(struct rlimit){most, most}) == 0;
}

static bool compile_set_limits(uint64_t seconds, uint64_t memory) {
    // a sanitizer's shadow memory is most of the address space
    return compile_set_limit(RLIMIT_CPU, seconds) &&
           compile_set_limit(RLIMIT_FSIZE, MOST_WRITTEN) && compile_set_limit(RLIMIT_CORE, 0) &&
           (CLI_SANITIZED || compile_set_limit(RLIMIT_AS, memory << 20));
}

// When memory ends, a compilation goes before the switch.
static void compile_go_first(void) {
    FILE *f = fopen("/proc/self/oom_score_adj", "we");
    if (f) {
        fputs("1000\n", f);
        fclose(f);
    }
}

// The starter may have ended before this process asked to be told.
static bool compile_begin(uint64_t seconds, uint64_t memory, bool beside) {
    const struct sigaction end = {.sa_handler = compile_end_group, .sa_flags = (int)SA_RESETHAND};
    if (getpgrp() != getpid() || sigaction(SIGTERM, &end, NULL) ||
        prctl(PR_SET_PDEATHSIG, SIGTERM) || !compile_set_limits(seconds, memory)) {
        fprintf(stderr, "silken: the limits of a compilation cannot be set\n");
        return false;
    }
    compile_go_first();
    if (beside) // where it cannot be had, the limits are all there is
        setpriority(PRIO_PROCESS, 0, LAST_PRIORITY);
    return true;
}

static bool compile_report(const struct compile_options *opt) {
    struct compile_checked *k = compile_check(opt, stderr);
    const bool good = k->verdict != COMPILE_REFUSED;
    if (good)
        chip_print_json(stdout, k->report);
    compile_checked_free(k);
    return good && fflush(stdout) == 0;
}

static bool compile_object(const struct compile_options *opt) {
    char *object = compile_p4(opt, stderr);
    if (object)
        puts(object);
    const bool good = object && fflush(stdout) == 0;
    free(object);
    return good;
}

int cmd_compile(int argc, char **argv) {
    struct compile_options opt = {.in_group = true};
    struct cli_flags flags = {0};
    uint64_t seconds = 0, memory = 0;
    bool beside = false, report = false;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":I:D:", options, NULL)) != -1;) {
        if (c == '?' || c == ':')
            return cli_bad_option(CLI_COMPILE, c, argv);
        if (c == CLI_TARGET && cli_take_target(CLI_COMPILE, &flags, optarg))
            return EXIT_UNUSABLE;
        if (c == 'I' || c == 'D')
            cli_push_flag(&flags, c, optarg);
        if ((c == SECONDS || c == MEMORY) &&
            !cli_decimal(optarg, 1, UINT32_MAX, c == SECONDS ? &seconds : &memory))
            return cli_misused(CLI_COMPILE, "'%s' is not a number in range", optarg);
        if (c == BF_RT)
            opt.bfrt = optarg;
        if (c == EMIT_P4)
            opt.emit_p4 = optarg;
        if (c == P4INFO)
            opt.p4info = optarg;
        beside |= c == BESIDE;
        report |= c == REPORT;
        opt.checked |= c == CHECKED;
        opt.colour |= c == COLOUR;
        opt.preprocessed |= c == PREPROCESSED;
    }
    if (optind != argc - 1 || !seconds || !memory)
        return cli_misused(CLI_COMPILE, "it takes one P4 file and its limits");
    if (!compile_begin(seconds, memory, beside))
        return EXIT_UNUSABLE;
    opt.path = argv[optind];
    cli_use_flags(&opt, &flags);
    const bool good = report ? compile_report(&opt) : compile_object(&opt);
    cli_free_flags(&flags);
    return good ? EXIT_GOOD : EXIT_FAILED;
}
