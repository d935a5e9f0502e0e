// SPDX-License-Identifier: Apache-2.0
//
// capture: packets from and into capture files, one at a time.
//
// Read: pcap (2.0 to 2.4, also with the longer records of some Linux tools) and pcapng (all
// sections, with their own byte orders, interfaces and time resolutions) of Ethernet, or of link
// types that carry Ethernet or IP, which is given an Ethernet header (link.c); plain or gzip, from
// files, FIFOs or, as "-", standard input. Blocks of other kinds than packets are skipped. A frame
// check sequence that the file says its packets end with is taken off. Written: pcap with
// nanoseconds, or pcapng, little-endian whatever the machine, so that the same packets give the
// same bytes. Nothing holds more than one packet and a buffer. Not thread-safe for the same
// capture.
//
// Formats: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng; gzip: RFC 1952.
//
// Files:
//
//     source.c  bytes of a file, FIFO or standard input, through gzip where they are
//     read.c    pcap, and what both formats have in common
//     ng.c      pcapng
//     link.c    Ethernet frames of packets that were captured with something else in front;
//               link_wan.c, link_wifi.c, link_tools.c have kinds of it
//     write.c   writing both formats
#ifndef SILKEN_PCAP_CAPTURE_CAPTURE_H
#define SILKEN_PCAP_CAPTURE_CAPTURE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define CAPTURE_LONGEST (256u << 10) // bytes of a packet; what says that it has more is refused

enum capture_form { CAPTURE_PCAP, CAPTURE_PCAPNG };
// As seen from the interface: what it received, what it sent.
enum capture_direction { CAPTURE_UNKNOWN, CAPTURE_INBOUND, CAPTURE_OUTBOUND };

struct capture_interface {
    uint32_t index;   // in its section; 0 in a pcap
    uint32_t serial;  // in the file
    const char *name; // or null
};

struct capture_frame {
    uint64_t time_ns; // since 1970; of a packet without a time, that of the one before
    uint8_t *bytes;   // valid until the next call, as all that is pointed to here; may be written
    uint32_t length;  // of 'bytes'
    uint32_t wire_length; // as it was on the wire; larger when the capture cut it
    const struct capture_interface *interface;
    const char *comment; // the first one, not terminated; or null
    uint32_t comment_length;
    uint64_t packet_id, lost; // of an enhanced packet: of its options; 0: there is none
    enum capture_direction direction;
    bool timeless;
    // Null; or why the packet carries neither Ethernet nor IP, a clause about "it": 'bytes' are
    // then as they were captured. Such a packet is the last of few, or the only one.
    const char *foreign;
};

struct capture;
// Null with a sentence that names the file: it cannot be opened, is empty, is no capture, is not of
// Ethernet.
struct capture *capture_open(const char *path, struct sk_error *err);
// The same; once '*stop' is not 0 (a signal handler may set it), also while it waits for bytes, the
// capture is at its end.
struct capture *capture_open_until(const char *path, const volatile sig_atomic_t *stop,
                                   struct sk_error *err);
void capture_close(struct capture *c); // null allowed
// 1 and fills 'out'; 0 at the end; negative with a sentence when the file is corrupt or ends in a
// packet.
int capture_next(struct capture *c, struct capture_frame *out, struct sk_error *err);
// The same for as many packets as can be had without waiting for bytes, at most 'n', all valid
// until the next call: returns how many. Whoever needs 'out[i]' no more may write to CAPTURE_FRONT
// bytes in front of out[i + 1].bytes, too; after all bytes CAPTURE_BEHIND can be read.
#define CAPTURE_FRONT  1280u
#define CAPTURE_BEHIND 64u
int capture_next_few(struct capture *c, struct capture_frame *out, int n, struct sk_error *err);
const char *capture_path(const struct capture *c);
enum capture_form capture_form(const struct capture *c);
// Whether an interface of the section that is being read has this name.
bool capture_has_interface(const struct capture *c, const char *name);
uint64_t capture_count(const struct capture *c); // packets read so far
// Bytes of the file that were taken, and that it has: 0 when it is no regular file.
void capture_position(const struct capture *c, uint64_t *done, uint64_t *size);

// ---- writing ----

struct capture_record {
    uint64_t time_ns; // of before 2106 (2^32 s)
    const uint8_t *bytes;
    uint32_t length; // at most CAPTURE_LONGEST
    // Of these a pcap keeps nothing. A pcapng has an interface for each port, "port-N", from its
    // first packet on.
    uint16_t port;
    enum capture_direction direction;
    const char *comment;  // or null; cut to 65535 bytes
    uint32_t wire_length; // as it was on the wire; 0: 'length'
    uint64_t packet_id;   // that all records of a packet have; 0: none
    uint32_t lost;        // records that are missing before this one
};

struct capture_writer;
// Replaces the file. Null with a sentence.
struct capture_writer *capture_create(const char *path, enum capture_form form,
                                      struct sk_error *err);
// The same into a file that is open already and becomes the writer's; 'path' is for sentences.
struct capture_writer *capture_create_in(int fd, const char *path, enum capture_form form);
// 0, or negative with a sentence: the disk is full. It says so for all later packets, too.
int capture_write(struct capture_writer *w, const struct capture_record *r, struct sk_error *err);
// Makes a pcapng's interface of a port, with a description (or null), before its first packet.
void capture_describe(struct capture_writer *w, uint16_t port, const char *description);
// How many packets a pcapng's interface has, and how many more it should have. 0, or negative with
// a sentence.
struct capture_statistics {
    uint16_t port;
    uint64_t from_ns, to_ns, packets, lost;
};
int capture_write_statistics(struct capture_writer *w, const struct capture_statistics *s,
                             struct sk_error *err);
// Bytes of the file so far, those in the buffer included: for files of a limited size.
uint64_t capture_size(const struct capture_writer *w);
// Gives what is in the buffer to the system. 0, or negative with a sentence.
int capture_flush(struct capture_writer *w, struct sk_error *err);
// Frees 'w' (null allowed); negative with a sentence when something was not written.
int capture_finish(struct capture_writer *w, struct sk_error *err);
// What the file's name asks for: pcapng when it ends so.
enum capture_form capture_form_of(const char *path);

#endif
