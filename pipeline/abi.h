// SPDX-License-Identifier: Apache-2.0
//
// abi: between a compiled P4 program and the engine that runs it.
//
// A compiled program is a shared object with one symbol, silken_program(), returning a description:
// per pipeline, an ingress and an egress function and the objects a control plane can name. State
// (tables, registers, counters) exists once per hardware pipe and is passed to the functions; the
// object itself holds none, so one program serves many switches at once.
//
// Ingress contract. The engine has written the architecture's bytes directly before the packet
// (tna-facts 3.1: 8 bytes of intrinsic metadata, then port metadata or resubmit data) at data(p) -
// ingress_prefix; how many they are is a property of the program, because a Tofino 2 has more. The
// function parses from there, runs the control and the deparser and writes its requests. Unless it
// requests a resubmit or drops the packet, it leaves the deparsed packet in 'p' (head and len
// changed; bytes no header covers stay where they are). On a resubmit the packet's bytes are as
// received; those of a dropped packet have no meaning. Egress likewise: egress_prefix bytes
// (tna-facts 2.5) in front.
//
// The functions read no byte outside [data - prefix, data + len + 32) and write none outside [buf,
// buf + cap). (Bytes after the packet have no effect: sunk loops over lanes
// (compiler/plan/sunk_loops.c) load whole vectors, up to 32 bytes of them; the engine has
// SK_POOL_SLACK after every packet.) The engine guarantees SK_HEADROOM bytes before the packet; the
// deparser never emits more than that over what was parsed (the compiler checks).
//
// Thread-safety: a pipe's functions and state belong to one thread at a time.
//
// The room: the headers for generated code (abi.h, hop.h, checked.h), and the loader. The engine is
// in the folders below:
//
//     abi.h      the description that a compiled program returns, and its functions
//     hop.h      a packet's next pass inside the program
//     prefix.h   the architecture's bytes before a packet
//     checked.c  functions for the checked build
//     trace.h    the path of a packet, as events
//     program.c  loads a compiled program, and joins several
#ifndef SILKEN_PIPELINE_ABI_H
#define SILKEN_PIPELINE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stages/dynhash.h"
#include "stages/meter.h"
#include "stages/selector.h"
#include "stages/table.h"

#define SK_ABI_VERSION 36u
// A Tofino's and a Tofino 2's.
#define SK_INGRESS_PREFIX   16u
#define SK_EGRESS_PREFIX    27u
#define SK_INGRESS_PREFIX_2 32u
#define SK_EGRESS_PREFIX_2  28u
#define SK_RESUBMIT_BYTES   16u  // of resubmit data or port metadata, at most: 8 on a Tofino
#define SK_HEADROOM         640u // >= prefix + the headers that a deparser can emit (rules.h)
#define SK_POOL_SLACK                                                                              \
    64u // after a packet: vector loads of the payload may be rounded up to a cache line
#define SK_TSTAMP_MASK  (((uint64_t)1 << 48) - 1) // timestamps are of 48 bits, in ns
#define SK_PORTS        512u                      // 9-bit device ports: pipe in the two upper bits
#define SK_PIPES        4u
#define SK_PORT_INVALID 0x1ffu
#define SK_PIPE_PORTS   72u // ports of a pipe: 18 quads of 4 lanes
// The first of the ports that recirculate without being configured, and from which packet
// generators send, in each pipe: these four, on a Tofino 2 those below 8 (tna-facts 5.8). Of the
// latter, pipe 0's 0 and 2 to 5 are the CPU's, by PCIe and by Ethernet.
#define SK_RECIRCULATION_PORT  68u
#define SK_RECIRCULATION_PORTS 4u
#define SK_INTERNAL_PORTS_2    8u
#define SK_PKTGEN_PORT_2       6u
// Where copies for the CPU go unless told otherwise: the first of its Ethernet ports.
#define SK_CPU_PORT   64u
#define SK_CPU_PORT_2 2u

static inline unsigned sk_port_pipe(unsigned dev_port) {
    return dev_port >> 7;
}
static inline unsigned sk_port_local(unsigned dev_port) {
    return dev_port & 0x7f;
}
// Recirculates without being configured.
static inline bool sk_port_is_internal(unsigned dev_port, bool tofino_2) {
    if (!tofino_2)
        return sk_port_local(dev_port) - SK_RECIRCULATION_PORT < SK_RECIRCULATION_PORTS;
    bool of_cpu = dev_port == 0 || (dev_port >= 2 && dev_port <= 5);
    return sk_port_local(dev_port) < SK_INTERNAL_PORTS_2 && !of_cpu;
}
static inline bool sk_port_exists(unsigned dev_port) {
    return dev_port < SK_PORTS && sk_port_local(dev_port) < SK_PIPE_PORTS;
}

