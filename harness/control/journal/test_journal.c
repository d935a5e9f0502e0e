// SPDX-License-Identifier: Apache-2.0
//
// Notes about a control plane: each kind is read as it was written, and a text that is no note gets
// a sentence.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "control/journal/journal.h"

static void same_texts(const char *a, const char *b) {
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

// Written and read.
static void comes_back(const struct journal_note *n, const char *as) {
    struct journal_note back;
    struct sk_error err;
    char *text = journal_write(n);
    if (as)
        assert_string_equal(text, as);
    if (journal_read(text, strlen(text), &back, &err))
        fail_msg("%s: %s", text, err.text);
    free(text);
    assert_int_equal(back.kind, n->kind);
    assert_true(back.now == n->now && back.number == n->number && back.interval == n->interval);
    assert_true(back.port == n->port && back.up == n->up && back.n == n->n);
    for (size_t i = 0; i < n->n; i++)
        assert_true(back.list[i] == n->list[i]);
    same_texts(back.text, n->text);
    assert_true(json_equal(back.value, n->value) || (!back.value && !n->value));
    journal_free(&back);
}

static void test_each_kind(void **state) {
    uint64_t ports[] = {0, 64, 455},
             times[] = {UINT64_C(1795984726262176791), 1795984726263280219, 1795984726263280219};
    json_t *value = json_pack("{s:s, s:i}", "name", "resnet", "slots", 64), *list = json_array();
    (void)state;
    comes_back(
        &(struct journal_note){.kind = JOURNAL_BEGIN, .number = UINT64_MAX, .interval = 4000000},
        "{\"control\":1,\"secret\":-1,\"interval\":4000000,\"down\":[]}");
    comes_back(
        &(struct journal_note){
            .kind = JOURNAL_BEGIN, .number = 7, .list = ports, .n = 3, .text = (char *)"{\n}"},
        NULL);
    comes_back(&(struct journal_note){.kind = JOURNAL_FRAMES, .number = 3, .now = times[0]},
               "{\"frames\":3,\"now\":1795984726262176791}");
    comes_back(&(struct journal_note){.kind = JOURNAL_DIGEST, .now = times[0]}, NULL);
    comes_back(&(struct journal_note){.kind = JOURNAL_RUN, .list = times, .n = 3},
               "{\"run\":[1795984726262176791,1103428,0]}");
    comes_back(&(struct journal_note){.kind = JOURNAL_PAUSE}, "{\"pause\":true}");
    comes_back(&(struct journal_note){.kind = JOURNAL_WRITES, .number = 64}, "{\"writes\":64}");
    comes_back(&(struct journal_note){.kind = JOURNAL_TOOK, .number = 88162}, NULL);
    comes_back(&(struct journal_note){.kind = JOURNAL_RANDOM, .number = UINT64_C(1) << 63}, NULL);
    comes_back(&(struct journal_note){.kind = JOURNAL_SENT}, NULL);
    comes_back(&(struct journal_note){.kind = JOURNAL_REFUSED}, NULL);
    comes_back(&(struct journal_note){.kind = JOURNAL_PORT, .port = 7, .up = true}, NULL);
    comes_back(&(struct journal_note){.kind = JOURNAL_LINK, .port = 7, .now = times[1]},
               "{\"link\":7,\"up\":false,\"now\":1795984726263280219}");
    comes_back(
        &(struct journal_note){
            .kind = JOURNAL_REQUEST, .text = (char *)"job.add", .value = value, .now = 1},
        NULL);
    comes_back(&(struct journal_note){.kind = JOURNAL_PORTS, .value = list}, NULL);
    comes_back(&(struct journal_note){.kind = JOURNAL_SECTION, .value = value}, NULL);
    comes_back(&(struct journal_note){.kind = JOURNAL_REPLACED}, NULL);
    json_decref(value);
    json_decref(list);
}

static void test_what_is_none(void **state) {
    static const char *const texts[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"control\":2,\"secret\":1,\"interval\":1,\"down\":[]}",
        "{\"control\":1,\"secret\":1,\"down\":[]}",
        "{\"control\":1,\"secret\":1,\"interval\":1,\"down\":[512]}",
        "{\"control\":1,\"secret\":1,\"interval\":1,\"down\":[],\"state\":3}",
        "{\"frames\":1}",
        "{\"frames\":\"1\",\"now\":1}",
        "{\"digest\":true}",
        "{\"run\":[]}",
        "{\"run\":[1,1.5]}",
        "{\"pause\":false}",
        "{\"port\":-1,\"up\":true}",
        "{\"port\":512,\"up\":true}",
        "{\"port\":1}",
        "{\"link\":1,\"up\":true}",
        "{\"request\":[],\"op\":\"x\",\"now\":1}",
        "{\"request\":{},\"now\":1}",
        "{\"section\":null}",
        "{\"ports\":{}}",
        "{\"pause\":true",
        "{\"pause\":true,\"pause\":true}"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct journal_note n;
        struct sk_error err = {""};
        if (journal_read(texts[i], strlen(texts[i]), &n, &err) == 0)
            fail_msg("%s is read as a note", texts[i]);
        assert_true(strncmp(err.text, "a note of the control plane", 27) == 0);
        assert_int_equal(n.kind, JOURNAL_KINDS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_kind),
                                       cmocka_unit_test(test_what_is_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
