// SPDX-License-Identifier: Apache-2.0
//
// record: what the ports of a running switch receive and send (pipeline/observe/recorder.h), into
// pcapng files.
//
// An interface "port-N" for each port, nanoseconds of the switch's clock. What a port received is
// inbound, what it sent outbound, and the records of a packet have its number as their packet id. A
// packet that did not go on has a comment that begins "silken drop: "; of one that waited before it
// was dropped there is a note, a record of its own without bytes and direction. Where records are
// missing, the next one says how many ("silken lost: ", and epb_dropcount), and each interface's
// statistics do at the end.
//
// One file, or with a size a ring of them: FILE-00001.pcapng and on, the oldest removed. Each of
// these begins a section of its own and can be read alone.
//
// Not thread-safe for the same recording.
//
// Files:
//
//     record.c  the files, and what is said of gaps
#ifndef SILKEN_PCAP_RECORD_RECORD_H
#define SILKEN_PCAP_RECORD_RECORD_H

#include "base/error.h"
#include "pipeline/observe/recorder.h"

#define RECORD_SMALLEST_FILE (UINT64_C(1) << 20)

struct record_port {
    uint16_t port;
    const char *device, *name; // or null
};
struct record_options {
    const char *path;
    uint64_t file_bytes; // a file is not longer; 0: one file of any length
    unsigned files;      // of that length that are kept; 0: all
    uint64_t packets;    // received and sent, after which it is done; 0: never
};
struct record_counts {
    uint64_t received, sent, dropped, lost, bytes;
    unsigned files; // written, also those that were removed
};

// FILE.pcapng -> FILE.config.json; the caller's to free. False: what is there is a device or FIFO
// (or the path of this process' output), beside which nothing is put.
char *record_config_path(const char *path);
bool record_has_beside(const char *path);
// Whether a port's device (as DPDK's --vdev takes it) reads or writes this file.
bool record_is_of_device(const char *path, const char *device);

struct record_files;
// Whether record_open() can go well, as far as that can be seen without making or changing a file:
// there is a folder that may be written, no earlier ring that would be mixed up with this one, and
// no file that is something else than a recording. 0, or negative with a sentence.
int record_check(const struct record_options *opt, struct sk_error *err);
// Looks where the files are to be, and makes the first one. Null with a sentence: it cannot be
// written, files of an earlier recording are there that would be taken for this one's, or what is
// there is no recording, or being recorded into: nothing is changed then.
struct record_files *record_open(const struct record_options *opt, struct sk_error *err);
// Ports whose interfaces are to be there from the start of every file; what they point to is
// copied.
void record_ports(struct record_files *f, const struct record_port *ports, size_t n);

enum record_progress { RECORD_FAILED = -1, RECORD_IDLE, RECORD_WORKED, RECORD_DONE };
// Writes what waits in the reader, as far as it is read in one go, and lets others see what was
// written when nothing comes for a while. RECORD_DONE: the reader has ended, or 'packets' are
// there; FAILED with a sentence: the disk is full.
enum record_progress record_pump(struct record_files *f, struct sk_record_reader *r,
                                 struct sk_error *err);
void record_counts(const struct record_files *f, const struct sk_record_reader *r,
                   struct record_counts *out);
const char *record_path(const struct record_files *f); // of the file that is being written
// Ends the last file and frees 'f' (null allowed); 'r' may be null: nothing was recorded. 0, or
// negative with a sentence.
int record_close(struct record_files *f, const struct sk_record_reader *r, struct sk_error *err);

#endif
