#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The soak of harness/soak.sh, ten seconds of it.
SECONDS_TO_RUN=10 CHURN=3 exec sh harness/soak.sh
