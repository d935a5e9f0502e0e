#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The C compiler for the virtual machine's processor, which the machine could run itself in some minutes: cards.py compiles the
# programs beforehand, on this machine.
exec cc "$@" -march=x86-64-v3
