// SPDX-License-Identifier: Apache-2.0
//
// tm: what a JSON document can say about the traffic manager and what stands around it: mirror
// sessions, LAGs, ECMP groups, backup ports, queues of ports, the packet generator, digests. Read
// into an item, which is applied to a switch later (the configuration file) or at once (a request).
//
// Members in brackets may be left out; numbers are 0 then, unless said otherwise.
//
//   SK_TM_MIRROR   id direction [port] [mcast_a] [mcast_b] [cpu] [qid] [cos] [color] [cpu_cos]
//                  [hash1]
//                  [hash2] [xid1] [xid2] [rid] [deflect] [max]   direction: ingress, egress or both
//   SK_TM_LAG      id ports [left] [right]
//   SK_TM_ECMP     id nodes                         null is an empty slot
//   SK_TM_BACKUP   port backup
//   SK_TM_GLOBAL   rid
//   SK_TM_POOL     id cells [red] [yellow] [green]  a pool of cells that queues share: 0 to 3
//   SK_TM_QUEUE    port [speed] [limit] [red] [yellow] [green] [guaranteed] [pool] [share] [base]
//                  [schedule]     Mbit/s; cells; a share of what is free in the pool: 0.015625 ...
//                  0.5, 1, 2, 4, and cells of the pool that it does not limit; 'schedule' has what
//                  is not the same for all queues:
//                  [{qid [priority] [weight: 1023] [red] [yellow] [green] [guaranteed] [pool]
//                  [share] [base] [pooled]}], priority 7 the highest, pooled false: in no pool.
//                  What it leaves out is the port's.
//   SK_TM_DEFLECT  port [qid]
//   SK_TM_BUFFER   pipe offset bytes                bytes in hexadecimal
//   SK_TM_PKTGEN   pipe app trigger length [offset] [timer] [pattern] [mask: all] [batches: 1]
//                  [packets: 1] [batch_gap] [packet_gap] [source: 68]
#ifndef SILKEN_CONTROL_TABLES_TM_H
#define SILKEN_CONTROL_TABLES_TM_H

#include "control/tables/json_switch.h"

enum sk_tm_kind {
    SK_TM_MIRROR,
    SK_TM_LAG,
    SK_TM_ECMP,
    SK_TM_BACKUP,
    SK_TM_GLOBAL,
    SK_TM_POOL,
    SK_TM_QUEUE,
    SK_TM_DEFLECT,
    SK_TM_BUFFER,
    SK_TM_PKTGEN,
};

struct sk_tm_item {
    enum sk_tm_kind kind;
    uint32_t id; // of the session, LAG, ECMP group, application; offset in the buffer
    uint16_t port, other;
    unsigned pipe;
    struct sk_mirror_session mirror;
    struct sk_pre_lag lag;
    uint32_t nodes[SK_PRE_ECMP_SLOTS];
    size_t n;
    struct sk_app_pool pool;
    struct sk_port_queue queue;
    struct sk_pktgen_app app;
    const uint8_t *bytes; // as long as the document
};

// Fails the document when it is not as above. 'request': it may also have "op".
void sk_tm_read(const struct sk_at *at, enum sk_tm_kind kind, bool request, struct sk_tm_item *out);
// Whether the queues name no pools but those: a bit each. Else fails the document.
bool sk_tm_names_pools(const struct sk_at *at, const struct sk_tm_item *item, unsigned pools);
// 0, or -1 after filling 'err'; timers count from the switch's clock.
int sk_tm_apply(struct sk_switch *sw, const struct sk_tm_item *item, struct sk_error *err);

// Executes the request 'op' when it is one of these; else '*known' is false. Null after failing the
// document.
//   mirror.set (SK_TM_MIRROR)   mirror.delete id   mirror     sessions
//   pre.lag.set  pre.ecmp.set  pre.ecmp.delete id  pre.backup.set  pre.global
//   port.queue  port.deflect   port.set port up    queues     those with a speed, and pools
//   pool.set (SK_TM_POOL)      pool.delete id     none that a queue uses
//   pktgen.buffer  pktgen.set  pktgen.off pipe app  pktgen    applications and counts
json_t *sk_tm_request(const char *op, const struct sk_at *at, struct sk_switch *sw, bool *known);

// An event (socket.h): {"event": "digest", "digest": name, "pipe": n, "time": ns, "fields": {name:
// "value"}}
json_t *sk_digest_json(const struct sk_digest *d);

#endif
