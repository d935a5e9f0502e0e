#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs each fuzz target of build/fuzz/fuzzers for SECONDS_EACH seconds (ONLY=word: only those whose
# name contains it) and prints "N passed, N failed". Corpora grow in build/fuzz/corpus, seeded from
# the files the tree has; what crashes a target is left in build/fuzz/crashes.
set -u
seconds=${SECONDS_EACH:-60}
out=build/fuzz
mkdir -p $out/crashes
passed=0
failed=0

seeds() { # the kind of file a target reads
    case "$1" in
        fuzz_front) find p4 harness -name '*.p4' ;;
        fuzz_stf) find harness -name '*.stf' ;;
        fuzz_config) find harness -name '*.json' ;;
        *) ;;
    esac
}

for target in $out/fuzzers/*/fuzz_*; do
    [ -x "$target" ] || continue
    name=$(basename "$target")
    case "$name" in *"${ONLY:-}"*) ;; *) continue ;; esac
    corpus=$out/corpus/$name
    mkdir -p "$corpus"
    for s in $(seeds "$name"); do cp "$s" "$corpus/seed-$(echo "$s" | tr / _)"; done
    log=$out/$name.log
    if "$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=65536 \
        -artifact_prefix="$out/crashes/$name-" "$corpus" >"$log" 2>&1; then
        passed=$((passed + 1))
        verdict=ok
    else
        failed=$((failed + 1))
        verdict=FAILED
        grep -E 'ERROR|SUMMARY' "$log" | head -n 3
    fi
    printf '%-24s %6ss %12s runs  %s\n' "$name" "$seconds" \
        "$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log")" "$verdict"
done
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
