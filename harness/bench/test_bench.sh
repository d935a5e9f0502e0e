#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The benchmarks' program: keys that need no peers, for a moment each. Whether what comes out is what
# docs/performance.md says, not how much it is.
set -u
BUILD=${BUILD:-build}
benchmark=$PWD/$BUILD/bench/benchmark
dir=$(mktemp -d)
passed=0
failed=0
trap 'rm -rf "$dir"' EXIT

check() { # WHAT COMMAND...
    what=$1
    shift
    if "$@" >"$dir/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL: $what"
        cat "$dir/said"
    fi
}

keys='switchml64 scalar atp latency worker atp_worker atp_server pipes'
for key in $keys; do
    check "$key is measured" timeout 300 "$benchmark" measure "$key" 0.5 "$dir"
done
check "a key that is none" sh -c "! $benchmark measure bogus 0.5 $dir"
# shellcheck disable=SC2086
check "results are collected" "$benchmark" collect "$dir" "$dir/all.json" $keys forward64
cat >"$dir/fields.py" <<'EOF'
import json, sys
all = json.load(open(sys.argv[1]))
want = {
    "switchml64": ["ns_per_packet", "mpps", "gbps", "ideal_ns_per_packet", "ratio_ideal"],
    "scalar": ["ns_per_packet", "ratio_scalar"],
    "atp": ["ns_per_packet", "gbps", "ideal_ns_per_packet", "ratio_ideal"],
    "latency": ["p50_ns", "p99_ns", "p999_ns", "low_p50_ns", "high_p99_ns", "ports_low_p50_ns", "ports_p50_ns", "ports_high_p99_ns",
                "switchml256_p50_ns"],
    "worker": ["bytes_per_second", "gbps", "ns_per_packet"],
    "atp_worker": ["ns_per_packet", "mpps", "gbps", "tensor_gbps"],
    "atp_server": ["ns_per_packet", "mpps", "gbps", "partial_ns_per_packet", "single_ns_per_packet"],
    "pipes": ["mpps_1_pipe_1_core", "mpps_2_pipes_1_core", "scaling_1_core",
              "mpps_2_pipes_1_core_crossing"],
}
bad = 0
for key, fields in want.items():
    for field in fields:
        # a machine with no time to spare may disturb every packet that is timed
        told = field in all[key].get("errors", {}) and key == "latency"
        if not told and not (all[key].get(field, 0) > 0 and field in all[key]["spread"]):
            print(key, field, "is missing")
            bad = 1
a = all["switchml64"]
if abs(a["ns_per_packet"] * a["mpps"] / 1000 - 1) > 0.5:
    print("ns and Mpps contradict each other")
    bad = 1
# 308 bytes of frame and 24 around it
if abs(a["gbps"] / a["mpps"] - 332 * 8 / 1000) > 0.01:
    print("Gbps and Mpps contradict each other")
    bad = 1
if "all" not in all["forward64"]["errors"] or "commit" not in all["about"]:
    print("what was not measured is not an error")
    bad = 1
sys.exit(bad)
EOF
check "all fields are there" python3 "$dir/fields.py" "$dir/all.json"
printf '%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
