#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A few mutants of p4/switchml, which the captures must notice; `make mutants` tries all."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutants  # noqa: E402
import run  # noqa: E402

if __name__ == "__main__":
    run.program(lambda _: mutants.main(["--sample", "6"]))
