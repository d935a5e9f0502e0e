#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
#
# Front-end conformance: how 'silken build --parse-only' judges a folder of other people's programs.
#
#   conformance.py samples FOLDER -I DIR...      every program must be accepted
#   conformance.py errors FOLDER [OUTPUTS] -I DIR...
#                                                every program must be rejected, with an error at a
#                                                line where the reference compiler has one
#
# The folders are laid out as p4c's testdata is: p4_16_samples (one level of folders below it
# included, and a folder's own files may be included from its programs), p4_16_errors, and beside
# that p4_16_errors_outputs with NAME.p4-stderr, what the reference compiler printed. Of those, the
# lines of its errors count, not of its warnings. A program for which it named no line (its error has
# no place) need only be rejected.
#
# Prints every program judged otherwise with our first message (errors: and its lines), the totals,
# and as its last line "conformance KIND good=N total=N percent=N.NN ...". Exit status: 0, or 1 when
# the percentage is under --threshold, or 2 when there is nothing to judge.
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

# file.p4(12): [--Werror=type-error] error: text
PLACE = re.compile(r"^(?P<file>[^\s(]+)\((?P<line>\d+)\):?(?P<rest>.*)$")
# also ' error: text' alone and, from its parser, 'syntax error, ...'
IS_ERROR = re.compile(r"^\s*(\[--Werror=[^\]]*\])?\s*(syntax )?error\b")
# file.p4:12:3: error: text
OURS = re.compile(r"^(?P<file>.+?):(?P<line>\d+):\d+: error: (?P<text>.*)$")
OURS_NO_PLACE = re.compile(r"^(silken: )?error: (?P<text>.*)$")


def judge(silken, path, include_dirs, seconds):
    """Runs the front end: (exit status or 'timeout', [(file, line or None, text)])."""
    command = [silken, "build", "--parse-only"]
    for d in include_dirs:
        command += ["-I", d]
    command.append(path)
    try:
        r = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "timeout", []
    messages = []
    for line in r.stderr.decode("utf-8", "replace").splitlines():
        m = OURS.match(line)
        if m:
            messages.append((m["file"], int(m["line"]), m["text"]))
        elif OURS_NO_PLACE.match(line):
            messages.append((path, None, OURS_NO_PLACE.match(line)["text"]))
    return r.returncode, messages


def named_lines(path, program):
    """The lines of the reference compiler's errors in its output 'path'."""
    lines = set()
    with open(path, encoding="utf-8", errors="replace") as f:
        for text in f:
            m = PLACE.match(text)
            if m and os.path.basename(m["file"]) == program and IS_ERROR.match(m["rest"]):
                lines.add(int(m["line"]))
    return lines


def programs_of(folder, below):
    found = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(".p4") and os.path.isfile(path):
            found.append(path)
        elif below and os.path.isdir(path):
            found += programs_of(path, False)
    return found


def show(messages):
    if not messages:
        return "no message"
    file, line, text = messages[0]
    return f"{os.path.basename(file)}:{line}: {text}" if line else text


def run_all(options, programs):
    def one(path):
        return judge(options.silken, path, options.include, options.seconds)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return list(zip(programs, pool.map(one, programs)))


def crashed(status):
    return status == "timeout" or status not in (0, 1)


def report(kind, good, total, options, **more):
    percent = 100.0 * good / total
    print(f"\n{good} of {total} as the reference compiler has them: {percent:.2f} %")
    tail = "".join(f" {k}={v}" for k, v in more.items())
    print(f"conformance {kind} good={good} total={total} percent={percent:.2f}{tail}")
    bad = percent < options.threshold or more.get("crashed")
    return 1 if bad else 0


def samples(options):
    results = run_all(options, programs_of(options.folder, True))
    if not results:
        return nothing(options)
    good = n_crashed = 0
    for path, (status, messages) in results:
        good += status == 0
        n_crashed += crashed(status)
        if status != 0:
            word = "refused" if status == 1 else f"status {status}"
            print(f"{os.path.relpath(path, options.folder)}: {word}: {show(messages)}")
    return report("samples", good, len(results), options, crashed=n_crashed)


def errors(options):
    outputs = options.outputs or options.folder.rstrip("/") + "_outputs"
    programs = [
        p
        for p in programs_of(options.folder, False)
        if os.path.isfile(os.path.join(outputs, os.path.basename(p) + "-stderr"))
    ]
    results = run_all(options, programs)
    if not results:
        return nothing(options)
    good = rejected = unplaced = n_crashed = 0
    for path, (status, messages) in results:
        name = os.path.basename(path)
        wanted = named_lines(os.path.join(outputs, name + "-stderr"), name)
        ours = {line for file, line, _ in messages if os.path.basename(file) == name}
        n_crashed += crashed(status)
        rejected += status == 1
        unplaced += not wanted
        hit = status == 1 and (not wanted or bool(ours & wanted))
        good += hit
        if not hit:
            where = ", ".join(str(n) for n in sorted(wanted)) or "no line"
            word = {0: "accepted", 1: "elsewhere"}.get(status, f"status {status}")
            print(f"{name}: {word}: {show(messages)} (reference: {where})")
    return report(
        "errors", good, len(results), options, rejected=rejected, unplaced=unplaced, crashed=n_crashed
    )


def nothing(options):
    print(f"no programs to judge in {options.folder}", file=sys.stderr)
    return 2


def main():
    p = argparse.ArgumentParser(description="Front-end conformance against a folder of programs.")
    p.add_argument("kind", choices=["samples", "errors"])
    p.add_argument("folder")
    p.add_argument("outputs", nargs="?", help="the reference compiler's messages (FOLDER_outputs)")
    p.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    p.add_argument("--silken", default=os.path.join(os.environ.get("BUILD", "build"), "silken"))
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--seconds", type=float, default=20.0, help="time limit for one program")
    p.add_argument("--threshold", type=float, default=0.0, help="percentage that must be reached")
    options = p.parse_args()
    for folder in [options.folder] + options.include:
        if not os.path.isdir(folder):
            p.error(f"there is not a folder {folder}")
    return samples(options) if options.kind == "samples" else errors(options)


if __name__ == "__main__":
    sys.exit(main())
