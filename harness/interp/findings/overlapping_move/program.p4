header hdr0 {
    bit<98> f0;
    bit<9> f1;
    bit<8> f2;
    bit<15> f3;
    bit<6> pad;
}
header hdr1 {
    bit<64> f0;
    bit<16> f1;
    bit<8> f2;
}
struct record_t {
    bit<16> x;
    int<12> y;
}
struct pair_t {
    bit<32> lo;
    bit<32> hi;
}
header resubmit_h {
    bit<24> a;
    bit<40> b;
}
struct ig_headers_t {
    hdr0 h2;
    hdr1 h3;
    hdr0 h4;
    hdr0 h5;
    hdr1 h6;
}
struct ig_metadata_t {
    bool m7;
    int<9> m8;
    int<12> m9;
    record_t rec;
    record_t other;
    bit<16> residual;
    bool wrong;
    bit<24> again_a;
    bit<40> again_b;
    bit<10> session;
}
parser IngressParser(packet_in pkt, out ig_headers_t hdr, out ig_metadata_t md, out ingress_intrinsic_metadata_t ig_intr_md) {
    Checksum() sum1;
    Checksum() sum2;
    ParserCounter() counter;
    state start {
        pkt.extract(ig_intr_md);
        counter.set(8w0);
        pkt.advance(PORT_METADATA_SIZE);
        transition s0;
    }
    state s0 {
        pkt.extract(hdr.h2);
        md.session = ((3w0x7 ++ ((bit<7>)hdr.h2.pad)) |-| (md.session |+| md.session));
        md.rec.x = (((bit<16>)hdr.h2.pad) |-| (16w0x3f7c >> 8));
        transition select(md.again_a) {
            24w0xfffffd : s1;
            24w0xf2c6ae : s2;
            24w0xfffffe : s1;
            24w0xfffffd : s1;
            24w0x2 : s1;
            default : s1;
        }
    }
    state s1 {
        pkt.extract(hdr.h3);
        sum1.add(hdr.h3);
        md.wrong = sum1.verify();
        sum2.subtract({hdr.h3.f1});
        md.residual = sum2.get();
        md.m9 = ((md.m7 ? ((int<12>)md.m9) : md.m9) |+| (true ? ((int<12>)(bit<12>)(hdr.h2.f0)) : md.rec.y));
        md.session = ((md.session + ((bit<10>)md.rec.x)) << 11);
        transition select((md.m7 ? ((bit<17>)(bit<1>)md.m7) : 17w0x1fffd)) {
            17w0x1fffe : s2;
            default : s2;
        }
    }
    state s2 {
        pkt.extract(hdr.h4);
        md.rec.x = pkt.lookahead<bit<16>>();
        transition s3;
    }
    state s3 {
        pkt.extract(hdr.h5);
        md.rec.x = hdr.h3.f1;
        transition s4;
    }
    state s4 {
        pkt.extract(hdr.h6);
        transition accept;
    }
}
control Sub10(inout ig_headers_t hdr, inout int<32> a11) {
    bit<96> v12 = (((bit<96>)hdr.h4.f2) & 96w0x4090075c0000000403bf80b9);
    bit<65> v13 = (~((bit<65>)hdr.h6.f2));
    Register<bit<32>, bit<1>>(52) r14;
    action act15(bit<65> p16, bit<128> p17) {
        hdr.h3.f0 = ((hdr.h2.f0 != 98w0x010e003ae07089f80ce9155f8) ? (1w0x0 ++ 63w0x200000000000) : (hdr.h3.f0 - hdr.h6.f0));
        hdr.h5.f3 = min((hdr.h4.f3 |-| hdr.h2.f3), (hdr.h4.f3 & hdr.h4.f3));
        if ((!hdr.h6.isValid())) {
            hdr.h5.f2 = hdr.h2.f1[8:1];
        }
        else {
            bit<16> v18 = (hdr.h6.f1 |-| hdr.h6.f1);
            hdr.h2.pad = ((bit<6>)((3s1 ++ 3w0x0) + ((-6s30) & ((int<6>)a11))));
            hdr.h5.f3 = (((bit<10>)hdr.h5.pad) ++ 5w0x0);
            v18 = hdr.h3.f1[15:0];
        }
        if ((hdr.h4.f3 != 15w0x27e9)) {
            bit<2> v19 = (false ? ((bit<2>)hdr.h2.f2) : ((bit<2>)hdr.h6.f0));
            hdr.h4.f2 = ((hdr.h4.pad ++ v19) ^ ((hdr.h3.f2) >> 8));
            hdr.h6.f2 = ((hdr.h4.f2 |-| 8w0xcd) | p17[125:118]);
        }
        else {
            hdr.h3.f0[61:13] = ((((bit<15>)hdr.h2.f0) ^ hdr.h2.f3) ++ ((bit<34>)hdr.h4.f1));
            hdr.h2.f0 = (hdr.h5.f0 |+| hdr.h2.f0);
        }
    }
    action act20(bit<8> p21, bit<8> p22, bit<127> p23) {
        hdr.h2 = hdr.h2;
        if ((hdr.h4.f1 == (5w0x1 ++ 4w0x2))) {
            bool v24 = (false || true);
            if ((hdr.h6.f1 != max(hdr.h6.f1, hdr.h6.f1))) {
                if ((hdr.h5.f0 <= 98w0x00017132459671fb914604020)) {
                    if (((hdr.h3.f0 != 64w0xbe55f686cfd5cf73) && (hdr.h5.f1 >= 9w0x155))) {
                        a11 = (((int<32>)(int<96>)(v12)) |+| max(a11, ((int<32>)a11)));
                        return;
                    }
                    hdr.h2.f1 = (hdr.h2.f1 ^ (hdr.h5.f1 - hdr.h5.f1));
                    if ((hdr.h6.f2 <= 8w0xfe)) {
                        hdr.h5.f1[4:4] = ((hdr.h3.f2[7:0] >= 8w0xfe) ? hdr.h5.f3[8:8] : (1w0x1 - 1w0x1));
                        v12 = v12;
                        return;
                    }
                }
            }
            else {
            }
            hdr.h2.f2 = (((~2w0x2) | (2w0x1 >> 1)) ++ (~(((bit<6>)hdr.h4.f1) + hdr.h5.pad)));
            v24 = (!v24);
        }
        hdr.h5 = hdr.h2;
        hdr.h4.f3[13:12] = (((bit<2>)hdr.h6.f1) ^ ((bit<2>)hdr.h2.f0));
    }
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) dc26;
    action act27(inout bit<27> p28) {
        hdr.h4.f0[15:11] = (5w0x8 |+| ((bit<5>)hdr.h5.f1));
        v13 = (((false ? ((bit<2>)hdr.h4.pad) : 2w0x2) ++ max(((int<63>)(bit<63>)(hdr.h6.f2)), ((int<63>)a11))) ^ v13);
        dc26.count();
    }
    table t25 {
        key = {
            hdr.h3.f2 : range @name("k29");
            hdr.h4.f0 : exact @name("k30");
            hdr.h5.f0 : exact @name("k31");
        }
        actions = {
            @defaultonly NoAction;
        }
        size = 128;
        counters = dc26;
    }
    ActionProfile(12) ap33;
    Hash<bit<18>>(HashAlgorithm_t.RANDOM) h34;
    ActionSelector(ap33, h34, SelectorMode_t.FAIR, 130, 2) sel35;
    action act36(bit<63> p37, bit<63> p38) {
        hdr.h3.f0 = (hdr.h3.f0);
        hdr.h3.f1[4:3] = ((bit<2>)hdr.h5.f2);
        hdr.h2.f2 = (((bit<8>)hdr.h3.f0) ^ hdr.h3.f2);
    }
    action act39(inout int<16> p40, bit<128> p41) {
        hdr.h2.f2 = (8w0xff |-| hdr.h5.f2);
    }
    action act42(inout bit<32> p43, bit<96> p44) {
        int<24> v45 = ((int<24>)24w0x66d231);
    }
    action act46(int<3> p47, bit<32> p48) {
        a11 = ((int<32>)(-31s1073741822));
        for (bit<8> i49 = 0; i49 < 4 && (false && true); i49 = i49 + 1) {
            bit<136> v50 = ((bit<136>)((bit<128>)p48));
            hdr.h5.f0 = (((bit<73>)hdr.h5.pad) ++ ((bit<25>)hdr.h4.f2));
            if (hdr.h4.isValid()) {
                continue;
            }
            hdr.h4.f2 = (hdr.h5.f1[8:3] ++ (~((int<2>)(bit<2>)(hdr.h6.f0))));
        }
        hdr.h6.f2 = (hdr.h2.f2[7:0] & min(hdr.h4.f2, hdr.h3.f2));
    }
    table t32 {
        key = {
            hdr.h5.pad : lpm @name("k51");
            hdr.h2.pad : selector @name("k52");
            hdr.h2.f3 : selector @name("k53");
        }
        actions = {
            act36;
            act46;
            NoAction;
        }
        size = 128;
        implementation = sel35;
    }
    action act55(bit<32> p56, bit<96> p57) {
        hdr.h2.f1 = (9w0x12f >> 5);
    }
    action act58(bit<16> p59, bit<32> p60, bit<57> p61) {
        hdr.h2.pad = v13[25:20];
        if ((((1w0x0 - 1w0x1) ++ (((bit<14>)hdr.h6.f1) & ((bit<14>)hdr.h5.f0))) > hdr.h2.f3)) {
            hdr.h2.f2 = ((false ? hdr.h5.f2 : hdr.h4.f2) >> 0);
            hdr.h5.setValid();
        }
        v13 = ((bit<65>)hdr.h4.f0);
    }
    action act62(bit<9> p63, bit<32> p64, bit<128> p65) {
        bit<163> v66 = ((bit<163>)hdr.h5.pad);
        hdr.h2.f3 = (~hdr.h5.f3);
    }
    table t54 {
        key = {
            (((bit<174>)hdr.h3.f1) + 174w0x3b8511c9748088c098d92005020d00470ff688629770) : ternary @name("k67");
        }
        actions = {
            act55;
            act58;
            act62;
            NoAction;
        }
        default_action = act55(32w0x3, 96w0xa0040009a9fc030000db420d);
        entries = {
            174w0x0aa200aa506cb5065093a5cc751b8008300b3437c980 : act62(9w0xa6, 32w0xd525dd16, 128w0x00000550000bdb506e5520e0c5100020);
            174w0x20807f37e050006d024a83a00afc0199d60eeb93106c : act58(16w0x72c7, 32w0x1, 57w0x1f8eccf5043ea52);
        }
        size = 128;
    }
    apply {
        hdr.h2.f0 = (((bit<98>)hdr.h4.f2) |-| (hdr.h4.f0));
        hdr.h5.f3[5:0] = (((v13 != 65w0x1056cbf3c03a20ad0) ? (hdr.h2.pad + 6w0x3d) : ((bit<6>)((bit<1>)(bit<32>)a11))) |+| (((hdr.h4.f3) == ((bit<15>)hdr.h2.pad)) ? hdr.h2.f3[6:1] : (-hdr.h2.pad)));
        hdr.h3.f1 = (hdr.h3.f1 - ((bit<16>)(206w0x3085e03bd409062fb35a101387100bb4014d60b060c0d00e0000 | ((bit<206>)hdr.h2.f3))));
        switch (t54.apply().action_run) {
            act55:
            {
                bit<256> v68;
                hdr.h2.f3[12:11] = (((hdr.h5.f0 == ((bit<98>)v12)) ? (((bit<1>)hdr.h5.f2) ++ (int<1>)1w0x1) : ((bit<2>)v13)) - ((1w0x1 ++ ((bit<1>)hdr.h6.f1)) >> 1));
                hdr.h2.pad = ((bit<6>)hdr.h2.f1);
            }
            act58:
            {
                hdr.h5.f3 = hdr.h2.f3;
            }
            act62:
            {
                act20((((bit<4>)hdr.h3.f1) ++ 4w0x0), (hdr.h3.f2 << 6), ((bit<127>)hdr.h2.f0));
            }
            default: {
                if (t25.apply().miss) {
                    act20((((bit<4>)hdr.h3.f1) ++ 4w0x0), (hdr.h3.f2 << 6), ((bit<127>)hdr.h2.f0));
                    return;
                }
            }
        }
        hdr.h4.f2 = (((bit<8>)hdr.h6.f0) |+| (~8w0x8));
        r14.read((-((bit<1>)hdr.h2.f3)));
        t32.apply();
    }
}
control Sub69(inout ig_headers_t hdr, in int<16> a70) {
    bit<256> v71;
    action act72(bit<29> p73) {
        bit<129> v74 = (((bit<129>)hdr.h4.f3) << 39);
    }
    action act75(bit<32> p76, int<8> p77, bit<10> p78) {
        bit<200> v79;
        hdr.h6.f2 = ((p76 > 32w0x940280c2) ? (((bit<8>)((bit<11>)hdr.h2.pad)) ^ min(hdr.h6.f2, 8w0x3f)) : (~(3w0x2 ++ 5w0x0)));
        hdr.h4.f3 = (hdr.h2.f3[14:0] | ((bit<15>)(hdr.h3.f2 + hdr.h3.f2)));
        hdr.h5.f0 = hdr.h5.f0;
    }
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) dc81;
    action act82(bit<32> p83, bit<128> p84) {
        dc81.count();
        hdr.h2.setInvalid();
        if ((hdr.h3.f2 <= (hdr.h2.f2 + hdr.h2.f2))) {
        }
        else {
            hdr.h2.f0 = hdr.h2.f0;
            v71 = 256w0x0ad85f00008d0807c8bd0586f7070a30b06b0b2b0632d80f0030020ba19004c0;
        }
    }
    action act85(in bit<8> p86, inout bit<16> p87, bit<16> p88, bit<8> p89) {
        if ((hdr.h2.f1 >= 9w0x0)) {
            hdr.h3.f0[40:13] = ((bit<28>)hdr.h3.f2);
        }
        else {
            hdr.h4.f3 = max((hdr.h4.f3 >> 9), max(hdr.h5.f3, hdr.h4.f3));
            for (bit<8> i90 in 8w2..8w2) {
                hdr.h5.setInvalid();
            }
            hdr.h5.f3[11:7] = hdr.h4.f3[11:7];
        }
        hdr.h2.f2 = (((bit<8>)7w0x2) |+| (-(hdr.h3.f2 * 8w64)));
        dc81.count();
        hdr.h6.f0[53:44] = (((bit<10>)hdr.h6.f0) - ((((bit<10>)hdr.h3.f2) ^ ((bit<10>)hdr.h5.f1)) ^ 10w0x3));
        hdr.h4.f3[10:10] = (~((bit<1>)hdr.h3.f0));
    }
    action act91(inout bit<8> p92, in bit<8> p93, bit<4> p94) {
        hdr.h2.pad = (((hdr.h2.pad) >> 1) & hdr.h5.pad);
        hdr.h5.pad = hdr.h4.f1[6:1];
        hdr.h4.f0 = hdr.h2.f0[97:0];
        dc81.count();
        hdr.h4.f1 = (-((bit<9>)hdr.h5.pad));
        hdr.h4.pad = (((p94 != 4w0x2) ? max(((bit<6>)p94), hdr.h4.pad) : (((bit<6>)hdr.h6.f2) |+| 6w0x5)) ^ hdr.h4.pad);
    }
    table t80 {
        key = {
            hdr.h2.f2 : lpm @name("k95");
            hdr.h2.f0 : exact @name("k96");
            hdr.h2.f3 : exact @name("k97");
        }
        actions = {
            act82;
            act85((7w0x13 ++ ((int<1>)(int<9>)(hdr.h5.f1))), hdr.h6.f1);
            act91(hdr.h2.f2, max(((bit<8>)hdr.h5.f3), hdr.h6.f2));
            @defaultonly NoAction;
        }
        default_action = act85((7w0x13 ++ ((int<1>)(int<9>)(hdr.h5.f1))), hdr.h6.f1, 16w0x400, 8w0x4);
        entries = {
            (8w0 &&& 8w248, 98w0x0608b0072041d7b50a2072c9d, 15w8512) : act85((7w0x13 ++ ((int<1>)(int<9>)(hdr.h5.f1))), hdr.h6.f1, 16w0x4092, 8w0x4a);
            (8w0 &&& 8w0, 98w0x30c000052623229ce06951384, 15w2) : act82(32w0x45d9f90b, 128w0x5790d3e0b036edb020700f0fd1200dc5);
            (8w0, 98w0x13700ad003630000b0091a774, 15w8) : act91(hdr.h2.f2, max(((bit<8>)hdr.h5.f3), hdr.h6.f2), 4w0xf);
            (8w0 &&& 8w240, 98w0x006e9072eed0700f2b700bca1, 15w8192) : act82(32w0x400, 128w0x0c030043b5d20d955ed04e5ad00aa028);
            (8w32 &&& 8w224, 98w0x300320c00ec09af730e01139c, 15w512) : act91(hdr.h2.f2, max(((bit<8>)hdr.h5.f3), hdr.h6.f2), 4w0xd);
            (8w128 &&& 8w248, 98w0x38000c8b41050a2a000947809, 15w1) : act85((7w0x13 ++ ((int<1>)(int<9>)(hdr.h5.f1))), hdr.h6.f1, 16w0x3, 8w0x2);
        }
        size = 128;
        counters = dc81;
    }
    DirectRegister<bit<16>>(16w0x7d7f) dr99;
    DirectRegisterAction<bit<16>, bit<16>>(dr99) ra100 = {
        void apply(inout bit<16> value, out bit<16> rv) {
            rv = 16w0x14a2;
            value = (16w0xa6a3 * 16w8);
            if (((false || false) && (!true))) {
                value = (value - (false ? rv : value));
            }
            rv = (((bit<7>)hdr.h3.f0) ++ (((int<9>)(bit<9>)(value)) | 9s253));
        }
    };
    action act101(inout bit<16> p102, in bit<10> p103, bit<8> p104, bit<16> p105, bit<8> p106) {
        hdr.h2.f2 = (hdr.h4.isValid() ? (hdr.h2.f2 ^ p104) : (5w0x4 ++ ((bit<3>)hdr.h3.f1)));
        hdr.h6.f2 = p106;
        v71 = (v71 ^ ((bit<256>)hdr.h2.f1));
        hdr.h6.f1 = ra100.execute();
        if (false) {
            hdr.h6.f0 = (64w0x420c100600200110 - ((bit<64>)hdr.h2.f3));
            hdr.h4.f2 = (hdr.h3.f0[32:25] >> 0);
        }
        hdr.h4.f1 = hdr.h2.f1;
    }
    action act107(inout bit<32> p108, inout bit<32> p109, int<128> p110) {
        hdr.h6.f1 = ra100.execute();
        hdr.h4.f2[7:0] = ((bit<8>)p108);
    }
    action act111(bit<1> p112, bit<32> p113) {
        hdr.h5.pad = (false ? hdr.h2.pad : ((bit<6>)(bit<16>)a70));
        hdr.h3.f1 = (2w0x2 ++ (-14s1));
        hdr.h6.setValid();
        hdr.h6.f1 = ra100.execute();
        hdr.h6.f1 = (hdr.h4.f3[12:2] ++ 5w0x1d);
    }
    Hash<bit<24>>(HashAlgorithm_t.CRC32) h114;
    table t98 {
        key = {
            hdr.h5.f0 : exact @name("k115");
            hdr.h3.f2 : exact @name("k116");
            hdr.h4.f1 : lpm @name("k117");
        }
        actions = {
            act101(hdr.h3.f1, (((bit<10>)hdr.h6.f1) * 10w64));
            act111;
            @defaultonly NoAction;
        }
        const default_action = act101(hdr.h3.f1, (((bit<10>)hdr.h6.f1) * 10w64), 8w0xd3, 16w0xfffe, 8w0x40);
        size = 128;
        registers = dr99;
    }
    apply {
        hdr.h2.f3[12:11] = (-2w0x1);
        hdr.h4.f0 = hdr.h2.f0[97:0];
        hdr.h2.f0[85:84] = ((((bit<1>)hdr.h3.f1) ++ ((bit<1>)hdr.h4.pad)) >> 0);
        if (((hdr.h5.f0 >= ((bit<98>)hdr.h4.f3)) && true)) {
            hdr.h5.f0 = hdr.h4.f0;
            hdr.h3.f2 = (hdr.h5.f2 ^ hdr.h6.f2);
            v71 = ((v71 + v71))[255:0];
        }
        else {
            hdr.h5.f2 = ((bit<8>)(bit<16>)a70);
            t80.apply();
            hdr.h2.f0[80:12] = ((69w0x0d88230aecfe0d02c0 << 57) |-| (30w0x29f107dd ++ ((int<39>)(int<15>)(hdr.h4.f3))));
        }
        t98.apply();
    }
}
control Ingress(inout ig_headers_t hdr, inout ig_metadata_t md, in ingress_intrinsic_metadata_t ig_intr_md, in ingress_intrinsic_metadata_from_parser_t ig_prsr_md, inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md, inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    int<63> v118 = ((int<63>)((int<16>)md.m9));
    bit<35> v119;
    bool v120 = hdr.h3.isValid();
    bool v121 = (v120 && md.m7);
    action act123(inout bit<32> p124) {
        md.other.x[6:6] = (1w0x0 | 1w0x0);
        md.again_b = (md.again_b |+| ((bit<40>)hdr.h6.f1));
        hdr.h2.f3[14:8] = (((((bit<7>)p124) |+| 7w0x3) |+| 7w0x7f) + ((bit<7>)hdr.h3.f2));
    }
    action act125(bit<8> p126) {
        hdr.h6.setInvalid();
    }
    table t122 {
        key = {
            hdr.h4.f3 : exact @name("k127");
            ig_tm_md.copy_to_cpu : ternary @name("k128");
            ((bit<4>)96w0x0010ca3e06b93df000b40200) : exact @name("k129");
        }
        actions = {
            act125;
            NoAction;
        }
        default_action = act125(8w0xff);
        size = 128;
    }
    Sub69() sub132;
    apply {
        ig_tm_md.ucast_egress_port = 1;
        md.rec = md.other;
        switch (t122.apply().action_run) {
            act125:
            {
                for (bit<8> i133 = 0; i133 < 2 && (ig_tm_md.level2_exclusion_id == 9w0x1b1); i133 = i133 + 1) {
                    bit<256> v134 = ((bit<256>)hdr.h2.pad);
                    hdr.h3.f1 = ((((bit<16>)hdr.h5.f0) >> 12) * 16w4096);
                }
            }
            default: {
                md.session[9:7] = ((bit<3>)hdr.h2.f2);
            }
        }
        hdr.h4.f3 = hdr.h2.f3;
        hdr.h5.f0 = (true ? 98w0x0a0fd54c036400cb0c49d8041 : hdr.h5.f0);
        hdr.h2.f2 = min(hdr.h6.f2, (hdr.h2.f2));
        hdr.h4.f3[10:6] = (v120 ? 5w0x1e : ((bit<5>)md.residual));
        hdr.h2.f3[5:4] = (-(((bit<2>)md.rec.x) ^ 2w0x0));
        hdr.h2.f1 = (hdr.h5.f1);
        sub132.apply(hdr, (-16s8192));
    }
}
control IngressDeparser(packet_out pkt, inout ig_headers_t hdr, in ig_metadata_t md, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Checksum() sum;
    Resubmit() again;
    apply {
        if (dprsr.resubmit_type == 3) {
            again.emit<resubmit_h>({md.again_a, md.again_b});
        }
        hdr.h3.f1 = sum.update({hdr.h3.f0, hdr.h3.f1, hdr.h3.f2, md.residual});
        pkt.emit(hdr);
    }
}
struct eg_headers_t {
    hdr0 h135;
    hdr0[3] h136;
    hdr0[3] h137;
    hdr1 h138;
}
struct eg_metadata_t {
    bit<27> m139;
    bit<129> m140;
    bit<16> m141;
    bool m142;
    bool m143;
    bit<32> m144;
    bit<4> m145;
    record_t rec;
    record_t other;
    bit<16> residual;
    bool wrong;
    bit<24> again_a;
    bit<40> again_b;
    bit<10> session;
}
parser EgressParser(packet_in pkt, out eg_headers_t hdr, out eg_metadata_t md, out egress_intrinsic_metadata_t eg_intr_md) {
    Checksum() sum1;
    Checksum() sum2;
    ParserCounter() counter;
    state start {
        pkt.extract(eg_intr_md);
        counter.set(8w4);
        transition s0;
    }
    state s0 {
        pkt.extract(hdr.h135);
        transition select(hdr.h135.pad) {
            6w0xb : s2;
            _ : s1;
            default : s1;
        }
    }
    state s1 {
        pkt.extract(hdr.h136.next);
        md.other.x = (((bit<16>)hdr.h135.f1) & ((bit<16>)hdr.h135.pad));
        transition select((hdr.h136.last.f0)[0:0]) {
            1w1 : s1;
            default : s3;
        }
    }
    state s2 {
        pkt.extract(hdr.h137.next);
        md.rec.y = ((-12s1188) >> 6);
        md.rec.x = md.rec.x;
        transition select((hdr.h137.last.f1)[0:0]) {
            1w1 : s2;
            default : s3;
        }
    }
    state s3 {
        pkt.extract(hdr.h138);
        sum1.add(hdr.h138);
        md.wrong = sum1.verify();
        sum2.subtract({hdr.h138.f1});
        md.residual = sum2.get();
        md.m143 = (md.m139 > md.m139);
        md.session = ((bit<10>)((bit<20>)((bit<96>)md.m145)));
        md.rec.x = pkt.lookahead<bit<16>>();
        transition select(md.again_b[16:3]) {
            14w0x2 : accept;
            14w0x3ffd &&& 14w0x3ffd : accept;
            14w16382..14w16383 : accept;
            14w0x2000 : accept;
            14w0x3ffe &&& 14w0x35f5 : accept;
            default : accept;
        }
    }
}
control Sub146(inout eg_headers_t hdr, inout bit<8> a147) {
    int<30> v148 = min(30s536870910, (-30s19286433));
    Register<bit<16>, bit<4>>(16, 16w0x4c32) r149;
    CRCPolynomial<bit<64>>(64w16777217, false, false, false, 64w0x2000000, 64w0x51b8ceb82cea1130) poly151;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, poly151) h150;
    action act152(bit<24> p153, bit<32> p154) {
        hdr.h137[1].f3 = (-(hdr.h136[2].f3 | ((bit<15>)p154)));
        if (((hdr.h135.f1 == (((bit<9>)hdr.h137[0].f3) |+| hdr.h137[1].f1)) && ((hdr.h136[2].f2 >= 8w0x0) && (false && true)))) {
            hdr.h135.f2[7:6] = (hdr.h136[2].f2[4:3] |-| hdr.h137[2].pad[3:2]);
        }
        else {
            hdr.h137[1].f2 = hdr.h137[0].f2;
            hdr.h136[0].f1 = ((hdr.h137[0].f1 |+| hdr.h137[2].f1) >> 2);
        }
    }
    action act155() {
        hdr.h138.f1 = (((hdr.h138.f1 ^ 16w0xfffd) |+| (hdr.h138.f1 * 16w4096)) & ((bit<16>)hdr.h135.f0));
        hdr.h137[0].f0 = (((bit<98>)hdr.h136[0].f3) & hdr.h136[2].f0);
        hdr.h135 = hdr.h136[2];
    }
    Hash<bit<14>>(HashAlgorithm_t.CRC32) h158;
    ActionSelector(13, h158, SelectorMode_t.FAIR) sel159;
    action act160(in bit<8> p161) {
        hdr.h137[0].pad = ((6w0x20 * 6w32) |-| (hdr.h135.pad & 6w0x8));
        for (bit<8> i162 in 8w138..8w140) {
            hdr.h135.f0 = ((((bit<98>)((int<98>)(int<9>)(hdr.h136[0].f1))) - (hdr.h137[1].f0 - 98w0x1a0293b0b60508260006c360a)) & (hdr.h136[2].f0 << 86));
            if ((!false)) {
                break;
            }
            hdr.h136[2].f1[8:5] = ((bit<4>)hdr.h136[0].f1);
        }
        hdr.h136[0].f3[13:2] = 12w0x4ad;
    }
    table t156 {
        key = {
            hdr.h136[2].f1 : exact @name("k163");
            hdr.h136[1].f0 : lpm @name("k164");
            hdr.h136[2].f1 : selector @name("k165");
        }
        actions = {
            act160((hdr.h137[2].f2 - hdr.h136[1].f2));
            NoAction;
        }
        size = 84;
        implementation = sel159;
    }
    DirectCounter<bit<64>>(CounterType_t.PACKETS_AND_BYTES) dc167;
    action act168() {
        bit<65> v169 = 65w0x0359906691b500c97;
        hdr.h137[2].f2 = hdr.h135.f0[59:52];
        dc167.count();
        hdr.h137[2].f2 = 8w0x9f;
        hdr.h137[0].f2 = min(hdr.h138.f2, (((bit<2>)hdr.h137[1].f0) ++ (6w0x36 >> 0)));
    }
    action act170(bit<18> p171, bit<8> p172, bit<128> p173) {
        hdr.h137[0].f0 = hdr.h135.f0;
        dc167.count();
    }
    action act174(bit<32> p175, bit<32> p176) {
        hdr.h135.f2 = hdr.h136[0].f1[7:0];
        dc167.count();
        hdr.h136[1].pad = (hdr.h137[2].pad | hdr.h137[0].pad);
    }
    table t166 {
        key = {
            hdr.h137[0].pad : exact @name("k177");
            hdr.h136[1].f3 : exact @name("k178");
        }
        actions = {
            act168;
            act170;
            act174;
            @defaultonly NoAction;
        }
        default_action = act174(32w0x2, 32w0xbd47fe40);
        size = 128;
        counters = dc167;
    }
    Counter<bit<64>, bit<1>>(11, CounterType_t.PACKETS_AND_BYTES) c180;
    action act181(bit<16> p182, bit<48> p183, bit<8> p184) {
        bit<18> v185;
        hdr.h136[0].f0[95:95] = ((((bit<1>)hdr.h138.f2) << 0) & ((bit<1>)hdr.h136[2].f1));
        if (hdr.h138.isValid()) {
            hdr.h136[2].f2 = ((hdr.h137[1].f2 & hdr.h136[0].f2) | 8w0x84);
            hdr.h135.f2 = (((((bit<8>)hdr.h137[0].f1) >= 8w0xff) || (hdr.h135.f3 > hdr.h137[1].f3)) ? (~(hdr.h135.f2 |-| hdr.h136[1].f2)) : ((bit<8>)((bit<48>)hdr.h137[2].pad)));
        }
        else {
            hdr.h136[0].f2[7:6] = ((bit<2>)(~hdr.h136[1].f1));
        }
        c180.count(hdr.h136[1].pad[2:2]);
        for (bit<8> i186 in 8w162..8w164) {
            if ((true || true)) {
                break;
            }
            bit<1> v187 = (1w0x0 - ((bit<1>)hdr.h136[2].pad));
            hdr.h135.f1 = hdr.h137[0].f1;
        }
    }
    action act188(bit<16> p189) {
        hdr.h136[2].f1 = (hdr.h137[2].f1 ^ hdr.h137[2].f1);
        hdr.h136.pop_front(1);
        v148 = (12s2047 ++ (((bit<3>)hdr.h137[0].f1) ++ hdr.h136[2].f3));
    }
    action act190() {
    }
    table t179 {
        key = {
            ((bit<63>)hdr.h137[0].f1) : exact @name("k191");
        }
        actions = {
            act181;
            act188;
            act190;
            NoAction;
        }
        default_action = act188(16w0x963c);
        entries = {
            63w524288 : act181(16w0x6131, 48w0x8fff33eb0b6d, 8w0xd3);
            63w9223372036854775806 : act190();
        }
        size = 82;
    }
    action act193(int<3> p194, int<24> p195, bit<110> p196) {
        hdr.h137[0].pad = (hdr.h137[1].pad * 6w2);
        hdr.h136[0].f3 = (((bit<14>)p196) ++ ((int<1>)(int<8>)(hdr.h136[1].f2)));
    }
    Register<int<32>, bit<8>>(2, (-32s2147483646)) r197;
    action act198(bit<128> p199, bit<65> p200, bit<65> p201) {
        int<2> v202 = ((-2s1) ^ ((int<2>)(int<65>)(p200)));
        if ((hdr.h136[1].isValid() || (true && true))) {
            hdr.h137[0].f3 = (15w0x4c10 |+| hdr.h136[0].f3);
            hdr.h135.f0 = hdr.h137[2].f0[97:0];
        }
        else {
            a147 = (max(((bit<1>)p200), ((bit<1>)hdr.h136[0].f1)) ++ (7w0x24 - ((bit<7>)hdr.h136[0].f2)));
            hdr.h136[0].pad = (((bit<2>)hdr.h135.f1) ++ ((bit<4>)hdr.h136[1].pad));
            a147 = (((bit<8>)max(((bit<185>)hdr.h136[0].f0), 185w0x0bb566b5b48f000f9050f0bba1000da2c060008001b370f)) & (-(hdr.h137[2].f2 | hdr.h137[0].f2)));
        }
        r197.read((3w0x4 ++ ((bit<5>)hdr.h136[2].pad)));
    }
    action act203() {
        hdr.h137[0].f1 = (false ? hdr.h137[2].f1 : 9w0x1);
    }
    table t192 {
        key = {
            hdr.h137[1].f2 : range @name("k204");
        }
        actions = {
            act193;
            act198;
            act203;
            NoAction;
        }
        const default_action = act193((-3s2), (-24s8388605), 110w0x102f21bf1e0087442aa20000c7a9);
        const entries = {
            8w1 : act203();
            8w215 : act193((-3s2), (-24s8388607), 110w0x10a343009def0f000c1040a00240);
        }
        size = 128;
    }
    apply {
        h150.get({(1w0x0 ++ hdr.h138.f2), ((bit<256>)((bit<24>)hdr.h136[2].pad)), hdr.h137[0].pad, hdr.h136[1].f0});
        switch ((min(min(4w0xe, ((bit<4>)hdr.h136[1].pad)), (((bit<4>)hdr.h136[2].f1) + 4w0xd)) | hdr.h138.f0[30:27])) {
            4w0:
            {
                r149.write((((bit<3>)hdr.h135.pad) ++ 1w0x1), (hdr.h138.f1 |-| ((bit<16>)hdr.h138.f2)));
                hdr.h137[0].f2 = ((bit<8>)((bit<24>)hdr.h136[0].f1));
            }
            4w2:
            {
                hdr.h136[0].f1 = hdr.h136[0].f1;
            }
            default: {
                if (((hdr.h137[1].f3 == hdr.h137[0].f3) || (hdr.h136[0].pad == 6w0x33))) {
                    hdr.h138.f2 = (hdr.h138.f2 |+| ((bit<8>)hdr.h136[0].pad));
                }
                else {
                    hdr.h138.f1 = 16w0x880;
                    hdr.h135 = hdr.h136[2];
                    if (true) {
                        hdr.h137[0].f3[4:4] = (((bit<1>)hdr.h135.f2) - 1w0x0);
                        hdr.h137[0].setValid();
                    }
                }
            }
        }
        hdr.h137[0].f1 = ((bit<9>)(-(((int<9>)(int<16>)(hdr.h138.f1)) << 9)));
        t179.apply();
        switch (t192.apply().action_run) {
            act198:
            {
                switch ((~(~23w0x84))) {
                    23w0:
                    23w2:
                    {
                        hdr.h136[0].f1 = (~hdr.h136[0].f1);
                        if ((hdr.h137[1].f1 < hdr.h137[1].f3[12:4])) {
                            if (t166.apply().miss) {
                                hdr.h137[0].f0 = ((98w0x2000c36df4070d0086b050fdd ^ hdr.h136[1].f0) - (((bit<34>)a147) ++ ((bit<64>)hdr.h137[2].f0)));
                                hdr.h136[2].f0 = (((((bit<98>)hdr.h137[2].f2) * 98w4611686018427387904) + (-98w0x15d0fa00861005000000ae872)) | (hdr.h137[2].f0[97:0] |+| (hdr.h136[0].f0 |-| ((bit<98>)hdr.h137[0].f2))));
                            }
                            hdr.h136[1].f0 = (hdr.h136[0].f0 | ((bit<98>)hdr.h136[1].f3));
                            hdr.h138.f0[62:56] = (((bit<4>)129w0x06b04e202300ee0005100ef0a0d000039) ++ (-((bit<3>)hdr.h136[1].f2)));
                        }
                        else {
                            bit<3> v205;
                            if (false) {
                                hdr.h136[2].f2[7:5] = (~((bit<3>)((bit<127>)hdr.h137[0].f1)));
                            }
                        }
                        return;
                    }
                    23w5:
                    {
                        hdr.h135.pad = 6w0x3c;
                        act152(24w0xd02ad3, (12w0xffe ++ ((bit<20>)hdr.h137[2].f2)));
                        return;
                    }
                    23w6:
                    23w8:
                    {
                        hdr.h137[1].f0 = (hdr.h136[1].f0 | ((bit<98>)hdr.h137[2].f2));
                        if ((((bit<8>)hdr.h136[1].f0) == 8w0x8)) {
                            hdr.h137[1].pad[2:0] = 3w0x6;
                        }
                        else {
                            hdr.h138.f2 = (hdr.h137[1].f1[8:5] ++ (-(-((bit<4>)hdr.h137[1].f1))));
                            hdr.h136[2].f1 = ((hdr.h136[0].f1 |-| (~9w0x3b)) - (hdr.h136[1].f1));
                        }
                        return;
                    }
                    23w9:
                    {
                    }
                }
            }
            act203:
            {
                bool v206;
                hdr.h136[2].f1 = (((bit<9>)hdr.h136[2].f2) >> 3);
            }
            default: {
                bool v207 = true;
                hdr.h135.f1 = (-(hdr.h136[0].f1 * 9w256));
            }
        }
        t156.apply();
    }
}
control Egress(inout eg_headers_t hdr, inout eg_metadata_t md, in egress_intrinsic_metadata_t eg_intr_md, in egress_intrinsic_metadata_from_parser_t eg_prsr_md, inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md, inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    int<5> v208 = (md.wrong ? (-5s3) : 5s8);
    bit<6> v209 = md.residual[8:3];
    bit<40> v210 = (-md.again_b);
    Register<pair_t, bit<10>>(57, {60, 71}) r211;
    RegisterAction<pair_t, bit<10>, bit<32>>(r211) ra212 = {
        void apply(inout pair_t value, out bit<32> rv) {
            rv = 32w0xffffffff;
            value.hi = (min(32w0x0, ((bit<32>)md.again_a)) + (((bit<32>)hdr.h136[1].pad) & ((bit<32>)md.again_a)));
            value.lo = ((bit<32>)md.residual);
            value.lo = rv;
            value.lo = ((md.m144 |+| rv) ^ (32w0x1 - rv));
        }
    };
    Register<int<32>, bit<6>>(8, (-32s545670465)) r213;
    RegisterParam<int<32>>(32s172344280) rp215;
    RegisterAction<int<32>, bit<6>, int<32>>(r213) ra214 = {
        void apply(inout int<32> value, out int<32> rv) {
            rv = (-32s1116430);
            if ((!true)) {
                value = (((-2s0) ++ hdr.h135.pad) ++ (((int<24>)(bit<24>)(hdr.h137[2].f3)) - ((int<24>)(int<6>)(v209))));
            }
            if (((md.m143 && md.m142) && true)) {
                rv = ((rp215.read() << 9) - (value - rv));
            }
        }
    };
    Register<pair_t, bit<8>>(31, {38, 95}) r216;
    RegisterAction<pair_t, bit<8>, bit<32>>(r216) ra217 = {
        void apply(inout pair_t value) {
            if (((-(hdr.h136[2].f3)) < 15w0x1a01)) {
                value.lo = (hdr.h136[0].f3[14:6] ++ (23w0x3 << 22));
            }
            value.lo = ((17w0x10001 |+| 17w0x2) ++ hdr.h136[1].f3);
            value.hi = ((value.lo | value.lo) + hdr.h137[md.rec.x].f0[40:9]);
        }
    };
    ActionProfile(8) ap219;
    Hash<bit<43>>(HashAlgorithm_t.CRC64) h220;
    ActionSelector(ap219, h220, SelectorMode_t.RESILIENT, 130, 1) sel221;
    action act222(bit<32> p223) {
        if ((p223 >= 32w0xec5f993c)) {
            if (hdr.h136[2].isValid()) {
                hdr.h137[1].f3 = (15w0x80 & hdr.h137[2].f3);
                exit;
            }
            else {
                hdr.h136[md.rec.x].f2 = ((bit<8>)((((int<1>)(bit<1>)(md.residual)) |-| (int<1>)1w0x1) ++ hdr.h137[2].f0[74:68]));
                hdr.h136[md.rec.x].pad = ((hdr.h137[2].pad + ((bit<6>)md.other.x)) << 2);
            }
            hdr.h136[2].pad = min(hdr.h137[2].pad, hdr.h137[0].pad);
        }
        else {
            if (((hdr.h136[0].f1 >= hdr.h137[0].f1) || (hdr.h137[2].f3 >= 15w0x32f2))) {
                hdr.h137[1].f0 = ((bit<98>)((bit<18>)md.m139));
                exit;
            }
            else {
                md.again_b = (hdr.h136[0].f0[77:38] - min(40w0xfffffffffd, ((bit<40>)hdr.h136[2].f1)));
                hdr.h138.f1 = 16w0x400;
            }
            hdr.h135.setValid();
        }
        hdr.h136[2].f1 = ((-hdr.h137[md.rec.x].f1) | hdr.h135.f1);
        hdr.h136[2].f2 = (((md.m142 ? ((bit<1>)md.session) : ((bit<1>)hdr.h137[md.rec.x].f2)) ++ ((bit<7>)(bit<12>)md.rec.y)) >> 8);
    }
    Random<bit<39>>() rnd224;
    action act225(in int<3> p226, in bit<16> p227) {
        hdr.h137[0].f2 = (md.m143 ? hdr.h136[md.rec.x].f2 : ((bit<8>)hdr.h137[2].pad));
        rnd224.get();
        if (((hdr.h136[0].f3 ++ 1w0x1) == (~md.other.x))) {
        }
        else {
            hdr.h136[1] = hdr.h135;
        }
    }
    Register<pair_t, bit<1>>(46) r228;
    RegisterAction<pair_t, bit<1>, bit<32>>(r228) ra229 = {
        void apply(inout pair_t value) {
            value.lo = (value.lo ^ (((bit<26>)(bit<1>)md.m142) ++ ((bit<6>)hdr.h136[2].f2)));
            if ((md.rec.x == 16w0x8922)) {
                value.hi = md.m144;
            }
            value.hi = ((value.hi | md.m144) |+| (value.lo - ((bit<32>)eg_intr_md.deq_qdepth)));
            value.lo = ((((bit<16>)hdr.h137[md.rec.x].f1) == 16w0x9cb5) ? max(32w0xfffffffd, ((bit<32>)hdr.h136[1].f3)) : (md.wrong ? ((bit<32>)hdr.h136[2].f1) : ((bit<32>)hdr.h135.f1)));
        }
    };
    action act230(bit<32> p231, int<8> p232) {
        bit<16> v233 = max(md.rec.x, ((bit<16>)hdr.h136[1].f2));
        hdr.h136[1].pad = (hdr.h136[md.rec.x].pad);
        hdr.h136[0].f0[97:28] = (((bit<23>)hdr.h136[2].f2) ++ ((bit<47>)eg_intr_md.deq_qdepth));
        md.m144 = ra229.execute((((bit<1>)md.m142) & 1w0x0));
    }
    action act234() {
        md.rec.y = (md.rec.y * 12s8);
        if (((hdr.h137[md.rec.x].f3 > hdr.h137[2].f3) == md.wrong)) {
            md.again_a = md.again_a;
            hdr.h136[md.rec.x].f3 = (15w0x400 |-| (hdr.h136[2].f3 | 15w0x4c03));
        }
        else {
            hdr.h136[2].f2 = md.again_a[21:14];
            hdr.h135.f1 = ((bit<9>)((bit<60>)md.m144));
        }
    }
    Hash<bit<14>>(HashAlgorithm_t.CRC32) h235;
    table t218 {
        key = {
            hdr.h137[0].f0 : exact @name("k236");
            hdr.h136[1].f3 : range @name("k237");
            hdr.h137[md.rec.x].f2 : ternary @name("k238");
            hdr.h136[2].f1 : selector @name("k239");
            hdr.h137[2].f3 : selector @name("k240");
        }
        actions = {
            act222;
            act225((((int<1>)(bit<1>)(hdr.h138.f0)) ++ 2w0x1), md.residual[15:0]);
            act230;
            act234;
            NoAction;
        }
        default_action = act230(32w0x373d547c, 8s79);
        size = 128;
        implementation = sel221;
    }
    ActionProfile(12) ap242;
    CRCPolynomial<bit<64>>(64w180461007714660625, true, false, true, 64w0x0, 64w0x1000000) poly244;
    Hash<bit<128>>(HashAlgorithm_t.CUSTOM, poly244) h243;
    action act245() {
        hdr.h137[0].f1 = ((bit<9>)min(((bit<30>)md.m144), ((bit<30>)hdr.h137[0].f1)));
        hdr.h136[2].f2[5:3] = ((bit<3>)min(((int<3>)v208), ((int<3>)(bit<3>)(hdr.h136[0].pad))));
        h243.get({hdr.h135.f1, (256w0x0900e80a0a040db200050000d0a06b000062700bf30b0e8686009de03a000666 * 256w128), (hdr.h135.f2 * 8w64), hdr.h135.f2});
        hdr.h137[2] = hdr.h137[1];
    }
    table t241 {
        key = {
            (48w0x800000000000 - ((bit<48>)hdr.h135.f1)) : exact @name("k246");
            (((bit<96>)hdr.h137[1].pad) |-| ((bit<96>)md.m145)) : exact @name("k247");
        }
        actions = {
            act245;
            NoAction;
        }
        default_action = act245();
        size = 128;
        implementation = ap242;
    }
    DirectRegister<bit<32>>(32w0x50ba0b6b) dr249;
    MathUnit<bit<32>>(MathOp_t.RSQR, 34, 19) mu251;
    DirectRegisterAction<bit<32>, bit<32>>(dr249) ra250 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = 32w0xc0250500;
            if ((hdr.h136[2].f3 <= (hdr.h136[2].f3 ^ 15w0x3))) {
                value = ((mu251.execute(value) |-| rv) & (rv << 25));
            }
            rv = min((mu251.execute(value) - mu251.execute(value)), ((bit<32>)hdr.h135.f1));
        }
    };
    action act252() {
        hdr.h135.f0 = (((9w0x1fe > ((bit<9>)hdr.h136[md.rec.x].f0)) ? ((bit<98>)((bit<20>)hdr.h138.f0)) : hdr.h135.f0) << 59);
        md.residual = ((bit<16>)((int<16>)(bit<16>)(hdr.h137[0].f1)));
        md.m144 = ra250.execute();
        hdr.h136[2].setInvalid();
    }
    table t248 {
        key = {
            (((bit<172>)hdr.h135.f0))[94:31] : exact @name("k253");
            (37w0xbb93b6e25 ++ ((bit<91>)v210)) : exact @name("k254");
        }
        actions = {
            act252;
            @defaultonly NoAction;
        }
        default_action = act252();
        const entries = {
            (64w3856770105995835199, 128w0x504007c400d0000300774c70036e2b00) : act252();
            (64w1073741824, 128w0x02006a4e04007840a8670217e420d5f0) : act252();
            (64w536870912, 128w0x164d421000a70f61080000708600000e) : act252();
            (64w0, 128w0xfa4f01976b179ba800bf1ef0c05067a0) : act252();
            (64w4809088824909298841, 128w0x10028b8b5900000900516045c0600af0) : act252();
            (64w288230376151711744, 128w0x4fc004040ea02e0bd8bf0b8be0860680) : act252();
            (64w1152921504606846976, 128w0xf1434507e0f9f0e060701a080b5a0800) : act252();
        }
        size = 128;
        registers = dr249;
    }
    DirectRegister<bit<32>>(32w0xffffffff) dr256;
    MathUnit<bit<32>>(MathOp_t.SQR, 38, 22) mu258;
    DirectRegisterAction<bit<32>, bit<32>>(dr256) ra257 = {
        void apply(inout bit<32> value, out bit<32> rv) {
            rv = 32w0x1000;
            if (hdr.h135.isValid()) {
                rv = ((md.m144 + md.m144) & v210[36:5]);
            }
        }
    };
    action act259(int<96> p260, bit<32> p261) {
        md.m144 = ra257.execute();
        md.wrong = (((((bit<6>)hdr.h135.f1) > hdr.h137[0].pad) != md.m143) || ((hdr.h136[1].f1 >= 9w0x0) || (hdr.h137[2].f1 > 9w0x1fe)));
        hdr.h137[1].pad = (((bit<2>)hdr.h136[0].f0) ++ md.m145);
    }
    action act262(int<65> p263, bit<128> p264, int<48> p265) {
        md.m144 = ra257.execute();
        hdr.h136[0].f2 = (((bit<8>)((int<8>)md.rec.y)) - hdr.h138.f2);
        hdr.h137[0] = hdr.h136[2];
    }
    action act266(bit<32> p267, bit<8> p268) {
        bit<64> v269 = (-hdr.h138.f0);
        md.m144 = ra257.execute();
        hdr.h136[1].f2 = (hdr.h137[1].f2 - 8w0x20);
    }
    action act270(bit<1> p271) {
        bool v272 = (19w0x69808 != 19w0x7fffd);
        hdr.h136[1].f0 = ((bit<98>)md.m144);
        for (bit<8> i273 = 0; i273 < 3 && (((bit<40>)hdr.h136[md.rec.x].f2) != 40w0xfffffffffd); i273 = i273 + 1) {
            hdr.h137[2].f1 = min((9w0x3 ^ hdr.h135.f1), ((bit<9>)md.session));
            if (((md.m142 || v272) || hdr.h135.isValid())) {
                bit<256> v274;
                hdr.h135.f2 = (~hdr.h137[1].f2);
                if (((md.m145 ++ (((bit<2>)(bit<1>)md.wrong) & 2w0x2)) > 6w0x13)) {
                    for (bit<8> i275 in 8w149..8w149) {
                        hdr.h137[0].pad = min((hdr.h136[2].pad ^ hdr.h137[md.rec.x].pad), (p271 ++ v208));
                        md.m144 = (-(~32w0xba71cc70));
                        if (hdr.h136[2].isValid()) {
                            break;
                        }
                        hdr.h135.f2[1:1] = (p271 << 1);
                    }
                    exit;
                }
                v209 = ((hdr.h136[1].pad >> 1) * 6w2);
                exit;
            }
            else {
            }
        }
        md.m144 = ra257.execute();
    }
    Hash<bit<31>>(HashAlgorithm_t.CRC32) h276;
    table t255 {
        key = {
            md.m141 : lpm @name("k277");
        }
        actions = {
            act259;
            act262;
            act266;
            act270;
            @defaultonly NoAction;
        }
        default_action = act266(32w0x1c486be0, 8w0x30);
        size = 128;
        registers = dr256;
    }
    Sub146() sub278;
    apply {
        t241.apply();
        hdr.h137[md.rec.x].f1[7:2] = min((md.m142 ? hdr.h137[0].pad : ((bit<6>)(bit<1>)md.wrong)), hdr.h136[1].pad);
        md.rec.x = (((bit<16>)((bit<12>)63w0x20000)) + (7w0x6b ++ (hdr.h136[2].f1 << 9)));
        t248.apply();
        hdr.h136[0].pad = (6w0x1 >> 5);
        ra214.execute((hdr.h135.pad >> 1));
        md.m144 = ra217.execute((((bit<1>)hdr.h137[md.rec.x].pad) ++ ((bit<7>)md.m145)));
        sub278.apply(hdr, hdr.h136[1].f2);
        md.m144 = ra212.execute((~((bit<10>)hdr.h137[1].f3)));
        t218.apply();
        if (t255.apply().miss) {
            if (hdr.h136[1].isValid()) {
                hdr.h137[1].f2 = (hdr.h136[0].f2);
            }
            hdr.h137[2].f0 = (hdr.h136[1].f0[97:0] | ((bit<98>)hdr.h136[md.rec.x].pad));
        }
        else {
            hdr.h137[md.rec.x].pad = (((bit<5>)hdr.h137[1].f1) ++ (int<1>)1w0x1);
        }
    }
}
control EgressDeparser(packet_out pkt, inout eg_headers_t hdr, in eg_metadata_t md, in egress_intrinsic_metadata_for_deparser_t dprsr) {
    Checksum() sum;
    Mirror() copy;
    apply {
        if (dprsr.mirror_type == 1) {
            copy.emit(md.session);
        }
        hdr.h138.f1 = sum.update({hdr.h138.f0, hdr.h138.f1});
        pkt.emit(hdr);
    }
}
Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
