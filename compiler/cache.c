// SPDX-License-Identifier: Apache-2.0
//
// cache: from generated C to a loadable object. See cache.h.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // mkdtemp, asprintf
#endif
#include "compiler/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sha2.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/base/share.h"

extern char **environ;

#define MAX_ARGS        64
#define WORK            ".building-" // folders that objects are built in
#define STALE_S         (24 * 60 * 60)
#define CACHE_MAX_UNITS 8u

// All that generated code includes, directly or not (harness/compiler/test_cache.c).
static const char *const included[] = {
    "pipeline/abi.h",   "pipeline/checked.h",  "pipeline/hop.h",    "pipeline/prefix.h",
    "pipeline/trace.h", "stages/bits.h",       "stages/checksum.h", "stages/dynhash.h",
    "stages/hash.h",    "stages/mathunit.h",   "stages/meter.h",    "stages/notes.h",
    "stages/numbers.h", "stages/parse.h",      "stages/selector.h", "stages/state.h",
    "stages/table.h",   "stages/table_impl.h", "stages/wide.h",
};
static const char *const flags[] = {
    "-std=gnu17",
    "-fPIC",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-fno-semantic-interposition",
    "-Wno-unknown-pragmas",
};
// Where there are vectors of 512 bits, they are what slots of registers are made for. GCC takes a
// block for cold when it guesses that a thousandth of the calls reach it, as it does of what a
// program does after a dozen conditions, and does not unroll loops there: but that is what the
// program is about. The second option puts that limit where it does not matter.
static const char *const fast_flags[] = {"-O3",
                                         "-mprefer-vector-width=512",
                                         "-fno-tree-slp-vectorize",
                                         "--param=hot-bb-frequency-fraction=1000000",
                                         "-Wno-unused-command-line-argument",
                                         NULL};
static const char *const scalar_flags[] = {"-O3", "-fno-tree-vectorize", NULL};
static const char *const checked_flags[] = {"-O1", NULL}; // larger, and compiled to be looked at
// Of so much text the parser alone is a function in which passes take time by the square.
static const char *const large_checked_flags[] = {"-O0", NULL};
#define LARGE_TEXT ((size_t)2 << 20)
static const char *const sanitize_flags[] = {"-Og", "-g1", "-fsanitize=address,undefined",
                                             "-fno-sanitize-recover=undefined", NULL};

static char *cache_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *cache_print(const char *fmt, ...) {
    char *s;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        abort(); // out of memory
    va_end(ap);
    return s;
}

// --------------------------------------------------------------------------------------------
// The C compiler's command line. $CC may hold options: it is split at spaces, without a shell.

struct command {
    char *cc; // storage of the split $CC
    char *march;
    const char *argv[MAX_ARGS];
    size_t n;
};

static void cache_push(struct command *c, const char *arg) {
    if (c->n + 1 < MAX_ARGS)
        c->argv[c->n++] = arg;
}

static void start_command(struct command *c) {
    const char *cc = getenv("CC");
    *c = (struct command){.cc = cache_print("%s", cc && *cc ? cc : "cc")};
    char *save = NULL;
    for (char *w = strtok_r(c->cc, " \t", &save); w; w = strtok_r(NULL, " \t", &save))
        cache_push(c, w);
    if (c->n == 0)
        cache_push(c, "cc");
}

// GCC 12 takes a Zen's vector registers for the cheapest place of an integer that finds no register
// of its own, which on the processor they are not: the ways there and back are instructions, while
// the stack is memory that a Zen renames. By Ice Lake's costs it uses the stack.
static bool is_tuned_badly(const struct cache_request *r) {
#ifdef __x86_64__
    return !r->march && !r->checked && !r->sanitize && __builtin_cpu_is("amd");
#else
    (void)r;
    return false;
#endif
}

