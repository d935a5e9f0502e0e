// SPDX-License-Identifier: Apache-2.0
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/p4info.h"
#include "cli/sde.h"

static const char usage[] =
    "usage: silken build [OPTION]... PROGRAM.p4\n\n"
    "Compiles a P4_16 program for TNA to a loadable object. Prints nothing if the program has "
    "neither\n"
    "errors nor warnings; the exit status is 1 if it has errors.\n\n"
    "  -I DIR               look for included files there too\n"
    "  -D NAME[=VALUE]      define a macro\n"
    "  --target CHIP        tofino1 or tofino2 (default: that of the program's architecture)\n"
    "  -o FILE              write the object there, not only to the cache\n"
    "  --checked            the checked build: it reports forbidden accesses\n"
    "  --scalar             use no vector instructions: same results, to compare the speed\n"
    "  --march ARCH         processor to compile for, as named by the C compiler (this machine's)\n"
    "  --parse-only         check syntax and types, write no object\n"
    "  --emit-c FILE        also keep the C text\n"
    "  --dump-ast FILE      also write the syntax tree ('-' is standard output)\n"
    "  --dump-ir FILE       also write the intermediate form\n"
    "  --dump-plan FILE     also write which optimisation fired where\n"
    "  --without-pass PASS  leave out this optimisation (a name that --dump-plan prints)\n"
    "  --wire-header FILE   also write C structs of the program's headers\n"
    "  --bf-rt FILE         also write the BF Runtime schema (JSON)\n"
    "  --p4info FILE        also write the P4Info (protobuf text)\n"
    "  --p4info-binary FILE also write the P4Info (protobuf binary)\n"
    "  --wireshark FILE     also write a dissector for Wireshark (Lua): docs/wireshark.md\n"
    "  --sde DIR            also write the files that controllers of a Tofino read, below "
    "DIR/share\n";

enum {
    PARSE_ONLY = 256,
    CHECKED,
    EMIT_C,
    DUMP_AST,
    DUMP_IR,
    WIRE_HEADER,
    BF_RT,
    P4INFO,
    WIRESHARK,
    SCALAR,
    MARCH,
    DUMP_PLAN,
    WITHOUT_PASS,
    SDE,
    P4INFO_BINARY
};

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    CLI_TARGET_OPTION,
    {"checked", no_argument, NULL, CHECKED},
    {"scalar", no_argument, NULL, SCALAR},
    {"march", required_argument, NULL, MARCH},
    {"parse-only", no_argument, NULL, PARSE_ONLY},
    {"emit-c", required_argument, NULL, EMIT_C},
    {"dump-ast", required_argument, NULL, DUMP_AST},
    {"dump-ir", required_argument, NULL, DUMP_IR},
    {"dump-plan", required_argument, NULL, DUMP_PLAN},
    {"without-pass", required_argument, NULL, WITHOUT_PASS},
    {"wire-header", required_argument, NULL, WIRE_HEADER},
    {"bf-rt", required_argument, NULL, BF_RT},
    {"p4info", required_argument, NULL, P4INFO},
    {"p4info-binary", required_argument, NULL, P4INFO_BINARY},
    {"wireshark", required_argument, NULL, WIRESHARK},
    {"sde", required_argument, NULL, SDE},
    {NULL, 0, NULL, 0},
};

static void cmd_build_take_option(int c, struct compile_options *opt, struct cli_flags *flags) {
    switch (c) {
    case 'I':
    case 'D':
        cli_push_flag(flags, c, optarg);
        break;
    case 'o':
        opt->output = optarg;
        break;
    case CHECKED:
        opt->checked = true;
        break;
    case SCALAR:
        opt->scalar = true;
        break;
    case MARCH:
        opt->march = optarg;
        break;
    case PARSE_ONLY:
        opt->parse_only = true;
        break;
    case EMIT_C:
        opt->emit_c = optarg;
        break;
    case DUMP_AST:
        opt->dump_ast = optarg;
        break;
    case DUMP_IR:
        opt->dump_ir = optarg;
        break;
    case DUMP_PLAN:
        opt->dump_plan = optarg;
        break;
    case WITHOUT_PASS:
        opt->without_pass = optarg;
        break;
    case BF_RT:
        opt->bfrt = optarg;
        break;
    case P4INFO:
        opt->p4info = optarg;
        break;
    case WIRESHARK:
        opt->wireshark = optarg;
        break;
    default:
        opt->wire_header = optarg;
    }
}

