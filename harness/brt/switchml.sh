#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# switchml.sh --app DIR --sde DIR [--workers N] [--packets N]
# The controller that was published with SwitchML, unmodified, with the published program on `silken run`
# (harness/brt/switchml.py), in a network namespace of their own. DIR are checkouts of p4lang/p4app-switchML and
# p4lang/open-p4studio, whose Python client the controller uses; nothing of them is kept.
set -eu
cd "$(dirname "$0")/../.."
exec unshare -n "${PYTHON:-/usr/bin/python3}" harness/brt/switchml.py "$@"
