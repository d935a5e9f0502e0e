// SPDX-License-Identifier: Apache-2.0
//
// switch_impl: the inside of a switch and of its cores, shared by the folders of the engine
// (switch.h lists them). Nobody else includes it.
//
// Each pipe has two first-in first-out queues of packets: those that wait for its ingress and those
// that wait for its egress (path/run.c says which do). The run loop takes a burst from each in
// turn. All packets of one port wait in the same queue, which keeps their order.
#ifndef SILKEN_PIPELINE_SWITCH_SWITCH_IMPL_H
#define SILKEN_PIPELINE_SWITCH_SWITCH_IMPL_H

#include <stdatomic.h>

#include "pipeline/switch/flows.h"
#include "pipeline/switch/line.h"
#include "pipeline/switch/pool.h"
#include "pipeline/tm/pre.h"
#include "pipeline/switch/core.h"
#include "pipeline/trace.h"

#define SK_MIN_FRAME 14u
#define SK_NO_RESUBMIT_FROM                                                                        \
    64u // local ports of a Tofino's from which nothing can be resubmitted (tna-facts 5.3)

struct fifo {
    struct sk_packet *first, *last;
};

static inline void fifo_push(struct fifo *f, struct sk_packet *p) {
    p->next = NULL;
    if (f->last)
        f->last->next = p;
    else
        f->first = p;
    f->last = p;
}

static inline struct sk_packet *fifo_pop(struct fifo *f) {
    struct sk_packet *p = f->first;
    if (p) {
        f->first = p->next;
        if (!f->first)
            f->last = NULL;
    }
    return p;
}

// What a pipe's programs told the control plane last (digest.c). 'is' is twice the number of the
// digest that it holds, plus 2; odd while that is written. The words are what a digest_content is
// in memory.
struct digest_content {
    uint64_t order; // among those of all pipes of a core
    struct sk_digest digest;
};
#define DIGEST_WORDS (sizeof(struct digest_content) / sizeof(uint64_t))
_Static_assert(sizeof(struct digest_content) % sizeof(uint64_t) == 0, "whole words are copied");
struct digest_slot {
    _Atomic(uint64_t) is;
    _Atomic(uint64_t) word[DIGEST_WORDS];
};
struct digest_ring {
    struct digest_slot *slots; // SK_DIGEST_QUEUE of them; null: the program has no digests
    _Atomic(uint64_t) written;
};

struct pipe {
    // of the pipes that other cores run, there is the description only
    const struct sk_pipeline_desc *desc;
    struct sk_pipe *state;
    struct fifo ingress, egress;
    uint32_t again; // packets in 'ingress' that were inside before
    struct digest_ring digests;
    struct pktgen *pktgen; // null: never configured
};

static inline void ingress_push(struct pipe *pipe, struct sk_packet *p) {
    pipe->again += p->passes > 0;
    fifo_push(&pipe->ingress, p);
}

static inline struct sk_packet *ingress_pop(struct pipe *pipe) {
    struct sk_packet *p = fifo_pop(&pipe->ingress);
    if (p)
        pipe->again -= p->passes > 0;
    return p;
}

// What an isolated pipe sends in a round, by core: packets, and buffers for packets that
// came.
struct sent {
    struct fifo to[SK_PIPES], paid[SK_PIPES];
    uint64_t first; // arrival; UINT64_MAX: nothing
    uint32_t n, n_paid;
};

// One of a port's queues: packets that wait for a port with a speed (queue.c).
struct queue {
    struct fifo waiting;
    // of the first that waits, or of the last that was sent, in the time of its priority
    uint64_t finish;
    uint32_t cells;
    // what holds for it, of its own settings or the port's
    uint16_t weight;
    uint8_t priority, share;
    struct sk_queue_limits limits;
    uint32_t guaranteed, base;
    struct app_pool *pool; // or null
    struct sk_queue_counts counts;
};

// A pool of cells, of all cores (queue.c). What is written for each packet is apart from what is
// only read, and from other pools'.
struct app_pool {
    struct sk_app_pool as;
    uint8_t apart[64];
    _Atomic uint32_t used;
    uint8_t behind[64];
};

struct port_queue {
    struct sk_port_queue *as;   // as it was set; null: never
    uint32_t speed_mbps, limit; // of these
    uint32_t cells;             // of all queues, beyond what is guaranteed to them
    bool listed;                // in sk_core.shaped
    uint64_t free_at;
    uint64_t served[SK_PRIORITIES]; // the time of each priority: the finish of what was sent last
    uint64_t busy[SK_PORT_QUEUES / 64]; // which queues have something, a bit each
    // Flow control (flow_control.c). Any core holds queues and lets them go on.
    bool holds;                                 // some queue can be held
    _Atomic uint64_t held[SK_PORT_QUEUES / 64]; // which are, a bit each
    _Atomic uint64_t resumed_at; // when one last went on: nothing left it before that
    struct queue *queues;        // SK_PORT_QUEUES; null until the port is listed for the first time
};

