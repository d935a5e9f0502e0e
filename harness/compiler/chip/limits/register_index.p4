// SPDX-License-Identifier: Apache-2.0
// refused: register-index
// Two registers in an action at two indices: a table gives its stateful ALUs one address.
#include "common.p4"

#define COUNT(name, of)                                                                            \
    RegisterAction<bit<32>, bit<16>, bit<32>>(of) name = {                                         \
        void apply(inout bit<32> value, out bit<32> rv) {                                          \
            value = value + 1;                                                                     \
            rv = value;                                                                            \
        }                                                                                          \
    };

INGRESS {
    Register<bit<32>, bit<16>>(1024) ones;
    Register<bit<32>, bit<16>>(1024) others;
    COUNT(count_one, ones)
    COUNT(count_other, others)

    action both() {
        hdr.num.e = count_one.execute(hdr.num.c);
#ifdef OVER
        count_other.execute(hdr.num.d); // here
#else
        count_other.execute(hdr.num.c);
#endif
    }
    table t {
        key = { hdr.num.a : exact; }
        actions = { both; @defaultonly NoAction; }
        const default_action = NoAction;
        size = 64;
    }
    apply {
        t.apply();
    }
}

MAIN
