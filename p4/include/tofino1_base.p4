// SPDX-License-Identifier: Apache-2.0
//
// tofino1_base.p4: intrinsic metadata and externs of the Tofino Native Architecture.
//
// Names, widths and signatures are the architecture's. Fields marked "own validity" start invalid;
// assigning one, even to zero, makes it count, and invalidate() takes it back.
#ifndef _TOFINO1_P4_BASE_
#define _TOFINO1_P4_BASE_

#include <core.p4>

// Bits of parser_err; several may be set.
const bit<16> PARSER_ERROR_OK           = 16w0x0000;
const bit<16> PARSER_ERROR_NO_MATCH     = 16w0x0001; // select without a matching case
const bit<16> PARSER_ERROR_PARTIAL_HDR  = 16w0x0002; // packet ended inside a header
const bit<16> PARSER_ERROR_CTR_RANGE    = 16w0x0004; // parser counter out of range
const bit<16> PARSER_ERROR_TIMEOUT_USER = 16w0x0008;
const bit<16> PARSER_ERROR_TIMEOUT_HW   = 16w0x0010;
const bit<16> PARSER_ERROR_SRC_EXT      = 16w0x0020;
const bit<16> PARSER_ERROR_DST_CONT     = 16w0x0040;
const bit<16> PARSER_ERROR_PHV_OWNER    = 16w0x0080;
const bit<16> PARSER_ERROR_MULTIWRITE   = 16w0x0100;
const bit<16> PARSER_ERROR_ARAM_MBE     = 16w0x0400;
const bit<16> PARSER_ERROR_FCS          = 16w0x0800; // the MAC reported a bad frame

enum MeterType_t { PACKETS, BYTES }

// Two bits of colour in eight; 2 is another yellow.
enum bit<8> MeterColor_t { GREEN = 8w0, YELLOW = 8w1, RED = 8w3 }

enum CounterType_t {
    PACKETS,
    BYTES,
    PACKETS_AND_BYTES
}

enum SelectorMode_t { FAIR, RESILIENT }

enum HashAlgorithm_t {
    IDENTITY,
    RANDOM,
    XOR8,
    XOR16,
    XOR32,
    CRC8,
    CRC16,
    CRC32,
    CRC64,
    CUSTOM
}

match_kind {
    range,
    selector,             // input of an ActionSelector's hash, not part of the key
    atcam_partition_index // exact part of the key that chooses the partition
}

error {
    CounterRange,
    Timeout,
    PhvOwner,
    MultiWrite,
    IbufOverflow,
    IbufUnderflow
}

// ----------------------------------------------------------------------------------------------
// Ingress intrinsic metadata.

// The first eight bytes an ingress parser sees.
@__intrinsic_metadata
header ingress_intrinsic_metadata_t {
    bit<1> resubmit_flag;                     // second pass of a resubmitted packet
    @padding bit<1> _pad1;
    bit<2> packet_version;                    // for consistent table updates; read only
    @padding bit<(4 - PORT_ID_WIDTH % 8)> _pad2;
    PortId_t ingress_port;
    bit<48> ingress_mac_tstamp;               // ns, at the MAC
}

// What ingress asks of the traffic manager.
@__intrinsic_metadata
struct ingress_intrinsic_metadata_for_tm_t {
    PortId_t ucast_egress_port;               // own validity: no unicast copy unless assigned
    bit<1> bypass_egress;                     // send as the ingress deparser wrote it
    bit<1> deflect_on_drop;
    bit<3> ingress_cos;
    QueueId_t qid;                            // queue of the egress port
    bit<3> icos_for_copy_to_cpu;
    bit<1> copy_to_cpu;
    bit<2> packet_color;
    bit<1> disable_ucast_cutthru;
    bit<1> enable_mcast_cutthru;
    MulticastGroupId_t mcast_grp_a;           // own validity
    MulticastGroupId_t mcast_grp_b;           // own validity
    bit<13> level1_mcast_hash;                // picks a member of an ECMP group
    bit<13> level2_mcast_hash;                // picks a member of a LAG
    L1ExclusionId_t level1_exclusion_id;
    L2ExclusionId_t level2_exclusion_id;
    bit<16> rid;
}