struct sk_pool;
struct sk_observer; // pipeline/trace.h

// Of two cache lines; a packet that neither waits nor is looked at needs the first one only. What
// has no value when a packet comes in has no meaning until the traffic manager sets it.
struct sk_packet {
    uint8_t *buf; // the packet's bytes are buf[head .. head + len)
    uint32_t cap, head, len;
    uint16_t ingress_port; // set by the engine before ingress
    uint16_t egress_port;  // set by the traffic manager
    uint64_t mac_tstamp;   // ns, 48 bits: arrival
    union {
        uint64_t global_tstamp; // ns: entry of the parser of this gress
        struct sk_packet *next; // instead, while it is in a list
        // instead, while it crosses to another core: what ingress wished, if that says where it
        // goes; else 0
        uint64_t wish;
    };
    struct sk_pool *pool;
    uint64_t serial; // number of the received packet, for messages
    bool resubmitted;
    uint8_t passes;    // recirculations and mirrorings so far
    uint8_t resubmits; // resubmits so far, over all passes
    // set by the traffic manager before egress
    bool bypass_egress;
    bool rid_first;
    uint8_t qid;
    uint16_t arrived; // bytes when it came into this pass of ingress: egress' pkt_length says them
    // the second line
    struct sk_observer *observer; // or null; called by the checked build
    uint64_t enq_tstamp;
    uint32_t enq_qdepth, deq_qdepth; // cells
    uint32_t cells;                  // of the buffer, while it waits for a port with a speed
    uint8_t enq_congest, deq_congest;
    uint8_t cos, color;
    bool deflected, deflect_on_drop;
    uint16_t rid;
    uint8_t resubmit_data[SK_RESUBMIT_BYTES]; // when it was resubmitted
    uint8_t pool_congest;                     // of buffer pools, when it left its queue
};
_Static_assert(offsetof(struct sk_packet, observer) == 64 && sizeof(struct sk_packet) <= 128,
               "two cache lines");
static inline uint8_t *sk_packet_data(const struct sk_packet *p) {
    return p->buf + p->head;
}
// Whether the packet has SK_HEADROOM bytes in front.
static inline bool sk_packet_is_centred(const struct sk_packet *p) {
    return p->head >= SK_HEADROOM && p->head + p->len + SK_POOL_SLACK <= p->cap;
}

// parser_err bits (tna-facts 5.2)
enum {
    SK_PARSER_OK = 0,
    SK_PARSER_NO_MATCH = 1,
    SK_PARSER_PARTIAL_HDR = 2,
    SK_PARSER_CTR_RANGE = 4,
    SK_PARSER_TIMEOUT = 8, // more than SK_PARSER_MAX_STATES states
};
#define SK_PARSER_MAX_STATES 256u

// A mirrored copy that a deparser asks for (tna-facts 5.5).
#define SK_MIRROR_BYTES 32u
// What a Tofino 2's deparser offers in place of what the session says; the session decides.
struct sk_mirror_choice {
    bool port_valid, deflect, multicast;
    uint8_t cos, qid;
    uint16_t port, hash;
};
struct sk_mirror_out {
    bool wanted;
    bool told; // egress: on_mirror was called
    struct sk_mirror_choice choice;
    uint16_t session;
    uint8_t header_bytes;            // before the copy
    uint8_t header[SK_MIRROR_BYTES]; // the rest is zero
};
// A digest (tna-facts 4.11): the fields in order, the first in the most significant bits of
// data[0].
#define SK_DIGEST_BYTES 48u
struct sk_digest_out {
    bool packed;
    uint8_t index; // in the pipeline's list
    uint8_t data[SK_DIGEST_BYTES];
};

