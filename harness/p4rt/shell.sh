#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# shell.sh --shell DIR [--p4runtime DIR]
# p4runtime-shell, unmodified, as a scripted client of `silken run` (harness/p4rt/shell.py), in a network namespace of its
# own. DIR are checkouts of p4lang/p4runtime-shell and p4lang/p4runtime, whose description of the protocol is used (else
# this tree's); nothing of them is kept.
set -eu
cd "$(dirname "$0")/../.."
harness/deps.sh shell >/dev/null
exec unshare -n "${PYTHON:-/usr/bin/python3}" harness/p4rt/shell.py "$@"