static void push_flags(struct command *c, const struct cache_request *r) {
    c->march = cache_print("-march=%s", r->march ? r->march : "native");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        cache_push(c, flags[i]);
    cache_push(c, c->march);
    if (is_tuned_badly(r))
        cache_push(c, "-mtune=icelake-server");
    const bool large = r->checked && r->length > LARGE_TEXT;
    const char *const *more = r->sanitize  ? sanitize_flags
                              : large      ? large_checked_flags
                              : r->checked ? checked_flags
                              : r->scalar  ? scalar_flags
                                           : fast_flags;
    for (; *more; more++)
        cache_push(c, *more);
}

static void end_command(struct command *c) {
    free(c->cc);
    free(c->march);
}

// ---- processes that run, and how a signal's handler ends them ----

#define MAX_RUNNING 64u // without a place here one runs to its end

static atomic_int running[MAX_RUNNING]; // process ids; 0: free
static atomic_int n_builds;             // compilations that have begun and not ended
static atomic_bool stopped;

static atomic_int *running_add(pid_t pid) {
    for (unsigned i = 0; i < MAX_RUNNING; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&running[i], &none, (int)pid))
            return &running[i];
    }
    return NULL;
}

bool cache_stop(void) {
    if (n_builds == 0)
        return false;
    stopped = true;
    for (unsigned i = 0; i < MAX_RUNNING; i++)
        if (running[i])
            kill(running[i], SIGTERM);
    return true;
}

// Its exit status; -1 and the error. Its number is not another's as long as it is in the list.
static int cache_wait(pid_t pid, int *error) {
    atomic_int *const place = running_add(pid);
    siginfo_t info;
    int status;
    if (stopped)
        kill(pid, SIGTERM);
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
        continue;
    if (place)
        *place = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) {
            *error = errno;
            return -1;
        }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// Runs the command with its output (and error output) into 'fd'; its exit status, or -1 and what
