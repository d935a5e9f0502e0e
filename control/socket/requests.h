// SPDX-License-Identifier: Apache-2.0
//
// requests: what can be asked of a running switch, as JSON objects.
//
// A request is an object with "op" and the op's own members; the reply is {"ok": true, "result":
// ...} or
// {"ok": false, "error": "one sentence"}. Names and values are written as in the configuration file
// (config.h). Lists that may be long are read in pages: "from" is the first index wanted, and the
// result's "next" the one to go on with (absent at the end).
//
//   batch           requests [continue]    up to SK_BATCH requests that change something, in order,
//                                          as far as the first that fails; with "continue": true
//                                          all of them. {"done": how many were good, "replies":
//                                          [...]}. Packets go on in between: it is not one step for
//                                          them
//   hello                                  program, version, pipelines
//   objects                                tables, registers, counters, value sets, selectors,
//                                          hashes
//   table.dump      table [pipe] [from]    entries, default action, keys of one pipe (the first);
//                                          "differ": pipes that do not have these alike
//   table.add       table key [priority] action args [pipe]      "member" or "group" for "action"
//   table.modify    (the same)             table.delete    table key [priority] [pipe]
//   table.default   table action args [pipe]
//   table.default.reset  table [pipe]      the default action is what the program says
//   table.clear     table [pipe]
//   group.dump      selector [pipe] [from] the groups of an action selector
//   group.add       selector id [max_size] members [pipe]        group.modify    (the same)
//   group.delete    selector id [pipe]     group.clear     selector [pipe]
//   group.member    selector id hash [pipe]                      the member that a hash chooses
//   hash.fields     name fields [pipe]     "a" or "a[7:0]", in order
//   hash.algorithm  name algorithm [pipe]  {"algorithm": "CRC_32"...}: hashes.h
//   hash.reset      name [pipe]
//   hash.compute    name values [pipe]     {"field": value...}
//   register.read   name [from] [count]    per index and field one value a pipe
//   register.write  name index value [pipe]                value: a number, or {"field": number,
//                                                          ...}
//   counter.read    name [from] [count]
//   ports                                             state, device, metadata, counts, and queues
//                                                     in which something waits, of each
//   program         file                              compiled beside the switch, and takes its
//                                                     program's place: {"state": "compiling"}, ask
//                                                     again; or "replaced", with "kept" entries,
//                                                     "cells", and in "lost" sentences on what was
//                                                     not kept (carry.h)
//   reload                                            the configuration's file is read again; how
//                                                     many things were added, changed, removed;
//                                                     with another program in it as the request
//                                                     before
//   port.add        port device [name] [mtu]          as in the configuration
//                   [queues] [promiscuous]
//                   [metadata]
//   port.remove     port                              by number or name; what waits for it is sent
//                                                     before
//   port.set        port up                           by number or name; a port that is not up
//                                                     stays down whatever its link
//   port.metadata   port metadata                     {"field": value, ...}, or all bits as one
//                                                     value
//   stats                                             of the switch; "inside" is how many packets
//                                                     wait in it: received + generated + copies =
//                                                     sent + dropped + inside
//   pre                                               nodes and groups
//   pre.node.set    id [rid] ports                    pre.node.delete   id
//   pre.group.set   id nodes                          pre.group.delete  id
//   state           [whole]                           {"state": text}: all that packets left behind
//                                                     (state.h), in slices, each consistent; with
//                                                     "whole": true all of it is, and traffic waits
//                                                     meanwhile
//   job             [job]                             aggregation jobs by their numbers (jobs.h)
//   watch                                             a snapshot of what changes by itself:
//                                                     "clock" (ns), "program", "stats" and "ports"
//                                                     as above, "jobs"
//                                                     (jobs.h: sk_jobs_brief, watch/aggregators.h),
//                                                     "alarms". Rates are differences over the
//                                                     clock's
//   trace.start     [ports] [fields] [count]          `silken run` only: arms a filter for the next
//                   [timeout] [form]                  packets that come in by "ports" and have
//                                                     "fields" (watch/shadow.h); form: "text" or
//                                                     "json" (tracer.h)
//   trace.read                                        {"state":
//                                                     "compiling"|"armed"|"done"|"failed", "error",
//                                                     "seen", "shown", "differing": packets,
//                                                     "packets":
//                                                     texts since the last time}; to be asked every
//                                                     second
//   trace.stop
//   alarms                                            {"alarms": [...]} that are raised
//                                                     (watch/alarms.h)
//
//   meter.read      name [from] [count] [pipe]        specifications of meters and filters by index
//   meter.write     name index spec [pipe]            index: a number or "all"; names: attached.h
//   meter.reset     name index [pipe]                 as if never set
//   counter.write   name index [packets] [bytes]      counter.clear   name
//   entry.read      table key [priority] [pipe]       its counts, meter specification and ageing
//   entry.write     table key [priority] data [pipe]
//   idle.poll                                         entries that became idle, or active again
//   idle.update     table                             hit states (idle.h)
//   record.start    [ports] [snaplen] [ring]          records: {"state": "preparing"}, ask again;
//                                                     or
//                                                     {"state": "recording"...} with the descriptor
//                                                     of the memory (pipeline/observe/recorder.h)
//   record.stop                                       also done when the client goes away
//   events                                            from now on a line is sent for each event:
//                   {"event": "idle_timeout", "table", "key", "priority", "state"}
//                   {"event": "digest", ...}, {"event": "link", "port", "up"}
//
// A request that changes the switch does so between two bursts of packets. A request that reads
// copies state that packets change in slices (control/tables/pauses.h); packets go on while the
// copies become text.
#ifndef SILKEN_CONTROL_SOCKET_REQUESTS_H
#define SILKEN_CONTROL_SOCKET_REQUESTS_H

