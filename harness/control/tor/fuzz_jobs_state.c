// SPDX-License-Identifier: Apache-2.0
//
// fuzz_jobs_state: any bytes as the file in which a ToR remembers its jobs. What is taken has the
// shape that its reader may rely on, and what is not has one sentence.
#include <stdlib.h>
#include <string.h>

#include "control/tor/jobs_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good) {
    if (!good)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct sk_error err = {""};
    char *text = malloc(size + 1); // not a byte more is there
    must(text != NULL);
    memcpy(text, data, size);
    json_t *jobs = jobs_state_parse(text, size, &err), *job;
    free(text);
    size_t i;
    must(jobs ? json_is_array(jobs) && json_array_size(jobs) <= JOBS_MOST : err.text[0] != '\0');
    json_array_foreach(jobs, i, job) {
        const json_t *group = json_object_get(job, "group");
        must(json_is_object(json_object_get(job, "request")));
        must(json_integer_value(json_object_get(job, "number")) <= UINT8_MAX);
        must(json_integer_value(json_object_get(job, "first")) <= UINT16_MAX);
        must(!group || json_is_string(group));
    }
    json_decref(jobs);
    return 0;
}
