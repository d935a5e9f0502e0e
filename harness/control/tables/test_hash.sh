#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Hashes of a running switch, changed by configuration file and `silken ctl`.
. harness/control/running.sh

cat >"$dir/c.json" <<END
{"program": "$PWD/harness/stf/dynamic_hash.p4",
 "hashes": [{"name": "whole", "fields": ["c", "hdr.h.a[31:16]"],
             "algorithm": {"algorithm": "CRC_32", "extend": true}},
            {"name": "parts", "algorithm": {"polynomial": "0x1d", "hash_bit_width": 8}}],
 "control_socket": "$dir/s.sock"}
END
check "a switch starts" start
check "hashes are listed" says "pipe.Ig.whole: 64 bits" ctl hash list
check "the file's fields" says "    hdr.h.c hdr.h.a[31:16]" ctl hash list
check "the file's algorithm" says "pipe 0, changed  algorithm=CRC_32 extend=true rotate=0" ctl hash list
check "the file's polynomial" says "polynomial=0x1d hash_bit_width=8 reverse=false" ctl hash list
check "as compiled" says "pipe 0  algorithm=XOR rotate=0" ctl hash list
# zlib.crc32(b"1234") = 0x9be3e0a3
check "computed" says "0x9be3e0a39be3e0a3" ctl hash compute whole c=0x3132 a=0x33340000 b=0 d=0
check "another order" ctl hash fields whole 'a[31:16]' c
check "which matters" says "0x9be3e0a39be3e0a3" ctl hash compute whole a=0x31320000 c=0x3334 b=0 d=0
check "rotated" ctl hash algorithm whole algorithm=CRC_32 rotate=8 pipe 0
check "by a byte" says "0x9be3e0a300" ctl hash compute whole a=0x31320000 c=0x3334 b=0 d=0
check "no such field" refuses "no field of the hash 'z'" ctl hash fields whole z
check "no such bits" refuses "has bits 15 to 0" ctl hash fields whole 'c[16:0]'
check "used at two places" refuses "no hash that can be changed 'twice'" ctl hash reset twice
check "an even polynomial" refuses "must be odd" ctl hash algorithm whole polynomial=2 hash_bit_width=8
check "a missing value" refuses "'hdr.h.d' is not given" ctl hash compute whole a=1 b=2 c=3
check "as compiled again" ctl hash reset whole
check "with its fields" says "    hdr.h.a hdr.h.b hdr.h.c hdr.h.d" ctl hash list
stop

cat >"$dir/c.json" <<END
{"program": "$PWD/harness/stf/dynamic_hash.p4", "hashes": [{"name": "whole"}]}
END
check "a hash without a change" refuses 'needs "fields" or "algorithm"' "$silken" run -c "$dir/c.json"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
