// SPDX-License-Identifier: Apache-2.0
//
// script.h: what the fuzz target does with a string of any bytes, so that random bytes can do it
// without a fuzzer (test_frame.c). It aborts where the code breaks a promise.
//
// Concurrency: one script at a time.
#ifndef SILKEN_HARNESS_HOSTS_ROCE_SCRIPT_H
#define SILKEN_HARNESS_HOSTS_ROCE_SCRIPT_H

#include <stddef.h>

#include "hosts/roce/worker.h"

// A worker with messages under way hears the bytes as a frame, and then packets that are made of
// them, some of them changed or cut, many as its switch would send them. What is accepted, written
// again, is the same frame. It never counts a message of which it did not hear each packet in its
// turn. Adds to '*heard', by what came of frames, and counts the messages.
struct roce_script_reach {
    uint64_t heard[ROCE_REASON_COUNT];
    uint64_t messages;
};
void roce_script(const uint8_t *data, size_t size, struct roce_script_reach *reach);

#endif
