#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs the benchmarks one after another, each a process of its own with a limit on its time, and
# writes $BUILD/bench.json and a table.
#   BUILD     the build folder (default build)
#   ONLY      keys to run (forward64, switchml256, ...: bench/bench.h has the list), with blanks
#             between them (default all); results of other keys that are there from before stay in
#             the file, as they were
#   SECONDS_EACH   how long each key should measure (default: its own)
set -u
BUILD=${BUILD:-build}
folder=$BUILD/bench
program=$folder/benchmark
all=$("$program" keys) || exit 1
BENCH_COMMIT=$(git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
SILKEN_CACHE=$PWD/$BUILD/bench-cache
export BENCH_COMMIT SILKEN_CACHE
mkdir -p -m 700 "$SILKEN_CACHE"

for key in ${ONLY:-}; do
    # shellcheck disable=SC2086,SC2116 # one line of words
    case " $(echo $all) " in *" $key "*) ;; *)
        echo "there is no key '$key'; see bench/run.sh" >&2
        exit 2
        ;;
    esac
done
seconds_of() {
    case "$1" in
        forward64) echo 30 ;;
        allreduce | allreduce_1k) echo 75 ;;
        replay) echo 30 ;;
        *) echo 15 ;;
    esac
}
status=0
# Peers that are not there are errors of their own fields: what we have is measured all the same.
sh harness/deps.sh bench >"$folder/deps.log" 2>&1 ||
    echo "packages of some peers are missing: $(tail -n 1 "$folder/deps.log")" >&2
sh bench/swx_headers.sh "$folder" >"$folder/swx_headers.log" 2>&1 ||
    echo "no headers for SWX's generated code: see $folder/swx_headers.log" >&2
mkdir -p "$folder/allreduce"
for peer in reduce_mpi reduce_gloo; do
    ${MAKE:-make} -s BUILD="$BUILD" "$folder/$peer" >"$folder/$peer.log" 2>&1 ||
        echo "$peer does not build: see $folder/$peer.log" >&2
done
for key in ${ONLY:-$all}; do
    seconds=${SECONDS_EACH:-$(seconds_of "$key")}
    echo "measuring $key, about $seconds seconds" >&2
    rm -f "$folder/$key.json"
    timeout -k 5 $((seconds * 3 + 60)) "$program" measure "$key" "$seconds" "$folder" \
        >"$folder/$key.log" 2>&1 </dev/null || {
        echo "$key failed: $(tail -n 1 "$folder/$key.log")" >&2
        status=1
    }
done
present=
for key in $all; do
    # shellcheck disable=SC2086,SC2116
    case " $(echo ${ONLY:-$all}) " in
        *" $key "*) present="$present $key" ;;
        *) [ -f "$folder/$key.json" ] && present="$present $key" ;;
    esac
done
# shellcheck disable=SC2086
"$program" collect "$folder" "$BUILD/bench.json" $present || status=1
echo "written to $BUILD/bench.json" >&2
exit $status
