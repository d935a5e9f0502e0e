// SPDX-License-Identifier: Apache-2.0
//
// compiler: a program compiled by a process of its own (cli/compile.c), with limits of time and
// memory, which can be ended at any moment: nothing that a program makes a compiler do reaches the
// switch. On one thread at a time.
#include "cli/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "control/config/controllers.h"

#define MOST_SAID     ((size_t)64 << 10) // bytes that are read of its messages
#define MOST_WORDS    24u                // of the command, besides folders and macros
#define LAST_WORDS_MS UINT64_C(100) // ms for the C compiler to remove its files when it is ended
#define MOST_SCHEMA   ((size_t)256 << 20)
#define OUTPUT_FD     3 // of the compiler's process: the first output's, and the others after it
#define START_TURN    10000u // us between two looks while nothing else is to be done

extern char **environ;

// What controllers are told of a program. Those of BF Runtime need the first two.
enum { BFRT, TEXT, OF_BFRT, P4INFO = OF_BFRT, OUTPUTS };
static const char *const output_options[OUTPUTS] = {
    [BFRT] = "--bf-rt", [TEXT] = "--emit-p4", [P4INFO] = "--p4info"};
static const char *const output_files[OUTPUTS] = {"/proc/self/fd/3", "/proc/self/fd/4",
                                                  "/proc/self/fd/5"};

struct run_compiler {
    pid_t pid; // and its group's number
    int out, said;
    int outputs[OUTPUTS];
    unsigned n_outputs; // that somebody wants
    bool report;        // it says where tables would be on the chip, and compiles nothing
    bool ended, late;
    uint64_t until; // of run_now()
    uint64_t seconds, memory;
    int status;
    char *messages; // after the end
};

// ---- its command ----

struct command {
    const char **words;
    size_t n;
    char seconds[24], memory[24];
};

static void compiler_say(struct command *c, const char *word) {
    c->words[c->n++] = word;
}

static void compiler_say_each(struct command *c, const char *option, const char *const *words,
                              size_t n) {
    for (size_t i = 0; i < n; i++) {
        compiler_say(c, option);
        compiler_say(c, words[i]);
    }
}

static void compiler_command(struct command *c, const struct compile_options *opt,
                             const struct run_compiler *limits, bool beside) {
    c->words = calloc(MOST_WORDS + 2 * (opt->n_include_dirs + opt->n_defines), sizeof *c->words);
    if (!c->words)
        abort();
    snprintf(c->seconds, sizeof c->seconds, "%llu", (unsigned long long)limits->seconds);
    snprintf(c->memory, sizeof c->memory, "%llu", (unsigned long long)limits->memory);
    const char *const fixed[] = {"silken",   CLI_COMPILE, "--seconds",
                                 c->seconds, "--memory",  c->memory};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        compiler_say(c, fixed[i]);
    if (beside)
        compiler_say(c, "--beside");
    if (limits->report)
        compiler_say(c, "--report");
    if (opt->checked)
        compiler_say(c, "--checked");
    if (opt->colour)
        compiler_say(c, "--colour");
    if (opt->preprocessed)
        compiler_say(c, "--preprocessed");
    for (unsigned i = 0; i < limits->n_outputs; i++) {
        compiler_say(c, output_options[i]);
        compiler_say(c, output_files[i]);
    }
    if (opt->target)
        compiler_say_each(c, "--target", &opt->target, 1);
    compiler_say_each(c, "-I", opt->include_dirs, opt->n_include_dirs);
    compiler_say_each(c, "-D", opt->defines, opt->n_defines);
    compiler_say(c, "--");
    compiler_say(c, opt->path);
}

// ---- its process ----

