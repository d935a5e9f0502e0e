/* SPDX-License-Identifier: Apache-2.0
 *
 * partitions: tables whose annotations name the key that is the number of a partition. They match as
 * their keys say, as without the annotations.
 */
#define OWN_OP
#include <core.p4>

header op_h {
    bit<8>  table_of;
    bit<8>  vlan;
    bit<16> low;
    bit<32> addr;
}

#include "../externs/frame.p4i"

INGRESS {
    action send(PortId_t port) {
        ig_tm_md.ucast_egress_port = port;
    }

    @atcam_partition_index("hdr.op.vlan") @atcam_number_partitions(64)
    table prefixes {
        key = {
            hdr.op.vlan : exact;
            hdr.op.addr : lpm;
        }
        actions = { send; NoAction; }
        default_action = NoAction();
        size = 512;
    }

    @pragma atcam_partition_index hdr.op.vlan
    table wildcards {
        key = {
            hdr.op.low  : ternary;
            hdr.op.vlan : exact;
            hdr.op.addr : exact;
        }
        actions = { send; NoAction; }
        default_action = send(7);
        size = 512;
    }

    @atcam_partition_index("partition") @pragma atcam_number_partitions 16
    table renamed {
        key = {
            hdr.op.low[3:0]   : exact @name("partition");
            hdr.op.low[15:12] : ternary @name("top");
        }
        actions = { send; NoAction; }
        default_action = NoAction();
        const entries = {
            (1, 4w0x8 &&& 4w0x8) : send(11);
            (1, _)               : send(12);
            (2, 4w0x3)           : send(13);
        }
    }

    apply {
        if (hdr.op.table_of == 1)
            prefixes.apply();
        else if (hdr.op.table_of == 2)
            wildcards.apply();
        else
            renamed.apply();
        ig_tm_md.bypass_egress = 1;
    }
}

MAIN
