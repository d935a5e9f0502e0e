/* SPDX-License-Identifier: Apache-2.0
 *
 * kinds: packets of several kinds, with headers of several lengths, that come around. Each pass takes a cell from behind the
 * headers; then one shows their sum there. The program is large, so that the kinds' ways through the parser share what is
 * printed after them.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

#define AROUND 68
const bit<8> FIRST = 0;
const bit<8> TAKE = 1;
const bit<8> SHOW = 2;
const bit<8> LEAVE = 3;

header bridge_h {
    bit<8>  op;
    bit<8>  left;
    bit<32> sum;
}
// kind   1: a; 2: b; 4: c; with any of them
// drop   1: c is removed in the first pass that takes a cell; 2: in that which shows the sum
header front_h {
    bit<5> unused;
    bit<3> kind;
    bit<8> cells;
    bit<8> drop;
}
header a_h { bit<24> a; }
header b_h { bit<8> count; bit<32> b; }
header c_h { bit<16> c; }
header cell_h { bit<32> v; }
struct headers_t {
    bridge_h bridge;
    front_h  front;
    c_h      c;
    a_h      a;
    b_h      b;
    cell_h   sum;
    cell_h   cell;
}
struct metadata_t { bit<8> op; bit<8> mixed; }

#define KIND(name, end)                                                                            \
    state name {                                                                                   \
        pkt.extract(hdr.front);                                                                    \
        transition select(hdr.front.kind) {                                                        \
            1: name##_1; 2: name##_2; 3: name##_3; 4: name##_4; 5: name##_5;                       \
            default: end;                                                                          \
        }                                                                                          \
    }                                                                                              \
    state name##_1 { pkt.extract(hdr.a); transition end; }                                         \
    state name##_2 { pkt.extract(hdr.b); transition end; }                                         \
    state name##_3 { pkt.extract(hdr.a); pkt.extract(hdr.b); transition end; }                     \
    state name##_4 { pkt.extract(hdr.c); transition end; }                                         \
    state name##_5 { pkt.extract(hdr.c); pkt.extract(hdr.a); transition end; }

PARSER_IN(IngressParser) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        md.mixed = 0;
        transition select(ig_intr_md.ingress_port) {
            AROUND: around;
            default: first;
        }
    }
    state first { md.op = FIRST; transition taken; }
    state around {
        pkt.extract(hdr.bridge);
        transition select(hdr.bridge.op) {
            TAKE: take;
            SHOW: show;
            default: leave;
        }
    }
    state take { md.op = TAKE; transition taken; }
    state show { md.op = SHOW; hdr.sum.setValid(); transition left; }
    state leave { md.op = LEAVE; transition left; }
    KIND(taken, cell)
    KIND(left, accept)
    state cell { pkt.extract(hdr.cell); transition accept; }
}

CONTROL_IN(Ingress) {
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) passes;

    action go(bit<8> op, PortId_t port) {
        hdr.bridge.op = op;
        ig_tm_md.ucast_egress_port = port;
        ig_tm_md.bypass_egress = 1;
    }
    action take() {
        hdr.bridge.sum = hdr.bridge.sum + hdr.cell.v;
        hdr.bridge.left = hdr.bridge.left - 1;
        hdr.cell.setInvalid();
    }
    action mix(bit<8> value) {
        md.mixed = md.mixed + value;
        md.mixed = md.mixed ^ 0x5a;
        md.mixed = md.mixed + 1;
        md.mixed = md.mixed | 0x80;
        passes.count(value);
    }
    action mix_more(bit<8> value) {
        md.mixed = md.mixed - value;
        md.mixed = md.mixed ^ 0x33;
    }
#define EIGHT(action, n)                                                                           \
    n: action(n); n + 1: action(n + 1); n + 2: action(n + 2); n + 3: action(n + 3);                \
    n + 4: action(n + 4); n + 5: action(n + 5); n + 6: action(n + 6); n + 7: action(n + 7);
#define ENTRIES(n)      EIGHT(mix, n)
#define MORE_ENTRIES(n) EIGHT(mix_more, n)
    table mixed {
        key = { hdr.bridge.sum[5:0] : exact; }
        actions = { mix; }
        const default_action = mix(255);
        const entries = {
            ENTRIES(0) ENTRIES(8) ENTRIES(16) ENTRIES(24) ENTRIES(32) ENTRIES(40) ENTRIES(48) ENTRIES(56)
        }
        size = 64;
    }
    table mixed_again {
        key = { md.mixed[5:0] : exact; }
        actions = { mix_more; }
        const default_action = mix_more(255);
        const entries = {
            MORE_ENTRIES(0) MORE_ENTRIES(8) MORE_ENTRIES(16) MORE_ENTRIES(24)
            MORE_ENTRIES(32) MORE_ENTRIES(40) MORE_ENTRIES(48) MORE_ENTRIES(56)
        }
        size = 64;
    }
    apply {
        if (md.op == FIRST) {
            hdr.bridge.setValid();
            hdr.bridge.left = hdr.front.cells;
            hdr.bridge.sum = 0;
            hdr.sum.setInvalid(); // the compiler does not know that it is not there
        }
        if (md.op == FIRST || md.op == TAKE) {
            take();
            if (hdr.b.isValid()) {
                hdr.b.count = hdr.b.count + 1;
            }
            if (hdr.front.drop == 1 && md.op == TAKE) {
                hdr.c.setInvalid();
                hdr.front.kind = hdr.front.kind & 3;
            }
            if (hdr.bridge.left == 0) {
                go(SHOW, AROUND);
            } else {
                go(TAKE, AROUND);
            }
        } else if (md.op == SHOW) {
            hdr.sum.v = hdr.bridge.sum;
            if (hdr.front.drop == 2) {
                hdr.c.setInvalid();
                hdr.front.kind = hdr.front.kind & 3;
            }
            go(LEAVE, AROUND);
        } else {
            go(LEAVE, 2);
        }
        mixed.apply();
        mixed_again.apply();
        if (md.op == SHOW) {
            hdr.front.cells = md.mixed;
        }
        if (md.op == LEAVE) {
            hdr.bridge.setInvalid();
        }
    }
}

DEPARSER_IN(IngressDeparser) { apply { pkt.emit(hdr); } }

PARSER_OUT(EgressParser) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}
CONTROL_OUT(Egress) { apply {} }
DEPARSER_OUT(EgressDeparser) { apply {} }

MAIN
