// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
bit<8> f<T>(in bit<8> x) { return x; }
void nothing<T>() {}
extern E<T> { E(); void m<U>(in U u); }
control C(inout bit<8> a) {
    E<bit<8>>() e;
    apply {
        nothing<NotDeclared>();
        a = f<Misspelt>(a);
        a = f<.Absent>(a) + 1;
        e.m<Nix>(a);
        a = f<Outer<Inner>>(a);
    }
}
