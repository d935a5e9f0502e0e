// SPDX-License-Identifier: Apache-2.0
//
// preprocess: "cc -E" as a child process, its output and its complaints read through pipes.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // pipe2, execvpe
#endif
#include "compiler/syntax/preprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/base/share.h"
#include "compiler/syntax/align.h"

extern char **environ;

#define MAX_OUTPUT     (64u << 20) // bytes of text, what syntax.h takes
#define MAX_COMPLAINTS (1u << 20)  // bytes that are read of them
// For the preprocessor, of processor time, which macros use. By the clock it may take longer, on a
// machine that is busy with something else; but it is asked again and again whether it sleeps, as
// it does before a pipe that nobody writes to.
#define MAX_SECONDS 6
#define ASK_MS      500
#define MAX_ASLEEP  8 // times in a row
#define MAX_DEPTH   4 // of processes: a command may start a compiler, which starts its first pass
#define MAX_MEMORY  (UINT64_C(512) << 20) // address space of each of its processes

// Text of a pipe, malloc'ed: an arena may leave while a child runs (arena.h).
struct pipe_text {
    char *v;
    size_t n, cap, most;
    bool more;      // than 'most'
    char last[512]; // the last bytes, whether they were kept or not
    size_t n_last;
};

typedef VEC(const char *) word_vec;

static const struct loc no_place = {0};

// A capture or an object in place of a program: in its first bytes zeros are not few. A pipe is not
// read.
static bool is_binary(int fd) {
    char bytes[256];
    ssize_t n = pread(fd, bytes, sizeof bytes, 0), zeros = 0;
    for (ssize_t i = 0; i < n; i++)
        zeros += bytes[i] == 0;
    return zeros > 4 && zeros * 16 > n;
}

// Why the preprocessor cannot read the file, or null. A pipe is not opened: what is in it is read
// once, and one that nobody writes to would be waited for.
static const char *unreadable(const char *path, bool *binary) {
    struct stat st;
    if (stat(path, &st) != 0)
        return strerror(errno);
    if (S_ISDIR(st.st_mode))
        return "it is a folder";
    if (S_ISBLK(st.st_mode) || S_ISSOCK(st.st_mode))
        return "it is not a file";
    if (!S_ISREG(st.st_mode))
        return access(path, R_OK) == 0 ? NULL : strerror(errno);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return strerror(errno);
    *binary = is_binary(fd);
    close(fd);
    return NULL;
}

// True when the file can be read; else reports why not. The preprocessor would say so, too, but
// with its own name in front.
static bool check_readable(struct diag *d, const char *path) {
    bool binary = false;
    const char *why = unreadable(path, &binary);
    if (why)
        diag_error(d, no_place, "cannot read '%s': %s", path, why);
    if (binary)
        diag_error(d, no_place, "'%s' is not a P4 program: it is not text", path);
    return !why && !binary;
}

// The preprocessor takes no notice of a folder that is not there.
static bool check_folders(struct diag *d, const struct preprocess_options *opt) {
    bool ok = true;
    for (size_t i = 0; opt && i < opt->n_include_dirs; i++) {
        struct stat st;
        int error = stat(opt->include_dirs[i], &st) == 0 ? 0 : errno;
        if (!error && !S_ISDIR(st.st_mode))
            error = ENOTDIR;
        if (error)
            diag_error(d, no_place, "cannot look for included files in '%s': %s",
                       opt->include_dirs[i], strerror(error));
        ok = ok && !error;
    }
    return ok;
}

// --------------------------------------------------------------------------------------------
// The command

static const char *own_include_dir(struct arena *a) {
    const char *named = getenv("SILKEN_INCLUDE");
    if (named && *named)
        return named;
    char *own = silken_share_path("p4/include");
    const char *kept = arena_strdup(a, own);
    free(own);
    return kept;
}

static void preprocess_add_words(struct arena *a, word_vec *argv, const char *const *words,
                                 size_t n) {
    for (size_t i = 0; i < n; i++)
        VEC_PUSH(a, argv, words[i]);
}

static void add_option(struct arena *a, word_vec *argv, const char *option, const char *value) {
    VEC_PUSH(a, argv, option);
    VEC_PUSH(a, argv, value);
}

