// SPDX-License-Identifier: Apache-2.0
//
// Tables with thousands of entries of their own, one of each way to look them up. Entry n is for the
// key 16 n, or what is around it, and gives n.
#include "../lang/frame.p4i"

header t_h {
    bit<8>  op;
    bit<32> key;
    bit<16> found;
}
struct headers_t { t_h t; }
struct metadata_t {}

PARSER(
    state parse {
        pkt.extract(hdr.t);
        transition accept;
    }
)

#define E4(e, n)    e(n) e(n + 1) e(n + 2) e(n + 3)
#define E16(e, n)   E4(e, n) E4(e, n + 4) E4(e, n + 8) E4(e, n + 12)
#define E64(e, n)   E16(e, n) E16(e, n + 16) E16(e, n + 32) E16(e, n + 48)
#define E256(e, n)  E64(e, n) E64(e, n + 64) E64(e, n + 128) E64(e, n + 192)
#define E1024(e, n) E256(e, n) E256(e, n + 256) E256(e, n + 512) E256(e, n + 768)
#define E4096(e, n) E1024(e, n) E1024(e, n + 1024) E1024(e, n + 2048) E1024(e, n + 3072)

#define EXACT(n)   16 * (n) : set(n);
#define TERNARY(n) 16 * (n) &&& 0xfffffff0 : set(n);
#define RANGE(n)   16 * (n) .. 16 * (n) + 7 : set(n);

#define TABLE(name, kind, entry)                                                                   \
    table name {                                                                                   \
        key = { hdr.t.key : kind; }                                                                \
        actions = { set; none; }                                                                   \
        const default_action = none;                                                               \
        const entries = { E4096(entry, 0) }                                                        \
        size = 4096;                                                                               \
    }

INGRESS {
    action set(bit<16> n) { hdr.t.found = n; }
    action none() { hdr.t.found = 0xffff; }
    TABLE(by_value, exact, EXACT)
    TABLE(by_mask, ternary, TERNARY)
    TABLE(by_prefix, lpm, TERNARY)
    TABLE(by_range, range, RANGE)
    apply {
        ig_tm_md.ucast_egress_port = 1;
        switch (hdr.t.op) {
            0: { by_value.apply(); }
            1: { by_mask.apply(); }
            2: { by_prefix.apply(); }
            3: { by_range.apply(); }
        }
    }
}

DEPARSER(pkt.emit(hdr);)
MAIN
