#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# ovs.sh DIR: builds Open vSwitch's library out of Debian's source package (openvswitch-source), which no
# package has as a library, into DIR: DIR/libopenvswitch.a, and headers below DIR/src. Takes about a minute and
# a half on two processors; an unfinished one is begun anew. Of what it could depend on it gets nothing: no TLS,
# no name resolution, no AF_XDP.
set -eu
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
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD CFLAGS SANITIZE V Q
python=/usr/bin/python3
{
    ac_cv_lib_unbound_ub_ctx_create=no ./configure PYTHON3=$python CFLAGS='-O2 -g0 -fPIC -w' --disable-ssl \
        --disable-libcapng --disable-afxdp --enable-static --disable-shared --disable-dependency-tracking
    # what make has from "all": sources that are generated
    for list in BUILT_SOURCES OVSIDL_BUILT; do
        sed -n "/^$list = /,/[^\\\\]\$/p" Makefile
    done | tr -d '\\' | tr ' \t' '\n\n' | grep -E '^(lib|include|ofproto)/' >generated
    make -j"$(nproc)" $(cat generated)
    make -j"$(nproc)" lib/libopenvswitch.la
} >"$log" 2>&1 </dev/null || { tail -20 "$log" >&2; echo "error: Open vSwitch's library could not be built ($log)" >&2; exit 1; }
mv lib/.libs/libopenvswitch.a "$out/libopenvswitch.a.tmp"
find . -type f ! -name '*.h' -delete
mv "$out/libopenvswitch.a.tmp" "$out/libopenvswitch.a"
