#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# fabric.sh --fabric DIR --ptf DIR [--p4runtime DIR] [--profile NAME] [--verbose] [TEST...]
# The unary PTF tests of fabric-tna, unmodified, over P4Runtime against `silken run` (harness/p4rt/fabric.py), in a network
# namespace of their own. DIR are checkouts of stratum/fabric-tna, p4lang/ptf and p4lang/p4runtime, whose description of
# the protocol is used (else this tree's); nothing of them is kept.
set -eu
cd "$(dirname "$0")/../.."
exec unshare -n "${PYTHON:-/usr/bin/python3}" harness/p4rt/fabric.py "$@"
