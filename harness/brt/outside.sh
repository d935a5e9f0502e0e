#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# outside.sh --sde DIR --ptf DIR [--results FILE] [--seconds N] [NAME...]
# The PTF tests of open-p4studio's p4_16_programs, unmodified, against `silken run` (harness/brt/outside.py), in a
# network namespace of their own. DIR are checkouts of p4lang/open-p4studio and p4lang/ptf; nothing of them is kept.
set -eu
cd "$(dirname "$0")/../.."
exec unshare -n "${PYTHON:-/usr/bin/python3}" harness/brt/outside.py "$@"
