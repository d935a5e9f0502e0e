#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# `silken ctl job`: a job of two workers of whom one has sent its part of slot 3 and a stranger has
# tried to. What stands still, and for whom it waits, must be there to read.
. harness/control/running.sh
. harness/control/stuck_job.sh

stuck_job '' 1 9 1x # nobody knows 10.0.0.9; the third packet repeats the first, with a wrong checksum
check 'starts' start
SILKEN_SOCKET=$dir/s.sock
export SILKEN_SOCKET
check 'a stranger' await 20 says 'dropped, unknown worker: 1' "$silken" ctl job
check 'which job' says 'job 7: 2 of 2 workers registered, slots 16 to 31' "$silken" ctl job
check 'a worker' says 'worker  1  port   2  10.0.0.2' "$silken" ctl job 7
check 'a wrong checksum' says 'worker  0  port   1  10.0.0.1         packets 2  wrong IPv4 checksums 1' "$silken" ctl job 7
check 'as JSON, of each' says '"wrong_checksums": 0' "$silken" ctl --json job 7
check 'and dropped as repeated' says 'dropped, repeated before the slot was complete: 1' "$silken" ctl job 7
check 'whom a slot waits for' says 'slot 3, pipes 0: has 0; waits for 1' "$silken" ctl job 7
check 'no such job' says 'no worker is registered for job 8' "$silken" ctl job 8
check 'as JSON' says '"missing": [' "$silken" ctl --json job 7
check 'ends' stop
check 'accounts' says 'received 3 + copies 0 = sent 0 + dropped 3' cat "$dir/log"
check 'one was added up' says 'consumed in ingress                      1' cat "$dir/log"
check 'two were refused' says 'drop_ctl in ingress                      2' cat "$dir/log"

printf '\n%d passed, %d failed\n' $passed $failed
[ $failed -eq 0 ]
