// SPDX-License-Identifier: Apache-2.0
//
// What the ToR knows of its jobs after its process has ended without a word: a rig that is thrown
// away, and another one with the same file.
#include "harness/control/tor/jobs.h"

#include <sys/stat.h>
#include <unistd.h>

#include "control/tor/jobs_impl.h"

static char folder[] = "/tmp/silken-jobs-XXXXXX", path[64];

static int set_up(void **state) {
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/rack/jobs.json", folder);
    return 0;
}

static int tear_down(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static const char *with_state(const char *section) {
    static char text[8192];
    snprintf(text, sizeof text, "%.*s, \"state\": \"%s\"}", (int)strlen(section) - 1, section,
             path);
    return text;
}

static struct rig *begin(const char *section) {
    return rig_new_with("p4/rack/rack.p4", PORTS, with_state(section));
}

static char *content(const char *file) {
    struct sk_error err;
    FILE *f = fopen(file, "r");
    (void)err;
    if (!f)
        return NULL;
    char *text = calloc(1, 65536);
    assert_non_null(text);
    assert_true(fread(text, 1, 65535, f) < 65535);
    fclose(f);
    return text;
}

static void put_content(const char *text) {
    char rack[64];
    snprintf(rack, sizeof rack, "%s/rack", folder);
    mkdir(rack, 0700);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static size_t jobs_of(struct rig *r, const char *list) {
    struct sk_error err;
    json_t *answer = rig_request(r, "job.list", NULL, &err);
    const size_t n = json_array_size(json_object_get(answer, list));
    json_decref(answer);
    return n;
}

static char *group_of(struct rig *r, const char *name) {
    json_t *j = job(r, name);
    char *group = strdup(json_string_value(json_object_get(j, "group")));
    json_decref(j);
    return group;
}

// ---- they come back ----

static void test_jobs_of_requests(void **state) {
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    struct gradient g = {.bits = 1, .fan_in = 2, .sequence = 1, .value = 100};
    struct stat st;
    (void)state;
    add(r, ATP("first", "\"x:10.0.10.7\"", "x:10.0.10.7", ", \"aggregators\": 100"));
    add(r, ATP("two", TWO, "s:10.0.10.6", ", \"aggregators\": 50"));
    add(r, SML("three", OTHER_TWO, ", \"slots\": 16"));
    removed(r, "first"); // the others would get its place
    assert_int_equal(number(r, "two", "first_aggregator"), 100);
    assert_int_equal(number(r, "two", "number"), 2);
    char *group = group_of(r, "two");
    rig_free(r);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    assert_int_equal(rig_events(r, "alarm"), 0);
    assert_int_equal(jobs_of(r, "jobs"), 2);
    assert_int_equal(jobs_of(r, "lost"), 0);
    assert_int_equal(number(r, "two", "first_aggregator"), 100);
    assert_int_equal(number(r, "two", "number"), 2);
    assert_int_equal(number(r, "three", "first_slot"), 0);
    char *again = group_of(r, "two");
    assert_string_equal(group, again);
    free(group);
    free(again);
    // and adds up: what its workers send again goes where it went before
    g.index = 149;
    g.number = 2;
    atp_send(r, A, 2, HOST_IP(6), &g, false);
    g.bits = 2;
    g.value = 11;
    atp_send(r, B, 3, HOST_IP(6), &g, false);
    atp_expect(r, S, 0x020000000006, 3, 111);
    // a new one is not in the way
    add(r, ATP("new", "\"x:10.0.10.7\"", "x:10.0.10.7", ", \"aggregators\": 101"));
    assert_int_equal(number(r, "new", "first_aggregator"), 150);
    assert_int_equal(number(r, "new", "number"), 1);
    removed(r, "two");
    rig_free(r);
    r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    assert_int_equal(jobs_of(r, "jobs"), 2);
    assert_int_equal(number(r, "new", "first_aggregator"), 150);
    rig_free(r);
}

#define FIXED ATP("fixed", TWO, "s:10.0.10.6", ", \"aggregators\": 50")
#define OTHER ATP("other", "\"x:10.0.10.7\"", "x:10.0.10.7", ", \"aggregators\": 100")

static void test_jobs_of_the_configuration(void **state) {
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, OTHER "," FIXED));
    (void)state;
    assert_int_equal(number(r, "fixed", "first_aggregator"), 100);
    add(r, SML("mine", OTHER_TWO, ""));
    rig_free(r);
    // another order would give it another place, and one is not in the configuration any more
    r = begin(SECTION(LINKS_WITHOUT_C LINK_C, FIXED));
    assert_int_equal(rig_events(r, "alarm"), 0);
    assert_int_equal(jobs_of(r, "jobs"), 2);
    assert_int_equal(number(r, "fixed", "first_aggregator"), 100);
    assert_int_equal(number(r, "fixed", "number"), 2);
    rig_free(r);
    r = begin(SECTION(LINKS_WITHOUT_C LINK_C, FIXED "," OTHER));
    assert_int_equal(jobs_of(r, "jobs"), 3);
    assert_int_equal(number(r, "fixed", "first_aggregator"), 100);
    assert_int_equal(number(r, "other", "first_aggregator"), 0);
    rig_free(r);
}

