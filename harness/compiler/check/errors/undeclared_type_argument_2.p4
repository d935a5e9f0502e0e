// SPDX-License-Identifier: Apache-2.0
#include <core.p4>
extern E<T> { E(); void m<U>(in U u); }
control C(inout bit<8> a) {
    E<Nix>() e;
    apply {
        bool b = a < Unknown;
        b = a < Unknown && Other > (a);
    }
}