// is wrong in '*error'. On any thread.
static int cache_run(struct command *c, int fd, char **environment, int *error) {
    posix_spawn_file_actions_t actions;
    pid_t pid;
    c->argv[c->n] = NULL;
    posix_spawn_file_actions_init(&actions);
    // 'fd' is 0 when standard input is closed: so that is taken last, or what is said would be
    // lost, the C compiler's version in the key with it.
    posix_spawn_file_actions_adddup2(&actions, fd, 1);
    posix_spawn_file_actions_adddup2(&actions, fd, 2);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    *error = posix_spawnp(&pid, c->argv[0], &actions, NULL, (char **)c->argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    return *error ? -1 : cache_wait(pid, error);
}

static void cache_say_not_run(const struct command *c, int error, FILE *messages) {
    fprintf(messages, "silken: error: cannot run the C compiler '%s': %s; install one or set CC\n",
            c->argv[0], strerror(error));
}

// --------------------------------------------------------------------------------------------
// The key.

static void cache_add_text(SHA2_CTX *sha, const char *s) {
    SHA256Update(sha, (const uint8_t *)s, strlen(s) + 1);
}

static bool cache_add_file(SHA2_CTX *sha, FILE *f) {
    uint8_t block[8192];
    size_t n;
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        SHA256Update(sha, block, n);
    return !ferror(f);
}

static bool add_headers(SHA2_CTX *sha, FILE *messages) {
    for (size_t i = 0; i < sizeof included / sizeof *included; i++) {
        char *path = silken_share_path(included[i]);
        FILE *f = fopen(path, "re");
        bool ok = f && cache_add_file(sha, f);
        if (!ok)
            fprintf(messages,
                    "silken: error: cannot read %s, which compiled programs include: %s; set "
                    "SILKEN_ROOT "
                    "to the folder that holds Silken's headers\n",
                    path, strerror(errno));
        if (f)
            fclose(f);
        free(path);
        if (!ok)
            return false;
    }
    return true;
}

// -march=native makes another object on another processor.
static void add_processor(SHA2_CTX *sha) {
    FILE *f = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t cap = 0;
    bool model = false, features = false;
    while (f && (!model || !features) && getline(&line, &cap, f) > 0) {
        bool is_model = strncmp(line, "model name", 10) == 0;
        bool is_features = strncmp(line, "flags", 5) == 0;
        if (is_model || is_features)
            cache_add_text(sha, line);
        model |= is_model;
        features |= is_features;
    }
    free(line);
    if (f)
        fclose(f);
}

static bool add_compiler(SHA2_CTX *sha, const struct cache_request *r, FILE *messages) {
    struct command c;
    FILE *version = tmpfile();
    int error = errno;
    start_command(&c);
    cache_push(&c, "--version");
    const int status = version ? cache_run(&c, fileno(version), environ, &error) : -1;
    bool ok = status == 0;
    if (status < 0)
        cache_say_not_run(&c, error, messages);
    if (status > 0)
        fprintf(messages,
                "silken: error: the C compiler '%s' does not tell its version (status %d)\n", c.cc,
                status);
    if (version) {
        rewind(version);
        ok = cache_add_file(sha, version) && ok;
        fclose(version);
    }
    c.n--;
    push_flags(&c, r);
    for (size_t i = 0; i < c.n; i++)
        cache_add_text(sha, c.argv[i]);
    end_command(&c);
    for (size_t i = 0; i < r->n_parts; i++)
        SHA256Update(sha, (const uint8_t *)&r->parts[i], sizeof r->parts[i]);
    return ok;
}

static bool make_key(const struct cache_request *r, char key[2 * SHA256_DIGEST_LENGTH + 1],
                     FILE *messages) {
    SHA2_CTX sha;
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256Init(&sha);
    SHA256Update(&sha, (const uint8_t *)r->text, r->length);
    if (!add_headers(&sha, messages) || !add_compiler(&sha, r, messages))
        return false;
    add_processor(&sha);
    SHA256Final(digest, &sha);
    for (size_t i = 0; i < sizeof digest; i++)
        sprintf(key + 2 * i, "%02x", digest[i]);
    return true;
}

// --------------------------------------------------------------------------------------------
// The folder.

static bool is_private(const struct stat *st) {
    return st->st_uid == geteuid() && (st->st_mode & 022) == 0;
}

// Makes the folder and those above it; the message is the caller's.
static bool cache_make_folder(const char *path) {
    char *p = cache_print("%s", path);
    for (char *c = p + 1; *c; c++) {
        if (*c != '/')
            continue;
        *c = '\0';
        mkdir(p, 0700);
        *c = '/';
    }
    bool ok = mkdir(p, 0700) == 0 || errno == EEXIST;
    free(p);
    return ok;
}

// True when objects from 'path' may be run. Says why not in '*why' (malloc'ed).
static bool folder_usable(const char *path, char **why) {
    struct stat st;
    bool made = cache_make_folder(path);
    if (!made || stat(path, &st) != 0) {
        *why = cache_print("cannot create the cache folder %s: %s", path, strerror(errno));
        return false;
    }
    if (!S_ISDIR(st.st_mode) || !is_private(&st)) {
        *why =
            cache_print("the cache folder %s must be a folder of yours that nobody else can write "
                        "(chmod 700)",
                        path);
        return false;
    }
    if (access(path, W_OK | X_OK) != 0) {
        *why = cache_print("cannot write to the cache folder %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

static char *environment_folder(const char *variable, const char *below) {
    const char *s = getenv(variable);
    return s && *s == '/' ? cache_print("%s%s", s, below) : NULL;
}

// A folder that was asked for has to do; of the usual ones the first that does is taken.
static char *choose_folder(const char *wanted, FILE *messages) {
    const char *env = getenv("SILKEN_CACHE");
    const char *given = wanted ? wanted : env && *env ? env : NULL;
    char *why = NULL;
    if (given) {
        if (folder_usable(given, &why))
            return cache_print("%s", given);
        fprintf(messages, "silken: error: %s\n", why);
        free(why);
        return NULL;
    }
    char *temporary = environment_folder("TMPDIR", "");
    char *candidates[] = {
        environment_folder("XDG_CACHE_HOME", "/silken"),
        environment_folder("HOME", "/.cache/silken"),
        cache_print("%s/silken-%u", temporary ? temporary : "/tmp", (unsigned)geteuid()),
    };
    char *chosen = NULL;
    for (size_t i = 0; i < 3; i++) {
        if (!chosen && candidates[i]) {
            free(why);
            why = NULL;
            if (folder_usable(candidates[i], &why)) {
                chosen = candidates[i];
                continue;
            }
        }
        free(candidates[i]);
    }
    if (!chosen)
        fprintf(messages, "silken: error: %s; set SILKEN_CACHE to a folder\n", why);
    free(why);
    free(temporary);
    return chosen;
}

static bool object_usable(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && is_private(&st) && st.st_size > 0;
}

// --------------------------------------------------------------------------------------------
// Building.

static bool write_text(const char *path, const char *text, size_t length) {
    FILE *f = fopen(path, "wxe");
    if (!f)
        return false;
    bool ok = fwrite(text, 1, length, f) == length;
    return fclose(f) == 0 && ok;
}

static void cache_copy_lines(FILE *from, FILE *to, unsigned most) {
    char line[512];
    rewind(from);
    while (most-- > 0 && fgets(line, sizeof line, from))
        fprintf(to, "    %s", line);
}

// Whether what the C compiler said is that it has no memory.
static bool cache_lacks_memory(FILE *said) {
    static const char *const words[] = {"out of memory", "memory exhausted",
                                        "annot allocate memory"};
    char line[512];
    bool lacks = false;
    rewind(said);
    while (fgets(line, sizeof line, said))
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            lacks |= strstr(line, words[i]) != NULL;
    return lacks;
}

// ---- the C compiler, over each unit ----
//
// Units are compiled side by side, on as many processors as this thread may use, and linked. All
// that the C compiler writes is in the compilation's own folder, its temporary files with the rest:
// whoever kills it, nothing stays anywhere else.

struct build {
    const struct cache_request *r;
    const char *work; // the folder
    char *c_path, *so_path;
    char *headers;
    char *temporary; // "TMPDIR=" and the folder
    char **environment;
    size_t n;
    struct unit_run {
        char *o_path;
        FILE *output;
        int status, error;
    } units[CACHE_MAX_UNITS];
    atomic_size_t next; // unit to compile
    atomic_bool failed;
};

// This process's environment but for the folder of temporary files.
static char **cache_environment(char *temporary) {
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **all = calloc(n + 2, sizeof *all);
    if (!all)
        abort();
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) != 0)
            all[kept++] = environ[i];
    all[kept] = temporary;
    return all;
}

static void build_begin(struct build *b, const struct cache_request *r, const char *work) {
    *b = (struct build){.r = r, .work = work, .n = r->n_parts > 1 ? r->n_parts : 0};
    if (b->n > CACHE_MAX_UNITS)
        abort();
    b->c_path = cache_print("%s/%s.c", work, r->name);
    b->so_path = cache_print("%s/%s.so", work, r->name);
    b->headers = silken_share_path("");
    b->temporary = cache_print("TMPDIR=%s", work);
    b->environment = cache_environment(b->temporary);
    for (size_t i = 0; i < b->n; i++)
        b->units[i].o_path = cache_print("%s/%s-%zu.o", work, r->name, i);
}

static void build_end(struct build *b) {
    for (size_t i = 0; i < b->n; i++) {
        if (b->units[i].output)
            fclose(b->units[i].output);
        free(b->units[i].o_path);
    }
    free(b->c_path);
    free(b->so_path);
    free(b->headers);
    free(b->temporary);
    free((void *)b->environment);
}

static int build_run(struct build *b, struct command *c, FILE **output, int *error) {
    *output = tmpfile();
    *error = errno;
    return *output ? cache_run(c, fileno(*output), b->environment, error) : -1;
}

static void build_unit(struct build *b, size_t i) {
    struct unit_run *const u = &b->units[i];
    struct command c;
    char *parts = cache_print("-DSK_PARTS=0x%x", b->r->parts[i]);
    start_command(&c);
    push_flags(&c, b->r);
    const char *const more[] = {"-c", parts, "-I", b->headers, "-o", u->o_path, b->c_path};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        cache_push(&c, more[k]);
    u->status = build_run(b, &c, &u->output, &u->error);
    if (u->status != 0)
        b->failed = true;
    end_command(&c);
    free(parts);
}

// After a failure no more are begun: the first one that failed is always among those that were.
static void *build_units(void *aux) {
    struct build *const b = aux;
    for (size_t i; !b->failed && !stopped && (i = b->next++) < b->n;)
        build_unit(b, i);
    return NULL;
}

static size_t cache_processors(void) {
    cpu_set_t set;
    const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n > 1 ? (size_t)n : 1;
}

// A thread that cannot be had is done without.
static void build_all_units(struct build *b) {
    pthread_t threads[CACHE_MAX_UNITS];
    const size_t most = cache_processors();
    size_t n = 0;
    while (n + 1 < b->n && n + 1 < most && !pthread_create(&threads[n], NULL, build_units, b))
        n++;
    build_units(b);
    while (n > 0)
        pthread_join(threads[--n], NULL);
}

static bool build_tell(const struct build *b, int status, int error, FILE *output, FILE *messages) {
    if (stopped)
        return false;
    if (status < 0) {
        struct command c;
        start_command(&c);
        cache_say_not_run(&c, error, messages);
        end_command(&c);
    } else if (status > 0 && cache_lacks_memory(output)) {
        fprintf(messages,
                "silken: error: the C compiler has not enough memory for the code generated from "
                "%s\n",
                b->r->name);
    } else if (status > 0) {
        fprintf(messages,
                "silken: compiler bug: the C compiler refuses the code generated from %s, which is "
                "kept in "
                "%s:\n",
                b->r->name, b->c_path);
        cache_copy_lines(output, messages, 20);
    }
    return status == 0;
}

// The whole text, or the objects of its units, to one object.
static bool build_object(struct build *b, FILE *messages) {
    struct command c;
    FILE *output;
    int error;
    start_command(&c);
    push_flags(&c, b->r);
    const char *const more[] = {"-shared", "-I", b->headers, "-o", b->so_path};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        cache_push(&c, more[i]);
    if (b->n == 0)
        cache_push(&c, b->c_path);
    for (size_t i = 0; i < b->n; i++)
        cache_push(&c, b->units[i].o_path);
    const int status = build_run(b, &c, &output, &error);
    const bool ok = build_tell(b, status, error, output, messages);
    if (output)
        fclose(output);
    end_command(&c);
    return ok;
}

// Runs the C compiler over the text; false after a message that names the kept file.
static bool compile_c(struct build *b, FILE *messages) {
    build_all_units(b);
    if (stopped)
        return false;
    for (size_t i = 0; i < b->n; i++) {
        const struct unit_run *u = &b->units[i];
        if (!build_tell(b, u->status, u->error, u->output, messages))
            return false;
    }
    return build_object(b, messages);
}

// A device or a FIFO would be gone when a file takes its place.
static bool can_be_replaced(const char *path, FILE *messages) {
    struct stat st;
    if (lstat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
        return true;
    fprintf(messages, "silken: error: cannot write %s: it is not a regular file\n", path);
    return false;
}

// Removes a folder that was worked in, or what is in it but for 'kept' (null: nothing is).
static void cache_remove_work(const char *work, const char *kept) {
    DIR *all = opendir(work);
    const char *name = kept ? strrchr(kept, '/') + 1 : "";
    for (const struct dirent *e; all && (e = readdir(all));)
        if (strcmp(e->d_name, name) != 0)
            unlinkat(dirfd(all), e->d_name, 0); // "." and ".." are no files
    if (all)
        closedir(all);
    if (!kept)
        rmdir(work);
}

// Removes the folders in 'folder' whose names begin so and that nothing was done in since 'before'.
static void cache_remove_works(const char *folder, const char *prefix, time_t before) {
    DIR *all = opendir(folder);
    struct stat st;
    for (const struct dirent *e; all && (e = readdir(all));) {
        char *path = cache_print("%s/%s", folder, e->d_name);
        if (strncmp(e->d_name, prefix, strlen(prefix)) == 0 && lstat(path, &st) == 0 &&
            S_ISDIR(st.st_mode) && is_private(&st) && st.st_mtime < before)
            cache_remove_work(path, NULL);
        free(path);
    }
    if (all)
        closedir(all);
}

// What a compilation that was killed has left, or C text that was kept, is removed after a day.
static void cache_remove_stale(const char *folder) {
    cache_remove_works(folder, WORK, time(NULL) - STALE_S);
}

// Builds the object in a folder of its own inside 'folder', then renames it to 'path'.
static bool cache_build(const struct cache_request *r, const char *folder, const char *path,
                        FILE *messages) {
    if (!can_be_replaced(path, messages))
        return false;
    n_builds++;
    char *work = cache_print("%s/" WORK "%ld-XXXXXX", folder, (long)getpid());
    if (!mkdtemp(work)) {
        fprintf(messages, "silken: error: cannot write to %s: %s\n", folder, strerror(errno));
        free(work);
        n_builds--;
        return false;
    }
    struct build b;
    build_begin(&b, r, work);
    bool written = write_text(b.c_path, r->text, r->length);
    bool ok = written && compile_c(&b, messages);
    if (!written)
        fprintf(messages, "silken: error: cannot write %s: %s\n", b.c_path, strerror(errno));
    const bool refused = written && !ok && !stopped;
    // nobody but the user may write what will be run, whatever the umask
    if (ok && (chmod(b.so_path, 0755) != 0 || rename(b.so_path, path) != 0)) {
        fprintf(messages, "silken: error: cannot write %s: %s\n", path, strerror(errno));
        ok = false;
    }
    cache_remove_work(work, refused ? b.c_path : NULL);
    build_end(&b);
    free(work);
    n_builds--;
    return ok;
}

static char *cache_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return cache_print(".");
    return slash == path ? cache_print("/") : cache_print("%.*s", (int)(slash - path), path);
}

static char *build_output(const struct cache_request *r, FILE *messages) {
    char *folder = cache_folder_of(r->output);
    bool ok = cache_build(r, folder, r->output, messages);
    free(folder);
    return ok ? cache_print("%s", r->output) : NULL;
}

char *cache_object(const struct cache_request *r, FILE *messages) {
    char key[2 * SHA256_DIGEST_LENGTH + 1];
    if (r->output)
        return build_output(r, messages);
    char *folder = choose_folder(r->cache_dir, messages);
    if (!folder)
        return NULL;
    char *path = NULL;
    if (make_key(r, key, messages)) {
        path = cache_print("%s/%s-%s.so", folder, r->name, key);
        if (!object_usable(path)) {
            cache_remove_stale(folder);
            if (!cache_build(r, folder, path, messages)) {
                free(path);
                path = NULL;
            }
        }
    }
    free(folder);
    return path;
}

void cache_clean_after(pid_t pid) {
    FILE *unheard = fopen("/dev/null", "we");
    char *folder = unheard ? choose_folder(NULL, unheard) : NULL;
    char *prefix = cache_print(WORK "%ld-", (long)pid);
    if (folder)
        cache_remove_works(folder, prefix, time(NULL) + STALE_S);
    if (unheard)
        fclose(unheard);
    free(prefix);
    free(folder);
}
