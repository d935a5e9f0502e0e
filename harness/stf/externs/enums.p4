/* SPDX-License-Identifier: Apache-2.0
 *
 * enums: register actions whose result is an enum, serializable and not, compared, assigned and
 * matched; and one whose cell is. Operation op uses one register.
 */
#define OWN_OP
#include <core.p4>

enum bit<8> Kind {
    SMALL = 3,
    LARGE = 0x90
}

enum Colour {
    RED,
    GREEN,
    BLUE
}

header op_h {
    bit<8>  op;
    bit<8>  i;
    Kind    kind;
    bit<8>  colour; // shown: 1 red, 2 green, 3 blue
    bit<32> a;
}

#include "frame.p4i"

struct counted_t {
    Kind    last;
    Kind    before;
}

INGRESS {
    // 0: a serializable enum
    Register<bit<32>, bit<8>>(16, 10) seen;
    RegisterAction<bit<32>, bit<8>, Kind>(seen) judge = {
        void apply(inout bit<32> value, out Kind rv) {
            if (value < hdr.op.a) {
                rv = Kind.LARGE;
            } else {
                rv = Kind.SMALL;
            }
            value = hdr.op.a;
        }
    };

    // 1: one without a representation of its own
    Register<bit<32>, bit<8>>(16) colours;
    RegisterAction<bit<32>, bit<8>, Colour>(colours) colour_of = {
        void apply(inout bit<32> value, out Colour rv) {
            if (value > hdr.op.a) {
                rv = Colour.BLUE;
            } else {
                rv = Colour.GREEN;
            }
            value = hdr.op.a;
        }
    };

    // 2: cells that are enums
    Register<Kind, bit<8>>(16, Kind.SMALL) kinds;
    RegisterAction<Kind, bit<8>, Kind>(kinds) swap = {
        void apply(inout Kind value, out Kind rv) {
            rv = value;
            value = hdr.op.kind;
        }
    };

    // 3: pairs of them
    Register<counted_t, bit<8>>(16, {Kind.SMALL, Kind.LARGE}) pairs;
    RegisterAction<counted_t, bit<8>, Kind>(pairs) shift = {
        void apply(inout counted_t value, out Kind rv) {
            rv = value.before;
            value.before = value.last;
            value.last = hdr.op.kind;
        }
    };

    action show(bit<8> n) {
        hdr.op.colour = n;
    }
    table by_kind {
        key = {
            hdr.op.kind : exact;
        }
        actions = { show; NoAction; }
        const entries = {
            Kind.SMALL : show(0x10);
            Kind.LARGE : show(0x20);
        }
        default_action = NoAction();
    }

    apply {
        Colour c = Colour.RED;
        if (hdr.op.op == 0) {
            hdr.op.kind = judge.execute(hdr.op.i);
            by_kind.apply();
        } else if (hdr.op.op == 1) {
            c = colour_of.execute(hdr.op.i);
            if (c == Colour.RED) {
                hdr.op.colour = 1;
            } else if (c == Colour.GREEN) {
                hdr.op.colour = 2;
            } else if (c == Colour.BLUE) {
                hdr.op.colour = 3;
            }
        } else if (hdr.op.op == 2) {
            hdr.op.kind = swap.execute(hdr.op.i);
        } else {
            hdr.op.kind = shift.execute(hdr.op.i);
        }
        ig_tm_md.ucast_egress_port = 1;
    }
}

MAIN
