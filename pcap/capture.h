// SPDX-License-Identifier: Apache-2.0
//
// capture: packets from and into capture files, one at a time.
//
// Read: pcap and pcapng of Ethernet, micro- and nanoseconds, plain or gzip, from files, FIFOs or, as
// "-", standard input (libpcap, zlib). Written: pcap with nanoseconds, little-endian whatever the
// machine, so that the same packets give the same bytes. Nothing holds more than one packet and a
// buffer. Not thread-safe for the same capture.
#ifndef SILKEN_PCAP_CAPTURE_H
#define SILKEN_PCAP_CAPTURE_H

#include "control/error.h"

struct capture_frame {
    uint64_t time_ns;     // since 1970
    const uint8_t *bytes; // valid until the next call
    uint32_t length;      // of 'bytes'
    uint32_t wire_length; // as it was on the wire; larger when the capture cut it
};

struct capture;
// Null with a sentence that names the file: it cannot be opened, is empty, is no capture, is not of
// Ethernet.
struct capture *capture_open(const char *path, struct sk_error *err);
void capture_close(struct capture *c); // null allowed
// 1 and fills 'out'; 0 at the end; -1 with a sentence when the file is corrupt or ends in a packet.
int capture_next(struct capture *c, struct capture_frame *out, struct sk_error *err);
const char *capture_path(const struct capture *c);
uint64_t capture_count(const struct capture *c); // packets read so far

struct capture_writer;
// Replaces the file. Null with a sentence.
struct capture_writer *capture_create(const char *path, struct sk_error *err);
// 0, or -1 with a sentence: the disk is full. 'time_ns' is of before 2106 (2^32 s).
int capture_write(struct capture_writer *w, uint64_t time_ns, const uint8_t *bytes, uint32_t length,
                  struct sk_error *err);
// Frees 'w' (null allowed); -1 with a sentence when something was not written.
int capture_finish(struct capture_writer *w, struct sk_error *err);

#endif
