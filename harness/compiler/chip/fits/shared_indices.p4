// SPDX-License-Identifier: Apache-2.0
// fits: 1
// Four registers, read at one index or written at another: what brings an index to a register is there once for all
// that use the same, so that eight accesses stand in one stage.
#include "../limits/common.p4"

INGRESS {
    Register<bit<32>, bit<32>>(32768) cells0;
    RegisterAction<bit<32>, bit<32>, bit<32>>(cells0) read0 = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    RegisterAction<bit<32>, bit<32>, bit<32>>(cells0) write0 = {
        void apply(inout bit<32> value) {
            value = hdr.num.g;
        }
    };
    Register<bit<32>, bit<32>>(32768) cells1;
    RegisterAction<bit<32>, bit<32>, bit<32>>(cells1) read1 = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    RegisterAction<bit<32>, bit<32>, bit<32>>(cells1) write1 = {
        void apply(inout bit<32> value) {
            value = hdr.num.g;
        }
    };
    Register<bit<32>, bit<32>>(32768) cells2;
    RegisterAction<bit<32>, bit<32>, bit<32>>(cells2) read2 = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    RegisterAction<bit<32>, bit<32>, bit<32>>(cells2) write2 = {
        void apply(inout bit<32> value) {
            value = hdr.num.g;
        }
    };
    Register<bit<32>, bit<32>>(32768) cells3;
    RegisterAction<bit<32>, bit<32>, bit<32>>(cells3) read3 = {
        void apply(inout bit<32> value, out bit<32> result) {
            result = value;
        }
    };
    RegisterAction<bit<32>, bit<32>, bit<32>>(cells3) write3 = {
        void apply(inout bit<32> value) {
            value = hdr.num.g;
        }
    };
    apply {
        tm.ucast_egress_port = intr.ingress_port;
        if (hdr.num.a == 0) {
            if (hdr.num.b == 0)
                hdr.num.f = read0.execute(hdr.num.e);
            else if (hdr.num.b == 1)
                hdr.num.f = read1.execute(hdr.num.e);
            else if (hdr.num.b == 2)
                hdr.num.f = read2.execute(hdr.num.e);
            else
                hdr.num.f = read3.execute(hdr.num.e);
        } else {
            if (hdr.num.b == 0)
                write0.execute(hdr.num.f);
            else if (hdr.num.b == 1)
                write1.execute(hdr.num.f);
            else if (hdr.num.b == 2)
                write2.execute(hdr.num.f);
            else
                write3.execute(hdr.num.f);
        }
    }
}

MAIN
