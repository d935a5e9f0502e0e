// SPDX-License-Identifier: Apache-2.0
//
// Functions, direct calls of actions, controls within controls: what is copied, what is not, and
// where results go.
#include "frame.p4i"

bit<8> twice(in bit<8> v) {
    return v + v;
}

bit<8> clamp(in bit<8> v, in bit<8> top) {
    if (v > top) {
        return top;
    }
    return v;
}

void swap(inout bit<8> p, inout bit<8> q) {
    bit<8> t = p;
    p = q;
    q = t;
}

T first<T>(in T a, in T b) {
    return a;
}

void split(in bit<16> v, out bit<8> high, out bit<8> low) {
    high = v[15:8];
    low = v[7:0];
}

bit<8> bump(inout bit<8> z) {
    z = z + 1;
    return z;
}

void add(inout bit<8> x, in bit<8> y) {
    x = x + y;
}

control Add(inout bit<8> sum, in bit<8> n)(bit<8> constant, bool negative) {
    bit<8> before = sum;
    table t {
        key = { sum : exact; }
        actions = { NoAction; }
    }
    apply {
        if (negative) {
            sum = sum - n - constant;
        } else {
            sum = sum + n + constant;
        }
        if (before == sum) {
            return;
        }
        t.apply();
    }
}

control Pair<T>(in T a, out T b) {
    apply {
        b = a;
    }
}

control Plain(inout headers_t hdr, inout md_t md) {
    apply {
        hdr.num.a = md.x;
    }
}

control Mark(inout headers_t hdr, in bit<8> n, in bit<8> k) {
    apply {
        hdr.num.a = hdr.num.a + n + k;
    }
}

control Ingress(inout headers_t hdr, inout md_t md) {
    Mark() mark;
    Add(1, false) up;
    Add(constant = 2, negative = true) down;
    Add(3, false) again;
    Pair<bit<16>>() pair;

    action set(inout bit<8> target, in bit<8> v) {
        target = v;
        md.y = target;
    }
    action keep(inout bit<8> target, bit<8> v) {
        target = target & v;
        if (target == 0) {
            exit;
        }
    }

    apply {
        md.x = twice(hdr.num.a) + clamp(hdr.num.b, 10);
        swap(hdr.num.a, hdr.num.b);
        swap(hdr.num.a, hdr.num.a);
        md.z = first(hdr.num.c, 16w3);
        split(hdr.num.c, hdr.num.a, hdr.num.c[3+4:0]);
        add(hdr.num.a, bump(hdr.num.a));
        set(md.y, md.x);
        set(md.x, hdr.num.a);
        keep(hdr.num.b, 7);
        up.apply(md.x, hdr.num.a);
        down.apply(md.x, md.x);
        if (hdr.num.a == 1) {
            again.apply(md.x, 1);
        } else {
            again.apply(md.y, 2);
        }
        pair.apply(hdr.num.c, md.z);
        Plain.apply(hdr, md);
        mark.apply(hdr, hdr.num.b, 3);
        mark.apply(hdr, md.x, 3);
    }
}

MAIN
