#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# ovs.sh DIR: builds Open vSwitch's library out of Debian's source package (openvswitch-source), which no
# package has as a library, into DIR: DIR/libopenvswitch.a, and headers below DIR/src. Takes about a minute and
# a half on two processors; an unfinished one is begun anew. It is the same library whatever else is installed on the
# machine: each optional library that its configure looks for is refused, and that it needs nothing but libc and
# libm is checked when it is there. Its symbols are not exported by what is linked with it.
#
# ovs.sh --check ARCHIVE: only that check.
set -eu

# Linked as a whole, with libc and libm.
lacks_nothing() { # ARCHIVE FOLDER
    cc -shared -o "$2/linked.so" -Wl,-z,defs -Wl,--whole-archive "$1" -Wl,--no-whole-archive -lm -pthread \
        >"$2/linked.log" 2>&1 && { rm -f "$2/linked.so" "$2/linked.log"; return 0; }
    missing=$(sed -n "s/.*undefined reference to .\([A-Za-z0-9_]*\).*/\1/p" "$2/linked.log" | sort -u | head -5 | tr '\n' ' ')
    echo "error: Open vSwitch's library needs what neither libc nor libm has: ${missing:-$(head -1 "$2/linked.log")}" >&2
    return 1
}

if [ "$1" = --check ]; then
    folder=$(mktemp -d)
    status=0
    lacks_nothing "$2" "$folder" || status=1
    rm -rf "$folder"
    exit $status
fi
out=$1
package=/usr/src/openvswitch/openvswitch.tar.gz
[ -r "$package" ] || { echo "error: $package is missing (package openvswitch-source)" >&2; exit 1; }
mkdir -p "$out"
out=$(cd "$out" && pwd)
log=$out/build.log
rm -rf "$out/src" "$out/libopenvswitch.a"
mkdir "$out/src"
tar -xzf "$package" -C "$out/src" --strip-components=1 --no-same-owner
cd "$out/src"
# A make above us passes on flags and variables of its own.
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD SANITIZE V Q CC CFLAGS CPPFLAGS LDFLAGS LIBS
export CONFIG_SITE=/dev/null
python=/usr/bin/python3
{
    # there are no options for these: name resolution, stacks by libunwind, valgrind's marks
    ac_cv_lib_unbound_ub_ctx_create=no ac_cv_lib_unwind_unw_backtrace=no ac_cv_header_libunwind_h=no \
        ac_cv_header_valgrind_valgrind_h=no \
        ./configure PYTHON3=$python CFLAGS='-O2 -g0 -fPIC -fvisibility=hidden -fstack-protector-strong -w' --disable-ssl \
        --disable-libcapng --disable-afxdp --disable-usdt-probes --without-dpdk --enable-static --disable-shared \
        --disable-dependency-tracking
    # what make has from "all": sources that are generated
    for list in BUILT_SOURCES OVSIDL_BUILT; do
        sed -n "/^$list = /,/[^\\\\]\$/p" Makefile
    done | tr -d '\\' | tr ' \t' '\n\n' | grep -E '^(lib|include|ofproto)/' >generated
    make -j"$(nproc)" $(cat generated)
    make -j"$(nproc)" lib/libopenvswitch.la
} >"$log" 2>&1 </dev/null || { tail -20 "$log" >&2; echo "error: Open vSwitch's library could not be built ($log)" >&2; exit 1; }
lacks_nothing lib/.libs/libopenvswitch.a "$out" || exit 1
mv lib/.libs/libopenvswitch.a "$out/libopenvswitch.a.tmp"
find . -type f ! -name '*.h' -delete
mv "$out/libopenvswitch.a.tmp" "$out/libopenvswitch.a"
