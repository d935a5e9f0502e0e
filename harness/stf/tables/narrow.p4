// SPDX-License-Identifier: Apache-2.0
//
// Keys and action data of many fields of one bit: what counts is how many bytes they take, each field
// in whole ones.
#include "../lang/frame.p4i"

header t_h { bit<8> op; bit<8> a; }
header w_h {
    bit<1> f0; bit<1> f1; bit<1> f2; bit<1> f3; bit<1> f4; bit<1> f5; bit<1> f6; bit<1> f7;
    bit<1> f8; bit<1> f9; bit<1> f10; bit<1> f11; bit<1> f12; bit<1> f13; bit<1> f14; bit<1> f15;
    bit<1> f16; bit<1> f17; bit<1> f18; bit<1> f19; bit<1> f20; bit<1> f21; bit<1> f22; bit<1> f23;
    bit<1> f24; bit<1> f25; bit<1> f26; bit<1> f27; bit<1> f28; bit<1> f29; bit<1> f30; bit<1> f31;
    bit<1> f32; bit<1> f33; bit<1> f34; bit<1> f35; bit<1> f36; bit<1> f37; bit<1> f38; bit<1> f39;
    bit<1> f40; bit<1> f41; bit<1> f42; bit<1> f43; bit<1> f44; bit<1> f45; bit<1> f46; bit<1> f47;
    bit<1> f48; bit<1> f49; bit<1> f50; bit<1> f51; bit<1> f52; bit<1> f53; bit<1> f54; bit<1> f55;
    bit<1> f56; bit<1> f57; bit<1> f58; bit<1> f59; bit<1> f60; bit<1> f61; bit<1> f62; bit<1> f63;
    bit<1> f64; bit<1> f65; bit<1> f66; bit<1> f67; bit<1> f68; bit<1> f69; bit<1> f70; bit<1> f71;
    bit<1> f72; bit<1> f73; bit<1> f74; bit<1> f75; bit<1> f76; bit<1> f77; bit<1> f78; bit<1> f79;
}
struct headers_t { t_h t; w_h w; }
struct metadata_t {}

PARSER(
    state parse {
        pkt.extract(hdr.t);
        pkt.extract(hdr.w);
        transition accept;
    }
)