// A group of its own, signals as if nobody had changed them, and nothing open but its output: an
// interface that is a device of the switch would stay as long as the process.
static int compiler_spawn(struct run_compiler *c, const char *const *words) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, c->out, 1);
    posix_spawn_file_actions_adddup2(&files, c->said, 2);
    for (unsigned i = 0; i < c->n_outputs; i++)
        posix_spawn_file_actions_adddup2(&files, c->outputs[i], OUTPUT_FD + (int)i);
    posix_spawn_file_actions_addclosefrom_np(&files, OUTPUT_FD + (int)c->n_outputs);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    const int error =
        posix_spawn(&c->pid, "/proc/self/exe", &files, &attr, (char *const *)words, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

// A file without a name that later holds what a process wrote. Above all targets, so that it is not
// replaced by one before it is copied.
static int compiler_open(void) {
    const int fd = memfd_create("silken-compiler", MFD_CLOEXEC),
              above = fcntl(fd, F_DUPFD_CLOEXEC, OUTPUT_FD + OUTPUTS);
    if (fd >= 0)
        close(fd);
    return above;
}

// How many descriptions of the program somebody wants.
static unsigned compiler_wanted(const struct run *r) {
    return sk_config_p4runtime(r->config).listen ? OUTPUTS
           : sk_config_bfrt(r->config).listen    ? OF_BFRT
                                                 : 0;
}

static struct run_compiler *compiler_begin(const struct run *r, const struct compile_options *opt,
                                           bool beside, bool report, struct sk_error *err) {
    struct run_compiler *c = calloc(1, sizeof *c);
    struct command command = {0};
    if (!c)
        abort();
    c->report = report;
    c->seconds = r->config->requests.compile_seconds;
    c->memory = r->config->requests.compile_memory;
    c->until = run_now() + c->seconds * UINT64_C(1000000000);
    c->out = compiler_open();
    c->said = compiler_open();
    const unsigned n = report ? 0 : compiler_wanted(r);
    const bool open = c->out >= 0 && c->said >= 0;
    while (open && c->n_outputs < n && (c->outputs[c->n_outputs] = compiler_open()) >= 0)
        c->n_outputs++;
    const int failed = open && c->n_outputs == n ? 0 : errno;
    compiler_command(&command, opt, c, beside);
    const int error = failed ? failed : compiler_spawn(c, command.words);
    free((void *)command.words);
    if (!error)
        return c;
    c->ended = true;
    run_compiler_free(c);
    sk_fail(err, "cannot start a process to compile with: %s", strerror(error));
    return NULL;
}

struct run_compiler *run_compiler_start(const struct run *r, const struct compile_options *opt,
                                        bool beside, struct sk_error *err) {
    return compiler_begin(r, opt, beside, false, err);
}

struct run_compiler *run_compiler_report(const struct run *r, const struct compile_options *opt,
                                         struct sk_error *err) {
    return compiler_begin(r, opt, true, true, err);
}

// Whether it has ended; its number stays taken until it is waited for.
static bool compiler_is_over(const struct run_compiler *c) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == c->pid;
}

// It has ended: so does what it started, and it is waited for.
static void compiler_reap(struct run_compiler *c) {
    kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, &c->status, 0) < 0)
        if (errno != EINTR) {
            c->status = -1;
            break;
        }
    c->ended = true;
    if (c->status != 0)
        compile_clean_after(c->pid);
}

static void compiler_kill(struct run_compiler *c) {
    kill(-c->pid, SIGTERM);
    for (uint64_t ms = 0; ms < LAST_WORDS_MS && !compiler_is_over(c); ms++)
        usleep(1000);
    compiler_reap(c);
}

bool run_compiler_ended(struct run_compiler *c) {
    if (c->ended)
        return true;
    if (compiler_is_over(c))
        compiler_reap(c);
    else if (run_now() >= c->until) {
        c->late = true;
        compiler_kill(c);
    }
    return c->ended;
}