// What a gress wishes is a word when it fits in one, which is then all that it returns, and what is
// in its 'out' is as it was handed over, but for the data of a resubmit. With SK_WISHES_IN_OUT it
// is in 'out' instead, all of it. The fields are struct sk_ingress_out's; an egress has drop_ctl
// and twice only.
#define SK_WISH_PORT(w)     ((uint16_t)((w)&0x1ff)) // ucast_port
#define SK_WISH_UCAST       (UINT64_C(1) << 9)      // ucast_valid
#define SK_WISH_DROP_AT     10                      // drop_ctl: 3 bits
#define SK_WISH_BYPASS      (UINT64_C(1) << 13)     // bypass_egress
#define SK_WISH_MCAST_A     (UINT64_C(1) << 14)     // mcast_a_valid
#define SK_WISHES_IN_OUT    (UINT64_C(1) << 15)
#define SK_WISH_QID_AT      16                  // 7 bits
#define SK_WISH_COS_AT      23                  // ingress_cos: 3 bits
#define SK_WISH_COLOR_AT    26                  // 2 bits
#define SK_WISH_DEFLECT_AT  28                  // deflect_on_drop: 1 bit
#define SK_WISH_RESUBMIT    (UINT64_C(1) << 29) // resubmit, with resubmit_data in 'out'
#define SK_WISH_CONSUMED    (UINT64_C(1) << 30) // consumed
#define SK_WISH_TWICE       (UINT64_C(1) << 31) // twice
#define SK_WISH_MCAST_A_AT  32                  // mcast_grp_a: 16 bits
#define SK_WISH_EXCLUDE1_AT 48                  // level1_exclusion_id: 16 bits
#define SK_LEAVES           UINT64_MAX          // no word of wishes; for generated code's own use
static inline unsigned sk_wish_drop_ctl(uint64_t w) {
    return (unsigned)(w >> SK_WISH_DROP_AT) & 7;
}
static inline uint8_t sk_wish_qid(uint64_t w) {
    return (w >> SK_WISH_QID_AT) & 0x7f;
}
static inline uint8_t sk_wish_cos(uint64_t w) {
    return (w >> SK_WISH_COS_AT) & 7;
}

// A Tofino 2's adv_flow_ctl (tna-facts 5.7): the queue of a port group of a pipe is to wait where
// the credit is not 0, and to go on where it is.
#define SK_FLOW_CTL_VALID(m)  ((m) >> 31 & 1)
#define SK_FLOW_CTL_PIPE(m)   ((m) >> 29 & 3)
#define SK_FLOW_CTL_GROUP(m)  ((m) >> 25 & 0xf)
#define SK_FLOW_CTL_QUEUE(m)  ((m) >> 15 & 0x7f)
#define SK_FLOW_CTL_CREDIT(m) ((m)&0x7fff)

// The engine hands these over zeroed, except for what is marked 'in' and the contents of a mirror
// and a digest, which are not looked at until one is wanted (sk_ingress_out_clear).
struct sk_ingress_out {
    uint16_t parser_err;
    bool parser_drop; // dropped before the control: an error the control does not read
    bool ucast_valid, mcast_a_valid, mcast_b_valid, bypass_egress, copy_to_cpu, resubmit;
    uint8_t drop_ctl, qid, ingress_cos, icos_for_copy_to_cpu, color, deflect_on_drop;
    // Why drop_ctl drops the packet, if it does: an action with @silken_consumes ran; or it came to
    // a register a second time, when it also has no copy, resubmit or digest. Not both.
    bool consumed : 1, twice : 1;
    uint16_t ucast_port, mcast_grp_a, mcast_grp_b;
    // to whom a group's copies go: all but level1_exclusion_id are 0 where no group is wished
    uint16_t level1_mcast_hash, level2_mcast_hash, level1_exclusion_id, level2_exclusion_id, rid;
    uint8_t resubmit_data[SK_RESUBMIT_BYTES]; // left aligned, rest zero
    struct sk_mirror_out mirror;
    struct sk_digest_out digest;
    uint32_t adv_flow_ctl; // a Tofino 2's message to a queue (SK_FLOW_CTL_); 0: none
    // in: called once when a mirrored copy is to be made, while the packet is as it should be
    // copied: as received, or (Tofino 2, mirror_io_select 1) as it leaves. May be null. It must not
    // change the packet.
    void (*on_mirror)(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m);
    void *aux;
    struct sk_entry *ahead; // in: what the pipeline's 'ahead' found for this pass, or null
    // in: by port, where a pass that wishes to go there and to pass by egress may go on by itself
    // (sk_hop_on): of SK_PORTS. A function that has done so is of the packet's last pass in all
    // that it returns.
    const struct sk_hop *hops;
    unsigned
        max_passes; // in: a packet that has made so many is the engine's. 0: nowhere, and 'hops'
                    // may be null
};
// A mirrored copy is of the packet as it leaves the egress deparser. It is deparsed into 'p' also
// when drop_ctl drops it but lets it be mirrored. A Tofino 2 may want it as it came to egress: then
// on_mirror is called while it is so, and mirror.told set.
struct sk_egress_out {
    uint16_t parser_err;
    uint8_t drop_ctl;
    bool twice;            // as an ingress's
    uint32_t adv_flow_ctl; // likewise
    struct sk_mirror_out mirror;
    void (*on_mirror)(void *aux, const struct sk_packet *p, const struct sk_mirror_out *m); // in
    void *aux;
};
// A Tofino 2's mtu_trunc_len counts the frame check sequence, as the packet's length on the wire
// does.
static inline void sk_packet_truncate(struct sk_packet *p, uint32_t length) {
    uint32_t left = length > 4 ? length - 4 : 0;
    p->len = p->len < left ? p->len : left;
}

