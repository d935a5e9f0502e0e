// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOP_WAIT_MS 3000
#define TAIL_BYTES   8192

// ---- signals ------------------------------------------------------------------------------------

static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
#define N_TAKEN (sizeof taken / sizeof *taken)

static struct sigaction before[N_TAKEN];
static volatile sig_atomic_t interrupted;

static void supervise_on_signal(int signal) {
    (void)signal;
    interrupted = 1;
}

// Without SA_RESTART: a sleep in the main loop ends at once.
static void supervise_take_signals(void) {
    struct sigaction action = {.sa_handler = supervise_on_signal};

    interrupted = 0;
    for (size_t i = 0; i < N_TAKEN; i++) {
        sigaction(taken[i], &action, &before[i]);
    }
}

static void give_signals_back(void) {
    for (size_t i = 0; i < N_TAKEN; i++) {
        sigaction(taken[i], &before[i], NULL);
    }
}

bool supervise_interrupted(void) {
    return interrupted != 0;
}

// ---- the folder ---------------------------------------------------------------------------------

static int supervise_make_folder(struct supervisor *s, char *error, size_t error_size) {
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(s->folder, sizeof s->folder, "%s/silken-demo-XXXXXX",
                     tmp && tmp[0] ? tmp : "/tmp");

    if (n < 0 || (size_t)n >= sizeof s->folder || strchr(s->folder, ',')) {
        snprintf(error, error_size,
                 "sockets cannot be made in %s: the name is too long or has a comma; "
                 "set TMPDIR to another folder",
                 tmp);
        return -1;
    }
    if (!mkdtemp(s->folder)) {
        snprintf(error, error_size, "cannot make the folder %s: %s", s->folder, strerror(errno));
        return -1;
    }
    return 0;
}

