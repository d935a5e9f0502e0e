// SPDX-License-Identifier: Apache-2.0
//
// Children of the demo: good ends, bad ends, stubborn ones, their last words, and nothing left
// behind.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/demo/supervise.h"

static int body_fine(void *argument) {
    (void)argument;
    return 0;
}

static int body_fails(void *argument) {
    for (int i = 1; i <= 9; i++) {
        fprintf(stderr, "line %d %s\n", i, (const char *)argument);
    }
    fprintf(stderr, "red: \033[31m\n\n");
    return 3;
}

static int body_crashes(void *argument) {
    (void)argument;
    signal(SIGABRT, SIG_DFL);
    kill(getpid(), SIGABRT);
    return 0;
}

static int body_stays(void *argument) {
    (void)argument;
    while (pause() < 0) {
    }
    return 0;
}

static int body_will_not_go(void *argument) {
    signal(SIGTERM, SIG_IGN);
    return body_stays(argument);
}

// Starts a process of its own and writes its number to the log.
static int body_has_a_child(void *argument) {
    pid_t pid = fork();

    if (pid > 0) {
        printf("%d\n", (int)pid);
        fflush(stdout);
    }
    return body_stays(argument);
}

static void begin(struct supervisor *s) {
    char error[256];

    if (supervise_begin(s, NULL, error, sizeof error)) {
        fail_msg("%s", error);
    }
}

static struct child *call(struct supervisor *s, const char *name, int (*body)(void *)) {
    char error[256], word[] = "of many";
    struct child *c = supervise_call(s, name, body, word, error, sizeof error);

    assert_non_null(c);
    return c;
}

// The child that ended badly, or null when the others have all ended well within five seconds.
static struct child *wait_for_news(struct supervisor *s, const struct child *until) {
    const struct timespec tick = {.tv_nsec = 2000000};

    for (int i = 0; i < 2500; i++) {
        struct child *bad = supervise_reap(s);
        if (bad || !until->running) {
            return bad;
        }
        nanosleep(&tick, NULL);
    }
    fail_msg("nothing happens");
    return NULL;
}

static void gone(const char *folder) {
    struct stat st;
    assert_int_equal(-1, stat(folder, &st));
}

static void tail_of(const struct child *c, unsigned lines, char *buf, size_t size) {
    FILE *f = fmemopen(buf, size, "w");

    assert_non_null(f);
    buf[0] = 0; // stays when nothing is written
    supervise_tail(c, lines, "> ", f);
    fclose(f);
}

static void test_ends(void **state) {
    struct supervisor s;
    struct child *c;
    char text[512];

    (void)state;
    begin(&s);
    c = call(&s, "fine", body_fine);
    assert_null(wait_for_news(&s, c));
    assert_true(supervise_succeeded(c));
    c = call(&s, "fails", body_fails);
    assert_ptr_equal(c, wait_for_news(&s, c));
    assert_false(supervise_succeeded(c));
    supervise_how(c, text, sizeof text);
    assert_string_equal("ended with status 3", text);
    tail_of(c, 3, text, sizeof text);
    assert_string_equal("> line 8 of many\n> line 9 of many\n> red: .[31m\n", text);
    assert_true(supervise_find(c, "line 7", text, sizeof text));
    assert_string_equal("line 7 of many", text);
    assert_false(supervise_find(c, "ine 7", text, sizeof text));
    c = call(&s, "crashes", body_crashes);
    assert_ptr_equal(c, wait_for_news(&s, c));
    supervise_how(c, text, sizeof text);
    assert_non_null(strstr(text, "killed by signal 6"));
    tail_of(c, 3, text, sizeof text);
    assert_string_equal("", text);
    supervise_end(&s);
    gone(s.folder);
}

static void test_end_stops_everybody(void **state) {
    struct supervisor s;
    pid_t pid[3];

    (void)state;
    begin(&s);
    pid[0] = call(&s, "a", body_stays)->pid;
    pid[1] = call(&s, "b", body_will_not_go)->pid;
    pid[2] = call(&s, "c", body_stays)->pid;
    usleep(50000); // let b ignore the signal first
    supervise_end(&s);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(-1, kill(pid[i], 0));
    }
    gone(s.folder);
}

static void test_a_stopped_child_is_no_news(void **state) {
    struct supervisor s;
    struct child *c;

    (void)state;
    begin(&s);
    c = call(&s, "a", body_stays);
    supervise_stop(c);
    assert_false(c->running);
    assert_null(supervise_reap(&s));
    supervise_end(&s);
}

