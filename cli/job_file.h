// SPDX-License-Identifier: Apache-2.0
//
// job_file: what all stations of an ATP job know of it, from a file (section 3.2: dynamic job
// setup).
//
//      {
//        "job": 1,                                     1 to 127
//        "type": "f32",                                or "i32"; f32 when left out
//        "workers": [{"rack": 0, "lanes": [{"mac": "02:00:00:00:01:01", "ip": "10.0.0.1"}]}],
//        "servers": [{"rack": 1, "lanes": [{"mac": "02:00:00:00:01:02", "ip": "10.0.0.2"}]}],
//        "groups": [{"mac": "01:00:5e:00:01:00", "ip": "239.0.1.0"}],   one for each lane
//        "switches": [{"rack": 0,                      of each rack; []: none adds up
//                      "mac": "02:00:00:00:00:fe", "ip": "10.0.0.254"}],
//        "first_index": 0, "indices": 65536,           aggregators, when not all
//        "window": 200, "window_max": 1024             packets in flight
//      }
//
// A station is an entry of a list, by its number; all have as many lanes. An error in a
// file is reported as one sentence with its place. Errors are also addresses that cannot be read,
// that belong to a device where a group's is expected, or that two devices share, and numbers that
// contradict each other. So worker and server refuse the same files.
#ifndef SILKEN_CLI_JOB_FILE_H
#define SILKEN_CLI_JOB_FILE_H

#include <stddef.h>

#include "silken/allreduce.h"

struct sk_error;

struct job_file {
    uint8_t job;
    enum silken_type type;
    uint32_t workers, servers, lanes;
    uint32_t *rack, *server_rack;  // by worker, by server
    struct silken_address *worker; // lane by lane: [lane * workers + worker]
    struct silken_address *server; // the same: [lane * servers + server]
    struct silken_address *group;  // by lane
    uint32_t switches;             // 0: none adds up
    uint32_t *switch_rack;
    struct silken_address *switch_at;
    uint32_t first_index, indices, window, window_max;
    struct job_file_memory *memory;
};

// Reads the file's text; 'name' is for messages. Returns 0, or -1 with a sentence in 'err' and
// nothing to free.
int job_file_parse(struct job_file *j, const char *name, const char *text, size_t length,
                   struct sk_error *err);
int job_file_read(struct job_file *j, const char *path, struct sk_error *err);

// Accepts a zeroed one.
void job_file_free(struct job_file *j);

// Fills in what a worker's communicator takes from the file, but for the rank and the lanes'
// devices; 'lane' has job.lanes elements, whose addresses are filled in. The strings stay the
// file's.
void job_file_worker(const struct job_file *j, uint32_t rank, struct silken_config *config,
                     struct silken_lane *lane);

// The switch of a rack, which begins the job's sessions; null: there is none.
const struct silken_address *job_file_switch(const struct job_file *j, uint32_t rack);

#endif
