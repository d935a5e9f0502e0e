// SPDX-License-Identifier: Apache-2.0
//
// The job file of ATP's stations: what it says gets to where it belongs, and what is wrong with one
// is one sentence with its place.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/job_file.h"
#include "control/tables/control.h"

#define WORKER(rack, n)                                                                            \
    "{\"rack\":" #rack ",\"lanes\":[{\"mac\":\"02:00:00:00:01:" #n "1\",\"ip\":\"10.0.0." #n       \
    "1\"},{\"mac\":\"02:00:00:00:01:" #n "2\",\"ip\":\"10.0.0." #n "2\"}]}"
#define GROUP(n) "{\"mac\":\"01:00:5e:00:01:0" #n "\",\"ip\":\"239.0.1." #n "\"}"
#define SWITCH(rack, n)                                                                            \
    "{\"rack\":" #rack ",\"mac\":\"02:00:00:00:00:f" #n "\",\"ip\":\"10.0.1." #n "\"}"
#define SWITCHES ",\"switches\":[" SWITCH(3, 1) "," SWITCH(5, 2) "]"
#define FILE_WITHOUT_SWITCHES                                                                      \
    "{\"job\":7,\"workers\":[" WORKER(3, 1) "," WORKER(5, 2) "," WORKER(                           \
        3, 3) "],\"servers\":[" WORKER(5,                                                          \
                                       8) "," WORKER(3,                                            \
                                                     9) "],\"groups\":[" GROUP(0) "," GROUP(1) "]"

#define GOOD FILE_WITHOUT_SWITCHES SWITCHES

static void test_good_file(void **state) {
    static const char text[] = GOOD ", \"window\": 100, \"first_index\": 16384}";
    struct silken_lane lane[2] = {{.device = "d0"}, {.device = "d1"}};
    struct silken_config config;
    struct job_file j;

    (void)state;
    assert_int_equal(0, job_file_parse(&j, "job.json", text, sizeof text - 1, NULL));
    assert_int_equal(7, j.job);
    assert_int_equal(SILKEN_F32, j.type);
    assert_int_equal(16384, j.first_index);
    assert_int_equal(49152, j.indices); // those that are left
    assert_int_equal(100, j.window);
    silken_config_init(&config);
    job_file_worker(&j, 1, &config, lane);
    assert_int_equal(SILKEN_ATP, config.protocol);
    assert_int_equal(3, config.workers);
    assert_int_equal(2, config.lanes);
    assert_int_equal(2, config.atp.servers);
    assert_int_equal(5, config.atp.rack[1]);
    assert_int_equal(3, config.atp.server_rack[1]);
    assert_string_equal("10.0.0.21", lane[0].worker_ip);
    assert_string_equal("02:00:00:00:01:22", lane[1].worker_mac);
    assert_string_equal("d1", lane[1].device);
    // server s for lane l is at l * servers + s
    assert_string_equal("10.0.0.81", config.atp.server[0].ip);
    assert_string_equal("10.0.0.91", config.atp.server[1].ip);
    assert_string_equal("10.0.0.82", config.atp.server[2].ip);
    assert_string_equal("239.0.1.1", config.atp.group[1].ip);
    assert_false(config.atp.no_switch);
    assert_string_equal("10.0.1.2", config.switch_ip); // worker 1 is in rack 5
    assert_string_equal("02:00:00:00:00:f1", job_file_switch(&j, 3)->mac);
    assert_null(job_file_switch(&j, 4));
    job_file_free(&j);
    job_file_free(&j);
}

static void bad(const char *text, const char *sentence) {
    struct sk_error err = {{0}};
    struct job_file j;

    assert_int_equal(-1, job_file_parse(&j, "job.json", text, strlen(text), &err));
    if (!strstr(err.text, sentence)) {
        fail_msg("expected '%s' in: %s", sentence, err.text);
    }
    assert_null(j.memory);
}

static void test_bad_files(void **state) {
    (void)state;
    bad("{", "job.json:1");
    bad("[]", "job.json");
    bad("{\"job\":0}", "a job's number is 1 to 127");
    bad("{\"job\":128}", "job");
    bad(GOOD ",\"type\":\"f64\"}", "a type must be f32 or i32, not 'f64'");
    bad(GOOD ",\"colour\":1}", "colour");
    bad(GOOD ",\"indices\":65537}", "indices");
    bad("{\"job\":1}", "workers");
    bad("{\"job\":1,\"workers\":[]}", "a job has 1 to 1024");
    bad("{\"job\":1,\"workers\":[" WORKER(0, 1) "]}", "servers");
    bad("{\"job\":1,\"workers\":[{\"lanes\":[]}]}", "the same number of lanes");
    bad("{\"job\":1,\"workers\":[{\"rack\":-1,\"lanes\":[]}]}", "rack");
    bad("{\"job\":1,\"workers\":[{\"lanes\":[{\"mac\":\"x\"}]}]}", "ip");
    bad(GOOD ",\"window\":0}", "a window of 0");
    bad(GOOD ",\"window\":300,\"window_max\":200}", "a window of 300");
    bad(GOOD ",\"window_max\":100}", "window_max, which is 100"); // a window is 200 otherwise
    bad(GOOD ",\"indices\":0}", "indices");
    bad(GOOD ",\"first_index\":65000,\"indices\":1000}",
        "from index 65000 on there are 1 to 536 aggregators");
    bad("{\"job\":1,\"workers\":[" WORKER(0, 1) "," WORKER(0, 1) "],\"servers\":[" WORKER(
            0, 2) "],\"groups\":[" GROUP(1) "," GROUP(2) "]}",
        "two devices of the job have the address 10.0.0.1");
    bad("{\"job\":1,\"workers\":[" WORKER(0, 1) "],\"servers\":[" WORKER(
            0, 1) "],\"groups\":[" GROUP(1) "," GROUP(2) "]}",
        "two devices of the job have the address 10.0.0.1");
    bad("{\"job\":1,\"workers\":[" WORKER(
            0, 1) "],\"servers\":[{\"lanes\":[{\"mac\":\"x\",\"ip\":\"y\""
                  "}]}]}",
        "the same number of lanes");
    bad("{\"job\":1,\"workers\":[" WORKER(0, 1) "],\"servers\":[" WORKER(
            0, 2) "],\"groups\":[" GROUP(1) "]}",
        "one for each lane");
}

