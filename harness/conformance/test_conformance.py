# SPDX-License-Identifier: Apache-2.0
#
# conformance.py, over programs of our own: all of samples/ must be accepted, all of errors/ rejected
# where errors_outputs/ says; and the script itself must tell the one from the other, or its
# percentages over other people's programs mean nothing. Run from the top folder.
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
passed = failed = 0


def run(*arguments):
    r = subprocess.run(
        [sys.executable, os.path.join(HERE, "conformance.py"), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    lines = r.stdout.splitlines()
    last = lines[-1] if lines else ""
    return r.returncode, dict(re.findall(r"(\w+)=(\S+)", last)), r.stdout + r.stderr


def check(what, good, output):
    global passed, failed
    passed += good
    failed += not good
    if not good:
        print(f"FAILED: {what}\n{output}")


def main():
    samples, errors = os.path.join(HERE, "samples"), os.path.join(HERE, "errors")
    status, tally, output = run("samples", samples, "--threshold", "100")
    check("all samples are accepted", status == 0 and tally["good"] == tally["total"], output)
    check("folders below are read", tally["total"] == "3", output)
    status, tally, output = run("errors", errors, "--threshold", "100")
    check("all errors are found in place", status == 0 and tally["good"] == tally["total"], output)
    check("an error without place needs none", tally["unplaced"] == "1", output)
    status, tally, output = run("samples", errors, "--threshold", "1")
    check("wrong programs are no samples", status == 1 and tally["good"] == "0", output)
    check("the first message is shown", "unknown_field.p4:8: " in output, output)
    status, tally, output = run("errors", errors, os.path.join(HERE, "other_outputs"))
    check("an error elsewhere does not count", tally["good"] == "0" and status == 0, output)
    check("it is shown as such", "elsewhere: " in output and "reference: 7" in output, output)
    status, tally, output = run("samples", os.path.join(HERE, "errors_outputs"))
    check("a folder without programs is no success", status == 2, output)
    status, tally, output = run("samples", samples, "-I", "/no/such")
    check("a folder that is not there is no success", status == 2, output)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
