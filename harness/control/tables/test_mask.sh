#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Key masks of a running switch's tables, from the configuration file and by `silken ctl`.
. harness/control/running.sh

cat >"$dir/c.json" <<END
{"program": "$PWD/harness/stf/tables/masks.p4",
 "key_masks": [{"table": "wide", "masks": {"hdr.t.b": "0xff", "a": 15}}],
 "entries": [{"table": "wide", "key": {"a": 3, "b": "0x12", "c": 1}, "action": "set", "args": {"n": 1}}],
 "control_socket": "$dir/s.sock"}
END
check "a switch starts" start
check "the file's mask" says "hdr.t.a=15" ctl table mask wide
check "of a wide key" says "hdr.t.b=0xff" ctl table mask wide
check "what the file does not name" says "hdr.t.c[11:4]=255" ctl table mask wide
check "not while there are entries" refuses "only change while the table has no entries" ctl table mask wide a=1
check "nor back" refuses "only change while the table has no entries" ctl table mask wide whole
check "a key beyond the mask" refuses "bits set outside the table's key mask" ctl table add wide a=0x10 b=1 c=1 none
check "emptied" ctl table clear wide
check "changed" ctl table mask wide c=0xf0 pipe 1
check "in that pipe" says "hdr.t.c[11:4]=240" ctl table mask wide pipe 1
check "whole again there" says "hdr.t.a=255" ctl table mask wide pipe 1
check "not in others" says "hdr.t.a=15" ctl table mask wide pipe 0
check "taken back" ctl table mask wide whole
check "in all pipes" says "hdr.t.a=255" ctl table mask wide pipe 0
check "no such key" refuses "'z'" ctl table mask wide z=1
check "too wide" refuses "mask of key field 'hdr.t.a'" ctl table mask wide a=0x100
check "a table without masks" refuses "has no key masks" ctl table mask plain a=0
stop

cat >"$dir/c.json" <<END
{"program": "$PWD/harness/stf/tables/masks.p4", "key_masks": [{"table": "wide"}]}
END
check "a mask without masks" refuses 'needs "masks"' "$silken" run -c "$dir/c.json"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
