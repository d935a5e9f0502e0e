// SPDX-License-Identifier: Apache-2.0
//
// meter: the cells of meters, low-pass filters and early-drop filters (tna-facts 4.5).
//
// A cell is configured by the control plane and executed by packets. Time is the packet's: the
// 48-bit nanosecond clock of its parser, which wraps after 78 hours. A packet that is stamped up to
// SK_METER_BACK ns before the one before it counts as simultaneous with it. All arithmetic on the
// packet path is in integers, so that the same packets with the same clock give the same result
// everywhere.
//
// METER is the two-rate three-colour marker of RFC 2698. Two buckets, C and P, hold at most the
// committed and the peak burst size and start full; between packets they gain the committed and the
// peak rate. A packet of B (bytes after adjustment, or one packet):
//
//     red     if it came red, or P < B;        nothing is taken
//     yellow  else if it came yellow, or C < B; P loses B
//     green   else;                             both lose B
//
// Without a colour given (colour-blind) a packet comes green. Tokens are counted in parts so small
// that a rate adds a whole number of them each nanosecond: 10^-6 bit (1 kbit/s = 1 part/ns; a byte
// is 8 * 10^6) and 10^-9 packet (1 packet/s = 1 part/ns). There is nothing to round, so a meter
// does not drift however its packets are spaced.
//
// LPF is an exponential filter of the values given to it. With dt the time since the cell's last
// packet and E(c) = exp(-dt / c), where E is 0 for c = 0:
//
//     sample  v' = x + (v - x) * E(c)     c: gain constant for x >= v, decay constant for x < v
//     rate    v' = v * E(decay) + x       a sum of what came in, forgotten at the decay constant
//
// The first packet sets v' = x. The result is v' rounded to the nearest integer, shifted right by
// the scale-down factor, at most the largest value of its width. The public sources are the
// driver's encoding of the constants (open-p4studio, pipe_mgr_meter_drv_workflows.c) and its test
// of the rate mode (ptf-tests/meters/test.py, whose table of inputs, times and outputs, made with a
// model of the chip, this formula meets within 5 %); the chip rounds the constants to a mantissa
// and an exponent and approximates the exponential, which is not public and not imitated. E is
// computed with an error below 2^-26, v has 16 bits after the point.
//
// WRED averages the queue depths given to it as a sample-mode filter with one constant, and drops
//
//     never           while the average is <= min
//     with p          between: p = max_probability * (average - min) / (max - min)
//     always          at or above max
//
// (the curve that the same file computes its levels from). The random number is 32 bits of the
// pipe's seeded generator.
//
// A cell that was never configured, or an index beyond the last cell, leaves things as they are: a
// meter gives the colour it is given, green without one; a filter gives its input; WRED never
// drops.
//
// Thread-safety: a cell belongs to its pipe's thread; the control plane changes it between packets.
#ifndef SILKEN_STAGES_METER_H
#define SILKEN_STAGES_METER_H

#include "stages/bits.h"

#pragma GCC visibility push(default) // compiled programs call these

#define SK_METER_BACK UINT64_C(1000000000)

enum sk_meter_kind { SK_METER_NONE, SK_METER, SK_LPF, SK_WRED };
enum sk_color { SK_GREEN, SK_YELLOW, SK_RED }; // not the values a program sees

// What the control plane sets.
struct sk_rate_spec {  // of a Meter
    uint64_t cir, pir; // kbit/s or packets/s; at most SK_RATE_MAX
    uint64_t cbs, pbs; // kbit or packets; at most SK_BURST_MAX
};
#define SK_RATE_MAX  UINT64_C(1000000000000) // 1 Pbit/s
#define SK_BURST_MAX UINT64_C(9000000000)
struct sk_lpf_spec {
    bool rate;        // rate mode; else sample mode
    uint64_t gain_fs; // time constants in femtoseconds, at most SK_TAU_MAX_FS
    uint64_t decay_fs;
    uint32_t scale_down; // 0 to 31: the result is divided by 2^scale_down
};
struct sk_wred_spec {
    uint64_t tau_fs;
    uint32_t min, max;    // cells, min <= max
    uint64_t probability; // 2^32 is 1
};
#define SK_TAU_MAX_FS UINT64_C(1000000000000000000) // 1000 s

struct sk_filter {  // the exponential average behind LPF and WRED
    uint64_t value; // 16 bits after the point
    uint64_t last;  // when it was last executed
    bool started;
};
struct sk_meter_state {
    struct sk_rate_spec spec;
    uint64_t c, p; // tokens in the buckets, in parts
    uint64_t last;
};
struct sk_meter_cell {
    bool configured;
    bool started; // a meter has been executed since it was configured
    union {
        struct sk_meter_state meter;
        struct {
            struct sk_lpf_spec spec;
            struct sk_filter f;
        } lpf;
        struct {
            struct sk_wred_spec spec;
            struct sk_filter f;
        } wred;
    };
};

// Configures a cell; it starts again. The spec is within its limits.
void sk_meter_set(struct sk_meter_cell *cell, const struct sk_rate_spec *spec, bool bytes);
void sk_lpf_set(struct sk_meter_cell *cell, const struct sk_lpf_spec *spec);
void sk_wred_set(struct sk_meter_cell *cell, const struct sk_wred_spec *spec);
void sk_meter_reset(struct sk_meter_cell *cell); // as if never configured

// The packet path. 'cell' null: an index out of range. 'now' is 48 bits.
// One packet of 'bytes' bytes of a BYTES meter.
enum sk_color sk_meter_bytes(struct sk_meter_cell *cell, uint64_t now, int64_t bytes,
                             enum sk_color color);
// What of a packet such a meter counts, never below zero: 'more' is added (SK_METER_MORE_MIN to
// SK_METER_MORE_MAX, the chip's 14 bits).
#define SK_METER_MORE_MIN (-8192)
#define SK_METER_MORE_MAX 8191
static inline int64_t sk_meter_counted(uint32_t bytes, int32_t more) {
    const int64_t n = (int64_t)bytes + more;
    return n > 0 ? n : 0;
}
enum sk_color sk_meter_packet(struct sk_meter_cell *cell, uint64_t now, enum sk_color color);
// 'width' bits, at most 32, of the result.
uint32_t sk_lpf_run(struct sk_meter_cell *cell, uint64_t now, uint32_t value, unsigned width);
// True: drop.
bool sk_wred_run(struct sk_meter_cell *cell, uint64_t now, uint32_t value, uint64_t *random);

// MeterColor_t as a program gives it (tna-facts 4.5): two bits, of which 2 is another yellow.
static inline enum sk_color sk_color_of(uint64_t value) {
    return (value & 3) == 0 ? SK_GREEN : (value & 3) == 3 ? SK_RED : SK_YELLOW;
}

// exp(-dt / tau) in 0 .. 2^32, for dt in ns and tau in fs.
uint64_t sk_decay(uint64_t dt_ns, uint64_t tau_fs);

#pragma GCC visibility pop

#endif