// 0, or the exit status after a message: one of the outputs is the program itself.
static int cmd_build_check_outputs(const struct compile_options *opt, const char *binary) {
    const char *const outputs[] = {
        opt->output,    opt->wire_header, opt->emit_c, opt->dump_ast,  opt->dump_ir,
        opt->dump_plan, opt->bfrt,        opt->p4info, opt->wireshark, binary};
    struct stat program, out;
    if (stat(opt->path, &program) || !S_ISREG(program.st_mode))
        return 0;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
        if (outputs[i] && strcmp(outputs[i], "-") != 0 && stat(outputs[i], &out) == 0 &&
            out.st_dev == program.st_dev && out.st_ino == program.st_ino)
            return cli_misused("build", "%s is the program; it would be overwritten", outputs[i]);
    return 0;
}

// Null after messages.
static char *cmd_build_with_sde(struct compile_options *opt, const char *dir) {
    struct sde_outputs o;
    char *object = NULL;
    if (sde_begin(&o)) {
        opt->emit_p4 = o.text_path;
        opt->bfrt = o.schema_path;
        object = compile_p4(opt, stderr);
        if (object && !sde_write_files(&o, dir, opt->path, object)) {
            free(object);
            object = NULL;
        }
    }
    sde_end(&o);
    return object;
}

// The object's path; null after messages.
static char *cmd_build_all(struct compile_options *opt, const char *sde, const char *binary) {
    struct p4info_text text = {.fd = -1};
    char *object = NULL;
    if (!binary || p4info_begin(&text, opt))
        object = sde ? cmd_build_with_sde(opt, sde) : compile_p4(opt, stderr);
    if (object && binary && !p4info_write(&text, binary)) {
        free(object);
        object = NULL;
    }
    p4info_end(&text);
    return object;
}

// ---- a signal: the C compilers end first, and their files are removed ----

static volatile sig_atomic_t build_signal;

static void build_stop(int number) {
    build_signal = number;
    if (compile_stop())
        return;
    signal(number, SIG_DFL);
    raise(number);
}

static void build_heed_signals(void) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction old;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(numbers[i], &(struct sigaction){.sa_handler = build_stop}, NULL);
}

// Ends as the signal that came would have.
static void build_end_by_signal(void) {
    if (!build_signal)
        return;
    signal(build_signal, SIG_DFL);
    raise(build_signal);
}

int cmd_build(int argc, char **argv) {
    struct compile_options opt = {.colour = cli_in_colour(STDERR_FILENO)};
    struct cli_flags flags = {0};
    const char *sde = NULL, *binary = NULL;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":hI:D:o:", options, NULL)) != -1;) {
        if (c == '?' || c == ':')
            return cli_bad_option("build", c, argv);
        if (c == 'h') {
            fputs(usage, stdout);
            return EXIT_GOOD;
        }
        if (c == CLI_TARGET && cli_take_target("build", &flags, optarg))
            return EXIT_UNUSABLE;
        if (c == SDE)
            sde = optarg;
        else if (c == P4INFO_BINARY)
            binary = optarg;
        else if (c != CLI_TARGET)
            cmd_build_take_option(c, &opt, &flags);
    }
    if (optind != argc - 1)
        return cli_misused("build", optind == argc ? "a P4 file is missing"
                                                   : "only one P4 file can be given");
    if (sde && (opt.parse_only || opt.bfrt))
        return cli_misused("build", opt.parse_only
                                        ? "--sde needs the whole compilation"
                                        : "--sde writes the schema, too; leave --bf-rt out");
    if (binary && (opt.parse_only || (opt.p4info && strcmp(opt.p4info, "-") == 0)))
        return cli_misused("build", opt.parse_only ? "--p4info-binary needs the whole compilation"
                                                   : "with --p4info-binary, --p4info needs a file");
    opt.path = argv[optind];
    int status = cmd_build_check_outputs(&opt, binary);
    if (status)
        return status;
    cli_use_flags(&opt, &flags);
    build_heed_signals();
    char *object = cmd_build_all(&opt, sde, binary);
    build_end_by_signal();
    bool good = object;
    free(object);
    cli_free_flags(&flags);
    return good ? EXIT_GOOD : EXIT_FAILED;
}
