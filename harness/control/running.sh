# SPDX-License-Identifier: Apache-2.0
#
# running: what tests of a running switch share; read by them with '.'. Makes $dir, which goes when
# the test ends, and with it the processes in $pid and $listener; counts in $passed and $failed.
set -u
BUILD=${BUILD:-build}
silken=$PWD/$BUILD/silken
PYTHONPATH=$PWD/harness/pcap # captures.py
export PYTHONPATH
dir=$(mktemp -d)
passed=0
failed=0
pid=
listener=
trap 'kill $pid $listener 2>/dev/null; rm -rf "$dir"' EXIT

ctl() {
    "$silken" ctl -s "$dir/s.sock" "$@"
}
check() { # NAME COMMAND...: passes when the command does
    name=$1
    shift
    if "$@" >"$dir/out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        cat "$dir/out"
    fi
}
says() { # TEXT COMMAND...: the command's output has the text, whatever its status
    text=$1
    shift
    "$@" >"$dir/said" 2>&1
    grep -qF -- "$text" "$dir/said" || { cat "$dir/said"; return 1; }
}
refuses() { # TEXT COMMAND...: it fails with that text
    text=$1
    shift
    "$@" >"$dir/said" 2>&1 && return 1
    grep -qF -- "$text" "$dir/said" || { cat "$dir/said"; return 1; }
}
start() { # OPTION...: a switch as $dir/c.json has it
    rm -f "$dir/log" # of the switch before, which was ready
    "$silken" run -c "$dir/c.json" "$@" >"$dir/log" 2>&1 &
    pid=$!
    for _ in $(seq 1200); do
        grep -qs '^ready' "$dir/log" && return 0
        kill -0 $pid 2>/dev/null || break
        sleep 0.1
    done
    cat "$dir/log"
    return 1
}
stop() {
    kill -TERM $pid
    wait $pid
}
