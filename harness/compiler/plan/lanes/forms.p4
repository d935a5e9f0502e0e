/* SPDX-License-Identifier: Apache-2.0
 *
 * forms: what a register action can do to a cell, each in sixteen registers side by side. Byte
 * 'form' of a packet says which one runs. All of them become vector instructions (test_lanes.c).
 */
#include <core.p4>
#include <tna.p4>

header request_h {
    bit<48> dst_addr;
    bit<48> src_addr;
    bit<16> ether_type;
    bit<8>  form;
    bit<8>  index;
    bit<8>  first;
    bit<8>  flag;
}

header unsigned_h {
    bit<32> v0;
    bit<32> v1;
    bit<32> v2;
    bit<32> v3;
    bit<32> v4;
    bit<32> v5;
    bit<32> v6;
    bit<32> v7;
    bit<32> v8;
    bit<32> v9;
    bit<32> v10;
    bit<32> v11;
    bit<32> v12;
    bit<32> v13;
    bit<32> v14;
    bit<32> v15;
}

header signed_h {
    int<32> v0;
    int<32> v1;
    int<32> v2;
    int<32> v3;
    int<32> v4;
    int<32> v5;
    int<32> v6;
    int<32> v7;
    int<32> v8;
    int<32> v9;
    int<32> v10;
    int<32> v11;
    int<32> v12;
    int<32> v13;
    int<32> v14;
    int<32> v15;
}

struct headers_t {
    request_h  request;
    unsigned_h u;
    signed_h   s;
}

struct metadata_t {
    bit<8>  first;
    bit<32> any;
}

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t md,
                     out ingress_intrinsic_metadata_t ig_intr_md) {
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.request);
        pkt.extract(hdr.u);
        pkt.extract(hdr.s);
        transition accept;
    }
}