// True once a process is gone, or dead where nobody collects it; waits for some seconds.
static bool ends(pid_t pid) {
    char path[64], line[256];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int i = 0; i < 2500; i++) {
        FILE *f = fopen(path, "r");
        bool running =
            f && fgets(line, sizeof line, f) && !strstr(line, ") Z ") && !strstr(line, ") X ");
        if (f) {
            fclose(f);
        }
        if (!running) {
            return true;
        }
        usleep(2000);
    }
    return false;
}

// A parent that is killed cannot clean up; its children must not outlive it.
static void test_children_die_with_the_parent(void **state) {
    char folder[sizeof((struct supervisor *)0)->folder], log[256];
    int pipe_ends[2];
    pid_t middle, child = 0;

    (void)state;
    assert_int_equal(0, pipe(pipe_ends));
    middle = fork();
    if (middle == 0) {
        struct supervisor s;
        begin(&s);
        child = call(&s, "orphan", body_stays)->pid;
        usleep(50000);
        if (write(pipe_ends[1], &child, sizeof child) != sizeof child ||
            write(pipe_ends[1], s.folder, sizeof s.folder) != sizeof s.folder) {
            _exit(1);
        }
        pause();
        _exit(0);
    }
    assert_int_equal(sizeof child, read(pipe_ends[0], &child, sizeof child));
    assert_int_equal(sizeof folder, read(pipe_ends[0], folder, sizeof folder));
    assert_int_equal(0, kill(child, 0));
    kill(middle, SIGKILL);
    waitpid(middle, NULL, 0);
    assert_true(ends(child));
    snprintf(log, sizeof log, "%s/orphan.log", folder);
    unlink(log);
    rmdir(folder);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static void test_grandchildren_are_stopped_too(void **state) {
    struct supervisor s;
    struct child *c;
    char text[64] = "";
    int pid;

    (void)state;
    begin(&s);
    c = call(&s, "a", body_has_a_child);
    for (int i = 0; i < 1000 && !strchr(text, '\n'); i++) {
        usleep(2000);
        tail_of(c, 1, text, sizeof text);
    }
    assert_int_equal(1, sscanf(text, "> %d", &pid));
    supervise_stop(c);
    assert_true(ends((pid_t)pid));
    supervise_end(&s);
}

static void test_signals(void **state) {
    struct supervisor s;

    (void)state;
    begin(&s);
    assert_false(supervise_interrupted());
    raise(SIGINT);
    assert_true(supervise_interrupted());
    supervise_end(&s);
    begin(&s);
    assert_false(supervise_interrupted());
    supervise_end(&s);
}

static void test_unusable_folders(void **state) {
    struct supervisor s;
    char error[256], longest[100];

    (void)state;
    assert_int_equal(-1, supervise_begin(&s, "/proc/no/such", error, sizeof error));
    assert_non_null(strstr(error, "/proc/no/such"));
    gone(s.folder);
    memset(longest, '/', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    setenv("TMPDIR", longest, 1);
    assert_int_equal(-1, supervise_begin(&s, NULL, error, sizeof error));
    assert_non_null(strstr(error, "too long"));
    setenv("TMPDIR", "/no-such", 1);
    assert_int_equal(-1, supervise_begin(&s, NULL, error, sizeof error));
    assert_non_null(strstr(error, "cannot make the folder /no-such"));
    unsetenv("TMPDIR");
}

static void test_logs_are_kept_where_asked(void **state) {
    char keep[] = "/tmp/silken-keep-XXXXXX", error[256], log[64];
    struct supervisor s;
    struct stat st;

    (void)state;
    assert_non_null(mkdtemp(keep));
    rmdir(keep); // it is made when it is not there
    assert_int_equal(0, supervise_begin(&s, keep, error, sizeof error));
    wait_for_news(&s, call(&s, "fails", body_fails));
    supervise_end(&s);
    gone(s.folder);
    snprintf(log, sizeof log, "%s/fails.log", keep);
    assert_int_equal(0, stat(log, &st));
    assert_true(st.st_size > 0);
    unlink(log);
    rmdir(keep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_end_stops_everybody),
        cmocka_unit_test(test_a_stopped_child_is_no_news),
        cmocka_unit_test(test_children_die_with_the_parent),
        cmocka_unit_test(test_grandchildren_are_stopped_too),
        cmocka_unit_test(test_signals),
        cmocka_unit_test(test_unusable_folders),
        cmocka_unit_test(test_logs_are_kept_where_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