#include <jansson.h>

#include "control/config/config.h"
#include "pipeline/ports/ports.h"

struct sk_recording;

struct sk_idle_event;
struct sk_at; // json.h

struct sk_service {
    struct sk_switch *sw;
    uint64_t now;                       // ns, the clock that packets are stamped with
    const struct sk_config_port *ports; // n_ports of them: those with a device, by number
    size_t n_ports;
    // These, as they are now: a request before may have changed them. Null: they are as above.
    void (*list)(void *aux, const struct sk_config_port **ports, size_t *n);
    // What the port's device knows; false: it has none. May be null.
    bool (*device)(void *aux, uint16_t port, struct sk_port_device *out);
    // Requests that whoever runs the switch answers himself, without a pause: a new reference, or
    // null after failing 'at''s document; '*known' false: there is none of that name. May be null.
    json_t *(*other)(void *aux, const char *op, const struct sk_at *at, bool *known);
    // What whoever runs the switch knows of alarms that are raised (watch/alarms.h) and of jobs of
    // ATP (watch/aggregators.h): new references. May be null.
    json_t *(*alarms)(void *aux);
    json_t *(*aggregators)(void *aux);
    // Around what touches the switch, while other threads run its cores; may be null.
    void (*pause)(void *aux);
    void (*resume)(void *aux);
    void (*resume_same)(void *aux); // after a pause in which nothing was changed; null: as 'resume'
    void *aux;
    // Told, before each request, whose it is, and of each client that has gone: numbers above 0,
    // which no other client of the server has. May be null.
    void (*asks)(void *aux, uint64_t client);
    void (*left)(void *aux, uint64_t client);
    bool *subscribe; // set by the request "events"; null: there is nobody to send them to
    // Recording (recording.h), null: there is none; whether this client started it, and the
    // descriptor that goes to the client with the reply (-1), null: nothing can be passed.
    struct sk_recording *recording;
    bool *records;
    int *pass;
};

#define SK_PAGE  512u  // entries or cells in a reply
#define SK_BATCH 4096u // requests in a batch

// The line that is sent for an entry's change, a new reference.
json_t *sk_idle_event_json(const struct sk_idle_event *event);

// Executes one request given as text; the reply is a new reference and never null.
json_t *sk_request(const struct sk_service *service, const char *text, size_t length);

#endif
