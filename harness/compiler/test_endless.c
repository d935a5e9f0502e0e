// SPDX-License-Identifier: Apache-2.0
//
// A compilation that never looks at its limit of time ends all the same, with the sentence and the
// status that its caller has chosen (compile_options.status_at_limit). It takes 24 seconds of
// processor time, which is what is tested.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/compile.h"

static void spin(void *aux, const char *path) {
    (void)aux;
    (void)path;
    for (volatile unsigned i = 0;; i++)
        ;
}

static void test_it_ends(void **state) {
    int said[2], status;
    char text[1000];
    (void)state;
    if (getenv("VARIANT")) // the loop is the same in each build
        skip();
    assert_int_equal(pipe(said), 0);
    const pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){40, 40}); // else it would not end to fail
        dup2(said[1], STDERR_FILENO);
        free(compile_p4(
            &(struct compile_options){
                .path = "p4/l2/l2.p4", .parse_only = true, .reads = spin, .status_at_limit = 7},
            stderr));
        _exit(0);
    }
    close(said[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    const ssize_t n = read(said[0], text, sizeof text - 1);
    assert_true(n > 0);
    text[n] = 0;
    assert_string_equal(text, "silken: error: compiling 'p4/l2/l2.p4' takes more than 20 s of "
                              "processor time, the most that Silken's compiler uses for a "
                              "program\n");
    close(said[0]);
}

static void test_it_is_taken_back(void **state) {
    struct itimerval left;
    (void)state;
    free(compile_p4(
        &(struct compile_options){.path = "p4/l2/l2.p4", .parse_only = true, .status_at_limit = 7},
        stderr));
    assert_int_equal(getitimer(ITIMER_PROF, &left), 0);
    assert_int_equal(left.it_value.tv_sec + left.it_value.tv_usec, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_it_ends),
                                       cmocka_unit_test(test_it_is_taken_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
