// SPDX-License-Identifier: Apache-2.0
//
// Configurations from variables: what launchers set, texts with the rank, and one sentence that
// names the variable for each thing that is wrong. The header and the manual list the same names. A
// configuration of an application that knows fewer members, or more, is taken or refused by its
// size.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "hosts/communicator/environment.h"

static char why[256], texts[SILKEN_ENV_TEXTS];

// "NAME=text" pairs, up to NULL.
static const char *get(void *aux, const char *name) {
    const size_t len = strlen(name);

    for (const char *const *p = aux; *p; p++)
        if (strncmp(*p, name, len) == 0 && (*p)[len] == '=')
            return *p + len + 1;
    return NULL;
}

static int read_from(struct silken_config *config, const char *const *pairs) {
    why[0] = 0;
    return sk_environment_read(config, texts, get, (void *)(uintptr_t)pairs, why, sizeof why);
}

static void test_launchers(void **state) {
    static const char *const launchers[][6] = {
        {"SILKEN_SWITCH_IP=10.0.0.1", "SILKEN_RANK=3", "SILKEN_WORKERS=5", NULL},
        {"SILKEN_SWITCH_IP=10.0.0.1", "RANK=3", "WORLD_SIZE=5", NULL},
        {"SILKEN_SWITCH_IP=10.0.0.1", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=5", NULL},
        {"SILKEN_SWITCH_IP=10.0.0.1", "SILKEN_RANK=", "SILKEN_WORKERS=", "RANK=3", "WORLD_SIZE=5",
         NULL},
        {"SILKEN_SWITCH_IP=10.0.0.1", "PMI_RANK=3", "PMI_SIZE=5", NULL},
        {"SILKEN_SWITCH_IP=10.0.0.1", "SLURM_PROCID=3", "SLURM_NTASKS=5", NULL},
    };
    static const char *const both[] = {"SLURM_PROCID=0",
                                       "SLURM_NTASKS=1",
                                       "SILKEN_RANK=3",
                                       "RANK=1",
                                       "WORLD_SIZE=2",
                                       "SILKEN_WORKERS=5",
                                       "SILKEN_DEVICE=",
                                       "SILKEN_SWITCH_IP=10.0.0.1",
                                       NULL};
    struct silken_config c;

    (void)state;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        assert_int_equal(0, read_from(&c, launchers[i]));
        assert_int_equal(3, c.rank);
        assert_int_equal(5, c.workers);
        assert_string_equal("udp:", c.device);
        assert_int_equal(128, c.pool_size);
    }
    assert_int_equal(0, read_from(&c, both));
    assert_int_equal(3, c.rank);
    assert_string_equal("udp:", c.device);
}

static void test_all_variables(void **state) {
    static const char *const pairs[] = {
        "SILKEN_RANK=7",
        "SILKEN_WORKERS=8",
        "SILKEN_DEVICE=faulty:drop=0.1:afpacket:w%r%%",
        "SILKEN_SWITCH_IP=10.1.0.254",
        "SILKEN_SWITCH_MAC=02:00:00:00:00:fe",
        "SILKEN_SWITCH_PORT=48865",
        "SILKEN_WORKER_IP=10.1.%r.1%r",
        "SILKEN_WORKER_MAC=02:00:00:00:%r:01",
        "SILKEN_WORKER_PORT=48866",
        "SILKEN_JOB=255",
        "SILKEN_POOL=16384",
        "SILKEN_K=64",
        "SILKEN_CPU=0",
        "SILKEN_RTO_MIN_US=1",
        "SILKEN_RTO_MAX_US=60000000",
        "SILKEN_RTO_INITIAL_US=3",
        "SILKEN_STALL_WARNING_MS=0",
        "SILKEN_HARD_LIMIT_MS=5",
        "SILKEN_PROGRESS_THREAD=1",
        "SILKEN_SESSION=0",
        NULL,
    };
    struct silken_config c;

    (void)state;
    assert_int_equal(0, read_from(&c, pairs));
    assert_string_equal("faulty:drop=0.1:afpacket:w7%", c.device);
    assert_string_equal("10.1.0.254", c.switch_ip);
    assert_string_equal("02:00:00:00:00:fe", c.switch_mac);
    assert_string_equal("10.1.7.17", c.worker_ip);
    assert_string_equal("02:00:00:00:7:01", c.worker_mac);
    assert_int_equal(48865, c.switch_port);
    assert_int_equal(48866, c.worker_port);
    assert_int_equal(255, c.job);
    assert_int_equal(16384, c.pool_size);
    assert_int_equal(64, c.k);
    assert_int_equal(0, c.cpu);
    assert_int_equal(1, c.rto_min_us);
    assert_int_equal(60000000, c.rto_max_us);
    assert_int_equal(3, c.rto_initial_us);
    assert_int_equal(0, c.stall_warning_ms);
    assert_int_equal(5, c.hard_limit_ms);
    assert_true(c.progress_thread);
    assert_true(c.no_session);
}