static void test_a_place_that_is_gone_for_a_while(void **state) {
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    struct sk_error err;
    (void)state;
    add(r, SML("one", OTHER_TWO, ", \"slots\": 16, \"number\": 7"));
    rig_free(r);
    r = begin(SECTION(LINKS_WITHOUT_C, ""));
    assert_string_equal(rig_last_alarm(r), "workers[0]: there is no link or port 'p2'");
    assert_int_equal(jobs_of(r, "jobs"), 0);
    assert_int_equal(jobs_of(r, "lost"), 1);
    rig_free(r);
    r = begin(SECTION(LINKS_WITHOUT_C, "")); // nothing of it was written over
    assert_int_equal(jobs_of(r, "lost"), 1);
    assert_int_equal(rig_reload(r, with_state(SECTION(LINKS_WITHOUT_C LINK_C, "")), &err), 0);
    assert_int_equal(jobs_of(r, "lost"), 0);
    assert_int_equal(number(r, "one", "number"), 7);
    rig_free(r);
    r = begin(SECTION(LINKS_WITHOUT_C, ""));
    removed(r, "one"); // not wanted any more
    assert_int_equal(jobs_of(r, "lost"), 0);
    rig_free(r);
    r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    assert_int_equal(jobs_of(r, "jobs"), 0);
    rig_free(r);
}

// ---- files ----

#define JOB(number, first, group)                                                                  \
    "{\"version\": 1, \"jobs\": [{\"configured\": false, \"request\": " ATP(                       \
        "one", TWO, "s:10.0.10.6", ", \"aggregators\": 50") ", \"number\": " number                \
                                                            ", \"first\": " first                  \
                                                            ", \"group\": \"" group "\"}]}"

static void test_what_cannot_be_a_file_of_ours(void **state) {
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        {"", "its text:1:1"},
        {"{\"version\": 1, \"jobs\": [", "its text:1:2"},
        {"[]", "its version is not 1"},
        {"{\"version\": 2, \"jobs\": []}", "its version is not 1"},
        {"{\"version\": 1}", "it has no list of at most 256 jobs"},
        {"{\"version\": 1, \"jobs\": [7]}", "jobs[0] was not written by this program"},
        {JOB("256", "0", "239.192.0.1"), "jobs[0] was not written by this program"},
        {JOB("1.0", "0", "239.192.0.1"), "jobs[0] was not written by this program"},
        {JOB("1", "-1", "239.192.0.1"), "jobs[0] was not written by this program"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char aside[100];
        put_content(bad[i].text);
        struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
        if (!strstr(rig_last_alarm(r), bad[i].sentence) || rig_events(r, "alarm") != 1)
            fail_msg("'%s' is not in '%s'", bad[i].sentence, rig_last_alarm(r));
        snprintf(aside, sizeof aside, "%s.aside-%zu", path, i + 1);
        char *kept = content(aside);
        assert_non_null(kept);
        assert_string_equal(kept, bad[i].text);
        free(kept);
        assert_int_equal(jobs_of(r, "jobs"), 0);
        add(r, SML("one", TWO, ""));
        rig_free(r);
        r = begin(SECTION(LINKS_WITHOUT_C LINK_C, "")); // from there on as ever
        assert_int_equal(jobs_of(r, "jobs"), 1);
        rig_free(r);
    }
}