@__intrinsic_metadata
struct ingress_intrinsic_metadata_from_parser_t {
    bit<48> global_tstamp;                    // ns, when the packet entered the parser
    bit<32> global_ver;
    bit<16> parser_err;                       // PARSER_ERROR_*
}

@__intrinsic_metadata
struct ingress_intrinsic_metadata_for_deparser_t {
    bit<3> drop_ctl;                          // bit 0: no unicast, no multicast; bit 1: no CPU copy
    DigestType_t digest_type;                 // own validity
    ResubmitType_t resubmit_type;             // own validity
    MirrorType_t mirror_type;                 // 0 is reserved
}

// ----------------------------------------------------------------------------------------------
// Egress intrinsic metadata.

// The first 27 bytes an egress parser sees.
@__intrinsic_metadata
header egress_intrinsic_metadata_t {
    @padding bit<(8 - PORT_ID_WIDTH % 8)> _pad0;
    PortId_t egress_port;
    @padding bit<5> _pad1;
    bit<19> enq_qdepth;                       // in cells
    @padding bit<6> _pad2;
    bit<2> enq_congest_stat;
    @padding bit<14> _pad3;
    bit<18> enq_tstamp;
    @padding bit<5> _pad4;
    bit<19> deq_qdepth;
    @padding bit<6> _pad5;
    bit<2> deq_congest_stat;
    bit<8> app_pool_congest_stat;
    @padding bit<14> _pad6;
    bit<18> deq_timedelta;                    // time spent in the queue
    bit<16> egress_rid;                       // replication id of a multicast copy
    @padding bit<7> _pad7;
    bit<1> egress_rid_first;
    @padding bit<(8 - QUEUE_ID_WIDTH % 8)> _pad8;
    QueueId_t egress_qid;
    @padding bit<5> _pad9;
    bit<3> egress_cos;
    @padding bit<7> _pad10;
    bit<1> deflection_flag;
    bit<16> pkt_length;                       // bytes, with the four of the FCS
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_from_parser_t {
    bit<48> global_tstamp;
    bit<32> global_ver;
    bit<16> parser_err;
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_for_deparser_t {
    bit<3> drop_ctl;                          // bit 0: drop; bit 2: no mirroring
    MirrorType_t mirror_type;                 // own validity
    bit<1> coalesce_flush;
    bit<7> coalesce_length;
}

@__intrinsic_metadata
struct egress_intrinsic_metadata_for_output_port_t {
    bit<1> capture_tstamp_on_tx;
    bit<1> update_delay_on_tx;
}

// ----------------------------------------------------------------------------------------------
// Headers in front of generated and time-stamped packets.

header pktgen_timer_header_t {
    @padding bit<3> _pad1;
    bit<2> pipe_id;
    bit<3> app_id;
    @padding bit<8> _pad2;
    bit<16> batch_id;
    bit<16> packet_id;
}

header pktgen_port_down_header_t {
    @padding bit<3> _pad1;
    bit<2> pipe_id;
    bit<3> app_id;
    @padding bit<(16 - PORT_ID_WIDTH % 8)> _pad2;
    PortId_t port_num;
    bit<16> packet_id;
}

header pktgen_recirc_header_t {
    @padding bit<3> _pad1;
    bit<2> pipe_id;
    bit<3> app_id;
    bit<24> key;                              // from the packet that triggered it
    bit<16> packet_id;
}

header ptp_metadata_t {
    bit<8> udp_cksum_byte_offset;
    bit<8> cf_byte_offset;
    bit<48> updated_cf;
}

// ----------------------------------------------------------------------------------------------
// Parsers and deparsers.

// 16-bit one's-complement sums. In a parser either add and verify, or subtract and deposit; in a
// deparser update.
extern Checksum {
    Checksum();
    void add<T>(in T data);
    void subtract<T>(in T data);
    // True when the sum is wrong.
    bool verify();
    // Writes what is left after the subtractions, for update() to start from.
    void subtract_all_and_deposit<T>(out T residual);
    bit<16> get();
    // With zeros_as_ones a zero result is written as 0xffff (UDP).
    bit<16> update<T>(in T data, @optional in bool zeros_as_ones);
}

// A signed 8-bit counter that drives loops in a parser.
extern ParserCounter {
    ParserCounter();
    void set<T>(in T value);
    // ((field rotated right by 'rotate') & (2^(mask+1) - 1)) + add; 'max' bounds the field.
    void set<T>(in T field, in bit<8> max, in bit<8> rotate, in bit<3> mask, in bit<8> add);
    bool is_zero();
    bool is_negative();
    void increment(in bit<8> value);
    void decrement(in bit<8> value);
}

extern ParserPriority {
    ParserPriority();
    void set(in bit<3> prio);
}

// Copies the packet to a mirror session, with a header in front.
extern Mirror {
    @deprecated("Mirror must be given its mirror_type")
    Mirror();
    Mirror(MirrorType_t mirror_type);
    void emit(in MirrorId_t session_id);
    void emit<T>(in MirrorId_t session_id, in T hdr);
}

// Sends the packet as received back to the ingress parser, once, with up to 8 bytes of data.
extern Resubmit {
    @deprecated("Resubmit must be given its resubmit_type")
    Resubmit();
    Resubmit(ResubmitType_t resubmit_type);
    void emit();
    void emit<T>(in T hdr);
}

// Sends data to the control plane.
extern Digest<T> {
    @deprecated("Digest must be given its digest_type")
    Digest();
    Digest(DigestType_t digest_type);
    void pack(in T data);
}

// ----------------------------------------------------------------------------------------------
// Hashes and random numbers.

// A CRC by its standard parameters; 'coeff' without the leading one.
extern CRCPolynomial<T> {
    CRCPolynomial(T coeff, bool reversed, bool msb, bool extended, T init, T xor);
}

extern Hash<W> {
    Hash(HashAlgorithm_t algo);
    Hash(HashAlgorithm_t algo, CRCPolynomial<_> poly);
    // Hash of the fields in order, the first most significant.
    W get<D>(in D data);
}

extern Random<W> {
    Random();
    W get(); // uniform over all of W
}

// ----------------------------------------------------------------------------------------------
// Functions.

extern T max<T>(in T t1, in T t2);
extern T min<T>(in T t1, in T t2);
// dst = low half of ({src1, src2} >> shift_amount)
extern void funnel_shift_right<T>(inout T dst, in T src1, in T src2, int shift_amount);
// Own validity of an intrinsic field, or validity of a header.
extern void invalidate<T>(in T field);
extern bool is_validated<T>(in T field);
// Reads the port metadata in front of the packet and moves past it.
extern T port_metadata_unpack<T>(packet_in pkt);
extern bit<32> sizeInBits<H>(in H h);
extern bit<32> sizeInBytes<H>(in H h);

// ----------------------------------------------------------------------------------------------
// Counters, meters and filters. The Direct forms belong to a table's entries.

extern Counter<W, I> {
    Counter(bit<32> size, CounterType_t type);
    void count(in I index, @optional in bit<32> adjust_byte_count);
}

extern DirectCounter<W> {
    DirectCounter(CounterType_t type);
    void count(@optional in bit<32> adjust_byte_count);
}

// Two rates, three colours (RFC 2698); red, yellow and green are the values returned.
extern Meter<I> {
    Meter(bit<32> size, MeterType_t type);
    Meter(bit<32> size, MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green);
    bit<8> execute(in I index, in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(in I index, @optional in bit<32> adjust_byte_count);
}

extern DirectMeter {
    DirectMeter(MeterType_t type);
    DirectMeter(MeterType_t type, bit<8> red, bit<8> yellow, bit<8> green);
    bit<8> execute(in MeterColor_t color, @optional in bit<32> adjust_byte_count);
    bit<8> execute(@optional in bit<32> adjust_byte_count);
}

// Low-pass filter.
extern Lpf<T, I> {
    Lpf(bit<32> size);
    T execute(in T val, in I index);
}

extern DirectLpf<T> {
    DirectLpf();
    T execute(in T val);
}

// Weighted random early drop.
extern Wred<T, I> {
    Wred(bit<32> size, bit<8> drop_value, bit<8> no_drop_value);
    bit<8> execute(in T val, in I index);
}

extern DirectWred<T> {
    DirectWred(bit<8> drop_value, bit<8> no_drop_value);
    bit<8> execute(in T val);
}

// ----------------------------------------------------------------------------------------------
// Registers and the stateful ALU. One access per packet and pass.

extern Register<T, I> {
    Register(bit<32> size);
    Register(bit<32> size, T initial_value);
    T read(in I index);
    T write(in I index, in T value);
}

extern DirectRegister<T> {
    DirectRegister();
    DirectRegister(T initial_value);
    T read();
    T write(in T value);
}

// A constant the control plane may change while the program runs.
extern RegisterParam<T> {
    RegisterParam(T initial_value);
    T read();
}

enum MathOp_t {
    MUL,  // 2^scale * f(x)
    SQR,  // 2^scale * f(x^2)
    SQRT, // 2^scale * f(sqrt(x))
    DIV,  // 2^scale * f(1/x)
    RSQR, // 2^scale * f(1/x^2)
    RSQRT // 2^scale * f(1/sqrt(x))
}

// Approximate arithmetic by a table of sixteen mantissas, given from entry 15 down to 0.
extern MathUnit<T> {
    MathUnit(bool invert, int<2> shift, int<6> scale,
             tuple<bit<8>, bit<8>, bit<8>, bit<8>,
                   bit<8>, bit<8>, bit<8>, bit<8>,
                   bit<8>, bit<8>, bit<8>, bit<8>,
                   bit<8>, bit<8>, bit<8>, bit<8>> data);
    MathUnit(MathOp_t op, int factor);   // factor * op(x)
    MathUnit(MathOp_t op, int A, int B); // (A / B) * op(x)
    T execute(in T x);
}

// What a stateful ALU does to one entry of a register: reads it, runs apply, writes it back, and
// gives 'rv'.
extern RegisterAction<T, I, U> {
    RegisterAction(Register<_, _> reg);
    U execute(in I index);
    // At an index that counts up by one each time.
    U execute_log();
    @synchronous(execute, execute_log)
    abstract void apply(inout T value, @optional out U rv);
    // Inside apply: one-hot of the two comparisons' outcome.
    U predicate(@optional in bool cmplo, @optional in bool cmphi);
}

extern DirectRegisterAction<T, U> {
    DirectRegisterAction(DirectRegister<T> reg);
    U execute();
    @synchronous(execute)
    abstract void apply(inout T value, @optional out U rv);
    U predicate(@optional in bool cmplo, @optional in bool cmphi);
}

// ----------------------------------------------------------------------------------------------
// Table implementations.

// Actions with their data, shared by the entries that name a member.
extern ActionProfile {
    ActionProfile(bit<32> size);
}

// Groups of members; a hash over the 'selector' keys picks one.
extern ActionSelector {
    ActionSelector(ActionProfile action_profile, Hash<_> hash, SelectorMode_t mode,
                   bit<32> max_group_size, bit<32> num_groups);
    ActionSelector(ActionProfile action_profile, Hash<_> hash, SelectorMode_t mode,
                   Register<bit<1>, _> reg, bit<32> max_group_size, bit<32> num_groups);
    @deprecated("ActionSelector must be given an ActionProfile")
    ActionSelector(bit<32> size, Hash<_> hash, SelectorMode_t mode);
    @deprecated("ActionSelector must be given an ActionProfile")
    ActionSelector(bit<32> size, Hash<_> hash, SelectorMode_t mode, Register<bit<1>, _> reg);
}

// Takes a selector's member up or down from the data plane.
extern SelectorAction {
    SelectorAction(ActionSelector sel);
    bit<1> execute(@optional in bit<32> index);
    @synchronous(execute)
    abstract void apply(inout bit<1> value, @optional out bit<1> rv);
}

extern Atcam {
    Atcam(@optional bit<32> number_partitions);
}

extern Alpm {
    Alpm(@optional bit<32> number_partitions, @optional bit<32> subtrees_per_partition,
         @optional bit<32> atcam_subset_width, @optional bit<32> shift_granularity);
}

// '#if COMPILER_VERSION <= PACK_VERSION(9, 7, 0)': what __p4c_major__ and its like say, as one number.
#define PACK_VERSION(a, b, c) (((a) << 24) + ((b) << 12) + (c))
#define COMPILER_VERSION      PACK_VERSION(__p4c_major__, __p4c_minor__, __p4c_patchlevel__)

#endif