INGRESS {
    action set(bit<8> v) { hdr.t.a = v; }
    action fill(
        bit<1> f0, bit<1> f1, bit<1> f2, bit<1> f3, bit<1> f4, bit<1> f5, bit<1> f6, bit<1> f7,
        bit<1> f8, bit<1> f9, bit<1> f10, bit<1> f11, bit<1> f12, bit<1> f13, bit<1> f14, bit<1> f15,
        bit<1> f16, bit<1> f17, bit<1> f18, bit<1> f19, bit<1> f20, bit<1> f21, bit<1> f22, bit<1> f23,
        bit<1> f24, bit<1> f25, bit<1> f26, bit<1> f27, bit<1> f28, bit<1> f29, bit<1> f30, bit<1> f31,
        bit<1> f32, bit<1> f33, bit<1> f34, bit<1> f35, bit<1> f36, bit<1> f37, bit<1> f38, bit<1> f39,
        bit<1> f40, bit<1> f41, bit<1> f42, bit<1> f43, bit<1> f44, bit<1> f45, bit<1> f46, bit<1> f47,
        bit<1> f48, bit<1> f49, bit<1> f50, bit<1> f51, bit<1> f52, bit<1> f53, bit<1> f54, bit<1> f55,
        bit<1> f56, bit<1> f57, bit<1> f58, bit<1> f59, bit<1> f60, bit<1> f61, bit<1> f62, bit<1> f63,
        bit<1> f64, bit<1> f65, bit<1> f66, bit<1> f67, bit<1> f68, bit<1> f69, bit<1> f70, bit<1> f71,
        bit<1> f72, bit<1> f73, bit<1> f74, bit<1> f75, bit<1> f76, bit<1> f77, bit<1> f78, bit<1> f79) {
        hdr.w.f0 = f0; hdr.w.f1 = f1; hdr.w.f2 = f2; hdr.w.f3 = f3;
        hdr.w.f4 = f4; hdr.w.f5 = f5; hdr.w.f6 = f6; hdr.w.f7 = f7;
        hdr.w.f8 = f8; hdr.w.f9 = f9; hdr.w.f10 = f10; hdr.w.f11 = f11;
        hdr.w.f12 = f12; hdr.w.f13 = f13; hdr.w.f14 = f14; hdr.w.f15 = f15;
        hdr.w.f16 = f16; hdr.w.f17 = f17; hdr.w.f18 = f18; hdr.w.f19 = f19;
        hdr.w.f20 = f20; hdr.w.f21 = f21; hdr.w.f22 = f22; hdr.w.f23 = f23;
        hdr.w.f24 = f24; hdr.w.f25 = f25; hdr.w.f26 = f26; hdr.w.f27 = f27;
        hdr.w.f28 = f28; hdr.w.f29 = f29; hdr.w.f30 = f30; hdr.w.f31 = f31;
        hdr.w.f32 = f32; hdr.w.f33 = f33; hdr.w.f34 = f34; hdr.w.f35 = f35;
        hdr.w.f36 = f36; hdr.w.f37 = f37; hdr.w.f38 = f38; hdr.w.f39 = f39;
        hdr.w.f40 = f40; hdr.w.f41 = f41; hdr.w.f42 = f42; hdr.w.f43 = f43;
        hdr.w.f44 = f44; hdr.w.f45 = f45; hdr.w.f46 = f46; hdr.w.f47 = f47;
        hdr.w.f48 = f48; hdr.w.f49 = f49; hdr.w.f50 = f50; hdr.w.f51 = f51;
        hdr.w.f52 = f52; hdr.w.f53 = f53; hdr.w.f54 = f54; hdr.w.f55 = f55;
        hdr.w.f56 = f56; hdr.w.f57 = f57; hdr.w.f58 = f58; hdr.w.f59 = f59;
        hdr.w.f60 = f60; hdr.w.f61 = f61; hdr.w.f62 = f62; hdr.w.f63 = f63;
        hdr.w.f64 = f64; hdr.w.f65 = f65; hdr.w.f66 = f66; hdr.w.f67 = f67;
        hdr.w.f68 = f68; hdr.w.f69 = f69; hdr.w.f70 = f70; hdr.w.f71 = f71;
        hdr.w.f72 = f72; hdr.w.f73 = f73; hdr.w.f74 = f74; hdr.w.f75 = f75;
        hdr.w.f76 = f76; hdr.w.f77 = f77; hdr.w.f78 = f78; hdr.w.f79 = f79;
    }
    table some {
        key = {
            hdr.w.f0 : ternary @name("f0"); hdr.w.f1 : ternary @name("f1");
            hdr.w.f2 : ternary @name("f2"); hdr.w.f3 : ternary @name("f3");
            hdr.w.f4 : ternary @name("f4"); hdr.w.f5 : ternary @name("f5");
            hdr.w.f6 : ternary @name("f6"); hdr.w.f7 : ternary @name("f7");
            hdr.w.f8 : ternary @name("f8"); hdr.w.f9 : ternary @name("f9");
            hdr.w.f10 : ternary @name("f10"); hdr.w.f11 : ternary @name("f11");
            hdr.w.f12 : ternary @name("f12"); hdr.w.f13 : ternary @name("f13");
            hdr.w.f14 : ternary @name("f14"); hdr.w.f15 : ternary @name("f15");
            hdr.w.f16 : ternary @name("f16"); hdr.w.f17 : ternary @name("f17");
            hdr.w.f18 : ternary @name("f18"); hdr.w.f19 : ternary @name("f19");
            hdr.w.f20 : ternary @name("f20"); hdr.w.f21 : ternary @name("f21");
            hdr.w.f22 : ternary @name("f22"); hdr.w.f23 : ternary @name("f23");
            hdr.w.f24 : ternary @name("f24"); hdr.w.f25 : ternary @name("f25");
            hdr.w.f26 : ternary @name("f26"); hdr.w.f27 : ternary @name("f27");
            hdr.w.f28 : ternary @name("f28"); hdr.w.f29 : ternary @name("f29");
            hdr.w.f30 : ternary @name("f30"); hdr.w.f31 : ternary @name("f31");
            hdr.w.f32 : ternary @name("f32"); hdr.w.f33 : ternary @name("f33");
            hdr.w.f34 : ternary @name("f34"); hdr.w.f35 : ternary @name("f35");
            hdr.w.f36 : ternary @name("f36"); hdr.w.f37 : ternary @name("f37");
            hdr.w.f38 : ternary @name("f38"); hdr.w.f39 : ternary @name("f39");
            hdr.w.f40 : ternary @name("f40"); hdr.w.f41 : ternary @name("f41");
            hdr.w.f42 : ternary @name("f42"); hdr.w.f43 : ternary @name("f43");
            hdr.w.f44 : ternary @name("f44"); hdr.w.f45 : ternary @name("f45");
            hdr.w.f46 : ternary @name("f46"); hdr.w.f47 : ternary @name("f47");
            hdr.w.f48 : ternary @name("f48"); hdr.w.f49 : ternary @name("f49");
            hdr.w.f50 : ternary @name("f50"); hdr.w.f51 : ternary @name("f51");
            hdr.w.f52 : ternary @name("f52"); hdr.w.f53 : ternary @name("f53");
            hdr.w.f54 : ternary @name("f54"); hdr.w.f55 : ternary @name("f55");
            hdr.w.f56 : ternary @name("f56"); hdr.w.f57 : ternary @name("f57");
            hdr.w.f58 : ternary @name("f58"); hdr.w.f59 : ternary @name("f59");
            hdr.w.f60 : ternary @name("f60"); hdr.w.f61 : ternary @name("f61");
            hdr.w.f62 : ternary @name("f62"); hdr.w.f63 : ternary @name("f63");
            hdr.w.f64 : ternary @name("f64"); hdr.w.f65 : ternary @name("f65");
            hdr.w.f66 : ternary @name("f66"); hdr.w.f67 : ternary @name("f67");
            hdr.w.f68 : ternary @name("f68"); hdr.w.f69 : ternary @name("f69");
            hdr.w.f70 : ternary @name("f70"); hdr.w.f71 : ternary @name("f71");
        }
        actions = { set; NoAction; }
        size = 64;
    }
    table all {
        key = {
            hdr.w.f0 : exact @name("f0"); hdr.w.f1 : exact @name("f1");
            hdr.w.f2 : exact @name("f2"); hdr.w.f3 : exact @name("f3");
            hdr.w.f4 : exact @name("f4"); hdr.w.f5 : exact @name("f5");
            hdr.w.f6 : exact @name("f6"); hdr.w.f7 : exact @name("f7");
            hdr.w.f8 : exact @name("f8"); hdr.w.f9 : exact @name("f9");
            hdr.w.f10 : exact @name("f10"); hdr.w.f11 : exact @name("f11");
            hdr.w.f12 : exact @name("f12"); hdr.w.f13 : exact @name("f13");
            hdr.w.f14 : exact @name("f14"); hdr.w.f15 : exact @name("f15");
            hdr.w.f16 : exact @name("f16"); hdr.w.f17 : exact @name("f17");
            hdr.w.f18 : exact @name("f18"); hdr.w.f19 : exact @name("f19");
            hdr.w.f20 : exact @name("f20"); hdr.w.f21 : exact @name("f21");
            hdr.w.f22 : exact @name("f22"); hdr.w.f23 : exact @name("f23");
            hdr.w.f24 : exact @name("f24"); hdr.w.f25 : exact @name("f25");
            hdr.w.f26 : exact @name("f26"); hdr.w.f27 : exact @name("f27");
            hdr.w.f28 : exact @name("f28"); hdr.w.f29 : exact @name("f29");
            hdr.w.f30 : exact @name("f30"); hdr.w.f31 : exact @name("f31");
            hdr.w.f32 : exact @name("f32"); hdr.w.f33 : exact @name("f33");
            hdr.w.f34 : exact @name("f34"); hdr.w.f35 : exact @name("f35");
            hdr.w.f36 : exact @name("f36"); hdr.w.f37 : exact @name("f37");
            hdr.w.f38 : exact @name("f38"); hdr.w.f39 : exact @name("f39");
            hdr.w.f40 : exact @name("f40"); hdr.w.f41 : exact @name("f41");
            hdr.w.f42 : exact @name("f42"); hdr.w.f43 : exact @name("f43");
            hdr.w.f44 : exact @name("f44"); hdr.w.f45 : exact @name("f45");
            hdr.w.f46 : exact @name("f46"); hdr.w.f47 : exact @name("f47");
            hdr.w.f48 : exact @name("f48"); hdr.w.f49 : exact @name("f49");
            hdr.w.f50 : exact @name("f50"); hdr.w.f51 : exact @name("f51");
            hdr.w.f52 : exact @name("f52"); hdr.w.f53 : exact @name("f53");
            hdr.w.f54 : exact @name("f54"); hdr.w.f55 : exact @name("f55");
            hdr.w.f56 : exact @name("f56"); hdr.w.f57 : exact @name("f57");
            hdr.w.f58 : exact @name("f58"); hdr.w.f59 : exact @name("f59");
            hdr.w.f60 : exact @name("f60"); hdr.w.f61 : exact @name("f61");
            hdr.w.f62 : exact @name("f62"); hdr.w.f63 : exact @name("f63");
            hdr.w.f64 : exact @name("f64"); hdr.w.f65 : exact @name("f65");
            hdr.w.f66 : exact @name("f66"); hdr.w.f67 : exact @name("f67");
            hdr.w.f68 : exact @name("f68"); hdr.w.f69 : exact @name("f69");
            hdr.w.f70 : exact @name("f70"); hdr.w.f71 : exact @name("f71");
            hdr.w.f72 : exact @name("f72"); hdr.w.f73 : exact @name("f73");
            hdr.w.f74 : exact @name("f74"); hdr.w.f75 : exact @name("f75");
            hdr.w.f76 : exact @name("f76"); hdr.w.f77 : exact @name("f77");
            hdr.w.f78 : exact @name("f78"); hdr.w.f79 : exact @name("f79");
        }
        actions = { set; fill; NoAction; }
        size = 64;
    }
    table prefix {
        key = {
            hdr.t.a : lpm @name("a");
            hdr.w.f0 : exact @name("f0"); hdr.w.f1 : exact @name("f1");
            hdr.w.f2 : exact @name("f2"); hdr.w.f3 : exact @name("f3");
            hdr.w.f4 : exact @name("f4"); hdr.w.f5 : exact @name("f5");
            hdr.w.f6 : exact @name("f6"); hdr.w.f7 : exact @name("f7");
            hdr.w.f8 : exact @name("f8"); hdr.w.f9 : exact @name("f9");
            hdr.w.f10 : exact @name("f10"); hdr.w.f11 : exact @name("f11");
            hdr.w.f12 : exact @name("f12"); hdr.w.f13 : exact @name("f13");
            hdr.w.f14 : exact @name("f14"); hdr.w.f15 : exact @name("f15");
            hdr.w.f16 : exact @name("f16"); hdr.w.f17 : exact @name("f17");
            hdr.w.f18 : exact @name("f18"); hdr.w.f19 : exact @name("f19");
            hdr.w.f20 : exact @name("f20"); hdr.w.f21 : exact @name("f21");
            hdr.w.f22 : exact @name("f22"); hdr.w.f23 : exact @name("f23");
            hdr.w.f24 : exact @name("f24"); hdr.w.f25 : exact @name("f25");
            hdr.w.f26 : exact @name("f26"); hdr.w.f27 : exact @name("f27");
            hdr.w.f28 : exact @name("f28"); hdr.w.f29 : exact @name("f29");
            hdr.w.f30 : exact @name("f30"); hdr.w.f31 : exact @name("f31");
            hdr.w.f32 : exact @name("f32"); hdr.w.f33 : exact @name("f33");
            hdr.w.f34 : exact @name("f34"); hdr.w.f35 : exact @name("f35");
            hdr.w.f36 : exact @name("f36"); hdr.w.f37 : exact @name("f37");
            hdr.w.f38 : exact @name("f38"); hdr.w.f39 : exact @name("f39");
            hdr.w.f40 : exact @name("f40"); hdr.w.f41 : exact @name("f41");
            hdr.w.f42 : exact @name("f42"); hdr.w.f43 : exact @name("f43");
            hdr.w.f44 : exact @name("f44"); hdr.w.f45 : exact @name("f45");
            hdr.w.f46 : exact @name("f46"); hdr.w.f47 : exact @name("f47");
            hdr.w.f48 : exact @name("f48"); hdr.w.f49 : exact @name("f49");
            hdr.w.f50 : exact @name("f50"); hdr.w.f51 : exact @name("f51");
            hdr.w.f52 : exact @name("f52"); hdr.w.f53 : exact @name("f53");
            hdr.w.f54 : exact @name("f54"); hdr.w.f55 : exact @name("f55");
            hdr.w.f56 : exact @name("f56"); hdr.w.f57 : exact @name("f57");
            hdr.w.f58 : exact @name("f58"); hdr.w.f59 : exact @name("f59");
            hdr.w.f60 : exact @name("f60"); hdr.w.f61 : exact @name("f61");
            hdr.w.f62 : exact @name("f62"); hdr.w.f63 : exact @name("f63");
            hdr.w.f64 : exact @name("f64"); hdr.w.f65 : exact @name("f65");
        }
        actions = { set; NoAction; }
        size = 64;
    }
    apply {
        ig_tm_md.ucast_egress_port = 1;
        if (hdr.t.op == 0) some.apply();
        else if (hdr.t.op == 1) all.apply();
        else prefix.apply();
    }
}

DEPARSER(pkt.emit(hdr.t); pkt.emit(hdr.w);)
MAIN
