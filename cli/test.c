// SPDX-License-Identifier: Apache-2.0
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "base/file.h"
#include "pcap/stf/stf.h"
#include "pipeline/observe/tracer.h"
#include "pipeline/observe/violations.h"

static const char usage[] =
    "usage: silken test [OPTION]... PROGRAM.p4 SCRIPT.stf...\n\n"
    "Runs packet scripts through a P4 program, each on a fresh switch, and prints PASS or FAIL\n"
    "for each. The exit status is 1 if one failed, 2 if a script or the program cannot be used.\n\n"
    "  -I DIR                    look for the program's included files there too\n"
    "  -D NAME[=VALUE]           define a macro\n"
    "  --target CHIP             as for 'silken build'\n"
    "  --checked                 run the checked build, which reports forbidden accesses:\n"
    "                            use unassigned values, access a register twice...\n"
    "  --strict                  --checked, and a script with a report fails\n"
    "  --trace[=json]            --checked, and print the path of every packet: parser, tables,\n"
    "                            registers, destination; or as JSON, one object per line\n"
    "  --smaller-priority-wins   an entry with a smaller PRIORITY wins (default: a larger one)\n";

enum { SMALLER_WINS = 256, CHECKED, STRICT, TRACE };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    CLI_TARGET_OPTION,
    {"checked", no_argument, NULL, CHECKED},
    {"strict", no_argument, NULL, STRICT},
    {"trace", optional_argument, NULL, TRACE},
    {"smaller-priority-wins", no_argument, NULL, SMALLER_WINS},
    {NULL, 0, NULL, 0},
};

struct tests {
    struct stf_options stf;
    bool checked, strict, trace;
    enum sk_trace_form form;
    FILE *verdicts; // standard output, which JSON lines have for themselves
};

static enum stf_result run_script(const char *path, const struct sk_program *prog,
                                  const struct stf_options *opt) {
    struct sk_error err;
    size_t length;
    char *text = sk_read_file(path, &length, &err);
    if (!text) {
        fprintf(stderr, "silken test: %s\n", err.text);
        return STF_UNUSABLE;
    }
    struct stf_script *script = stf_parse(path, text, length, stderr);
    enum stf_result result = script ? stf_run(script, prog, opt, stderr) : STF_UNUSABLE;
    stf_free(script);
    free(text);
    return result;
}

// With what the checked build has to say: a report stands for a place, not for a packet, so each
// script has its own.
static enum stf_result run_checked(const char *path, const struct sk_program *prog,
                                   const struct tests *tests) {
    struct stf_options stf = tests->stf;
    stf.fields = true;
    struct sk_violations *violations = sk_violations_new(stderr);
    if (!violations)
        abort();
    stf.observer = sk_violations_observer(violations);
    struct sk_tracer *tracer =
        tests->trace ? sk_tracer_new(stdout, tests->form, stf.observer) : NULL;
    if (tracer)
        stf.observer = sk_tracer_observer(tracer);
    enum stf_result result = run_script(path, prog, &stf);
    if (tests->strict && result == STF_PASS && sk_violations_count(violations) > 0)
        result = STF_FAIL;
    sk_tracer_free(tracer);
    sk_violations_free(violations);
    return result;
}

static int run_scripts(char **paths, const struct sk_program *prog, const struct tests *tests) {
    unsigned passed = 0, failed = 0;
    int status = EXIT_GOOD;
    for (; *paths; paths++) {
        enum stf_result result = tests->checked ? run_checked(*paths, prog, tests)
                                                : run_script(*paths, prog, &tests->stf);
        fprintf(tests->verdicts, "%s %s\n", result == STF_PASS ? "PASS" : "FAIL", *paths);
        fflush(stdout); // in step with what differed, on standard error
        passed += result == STF_PASS;
        failed += result != STF_PASS;
        if (result == STF_UNUSABLE)
            status = EXIT_UNUSABLE;
        else if (result == STF_FAIL && status == EXIT_GOOD)
            status = EXIT_FAILED;
    }
    fprintf(tests->verdicts, "%u passed, %u failed\n", passed, failed);
    if (status == EXIT_FAILED && !tests->checked)
        fprintf(stderr,
                "silken test: with --checked, packets that differ are shown field by field\n");
    return status;
}

int cmd_test(int argc, char **argv) {
    struct compile_options opt = {.colour = cli_in_colour(STDERR_FILENO),
                                  .sanitize = CLI_SANITIZED};
    struct tests tests = {0};
    struct cli_flags flags = {0};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":hI:D:", options, NULL)) != -1;) {
        if (c == '?' || c == ':')
            return cli_bad_option("test", c, argv);
        if (c == 'h') {
            fputs(usage, stdout);
            return EXIT_GOOD;
        }
        if (c == 'I' || c == 'D')
            cli_push_flag(&flags, c, optarg);
        if (c == CLI_TARGET && cli_take_target("test", &flags, optarg))
            return EXIT_UNUSABLE;
        tests.stf.smaller_priority_wins |= c == SMALLER_WINS;
        tests.strict |= c == STRICT;
        tests.trace |= c == TRACE;
        tests.checked |= c == CHECKED || c == STRICT || c == TRACE;
        if (c == TRACE && !cli_trace_form(optarg, &tests.form))
            return cli_misused("test", "a trace is text or json, not '%s'", optarg);
    }
    if (argc - optind < 2)
        return cli_misused("test", optind == argc ? "a P4 file and scripts are missing"
                                                  : "a script is missing");
    opt.path = argv[optind];
    opt.checked = tests.checked;
    tests.verdicts = tests.trace && tests.form == SK_TRACE_JSON ? stderr : stdout;
    cli_use_flags(&opt, &flags);
    struct sk_program *prog = cli_load_program(&opt);
    int status = prog ? run_scripts(argv + optind + 1, prog, &tests) : EXIT_UNUSABLE;
    sk_program_free(prog);
    cli_free_flags(&flags);
    return status;
}
