// SPDX-License-Identifier: Apache-2.0
//
// fuzz_job_file: any bytes as a job file of ATP. What is one says the same of every station as its
// lists.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/job_file.h"
#include "control/tables/control.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct job_file *j) {
    struct silken_lane lane[SILKEN_MAX_LANES] = {0};
    struct silken_config config;

    silken_config_init(&config);
    for (uint32_t rank = 0; rank < j->workers; rank++) {
        job_file_worker(j, rank, &config, lane);
        for (uint32_t i = 0; i < config.lanes; i++) {
            if (!lane[i].worker_mac || !lane[i].worker_ip || !config.atp.group[i].mac ||
                !config.atp.server[i * j->servers].ip) {
                abort();
            }
        }
    }
    if (j->job == 0 || j->lanes * j->servers > SILKEN_MAX_FLOWS) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct sk_error err = {""};
    struct job_file j;

    if (job_file_parse(&j, "fuzz.json", (const char *)data, size, &err)) {
        if (strncmp(err.text, "fuzz.json:", 10) != 0) {
            abort(); // refused without a place
        }
        return 0;
    }
    use(&j);
    job_file_free(&j);
    return 0;
}