void run_compiler_free(struct run_compiler *c) {
    if (!c)
        return;
    if (!c->ended)
        compiler_kill(c);
    if (c->out >= 0)
        close(c->out);
    if (c->said >= 0)
        close(c->said);
    while (c->n_outputs > 0)
        close(c->outputs[--c->n_outputs]);
    free(c->messages);
    free(c);
}

// ---- what it leaves ----

static char *compiler_read_most(int fd, size_t most) {
    char *text = calloc(1, most + 1);
    if (!text)
        abort();
    const ssize_t n = pread(fd, text, most, 0);
    text[n > 0 ? n : 0] = 0;
    return text;
}

static char *compiler_read(int fd) {
    return compiler_read_most(fd, MOST_SAID);
}

static char *compiler_read_output(const struct run_compiler *c, unsigned which) {
    struct stat st;
    if (which >= c->n_outputs || fstat(c->outputs[which], &st) || (size_t)st.st_size > MOST_SCHEMA)
        return NULL;
    return compiler_read_most(c->outputs[which], (size_t)st.st_size);
}

struct run_description run_compiler_description(struct run_compiler *c) {
    return (struct run_description){.bfrt = compiler_read_output(c, BFRT),
                                    .text = compiler_read_output(c, TEXT),
                                    .p4info = compiler_read_output(c, P4INFO)};
}

const char *run_compiler_messages(struct run_compiler *c) {
    if (!c->messages)
        c->messages = compiler_read(c->said);
    return c->messages;
}

// A limit that it met says nothing of its own.
static int compiler_fail(struct run_compiler *c, struct sk_error *err) {
    const char *said = run_compiler_messages(c);
    const int number = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;
    if (c->late || number == SIGXCPU)
        return sk_fail(err,
                       "the compilation was ended after %llu seconds (\"compile_seconds\" of "
                       "\"requests\")",
                       (unsigned long long)c->seconds);
    if (number || !*said)
        return sk_fail(
            err,
            "the compilation was ended by signal %d (%s); it may have %llu MiB of memory "
            "(\"compile_memory\" of \"requests\")",
            number, strsignal(number), (unsigned long long)c->memory);
    return sk_fail(err, "%.*s", (int)strcspn(said, "\n"), said);
}

char *run_compiler_text(struct run_compiler *c, struct sk_error *err) {
    struct stat st;
    if (!WIFEXITED(c->status) || WEXITSTATUS(c->status) != 0) {
        compiler_fail(c, err);
        return NULL;
    }
    if (fstat(c->out, &st) || (size_t)st.st_size > MOST_SCHEMA) {
        sk_fail(err, "the report is too long");
        return NULL;
    }
    return compiler_read_most(c->out, (size_t)st.st_size);
}

struct sk_program *run_compiler_program(struct run_compiler *c, struct sk_error *err) {
    struct sk_program *program = NULL;
    char error[512];
    if (!WIFEXITED(c->status) || WEXITSTATUS(c->status) != 0) {
        compiler_fail(c, err);
        return NULL;
    }
    char *object = compiler_read(c->out);
    object[strcspn(object, "\n")] = 0;
    program = sk_program_load(object, error, sizeof error);
    if (!program)
        sk_fail(err, "%s", error);
    free(object);
    return program;
}

struct sk_program *run_compile_now(const struct run *r, const struct compile_options *opt,
                                   struct run_description *description) {
    struct sk_error err = {""};
    struct run_compiler *c = run_compiler_start(r, opt, false, &err);
    while (c && !run_is_stopped() && !run_compiler_ended(c))
        usleep(START_TURN);
    const bool ended = c && run_compiler_ended(c);
    struct sk_program *program = ended ? run_compiler_program(c, &err) : NULL;
    const char *said = ended ? run_compiler_messages(c) : "";
    fputs(said, stderr);
    if (!program && (!*said || !strstr(said, err.text)))
        run_say(run_is_stopped() ? "ended before it began" : err.text);
    *description = program ? run_compiler_description(c) : (struct run_description){0};
    run_compiler_free(c);
    return program;
}
