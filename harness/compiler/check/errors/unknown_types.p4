// SPDX-License-Identifier: Apache-2.0
struct s_t {
    bit<8> a;
    bit<8> b;
}
struct error_t {
    error e;
}
header h_t {
    s_t good;
    bit<8>[4] numbers;
}
header g_t<T> {
    T x;
}
struct stacks_t {
    h_t[2] hs;
}
typedef g_t<stacks_t> bad_t;
extern E<T> {
    E();
    void f(in T x);
    abstract int g();
}
extern W {
    void W();
}
extern void take<T>(in T x);
extern L {
    L(list<bit<8>> numbers = ...);
}
extern Plain {
    Plain();
}
Plain() plain = {
    void f() {}
};
control C(inout bit<8> x)(@optional bit<8> y, bit<8> size) {
    E<_>() e = {
        bit<8> g() {
            return 1;
        }
    };
    apply {
        bool same = { a = 1, b = 2 } == { a = 1, b = 2 };
        take({ a = x, b = x });
        take("text");
        e.f(0);
        x = x / -1;
        x = -5 % x;
        h_t[size] hs;
        bit<(size)> w;
        bit<8> x = 0;
        bit<8> wide = 0w0;
    }
}
