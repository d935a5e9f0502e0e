/* SPDX-License-Identifier: Apache-2.0
 *
 * resubmit_types: headers of resubmit data take all of its 64 bits when a parser extracts them, however few
 * their fields have.
 */
#include <core.p4>
#include <tna.p4>
#include "frame.p4i"

header shown_h {
    bit<8>  kind;
    bit<16> bits;
    bit<8>  flag;
}

header number_h {
    bit<16> number;
}

header flag_h { // no whole byte
    bit<1> flag;
}

header nothing_h {}

header kind_h {
    bit<8> kind;
}

struct headers_t {
    shown_h    shown;
    kind_h     kind;
    ethernet_h ethernet;
}

struct metadata_t {
    number_h  number;
    flag_h    flag;
    nothing_h nothing;
}

PARSER_IN(IngressParser) {
    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) {
            0 : first_pass;
            1 : second_pass;
        }
    }
    state first_pass {
        pkt.advance(PORT_METADATA_SIZE);
        transition packet;
    }
    state second_pass {
        transition select(ig_intr_md.ingress_port) {
            1 : number;
            2 : flag;
            3 : nothing;
            4 : skipped;
        }
    }
    state number {
        pkt.extract(md.number);
        transition behind;
    }
    state flag {
        pkt.extract(md.flag);
        transition behind;
    }
    state nothing {
        pkt.extract(md.nothing);
        pkt.advance(PORT_METADATA_SIZE - sizeInBits(md.nothing));
        transition packet;
    }
    state skipped {
        pkt.extract<number_h>(_);
        transition behind;
    }
    state behind {
        pkt.advance(PORT_METADATA_SIZE - 64);
        transition packet;
    }
    state packet {
        pkt.extract(hdr.kind);
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}

CONTROL_IN(Ingress) {
    apply {
        ig_tm_md.ucast_egress_port = 8;
        ig_tm_md.bypass_egress = 1;
        if (ig_intr_md.resubmit_flag == 0) {
            md.number = {0x1234};
            md.flag = {1};
            md.nothing.setValid();
            ig_dprsr_md.resubmit_type = (bit<3>)hdr.kind.kind;
        } else {
            hdr.shown = {hdr.kind.kind, 0, 0};
            if (md.number.isValid()) {
                hdr.shown.bits = md.number.number;
            }
            if (md.flag.isValid()) {
                hdr.shown.flag = 7w0 ++ md.flag.flag;
            }
        }
    }
}

DEPARSER_IN(IngressDeparser) {
    Resubmit() again;
    apply {
        if (ig_dprsr_md.resubmit_type == 1) {
            again.emit(md.number);
        } else if (ig_dprsr_md.resubmit_type == 2) {
            again.emit(md.flag);
        } else if (ig_dprsr_md.resubmit_type == 3) {
            again.emit(md.nothing);
        } else if (ig_dprsr_md.resubmit_type == 4) {
            again.emit<number_h>({hdr.ethernet.ether_type});
        }
        pkt.emit(hdr);
    }
}

PARSER_OUT(EgressParser) {
    state start {
        pkt.extract(eg_intr_md);
        transition accept;
    }
}

CONTROL_OUT(Egress) {
    apply {}
}

DEPARSER_OUT(EgressDeparser) {
    apply {}
}

MAIN