// What of a port a core looks at for each packet, counts and keeps.
struct port {
    uint32_t longest, longest_tagged; // frame to be sent; one that has a tag
    uint8_t metadata[SK_RESUBMIT_BYTES];
    struct sk_port_stats stats;
    struct port_queue queue;
};

// What a core does with a packet of the port without asking any further.
enum {
    PORT_RECEIVES = 1,     // it is there and this core's
    PORT_SENDS = 2,        // and it is ready to send and has no queue of its own
    PORT_RECIRCULATES = 4, // the same of one that recirculates, which does not send
    PORT_TRAPS = 8,        // the trap wants to see what it receives
    PORT_CROSSES = 16      // it is there and another core's
};

// What one lcore owns, and touches for each packet: its pipes, buffers, queues, counts and clock,
// and what it is to know of the settings without asking for them. Nobody else looks at it while the
// core runs, but for rings between two cores (cores.h), digests and a recording. What takes a core
// runs on its thread, or while no core runs.
struct sk_core {
    struct sk_switch
        *sw; // whose it is: settings, which do not change while a core runs, and the other cores
    struct pipe pipes[SK_PIPES];
    struct port ports[SK_PORTS];
    uint8_t ways[SK_PORTS];       // what the port's state comes to: PORT_ bits (core_port_changed)
    struct sk_hop hops[SK_PORTS]; // of those with PORT_RECIRCULATES
    // The same as in the switch's options and program.
    bool (*tx)(void *aux, uint16_t dev_port, const uint8_t *frame, uint32_t length);
    void *aux;
    uint32_t packet_bytes, max_recirculation;
    bool tofino_2;
    bool invariant_crc; // frames of RoCEv2 have a right one, in and out
    bool single;        // sk_core_is_single()
    uint8_t number;
    struct sk_pool *pool;
    struct sk_flows *flows; // or null
    struct sk_observer *observer;
    struct recorder_core *recorder; // null: no one records
    struct sk_trap *trap;           // null: none is set
    bool watched;                   // somebody observes
    bool observed;                  // there has been an observer: packets may still name it
    uint16_t shaped[SK_PORTS];      // ports that have or had a speed
    uint32_t n_shaped;
    uint32_t n_pktgens; // pipes with a packet generator
    uint64_t now;       // the latest time that the core was told
    struct sk_switch_stats stats;
    uint64_t serial;
    // Rings to other cores (cores.h), by core, for packets and for buffers paid for packets that
    // came; what is still to be paid.
    struct crossing *to[SK_PIPES], *back[SK_PIPES];
    uint32_t owed[SK_PIPES];
    // Isolated pipes (isolated.h): what goes to other pipes in this round and went in the one
    // before, and what has come and arrives later; enq_tstamp is the time of arrival.
    struct sent sent[2];
    struct fifo arrivals;
    uint64_t round;
    struct sk_pre_marks *marks;
    line_fn *copy_line;
    uint32_t egress_reach; // the most of all pipes' programs: sk_pipeline_desc
    // What a program's pass may fill in; cleared when it has. There is one pass at a time: what it
    // sends elsewhere waits, or is on its way to a port.
    struct sk_ingress_out ingress_out;
    struct sk_egress_out egress_out;
    enum sk_drop_reason egress_drop; // of the packet that egress dropped last
    uint64_t pass_ns;                // its time
    uint64_t fault_threshold; // a packet is lost when a 53-bit random number is below; 0 never
    uint64_t fault_state;
};

// What the control plane has set of a port; cores have a copy of what they ask for each packet
// (struct port).
struct port_settings {
    bool up, loopback, not_forwarding; // the last: for multicast
    bool fell;                         // it was up, and is not
    bool internal;                     // recirculates without being configured
    uint32_t longest, longest_tagged;
    uint8_t metadata[SK_RESUBMIT_BYTES];
};

// What the control plane owns: the program, settings of ports, mirrors and multicast, and the
// cores. It changes only while no core runs; until then all cores read it.
// The queue that a message of flow control is about.
struct flow_target {
    bool there;
    uint8_t qid;
    uint16_t port;
};
#define PORT_GROUPS 16u // of a pipe, as messages number them