static const char *const *command(struct arena *a, const char *path,
                                  const struct preprocess_options *opt) {
    // Assembler, not C, as the reference compiler has it: there a ' starts no character and ## may
    // join anything, and programs rely on both.
    // The version is that of the last compiler for the chip, whose headers p4/include has.
    static const char *const fixed[] = {"cc",
                                        "-E",
                                        "-x",
                                        "assembler-with-cpp",
                                        "-undef",
                                        "-nostdinc",
                                        "-D__p4c__=1",
                                        "-D__p4c_major__=9",
                                        "-D__p4c_minor__=13",
                                        "-D__p4c_patchlevel__=4",
                                        "-D__p4c_version__=\"9.13.4\""};
    word_vec argv = {0};
    preprocess_add_words(a, &argv, fixed, sizeof fixed / sizeof fixed[0]);
    add_option(a, &argv, "-D",
               arena_printf(a, "__TARGET_TOFINO__=%u", opt && opt->tofino ? opt->tofino : 1));
    for (size_t i = 0; opt && i < opt->n_defines; i++)
        add_option(a, &argv, "-D", opt->defines[i]);
    for (size_t i = 0; opt && i < opt->n_include_dirs; i++)
        add_option(a, &argv, "-I", opt->include_dirs[i]);
    add_option(a, &argv, "-I", own_include_dir(a));
    VEC_PUSH(a, &argv, path[0] == '-' ? arena_printf(a, "./%s", path) : path);
    VEC_PUSH(a, &argv, NULL);
    return argv.v;
}

// The caller's environment with messages in English, because they are read here.
static const char *const *environment(struct arena *a) {
    word_vec env = {0};
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, "LC_", 3) != 0 && strncmp(*e, "LANG", 4) != 0)
            VEC_PUSH(a, &env, *e);
    VEC_PUSH(a, &env, "LC_ALL=C");
    VEC_PUSH(a, &env, NULL);
    return env.v;
}

// --------------------------------------------------------------------------------------------
// Running it

struct child {
    pid_t pid;
    int fd[2]; // its standard output and standard error
    bool in_group;
    bool waits;       // for a pipe
    bool out_of_time; // of the processor
};

// No more than now: a limit that the caller has may be lower.
static bool preprocess_limit(int resource, rlim_t soft, rlim_t hard) {
    struct rlimit now;
    if (getrlimit(resource, &now) != 0)
        return false;
    now.rlim_max = hard < now.rlim_max ? hard : now.rlim_max;
    now.rlim_cur = soft < now.rlim_cur ? soft : now.rlim_cur;
    now.rlim_cur = now.rlim_cur < now.rlim_max ? now.rlim_cur : now.rlim_max;
    return setrlimit(resource, &now) == 0;
}

// In the new process. The command and what it starts are a process group, which can be ended at
// once (or part of the caller's, who ends that), and each has limits from its first instruction on:
// a device that is included has no end, and macros can grow without one. The soft limit of time has
// a signal of its own, by which it is known; the hard one is for a process that survives that.
// Between fork() and exec() only what signal handlers may do is done.
static _Noreturn void preprocess_become(const struct child *c, const int pipes[3],
                                        const char *const *argv, const char *const *env) {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0 && dup2(nothing, 0) == 0 && dup2(pipes[0], 1) == 1 && dup2(pipes[1], 2) == 2 &&
        (c->in_group || setpgid(0, 0) == 0) &&
        preprocess_limit(RLIMIT_AS, MAX_MEMORY, MAX_MEMORY) &&
        preprocess_limit(RLIMIT_CPU, MAX_SECONDS, MAX_SECONDS + 1))
        execvpe(argv[0], (char *const *)argv, (char *const *)env);
    const int error = errno;
    const ssize_t ignored = write(pipes[2], &error, sizeof error);
    (void)ignored;
    _exit(127);
}

static void preprocess_close(const int *fds, size_t n) {
    for (size_t i = 0; i < n; i++)
        close(fds[i]);
}

