// One constant an expression; the dump shows how it was understood.
header H { bit<8> a; }
struct S { H h; bit<8> x; }
enum E { A }
extern T f<T>(in T x);
extern X { X(bit<8> n); bit<8> get<T>(in T v); }
const int a0 = 1 + 2 * 3 - 4;
const int a1 = (1 + 2) * 3 << 1 + 1;
const bool a2 = 1 & 3 == 1 || !true && false;
const bool a3 = 1 | 2 < 3 ^ 4;
const int a4 = true ? 1 : false ? 2 : 3;
const bit<16> a5 = 8w1 ++ 8w2 + 8w3;
const int a6 = -1 - -2 + +3;
const bit<8> a7 = ~8w0 & (8w3 |+| 8w4 |-| 1);
const bit<8> a8 = (bit<8>) 5 + 1;
const bit<8> a9 = ((bit<16>) a5)[7:0];
const bit<4> b0 = a5[3:0][3:2];
const bit<4> b1 = a5[4 +: 4];
const int b2 = 16 >> 2 >> 1;
const bool b3 = 1 < 2 == 3 > 4;
const S b4 = {{1}, 2};
const S b5 = {h = {a = 1}, x = 2};
const S b6 = (S) {h = {#}, ...};
const S b7 = {h = {#}, x = 1,};
const S b8 = {...};
const bit<8> b9 = f<bit<8>>(3);
const bool c0 = f<bit<8>>(3) < 4;
const bit<8> c1 = f((bit<8>) 3);
const bit<8> c2 = .f<.S>(b4).h.a;
const E c3 = E.A;
const error c4 = error.NoError;
const bit<8> c5 = X(3).get<tuple<bit<8>, list<bit<8>>>>({1, {}});
const int c6 = 1_000 + 0xFF_ff + 0b1010 + 0o17 + 0d9 + 8w0xff + 4s7 + 16w0b1;
const string c7 = "a \"quoted\" \\ string\n";
const bool c8 = b4.isValid() && b4 != b5;
const bit<8> c9 = a5 <= 1 ? 1 : 2;
const bool d0 = a0 < a1 && a1 > (a2);
const int d1 = (a0) - 1;
const int d2 = (a0)(1);
const tuple<bit<8>, bool> d3 = {1, true,};
const bit<8> d4 = {1, 2}[0];
const int d5 = 123456789012345678901234567890;
const bit<(8 >> 1)> d6 = 1;
const bit<a0 + 1> d7 = 1;
const S[2] d8 = {{}, {}};