struct sk_switch {
    const struct sk_program_desc *program;
    struct sk_switch_options opt; // defaults filled in
    struct port_settings settings[SK_PORTS];
    struct sk_mirror_session mirrors[SK_MIRROR_LAST + 1];
    struct sk_pre *pre;
    struct app_pool app_pools[SK_APP_POOLS];
    bool has_app_pools; // some have cells
    uint16_t deflect_port;
    uint8_t deflect_qid;
    bool pktgens_off;
    struct flow_target flow_targets[SK_PIPES][PORT_GROUPS][SK_PORT_QUEUES]; // by group and pg_queue
    struct sk_recorder *recording; // what the cores' recorders are of
    struct sk_trap *trap;          // the cores', or null
    struct sk_core *cores[SK_PIPES];
    uint8_t n_cores;
    uint8_t core_of[SK_PIPES]; // by pipe
};

static inline bool switch_is_tofino_2(const struct sk_switch *sw) {
    return sw->program->ingress_prefix == SK_INGRESS_PREFIX_2;
}

static inline bool switch_has_port(const struct sk_switch *sw, uint16_t port) {
    return sw->opt.any_port ? port < SK_PORTS : sk_port_exists(port);
}

static inline bool port_recirculates(const struct sk_switch *sw, uint16_t port) {
    return sw->settings[port].internal || sw->settings[port].loopback;
}

// The core that runs the pipe.
static inline struct sk_core *switch_owner(const struct sk_switch *sw, unsigned pipe) {
    return sw->cores[sw->core_of[pipe]];
}
static inline struct sk_core *port_owner(const struct sk_switch *sw, uint16_t port) {
    return switch_owner(sw, sk_port_pipe(port));
}

// Whether a packet may go there: the port is up, or recirculates.
static inline bool switch_port_is_there(const struct sk_switch *sw, uint16_t port) {
    return switch_has_port(sw, port) && (sw->settings[port].up || port_recirculates(sw, port));
}

// Whether this core runs the port's pipe.
static inline bool owns_port(const struct sk_core *core, uint16_t port) {
    return core->sw->core_of[sk_port_pipe(port)] == core->number;
}

// A packet for the port need not wait: nothing is before it that it could overtake.
static inline bool goes_at_once(const struct sk_core *core, uint16_t port) {
    return core->ways[port] & (PORT_SENDS | PORT_RECIRCULATES) &&
           !core->pipes[sk_port_pipe(port)].egress.first;
}

// One copy's.
struct destination {
    uint16_t port, rid;
    bool rid_first;
    uint8_t cos;
};

// What egress and the queues are to know of the copy.
static inline void switch_address(struct sk_packet *p, const struct destination *d,
                                  const struct sk_ingress_out *out) {
    p->egress_port = d->port;
    p->rid = d->rid;
    p->rid_first = d->rid_first;
    p->cos = d->cos;
    p->qid = out->qid % SK_PORT_QUEUES;
    p->color = out->color;
    p->deflected = false;
    p->deflect_on_drop = out->deflect_on_drop;
    p->bypass_egress = out->bypass_egress;
}

// An event of the engine's own; 'number' and 'text' by kind (pipeline/trace.h).
static inline void core_tell(const struct sk_core *core, const struct sk_packet *p,
                             enum sk_event_kind kind, uint16_t port, uint64_t number,
                             const char *text) {
    if (!core->observer || !core->observer->everything)
        return;
    core->observer->event(core->observer, p,
                          &(struct sk_event){.kind = kind,
                                             .gress = SK_IN_ENGINE,
                                             .port = port,
                                             .number = number,
                                             .text = text,
                                             .bytes = p->buf ? sk_packet_data(p) : NULL,
                                             .length = p->len});
}

// tell.c: events with values. Nothing when nobody watches.
void tell_wishes(const struct sk_core *core, const struct sk_packet *p,
                 const struct sk_ingress_out *out);
void tell_copy(const struct sk_core *core, const struct sk_packet *p, const struct destination *d,
               const struct sk_ingress_out *out, const char *why, uint16_t group);
// 'p': the copy.
void tell_mirrored(const struct sk_core *core, const struct sk_packet *p,
                   const struct sk_mirror_out *m, uint16_t port, unsigned direction);

// Sets 'watched'.
static inline void core_watched(struct sk_core *core) {
    core->watched = core->observer;
}

// Counts something of the packet, a copy, as dropped at 'port'.
void core_refuse(struct sk_core *core, const struct sk_packet *p, uint16_t port,
                 enum sk_drop_reason r);
// Counts the packet as dropped at 'port' and takes its buffer back.
void core_drop(struct sk_core *core, struct sk_packet *p, uint16_t port, enum sk_drop_reason r);

// trap.c: sets PORT_TRAPS in what the core knows of the port, or takes it away.
void core_port_trapped(struct sk_core *core, uint16_t port);
// trap.c: holds the first of n packets of a burst, and with it the others, when it is to be
// trapped.
bool core_trap(struct sk_core *core, uint16_t port, struct sk_packet *const *p, unsigned n);