static int make_logs(struct supervisor *s, const char *keep, char *error, size_t error_size) {
    if (keep && mkdir(keep, 0777) && errno != EEXIST) {
        snprintf(error, error_size, "cannot make the folder %s: %s", keep, strerror(errno));
        return -1;
    }
    s->logs = realpath(keep ? keep : s->folder, NULL);
    if (!s->logs || access(s->logs, W_OK | X_OK)) {
        snprintf(error, error_size, "cannot write to the folder %s: %s", keep, strerror(errno));
        return -1;
    }
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void remove_folder(struct supervisor *s) {
    nftw(s->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    free(s->logs);
    s->logs = NULL;
}

int supervise_begin(struct supervisor *s, const char *keep, char *error, size_t error_size) {
    *s = (struct supervisor){0};
    if (supervise_make_folder(s, error, error_size)) {
        return -1;
    }
    if (make_logs(s, keep, error, error_size)) {
        remove_folder(s);
        return -1;
    }
    supervise_take_signals();
    return 0;
}

// Last started, first stopped.
void supervise_end(struct supervisor *s) {
    for (size_t i = s->n; i-- > 0;) {
        supervise_stop(&s->child[i]);
        free(s->child[i].log);
    }
    s->n = 0;
    remove_folder(s);
    give_signals_back();
}

// ---- starting -----------------------------------------------------------------------------------

static struct child *new_child(struct supervisor *s, const char *name, char *error, size_t size) {
    struct child *c = &s->child[s->n];

    if (s->n == SUPERVISE_MAX) {
        snprintf(error, size, "too many processes");
        return NULL;
    }
    *c = (struct child){0};
    snprintf(c->name, sizeof c->name, "%s", name);
    if (asprintf(&c->log, "%s/%s.log", s->logs, name) < 0) {
        snprintf(error, size, "out of memory");
        return NULL;
    }
    return c;
}

// In the child: cut it loose from the terminal, tie it to the parent.
static void enter_child(const struct child *c, pid_t parent) {
    int in = open("/dev/null", O_RDONLY), out = open(c->log, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) {
        _exit(127);
    }
    close(in);
    close(out);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) { // it died before prctl
        _exit(127);
    }
    for (size_t i = 0; i < N_TAKEN; i++) {
        signal(taken[i], SIG_DFL);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
}

// Returns the child in the parent, and null in the child or on failure, told apart by *pid.
static struct child *supervise_start(struct supervisor *s, const char *name, pid_t *pid,
                                     char *error, size_t error_size) {
    struct child *c = new_child(s, name, error, error_size);
    pid_t parent = getpid();

    *pid = -1;
    if (!c) {
        return NULL;
    }
    fflush(NULL); // else both processes write what is buffered
    *pid = fork();
    if (*pid == 0) {
        enter_child(c, parent);
        return NULL;
    }
    if (*pid < 0) {
        snprintf(error, error_size, "cannot start a process: %s", strerror(errno));
        free(c->log);
        return NULL;
    }
    setpgid(*pid, *pid); // here too: it may be stopped before it gets to run
    c->pid = *pid;
    c->running = true;
    s->n++;
    return c;
}

struct child *supervise_call(struct supervisor *s, const char *name, int (*body)(void *argument),
                             void *argument, char *error, size_t error_size) {
    pid_t pid;
    struct child *c = supervise_start(s, name, &pid, error, error_size);

    if (pid == 0) {
        int status = body(argument);
        fflush(NULL);
        _exit(status);
    }
    return c;
}

struct child *supervise_self(struct supervisor *s, const char *name, char *const argv[],
                             char *error, size_t error_size) {
    pid_t pid;
    struct child *c = supervise_start(s, name, &pid, error, error_size);

    if (pid == 0) {
        execv("/proc/self/exe", argv);
        fprintf(stderr, "cannot run this program again: %s\n", strerror(errno));
        _exit(127);
    }
    return c;
}

// ---- ending -------------------------------------------------------------------------------------

static bool supervise_collect(struct child *c) {
    if (c->running && waitpid(c->pid, &c->status, WNOHANG) == c->pid) {
        c->running = false;
        return true;
    }
    return false;
}

bool supervise_succeeded(const struct child *c) {
    return !c->running && WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
}

struct child *supervise_reap(struct supervisor *s) {
    struct child *bad = NULL;

    for (size_t i = 0; i < s->n; i++) {
        struct child *c = &s->child[i];
        // Of several, the last one started: when a worker goes, the switch's driver may crash over
        // it in the same moment, while workers bear the end of their switch for a long time.
        if (supervise_collect(c) && !supervise_succeeded(c) && !c->stopped) {
            bad = c;
        }
    }
    return bad;
}

static bool supervise_wait_for(struct child *c, unsigned ms) {
    const struct timespec tick = {.tv_nsec = 5000000};

    for (unsigned t = 0; c->running && t < ms; t += 5) {
        if (!supervise_collect(c)) {
            nanosleep(&tick, NULL);
        }
    }
    return !c->running;
}

// To the child's group: what it has started, such as a C compiler, goes with it.
void supervise_stop(struct child *c) {
    c->stopped = true;
    if (!c->running) {
        return;
    }
    kill(-c->pid, SIGTERM);
    if (!supervise_wait_for(c, STOP_WAIT_MS)) {
        kill(-c->pid, SIGKILL);
        while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR) {
        }
        c->running = false;
    }
}

// ---- telling ------------------------------------------------------------------------------------

void supervise_how(const struct child *c, char *buf, size_t size) {
    if (WIFSIGNALED(c->status)) {
        snprintf(buf, size, "was killed by signal %d (%s)", WTERMSIG(c->status),
                 strsignal(WTERMSIG(c->status)));
    } else {
        snprintf(buf, size, "ended with status %d", WEXITSTATUS(c->status));
    }
}

// The last bytes of the log as a string; logs are short or end with what matters.
static void read_end(const char *path, char *buf, size_t size) {
    FILE *f = fopen(path, "r");
    size_t n = 0;

    if (f) {
        if (fseek(f, -(long)(size - 1), SEEK_END)) {
            rewind(f);
        }
        n = fread(buf, 1, size - 1, f);
        fclose(f);
    }
    buf[n] = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char ch = (unsigned char)buf[i];
        buf[i] = ch == '\r' ? '\n' : (char)((ch < 32 && ch != '\n') || ch == 127 ? '.' : ch);
    }
    while (n > 0 && buf[n - 1] == '\n') {
        buf[--n] = 0;
    }
}

void supervise_tail(const struct child *c, unsigned lines, const char *indent, FILE *to) {
    char buf[TAIL_BYTES], *p;

    read_end(c->log, buf, sizeof buf);
    p = buf + strlen(buf);
    while (p > buf && (p[-1] != '\n' || --lines > 0)) {
        p--;
    }
    for (p = strtok(p, "\n"); p; p = strtok(NULL, "\n")) {
        fprintf(to, "%s%s\n", indent, p);
    }
}

bool supervise_find(const struct child *c, const char *words, char *line, size_t size) {
    char buf[TAIL_BYTES];
    bool found = false;

    read_end(c->log, buf, sizeof buf);
    for (char *p = strtok(buf, "\n"); p; p = strtok(NULL, "\n")) {
        p += strspn(p, " ");
        if (strncmp(p, words, strlen(words)) == 0) {
            snprintf(line, size, "%s", p);
            found = true;
        }
    }
    return found;
}