_Static_assert(offsetof(struct sk_ingress_out, mirror) == 48, "what is cleared below");
// In stores of 16 bytes: what C compilers make of one memset (a string instruction, or a loop)
// costs more than the packet's other work.
static inline void sk_ingress_out_clear(struct sk_ingress_out *out) {
    memset(out, 0, 16);
    memset((char *)out + 16, 0, 16);
    memset((char *)out + 32, 0, 16);
    out->mirror.wanted = out->mirror.told = out->digest.packed = false;
    out->adv_flow_ctl = 0;
}
// Puts what an ingress returned into the 'out' that it was given, unless it has done so.
static inline void sk_ingress_wishes(uint64_t w, struct sk_ingress_out *out) {
    if (w & SK_WISHES_IN_OUT)
        return;
    out->ucast_port = SK_WISH_PORT(w);
    out->ucast_valid = w & SK_WISH_UCAST;
    out->drop_ctl = (uint8_t)sk_wish_drop_ctl(w);
    out->bypass_egress = w & SK_WISH_BYPASS;
    out->mcast_a_valid = w & SK_WISH_MCAST_A;
    out->qid = sk_wish_qid(w);
    out->ingress_cos = sk_wish_cos(w);
    out->color = (w >> SK_WISH_COLOR_AT) & 3;
    out->deflect_on_drop = (w >> SK_WISH_DEFLECT_AT) & 1;
    out->resubmit = w & SK_WISH_RESUBMIT;
    out->consumed = w & SK_WISH_CONSUMED;
    out->twice = w & SK_WISH_TWICE;
    out->mcast_grp_a = (uint16_t)(w >> SK_WISH_MCAST_A_AT);
    out->level1_exclusion_id = (uint16_t)(w >> SK_WISH_EXCLUDE1_AT);
}
static inline void sk_egress_out_clear(struct sk_egress_out *out) {
    memset(out, 0, offsetof(struct sk_egress_out, mirror));
    out->mirror.wanted = out->mirror.told = false;
}
static inline void sk_egress_wishes(uint64_t w, struct sk_egress_out *out) {
    if (w & SK_WISHES_IN_OUT)
        return;
    out->drop_ctl = (uint8_t)sk_wish_drop_ctl(w);
    out->twice = w & SK_WISH_TWICE;
}

struct sk_pipe; // a program's state in one pipe: private to the compiled program

typedef uint64_t (*sk_ingress_fn)(struct sk_pipe *pipe, struct sk_packet *p,
                                  struct sk_ingress_out *out);
typedef uint64_t (*sk_egress_fn)(struct sk_pipe *pipe, struct sk_packet *p,
                                 struct sk_egress_out *out);

// A port from which packets come into ingress again at once.
struct sk_hop {
    sk_ingress_fn ingress; // null: it is not one of those
    struct sk_pipe *pipe;
    uint8_t metadata[8]; // the port's
    uint64_t room;       // of 32 bytes: an index is a shift
};

// ---- objects the control plane can name ----
struct sk_register_desc {
    const char *name;
    uint32_t width; // bits of one word
    uint32_t words; // 1 or 2
    bool is_signed;
    bool wide;     // one field of 128 bits: its low and its high half are the two words
    bool is_param; // a RegisterParam: one word that the program only reads
    const char *word_names[2];
    uint64_t size;
    uint64_t initial[2];
};
struct sk_counter_desc {
    const char *name;
    uint8_t type;   // 0 packets, 1 bytes, 2 both
    bool direct;    // its cells are in the entries of pipeline table 'table'
    uint32_t table; // direct only
    uint64_t size;  // cells; 0 for a direct one
};
struct sk_meter_desc { // a Meter, Lpf or Wred
    const char *name;
    uint8_t kind; // enum sk_meter_kind
    bool bytes;   // SK_METER: it meters bytes, else packets
    bool direct;  // as of a counter
    uint32_t table;
    uint64_t size;
};
struct sk_counter_cell {
    uint64_t packets, bytes;
};
struct sk_value_set_desc {
    const char *name;
    const struct sk_field_desc *keys;
    uint32_t n_keys, key_words;
    uint64_t size;
    bool egress; // of the egress parser
};

