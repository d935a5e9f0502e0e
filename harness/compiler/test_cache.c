// SPDX-License-Identifier: Apache-2.0
//
// The object cache: what is compiled again, what is refused, what the messages say.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/cache.h"

static char folder[] = "/tmp/silken-test-cache-XXXXXX";
static char *message;
static size_t message_length;

// The object for 'text', or null; what was said is in 'message'.
static char *object(const char *text, const char *dir, const char *output) {
    struct cache_request r = {
        .text = text, .length = strlen(text), .name = "prog", .cache_dir = dir, .output = output};
    free(message);
    message = NULL;
    FILE *f = open_memstream(&message, &message_length);
    char *path = cache_object(&r, f);
    fclose(f);
    return path;
}

static char *in_folder(const char *name) {
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static ino_t inode(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

static void test_same_content_is_compiled_once(void **state) {
    (void)state;
    char *dir = in_folder("a/b");
    char *one = object("int one;\n", dir, NULL);
    assert_non_null(one);
    ino_t first = inode(one);
    char *again = object("int one;\n", dir, NULL), *two = object("int two;\n", dir, NULL);
    assert_string_equal(one, again);
    assert_int_equal(inode(again), first);
    assert_string_not_equal(one, two);
    free(one);
    free(again);
    free(two);
}

static void test_others_may_not_write(void **state) {
    (void)state;
    char *dir = in_folder("shared");
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(chmod(dir, 0777), 0);
    assert_null(object("int x;\n", dir, NULL));
    assert_non_null(strstr(message, "nobody else can write"));
    assert_int_equal(chmod(dir, 0700), 0);
    char *path = object("int x;\n", dir, NULL);
    assert_non_null(path);
    // an object that others could have changed is built anew, not loaded
    ino_t first = inode(path);
    int keeps_the_inode_busy = link(path, in_folder("shared/kept"));
    assert_int_equal(keeps_the_inode_busy, 0);
    assert_int_equal(chmod(path, 0777), 0);
    char *again = object("int x;\n", dir, NULL);
    assert_int_not_equal(inode(again), first);
    free(path);
    free(again);
}

static void test_output(void **state) {
    (void)state;
    char *out = in_folder("out.so");
    char *path = object("int x;\n", NULL, out);
    assert_string_equal(path, out);
    assert_int_equal(access(out, R_OK), 0);
    free(path);
    assert_null(object("int x;\n", NULL, in_folder("no/such/folder/out.so")));
    assert_non_null(strstr(message, "cannot write"));
}

static void test_refused_code_is_kept(void **state) {
    (void)state;
    assert_null(object("int x = ;\n", in_folder("bad"), NULL));
    assert_non_null(strstr(message, "compiler bug"));
    char *kept = strstr(message, folder), *end = kept ? strstr(kept, ".c:") : NULL;
    assert_non_null(end);
    end[2] = '\0';
    assert_int_equal(access(kept, R_OK), 0);
}

// A change of any header that generated code includes makes another object.
static void test_headers(void **state) {
    (void)state;
    char command[512], header[128];
    snprintf(command, sizeof command, "mkdir -p %s/root && cp -r pipeline stages %s/root", folder,
             folder);
    assert_int_equal(system(command), 0);
    setenv("SILKEN_ROOT", in_folder("root"), 1);
    FILE *list = popen("sed -n 's/.*emit_line(e, .#include ..\\(.*h\\)...);/#include \"\\1\"/p' "
                       "compiler/print/emit.c | cc -I. -MM -x c - | tr ' ' '\\n' | "
                       "grep -o '[a-z]*/[a-z_]*[.]h'",
                       "r");
    assert_non_null(list);
    unsigned n = 0;
    for (; fscanf(list, "%127s", header) == 1; n++) {
        char *before = object("int one;\n", in_folder("headers"), NULL);
        snprintf(command, sizeof command, "echo '// changed' >>%s/root/%s", folder, header);
        assert_int_equal(system(command), 0);
        char *after = object("int one;\n", in_folder("headers"), NULL);
        assert_non_null(before);
        assert_non_null(after);
        if (strcmp(before, after) == 0)
            fail_msg("%s is not part of the key", header);
        free(before);
        free(after);
    }
    assert_true(n >= 12);
    pclose(list);
    unsetenv("SILKEN_ROOT");
}

// Who runs without standard input has the same objects: files that are opened then get its number.
static void test_without_standard_input(void **state) {
    (void)state;
    char *one = object("int alone;\n", in_folder("a"), NULL);
    assert_non_null(one);
    const ino_t first = inode(one);
    const int kept = dup(0);
    close(0);
    char *again = object("int alone;\n", in_folder("a"), NULL);
    char *refused = object("int alone = ;\n", in_folder("a"), NULL);
    if (kept >= 0) {
        dup2(kept, 0);
        close(kept);
    }
    assert_non_null(again);
    assert_string_equal(one, again);
    assert_int_equal(inode(again), first);
    assert_null(refused);
    assert_non_null(strstr(message, "error: expected expression"));
    free(one);
    free(again);
}

static void make_work(const char *name, time_t age, mode_t mode) {
    char path[256];
    const struct timespec then = {time(NULL) - age, 0}, times[2] = {then, then};
    snprintf(path, sizeof path, "%s/stale/%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/stale/%s/prog.c", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    snprintf(path, sizeof path, "%s/stale/%s", folder, name);
    assert_int_equal(chmod(path, mode), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

// Of compilations that were killed nothing stays for ever.
static void test_stale_folders(void **state) {
    (void)state;
    const time_t hour = 3600;
    char *dir = in_folder("stale");
    assert_int_equal(mkdir(dir, 0700), 0);
    make_work(".building-oldold", 25 * hour, 0700);
    make_work(".building-newnew", 23 * hour, 0700);
    make_work(".building-shared", 25 * hour, 0777);
    make_work("building-others", 25 * hour, 0700);
    char *path = object("int stale;\n", in_folder("stale"), NULL);
    assert_non_null(path);
    assert_int_equal(access(in_folder("stale/.building-oldold"), F_OK), -1);
    assert_int_equal(access(in_folder("stale/.building-newnew/prog.c"), F_OK), 0);
    assert_int_equal(access(in_folder("stale/.building-shared/prog.c"), F_OK), 0);
    assert_int_equal(access(in_folder("stale/building-others/prog.c"), F_OK), 0);
    free(path);
}

// ---- units ----

static const uint32_t two[] = {1, 2}, other_two[] = {2, 1};

static char *object_of_units(const char *text, const char *dir, const uint32_t *parts) {
    struct cache_request r = {.text = text,
                              .length = strlen(text),
                              .name = "prog",
                              .cache_dir = dir,
                              .parts = parts,
                              .n_parts = 2};
    free(message);
    message = NULL;
    FILE *f = open_memstream(&message, &message_length);
    char *path = cache_object(&r, f);
    fclose(f);
    return path;
}

static unsigned files_in(const char *dir, const char *name) {
    DIR *all = opendir(dir);
    unsigned n = 0;
    assert_non_null(all);
    for (const struct dirent *e; (e = readdir(all));)
        n += e->d_name[0] != '.' || strncmp(e->d_name, name, strlen(name)) == 0;
    closedir(all);
    return n;
}

#define TWO_UNITS                                                                                  \
    "int one(void);\n"                                                                             \
    "#if SK_PARTS & 1\n"                                                                           \
    "__attribute__((visibility(\"default\"))) int both(void) { return one() + 1; }\n"              \
    "#endif\n"                                                                                     \
    "#if SK_PARTS & 2\n"                                                                           \
    "int one(void) { return 41; }\n"                                                               \
    "#endif\n"

static void test_units_are_one_object(void **state) {
    (void)state;
    char *dir = in_folder("units"), *path = object_of_units(TWO_UNITS, dir, two);
    assert_non_null(path);
    void *handle = dlopen(path, RTLD_NOW);
    assert_non_null(handle);
    int (*const both)(void) = (int (*)(void))dlsym(handle, "both");
    assert_non_null(both);
    assert_int_equal(both(), 42);
    dlclose(handle);
    assert_int_equal(files_in(dir, ".building"), 1); // the object alone
    char *again = object_of_units(TWO_UNITS, dir, two),
         *other = object_of_units(TWO_UNITS, dir, other_two);
    assert_string_equal(path, again);
    assert_string_not_equal(path, other); // how the text is cut is in the key
    free(path);
    free(again);
    free(other);
}

static void test_units_have_one_error(void **state) {
    (void)state;
    char *dir = in_folder("bad-units");
    assert_null(
        object_of_units("#if SK_PARTS & 1\nint x = first;\n#else\nint y = ;\n#endif\n", dir, two));
    char *said = strstr(message, "compiler bug");
    assert_non_null(said);
    assert_null(strstr(said + 1, "compiler bug"));
    assert_non_null(strstr(message, "first"));
    char *kept = strstr(message, folder), *end = kept ? strstr(kept, ".c:") : NULL;
    assert_non_null(end);
    end[2] = '\0';
    assert_int_equal(access(kept, R_OK), 0);
    *strrchr(kept, '/') = '\0';
    assert_int_equal(files_in(kept, ".none"), 1); // the text alone
    free(object_of_units("int linked(void);\n#if SK_PARTS & 1\nint x;\n#endif\n", dir, two));
    assert_string_equal(message, "");
}

// ---- what the C compiler leaves ----

static void stop_at_alarm(int number) {
    (void)number;
    cache_stop();
}

static void with_compiler(const char *script, void (*check)(void)) {
    char *old = getenv("CC") ? strdup(getenv("CC")) : NULL, *path = in_folder("script-cc");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\ncase \" $* \" in *' --version '*) exec cc --version;; esac\n%s\n",
            script);
    assert_int_equal(fchmod(fileno(f), 0700), 0);
    fclose(f);
    setenv("CC", path, 1);
    check();
    if (old)
        setenv("CC", old, 1);
    else
        unsetenv("CC");
    free(old);
}

static void killed_compiler(void) {
    char *dir = in_folder("killed");
    assert_null(object("int z;\n", dir, NULL));
    char *kept = strstr(message, folder), *end = kept ? strstr(kept, ".c:") : NULL;
    assert_non_null(end);
    *end = '\0';
    *strrchr(kept, '/') = '\0';
    assert_int_equal(files_in(kept, ".none"), 1);
}

// Temporary files of a C compiler that could not remove them.
static void test_temporary_files(void **state) {
    (void)state;
    with_compiler("echo x >$TMPDIR/ccleft.s; kill -KILL $$", killed_compiler);
}

static void make_work_of(long pid) {
    char name[64];
    snprintf(name, sizeof name, ".building-%ld-abcdef", pid);
    make_work(name, 0, 0700);
}

static void test_clean_after(void **state) {
    (void)state;
    setenv("SILKEN_CACHE", in_folder("stale"), 1);
    make_work_of(123);
    make_work_of(1234);
    cache_clean_after(123);
    assert_int_equal(access(in_folder("stale/.building-123-abcdef"), F_OK), -1);
    assert_int_equal(access(in_folder("stale/.building-1234-abcdef/prog.c"), F_OK), 0);
    unsetenv("SILKEN_CACHE");
}

// In a process of its own, whose C compiler does not end by itself.
static void stopped_compiler(void) {
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char *dir = in_folder("stopped");
        signal(SIGALRM, stop_at_alarm);
        alarm(1);
        const bool silent = !object("int w;\n", dir, NULL) && !*message;
        _exit(silent && files_in(dir, ".building") == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_stop(void **state) {
    (void)state;
    assert_false(cache_stop());
    with_compiler("exec sleep 100", stopped_compiler);
}

// How often the C compiler was told this, of an object that has not been compiled before.
static unsigned times_told(const char *flag, const char *text, const char *march) {
    struct cache_request r = {.text = text,
                              .length = strlen(text),
                              .name = "prog",
                              .cache_dir = in_folder("tuned"),
                              .march = march};
    char line[4096];
    unsigned n = 0;
    remove(in_folder("told"));
    free(cache_object(&r, stderr));
    FILE *f = fopen(in_folder("told"), "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        n += strstr(line, flag) != NULL;
    fclose(f);
    return n;
}

static void tuned_for_this_machine(void) {
    const unsigned of_amd = __builtin_cpu_is("amd") ? 1 : 0;
    assert_int_equal(times_told("-march=native", "int tuned;\n", NULL), 1);
    assert_int_equal(times_told("-mtune=", "int tuned2;\n", NULL), of_amd);
    assert_int_equal(times_told("-mtune=", "int tuned3;\n", "x86-64-v2"), 0);
}

// GCC's own tuning for AMD's processors keeps integers in vector registers.
static void test_tuning(void **state) {
    (void)state;
    char script[256];
    snprintf(script, sizeof script, "echo \" $* \" >>%s; exec cc \"$@\"", in_folder("told"));
    with_compiler(script, tuned_for_this_machine);
}

static void test_no_compiler(void **state) {
    (void)state;
    char *old = getenv("CC") ? strdup(getenv("CC")) : NULL;
    setenv("CC", "/no/such/compiler -x", 1);
    assert_null(object("int y;\n", in_folder("a"), NULL));
    assert_non_null(strstr(message, "install one or set CC"));
    if (old)
        setenv("CC", old, 1);
    else
        unsetenv("CC");
    free(old);
}

int main(void) {
    assert_non_null(mkdtemp(folder));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_content_is_compiled_once),
        cmocka_unit_test(test_others_may_not_write),
        cmocka_unit_test(test_output),
        cmocka_unit_test(test_refused_code_is_kept),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_without_standard_input),
        cmocka_unit_test(test_stale_folders),
        cmocka_unit_test(test_units_are_one_object),
        cmocka_unit_test(test_units_have_one_error),
        cmocka_unit_test(test_temporary_files),
        cmocka_unit_test(test_clean_after),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_tuning),
        cmocka_unit_test(test_no_compiler),
    };
    int failed = cmocka_run_group_tests_name("cache", tests, NULL, NULL);
    free(message);
    char clean[64];
    snprintf(clean, sizeof clean, "rm -rf %s", folder);
    return system(clean) ? 1 : failed;
}
