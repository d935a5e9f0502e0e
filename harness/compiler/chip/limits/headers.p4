// SPDX-License-Identifier: Apache-2.0
//
// Headers of the programs of this folder, and repetition.
#ifndef LIMITS_HEADERS
#define LIMITS_HEADERS
#include <core.p4>
#include <tna.p4>

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

header num_h {
    bit<8>  a;
    bit<8>  b;
    bit<16> c;
    bit<16> d;
    bit<32> e;
    bit<32> f;
    bit<32> g;
    bit<32> h;
}

// F(0) F(1) ... F(n - 1)
#define TIMES_4(F, i)   F(i##0) F(i##1) F(i##2) F(i##3)
#define TIMES_16(F, i)  TIMES_4(F, i##0) TIMES_4(F, i##1) TIMES_4(F, i##2) TIMES_4(F, i##3)
#define TIMES_64(F, i)  TIMES_16(F, i##0) TIMES_16(F, i##1) TIMES_16(F, i##2) TIMES_16(F, i##3)
#define TIMES_256(F, i) TIMES_64(F, i##0) TIMES_64(F, i##1) TIMES_64(F, i##2) TIMES_64(F, i##3)
#endif
