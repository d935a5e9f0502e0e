/* SPDX-License-Identifier: Apache-2.0
 *
 * adder.p4: the sum of two floats by tables (Libra 3.5, figure 9). hosts/libra/adder.h says what is computed, what each
 * table holds and where the points of its numbers are; the control plane fills the tables from there. What the
 * pipeline adds is that, bit for bit.
 *
 * Half of it, the logarithms, is done in ingress, the other half in egress, since a gress alone has too few stages.
 */
#ifndef LIBRA_ADDER_P4
#define LIBRA_ADDER_P4

#include "headers.p4"

// log2 of the magnitude of p, in 2^-16. Of a zero, a denormal, an infinity or a NaN it has no meaning.
control Logarithm(in value_t p, inout bit<32> log) {
    bit<32> fraction;   // log2(m), then the last term of equation 1
    bit<16> u;
    bit<16> log_mln2_m;

    action set_exponent(bit<16> value) {
        log = value ++ 16w0;
    }

    table exponent {
        key = {
            p[30:23] : exact @name("exponent");
        }
        actions = {
            set_exponent;
        }
        default_action = set_exponent(0);
        size = 256;
    }

    action set_log_m(bit<16> value) {
        fraction = (bit<32>)value;
    }

    table log_m {
        key = {
            p[22:12] : exact @name("m");
        }
        actions = {
            set_log_m;
        }
        default_action = set_log_m(0);
        size = 2048;
    }

    action set_log_dm(bit<16> value) {
        u = value;
    }

    table log_dm {
        key = {
            p[11:0] : exact @name("dm");
        }
        actions = {
            set_log_dm;
        }
        default_action = set_log_dm(0);
        size = 4096;
    }

    action set_log_mln2(bit<16> value) {
        log_mln2_m = value;
    }

    table log_mln2 {
        key = {
            p[22:12] : exact @name("m");
        }
        actions = {
            set_log_mln2;
        }
        default_action = set_log_mln2(0);
        size = 2048;
    }

    action set_term(bit<16> value) {
        fraction = (bit<32>)value;
    }

    table term {
        key = {
            u : exact @name("u");
        }
        actions = {
            set_term;
        }
        default_action = set_term(0);
        size = 65536;
    }

    apply {
        exponent.apply();
        log_m.apply();
        log_dm.apply();
        log_mln2.apply();
        log = log + fraction;
        u = u + log_mln2_m;
        term.apply();
        log = log + fraction;
    }
}

