#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# --target: which Tofino a program is compiled for. Where it includes t2na.p4 that is known, and the option has
# to agree; a program that asks the macro gets what the option says.
set -u
silken=${BUILD:-build}/silken
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
passed=0
failed=0

check() { # NAME EXPECTED-STATUS PATTERN COMMAND...
    name=$1
    want=$2
    pattern=$3
    shift 3
    "$@" >"$dir/out" 2>&1 </dev/null
    got=$?
    if [ $got -eq "$want" ] && { [ -z "$pattern" ] || grep -q -- "$pattern" "$dir/out"; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$name: status $got, wanted $want and '$pattern':"
        cat "$dir/out"
    fi
}

sed '/^#include <tna.p4>/d; s/^#include <core.p4>/#include <core.p4>\
#if __TARGET_TOFINO__ == 2\
#include <t2na.p4>\
#else\
#include <tna.p4>\
#endif/' harness/compiler/lower/refused/shapes.p4 >/dev/null # the shape of such programs

cat >"$dir/either.p4" <<'EOF'
#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif
header t_h { bit<8> chip; bit<8> qid_bits; bit<96> rest; }
struct headers_t { t_h t; }
struct none_t {}
parser IP(packet_in pkt, out headers_t hdr, out none_t md, out ingress_intrinsic_metadata_t ig_intr_md) {
    state start { pkt.extract(ig_intr_md); pkt.advance(PORT_METADATA_SIZE); pkt.extract(hdr.t); transition accept; }
}
control I(inout headers_t hdr, inout none_t md, in ingress_intrinsic_metadata_t ig_intr_md,
          in ingress_intrinsic_metadata_from_parser_t ig_prsr_md,
          inout ingress_intrinsic_metadata_for_deparser_t ig_dprsr_md,
          inout ingress_intrinsic_metadata_for_tm_t ig_tm_md) {
    apply {
        ig_tm_md.ucast_egress_port = 1;
        hdr.t.chip = __TARGET_TOFINO__;
        hdr.t.qid_bits = (bit<8>)ig_tm_md.qid.minSizeInBits();
    }
}
control ID(packet_out pkt, inout headers_t hdr, in none_t md, in ingress_intrinsic_metadata_for_deparser_t d) {
    apply { pkt.emit(hdr); }
}
parser EP(packet_in pkt, out none_t hdr, out none_t md, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); transition accept; }
}
control E(inout none_t hdr, inout none_t md, in egress_intrinsic_metadata_t eg,
          in egress_intrinsic_metadata_from_parser_t a, inout egress_intrinsic_metadata_for_deparser_t b,
          inout egress_intrinsic_metadata_for_output_port_t c) { apply {} }
control ED(packet_out pkt, inout none_t hdr, in none_t md, in egress_intrinsic_metadata_for_deparser_t d) { apply {} }
Pipeline(IP(), I(), ID(), EP(), E(), ED()) pipe;
Switch(pipe) main;
EOF
# The architecture of a Tofino 2, whatever is asked for.
sed '/^#if/d; /^#else/,/^#endif/d' "$dir/either.p4" >"$dir/two.p4"
# That of a Tofino 1: with the other chip's widths.
sed '/^#if/,/^#else/d; /^#endif/d' "$dir/either.p4" >"$dir/one.p4"
for chip in 1 2; do
    [ $chip = 1 ] && bits=05 || bits=07
    echo "packet 0 0000 eeeeeeeeeeeeeeeeeeeeeeee
expect 1 0$chip$bits eeeeeeeeeeeeeeeeeeeeeeee" >"$dir/$chip.stf"
done
wrong='this program includes t2na.p4, so it is written for a Tofino 2'

check 'asked for nothing' 0 'PASS' "$silken" test "$dir/either.p4" "$dir/1.stf"
check 'asked for the first' 0 'PASS' "$silken" test --target tofino1 "$dir/either.p4" "$dir/1.stf"
check 'asked for the second' 0 'PASS' "$silken" test --target tofino2 "$dir/either.p4" "$dir/2.stf"
check 'by the macro' 0 'PASS' "$silken" test -D __TARGET_TOFINO__=2 "$dir/either.p4" "$dir/2.stf"
check 'its architecture says it' 0 'PASS' "$silken" test "$dir/two.p4" "$dir/2.stf"
check 'both say it' 0 'PASS' "$silken" test --target tofino2 "$dir/two.p4" "$dir/2.stf"
check 'they disagree (test)' 2 "$wrong" "$silken" test --target tofino1 "$dir/two.p4" "$dir/2.stf"
check 'they disagree (build)' 1 "$wrong" "$silken" build --target tofino1 "$dir/two.p4"
check 'they disagree (check)' 2 "$wrong" "$silken" check --target tofino1 "$dir/two.p4"
check 'a Tofino 2 under tna.p4' 0 'PASS' "$silken" test --target tofino2 "$dir/one.p4" "$dir/2.stf"
check 'build' 0 '' "$silken" build --target tofino2 "$dir/either.p4" -o "$dir/either.so"
check 'explain' 0 'PORT_METADATA\|port 1' "$silken" explain --target tofino2 "$dir/either.p4" \
    0000eeeeeeeeeeeeeeeeeeeeeeee
check 'schema' 0 'ROPERTIES\|properties' "$silken" schema --target tofino2 "$dir/either.p4"
for command in build test check replay explain schema run; do
    check "$command: none of them" 2 "silken $command: --target takes tofino1 or tofino2, not 'tofino3'" \
        "$silken" $command --target tofino3 "$dir/either.p4" "$dir/1.stf"
done
printf '{"program": "two.p4", "ports": []}' >"$dir/config.json"
check 'run' 2 "$wrong" "$silken" run --target tofino1 -c "$dir/config.json"

printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