struct sk_digest_desc {
    const char *name;
    const struct sk_field_desc *fields; // 384 bits together at most
    uint32_t n_fields;
};

struct sk_pipeline_desc {
    const char *name;
    sk_ingress_fn ingress;
    sk_egress_fn egress;
    // Null, or fetches what these packets' ingress is likely to look up, and says for each which
    // entry that is, or null: the first pass of that packet may be given it, unless a table was
    // changed meanwhile. They are as they came; nothing before them is looked at. It changes
    // nothing, and need not be called.
    void (*ahead)(struct sk_pipe *pipe, struct sk_packet *const *packets, unsigned n,
                  struct sk_entry **found);
    // Of a packet that is received, ingress looks at so many bytes from its start, or fewer.
    uint32_t ingress_reach;
    // Egress looks at nothing, changes nothing and drops nothing: it need not be run.
    bool egress_idle;
    // Egress changes bytes of the packet among so many from its start only (and before it).
    uint32_t egress_reach;
    // The pipe's state begins with a pointer to notes of what is done to a packet (stages/notes.h),
    // or null.
    bool takes_notes;
    struct sk_pipe *(*pipe_new)(uint64_t seed); // null when memory is short
    void (*pipe_free)(struct sk_pipe *);
    // i-th object of each kind; pointers are valid as long as the pipe
    const struct sk_table_desc *const *tables;
    uint32_t n_tables;
    struct sk_table *(*table)(struct sk_pipe *, uint32_t i);
    const struct sk_register_desc *registers;
    uint32_t n_registers;
    uint64_t (*register_read)(struct sk_pipe *, uint32_t i, uint64_t index, uint32_t word);
    void (*register_write)(struct sk_pipe *, uint32_t i, uint64_t index, uint32_t word,
                           uint64_t value);
    const struct sk_counter_desc *counters;
    uint32_t n_counters;
    struct sk_counter_cell *(*counter)(struct sk_pipe *,
                                       uint32_t i); // array; null for a direct one
    const struct sk_meter_desc *meters;
    uint32_t n_meters;
    struct sk_meter_cell *(*meter)(struct sk_pipe *, uint32_t i); // array; null for a direct one
    // Bytes that a meter of bytes adds to each packet's; null for another. The function may be
    // null.
    int32_t *(*meter_more)(struct sk_pipe *, uint32_t i);
    // The members of an action profile are a table too, after the others.
    const struct sk_selector_desc *const *selectors;
    uint32_t n_selectors;
    struct sk_selector *(*selector)(struct sk_pipe *, uint32_t i);
    const struct sk_value_set_desc *value_sets;
    uint32_t n_value_sets;
    struct sk_table *(*value_set)(struct sk_pipe *, uint32_t i); // ternary, one action, no data
    const struct sk_digest_desc *digests;
    uint32_t n_digests;
    // What the parser unpacks port metadata into, from the first bit on; none: the bytes as they
    // are.
    const struct sk_field_desc *port_fields;
    uint32_t n_port_fields;
    // Fields of headers that the parsers extract, those of egress after those of ingress.
    const struct sk_field_desc *packet_fields;
    uint32_t n_packet_fields;
    // Hashes that the control plane may change; what it puts in place belongs to the pipe.
    const struct sk_hash_desc *hashes;
    uint32_t n_hashes;
    struct sk_dynhash **(*hash)(struct sk_pipe *, uint32_t i);
};
struct sk_program_desc {
    uint32_t abi_version;
    const char *path;                      // of the source
    uint8_t ingress_prefix, egress_prefix; // bytes before the packet: see above
    // Ports check and make the invariant CRC of RoCEv2 (wire/roce.h).
    bool invariant_crc;
    // Ports pass each packet on by itself (sk_core_is_single).
    bool single_packets;
    const struct sk_pipeline_desc *const *pipelines;
    uint32_t n_pipelines;
    uint8_t pipe_of[SK_PIPES]; // pipeline that hardware pipe i runs
    // Of several programs on one switch (sk_program_join): how many, and of which each pipeline is.
    // 0: it is one program.
    uint32_t n_programs;
    uint8_t program_of[SK_PIPES];
};

#define SK_PROGRAM_SYMBOL "silken_program"
__attribute__((visibility("default"))) const struct sk_program_desc *silken_program(void);

#endif