static void test_what_is_wrong(void **state) {
    static const struct {
        const char *pairs[5], *says;
    } rows[] = {
        {{"SILKEN_SWITCH_IP=10.0.0.1"}, "SILKEN_RANK and SILKEN_WORKERS are not set"},
        {{"SILKEN_SWITCH_IP=10.0.0.1", "RANK=0"}, "RANK is set, but WORLD_SIZE is not"},
        {{"SILKEN_WORKERS=4", "RANK=0", "WORLD_SIZE=4"}, "SILKEN_WORKERS is set, but SILKEN_RANK"},
        {{"RANK=0", "WORLD_SIZE=4"}, "neither SILKEN_SWITCH_IP"},
        {{"RANK=4", "WORLD_SIZE=4"}, "RANK is '4': expected a number from 0 to 3"},
        {{"RANK=-1", "WORLD_SIZE=4"}, "RANK is '-1'"},
        {{"RANK=0", "WORLD_SIZE=0"}, "WORLD_SIZE is '0'"},
        {{"RANK=", "WORLD_SIZE=2"}, "WORLD_SIZE is set, but RANK is not"},
        {{"RANK=0", "WORLD_SIZE=2", "SILKEN_JOB=256"}, "SILKEN_JOB is '256': expected a number"},
        {{"RANK=0", "WORLD_SIZE=2", "SILKEN_POOL=4294967297"}, "SILKEN_POOL is '4294967297'"},
        {{"RANK=0", "WORLD_SIZE=2", "SILKEN_K=64 "}, "SILKEN_K is '64 '"},
        {{"RANK=0", "WORLD_SIZE=2", "SILKEN_SESSION=no"}, "SILKEN_SESSION is 'no'"},
        {{"RANK=0", "WORLD_SIZE=2", "SILKEN_WORKER_IP=10.0.0.%d"},
         "SILKEN_WORKER_IP is '10.0.0.%d'"},
        {{"RANK=0", "WORLD_SIZE=2", "SILKEN_WORKER_IP=10.0.0.%"}, "SILKEN_WORKER_IP is '10.0.0.%'"},
        {{"RANK=0", "WORLD_SIZE=2", "SILKEN_SWITCH_IP=10.0.0.1", "SILKEN_RTO_MIN_US=600000"},
         "SILKEN_RTO_MIN_US is above"},
    };
    struct silken_config c;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(SILKEN_ERR_INVALID, read_from(&c, rows[i].pairs));
        if (!strstr(why, rows[i].says))
            fail_msg("row %zu: \"%s\" does not say \"%s\"", i, why, rows[i].says);
    }
}

static void test_long_texts(void **state) {
    static char device[SILKEN_ENV_TEXTS + 32];
    const char *pairs[] = {"RANK=0", "WORLD_SIZE=2", "SILKEN_SWITCH_IP=1.1.1.1", device, NULL};
    struct silken_config c;

    (void)state;
    memset(device, 'x', sizeof device - 1);
    memcpy(device, "SILKEN_DEVICE=", 14);
    assert_int_equal(SILKEN_ERR_INVALID, read_from(&c, pairs));
    assert_non_null(strstr(why, "a shorter text"));
    device[14 + 1000] = 0;
    assert_int_equal(0, read_from(&c, pairs));
    assert_int_equal(1000, strlen(c.device));
    for (size_t i = 14; i + 1 < 14 + 1000; i += 2)
        memcpy(device + i, "%r", 2);
    assert_int_equal(0, read_from(&c, pairs));
    assert_int_equal(500, strlen(c.device));
}

static char *text_of(const char *path) {
    static char text[1 << 20];
    FILE *f = fopen(path, "r");

    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

// Each name of the table in 'source' is in the documents too.
static void test_documents_list_them(void **state) {
    static const char *const documents[] = {"hosts/include/silken/allreduce.h", "docs/manual.md"};
    static char names[64][32];
    unsigned count = 0;

    (void)state;
    for (const char *p = text_of("hosts/communicator/environment.c"); (p = strstr(p, "{\"")); p++)
        if (sscanf(p, "{\"%31[A-Z_]\"", names[count]) == 1)
            assert_in_range(++count, 1, 63);
    assert_in_range(count, 20, 63);
    for (unsigned d = 0; d < 2; d++) {
        const char *text = text_of(documents[d]);
        for (unsigned i = 0; i < count; i++)
            if (!strstr(text, names[i]))
                fail_msg("%s does not have %s", documents[d], names[i]);
    }
}

static int open_sized(size_t size, char last) {
    static union {
        struct silken_config config;
        char bytes[sizeof(struct silken_config) + 64];
    } big;
    struct silken_comm *comm;
    int rc;

    silken_config_init_sized(&big.config, size);
    big.config.device = "nonsense";
    big.config.worker_mac = big.config.switch_mac = "02:00:00:00:01:00";
    big.config.worker_ip = big.config.switch_ip = "10.0.0.1";
    big.config.workers = 2;
    big.bytes[sizeof big.bytes - 1] = last;
    why[0] = 0;
    rc = silken_open(&comm, &big.config, why, sizeof why);
    assert_int_not_equal(0, rc);
    return rc;
}

static void test_sizes(void **state) {
    (void)state;
    open_sized(sizeof(struct silken_config), 0);
    assert_non_null(strstr(why, "a device starts with"));
    open_sized(sizeof(struct silken_config) + 64, 0);
    assert_non_null(strstr(why, "a device starts with"));
    assert_int_equal(SILKEN_ERR_UNSUPPORTED, open_sized(sizeof(struct silken_config) + 64, 1));
    assert_non_null(strstr(why, "later libsilken"));
    assert_int_equal(SILKEN_ERR_INVALID, open_sized(sizeof(struct silken_config) / 2, 0));
    assert_non_null(strstr(why, "silken_config_init"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launchers),     cmocka_unit_test(test_all_variables),
        cmocka_unit_test(test_what_is_wrong), cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_sizes),         cmocka_unit_test(test_documents_list_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