// The sum of x and y, whose logarithms are log_x and log_y. y and the sum are one field: it is written before the end
// only where it is not read any more.
control Sum(in value_t x, in bit<32> log_x, in bit<32> log_y, inout value_t sum) {
    bit<1>  ready;      // the sum is known
    bit<1>  unlike;     // opposite signs
    bit<32> below;      // |x| - |y|: negative if y is the larger one
    bit<32> sigma;      // |y| before
    bit<32> z;          // log2(larger) - log2(smaller), rounded to units of 2^-11 when it is a key
    bit<32> z_yx;       // if y is the larger one
    value_t larger;
    bit<32> t;          // its logarithm, then the sum's
    bit<32> sign;
    bit<32> bits;       // exponent field and fraction of the sum, seven places too low

    // What was counted as zero, since it is denormal; by entry.
    DirectCounter<bit<32>>(CounterType_t.PACKETS) specials;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) ranges;

    action is_x() {
        specials.count();
        sum = x;
        ready = 1;
    }

    action is_y() {
        specials.count();
        ready = 1;
    }

    action is_known(value_t value) {
        specials.count();
        sum = value;
        ready = 1;
    }

    action is_ordinary() {
        specials.count();
        ready = 0;
    }

    // IEEE 754 decides, but a denormal is taken for a zero.
    table special {
        key = {
            x[31:31] : ternary @name("sign_x");
            x[30:23] : ternary @name("exponent_x");
            x[22:0]  : ternary @name("fraction_x");
            sum[31:31] : ternary @name("sign_y");
            sum[30:23] : ternary @name("exponent_y");
            sum[22:0]  : ternary @name("fraction_y");
        }
        actions = {
            is_x;
            is_y;
            is_known;
            is_ordinary;
        }
        const entries = {
            (0, 255, 0, 1, 255, 0): is_known(0x7fc00000);
            (1, 255, 0, 0, 255, 0): is_known(0x7fc00000);
            (_, 255, 0, _, 255, 0): is_x();
            (_, 255, 0, _, 255, _): is_known(0x7fc00000);
            (_, 255, 0, _, _, _)  : is_x();
            (_, 255, _, _, _, _)  : is_known(0x7fc00000);
            (_, _, _, _, 255, 0)  : is_y();
            (_, _, _, _, 255, _)  : is_known(0x7fc00000);
            (1, 0, 0, 1, 0, 0)    : is_known(0x80000000);
            (_, 0, 0, _, 0, 0)    : is_known(0);
            (1, 0, _, 1, 0, _)    : is_known(0x80000000);    // the first that is counted
            (_, 0, _, _, 0, _)    : is_known(0);
            (_, _, _, _, 0, 0)    : is_x();
            (_, _, _, _, 0, _)    : is_x();
            (_, 0, 0, _, _, _)    : is_y();
            (_, 0, _, _, _, _)    : is_y();
        }
        const default_action = is_ordinary;
        size = 16;
        counters = specials;
    }

    // Actions that stand in tables of their own are a stage each, as on the chip.
    action take_differences() {
        unlike = x[31:31] ^ sum[31:31];
        below = x & 0x7fffffff;
        sigma = sum & 0x7fffffff;
        z = log_x - log_y;
        z_yx = log_y - log_x;
    }

    table differences {
        actions = {
            take_differences;
        }
        const default_action = take_differences;
        size = 1;
    }

    action take_sizes() {
        below = below - sigma;
        z = z + 16;
        z_yx = z_yx + 16;
    }

    table sizes {
        actions = {
            take_sizes;
        }
        const default_action = take_sizes;
        size = 1;
    }

    action x_is_larger() {
        larger = x;
        t = log_x;
        sigma = 0;
    }

    action y_is_larger() {
        larger = sum;
        t = log_y;
        sigma = 0;
        z = z_yx;
    }

    table order {
        key = {
            below[31:31] : exact @name("y_is_larger");
        }
        actions = {
            x_is_larger;
            y_is_larger;
        }
        const entries = {
            0: x_is_larger();
            1: y_is_larger();
        }
        size = 2;
    }

    action take_sign() {
        sign = larger & 0x80000000;
    }

    table signs {
        actions = {
            take_sign;
        }
        const default_action = take_sign;
        size = 1;
    }

    action set_sigma(bit<16> value) {
        sigma = (bit<32>)value;
    }

    table sigmas {
        key = {
            z[20:5] : exact @name("z");
        }
        actions = {
            set_sigma;
        }
        default_action = set_sigma(0);
        size = 65536;
    }

    action set_minus(bit<16> value) {
        sigma = (bit<32>)value;
    }

    table minus {
        key = {
            z[20:5] : exact @name("z");
        }
        actions = {
            set_minus;
        }
        default_action = set_minus(0);
        size = 65536;
    }

    action set_near(bit<16> value) {
        sigma = 12w0 ++ value ++ 4w0;
    }

    table near {
        key = {
            z[15:5] : exact @name("z");
        }
        actions = {
            set_near;
        }
        default_action = set_near(0);
        size = 2048;
    }

    action keep_larger() {
        sum = larger;
        ready = 1;
    }

    action cancel() {
        sum = 0;
        ready = 1;
    }

    action increase() {
        t = t + sigma;
    }

    action decrease() {
        t = t - sigma;
    }

    table shift {
        key = {
            ready   : ternary;
            unlike  : ternary;
            z[31:5] : ternary @name("z");
            sigma   : ternary;
        }
        actions = {
            keep_larger;
            cancel;
            increase;
            decrease;
            NoAction;
        }
        const entries = {
            (1, _, _, _): NoAction();
            (0, 1, 0, _): cancel();
            (0, _, _, 0): keep_larger();
            (0, 0, _, _): increase();
        }
        const default_action = decrease;
        size = 4;
    }

    action ordinary() {
        ranges.count();
    }

    action too_small() {
        ranges.count();
        sum = sign;
        ready = 1;
    }

    action too_large() {
        ranges.count();
        sum = sign + 0x7f800000;
        ready = 1;
    }

    // By the exponent, a signed number.
    table range {
        key = {
            ready    : ternary;
            t[31:16] : ternary @name("exponent");
        }
        actions = {
            ordinary;
            too_small;
            too_large;
        }
        const entries = {
            (1, _)                  : ordinary();
            (0, 0xff80)             : too_small();
            (0, 0xff81)             : too_small();
            (0, 0xff80 &&& 0xff80)  : ordinary();
            (0, 0x8000 &&& 0x8000)  : too_small();
            (0, 0x0000 &&& 0xff80)  : ordinary();
        }
        const default_action = too_large;
        size = 6;
        counters = ranges;
    }

    action add_bias() {
        bits = t + 0x007f0000;
    }

    table biases {
        actions = {
            add_bias;
        }
        const default_action = add_bias;
        size = 1;
    }

    action shift_bits() {
        bits = bits << 7;
    }

    table shifts {
        actions = {
            shift_bits;
        }
        const default_action = shift_bits;
        size = 1;
    }

    action set_power(bit<16> value) {
        bits[15:0] = value;
    }

    table power {
        key = {
            t[15:0] : exact @name("fraction");
        }
        actions = {
            set_power;
        }
        default_action = set_power(0);
        size = 65536;
    }

    apply {
        differences.apply();
        special.apply();
        sizes.apply();
        order.apply();
        signs.apply();
        if (z[31:21] == 0) {
            if (unlike == 0) {
                sigmas.apply();
            } else if (z[20:16] == 0) {
                near.apply();
            } else {
                minus.apply();
            }
        }
        shift.apply();
        range.apply();
        biases.apply();
        power.apply();
        shifts.apply();
        if (ready == 0) {
            sum = bits | sign;
        }
    }
}

#endif
