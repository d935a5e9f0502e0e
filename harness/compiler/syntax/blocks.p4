// Parsers, controls, tables, statements.
extern packet_in { void extract<T>(out T hdr); T lookahead<T>(); void advance(in bit<32> n); }
extern Action<T, I, U> { Action(bit<32> r); abstract void apply(inout T v, out U r); U execute(in I i); }
match_kind { exact, ternary, range }
header h_t { bit<8> a; bit<16> b; }
struct hdr_t { h_t h; h_t[3] stack; }

parser Pr(packet_in pkt, out hdr_t hdr)(bit<8> limit) {
    const bit<8> K = 3;
    bit<8> count;
    value_set<bit<16>>(4) ports;
    value_set<tuple<bit<8>, bit<8>>>(2) pairs;
    state start {
        pkt.extract(hdr.h);
        count = pkt.lookahead<bit<8>>();
        transition select(hdr.h.a, hdr.h.b) {
            (0, 0x0800): parse_ip;
            (1 &&& 3, 5 .. 9): parse_stack;
            (_, default): accept;
            ports: parse_ip;
            default: reject;
        }
    }
    @name("ip") state parse_ip {
        if (count == limit) { count = 0; } else count = count - 1;
        { bit<8> inner = 3; hdr.h.a = inner; }
        transition parse_stack;
    }
    state parse_stack {
        pkt.extract(hdr.stack.next);
        transition select((bit<4>) hdr.stack.last.a[3:0]) {
            K: accept;
            {1}: start;
            _: accept;
        }
    }
    state no_transition { }
}

control Inner(inout hdr_t hdr) { apply { } }

control Ct(inout hdr_t hdr, in bit<9> port)(bit<32> size) {
    Inner() inner;
    @hidden bit<8> tmp = 0;
    const bit<16> LIMIT = 16w10;
    Action<bit<16>, bit<8>, bit<16>>(4) act = {
        void apply(inout bit<16> v, out bit<16> r) {
            v = v |+| 1;
            r = this.execute(0);
        }
    };
    action set(in bit<8> a, bit<16> b) { hdr.h.a = a; hdr.h.b = b; }
    action drop() { exit; }
    @size(1) table t {
        key = {
            hdr.h.a: exact @name("a");
            hdr.h.b[15:8]: ternary;
            port & 0xff: range;
        }
        actions = { set(hdr.h.a); @defaultonly drop; .drop; }
        const default_action = drop();
        const entries = {
            (1, _, 3 .. 5): set(5);
            const priority = 10: (2, 3 &&& 7, default): drop;
            priority = (1 + 2): (4, 4, 4): drop() @name("e");
        }
        size = 64;
        @x const implementation = act;
    }
    table keyless { actions = { drop; } default_action = drop; entries = { } }
    apply {
        if (t.apply().hit) { t.apply(); } else if (port == 1) ; else { return; }
        switch (t.apply().action_run) {
            set: { tmp = 1; }
            drop:
            default: { exit; }
        }
        switch (tmp) { 1: 2: { tmp += 1; } 3 + 4: { } default: { } }
        for (bit<8> i = 0, bit<8> j = 1; i < 10; i = i + 1, j <<= 2) {
            if (i == 3) break;
            continue;
        }
        @unroll for (bit<8> k in 1 .. 8) tmp = k;
        for (@x bit<8> k in {1, 2}) { tmp |-|= k; }
        tmp -= 1; tmp *= 2; tmp /= 2; tmp %= 2; tmp &= 1; tmp |= 1; tmp ^= 1; tmp >>= 1; tmp |+|= 1;
        Inner.apply(hdr);
        inner.apply(hdr = hdr);
        act.execute(_);
        (hdr.h.a) = 3;
        hdr.h.b[7:0] = 1;
        hdr.h.b[8 +: 4] = 1;
        @atomic { bit<8> x; x = tmp; }
    }
}
