// SPDX-License-Identifier: Apache-2.0
//
// libra: Libra_s, the part of Libra that runs on the CPU of a switch with p4/libra (Libra 3.6). It
// admits jobs, and it is what makes their packets reliable where the data plane alone cannot be:
//
//     - of an answer that a worker or server gets, the switch gives a copy to the CPU port. It is
//       sent again until it is acknowledged. What a collect has cleared is nowhere else: a server
//       that asks for it again gets this copy, or is told that it is lost.
//     - pairs of a push whose tries are used up: they go to their servers, which push them to the
//       switch; they are sent again until the server's ack. For the worker the push is done.
//     - a worker that begins asks which sequence number is above all that were used under its
//       number. One of another incarnation of the job is refused.
//
// It stands on the control API by name (control/tables/control.h) and is fed as control/tor is:
//
//     l = libra_s_new(&host, config->libra, &err)   the member "libra" of the configuration
//     while (...) {
//         libra_s_frame(l, frame, length, now)      what the switch sent to the CPU port
//         libra_s_run(l, now)                       every millisecond or so
//     }
//
// The section, and a job (of "jobs" and of the request job.add):
//
//     {"mac": "02:00:00:00:00:fe", "address": "10.0.0.254",   the switch's: workers send to it
//      "shares": 4,                                           of all cells; a job has one
//      "jobs": [{"name": "ads",
//                "layout": "ads.layout",                      hosts/libra/layout.h: the number
//                                                             of the job, and its epoch
//                "workers": ["1:10.0.0.1/02:00:00:00:00:01"], port, address, MAC: with one, frames
//                "servers": ["9:10.0.0.9/02:00:00:00:00:09"], to it are forwarded; servers must
//                                                             have one
//                "cells": 1000,                               in each of 16 registers; without: a
//                                                             share
//                "parameters": 100000}]}                      of the job; equal ranges to servers
//
// Workers have the numbers 0 and up, servers those after them, as hosts/keyvalue has it; on servers
// Libra_s is worker number 'workers'. Cells and records of a job are cleared when it is added, and
// nobody is admitted before, so a job never sees what another one left. What a removed job's last
// packets may still change is not cleared before they have left the switch, and what it has sent
// here is not taken for the next one's with its number: until that has come, too, a job that gets
// one of these waits, some milliseconds, or tenths of a second where packets of others are inside
// all the time, and one with a state (libra.load) is refused.
//
// MIGRATION. A controller (`silken libra control`) moves a job to another switch with the same
// address, in requests to both: libra.hold (nobody is admitted any more; what is inside is
// finished), libra.save (cells, records, copies of answers, as text, with a digest), libra.load
// there (nobody is admitted yet; the digest is that of what was written), libra.admit there with
// the next epoch. Members are told by frames until they say that they have heard, and repeat what
// is on the way: records have moved, too, so nothing is added twice. libra.end tells them that the
// job is over. libra.status is a heartbeat's answer.
//
// Thread-safety: all calls on one thread, the control thread. Nothing here waits, but for the pipes
// when tables and registers are written or read, between 'pause' and 'resume'.
//
// Files:
//
//     libra.c     the whole: frames from the switch, timers, requests
//     copies.c    copies of answers
//     rests.c     what is left of pushes
//     jobs.c      jobs: admission, cells, records
//     late.c      what of a removed job is on its way to the CPU
//     migrate.c   jobs as text, out of a switch and into another one
//     jobs_read.c the section and requests
//     show.c      what an operator sees
#ifndef SILKEN_CONTROL_LIBRA_LIBRA_H
#define SILKEN_CONTROL_LIBRA_LIBRA_H

#include "base/json.h"
#include "pipeline/switch/switch.h"

struct libra_s;
struct libra_layout;

// What it stands on.
struct libra_s_host {
    struct sk_switch *sw; // runs p4/libra
    uint16_t cpu_port;
    // Around what touches the switch, while other threads run it; may be null.
    void (*pause)(void *aux);
    void (*resume)(void *aux);
    // Gives a frame to the CPU port. False: there is no room.
    bool (*send)(void *aux, const uint8_t *frame, uint32_t length);
    // A number that nobody can guess, by which frames to the own address are known. Null: 0.
    uint64_t (*random)(void *aux);
    // Where a file is that the section names, malloc'ed. Null: it is as it is said.
    char *(*beside)(void *aux, const char *path);
    // The layout that a job names, which is the caller's then. 0, or negative with a sentence. A
    // null pointer: it is a file.
    int (*layout)(void *aux, const char *name, struct libra_layout *layout, struct sk_error *err);
    // Whether a request may name this file: 0, or negative with a sentence. Null: any.
    int (*may_read)(void *aux, const char *path, struct sk_error *err);
    void *aux;
};

// Null with a sentence that has the place in the section; nothing is admitted then.
struct libra_s *libra_s_new(const struct libra_s_host *host, const struct sk_at *section,
                            struct sk_error *err);
void libra_s_free(struct libra_s *l); // null allowed; leaves the switch's tables as they are
void libra_s_host_changed(struct libra_s *l, const struct libra_s_host *host);

// Frames are not trusted.
void libra_s_frame(struct libra_s *l, const uint8_t *frame, uint32_t length, uint64_t now_ns);
// Sends what is due.
void libra_s_run(struct libra_s *l, uint64_t now_ns);
// When libra_s_run() has something to do next, UINT64_MAX: nothing.
uint64_t libra_s_deadline(struct libra_s *l);
// A request whose "op" is "job.add", "job.remove", "job.list", "job.show" or begins with "libra.":
// the result, a new reference, or null after the document of 'at' has failed. '*known' false: it is
// another one.
json_t *libra_s_request(struct libra_s *l, const char *op, const struct sk_at *at, bool *known);
// The numbers for operators: as "job.list" has them; a new reference.
json_t *libra_s_list(struct libra_s *l);
// Copies and pushes that wait for an ack.
size_t libra_s_waiting(const struct libra_s *l);

#endif