// The end of ingress (tna-facts 5.3): resubmit, drop, or one copy per destination. Takes the packet
// over, and returns the one that goes on in ingress at once, or null.
struct sk_packet *tm_admit(struct sk_core *core, struct sk_packet *p,
                           const struct sk_ingress_out *out, uint64_t now_ns);
// The same of a word of wishes that asks for copies to a group and nothing else, of a packet that
// nobody watches, on a Tofino.
struct sk_packet *tm_multicast(struct sk_core *core, struct sk_packet *p, uint64_t w,
                               uint64_t now_ns);
// One copy per destination that 'out' names, all into queues; drop_ctl counts, a resubmit does not.
// Takes the packet over.
void tm_replicate(struct sk_core *core, struct sk_packet *p, const struct sk_ingress_out *out,
                  uint64_t now_ns);

// Enqueues a packet that crossed from another core, or drops it.
void tm_arrive(struct sk_core *core, struct sk_packet *p, uint64_t now_ns);
// The same of one that came through a ring with what its ingress wished, 'w', if that says where it
// goes; else 0.
void tm_arrive_crossed(struct sk_core *core, struct sk_packet *p, uint64_t w, uint64_t now_ns);

// run.c. on_mirror of a pass of ingress, and of egress.
void run_mirror_received(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m);
void run_mirror_arrived(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m);
// From a queue to the port. Takes the packet over.
void run_waited(struct sk_core *core, struct sk_packet *p, uint64_t now_ns);
// A burst of each queue of the pipe. False when both were empty.
bool run_pipe(struct sk_core *core, struct pipe *pipe, uint64_t now_ns);
// The same, but of the burst of its ingress 'i' packets have run.
bool run_pipe_from(struct sk_core *core, struct pipe *pipe, uint64_t now_ns, int i);

// run.c: what happens by itself until now.
void core_timed_events(struct sk_core *core, uint64_t now_ns);
static inline void core_events(struct sk_core *core, uint64_t now_ns) {
    if (core->n_shaped || core->n_pktgens || core->arrivals.first)
        core_timed_events(core, now_ns);
    core->now = now_ns > core->now ? now_ns : core->now;
}
// The port went up or down, or its loopback or queue changed: on the core that has it.
void core_port_changed(struct sk_core *core, uint16_t port);

// cores.c: to the core of p->egress_port; false when the ring is full, and the packet the caller's.
bool cores_cross(struct sk_core *core, struct sk_packet *p, uint64_t now_ns);

// mirror.c: the copy of 'p' that its deparser asked for; 'direction' is SK_MIRROR_IN or _OUT.
void tm_mirror(struct sk_core *core, const struct sk_packet *p, const struct sk_mirror_out *m,
               unsigned direction, uint64_t now_ns);

// digest.c
void digest_push(struct sk_core *core, unsigned pipe, const struct sk_digest_out *d,
                 uint64_t now_ns);

// queue.c: into the queue of p->egress_port, which is one of this core's. SK_DROP_COUNT: it was
// taken; else why not, and the packet is the caller's.
enum sk_drop_reason queue_push(struct sk_core *core, struct sk_packet *p, uint64_t now_ns);
// What the packet says of its queue when it did not wait.
void queue_passed(struct sk_packet *p, uint64_t now_ns);
// When the next packet leaves a port with a speed, and from which; UINT64_MAX: none waits.
uint64_t queue_next(const struct sk_core *core, uint16_t *port);
bool queue_waits(const struct port_queue *q); // has the port anything to send
struct sk_packet *queue_pop(struct sk_core *core, uint16_t port);
// The port has started to send so many bytes.
void queue_sent(struct sk_core *core, uint16_t port, uint32_t bytes, uint64_t now_ns);

// flow_control.c: the port's queues by the names that messages have for them. -EEXIST: another port
// has one; then nothing has changed.
int flow_control_set(struct sk_switch *sw, uint16_t port, const struct sk_port_queue *q);
// A deparser sent this message.
void flow_control_message(const struct sk_core *core, uint32_t message, uint64_t now_ns);
// Lets queues go on: all of them, or those without flow control.
void flow_control_release(struct port_queue *q, uint64_t now_ns, bool all);

// pktgen.c: the next time at which a packet is generated, by which pipe; UINT64_MAX: never.
uint64_t pktgen_next(const struct sk_core *core, unsigned *pipe);
void pktgen_fire(struct sk_core *core, unsigned pipe, uint64_t now_ns);
void pktgen_port_down(struct sk_core *core, uint16_t port);
void pktgen_recirculated(struct sk_core *core, const struct sk_packet *p, uint64_t now_ns);
void pktgen_free(struct sk_core *core);

#endif
