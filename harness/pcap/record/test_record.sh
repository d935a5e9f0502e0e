#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Recording a running switch: everything once, in order, with what became of it; a ring of files; what
# goes wrong (full disk, bad paths, two at once, clients and switches that go away) and harms nobody.
. harness/control/running.sh
. harness/control/frames.sh
program=$PWD/p4/l2/l2.p4
recorder=
trap 'kill $pid $recorder $listener 2>/dev/null; rm -rf "$dir"' EXIT

holds() { # FILE EXPRESSION: is True of a recording
    [ "$(python3 harness/pcap/captures.py "$1" "$2" 2>"$dir/holds")" = True ] ||
        { python3 harness/pcap/captures.py "$1" "(len(p), s, p[:3])"; cat "$dir/holds"; return 1; }
}
record() { # OPTION...
    "$silken" record -s "$dir/s.sock" "$@"
}
alive() {
    kill -0 $pid
}
wait_for() { # COMMAND...: within some seconds
    for _ in $(seq 100); do
        "$@" && return 0
        sleep 0.05
    done
    return 1
}
# libpcap reads the same packets as our reader, which the other checks compare with what was sent.
judged() { # FILE...
    "$BUILD/tools/judge" "$@" >"$dir/judged" 2>&1 && [ "$(grep -c ': alike, ' "$dir/judged")" = $# ] ||
        { cat "$dir/judged"; return 1; }
}
older() { # FILE: has what it had before anything was recorded
    cmp "$1" "$dir/older"
}
python3 -c "
import sys
from captures import section
sys.stdout.buffer.write(section(['port-0'], [(1, bytes(60), 0, 1)]))" >"$dir/older"
cp "$dir/older" "$dir/old.pcapng"

# ---- from the first packet: a switch that plays captures ----
pcap "$dir/in.pcap" 1:60x300 2:100x20 3:77x50 1:1500x200 9:60x10
cat >"$dir/c.json" <<END2
{"program": "$program", "control_socket": "$dir/s.sock",
 "record": {"file": "run.pcapng"},
 "ports": [{"port": 0, "device": "net_pcap0,rx_pcap=$dir/in.pcap,tx_pcap=$dir/back.pcap", "name": "left"},
           {"port": 5, "device": "net_pcap1,rx_pcap=$none,tx_pcap=$dir/out.pcap"}],
 "entries": [{"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"}, "action": "send", "args": {"port": 5}},
             {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:02"}, "action": "send", "args": {"port": 0}},
             {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:03"}, "action": "drop"},
             {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:09"}, "action": "send", "args": {"port": 9}}]}
END2
check 'starts, recording' start
check 'all received' becomes 580 stats 'r["rx_packets"]'
check 'a second recorder is refused' refuses 'the switch is recording already' \
    record --out "$dir/second.pcapng" --duration 1
check 'ends, all accounted for' stop
check 'says what it recorded' says 'recorded 580 received + 520 sent, 60 dropped; 1 file' cat "$dir/log"
f=$dir/run.pcapng
check 'libpcap reads it' judged "$f"
check 'what came in' holds "$f" "[x.data for x in p if x.direction == 'in'] == frames('$dir/in.pcap')"
check 'what went out' holds "$f" \
    "[x.data for x in p if x.direction == 'out' and x.port == 5] == frames('$dir/out.pcap')"
check 'what went back' holds "$f" \
    "[x.data for x in p if x.direction == 'out' and x.port == 0] == frames('$dir/back.pcap')"
check 'in the order of time' holds "$f" "all(a.time <= b.time for a, b in zip(p, p[1:]))"
check 'with dates' holds "$f" "0 <= $(date +%s.%N) - p[0].time / 1e9 < 60"
check 'dropped by the program' holds "$f" \
    "[x.comment for x in p if x.data[5] == 3] == 50 * ['silken drop: drop_ctl in ingress, port 0']"
check 'dropped by the engine' holds "$f" \
    "[x.comment for x in p if x.data[5] == 9] == 10 * ['silken drop: port not configured or down, port 9']"
check 'nothing else is dropped' holds "$f" "sum(x.comment != '' for x in p) == 60"
check 'records of a packet belong together' holds "$f" \
    "all(len({x.data for x in p if x.id == i}) == 1 for i in (1, 2, 300, 580))"
check 'statistics' holds "$f" "s == {0: (600, 0), 5: (500, 0)}"
check 'the configuration beside it' python3 -c "
import json
c = json.load(open('$dir/run.config.json'))
assert c['program'] == '$program' and 'record' not in c and 'control_socket' not in c
assert len(c['entries']) == 4 and c['clock'] > 1e18"
check 'one line of what cannot be' refuses "cannot write $dir/no/such.pcapng" \
    "$silken" run -c "$dir/c.json" --record "$dir/no/such.pcapng"
sed 's|"file": "run.pcapng"|"file": "run.pcapng", "files": 3|' "$dir/c.json" >"$dir/bad.json"
check 'a bad configuration' refuses 'it needs "file_size"' "$silken" run -c "$dir/bad.json"
sed 's|"file": "run.pcapng"|"file": "run.pcapng", "ports": [0, 7]|' "$dir/c.json" >"$dir/bad.json"
runs() { # OPTION...: not for long, where it should have refused
    timeout 20 "$silken" run "$@"
}
check 'a port it has not' refuses 'record.ports[1]: the switch has no port 7' \
    runs -c "$dir/bad.json"
sed 's|net_pcap1|net_pacp1|' "$dir/c.json" >"$dir/bad.json"
check 'a device that cannot be opened' refuses "cannot open device 'net_pacp1" \
    runs -c "$dir/bad.json" --record "$dir/old.pcapng"
check 'leaves an older recording' older "$dir/old.pcapng"
check 'and makes none' test ! -e "$dir/old.config.json"
mkdir "$dir/beside.config.json"
cp "$dir/older" "$dir/beside.pcapng"
check 'no configuration beside it' refuses "cannot write $dir/beside.config.json: Is a directory" \
    runs -c "$dir/c.json" --record "$dir/beside.pcapng"
check 'leaves it, too' older "$dir/beside.pcapng"
apart() { # RECORDING OVER [CONFIG]: such a recording is refused, and nothing is changed
    cp "$2" "$dir/before" &&
        refuses 'recording would overwrite' runs -c "$dir/${3:-own.json}" --record "$1" &&
        cmp "$2" "$dir/before"
}
cp "$program" "$dir/own.p4"
sed "s|$program|own.p4|; s|run.pcapng|own.json|" "$dir/c.json" >"$dir/own.json"
cp "$dir/own.json" "$dir/m.config.json"
ln -s own.json "$dir/link.pcapng"
ln "$dir/own.json" "$dir/hard.pcapng"
check 'not over its configuration' apart "$dir/own.json" "$dir/own.json"
check 'not by another path' apart "$dir/../$(basename "$dir")/own.json" "$dir/own.json"
check 'not by a symbolic link' apart "$dir/link.pcapng" "$dir/own.json"
check 'not by a hard link' apart "$dir/hard.pcapng" "$dir/own.json"
check 'not as the configuration says' refuses 'recording would overwrite' \
    runs -c "$dir/own.json"
check 'not with the configuration beside it' apart "$dir/m.pcapng" "$dir/m.config.json" m.config.json
check 'and without a recording' test ! -e "$dir/m.pcapng"
check 'not over its program' apart "$dir/own.p4" "$dir/own.p4"
kept() { # TEXT FILE COMMAND...: it is refused with that text, and the file is as it was
    cp "$2" "$dir/before" && said=$1 file=$2 && shift 2 && refuses "$said" "$@" && cmp "$file" "$dir/before"
}
echo 'what somebody wrote' >"$dir/notes.pcapng"
: >"$dir/other.pcapng"
echo '{"program": "x.p4"}' >"$dir/other.config.json"
check 'not over what is no recording' kept 'notes.pcapng exists and is not a recording' "$dir/notes.pcapng" \
    runs -c "$dir/c.json" --record "$dir/notes.pcapng"
check 'nor over a program' kept 'exists and is not a recording' "$dir/own.p4" runs -c "$dir/c.json" --record "$dir/own.p4"
check 'nor over what a device reads' kept "used by port 0's device" "$dir/in.pcap" \
    runs -c "$dir/c.json" --record "$dir/in.pcap"
check 'nor writes' refuses "used by port 5's device" runs -c "$dir/c.json" --record "$dir/out.pcap"
check 'nor is to write' sh -c "rm '$dir/out.pcap'; '$silken' run -c '$dir/c.json' --record '$dir/out.pcap' 2>&1 |
    grep -q \"used by port 5's device\""
check 'nor a configuration beside it' kept 'exists and does not belong to a recording' "$dir/other.config.json" \
    runs -c "$dir/c.json" --record "$dir/other.pcapng"
sed 's|"file": "run.pcapng"|"file": "/dev/null", "file_size": 1|' "$dir/c.json" >"$dir/bad.json"
check 'a ring needs files' refuses '/dev/null is not a file: a ring needs files' runs -c "$dir/bad.json"
locked() { # FILE COMMAND...: while somebody else records into the file
    python3 -c "
import fcntl, subprocess, sys
f = open(sys.argv[1], 'rb')
fcntl.flock(f, fcntl.LOCK_EX)
sys.exit(subprocess.call(sys.argv[2:]))" "$@"
}
check 'nor where another switch records' kept 'is in use by another recording' "$dir/old.pcapng" \
    locked "$dir/old.pcapng" timeout 20 "$silken" run -c "$dir/c.json" --record "$dir/old.pcapng"
check 'and no configuration' test ! -e "$dir/old.config.json"

# ---- a port whose device takes nothing: a memif without a peer ----
cat >"$dir/c.json" <<END2
{"program": "$program", "control_socket": "$dir/s.sock",
 "ports": [{"port": 0, "device": "net_pcap0,rx_pcap=$dir/in.pcap,tx_pcap=$dir/back.pcap"},
           {"port": 5, "device": "net_memif0,role=server,socket=$dir/memif.sock"}],
 "entries": [{"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"}, "action": "send", "args": {"port": 5}},
             {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:02"}, "action": "send", "args": {"port": 0}},
             {"table": "forward", "key": {"dst_addr": "02:00:00:00:00:03"}, "action": "drop"}]}
END2
cp "$dir/c.json" "$dir/sends_nothing.json"
cp "$dir/older" "$dir/in.pcapng"
ln "$dir/in.pcapng" "$dir/hard.in.pcapng"
sed -i 's|in.pcap,|in.pcapng,|' "$dir/c.json"
check 'a device reads it: starts' start
check 'a device reads it: not recorded into' kept "is used by the switch's device 'net_pcap0" "$dir/in.pcapng" \
    record --out "$dir/hard.in.pcapng" --duration 1
check 'a device reads it: ends' stop
check 'a device reads it: nor by itself' kept "is used by port 0's device" "$dir/in.pcapng" \
    runs -c "$dir/c.json" --record "$dir/hard.in.pcapng"
cp "$dir/sends_nothing.json" "$dir/c.json"
check 'a port that sends nothing: starts' start --record "$dir/unsent.pcapng"
check 'a port that sends nothing: all received' becomes 580 stats 'r["rx_packets"]'
check 'a port that sends nothing: ends' stop
check 'a port that sends nothing: counted so' says 'recorded 580 received + 20 sent, 560 dropped; 1 file' \
    cat "$dir/log"
check 'a port that sends nothing: each is noted' holds "$dir/unsent.pcapng" \
    "(lambda sent, noted: len(noted) == 500 and sorted(x.id for x in noted) == sorted(x.id for x in sent)
      and all(x.comment == 'silken drop: port did not take the packet, port 5; packet %u, which port 0 received' % x.id
              for x in noted))(
         [x for x in p if x.direction == 'out' and x.port == 5 and not x.comment],
         [x for x in p if x.direction == 'note'])"
check 'a port that sends nothing: as the switch counted' says 'sent 20 + dropped 560' cat "$dir/log"

# ---- a switch that sends a packet each 20 us by itself ----
cat >"$dir/c.json" <<END2
{"program": "$program", "control_socket": "$dir/s.sock",
 "ports": [{"port": 128, "device": "net_null0,no-rx=1"}, {"port": 130, "device": "net_null1,no-rx=1"}],
 "entries": [{"table": "forward", "key": {"dst_addr": "08:00:00:00:00:00"},
              "action": "send", "args": {"port": 128}}],
 "pktgen_buffers": [{"pipe": 1, "offset": 0, "bytes": "00112233445566778899"}],
 "pktgen": [{"pipe": 1, "app": 0, "trigger": "periodic", "length": 94, "offset": 0, "timer": 20000,
             "batches": 1, "packets": 1}]}
END2
check 'starts' start
sent() {
    ctl_json stats 'r["tx_packets"]'
}
whole() { # FILE...: every packet is there, 20 us after the one before
    python3 - "$@" <<'END2'
import sys
from captures import read_ng
last = None
for name in sys.argv[1:]:
    packets, stats = read_ng(name)
    assert packets, name
    assert sum(n for n, lost in stats.values()) == len(packets) and not any(lost for n, lost in stats.values())
    for p in packets:
        assert p.port == 128 and p.direction == 'out' and not p.comment and not p.lost
        assert last is None or p.id == last.id + 1, (name, last, p)
        last = p
END2
}
check 'so many packets' record --out "$dir/n.pcapng" --packets 3000
check 'so many packets are there' holds "$dir/n.pcapng" "len(p) == 3000"
check 'and whole' whole "$dir/n.pcapng"
check 'so many seconds' record --out "$dir/s.pcapng" --duration 0.5
check 'lossless under moderate load' whole "$dir/s.pcapng"
check 'about so many' holds "$dir/s.pcapng" "5000 < len(p) < 40000"
check 'another port' record --out "$dir/p.pcapng" --port 130 --duration 0.2
check 'nothing was there' holds "$dir/p.pcapng" "p == [] and s == {130: (0, 0)}"
check 'two ports' record --out "$dir/p.pcapng" --port 130 128 --packets 10
check 'of one there is something' holds "$dir/p.pcapng" "s == {128: (10, 0), 130: (0, 0)}"
check 'a filter' record --out "$dir/f.pcapng" --packets 10 --filter 'ether dst 08:00:00:00:00:00 and len = 100'
check 'lets these by' holds "$dir/f.pcapng" "len(p) == 10 and s[128] == (10, 0)"
check 'a filter of others' record --out "$dir/f.pcapng" --duration 0.2 --filter 'arp or less 99'
check 'lets none by' holds "$dir/f.pcapng" "p == [] and s[128] == (0, 0)"
check 'only the beginning' record --out "$dir/l.pcapng" --snaplen 17 --packets 10
check 'libpcap reads them, of one port and two, filtered, cut' judged "$dir/n.pcapng" "$dir/s.pcapng" "$dir/p.pcapng" \
    "$dir/f.pcapng" "$dir/l.pcapng" "$dir/unsent.pcapng"
check 'and the whole length' holds "$dir/l.pcapng" "all(len(x.data) == 17 and x.wire == 100 for x in p)"
piped() {
    record --quiet --out - --packets 20 >"$dir/piped.pcapng" && whole "$dir/piped.pcapng"
}
check 'standard output' piped
late() { # its reader comes half a second later, when 1 MiB would be full
    mkfifo "$dir/pipe"
    { sleep 0.5; cat "$dir/pipe" >"$dir/late.pcapng"; } &
    record --quiet --ring 1 --out "$dir/pipe" --packets 20 && wait $! && whole "$dir/late.pcapng"
}
check 'a pipe whose reader is late' late

# ---- a ring of files ----
check 'ring' record --out "$dir/ring.pcapng" --file-size 1 --files 3 --packets 60000
ring_files() {
    ls "$dir" | grep -c '^ring-[0-9]*.pcapng$'
}
check 'as many files as asked for' test "$(ring_files)" = 3
check 'no longer than asked for' test -z "$(find "$dir" -name 'ring-*' -size +1048576c)"
check 'nearly as long' test "$(find "$dir" -name 'ring-*' -size +1000000c | wc -l)" = 2
check 'the first ones are gone' test ! -e "$dir/ring-00001.pcapng"
check 'libpcap reads the ring' judged "$dir"/ring-*.pcapng
check 'all others, without a gap' whole "$dir"/ring-*.pcapng
check 'an older ring is not touched' refuses 'exists from an earlier recording' \
    record --out "$dir/ring.pcapng" --file-size 1
check 'all files' record --out "$dir/all.pcapng" --file-size 1 --packets 24000
check 'libpcap reads them all' judged "$dir"/all-*.pcapng
check 'none is gone' whole "$dir"/all-*.pcapng
check 'their number' test "$(ls "$dir"/all-*.pcapng | wc -l)" = 4

# ---- what goes wrong ----
check 'a full disk' refuses 'cannot write /dev/full: No space left on device' \
    record --out /dev/full --duration 5
check 'is said once' test "$(grep -c 'cannot write' "$dir/said")" = 1
for blocks in 64 0; do
    check "no more than $blocks blocks" sh -c "ulimit -f $blocks
        '$silken' record -s '$dir/s.sock' --out '$dir/full.pcapng' --duration 5 2>&1 |
            grep -q 'cannot write $dir/full.pcapng: File too large'"
done
check 'the switch goes on' alive
check 'no folder' refuses "cannot write $dir/no/f.pcapng: No such file" record --out "$dir/no/f.pcapng"
check 'a folder' refuses "cannot write $dir: Is a directory" record --out "$dir"
check 'no switch' refuses 'no switch listens at' "$silken" record -s "$dir/none.sock" --out "$dir/x.pcapng"
check 'no file' refuses 'a file is missing' record
check 'no filter' refuses "the filter 'arp and': " record --out "$dir/x.pcapng" --filter 'arp and'
check 'no size' refuses '--files needs --file-size' record --out "$dir/x.pcapng" --files 3
check 'no port' refuses "'600' is not a device port" record --out "$dir/x.pcapng" --port 600
check 'a port the switch has not' refuses 'the switch has no port 7' \
    record --out "$dir/old.pcapng" --port 128 7 --duration 1
check 'an older recording is left' older "$dir/old.pcapng"
check 'no recording' kept 'notes.pcapng exists and is not a recording' "$dir/notes.pcapng" \
    record --out "$dir/notes.pcapng" --duration 1
check 'recorded into' kept 'is in use by another recording' "$dir/n.pcapng" \
    locked "$dir/n.pcapng" "$silken" record -s "$dir/s.sock" --out "$dir/n.pcapng" --duration 1
check 'the recorders before it are unlocked' record --out "$dir/n.pcapng" --packets 10
check 'no ring on standard output' refuses 'standard output cannot be a ring of files' \
    record --out - --file-size 1 --duration 1
check 'nor on a device' refuses '/dev/null is not a file' record --out /dev/null --file-size 1 --duration 1
check 'no number' refuses "--snaplen takes a number from 1 to 65535, not '0'" record --out "$dir/x.pcapng" --snaplen 0
check 'no duration' refuses '--duration takes a number of seconds' record --out "$dir/x.pcapng" --duration 1x
check 'too large a ring' refuses '--ring takes a number from 1 to' record --out "$dir/x.pcapng" --ring 1000000
check 'a small ring' record --out "$dir/x.pcapng" --ring 1 --packets 100

running() { # FILE: something was recorded
    [ -s "$1" ] && [ "$(wc -c <"$1")" -gt 60000 ]
}
"$silken" record -s "$dir/s.sock" --out "$dir/int.pcapng" >"$dir/int.log" 2>&1 &
recorder=$!
check 'until it is interrupted' wait_for running "$dir/int.pcapng"
check 'one at a time' refuses 'another client is recording this switch already' \
    record --out "$dir/old.pcapng" --duration 1
check 'an older recording is not touched' older "$dir/old.pcapng"
check 'nor the one that is being made' refuses 'another client is recording this switch already' \
    record --out "$dir/int.pcapng" --duration 1
kill -INT $recorder
check 'interrupted' wait $recorder
check 'interrupted: whole' whole "$dir/int.pcapng"
check 'interrupted: says what there is' says ' sent, 0 dropped; 1 file' cat "$dir/int.log"
for n in 1 2 3; do
    "$silken" record -s "$dir/s.sock" --out "$dir/kill$n.pcapng" >"$dir/kill.log" 2>&1 &
    recorder=$!
    check "killed $n: recorded" wait_for running "$dir/kill$n.pcapng"
    kill -9 $recorder
    wait $recorder 2>/dev/null
    recorder=
    check "killed $n: the switch goes on" alive
    again() {
        record --out "$dir/again.pcapng" --packets 100
    }
    check "killed $n: the next one records" wait_for again
done
unmapped() { # the switch has no memory to record into any more
    ! grep -q silken-record "/proc/$pid/maps"
}
check 'no memory is left behind' wait_for unmapped
raw() { # REQUEST: to the control socket, as it is
    python3 - "$dir/s.sock" "$1" <<'END2'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode() + b'\n')
print(s.recv(65536).decode())
END2
}
check 'nothing to stop' says 'this client records nothing' raw '{"op": "record.stop"}'
check 'bad ports' says 'ports' raw '{"op": "record.start", "ports": [1000]}'
check 'another key' says 'file: unknown key' raw '{"op": "record.start", "file": "/etc/passwd"}'
hasty() { # asks, and goes before it gets the memory
    for _ in 1 2 3 4 5 6 7 8; do
        raw '{"op": "record.start", "ring": 4}' || return 1
    done
}
check 'hasty clients' hasty
check 'and a patient one' wait_for again

"$silken" record -s "$dir/s.sock" --out "$dir/end.pcapng" >"$dir/end.log" 2>&1 &
recorder=$!
check 'the switch ends' wait_for running "$dir/end.pcapng"
check 'ends, all accounted for' stop
check 'the recorder ends, too' wait $recorder
recorder=
check 'and says so' says 'the switch ended' cat "$dir/end.log"
check 'with what there was' whole "$dir/end.pcapng"

# ---- a recording of its own on a full disk ----
ln -s /dev/full "$dir/nodisk.pcapng"
check 'on a full disk: starts' start --record "$dir/nodisk.pcapng"
check 'on a full disk: nothing is put beside a device' test ! -e "$dir/nodisk.config.json"
check 'on a full disk: says so' wait_for says "the recording ends here: cannot write $dir/nodisk.pcapng" cat "$dir/log"
before=$(sent)
sleep 0.2
check 'on a full disk: the switch goes on' test "$(sent)" -gt "$before"
check 'on a full disk: another one may record' wait_for again
check 'on a full disk: ends' stop
check 'on a full disk: was said once' test "$(grep -c 'recording ends here' "$dir/log")" = 1

# ---- two cores ----
pcap "$dir/in2.pcap" 1:300x400
cat >"$dir/c.json" <<END2
{"program": "$program", "control_socket": "$dir/s.sock", "lcores": 2,
 "ports": [{"port": 0, "device": "net_pcap0,rx_pcap=$dir/in.pcap,tx_pcap=$dir/a.pcap"},
           {"port": 128, "device": "net_pcap1,rx_pcap=$dir/in2.pcap,tx_pcap=$dir/b.pcap"}],
 "entries": [{"table": "forward", "key": {"dst_addr": "02:00:00:00:00:01"}, "action": "send", "args": {"port": 128}}]}
END2
check 'two cores: starts' start --record "$dir/two.pcapng"
check 'two cores: all received' becomes 980 stats 'r["rx_packets"]'
check 'two cores: ends, all accounted for' stop
f=$dir/two.pcapng
check 'two cores: the first' holds "$f" \
    "[x.data for x in p if x.direction == 'in' and x.port == 0] == frames('$dir/in.pcap')"
check 'two cores: the second' holds "$f" \
    "[x.data for x in p if x.direction == 'in' and x.port == 128] == frames('$dir/in2.pcap')"
check 'two cores: sent' holds "$f" \
    "[x.data for x in p if x.direction == 'out' and x.port == 128] == frames('$dir/b.pcap')"
check 'two cores: by time' holds "$f" "all(a.time <= b.time for a, b in zip(p, p[1:]))"
check 'two cores: packets have numbers of their own' holds "$f" \
    "len({x.id for x in p if x.direction == 'in'}) == 980"

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
