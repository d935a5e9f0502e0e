// SPDX-License-Identifier: Apache-2.0
//
// A read and a write in one action that are no one access: the chip would do something else.
#include "../golden/frame.p4i"

control Ingress(inout headers_t hdr, inout md_t md) {
    Register<bit<8>, bit<8>>(16) computed;
    Register<bit<8>, bit<8>>(16) copied;
    Register<bit<8>, bit<8>>(16) over;
    Register<bit<8>, bit<8>>(16) moved;
    Register<bit<8>, bit<8>>(16) index_read;
    Register<bit<8>, bit<8>>(16) index_set;
    Register<bit<8>, bit<8>>(16) other_cell;
    Register<bit<8>, bit<8>>(16) written;
    Register<bit<8>, bit<8>>(16) thrice;
    Register<bit<8>, bit<8>>(16) two_calls;
    Register<bit<8>, bit<8>>(16) between;
    Register<bit<8>, bit<8>>(16) backwards;
    action a_computed() {
        bit<8> v = computed.read(hdr.num.a);
        v = v + 1;
        computed.write(hdr.num.a, v);
    }
    action a_copied() {
        md.x = copied.read(hdr.num.a);
        md.y = md.x;
        copied.write(hdr.num.a, md.y);
    }
    action a_over() {
        md.x = hdr.num.b;
        md.y = over.read(hdr.num.a);
        md.x = 3;
        over.write(hdr.num.a, md.y);
        md.y = over.read(hdr.num.a);
    }
    action a_moved() {
        md.x = moved.read(hdr.num.a);
        md.y = hdr.num.b + 1;
        hdr.num.b = 5;
        moved.write(hdr.num.a, md.y);
    }
    action a_index_read() {
        hdr.num.a = index_read.read(hdr.num.a);
        index_read.write(hdr.num.a, 1);
    }
    action a_index_set() {
        md.x = index_set.read(hdr.num.a);
        hdr.num.a = hdr.num.b;
        index_set.write(hdr.num.a, 1);
    }
    action a_other_cell() {
        md.x = other_cell.read(hdr.num.a);
        other_cell.write(hdr.num.b, 1);
    }
    action a_written() {
        written.write(hdr.num.a, hdr.num.b);
        hdr.num.b = 7;
        md.x = written.read(hdr.num.a);
    }
    action a_thrice() {
        md.x = thrice.read(hdr.num.a);
        thrice.write(hdr.num.a, 1);
        thrice.write(hdr.num.a, 2);
    }
    action get() {
        md.x = two_calls.read(hdr.num.a);
    }
    action put() {
        two_calls.write(hdr.num.a, 1);
    }
    table t {
        key = { hdr.num.c : exact; }
        actions = {
            a_computed; a_copied; a_over; a_moved; a_index_read; a_index_set; a_other_cell; a_written; a_thrice;
        }
    }
    apply {
        t.apply();
        get();
        put();
        md.x = between.read(hdr.num.a);
        md.y = hdr.num.b;
        between.write(hdr.num.a, 1);
        backwards.write(hdr.num.a, 1);
        md.x = backwards.read(hdr.num.a);
    }
}

MAIN
