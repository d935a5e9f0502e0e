// SPDX-License-Identifier: Apache-2.0
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "control/schema/schema.h"

static const char usage[] =
    "usage: silken schema [OPTION]... [PROGRAM.p4]\n\n"
    "Prints a JSON Schema of the files that 'silken replay --entries' and 'silken run' read. With "
    "a\n"
    "program it describes the program's tables, keys, actions, registers...\n\n"
    "  --config                  schema of a whole configuration, which names its program\n"
    "  -I DIR, -D NAME[=VALUE], --target CHIP\n"
    "                            as for 'silken build'\n";

enum { CONFIG = 256 };

static const struct option options[] = {
    {"help", no_argument, NULL, 'h'},
    {"config", no_argument, NULL, CONFIG},
    CLI_TARGET_OPTION,
    {NULL, 0, NULL, 0},
};

static int cmd_schema_print(const struct sk_switch *sw, bool whole) {
    json_t *schema = sk_schema(sw, whole);
    bool good = json_dumpf(schema, stdout, JSON_INDENT(1)) == 0 && putchar('\n') != EOF;
    json_decref(schema);
    if (good && fflush(stdout) == 0)
        return EXIT_GOOD;
    fprintf(stderr, "silken schema: cannot write the schema\n");
    return EXIT_UNUSABLE;
}

static int print_of(const struct compile_options *compile, bool whole) {
    const struct sk_switch_options opt = {.tx = sk_tx_nowhere, .n_packets = 2};
    char error[256];
    struct sk_program *prog = cli_load_program(compile);
    struct sk_switch *sw = prog ? sk_switch_new(prog, &opt, error, sizeof error) : NULL;
    if (prog && !sw)
        fprintf(stderr, "silken schema: %s\n", error);
    int status = sw ? cmd_schema_print(sw, whole) : EXIT_UNUSABLE;
    sk_switch_free(sw);
    sk_program_free(prog);
    return status;
}

int cmd_schema(int argc, char **argv) {
    struct compile_options compile = {.colour = cli_in_colour(STDERR_FILENO)};
    struct cli_flags flags = {0};
    bool whole = false;
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":hI:D:", options, NULL)) != -1;) {
        if (c == '?' || c == ':')
            return cli_bad_option("schema", c, argv);
        if (c == 'h') {
            fputs(usage, stdout);
            return EXIT_GOOD;
        }
        if (c == CLI_TARGET && cli_take_target("schema", &flags, optarg))
            return EXIT_UNUSABLE;
        if (c == CONFIG)
            whole = true;
        else if (c != CLI_TARGET)
            cli_push_flag(&flags, c, optarg);
    }
    if (argc - optind > 1)
        return cli_misused("schema", "only one P4 file can be given");
    compile.path = argv[optind];
    cli_use_flags(&compile, &flags);
    int status = compile.path ? print_of(&compile, whole) : cmd_schema_print(NULL, whole);
    cli_free_flags(&flags);
    return status;
}
