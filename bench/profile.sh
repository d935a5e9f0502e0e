#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# profile.sh KEY: where the time of forward64, switchml256, switchml64, atp, atp_worker, atp_server, dlcp_worker or dlcp_server goes, Silken's side alone:
# samples of perf by function, and by callgrind the instructions of a packet (exclusive, by function;
# callgrind knows no AVX-512, so there not). docs/performance.md has what came out, and when. Needs
# linux-perf and valgrind.
set -eu
BUILD=${BUILD:-build}
key=$1
folder=$BUILD/bench
program=$folder/benchmark
SILKEN_CACHE=$PWD/$BUILD/bench-cache
export SILKEN_CACHE
mkdir -p -m 700 "$SILKEN_CACHE"
# once without anybody looking, which also compiles the program
"$program" profile "$key" 3
echo
echo "samples"
perf record -q -e cpu-clock -F 8000 -o "$folder/$key.perf" "$program" profile "$key" 5 >/dev/null 2>&1
perf report -i "$folder/$key.perf" --stdio --no-children --sort symbol \
    --percent-limit 0.7 2>/dev/null | grep -v '^#' | grep -v '^$' || true
echo
echo "instructions"
valgrind --tool=callgrind --toggle-collect=profile_repeat --callgrind-out-file="$folder/$key.callgrind" \
    "$program" profile "$key" 0 >"$folder/$key.callgrind.log" 2>&1 || {
    tail -n 3 "$folder/$key.callgrind.log"
    exit 1
}
packets=$(sed -n 's/^\([0-9]*\) packets.*/\1/p' "$folder/$key.callgrind.log")
callgrind_annotate --auto=no --threshold=99 "$folder/$key.callgrind" | awk -v n="$packets" '
    /PROGRAM TOTALS/ { gsub(/,/, "", $1); printf "%9.1f  all, of a packet\n", $1 / n }
    # "1,234 (5.6%)  file.c:function [object]"; a function has a line for each file it has code from
    $1 ~ /^[0-9,]+$/ && !/TOTALS/ && match($0, /:[A-Za-z_][A-Za-z0-9_.]*( |$)/) {
        c = $1
        gsub(/,/, "", c)
        f = substr($0, RSTART + 1, RLENGTH - 1)
        sub(/ /, "", f)
        sum[f] += c / n
    }
    END { for (f in sum) if (sum[f] >= 1) printf "%9.1f  %s\n", sum[f], f }' | sort -rn
