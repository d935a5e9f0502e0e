// SPDX-License-Identifier: Apache-2.0
//
// Controls and parsers that are applied by their type's name, more than once, in a loop of ways, and
// beside an instance of the same type. Each application by name is an instance of its own.
#include "frame.p4i"

header op_h {
    bit<8> op;
    bit<8> a;
    bit<8> b;
    bit<8> c;
    bit<8> d;
}
header pair_h {
    bit<8> first;
    bit<8> second;
}
struct headers_t {
    op_h op;
    pair_h p;
    pair_h q;
}
struct metadata_t {}

// A parser, applied twice.
parser Pair(packet_in pkt, out pair_h h, in bit<8> swap) {
    state start {
        pkt.extract(h);
        transition select(swap) {
            0 : accept;
            default : swapped;
        }
    }
    state swapped {
        h.first = h.second;
        transition accept;
    }
}

PARSER(
    state parse {
        pkt.extract(hdr.op);
        Pair.apply(pkt, hdr.p, hdr.op.op);
        Pair.apply(pkt, hdr.q, 0);
        transition accept;
    })

// Nothing in it that a controller sees. Its variable begins anew each time.
control Step(inout bit<8> x, in bit<8> by) {
    bit<8> doubled = by << 1;
    apply {
        if (x == 0xff) {
            return;
        }
        x = x + doubled;
    }
}

// It applies another by name, and is applied by name.
control Twice(inout bit<8> x) {
    apply {
        Step.apply(x, 1);
        Step.apply(x, 2);
    }
}

// With a type parameter.
control Set<T>(inout T x, in T to) {
    apply {
        x = to;
    }
}

// A table that controllers see is in one instance each.
control Look(inout bit<8> x) {
    action put(bit<8> v) {
        x = v;
    }
    table t {
        key = { x : exact; }
        actions = { put; NoAction; }
        default_action = NoAction();
        size = 16;
    }
    apply {
        t.apply();
    }
}

INGRESS {
    Step() named;
    Look() other;
    apply {
        Step.apply(hdr.op.a, 1);
        Step.apply(hdr.op.a, hdr.op.b);
        named.apply(hdr.op.b, 3);
        named.apply(hdr.op.b, 4);
        if (hdr.op.op == 1) {
            Twice.apply(hdr.op.c);
        } else {
            Twice.apply(hdr.op.c);
            Twice.apply(hdr.op.c);
            Step.apply(hdr.op.d, hdr.op.c);
        }
        Set<bit<8>>.apply(hdr.p.first, 0x55);
        Set<bit<8>>.apply(hdr.q.second, hdr.p.first);
        Look.apply(hdr.op.a);
        other.apply(hdr.op.b);
        ig_tm_md.ucast_egress_port = 1;
    }
}

DEPARSER(pkt.emit(hdr);)

MAIN
