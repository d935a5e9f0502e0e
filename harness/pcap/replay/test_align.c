// SPDX-License-Identifier: Apache-2.0
//
// Which packet is which golden one (pcap/replay/align.h): packets are letters here, and what is
// decided is text: "a" the same, "(b>x)" golden b that became x, "+x" too much, "-b" missing. And
// random changes, after which each packet of either side was decided once, in order.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pcap/replay/align.h"

struct rig {
    const char *golden; // what is not read yet
    char text[20000];
    char sent_back[4096], golden_back[4096]; // what was decided
    unsigned at_same;
};

static char letter(const void *p) {
    return *(const char *)p;
}

static bool on_equal(void *aux, const void *sent, const void *golden) {
    (void)aux;
    return letter(sent) == letter(golden);
}

// Digits are of one time, letters are earlier; capitals are later.
static int on_time(void *aux, const void *sent, const void *golden) {
    const char c = letter(golden);
    (void)aux;
    (void)sent;
    return c >= '0' && c <= '9' ? 0 : c >= 'a' ? -1 : 1;
}

static int on_next(void *aux, void **golden) {
    struct rig *r = aux;
    if (*r->golden == '!')
        return -1;
    if (!*r->golden)
        return 0;
    *golden = (void *)(uintptr_t)r->golden++;
    return 1;
}

static void decided(struct rig *r, const char *form, const void *a, const void *b) {
    char text[16];
    snprintf(text, sizeof text, form, a ? letter(a) : 0, b ? letter(b) : 0);
    strcat(r->text, text);
}

static void back(char *to, const void *p) {
    if (p)
        strncat(to, p, 1);
}

static void on_same(void *aux, void *sent, void *golden) {
    struct rig *r = aux;
    if (!sent || !golden) // left over
        return;
    back(r->sent_back, sent);
    back(r->golden_back, golden);
    decided(r, "%c", sent, NULL);
    r->at_same++;
}

static void on_changed(void *aux, void *sent, void *golden) {
    struct rig *r = aux;
    back(r->sent_back, sent);
    back(r->golden_back, golden);
    decided(r, "(%c>%c)", golden, sent);
}

static void on_extra(void *aux, void *sent) {
    struct rig *r = aux;
    back(r->sent_back, sent);
    decided(r, "+%c", sent, NULL);
}

static void on_missing(void *aux, void *golden, const void *then) {
    struct rig *r = aux;
    back(r->golden_back, golden);
    decided(r, then ? "-%c" : "-%c.", golden, NULL);
}

static int play(struct rig *r, const char *golden, const char *sent, bool stopped) {
    memset(r, 0, sizeof *r);
    r->golden = golden;
    struct align *a = align_new(&(struct align_owner){r, on_equal, on_time, on_next, on_same,
                                                      on_changed, on_extra, on_missing});
    int rc = 0;
    for (const char *p = sent; rc == 0 && *p; p++)
        rc = align_sent(a, (void *)(uintptr_t)p);
    if (rc == 0)
        rc = align_end(a, stopped);
    align_free(a);
    return rc;
}

static void check(const char *golden, const char *sent, const char *text) {
    struct rig r;
    assert_int_equal(play(&r, golden, sent, false), 0);
    assert_string_equal(r.text, text);
}

static void test_what_is_decided(void **state) {
    (void)state;
    check("abcdef", "abcdef", "abcdef");
    check("", "", "");
    check("abcdef", "abxdef", "ab(c>x)def");
    check("abcdef", "abdef", "ab-cdef");
    check("abcdef", "bcdef", "-abcdef");
    check("abcdef", "abxcdef", "ab+xcdef");
    check("abcdef", "xabcdef", "+xabcdef");
    check("abcdefg", "abxefg", "ab(c>x)-defg");
    check("abcdefg", "abxycdefg", "ab+x+ycdefg");
    check("abcdefg", "adefg", "a-b-cdefg");
    check("abc", "abcde", "abc+d+e");
    check("abc", "abx", "ab(c>x)");
    check("abc", "", ""); // none was read
    check("", "ab", "+a+b");
    // two that changed places
    check("abcdef", "acbdef", "a(b>c)(c>b)def");
    // the same again and again, one less: it is the last
    check("aabaab", "abaab", "a-abaab");
    // one that happens to be alike far away leads nobody astray
    check("abcdefghbz", "azcdefghbz", "a(b>z)cdefghbz");
    // near the end one is enough
    check("abcd", "abd", "ab-cd");
    check("abcd", "abcxd", "abc+xd");
    check("abcd", "axyz", "a(b>x)(c>y)(d>z)");
    // one that is surely it is enough, wherever it is
    check("a1b2c3d4", "1234", "-a1-b2-c3-d4");
    check("abcdefg1h", "axyz1h", "a(b>x)(c>y)(d>z)-e-f-g1h");
    check("1234", "x1y2z3", "+x1+y2+z3-4.");
    check("1234", "2143", "-12(3>1)4+3");
    check("abC1234", "a1x234", "a(b>1)(C>x)-1234");
}

