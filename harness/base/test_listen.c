// SPDX-License-Identifier: Apache-2.0
//
// Sockets that listen (base/socket.h): on ports, and on files that others left or still use.
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/address.h"
#include "base/socket.h"

static const struct sk_socket_kind kind = {"test socket", "test"};
static char folder[64], path[96];
static struct sk_error err;
static struct sk_socket_file file;

static int set_up(void **state) {
    (void)state;
    strcpy(folder, "/tmp/test_listen.XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/s", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static int client(void) {
    struct sockaddr_un a;
    assert_int_equal(sk_unix_address(path, &kind, &a, &err), 0);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return fd;
    close(fd);
    return -1;
}

static void refused(const char *where, const char *why) {
    assert_int_equal(sk_listen_unix(where, &kind, 1, &file, &err), -1);
    assert_string_equal(err.text, why);
}

static void ports(void **state) {
    (void)state;
    struct sockaddr_storage a;
    char text[40];
    for (unsigned v6 = 0; v6 < 2; v6++) {
        assert_true(sk_socket_address(v6 ? "[::1]:0" : "127.0.0.1:0", &a));
        const int fd = sk_listen(&a, 4);
        const uint16_t port = sk_listen_port(fd);
        assert_true(fd >= 0 && port > 0);
        snprintf(text, sizeof text, v6 ? "[::1]:%u" : "127.0.0.1:%u", port);
        assert_true(sk_socket_address(text, &a));
        assert_int_equal(sk_listen(&a, 4), -1);
        assert_int_equal(errno, EADDRINUSE);
        close(fd);
    }
    assert_int_equal(sk_listen_port(-1), 0);
}

static void a_file_is_its_owners_alone(void **state) {
    (void)state;
    struct stat st;
    const mode_t mask = umask(0);
    const int fd = sk_listen_unix(path, &kind, 4, &file, &err);
    assert_true(fd >= 0);
    assert_int_equal(umask(mask), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(sk_listen_port(fd), 0);
    const int came = client();
    assert_true(came >= 0);
    close(came);
    close(fd);
}

static void a_file_that_nobody_listens_to_is_replaced(void **state) {
    (void)state;
    close(sk_listen_unix(path, &kind, 4, &file, &err));
    assert_int_equal(client(), -1);
    const int fd = sk_listen_unix(path, &kind, 4, &file, &err);
    assert_true(fd >= 0);
    close(fd);
}

// Also if its process takes no more connections: asking must not block.
static void a_file_in_use_stays(void **state) {
    (void)state;
    char why[200];
    int clients[8];
    const int fd = sk_listen_unix(path, &kind, 1, &file, &err);
    snprintf(why, sizeof why, "test socket %s is in use by another test", path);
    refused(path, why);
    for (unsigned i = 0; i < 8; i++)
        clients[i] = client();
    assert_int_equal(clients[7], -1);
    refused(path, why);
    for (unsigned i = 0; i < 8; i++)
        if (clients[i] >= 0)
            close(clients[i]);
    close(fd);
}

static void only_its_own_file_is_removed(void **state) {
    (void)state;
    struct stat st;
    const int fd = sk_listen_unix(path, &kind, 1, &file, &err);
    assert_true(fd >= 0);
    sk_unlisten_unix(fd, &file);
    assert_int_equal(lstat(path, &st), -1);
    const int before = sk_listen_unix(path, &kind, 1, &file, &err);
    const struct sk_socket_file old = file;
    assert_true(before >= 0);
    assert_int_equal(unlink(path), 0);
    const int now = sk_listen_unix(path, &kind, 1, &file, &err);
    assert_true(now >= 0);
    sk_unlisten_unix(before, &old);
    const int came = client();
    assert_true(came >= 0);
    close(came);
    sk_unlisten_unix(now, &file);
    assert_int_equal(lstat(path, &st), -1);
}

static void paths_that_are_refused(void **state) {
    (void)state;
    char longest[109], why[200];
    memset(longest, 'x', 108);
    longest[108] = 0;
    refused("", "the path of a test socket has 1 to 107 characters, not 0");
    refused(longest, "the path of a test socket has 1 to 107 characters, not 108");
    refused("/no-such/s", "cannot make test socket /no-such/s: No such file or directory");
    snprintf(why, sizeof why, "%s exists already and is not a socket", folder);
    refused(folder, why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports),
        cmocka_unit_test_setup_teardown(a_file_is_its_owners_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_nobody_listens_to_is_replaced, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(only_its_own_file_is_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_in_use_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(paths_that_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
