// SPDX-License-Identifier: Apache-2.0
#include <core.p4>

error { OwnError }
match_kind { own_kind, optional }

typedef bit<48> mac_t;
type bit<9> port_t;
const int bits = 4 * 2;
const bit<8>[2] pairs = { 1, 2 };
const string text = "a" ++ "b";
const list<tuple<bit<8>, bool>> steps = (list<tuple<bit<8>, bool>>){ { 1, true }, { 2, false } };

enum color_t { red, green }
enum bit<4> kind_t { one = 1, two = 1 + 1, many = 0xf }

header ethernet_h {
    mac_t dst;
    mac_t src;
    bit<(bits + 8)> type;
}
header options_h {
    bit<8> length;
    varbit<(320)> rest;
}
header of_h<T> {
    T value;
}
header_union any_h {
    ethernet_h eth;
    options_h options;
}
struct box<T, U> {
    T item;
    tuple<T, U> both;
}
struct all_t {
    ethernet_h[4] stack;
    any_h[2] unions;
    of_h<bit<16>> generic;
    box<bit<8>, color_t> boxed;
    port_t port;
    kind_t kind;
    error status;
    bool flag;
    int<7> small;
    @match(ternary) bit<0> nothing;
}

@structured[1 + 1, "x", true] @pairs[k = 1, v = "w"] @plain @free(any (thing) at, all)
@pragma whatever follows 12
const bit<8> annotated = (bit<8>)kind_t.two;

const bool static_ok = static_assert(annotated == 2, "kinds count from one");
T first<T, U>(in T x, in U y) {
    return x;
}
bit<8> add(in bit<8> x, in bit<8> y = 3, bit<8> z = 4) {
    return x + y + z;
}

extern Store<T> {
    Store(bit<32> size);
    Store(bit<32> size, T initial);
    T read(in bit<32> index);
    void write(in bit<32> index, in T value, @optional in bit<8> color);
    abstract T change(in T value);
    @synchronous(read) void flush();
}
extern void log(string message, @optional bit<8> level);
extern T checked<T>(in T x, in bool ok);

parser sub(packet_in p, inout all_t h) {
    state start {
        p.extract(h.stack.next);
        transition select(h.stack.last.type, h.flag) {
            (0x0800 &&& 0xff00, true): accept;
            (0 .. 5, _): next;
            default: reject;
        }
    }
    state next {
        transition select(p.lookahead<bit<8>>()) {
            0x40 .. 0x4f: accept;
            _: start;
        }
    }
}
parser P(packet_in p, out all_t h) {
    value_set<bit<16>>(4) known;
    value_set<tuple<bit<16>, bool>>(4) twice;
    sub() inner;
    state start {
        bit<16> x = 1;
        inner.apply(p, h);
        x = first(x, h.flag);
        verify(x == 1, error.OwnError);
        p.advance((bit<32>)x);
        transition select(x) {
            known: accept;
            1: more;
        }
    }
    state more {
        p.extract(h.unions[0].options, 8);
        transition select(h.stack.lastIndex, { h.kind, h.port }) {
            (0, { kind_t.one, (port_t)9w1 }): accept;
            default: reject;
        }
    }
}
control C(inout all_t h)(Store<bit<8>> shared, bool verbose = false) {
    Store<bit<16>>(size = 4, initial = 1) own = {
        bit<16> change(in bit<16> value) {
            bit<16> r = value + 1;
            return r |+| 1;
        }
    };
    apply {
        own.write(0, h.generic.value);
        own.write(index = 1, value = 2, color = 3);
        h.generic = { 5 };
        h.stack.push_front(1);
        h.stack[0].setValid();
        h.stack[1] = { 0, 0, 0x0800 };
        h.unions[0].eth = (ethernet_h){#};
        h.boxed = { 1, { 2, color_t.red } };
        h.boxed.item = add(1) + add(y = 2, x = 1) + (bit<8>)h.stack.size;
        h.kind = (kind_t)4w2;
        h.port = (port_t)9w1;
        h.small = -h.small >> 1;
        h.flag = h.unions[1].isValid() && h.status != error.NoError;
        log("there", _);
        if (checked(h.flag, true))
            h.stack.pop_front(h.stack[0].minSizeInBytes() > 4 ? 1 : 2);
        h.boxed.both[0] = pairs[1];
    }
}
