#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Open vSwitch's library (control/tor/ovs.sh) is the same whatever is installed on the machine, and it is noticed when
# it is not.
. harness/control/running.sh

archive() { # NAME C-TEXT
    echo "$2" >"$dir/$1.c" && cc -fPIC -c -o "$dir/$1.o" "$dir/$1.c" && ar rc "$dir/$1.a" "$dir/$1.o"
}
archive good 'double pow(double, double); double f(double x) { return pow(x, x); }'
archive bad 'int _ULx86_64_step(void *); int f(void *p) { return _ULx86_64_step(p); }'
check 'what was built needs nothing else' sh control/tor/ovs.sh --check build/ovs/libopenvswitch.a
check 'libc and libm may be needed' sh control/tor/ovs.sh --check "$dir/good.a"
check 'another library may not' refuses "needs what neither libc nor libm has: _ULx86_64_step" \
    sh control/tor/ovs.sh --check "$dir/bad.a"
for name in HAVE_UNWIND HAVE_UNBOUND HAVE_LIBCAPNG HAVE_OPENSSL HAVE_AF_XDP DPDK_NETDEV HAVE_VALGRIND_VALGRIND_H \
    HAVE_USDT_PROBES; do
    check "$name is not set" sh -c "! grep -q '^#define $name ' build/ovs/src/config.h"
done

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