control wrap(inout bit<32> f, in bit<8> index, in metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + f; rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

control add_unsigned(inout bit<32> f, in bit<8> index, in metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value |+| f; rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

control subtract_unsigned(inout bit<32> f, in bit<8> index, in metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value |-| f; rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

control add_signed(inout int<32> f, in bit<8> index, in metadata_t md) {
    Register<int<32>, bit<8>>(256) cells;
    RegisterAction<int<32>, bit<8>, int<32>>(cells) run = {
        void apply(inout int<32> value, out int<32> rv) {
            value = value |+| f; rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

control subtract_signed(inout int<32> f, in bit<8> index, in metadata_t md) {
    Register<int<32>, bit<8>>(256) cells;
    RegisterAction<int<32>, bit<8>, int<32>>(cells) run = {
        void apply(inout int<32> value, out int<32> rv) {
            value = value |-| f; rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

control min_unsigned(inout bit<32> f, in bit<8> index, in metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = min(value, f); rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

control max_unsigned(inout bit<32> f, in bit<8> index, in metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = max(value, f); rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

control min_signed(inout int<32> f, in bit<8> index, in metadata_t md) {
    Register<int<32>, bit<8>>(256) cells;
    RegisterAction<int<32>, bit<8>, int<32>>(cells) run = {
        void apply(inout int<32> value, out int<32> rv) {
            value = min(value, f); rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

control max_signed(inout int<32> f, in bit<8> index, in metadata_t md) {
    Register<int<32>, bit<8>>(256) cells;
    RegisterAction<int<32>, bit<8>, int<32>>(cells) run = {
        void apply(inout int<32> value, out int<32> rv) {
            value = max(value, f); rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

control larger(inout bit<32> f, in bit<8> index, in metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value; if (value < f) { value = f; }
        }
    };
    apply {
        f = run.execute(index);
    }
}

control set_or_add(inout bit<32> f, in bit<8> index, in metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value; if (md.first == 1) { value = f; } else { value = value + f; }
        }
    };
    apply {
        f = run.execute(index);
    }
}

control read(inout bit<32> f, in bit<8> index, in metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

control toggle(inout bit<32> f, in bit<8> index, in metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value ^ f; rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

control count_above(inout bit<32> f, in bit<8> index, in metadata_t md) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> value, out bit<32> rv) {
            if (f > 100) { value = value + 1; } rv = value;
        }
    };
    apply {
        f = run.execute(index);
    }
}

// The lanes tell of something together.
control flagged(inout bit<32> f, in bit<8> index, inout bit<32> any) {
    Register<bit<32>, bit<8>>(256) cells;
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) run = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value |+| f;
            rv = value;
        }
    };
    apply {
        f = run.execute(index);
        any = any | f;
    }
}

control Ingress(inout headers_t hdr, inout metadata_t md,
                in ingress_intrinsic_metadata_t ig_intr_md,
                in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
                inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    wrap() wrap0;
    wrap() wrap1;
    wrap() wrap2;
    wrap() wrap3;
    wrap() wrap4;
    wrap() wrap5;
    wrap() wrap6;
    wrap() wrap7;
    wrap() wrap8;
    wrap() wrap9;
    wrap() wrap10;
    wrap() wrap11;
    wrap() wrap12;
    wrap() wrap13;
    wrap() wrap14;
    wrap() wrap15;
    add_unsigned() add_unsigned0;
    add_unsigned() add_unsigned1;
    add_unsigned() add_unsigned2;
    add_unsigned() add_unsigned3;
    add_unsigned() add_unsigned4;
    add_unsigned() add_unsigned5;
    add_unsigned() add_unsigned6;
    add_unsigned() add_unsigned7;
    add_unsigned() add_unsigned8;
    add_unsigned() add_unsigned9;
    add_unsigned() add_unsigned10;
    add_unsigned() add_unsigned11;
    add_unsigned() add_unsigned12;
    add_unsigned() add_unsigned13;
    add_unsigned() add_unsigned14;
    add_unsigned() add_unsigned15;
    subtract_unsigned() subtract_unsigned0;
    subtract_unsigned() subtract_unsigned1;
    subtract_unsigned() subtract_unsigned2;
    subtract_unsigned() subtract_unsigned3;
    subtract_unsigned() subtract_unsigned4;
    subtract_unsigned() subtract_unsigned5;
    subtract_unsigned() subtract_unsigned6;
    subtract_unsigned() subtract_unsigned7;
    subtract_unsigned() subtract_unsigned8;
    subtract_unsigned() subtract_unsigned9;
    subtract_unsigned() subtract_unsigned10;
    subtract_unsigned() subtract_unsigned11;
    subtract_unsigned() subtract_unsigned12;
    subtract_unsigned() subtract_unsigned13;
    subtract_unsigned() subtract_unsigned14;
    subtract_unsigned() subtract_unsigned15;
    add_signed() add_signed0;
    add_signed() add_signed1;
    add_signed() add_signed2;
    add_signed() add_signed3;
    add_signed() add_signed4;
    add_signed() add_signed5;
    add_signed() add_signed6;
    add_signed() add_signed7;
    add_signed() add_signed8;
    add_signed() add_signed9;
    add_signed() add_signed10;
    add_signed() add_signed11;
    add_signed() add_signed12;
    add_signed() add_signed13;
    add_signed() add_signed14;
    add_signed() add_signed15;
    subtract_signed() subtract_signed0;
    subtract_signed() subtract_signed1;
    subtract_signed() subtract_signed2;
    subtract_signed() subtract_signed3;
    subtract_signed() subtract_signed4;
    subtract_signed() subtract_signed5;
    subtract_signed() subtract_signed6;
    subtract_signed() subtract_signed7;
    subtract_signed() subtract_signed8;
    subtract_signed() subtract_signed9;
    subtract_signed() subtract_signed10;
    subtract_signed() subtract_signed11;
    subtract_signed() subtract_signed12;
    subtract_signed() subtract_signed13;
    subtract_signed() subtract_signed14;
    subtract_signed() subtract_signed15;
    min_unsigned() min_unsigned0;
    min_unsigned() min_unsigned1;
    min_unsigned() min_unsigned2;
    min_unsigned() min_unsigned3;
    min_unsigned() min_unsigned4;
    min_unsigned() min_unsigned5;
    min_unsigned() min_unsigned6;
    min_unsigned() min_unsigned7;
    min_unsigned() min_unsigned8;
    min_unsigned() min_unsigned9;
    min_unsigned() min_unsigned10;
    min_unsigned() min_unsigned11;
    min_unsigned() min_unsigned12;
    min_unsigned() min_unsigned13;
    min_unsigned() min_unsigned14;
    min_unsigned() min_unsigned15;
    max_unsigned() max_unsigned0;
    max_unsigned() max_unsigned1;
    max_unsigned() max_unsigned2;
    max_unsigned() max_unsigned3;
    max_unsigned() max_unsigned4;
    max_unsigned() max_unsigned5;
    max_unsigned() max_unsigned6;
    max_unsigned() max_unsigned7;
    max_unsigned() max_unsigned8;
    max_unsigned() max_unsigned9;
    max_unsigned() max_unsigned10;
    max_unsigned() max_unsigned11;
    max_unsigned() max_unsigned12;
    max_unsigned() max_unsigned13;
    max_unsigned() max_unsigned14;
    max_unsigned() max_unsigned15;
    min_signed() min_signed0;
    min_signed() min_signed1;
    min_signed() min_signed2;
    min_signed() min_signed3;
    min_signed() min_signed4;
    min_signed() min_signed5;
    min_signed() min_signed6;
    min_signed() min_signed7;
    min_signed() min_signed8;
    min_signed() min_signed9;
    min_signed() min_signed10;
    min_signed() min_signed11;
    min_signed() min_signed12;
    min_signed() min_signed13;
    min_signed() min_signed14;
    min_signed() min_signed15;
    max_signed() max_signed0;
    max_signed() max_signed1;
    max_signed() max_signed2;
    max_signed() max_signed3;
    max_signed() max_signed4;
    max_signed() max_signed5;
    max_signed() max_signed6;
    max_signed() max_signed7;
    max_signed() max_signed8;
    max_signed() max_signed9;
    max_signed() max_signed10;
    max_signed() max_signed11;
    max_signed() max_signed12;
    max_signed() max_signed13;
    max_signed() max_signed14;
    max_signed() max_signed15;
    larger() larger0;
    larger() larger1;
    larger() larger2;
    larger() larger3;
    larger() larger4;
    larger() larger5;
    larger() larger6;
    larger() larger7;
    larger() larger8;
    larger() larger9;
    larger() larger10;
    larger() larger11;
    larger() larger12;
    larger() larger13;
    larger() larger14;
    larger() larger15;
    set_or_add() set_or_add0;
    set_or_add() set_or_add1;
    set_or_add() set_or_add2;
    set_or_add() set_or_add3;
    set_or_add() set_or_add4;
    set_or_add() set_or_add5;
    set_or_add() set_or_add6;
    set_or_add() set_or_add7;
    set_or_add() set_or_add8;
    set_or_add() set_or_add9;
    set_or_add() set_or_add10;
    set_or_add() set_or_add11;
    set_or_add() set_or_add12;
    set_or_add() set_or_add13;
    set_or_add() set_or_add14;
    set_or_add() set_or_add15;
    read() read0;
    read() read1;
    read() read2;
    read() read3;
    read() read4;
    read() read5;
    read() read6;
    read() read7;
    read() read8;
    read() read9;
    read() read10;
    read() read11;
    read() read12;
    read() read13;
    read() read14;
    read() read15;
    toggle() toggle0;
    toggle() toggle1;
    toggle() toggle2;
    toggle() toggle3;
    toggle() toggle4;
    toggle() toggle5;
    toggle() toggle6;
    toggle() toggle7;
    toggle() toggle8;
    toggle() toggle9;
    toggle() toggle10;
    toggle() toggle11;
    toggle() toggle12;
    toggle() toggle13;
    toggle() toggle14;
    toggle() toggle15;
    count_above() count_above0;
    count_above() count_above1;
    count_above() count_above2;
    count_above() count_above3;
    count_above() count_above4;
    count_above() count_above5;
    count_above() count_above6;
    count_above() count_above7;
    count_above() count_above8;
    count_above() count_above9;
    count_above() count_above10;
    count_above() count_above11;
    count_above() count_above12;
    count_above() count_above13;
    count_above() count_above14;
    count_above() count_above15;
    flagged() flagged0;
    flagged() flagged1;
    flagged() flagged2;
    flagged() flagged3;
    flagged() flagged4;
    flagged() flagged5;
    flagged() flagged6;
    flagged() flagged7;
    flagged() flagged8;
    flagged() flagged9;
    flagged() flagged10;
    flagged() flagged11;
    flagged() flagged12;
    flagged() flagged13;
    flagged() flagged14;
    flagged() flagged15;
    Register<bit<32>, bit<8>>(256) weighted0;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted0) weigh0 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v0 & 32w65537);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted1;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted1) weigh1 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v1 & 32w131074);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted2;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted2) weigh2 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v2 & 32w262148);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted3;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted3) weigh3 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v3 & 32w524296);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted4;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted4) weigh4 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v4 & 32w1048592);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted5;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted5) weigh5 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v5 & 32w2097184);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted6;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted6) weigh6 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v6 & 32w4194368);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted7;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted7) weigh7 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v7 & 32w8388736);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted8;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted8) weigh8 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v8 & 32w16777472);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted9;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted9) weigh9 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v9 & 32w33554944);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted10;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted10) weigh10 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v10 & 32w67109888);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted11;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted11) weigh11 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v11 & 32w134219776);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted12;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted12) weigh12 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v12 & 32w268439552);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted13;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted13) weigh13 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v13 & 32w536879104);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted14;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted14) weigh14 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v14 & 32w1073758208);
            rv = value;
        }
    };
    Register<bit<32>, bit<8>>(256) weighted15;
    RegisterAction<bit<32>, bit<8>, bit<32>>(weighted15) weigh15 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + (hdr.u.v15 & 32w2147516416);
            rv = value;
        }
    };
    apply {
        ig_tm_md.ucast_egress_port = 1;
        md.first = hdr.request.first;
        if (hdr.request.form == 0) {
            wrap0.apply(hdr.u.v0, hdr.request.index, md);
            wrap1.apply(hdr.u.v1, hdr.request.index, md);
            wrap2.apply(hdr.u.v2, hdr.request.index, md);
            wrap3.apply(hdr.u.v3, hdr.request.index, md);
            wrap4.apply(hdr.u.v4, hdr.request.index, md);
            wrap5.apply(hdr.u.v5, hdr.request.index, md);
            wrap6.apply(hdr.u.v6, hdr.request.index, md);
            wrap7.apply(hdr.u.v7, hdr.request.index, md);
            wrap8.apply(hdr.u.v8, hdr.request.index, md);
            wrap9.apply(hdr.u.v9, hdr.request.index, md);
            wrap10.apply(hdr.u.v10, hdr.request.index, md);
            wrap11.apply(hdr.u.v11, hdr.request.index, md);
            wrap12.apply(hdr.u.v12, hdr.request.index, md);
            wrap13.apply(hdr.u.v13, hdr.request.index, md);
            wrap14.apply(hdr.u.v14, hdr.request.index, md);
            wrap15.apply(hdr.u.v15, hdr.request.index, md);
        } else if (hdr.request.form == 1) {
            add_unsigned0.apply(hdr.u.v0, hdr.request.index, md);
            add_unsigned1.apply(hdr.u.v1, hdr.request.index, md);
            add_unsigned2.apply(hdr.u.v2, hdr.request.index, md);
            add_unsigned3.apply(hdr.u.v3, hdr.request.index, md);
            add_unsigned4.apply(hdr.u.v4, hdr.request.index, md);
            add_unsigned5.apply(hdr.u.v5, hdr.request.index, md);
            add_unsigned6.apply(hdr.u.v6, hdr.request.index, md);
            add_unsigned7.apply(hdr.u.v7, hdr.request.index, md);
            add_unsigned8.apply(hdr.u.v8, hdr.request.index, md);
            add_unsigned9.apply(hdr.u.v9, hdr.request.index, md);
            add_unsigned10.apply(hdr.u.v10, hdr.request.index, md);
            add_unsigned11.apply(hdr.u.v11, hdr.request.index, md);
            add_unsigned12.apply(hdr.u.v12, hdr.request.index, md);
            add_unsigned13.apply(hdr.u.v13, hdr.request.index, md);
            add_unsigned14.apply(hdr.u.v14, hdr.request.index, md);
            add_unsigned15.apply(hdr.u.v15, hdr.request.index, md);
        } else if (hdr.request.form == 2) {
            subtract_unsigned0.apply(hdr.u.v0, hdr.request.index, md);
            subtract_unsigned1.apply(hdr.u.v1, hdr.request.index, md);
            subtract_unsigned2.apply(hdr.u.v2, hdr.request.index, md);
            subtract_unsigned3.apply(hdr.u.v3, hdr.request.index, md);
            subtract_unsigned4.apply(hdr.u.v4, hdr.request.index, md);
            subtract_unsigned5.apply(hdr.u.v5, hdr.request.index, md);
            subtract_unsigned6.apply(hdr.u.v6, hdr.request.index, md);
            subtract_unsigned7.apply(hdr.u.v7, hdr.request.index, md);
            subtract_unsigned8.apply(hdr.u.v8, hdr.request.index, md);
            subtract_unsigned9.apply(hdr.u.v9, hdr.request.index, md);
            subtract_unsigned10.apply(hdr.u.v10, hdr.request.index, md);
            subtract_unsigned11.apply(hdr.u.v11, hdr.request.index, md);
            subtract_unsigned12.apply(hdr.u.v12, hdr.request.index, md);
            subtract_unsigned13.apply(hdr.u.v13, hdr.request.index, md);
            subtract_unsigned14.apply(hdr.u.v14, hdr.request.index, md);
            subtract_unsigned15.apply(hdr.u.v15, hdr.request.index, md);
        } else if (hdr.request.form == 3) {
            add_signed0.apply(hdr.s.v0, hdr.request.index, md);
            add_signed1.apply(hdr.s.v1, hdr.request.index, md);
            add_signed2.apply(hdr.s.v2, hdr.request.index, md);
            add_signed3.apply(hdr.s.v3, hdr.request.index, md);
            add_signed4.apply(hdr.s.v4, hdr.request.index, md);
            add_signed5.apply(hdr.s.v5, hdr.request.index, md);
            add_signed6.apply(hdr.s.v6, hdr.request.index, md);
            add_signed7.apply(hdr.s.v7, hdr.request.index, md);
            add_signed8.apply(hdr.s.v8, hdr.request.index, md);
            add_signed9.apply(hdr.s.v9, hdr.request.index, md);
            add_signed10.apply(hdr.s.v10, hdr.request.index, md);
            add_signed11.apply(hdr.s.v11, hdr.request.index, md);
            add_signed12.apply(hdr.s.v12, hdr.request.index, md);
            add_signed13.apply(hdr.s.v13, hdr.request.index, md);
            add_signed14.apply(hdr.s.v14, hdr.request.index, md);
            add_signed15.apply(hdr.s.v15, hdr.request.index, md);
        } else if (hdr.request.form == 4) {
            subtract_signed0.apply(hdr.s.v0, hdr.request.index, md);
            subtract_signed1.apply(hdr.s.v1, hdr.request.index, md);
            subtract_signed2.apply(hdr.s.v2, hdr.request.index, md);
            subtract_signed3.apply(hdr.s.v3, hdr.request.index, md);
            subtract_signed4.apply(hdr.s.v4, hdr.request.index, md);
            subtract_signed5.apply(hdr.s.v5, hdr.request.index, md);
            subtract_signed6.apply(hdr.s.v6, hdr.request.index, md);
            subtract_signed7.apply(hdr.s.v7, hdr.request.index, md);
            subtract_signed8.apply(hdr.s.v8, hdr.request.index, md);
            subtract_signed9.apply(hdr.s.v9, hdr.request.index, md);
            subtract_signed10.apply(hdr.s.v10, hdr.request.index, md);
            subtract_signed11.apply(hdr.s.v11, hdr.request.index, md);
            subtract_signed12.apply(hdr.s.v12, hdr.request.index, md);
            subtract_signed13.apply(hdr.s.v13, hdr.request.index, md);
            subtract_signed14.apply(hdr.s.v14, hdr.request.index, md);
            subtract_signed15.apply(hdr.s.v15, hdr.request.index, md);
        } else if (hdr.request.form == 5) {
            min_unsigned0.apply(hdr.u.v0, hdr.request.index, md);
            min_unsigned1.apply(hdr.u.v1, hdr.request.index, md);
            min_unsigned2.apply(hdr.u.v2, hdr.request.index, md);
            min_unsigned3.apply(hdr.u.v3, hdr.request.index, md);
            min_unsigned4.apply(hdr.u.v4, hdr.request.index, md);
            min_unsigned5.apply(hdr.u.v5, hdr.request.index, md);
            min_unsigned6.apply(hdr.u.v6, hdr.request.index, md);
            min_unsigned7.apply(hdr.u.v7, hdr.request.index, md);
            min_unsigned8.apply(hdr.u.v8, hdr.request.index, md);
            min_unsigned9.apply(hdr.u.v9, hdr.request.index, md);
            min_unsigned10.apply(hdr.u.v10, hdr.request.index, md);
            min_unsigned11.apply(hdr.u.v11, hdr.request.index, md);
            min_unsigned12.apply(hdr.u.v12, hdr.request.index, md);
            min_unsigned13.apply(hdr.u.v13, hdr.request.index, md);
            min_unsigned14.apply(hdr.u.v14, hdr.request.index, md);
            min_unsigned15.apply(hdr.u.v15, hdr.request.index, md);
        } else if (hdr.request.form == 6) {
            max_unsigned0.apply(hdr.u.v0, hdr.request.index, md);
            max_unsigned1.apply(hdr.u.v1, hdr.request.index, md);
            max_unsigned2.apply(hdr.u.v2, hdr.request.index, md);
            max_unsigned3.apply(hdr.u.v3, hdr.request.index, md);
            max_unsigned4.apply(hdr.u.v4, hdr.request.index, md);
            max_unsigned5.apply(hdr.u.v5, hdr.request.index, md);
            max_unsigned6.apply(hdr.u.v6, hdr.request.index, md);
            max_unsigned7.apply(hdr.u.v7, hdr.request.index, md);
            max_unsigned8.apply(hdr.u.v8, hdr.request.index, md);
            max_unsigned9.apply(hdr.u.v9, hdr.request.index, md);
            max_unsigned10.apply(hdr.u.v10, hdr.request.index, md);
            max_unsigned11.apply(hdr.u.v11, hdr.request.index, md);
            max_unsigned12.apply(hdr.u.v12, hdr.request.index, md);
            max_unsigned13.apply(hdr.u.v13, hdr.request.index, md);
            max_unsigned14.apply(hdr.u.v14, hdr.request.index, md);
            max_unsigned15.apply(hdr.u.v15, hdr.request.index, md);
        } else if (hdr.request.form == 7) {
            min_signed0.apply(hdr.s.v0, hdr.request.index, md);
            min_signed1.apply(hdr.s.v1, hdr.request.index, md);
            min_signed2.apply(hdr.s.v2, hdr.request.index, md);
            min_signed3.apply(hdr.s.v3, hdr.request.index, md);
            min_signed4.apply(hdr.s.v4, hdr.request.index, md);
            min_signed5.apply(hdr.s.v5, hdr.request.index, md);
            min_signed6.apply(hdr.s.v6, hdr.request.index, md);
            min_signed7.apply(hdr.s.v7, hdr.request.index, md);
            min_signed8.apply(hdr.s.v8, hdr.request.index, md);
            min_signed9.apply(hdr.s.v9, hdr.request.index, md);
            min_signed10.apply(hdr.s.v10, hdr.request.index, md);
            min_signed11.apply(hdr.s.v11, hdr.request.index, md);
            min_signed12.apply(hdr.s.v12, hdr.request.index, md);
            min_signed13.apply(hdr.s.v13, hdr.request.index, md);
            min_signed14.apply(hdr.s.v14, hdr.request.index, md);
            min_signed15.apply(hdr.s.v15, hdr.request.index, md);
        } else if (hdr.request.form == 8) {
            max_signed0.apply(hdr.s.v0, hdr.request.index, md);
            max_signed1.apply(hdr.s.v1, hdr.request.index, md);
            max_signed2.apply(hdr.s.v2, hdr.request.index, md);
            max_signed3.apply(hdr.s.v3, hdr.request.index, md);
            max_signed4.apply(hdr.s.v4, hdr.request.index, md);
            max_signed5.apply(hdr.s.v5, hdr.request.index, md);
            max_signed6.apply(hdr.s.v6, hdr.request.index, md);
            max_signed7.apply(hdr.s.v7, hdr.request.index, md);
            max_signed8.apply(hdr.s.v8, hdr.request.index, md);
            max_signed9.apply(hdr.s.v9, hdr.request.index, md);
            max_signed10.apply(hdr.s.v10, hdr.request.index, md);
            max_signed11.apply(hdr.s.v11, hdr.request.index, md);
            max_signed12.apply(hdr.s.v12, hdr.request.index, md);
            max_signed13.apply(hdr.s.v13, hdr.request.index, md);
            max_signed14.apply(hdr.s.v14, hdr.request.index, md);
            max_signed15.apply(hdr.s.v15, hdr.request.index, md);
        } else if (hdr.request.form == 9) {
            larger0.apply(hdr.u.v0, hdr.request.index, md);
            larger1.apply(hdr.u.v1, hdr.request.index, md);
            larger2.apply(hdr.u.v2, hdr.request.index, md);
            larger3.apply(hdr.u.v3, hdr.request.index, md);
            larger4.apply(hdr.u.v4, hdr.request.index, md);
            larger5.apply(hdr.u.v5, hdr.request.index, md);
            larger6.apply(hdr.u.v6, hdr.request.index, md);
            larger7.apply(hdr.u.v7, hdr.request.index, md);
            larger8.apply(hdr.u.v8, hdr.request.index, md);
            larger9.apply(hdr.u.v9, hdr.request.index, md);
            larger10.apply(hdr.u.v10, hdr.request.index, md);
            larger11.apply(hdr.u.v11, hdr.request.index, md);
            larger12.apply(hdr.u.v12, hdr.request.index, md);
            larger13.apply(hdr.u.v13, hdr.request.index, md);
            larger14.apply(hdr.u.v14, hdr.request.index, md);
            larger15.apply(hdr.u.v15, hdr.request.index, md);
        } else if (hdr.request.form == 10) {
            set_or_add0.apply(hdr.u.v0, hdr.request.index, md);
            set_or_add1.apply(hdr.u.v1, hdr.request.index, md);
            set_or_add2.apply(hdr.u.v2, hdr.request.index, md);
            set_or_add3.apply(hdr.u.v3, hdr.request.index, md);
            set_or_add4.apply(hdr.u.v4, hdr.request.index, md);
            set_or_add5.apply(hdr.u.v5, hdr.request.index, md);
            set_or_add6.apply(hdr.u.v6, hdr.request.index, md);
            set_or_add7.apply(hdr.u.v7, hdr.request.index, md);
            set_or_add8.apply(hdr.u.v8, hdr.request.index, md);
            set_or_add9.apply(hdr.u.v9, hdr.request.index, md);
            set_or_add10.apply(hdr.u.v10, hdr.request.index, md);
            set_or_add11.apply(hdr.u.v11, hdr.request.index, md);
            set_or_add12.apply(hdr.u.v12, hdr.request.index, md);
            set_or_add13.apply(hdr.u.v13, hdr.request.index, md);
            set_or_add14.apply(hdr.u.v14, hdr.request.index, md);
            set_or_add15.apply(hdr.u.v15, hdr.request.index, md);
        } else if (hdr.request.form == 11) {
            read0.apply(hdr.u.v0, hdr.request.index, md);
            read1.apply(hdr.u.v1, hdr.request.index, md);
            read2.apply(hdr.u.v2, hdr.request.index, md);
            read3.apply(hdr.u.v3, hdr.request.index, md);
            read4.apply(hdr.u.v4, hdr.request.index, md);
            read5.apply(hdr.u.v5, hdr.request.index, md);
            read6.apply(hdr.u.v6, hdr.request.index, md);
            read7.apply(hdr.u.v7, hdr.request.index, md);
            read8.apply(hdr.u.v8, hdr.request.index, md);
            read9.apply(hdr.u.v9, hdr.request.index, md);
            read10.apply(hdr.u.v10, hdr.request.index, md);
            read11.apply(hdr.u.v11, hdr.request.index, md);
            read12.apply(hdr.u.v12, hdr.request.index, md);
            read13.apply(hdr.u.v13, hdr.request.index, md);
            read14.apply(hdr.u.v14, hdr.request.index, md);
            read15.apply(hdr.u.v15, hdr.request.index, md);
        } else if (hdr.request.form == 12) {
            toggle0.apply(hdr.u.v0, hdr.request.index, md);
            toggle1.apply(hdr.u.v1, hdr.request.index, md);
            toggle2.apply(hdr.u.v2, hdr.request.index, md);
            toggle3.apply(hdr.u.v3, hdr.request.index, md);
            toggle4.apply(hdr.u.v4, hdr.request.index, md);
            toggle5.apply(hdr.u.v5, hdr.request.index, md);
            toggle6.apply(hdr.u.v6, hdr.request.index, md);
            toggle7.apply(hdr.u.v7, hdr.request.index, md);
            toggle8.apply(hdr.u.v8, hdr.request.index, md);
            toggle9.apply(hdr.u.v9, hdr.request.index, md);
            toggle10.apply(hdr.u.v10, hdr.request.index, md);
            toggle11.apply(hdr.u.v11, hdr.request.index, md);
            toggle12.apply(hdr.u.v12, hdr.request.index, md);
            toggle13.apply(hdr.u.v13, hdr.request.index, md);
            toggle14.apply(hdr.u.v14, hdr.request.index, md);
            toggle15.apply(hdr.u.v15, hdr.request.index, md);
        } else if (hdr.request.form == 13) {
            count_above0.apply(hdr.u.v0, hdr.request.index, md);
            count_above1.apply(hdr.u.v1, hdr.request.index, md);
            count_above2.apply(hdr.u.v2, hdr.request.index, md);
            count_above3.apply(hdr.u.v3, hdr.request.index, md);
            count_above4.apply(hdr.u.v4, hdr.request.index, md);
            count_above5.apply(hdr.u.v5, hdr.request.index, md);
            count_above6.apply(hdr.u.v6, hdr.request.index, md);
            count_above7.apply(hdr.u.v7, hdr.request.index, md);
            count_above8.apply(hdr.u.v8, hdr.request.index, md);
            count_above9.apply(hdr.u.v9, hdr.request.index, md);
            count_above10.apply(hdr.u.v10, hdr.request.index, md);
            count_above11.apply(hdr.u.v11, hdr.request.index, md);
            count_above12.apply(hdr.u.v12, hdr.request.index, md);
            count_above13.apply(hdr.u.v13, hdr.request.index, md);
            count_above14.apply(hdr.u.v14, hdr.request.index, md);
            count_above15.apply(hdr.u.v15, hdr.request.index, md);
        } else if (hdr.request.form == 14) {
            flagged0.apply(hdr.u.v0, hdr.request.index, md.any);
            flagged1.apply(hdr.u.v1, hdr.request.index, md.any);
            flagged2.apply(hdr.u.v2, hdr.request.index, md.any);
            flagged3.apply(hdr.u.v3, hdr.request.index, md.any);
            flagged4.apply(hdr.u.v4, hdr.request.index, md.any);
            flagged5.apply(hdr.u.v5, hdr.request.index, md.any);
            flagged6.apply(hdr.u.v6, hdr.request.index, md.any);
            flagged7.apply(hdr.u.v7, hdr.request.index, md.any);
            flagged8.apply(hdr.u.v8, hdr.request.index, md.any);
            flagged9.apply(hdr.u.v9, hdr.request.index, md.any);
            flagged10.apply(hdr.u.v10, hdr.request.index, md.any);
            flagged11.apply(hdr.u.v11, hdr.request.index, md.any);
            flagged12.apply(hdr.u.v12, hdr.request.index, md.any);
            flagged13.apply(hdr.u.v13, hdr.request.index, md.any);
            flagged14.apply(hdr.u.v14, hdr.request.index, md.any);
            flagged15.apply(hdr.u.v15, hdr.request.index, md.any);
            hdr.request.flag = md.any[31:24];
        } else if (hdr.request.form == 15) {
            hdr.u.v0 = weigh0.execute(hdr.request.index);
            hdr.u.v1 = weigh1.execute(hdr.request.index);
            hdr.u.v2 = weigh2.execute(hdr.request.index);
            hdr.u.v3 = weigh3.execute(hdr.request.index);
            hdr.u.v4 = weigh4.execute(hdr.request.index);
            hdr.u.v5 = weigh5.execute(hdr.request.index);
            hdr.u.v6 = weigh6.execute(hdr.request.index);
            hdr.u.v7 = weigh7.execute(hdr.request.index);
            hdr.u.v8 = weigh8.execute(hdr.request.index);
            hdr.u.v9 = weigh9.execute(hdr.request.index);
            hdr.u.v10 = weigh10.execute(hdr.request.index);
            hdr.u.v11 = weigh11.execute(hdr.request.index);
            hdr.u.v12 = weigh12.execute(hdr.request.index);
            hdr.u.v13 = weigh13.execute(hdr.request.index);
            hdr.u.v14 = weigh14.execute(hdr.request.index);
            hdr.u.v15 = weigh15.execute(hdr.request.index);
        }
    }
}

control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t md,
                        in ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md) {
    apply {
        pkt.emit(hdr);
    }
}

struct egress_headers_t {
}
struct egress_metadata_t {
}

parser EgressParser(packet_in pkt, out egress_headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

control Egress(inout egress_headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
    }
}

control EgressDeparser(packet_out pkt, inout egress_headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
