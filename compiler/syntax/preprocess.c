// SPDX-License-Identifier: Apache-2.0
//
// preprocess: "cc -E" as a child process, its output and its complaints read through pipes.
#include "compiler/syntax/preprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/base/share.h"
#include "compiler/syntax/align.h"

extern char **environ;

#define MAX_OUTPUT (256u << 20) // what syntax.h takes

typedef VEC(char) text_vec;
typedef VEC(const char *) word_vec;

static const struct loc no_place = {0};

// A capture or an object in place of a program: in its first bytes zeros are not few. A pipe is not read.
static bool is_binary(int fd) {
    char bytes[256];
    ssize_t n = pread(fd, bytes, sizeof bytes, 0), zeros = 0;
    for (ssize_t i = 0; i < n; i++)
        zeros += bytes[i] == 0;
    return zeros > 4 && zeros * 16 > n;
}

// True when the file can be read; else reports why not. The preprocessor would say so, too, but
// with its own name in front.
static bool check_readable(struct diag *d, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int error = errno;
    struct stat st;
    bool is_folder = fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    bool binary = fd >= 0 && !is_folder && S_ISREG(st.st_mode) && is_binary(fd);
    if (fd >= 0)
        close(fd);
    if (binary)
        diag_error(d, no_place, "'%s' is no P4 program: it is not text", path);
    if (fd < 0)
        diag_error(d, no_place, "cannot read '%s': %s", path, strerror(error));
    else if (is_folder)
        diag_error(d, no_place, "cannot read '%s': it is a folder", path);
    return fd >= 0 && !is_folder && !binary;
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

static void add_words(struct arena *a, word_vec *argv, const char *const *words, size_t n) {
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
    static const char *const fixed[] = {"cc",     "-E",       "-x", "assembler-with-cpp",
                                        "-undef", "-nostdinc"};
    word_vec argv = {0};
    add_words(a, &argv, fixed, sizeof fixed / sizeof fixed[0]);
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
};

// Returns an error number.
static int start(struct arena *a, const char *const *argv, struct child *c) {
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(err, O_CLOEXEC) != 0) {
        int error = errno;
        close(out[0]);
        close(out[1]);
        return error;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    int error = posix_spawnp(&c->pid, argv[0], &actions, NULL, (char *const *)argv,
                             (char *const *)environment(a));
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
    c->fd[0] = out[0];
    c->fd[1] = err[0];
    if (error) {
        close(out[0]);
        close(err[0]);
    }
    return error;
}

// Reads what is there; false at the end.
static bool read_some(struct arena *a, int fd, text_vec *text) {
    char buffer[16384];
    ssize_t n = read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR)
        return true;
    for (ssize_t i = 0; i < n && text->n < MAX_OUTPUT; i++)
        VEC_PUSH(a, text, buffer[i]);
    return n > 0;
}

// Both pipes at once: a child that fills one must not wait for us at the other.
static void read_both(struct arena *a, const struct child *c, text_vec text[2]) {
    struct pollfd fds[2] = {{.fd = c->fd[0], .events = POLLIN}, {.fd = c->fd[1], .events = POLLIN}};
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            break;
        for (int i = 0; i < 2; i++)
            if (fds[i].fd >= 0 && fds[i].revents && !read_some(a, fds[i].fd, &text[i]))
                fds[i].fd = -1;
    }
    close(c->fd[0]);
    close(c->fd[1]);
}

static bool finish(const struct child *c) {
    int status;
    while (waitpid(c->pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// --------------------------------------------------------------------------------------------
// Its complaints: "file:line:col: error: text", source lines and carets in between

static const char *after(const char *line, const char *what) {
    const char *p = strstr(line, what);
    return p ? p + strlen(what) : NULL;
}

// The place in front of the severity, "" included: "file:12:3: " or "file:12: ".
static struct loc place_of(struct arena *a, struct diag *d, const char *line, const char *end) {
    uint32_t number[2] = {0, 0};
    int n = 0;
    const char *p = end;
    while (n < 2 && p > line) {
        const char *digits = p - 1; // at the ':' or ' ' behind a number
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

// The preprocessor drops NUL bytes, with a warning that points at the blanks in front of them. Those
// in comments it does not mention, and they do no harm.
static bool report_nul(struct arena *a, struct diag *d, const char *line) {
    const char *text = after(line, " warning: null character");
    if (!text)
        return false;
    struct loc at = place_of(a, d, line, text - strlen("warning: null character"));
    size_t length = 0;
    const char *source = diag_source_line(d, at, &length);
    const char *nul =
        source && at.col <= length ? memchr(source + at.col - 1, 0, length - at.col + 1) : NULL;
    if (nul)
        at.col = (uint32_t)(nul - source) + 1;
    at.end_col = at.col + 1;
    diag_error(d, at, "a NUL byte cannot stand in a program");
    return true;
}

// One line of the preprocessor's messages. Its warnings are about C (a ' in a comment's text, for
// one), except #warning, which the author of the program wrote, and those about NUL bytes.
static void read_message(struct arena *a, struct diag *d, const char *line) {
    if (report_nul(a, d, line))
        return;
    const char *text = after(line, "fatal error: ");
    size_t skipped = strlen("fatal error: ");
    bool is_error = true;
    if (!text) {
        text = after(line, " error: ");
        skipped = strlen("error: ");
    }
    if (!text && strstr(line, "#warning")) {
        text = after(line, " warning: ");
        skipped = strlen("warning: ");
        is_error = false;
    }
    if (!text)
        return;
    struct loc at = place_of(a, d, line, text - skipped);
    if (is_error)
        diag_error(d, at, "%s", text);
    else
        diag_warning(d, at, "%s", text);
}

static void read_messages(struct arena *a, struct diag *d, text_vec *text) {
    VEC_PUSH(a, text, '\0');
    for (char *p = text->v; p;) {
        char *newline = strchr(p, '\n');
        if (newline)
            *newline = '\0';
        read_message(a, d, p);
        p = newline ? newline + 1 : NULL;
    }
}

char *preprocess_p4(struct arena *a, struct diag *d, const char *path,
                    const struct preprocess_options *opt, size_t *length) {
    unsigned errors = diag_errors(d);
    if (!check_readable(d, path) || !check_folders(d, opt))
        return NULL;
    struct child c;
    int error = start(a, command(a, path, opt), &c);
    if (error) {
        diag_error(d, no_place, "cannot run the C preprocessor 'cc': %s", strerror(error));
        return NULL;
    }
    text_vec text[2] = {{0}, {0}};
    read_both(a, &c, text);
    bool success = finish(&c);
    read_messages(a, d, &text[1]);
    if (!success && diag_errors(d) == errors)
        diag_error(d, no_place, "the C preprocessor failed on '%s': %s", path, text[1].v);
    if (!success || diag_errors(d) != errors)
        return NULL;
    if (text[0].n >= MAX_OUTPUT) {
        diag_error(d, no_place, "'%s' is too large after preprocessing", path);
        return NULL;
    }
    *length = text[0].n;
    return align_columns(a, text[0].v, length);
}
