/* SPDX-License-Identifier: Apache-2.0
 *
 * classes.p4: what a packet says of itself in the eight bits behind an IP header's version: DSCP says its
 * class, ECN whether it is important. By them it gets a queue and a colour, and takes paths by turns. What a
 * host says of its packets is believed up to a rate.
 *
 * p4/tor and p4/dlcp include it.
 */
#ifndef P4_COMMON_CLASSES
#define P4_COMMON_CLASSES

// What only so many packets of a port may say.
enum bit<2> claim_t {
    NONE      = 0,
    IMPORTANT = 1,
    SIGNAL    = 2
}

// Packets of a sprayed class choose among equal paths one by one, not as their flow does: they may come in
// any order. `flow` is what chooses from here on.
control Spraying(in bit<6> dscp, inout bit<16> flow) {
    Random<bit<16>>() random;

    action spray() {
        flow = random.get();
    }

    table sprayed {
        key = {
            dscp : exact @name("dscp");
        }
        actions = {
            spray;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 64;
    }

    apply {
        sprayed.apply();
    }
}

control Classes(in bit<6> dscp, in bit<2> ecn, in PortId_t port,
                inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    DirectMeter(MeterType_t.BYTES) rate;   // one that is not set has no limit
    claim_t claim = claim_t.NONE;
    bit<8> used = 0;
    QueueId_t over_qid = 0;
    bit<2> over_colour = 0;

    action queue(QueueId_t qid, bit<2> colour) {
        ig_tm_md.qid = qid;
        ig_tm_md.packet_color = colour;
    }

    // The same, and somebody may look at how many of them come from where it does.
    action claims(QueueId_t qid, bit<2> colour, claim_t what) {
        ig_tm_md.qid = qid;
        ig_tm_md.packet_color = colour;
        claim = what;
    }

    // Without entries everything is in queue 0, and green.
    table queues_of {
        key = {
            dscp : exact @name("dscp");
            ecn  : exact @name("ecn");
        }
        actions = {
            queue;
            claims;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        size = 256;
    }

    // What is beyond the rate has another colour, or another queue, too. It is not dropped here.
    action recolour(bit<2> colour) {
        used = rate.execute();
        over_qid = ig_tm_md.qid;
        over_colour = colour;
    }

    action demote(QueueId_t qid, bit<2> colour) {
        used = rate.execute();
        over_qid = qid;
        over_colour = colour;
    }

    table limits {
        key = {
            port  : exact @name("port");
            claim : exact @name("claim");
        }
        actions = {
            recolour;
            demote;
            @defaultonly NoAction;
        }
        const default_action = NoAction;
        meters = rate;
        size = 1024;
    }

    action exceed() {
        ig_tm_md.qid = over_qid;
        ig_tm_md.packet_color = over_colour;
    }

    apply {
        queues_of.apply();
        if (claim != claim_t.NONE) {
            limits.apply();
            if (used == 3)
                exceed();
        }
    }
}

#endif