static void test_what_cannot_be_given_again(void **state) {
    static const struct {
        const char *text, *sentence;
    } bad[] = {
        {JOB("128", "0", "239.192.0.1"), "it had number 128"},
        {JOB("1", "16335", "239.192.0.1"), "it had aggregators 16335 to 16384"},
        {JOB("1", "0", "10.0.0.1"), "'10.0.0.1' is not a group"},
        {"{\"version\": 1, \"jobs\": [{\"configured\": false, \"request\": {\"name\": 7}, "
         "\"number\": 1, \"first\": 0}]}",
         "name: should be text"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        put_content(bad[i].text);
        struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
        if (!strstr(rig_last_alarm(r), bad[i].sentence))
            fail_msg("'%s' is not in '%s'", bad[i].sentence, rig_last_alarm(r));
        assert_int_equal(jobs_of(r, "lost"), 1);
        rig_free(r);
    }
    put_content(JOB("1", "16334", "239.192.0.1"));
    struct rig *r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    assert_int_equal(number(r, "one", "first_aggregator"), 16334);
    rig_free(r);
}

static void test_a_file_that_cannot_be_written(void **state) {
    char rack[64], fresh[80];
    struct rig *r;
    (void)state;
    // a writer that was killed leaves this
    put_content("{\"version\": 1, \"jobs\": []}");
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *f = fopen(fresh, "w");
    fputs("{\"vers", f);
    fclose(f);
    r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    add(r, SML("one", TWO, ""));
    assert_int_equal(rig_events(r, "alarm"), 0);
    assert_int_equal(access(fresh, F_OK), -1);
    // the folder is gone: the job is there all the same, and it is said
    snprintf(rack, sizeof rack, "%s/rack", folder);
    unlink(path);
    assert_int_equal(rmdir(rack), 0);
    add(r, SML("two", OTHER_TWO, ""));
    assert_int_equal(rig_events(r, "alarm"), 1);
    assert_non_null(strstr(rig_last_alarm(r), "cannot write"));
    assert_int_equal(jobs_of(r, "jobs"), 2);
    mkdir(rack, 0700);
    removed(r, "one"); // works again, with all there is
    assert_int_equal(rig_events(r, "alarm"), 1);
    rig_free(r);
    r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    assert_int_equal(jobs_of(r, "jobs"), 1);
    rig_free(r);
    // a link is not followed
    unlink(path);
    assert_int_equal(symlink("/etc/hostname", path), 0);
    r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    assert_non_null(strstr(rig_last_alarm(r), "cannot read"));
    add(r, SML("one", TWO, ""));
    assert_int_equal(access(fresh, F_OK), -1);
    rig_free(r);
}

static void test_a_reload_that_names_a_file(void **state) {
    struct rig *r = rig_new_with("p4/rack/rack.p4", PORTS, SECTION(LINKS_WITHOUT_C LINK_C, ""));
    struct sk_error err;
    char aside[100];
    (void)state;
    add(r, SML("one", TWO, ""));
    assert_int_equal(access(path, F_OK), -1);
    put_content("precious");
    assert_int_equal(rig_reload(r, with_state(SECTION(LINKS_WITHOUT_C LINK_C, "")), &err), 0);
    snprintf(aside, sizeof aside, "%s.aside-1", path);
    char *kept = content(aside);
    assert_string_equal(kept, "precious");
    free(kept);
    rig_free(r);
    r = begin(SECTION(LINKS_WITHOUT_C LINK_C, ""));
    assert_int_equal(jobs_of(r, "jobs"), 1);
    rig_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_jobs_of_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_jobs_of_the_configuration, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_place_that_is_gone_for_a_while, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_a_file_of_ours, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_given_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_file_that_cannot_be_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_reload_that_names_a_file, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