// Returns an error number.
static int preprocess_start(struct arena *a, const char *const *argv, struct child *c) {
    const char *const *const env = environment(a);
    int fds[6]; // ends to read and to write: what it writes, its messages, an error number
    for (size_t i = 0; i < 6; i += 2)
        if (pipe2(fds + i, O_CLOEXEC) != 0) {
            const int error = errno;
            preprocess_close(fds, i);
            return error;
        }
    c->pid = fork();
    if (c->pid == 0)
        preprocess_become(c, (const int[]){fds[1], fds[3], fds[5]}, argv, env);
    int error = c->pid < 0 ? errno : 0;
    preprocess_close((const int[]){fds[1], fds[3], fds[5]}, 3);
    ssize_t n = -1;
    while (!error && (n = read(fds[4], &error, sizeof error)) < 0 && errno == EINTR)
        ;
    if (n == sizeof error) // it could not become the command
        waitpid(c->pid, NULL, 0);
    close(fds[4]);
    if (error)
        preprocess_close((const int[]){fds[0], fds[2]}, 2);
    c->fd[0] = fds[0];
    c->fd[1] = fds[2];
    return error;
}

static void preprocess_keep_last(struct pipe_text *t, const char *bytes, size_t n) {
    const size_t most = sizeof t->last;
    const size_t from_new = n < most ? n : most;
    const size_t from_old = t->n_last < most - from_new ? t->n_last : most - from_new;
    memmove(t->last, t->last + t->n_last - from_old, from_old);
    memcpy(t->last + from_old, bytes + n - from_new, from_new);
    t->n_last = from_old + from_new;
}

static void preprocess_keep(struct pipe_text *t, const char *bytes, size_t n) {
    preprocess_keep_last(t, bytes, n);
    if (n > t->most - t->n) {
        t->more = true;
        n = t->most - t->n;
    }
    if (t->n + n > t->cap) {
        t->cap = 2 * (t->n + n);
        char *grown = realloc(t->v, t->cap);
        if (!grown)
            abort();
        t->v = grown;
    }
    if (n)
        memcpy(t->v + t->n, bytes, n);
    t->n += n;
}

// Reads what is there; false at the end.
static bool preprocess_read_some(int fd, struct pipe_text *text) {
    char buffer[16384];
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR)
        return true;
    if (n > 0)
        preprocess_keep(text, buffer, (size_t)n);
    return n > 0;
}

