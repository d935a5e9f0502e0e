// SPDX-License-Identifier: Apache-2.0
//
// cli: the subcommands of `silken`, and their shared code.
//
// A subcommand gets its arguments with argv[0] its own name and returns the exit status: 0 good, 1
// the thing asked for did not succeed, 2 it could not be tried (bad options, unusable input).
// Results go to standard output, errors as one sentence to standard error. Each answers --help with
// its usage; main.c lists them all.
//
// Files:
//
//     main.c      chooses the subcommand
//     common.c    options and words that subcommands share
//     captures.c  captures and entries of subcommands that run them
//     new_file.c  a file that appears when it is complete
//     job_file.c  the job file of ATP's stations
//     build.c, check.c, schema.c  subcommands of the compiler
//     sde.c       what controllers of a Tofino look for, of `silken build --sde`
//     p4info.c    the P4Info in binary form, of `silken build --p4info-binary`
//     compile.c   a compilation with limits, as a process of `silken run`
//     test.c, replay.c, explain.c, record.c  subcommands about packets
//     run.c       silken run; run/run.h lists its files
//     worker.c    silken worker; worker_options.c: its options
//     server.c    silken server
//     dlcp.c      silken dlcp
//     libra.c     silken libra; libra_control.c: its controller
//     sim.c       silken sim
//     compare/    silken compare (compare.h)
//     lab/        silken lab (lab.h)
//     twin/       silken twin (twin/twin.h)
//     spaces.c    network namespaces, of the demo and of a lab
//     ctl/        silken ctl (ctl_impl.h)
//     top/        silken ctl top (top.h)
//     demo/       silken demo (demo.h); demo/rng.h: its random numbers
#ifndef SILKEN_CLI_CLI_H
#define SILKEN_CLI_CLI_H

#include <getopt.h>
#include <jansson.h>

#include "compiler/compile.h"
#include "pipeline/program.h"
#include "pipeline/observe/tracer.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_UNUSABLE = 2 };

int cmd_build(int argc, char **argv);
int cmd_test(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_ctl(int argc, char **argv);
int cmd_schema(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_dlcp(int argc, char **argv);
int cmd_libra(int argc, char **argv);
int cmd_sim(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_worker(int argc, char **argv);
int cmd_server(int argc, char **argv);
int cmd_twin(int argc, char **argv);

// The command that `silken run` starts to compile a program with: no subcommand for people
// (compile.c).
#define CLI_COMPILE "compile-for-run"
int cmd_compile(int argc, char **argv);

// "silken COMMAND: sentence" and where to read more; returns EXIT_UNUSABLE.
int cli_misused(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
// What --filter says, of which '*filter' is the caller's and may have one already, which is freed:
// 0, or the exit status after a message.
struct sk_filter;
int cli_filter(const char *command, const char *expression, struct sk_filter **filter);
// After getopt_long() returned '?' or ':' (opterr is 0 and the option string starts with ':').
int cli_bad_option(const char *command, int result, char **argv);

// Writes 'what' to the file, "-" is standard output. False after a message.
bool cli_write_json(const char *command, const json_t *what, const char *path);
// Whether the file can be written, before the work that it is the result of; it stays as it is.
// False after a message. Null and "-": yes.
bool cli_can_write(const char *command, const char *path);

// Makes a folder, and those above it. False after a message.
bool cli_make_folders(const char *command, const char *path);
// What controllers call the program of this file: l2 for "p4/l2/l2.p4". The caller frees it.
char *cli_program_name(const char *path);

// Reads a number from 0 to 'max', decimal or 0x. Returns whether it is that.
bool cli_number(const char *text, uint64_t max, uint64_t *out);
// The same in decimal digits alone, at least 'min'.
bool cli_decimal(const char *text, uint64_t min, uint64_t max, uint64_t *out);

// A command line on which words that are no options have their place among them.
struct cli_words {
    const char *command, *usage;
    const char *letters; // of getopt_long(), beginning with "-:h"
    const struct option *options;
    // Told each option's value, or 1 for a word; what was given is optarg. 0, or the exit status
    // after a message.
    int (*take)(void *aux, int option);
    // Whether an option of 'options' that takes a value may have another one: of others the first
    // would be lost.
    bool (*repeats)(int option);
};
#define CLI_HELPED (-1)
// 0, the exit status after a message, or CLI_HELPED after the usage was printed. Behind "--" there
// are words only.
int cli_each_word(const struct cli_words *words, void *aux, int argc, char **argv);

// A list of words that grows; the words are borrowed, 'items' is malloc'ed.
struct cli_list {
    const char **items;
    size_t n;
};
void cli_push(struct cli_list *list, const char *item);

// What -I, -D and --target say of the compilation.
struct cli_flags {
    struct cli_list includes, defines;
    const char *target; // or null
};
#define CLI_TARGET 1000 // of getopt_long
#define CLI_TARGET_OPTION                                                                          \
    { "target", required_argument, NULL, CLI_TARGET }
// 0, or the exit status after a message.
int cli_take_target(const char *command, struct cli_flags *flags, const char *word);
// 'option' is the letter. The argument is borrowed.
void cli_push_flag(struct cli_flags *flags, int option, const char *argument);
// 'opt' borrows the lists.
void cli_use_flags(struct compile_options *opt, const struct cli_flags *flags);
void cli_free_flags(struct cli_flags *flags);

// A silken that checks its memory accesses checks those of the programs it runs, too.
#ifdef __SANITIZE_ADDRESS__
#define CLI_SANITIZED true
#else
#define CLI_SANITIZED false
#endif

// Whether 'fd' (of stdio) is a terminal that shows colours, and nobody said NO_COLOR.
bool cli_in_colour(int fd);

// The argument of --trace, or null; false when it is none.
bool cli_trace_form(const char *word, enum sk_trace_form *form);

// Compiles a P4 program and loads it. Null after the errors were printed.
struct sk_program *cli_load_program(const struct compile_options *opt);

#endif