static void test_stopped(void **state) {
    struct rig r;
    (void)state;
    assert_int_equal(play(&r, "abcdef", "axc", true), 0);
    assert_string_equal(r.text, "a(b>x)c");
    assert_int_equal(play(&r, "abcdef", "ax", true), 0);
    assert_string_equal(r.text, "a(b>x)");
}

static void test_behind_the_last(void **state) {
    struct rig r;
    (void)state;
    assert_int_equal(play(&r, "abcdef", "abx", false), 0);
    // what was read ahead, and nothing was sent after it
    assert_string_equal(r.text, "ab(c>x)-d.-e.-f.");
}

static void test_golden_that_cannot_be_read(void **state) {
    struct rig r;
    (void)state;
    assert_int_equal(play(&r, "ab!", "abc", false), -1);
    assert_int_equal(play(&r, "ab!", "xbc", false), -1);
    assert_int_equal(play(&r, "!", "a", false), -1);
}

static void check_all_decided(const struct rig *r, const char *golden, const char *sent) {
    const size_t n = strlen(r->golden_back);
    assert_memory_equal(r->golden_back, golden, n);
    assert_string_equal(golden + n, r->golden); // what was not read is missing
    assert_string_equal(r->sent_back, sent);
}

// More than the window holds is decided, too.
static void test_more_than_the_window(void **state) {
    char golden[400], sent[400];
    struct rig r;
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        golden[i] = (char)('a' + i % 26);
        sent[i] = (char)('A' + i % 26);
    }
    golden[300] = sent[300] = '\0';
    assert_int_equal(play(&r, golden, sent, false), 0);
    assert_string_equal(r.golden_back, golden);
    assert_string_equal(r.sent_back, sent);
    assert_int_equal(strlen(r.text), 300 * strlen("(a>A)"));
    // a hole that is longer than the window: packets are compared one by one from there on
    memset(golden, 0, sizeof golden);
    for (unsigned i = 0; i < 200; i++)
        golden[i] = (char)('"' + i);
    memcpy(sent, golden, 10);
    strcpy(sent + 10, golden + 120);
    assert_int_equal(play(&r, golden, sent, false), 0);
    check_all_decided(&r, golden, sent);
}

static void test_random_changes(void **state) {
    struct rig r;
    uint32_t seed = 1;
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        char golden[200], sent[400];
        unsigned n = 0, m = 0;
        for (unsigned i = 0; i < 120; i++) {
            seed = seed * 1664525 + 1013904223;
            const unsigned what = seed >> 24;
            const char c = (char)('a' + (seed >> 16) % (round % 26 + 1));
            golden[n++] = c;
            if (what < 4)
                continue; // missing
            sent[m++] = what < 8 ? '?' : c;
            if (what >= 252)
                sent[m++] = '!' + 2; // one more
        }
        golden[n] = sent[m] = '\0';
        assert_int_equal(play(&r, golden, sent, false), 0);
        check_all_decided(&r, golden, sent);
        if (strcmp(golden, sent) == 0)
            assert_int_equal(r.at_same, n);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_decided),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_behind_the_last),
        cmocka_unit_test(test_golden_that_cannot_be_read),
        cmocka_unit_test(test_more_than_the_window),
        cmocka_unit_test(test_random_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
