// SPDX-License-Identifier: Apache-2.0
//
// scripts.h: what DLCP's fuzz targets do with a string of any bytes, so that random bytes can do it
// without a fuzzer (test_scripts.c). A script aborts where the code breaks a promise.
//
// Concurrency: one script at a time.
#ifndef SILKEN_HARNESS_HOSTS_DLCP_SCRIPTS_H
#define SILKEN_HARNESS_HOSTS_DLCP_SCRIPTS_H

#include <stddef.h>

#include "hosts/dlcp/dlcp.h"

// What scripts have reached; each adds to it.
struct script_reach {
    uint64_t heard[DLCP_REASON_COUNT]; // frames or packets, by what came of them
    uint64_t met, failed;              // flows that have ended
};

// Frames that are changed or cut: what is accepted, written again, has the same body. Nothing
// beyond the frame's end is read (the sanitizers see to that).
void script_frame(const uint8_t *data, size_t size, struct script_reach *reach);
// A receiver that hears any packets at any times. Nothing is placed twice or outside of the tensor,
// and what it counts is what was placed.
void script_receiver(const uint8_t *data, size_t size, struct script_reach *reach);
// A sender that does. What it sends is within its tensor and not more than the receiver asked for;
// its rate is never below the least.
void script_sender(const uint8_t *data, size_t size, struct script_reach *reach);
// A station with flows that begin, end and are given back at any times, and any frames. Each flow
// ends once, with its bound or failed; what it sends is good frames, no more than asked for; each
// frame that is refused is counted once.
void script_station(const uint8_t *data, size_t size, struct script_reach *reach);

#endif