static void test_switches(void **state) {
    static const char none[] = FILE_WITHOUT_SWITCHES ",\"switches\":[]}";
    struct silken_lane lane[2] = {{.device = "d0"}, {.device = "d1"}};
    struct silken_config config;
    struct job_file j;

    (void)state;
    bad(FILE_WITHOUT_SWITCHES "}", "\"switches\" is missing");
    bad(FILE_WITHOUT_SWITCHES ",\"switches\":[" SWITCH(3, 1) "]}", "rack 5 has no switch");
    bad(FILE_WITHOUT_SWITCHES ",\"switches\":[" SWITCH(3, 1) "," SWITCH(3, 2) "]}",
        "rack 3 has a switch already");
    bad(FILE_WITHOUT_SWITCHES ",\"switches\":[{\"rack\":3,\"mac\":\"x\",\"ip\":\"10.0.0.1\"}]}",
        "a MAC address is like");
    bad(FILE_WITHOUT_SWITCHES ",\"switches\":[{\"rack\":3,\"mac\":\"02:00:00:00:00:01\"}]}", "ip");
    assert_int_equal(0, job_file_parse(&j, "job.json", none, sizeof none - 1, NULL));
    silken_config_init(&config);
    job_file_worker(&j, 0, &config, lane);
    assert_true(config.atp.no_switch);
    job_file_free(&j);
}

// A job of one worker and one server whose addresses are these.
static void bad_address(const char *mac, const char *ip, const char *group_mac,
                        const char *group_ip, const char *sentence) {
    char text[512];

    snprintf(text, sizeof text,
             "{\"job\":1,\"workers\":[{\"rack\":0,\"lanes\":[{\"mac\":\"%s\",\"ip\":\"%s\"}]}],"
             "\"servers\":[{\"rack\":0,\"lanes\":[{\"mac\":\"02:00:00:00:01:09\",\"ip\":\"10.0.0."
             "9\"}]}],"
             "\"groups\":[{\"mac\":\"%s\",\"ip\":\"%s\"}]}",
             mac, ip, group_mac, group_ip);
    bad(text, sentence);
}

static void test_bad_addresses(void **state) {
    static const char mac[] = "02:00:00:00:01:01", ip[] = "10.0.0.1", group[] = "01:00:5e:00:01:00",
                      group_ip[] = "239.0.1.0";
    static const char *const no_macs[] = {"x",
                                          "02:00:00:00:01",
                                          "02:00:00:00:01:01:01",
                                          "02:00:00:00:01:0g",
                                          " 2:00:00:00:01:01",
                                          "002:00:00:00:01:01",
                                          "02:00:00:00:01:-1",
                                          "02-00-00-00-01-01"};
    static const char *const no_ips[] = {"10",         "10.0.0",    "10.0.0.0.1",
                                         "10.0.0.256", " 10.0.0.1", "10.0.0.1 ",
                                         "10.0.0.+1",  "10.0.0.x",  "10.0.0.0001"};

    (void)state;
    for (size_t i = 0; i < sizeof no_macs / sizeof *no_macs; i++) {
        bad_address(no_macs[i], ip, group, group_ip, "a MAC address is like");
        bad_address(mac, ip, no_macs[i], group_ip, "a MAC address is like");
    }
    for (size_t i = 0; i < sizeof no_ips / sizeof *no_ips; i++) {
        bad_address(mac, no_ips[i], group, group_ip, "an IP address is like");
        bad_address(mac, ip, group, no_ips[i], "an IP address is like");
    }
    bad_address(group, ip, group, group_ip, "01:00:5e:00:01:00 is a group's address");
    bad_address(mac, group_ip, group, group_ip, "239.0.1.0 is a group's address");
    bad_address(mac, ip, mac, group_ip, "02:00:00:00:01:01 is not a group's address");
    bad_address(mac, ip, group, ip, "10.0.0.1 is not a group's address");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_file),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_switches),
        cmocka_unit_test(test_bad_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
