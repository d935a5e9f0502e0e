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
#include <sha2.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/base/share.h"

extern char **environ;

#define MAX_ARGS 64
#define WORK     ".building-" // folders that objects are built in
#define STALE_S  (24 * 60 * 60)

// All that generated code includes, directly or not (harness/compiler/test_cache.c).
static const char *const included[] = {
    "pipeline/abi.h",      "pipeline/checked.h", "pipeline/hop.h",    "pipeline/prefix.h",
    "pipeline/trace.h",    "stages/bits.h",      "stages/checksum.h", "stages/dynhash.h",
    "stages/hash.h",       "stages/mathunit.h",  "stages/meter.h",    "stages/notes.h",
    "stages/parse.h",      "stages/selector.h",  "stages/state.h",    "stages/table.h",
    "stages/table_impl.h", "stages/wide.h",
};
static const char *const flags[] = {
    "-std=gnu17",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-fno-semantic-interposition",
    "-Wno-unknown-pragmas",
};
// Where there are vectors of 512 bits, they are what slots of registers are made for.
static const char *const fast_flags[] = {"-O3", "-mprefer-vector-width=512",
                                         "-fno-tree-slp-vectorize", NULL};
static const char *const scalar_flags[] = {"-O3", "-fno-tree-vectorize", NULL};
static const char *const checked_flags[] = {"-O1", NULL}; // larger, and compiled to be looked at
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

static void push_flags(struct command *c, const struct cache_request *r) {
    c->march = cache_print("-march=%s", r->march ? r->march : "native");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        cache_push(c, flags[i]);
    cache_push(c, c->march);
    const char *const *more = r->sanitize  ? sanitize_flags
                              : r->checked ? checked_flags
                              : r->scalar  ? scalar_flags
                                           : fast_flags;
    for (; *more; more++)
        cache_push(c, *more);
}

// Runs the command with its output (and error output) into 'fd'; its exit status, or -1.
static int cache_run(struct command *c, int fd, FILE *messages) {
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    c->argv[c->n] = NULL;
    posix_spawn_file_actions_init(&actions);
    // 'fd' is 0 when standard input is closed: so that is taken last, or what is said would be
    // lost, the C compiler's version in the key with it.
    posix_spawn_file_actions_adddup2(&actions, fd, 1);
    posix_spawn_file_actions_adddup2(&actions, fd, 2);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    int error = posix_spawnp(&pid, c->argv[0], &actions, NULL, (char **)c->argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        fprintf(messages,
                "silken: error: cannot run the C compiler '%s': %s; install one or set CC\n",
                c->argv[0], strerror(error));
        return -1;
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
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
    start_command(&c);
    cache_push(&c, "--version");
    const int status = version ? cache_run(&c, fileno(version), messages) : -1;
    bool ok = status == 0;
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
    free(c.cc);
    free(c.march);
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

// Runs the C compiler over c_path; false after a message that names the kept file.
static bool compile_c(const struct cache_request *r, const char *c_path, const char *so_path,
                      FILE *messages) {
    struct command c;
    FILE *output = tmpfile();
    char *headers = silken_share_path("");
    start_command(&c);
    push_flags(&c, r);
    cache_push(&c, "-I");
    cache_push(&c, headers);
    cache_push(&c, "-o");
    cache_push(&c, so_path);
    cache_push(&c, c_path);
    int status = output ? cache_run(&c, fileno(output), messages) : -1;
    if (status > 0 && cache_lacks_memory(output)) {
        fprintf(messages,
                "silken: error: the C compiler has not enough memory for the code generated from "
                "%s\n",
                r->name);
    } else if (status > 0) {
        fprintf(messages,
                "silken: compiler bug: the C compiler refuses the code generated from %s, which is "
                "kept in "
                "%s:\n",
                r->name, c_path);
        cache_copy_lines(output, messages, 20);
    }
    if (output)
        fclose(output);
    free(headers);
    free(c.cc);
    free(c.march);
    return status == 0;
}

// A device or a FIFO would be gone when a file takes its place.
static bool can_be_replaced(const char *path, FILE *messages) {
    struct stat st;
    if (lstat(path, &st) != 0 || S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
        return true;
    fprintf(messages, "silken: error: cannot write %s: it is not a regular file\n", path);
    return false;
}

// What a compilation that was killed has left, or C text that was kept, is removed after a day.
static void cache_remove_stale(const char *folder) {
    const time_t old = time(NULL) - STALE_S;
    DIR *all = opendir(folder), *one;
    struct stat st;
    for (const struct dirent *e; all && (e = readdir(all));) {
        char *path = cache_print("%s/%s", folder, e->d_name);
        if (strncmp(e->d_name, WORK, sizeof WORK - 1) == 0 && lstat(path, &st) == 0 &&
            S_ISDIR(st.st_mode) && is_private(&st) && st.st_mtime < old && (one = opendir(path))) {
            for (const struct dirent *f; (f = readdir(one));)
                unlinkat(dirfd(one), f->d_name, 0); // "." and ".." are no files
            closedir(one);
            rmdir(path);
        }
        free(path);
    }
    if (all)
        closedir(all);
}

// Builds the object in a folder of its own inside 'folder', then renames it to 'path'.
static bool cache_build(const struct cache_request *r, const char *folder, const char *path,
                        FILE *messages) {
    if (!can_be_replaced(path, messages))
        return false;
    char *work = cache_print("%s/" WORK "XXXXXX", folder);
    if (!mkdtemp(work)) {
        fprintf(messages, "silken: error: cannot write to %s: %s\n", folder, strerror(errno));
        free(work);
        return false;
    }
    char *c_path = cache_print("%s/%s.c", work, r->name),
         *so_path = cache_print("%s/%s.so", work, r->name);
    bool written = write_text(c_path, r->text, r->length);
    bool ok = written && compile_c(r, c_path, so_path, messages);
    if (!written)
        fprintf(messages, "silken: error: cannot write %s: %s\n", c_path, strerror(errno));
    // nobody but the user may write what will be run, whatever the umask
    if (ok && (chmod(so_path, 0755) != 0 || rename(so_path, path) != 0)) {
        fprintf(messages, "silken: error: cannot write %s: %s\n", path, strerror(errno));
        ok = false;
    }
    if (ok || !written)
        unlink(c_path);
    unlink(so_path);
    rmdir(work); // stays when the C text is kept
    free(c_path);
    free(so_path);
    free(work);
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
