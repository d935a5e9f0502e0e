#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the program lets others see of it, and how it is hardened: compiled programs find what the headers of stages/
# and pipeline/ declare for them, DPDK's drivers what stands in for a function of the C library, and nobody anything
# else.
. harness/control/running.sh

exported() {
    nm -D --defined-only "$silken" | awk '$2 != "w" {print $3}' | grep -v '^_\|^data_start$' | sort >"$dir/exported"
}
declared() { # in the headers' regions for compiled programs, and for applications, whose library has the same objects
    for f in stages/*.h pipeline/*.h hosts/include/silken/*.h hosts/dpdk/dpdk.h; do
        sed -n '/^#pragma GCC visibility push(default)/,/^#pragma GCC visibility pop/p' "$f"
    done | grep -o 'sk_[a-z0-9_]*\|silken_[a-z0-9_]*' | sort -u >"$dir/declared"
    echo setsockopt >>"$dir/declared"
    sort -o "$dir/declared" "$dir/declared"
}
only_declared() {
    exported && declared && [ "$(wc -l <"$dir/exported")" -gt 20 ] && comm -23 "$dir/exported" "$dir/declared" >"$dir/more"
    cat "$dir/more"
    [ ! -s "$dir/more" ]
}
calls() { # PROGRAM: what it needs of ours is there
    exported
    SILKEN_CACHE=$dir "$silken" build "$1" -o "$dir/p.so" && nm -D --undefined-only "$dir/p.so" | awk '{print $2}' |
        grep '^sk_' | sort >"$dir/needed"
    [ -s "$dir/needed" ] && [ -z "$(comm -13 "$dir/exported" "$dir/needed")" ]
}
hardened() { # TEXT
    readelf -Wdlh "$silken" | grep -q "$1"
}

check 'nothing else is exported' only_declared
check 'what a program calls is' calls p4/l2/l2.p4
check 'as is the stand-in' says ' setsockopt' nm -D --defined-only "$silken"
check 'position independent' hardened 'Flags: NOW PIE'
check 'relocations are read-only' hardened GNU_RELRO
check 'the stack is protected' says '__stack_chk_fail' nm -D "$silken"
check 'and functions of the C library are checked' says '__snprintf_chk' nm -D "$silken"

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
