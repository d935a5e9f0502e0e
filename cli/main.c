// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/demo/demo.h"
#include "hosts/dpdk/dpdk.h"

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"build", cmd_build, "compile a P4 program, or only check it"},
    {"check", cmd_check, "check whether a P4 program fits a Tofino, and how full it is"},
    {"test", cmd_test, "run packet scripts (STF) through a P4 program"},
    {"replay", cmd_replay, "replay captures through a P4 program, with their own timestamps"},
    {"explain", cmd_explain, "explain everything that happens to one packet"},
    {"schema", cmd_schema, "print a JSON Schema of a program's entries and configurations"},
    {"run", cmd_run, "run a P4 program as a switch on the ports of a configuration file"},
    {"record", cmd_record, "record what the ports of a running switch receive and send"},
    {"ctl", cmd_ctl, "read and change a running switch"},
    {"worker", cmd_worker, "run a worker of an all-reduce job with generated tensors, and time it"},
    {"server", cmd_server, "run a parameter server of an ATP all-reduce job"},
    {"dlcp", cmd_dlcp, "find where switches drop gradients of a model, for DLCP"},
    {"libra", cmd_libra, "find the hot parameters of a sparse model, for a job of Libra"},
    {"sim", cmd_sim, "simulate a network of switches and hosts in virtual time"},
    {"compare", cmd_compare, "compare ways to add up gradients on one simulated network"},
    {"lab", cmd_lab,
     "the same network as processes: switches, hosts in namespaces, jobs in real time"},
    {"twin", cmd_twin, "compare a chip and its twin: tables, registers, captures"},
    {"demo", cmd_demo, "train a model across processes whose gradients a switch sums"},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

static void print_help(FILE *out) {
    fputs("usage: silken COMMAND [ARGUMENT]...\n\n"
          "A soft Tofino: compiles P4_16 programs written for the Tofino Native Architecture and\n"
          "runs them as a software switch.\n\n",
          out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-8s%s\n", commands[i].name, commands[i].summary);
    fputs("\n  silken help COMMAND    explain a command's arguments\n  silken --version\n", out);
}

static int main_run_command(const char *name, int argc, char **argv) {
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return commands[i].run(argc, argv);
    fprintf(stderr, "silken: there is no command '%s'; see 'silken --help'\n", name);
    return EXIT_UNUSABLE;
}

static int help(int argc, char **argv) {
    if (argc < 2) {
        print_help(stdout);
        return EXIT_GOOD;
    }
    char *ask[] = {argv[1], (char[]){"--help"}, NULL};
    return main_run_command(argv[1], 2, ask);
}

int main(int argc, char **argv) {
    // A file that may not grow is a failed write with its sentence, not the end without a word.
    signal(SIGXFSZ, SIG_IGN);
    sk_dpdk_link();
    if (argc < 2) {
        print_help(stderr);
        return EXIT_UNUSABLE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        return help(argc - 1, argv + 1);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts("silken " SILKEN_VERSION);
        return EXIT_GOOD;
    }
    if (word[0] == '-') {
        fprintf(stderr, "silken: there is no option '%s'; see 'silken --help'\n", word);
        return EXIT_UNUSABLE;
    }
    if (strcmp(word, CLI_COMPILE) == 0)
        return cmd_compile(argc - 1, argv + 1);
    return main_run_command(word, argc - 1, argv + 1);
}
