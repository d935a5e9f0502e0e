#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs each fuzz target of build/fuzz/fuzzers for SECONDS_EACH seconds and prints "N passed, N
# failed". Corpora grow in build/fuzz/corpus, seeded from the files the tree has; what crashes a
# target, or takes it longer than TIMEOUT (10) seconds, is left in build/fuzz/crashes.
#   ONLY=word      only targets whose path below harness/ contains it
#   SEEDS=folders  P4 programs besides the tree's own (p4c's testdata/p4_16_samples, for one)
#   INCLUDE=folder where these find what they include (p4c's p4include)
# An hour of the compiler: make fuzz ONLY=fuzz_compile FUZZ_SECONDS=3600 SEEDS=... INCLUDE=...
set -u
seconds=${SECONDS_EACH:-60}
out=build/fuzz
mkdir -p $out/crashes
passed=0
failed=0

# Programs are fuzzed preprocessed, and without the text of their architecture: for it stands a
# first line "#arch NAME", and NAME.p4 is made here.
prepare_arch() {
    rm -rf $out/arch $out/marks
    mkdir -p $out/arch $out/marks
    for header in ${INCLUDE:+"$INCLUDE"/*.p4} p4/include/*.p4; do
        arch=$(basename "$header" .p4)
        case "$arch" in core | tna | t2na | v1model | psa | pna) ;; *) continue ;; esac
        cc -E -P -x assembler-with-cpp -undef -nostdinc -I p4/include ${INCLUDE:+-I "$INCLUDE"} \
            "$header" >"$out/arch/$arch.p4" 2>/dev/null
        # its macros stay for the program
        { cc -E -dM -x assembler-with-cpp -undef -nostdinc -I p4/include \
            ${INCLUDE:+-I "$INCLUDE"} "$header" | grep -v '__' && echo "__arch $arch"; } \
            >"$out/marks/$arch.p4" 2>/dev/null
        grep -q __arch "$out/marks/$arch.p4" || echo "__arch $arch" >"$out/marks/$arch.p4"
    done
}

p4_seed() { # FROM TO
    cc -E -P -x assembler-with-cpp -undef -nostdinc -I $out/marks -I p4/include \
        ${INCLUDE:+-I "$INCLUDE"} "$1" 2>/dev/null >"$2.tmp"
    arch=$(sed -n 's/^__arch //p' "$2.tmp" | grep -v core | head -n 1)
    [ -n "$arch" ] || arch=$(sed -n 's/^__arch //p' "$2.tmp" | head -n 1)
    { [ -z "$arch" ] || echo "#arch $arch"; grep -v '^__arch ' "$2.tmp"; } >"$2"
    rm -f "$2.tmp"
}

p4_seeds() { # FOLDER
    prepare_arch
    find p4 harness ${SEEDS:-} -name '*.p4' | grep -v '^p4/include/' | while read -r s; do
        p4_seed "$s" "$1/seed-$(echo "$s" | tr / _)"
    done
}

copies() { # FOLDER PATTERN
    for s in $(find p4 harness sim docs/learn ${SEEDS:-} -name "$2"); do cp "$s" "$1/seed-$(echo "$s" | tr / _)"; done
}

seed() { # TARGET FOLDER
    case "$1" in
        fuzz_front) copies "$2" '*.p4' ;;
        fuzz_compile | fuzz_check) p4_seeds "$2" ;;
        fuzz_stf) copies "$2" '*.stf' ;;
        fuzz_setting) for s in examples/compare/*.json; do cp "$s" "$2/seed-$(basename "$s")"; done ;;
        fuzz_config | fuzz_state | fuzz_job_file | fuzz_section) copies "$2" '*.json' ;;
        fuzz_dump) # a shell's, printed and shown, and of a switch's state
            cp harness/control/everything.state.json "$2/seed-state"
            printf -- '-----\n[{"table_name": "t", "action": "a", "key": {"x": 340282366920938463463374607431768211455, "y": [1, 255]}, "data": {"b": 2, "$ENTRY_TTL": 3}}]' >"$2/seed-shell"
            printf 'Out[1]: '"'"'[{"table_name": "r", "key": {"$REGISTER_INDEX": {"value": 1}}, "data": {"f": [1, 2], "is_default_entry": true}}]'"'"'' >"$2/seed-shown"
            printf '{"silken_twin": 1, "program": "p", "table": "t", "unread": "no"}' >"$2/seed-unread" ;;
        fuzz_reply) python3 harness/twin/fuzz_seeds.py "$2" ;;
        fuzz_client) # a reply in frames of HTTP/2 with a message, and a failure with details
            printf '\001\001\004\040\210\000\014content-type\020application/grpc\000\000\006\000\000\000\000\001x\001\005\040\000\013grpc-status\0010\000\014grpc-message\002ok' >"$2/seed-reply"
            printf '\001\001\004\040\210\000\014content-type\020application/grpc\001\005A\000\013grpc-status\0013\000\014grpc-message\005a%%0Ab\000\027grpc-status-details-bin\004AAEC' >"$2/seed-failure" ;;
        fuzz_capture) python3 harness/pcap/capture/fuzz_seeds.py "$2" ;;
        fuzz_memif) python3 harness/memif/fuzz_seeds.py "$2" ;;
        fuzz_http) # requests of the page, and a host that is half in brackets
            printf 'GET /trace?table=a%%2eb&a=%%41+x HTTP/1.1\r\nHost: a.example:1\r\nOrigin: http://a.example:1\r\nX-Silken: page\r\n\r\n' >"$2/seed-trace"
            printf 'GET / HTTP/1.1\nHost: [:80\n\n' >"$2/seed-bracket" ;;
        fuzz_frame) python3 harness/control/tor/fuzz_seeds.py "$2" ;;
        fuzz_packets | fuzz_brt | fuzz_p4rt | fuzz_rpc | fuzz_tor) # long ones: an order takes some 40 bytes
            for i in 1 2 3 4 5 6 7 8; do head -c 3000 /dev/urandom >"$2/seed-$i"; done
            # a message whose end comes late, and whose service sends on another call all that memory has left
            [ "$1" != fuzz_rpc ] ||
                { printf '\144\001\377\001\001\377\001\001\377\001' && printf '\016\001\001\000\001\004\000\016' &&
                    printf '\004\000\310\000\000\001\005\000\000\016\013\013\016\015\000\016\016\016'
                } >"$2/seed-late" ;;
        *) ;;
    esac
}

for source in $(find harness -name 'fuzz_*.c' | sort); do
    name=${source#harness/}
    name=${name%.c}
    target=$out/fuzzers/$name
    [ -x "$target" ] || continue
    case "$name" in *"${ONLY:-}"*) ;; *) continue ;; esac
    corpus=$out/corpus/$name
    mkdir -p "$corpus"
    seed "$(basename "$name")" "$corpus"
    log=$out/$name.log
    mkdir -p "$(dirname "$log")" "$(dirname "$out/crashes/$name")"
    if "$target" -max_total_time="$seconds" -timeout="${TIMEOUT:-10}" -rss_limit_mb=4096 -max_len=65536 \
        -artifact_prefix="$out/crashes/$name-" "$corpus" >"$log" 2>&1; then
        passed=$((passed + 1))
        verdict=ok
    else
        failed=$((failed + 1))
        verdict=FAILED
        grep -E 'ERROR|SUMMARY' "$log" | head -n 3
    fi
    printf '%-36s %6ss %12s runs  %s\n' "$name" "$seconds" \
        "$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log")" "$verdict"
done
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