static int64_t preprocess_milliseconds(void) {
    struct timespec t = {0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void preprocess_read_proc(char *text, size_t size, const char *path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, size - 1) : 0;
    text[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        close(fd);
}

// Whether a process and those that it started wait for something. One that a busy machine gives no
// time is ready to run.
static bool preprocess_sleeps(pid_t pid, unsigned depth) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    preprocess_read_proc(text, sizeof text, path);
    const char *name_end = strrchr(text, ')');
    if (name_end && (strncmp(name_end, ") R", 3) == 0 || strncmp(name_end, ") D", 3) == 0))
        return false;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
    preprocess_read_proc(text, sizeof text, path);
    char *end, *p = text;
    for (long child; depth > 0 && (child = strtol(p, &end, 10)) > 0 && end != p; p = end)
        if (!preprocess_sleeps((pid_t)child, depth - 1))
            return false;
    return true;
}

// Both pipes at once: a child that fills one must not wait for us at the other. Ends the child when
// its text has become too much, or when it waits for a pipe.
static void read_both(struct child *c, struct pipe_text text[2]) {
    struct pollfd fds[2] = {{.fd = c->fd[0], .events = POLLIN}, {.fd = c->fd[1], .events = POLLIN}};
    int64_t end = preprocess_milliseconds() + ASK_MS;
    unsigned asleep = 0;
    while ((fds[0].fd >= 0 || fds[1].fd >= 0) && !text[0].more && !c->waits) {
        const int64_t left = end - preprocess_milliseconds();
        if (left <= 0) {
            asleep = preprocess_sleeps(c->pid, MAX_DEPTH) ? asleep + 1 : 0;
            c->waits = asleep == MAX_ASLEEP;
            end = preprocess_milliseconds() + ASK_MS;
            continue;
        }
        if (poll(fds, 2, (int)left) < 0 && errno != EINTR)
            break;
        for (int i = 0; i < 2; i++)
            if (fds[i].fd >= 0 && fds[i].revents && !preprocess_read_some(fds[i].fd, &text[i]))
                fds[i].fd = -1;
    }
    if (c->waits || text[0].more)
        kill(c->in_group ? c->pid : -c->pid, SIGKILL);
    close(c->fd[0]);
    close(c->fd[1]);
}

// Returns whether it succeeded. The command says at its end which signal ended a process that it
// started.
static bool preprocess_finish(struct child *c, const struct pipe_text *complaints) {
    int status;
    while (waitpid(c->pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    static const char ended[] = "CPU time limit exceeded";
    c->out_of_time = (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) ||
                     memmem(complaints->last, complaints->n_last, ended, strlen(ended));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A zero-terminated copy in the arena; frees the text.
static char *preprocess_take(struct arena *a, struct pipe_text *t) {
    char *copy = arena_strndup(a, t->v ? t->v : "", t->n);
    free(t->v);
    return copy;
}

// --------------------------------------------------------------------------------------------
// Its complaints: "file:line:col: error: text", source lines and carets in between

static const char *preprocess_after(const char *line, const char *what) {
    const char *p = strstr(line, what);
    return p ? p + strlen(what) : NULL;
}

// The place before the severity, "" included: "file:12:3: " or "file:12: ".
static struct loc preprocess_place_of(struct arena *a, struct diag *d, const char *line,
                                      const char *end) {
    uint32_t number[2] = {0, 0};
    int n = 0;
    const char *p = end;
    while (n < 2 && p > line) {
        const char *digits = p - 1; // at the ':' or ' ' after a number
        while (digits > line && (*digits == ' ' || *digits == ':'))
            digits--;
        const char *first = digits + 1;
        while (first > line && first[-1] >= '0' && first[-1] <= '9')
            first--;
        if (first > digits || first == line || first[-1] != ':')
            break;
        number[n++] = (uint32_t)strtoul(first, NULL, 10);
        p = first - 1;
    }
    if (n == 0)
        return no_place;
    struct loc at = {.line = number[n - 1], .col = n == 2 ? number[0] : 1};
    at.file = diag_file(d, arena_strndup(a, line, (size_t)(p - line)));
    at.end_col = at.col + 1;
    return at;
}

// The preprocessor drops NUL bytes, with a warning that points at the blanks before them. Those
// in comments it does not mention, and they do no harm.
static bool report_nul(struct arena *a, struct diag *d, const char *line) {
    const char *text = preprocess_after(line, " warning: null character");
    if (!text)
        return false;
    struct loc at = preprocess_place_of(a, d, line, text - strlen("warning: null character"));
    size_t length = 0;
    const char *source = diag_source_line(d, at, &length);
    const char *nul =
        source && at.col <= length ? memchr(source + at.col - 1, 0, length - at.col + 1) : NULL;
    if (nul)
        at.col = (uint32_t)(nul - source) + 1;
    at.end_col = at.col + 1;
    diag_error(d, at, "a program cannot contain a NUL byte");
    return true;
}

// One line of the preprocessor's messages. Its warnings are about C (a ' in a comment's text, for
// one), except #warning, which the author of the program wrote, and those about NUL bytes.
// The preprocessor looks past folders, and says that there is no such file.
static const char *of_a_folder(struct arena *a, const char *text) {
    static const char ending[] = ": No such file or directory";
    const size_t n = strlen(text), tail = sizeof ending - 1;
    struct stat st;
    if (n <= tail || strcmp(text + n - tail, ending) != 0)
        return text;
    const char *const path = arena_printf(a, "%.*s", (int)(n - tail), text);
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode)
               ? arena_printf(a, "'%s' is a folder, not a file", path)
               : text;
}

static void preprocess_read_message(struct arena *a, struct diag *d, const char *line) {
    if (report_nul(a, d, line))
        return;
    const char *text = preprocess_after(line, "fatal error: ");
    size_t skipped = strlen("fatal error: ");
    bool is_error = true;
    if (!text) {
        text = preprocess_after(line, " error: ");
        skipped = strlen("error: ");
    }
    if (!text && strstr(line, "#warning")) {
        text = preprocess_after(line, " warning: ");
        skipped = strlen("warning: ");
        is_error = false;
    }
    if (!text)
        return;
    struct loc at = preprocess_place_of(a, d, line, text - skipped);
    text = of_a_folder(a, text);
    if (is_error)
        diag_error(d, at, "%s", text);
    else
        diag_warning(d, at, "%s", text);
}

static void read_messages(struct arena *a, struct diag *d, char *text) {
    for (char *p = text; p;) {
        char *newline = strchr(p, '\n');
        if (newline)
            *newline = '\0';
        preprocess_read_message(a, d, p);
        p = newline ? newline + 1 : NULL;
    }
}

// What ended at a limit has no text; true when the program is refused for that. A process of the
// preprocessor that finds no memory says so.
static bool report_limits(struct diag *d, const char *path, const struct child *c,
                          const struct pipe_text *text, const char *complaints) {
    if (text->more)
        diag_error(d, no_place, "'%s' has more than %u MB of text after preprocessing", path,
                   MAX_OUTPUT >> 20);
    else if (c->out_of_time)
        diag_error(d, no_place,
                   "preprocessing '%s' takes more than %d s of processor time; it may include a "
                   "device, or contain macros that expand too far",
                   path, MAX_SECONDS);
    else if (c->waits)
        diag_error(d, no_place,
                   "preprocessing '%s' waits for input; it may include a pipe that no process "
                   "writes to",
                   path);
    else if (strstr(complaints, "out of memory") || strstr(complaints, "virtual memory exhausted"))
        diag_error(
            d, no_place,
            "preprocessing '%s' takes more than %u MB of memory; it may include a device, or "
            "contain macros that expand too far",
            path, (unsigned)(MAX_MEMORY >> 20));
    else
        return false;
    return true;
}

char *preprocess_p4(struct arena *a, struct diag *d, const char *path,
                    const struct preprocess_options *opt, size_t *length) {
    unsigned errors = diag_errors(d);
    if (!check_readable(d, path) || !check_folders(d, opt))
        return NULL;
    struct child c = {.in_group = opt && opt->in_group};
    int error = preprocess_start(a, command(a, path, opt), &c);
    if (error) {
        diag_error(d, no_place, "cannot run the C preprocessor 'cc': %s", strerror(error));
        return NULL;
    }
    struct pipe_text pipes[2] = {{.most = MAX_OUTPUT}, {.most = MAX_COMPLAINTS}};
    read_both(&c, pipes);
    const bool success = preprocess_finish(&c, &pipes[1]);
    *length = pipes[0].n;
    char *const text = preprocess_take(a, &pipes[0]), *const complaints =
                                                          preprocess_take(a, &pipes[1]);
    if (!success && report_limits(d, path, &c, &pipes[0], complaints))
        return NULL;
    read_messages(a, d, complaints);
    if (!success && diag_errors(d) == errors)
        diag_error(d, no_place, "the C preprocessor failed on '%s': %s", path, complaints);
    if (!success || diag_errors(d) != errors)
        return NULL;
    return align_columns(a, text, length);
}

bool check_included(struct diag *d) {
    const unsigned errors = diag_errors(d);
    for (uint32_t i = 0; i < diag_files(d); i++) {
        struct stat st;
        char byte;
        if (stat(diag_path(d, i), &st) != 0)
            continue;
        if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode))
            diag_error(d, no_place, "cannot include '%s': it is a device", diag_path(d, i));
        if (!S_ISREG(st.st_mode) || st.st_size > 0)
            continue;
        const int fd = open(diag_path(d, i), O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (read(fd, &byte, 1) != 0)
            diag_error(d, no_place,
                       "cannot include '%s': it has no size, so that the preprocessor takes it for "
                       "empty",
                       diag_path(d, i));
        close(fd);
    }
    return diag_errors(d) == errors;
}

char *read_preprocessed_p4(struct arena *a, struct diag *d, const char *path, size_t *length) {
    if (!check_readable(d, path))
        return NULL;
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const bool whole = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (!whole || st.st_size > MAX_OUTPUT) {
        if (whole)
            diag_error(d, no_place, "'%s' has more than %u MB of text", path, MAX_OUTPUT >> 20);
        else
            diag_error(d, no_place, "cannot read '%s'", path);
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    char *text = arena_alloc(a, (size_t)st.st_size + 1);
    ssize_t n = 0;
    for (*length = 0; *length < (size_t)st.st_size; *length += (size_t)n)
        if ((n = read(fd, text + *length, (size_t)st.st_size - *length)) <= 0)
            break;
    close(fd);
    text[*length] = '\0';
    if (memchr(text, 0, *length)) {
        diag_error(d, no_place, "a program cannot contain a NUL byte");
        return NULL;
    }
    return text;
}
