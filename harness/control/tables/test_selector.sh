#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Selectors whose members the data plane takes down, in a running switch: a controller learns each
# member's index, and what the data plane made of it.
. harness/control/running.sh

cat >"$dir/c.json" <<END
{"program": "$PWD/harness/stf/tables/selector_action.p4",
 "members": [{"profile": "members", "id": 1, "action": "send", "args": {"port": 11}},
             {"profile": "members", "id": 2, "action": "send", "args": {"port": 12}}],
 "groups": [{"selector": "fair", "id": 7, "members": [1, {"member": 2, "up": false}]}],
 "control_socket": "$dir/s.sock"}
END
check "a switch starts" start
# the first group of one line has line 1023 of 1024, of 128 bits each
check "indices are shown" says "group 7  at most 6  members 1@130944 2:down@130945=0" ctl group dump fair
check "a bit the data plane took" ctl register write fair 130944 0
check "is down though the status is up" says "members 1@130944=0 2:down@130945=0" ctl group dump fair
check "nobody is left" refuses "none of its members is up" ctl group member fair 7 0
check "other pipes have their own" ctl register write fair 130944 1 pipe 1
check "and keep it" says "members 1@130944 2:down@130945=0" ctl group dump fair pipe 1
check "as it was is not written" ctl group modify fair 7 1 2:down
check "so it stays" says "members 1@130944=0 2:down@130945=0" ctl group dump fair
check "a changed status is written" ctl group modify fair 7 1 2
check "as this one" says "members 1@130944=0 2@130945" ctl group dump fair
check "it gets the packets" says "2" ctl group member fair 7 0
check "as JSON" says '"index": 130945' ctl --json group dump fair
check "a second group" ctl group add fair 8 2
check "has the line before" says "group 8  at most 6  members 2@130816" ctl group dump fair
check "a third" ctl group add fair 9 2
check "a fourth is too many" refuses "is full: it holds 3 groups" ctl group add fair 10 2
# eight whole lines are in the register that 'steady' was given
for id in 1 2 3 4 5 6 7 8; do
    check "group $id of steady" ctl group add steady $id
done
check "no lines are left" refuses "no lines left" ctl group add steady 9
check "nothing of it is there" refuses "there is no such group" ctl group delete steady 9
stop

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
