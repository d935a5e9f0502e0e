# SPDX-License-Identifier: Apache-2.0
"""No input makes the compiler, the C compiler apart, take more than 1 GB of memory or 30 s of processor time.

Long programs of every kind (long_programs.py) are built with all that is written beside, built checked, and checked
against the chip. Each ends within the bounds: accepted, refused for what it is, or refused with the sentence that
names the limit. Input that has no end ends with one sentence: devices and macros that grow within 10 s of processor
time; a pipe that nobody writes to within 10 s, which is a test of its own since the clock counts.

    python3 harness/compiler/test_bounds.py             all kinds at the sizes of SIZES
    python3 harness/compiler/test_bounds.py KIND SIZE   one kind at one size, with its figures
    python3 harness/compiler/test_pipes.py              the pipes
"""
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from long_programs import KINDS  # noqa: E402

SILKEN = f"{os.environ.get('BUILD', 'build')}/silken"
MEMORY = 1_000_000_000
SECONDS = 30
ENDS_WITHIN = 10
GIVEN_UP = 1800  # by the clock, on a machine that is busy with something else
SIZE = 1000
SIZES = {"states_that_meet": 300, "states_that_extract": 500, "headers": 500, "one_control_applied": 500,
         "structs_in_structs": 3, "tuples_in_tuples": 4, "many_pipes": 300}
# where the time or the memory once grew with the square of the size: none is refused for a limit
LONG = {"constants_and_counters": 6000, "tables_and_ifs": 4000, "decided_once": 1500, "enum_members": 16000,
        "unused": 8000}
# where names or labels are compared with all others
COMPARED = {"labels": 20000, "misspelt": 4000, "wrong_members": 4000, "enum_members": 30000}
# what takes more memory than the compiler may use, or exceeds another limit of its own
TOO_LONG = {"unused": 80000, "states_that_meet": 4000, "functions_in_functions": 450, "calls_doubled": 40}
COMMANDS = {
    "build": ["build", "--emit-c", "@c", "--dump-ast", "@ast", "--dump-ir", "@ir", "--bf-rt", "@bfrt", "--p4info",
              "@p4info", "--wireshark", "@lua", "--wire-header", "@h"],
    "checked build": ["build", "--checked", "--emit-c", "@c"],
    "check": ["check", "--json", "--html", "@html"],
}
LIMITS = {
    "memory": "silken: error: compiling '{0}' takes more than 1 GB of memory, the most that Silken's compiler uses for "
              "a program\n",
    "time": "silken: error: compiling '{0}' takes more than 20 s of processor time, the most that Silken's compiler "
            "uses for a program\n",
    "states": " states; at most 4096 are supported\n",
    "levels": "this is nested too deeply (more than 400 levels, calls included)\n",
    "variables": "the program needs more than 200000 variables\n",
}
ENDLESS = {
    "time": "silken: error: preprocessing '{0}' takes more than 6 s of processor time; it may include a device, or "
            "contain macros that expand too far\n",
    "pipe": "silken: error: preprocessing '{0}' waits for input; it may include a pipe that no process writes to\n",
    "memory": "silken: error: preprocessing '{0}' takes more than 512 MB of memory; it may include a device, or contain "
              "macros that expand too far\n",
    "text": "silken: error: '{0}' has more than 64 MB of text after preprocessing\n",
}


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 5, SECONDS + 6))
    resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY, 4 * MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, text, folder):
    """Status, what was said, seconds and bytes."""
    path = os.path.join(folder, "p.p4")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    words = [SILKEN] + [os.path.join(folder, w[1:]) if w[0] == "@" else w for w in COMMANDS[command]] + [path]
    env = {**os.environ, "CC": "/bin/false", "SILKEN_CACHE": folder}
    with open(os.path.join(folder, "said"), "w+b") as said:
        child = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=said, preexec_fn=limits)
        _, status, use = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return (child.returncode, said.read().decode(errors="replace"), use.ru_utime + use.ru_stime,
                use.ru_maxrss * 1024)


def bounded(kind, size, commands, folder, refused):
    """What is wrong, one line each; 0 or more. 'refused': whether it must be, for a limit; None: it may."""
    wrong = []
    sentences = [text.format(os.path.join(folder, "p.p4")) for text in LIMITS.values()]
    for command in commands:
        status, said, seconds, memory = run(command, KINDS[kind](size), folder)
        figures = f"{kind} of {size}, {command}: {seconds:.1f} s, {memory / 1e6:.0f} MB"
        if len(sys.argv) > 1:
            print(figures, f"status {status}", said[:200])
        if status not in (0, 1, 2):
            wrong.append(f"{figures}: it ended with {status}: {said[-300:]}")
        if memory > MEMORY or seconds > SECONDS:
            wrong.append(f"{figures}: beyond the bounds")
        if refused and status != (2 if command == "check" else 1):
            wrong.append(f"{figures}: it ended with {status}, as if the chip had the limit: {said[-300:]}")
        if refused is not None and refused != any(text in said for text in sentences):
            wrong.append(f"{figures}: {'not ' if refused else ''}refused for a limit: {said[-300:]}")
    return wrong


# ---- every kind of statement

# by kind of the IR (compiler/ir/ir.h): a line of a dump that has one
STATEMENTS = {
    "ASSIGN": r"\S+ = (?!hash |random |meter |execute |read |checksum )", "IF": "if ", "SWITCH": "switch ",
    "BLOCK": r"block L\d", "LEAVE": r"leave L\d", "EXIT": "exit$", "SET_VALID": "valid ", "SET_INVALID": "invalid ",
    "APPLY": "apply ", "REG_EXEC": r"(\S+ = )?execute ", "REG_READ": r"\S+ = read ", "REG_WRITE": "write ",
    "COUNT": "count ", "COUNT_LEAVING": "count_leaving ", "METER_EXEC": r"\S+ = meter ", "HASH": r"\S+ = hash ",
    "RANDOM": r"\S+ = random ", "EXTRACT": "extract ", "ADVANCE": "advance ", "RAISE": "raise ",
    "CSUM_ADD": r"checksum \S+ add ", "CSUM_SUBTRACT": r"checksum \S+ subtract ", "CSUM_VERIFY": r"\S+ \|= checksum ",
    "CSUM_GET": r"\S+ = checksum \S+ residual", "EMIT": "emit ", "CSUM_UPDATE": r"\S+ = checksum \S+ update",
    "RESUBMIT": "resubmit ", "MIRROR": "mirror ", "DIGEST": "digest ",
}


# Put in by passes (compiler/instrument) where other statements stand; no program has them.
INSERTED = {"NOTE", "REPORT", "TRACE", "NEXT_CELL"}


def statement_kinds():
    with open("compiler/ir/ir.h", encoding="utf-8") as f:
        body = re.search(r"enum ir_stmt_kind \{(.*?)\n\};", f.read(), re.S).group(1)
    return re.findall(r"\bIR_(\w+),", re.sub(r"//[^\n]*", "", body))


def uncovered(folder):
    """Kinds of statements that no program of long_programs.py has, one line each."""
    path, ir = os.path.join(folder, "p.p4"), os.path.join(folder, "p.ir")
    env = {**os.environ, "CC": "/bin/false", "SILKEN_CACHE": folder}
    left = {kind: STATEMENTS.get(kind) for kind in statement_kinds() if kind not in INSERTED}
    for make in KINDS.values():
        with open(path, "w", encoding="utf-8") as f:
            f.write(make(2))
        if os.path.exists(ir):
            os.remove(ir)
        subprocess.run([SILKEN, "build", "--dump-ir", ir, path], env=env, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        if os.path.exists(ir):
            with open(ir, encoding="utf-8") as f:
                text = f.read()
            left = {k: p for k, p in left.items() if p is None or not re.search(r"^\s*" + p, text, re.M)}
    return [f"no program has the statement IR_{kind}" for kind in left]


# ---- input without end

def macros(depth, width=10):
    lines = ["#define M0 " + "x " * width]
    lines += [f"#define M{i} " + f"M{i - 1} " * width for i in range(1, depth)]
    return "\n".join(lines) + f"\nM{depth - 1}\n"


def endless(folder, pipes):
    """Names and paths of programs, those with pipes or the others."""
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    texts = {"zeros": '#include "/dev/zero"\n', "random": '#include "/dev/urandom"\n', "pipe": '#include "fifo"\n',
             "folder": '#include "."\n', "device": '#include "/dev/stdin"\n', "no_size": '#include "/proc/self/pagemap"\n', "twice": '#include "twice.p4"\n#include "twice.p4"\n',
             "macros": macros(10), "deep_macros": macros(60),
             "lines": macros(22, 2) + "M21\n" * 1000}
    for name, text in texts.items():
        with open(os.path.join(folder, name + ".p4"), "w", encoding="utf-8") as f:
            f.write(text)
    paths = {**{name: os.path.join(folder, name + ".p4") for name in texts},
             "a pipe as program": fifo, "a folder as program": folder}
    return {name: path for name, path in paths.items() if ("pipe" in name) == pipes}


def ends(name, path, folder):
    env = {**os.environ, "SILKEN_CACHE": folder}
    with tempfile.TemporaryFile() as file:
        child = subprocess.Popen([SILKEN, "build", path], env=env, stdout=subprocess.DEVNULL, stderr=file,
                                 preexec_fn=limits)
        begin = time.monotonic()
        given_up = threading.Timer(GIVEN_UP, child.kill)
        given_up.start()
        _, status, use = os.wait4(child.pid, 0)
        given_up.cancel()
        by_clock = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        file.seek(0)
        said = file.read().decode(errors="replace")
    if child.returncode == -signal.SIGKILL:
        return f"{name}: it does not end"
    taken = by_clock if "pipe" in name else use.ru_utime + use.ru_stime
    errors = [line for line in said.splitlines() if "error:" in line]
    sentences = [text.format(path) for kind, text in ENDLESS.items() if (kind == "pipe") == ("pipe" in name)]
    sentences += {"no_size": ["silken: error: cannot include '/proc/self/pagemap': it has no size, so that the preprocessor "
                              "takes it for empty\n"],
                  "device": ["silken: error: cannot include '/dev/stdin': it is a device\n"]}.get(name, [])
    if "folder" not in name and said not in sentences:
        return f"{name}: it says {said[:300]}"
    if use.ru_maxrss * 1024 > MEMORY:  # of the largest process
        return f"{name}: {use.ru_maxrss >> 10} MiB"
    if child.returncode != 1 or len(errors) != 1 or taken > ENDS_WITHIN:
        return f"{name}: {taken:.1f} s, status {child.returncode}, {len(errors)} errors: {said[:300]}"
    return ""


def jobs(folder):
    """Functions that return what is wrong, as a list."""
    others = [c for c in COMMANDS if c != "build"]
    yield lambda: uncovered(folder)
    for i, kind in enumerate(KINDS):
        commands = ["build", others[i % len(others)]]
        yield lambda kind=kind, commands=commands: bounded(kind, SIZES.get(kind, SIZE), commands, folder, None)
    for kind, size in LONG.items():
        yield lambda kind=kind, size=size: bounded(kind, size, ["build"], folder, False)
    for kind, size in COMPARED.items():
        yield lambda kind=kind, size=size: bounded(kind, size, ["check"], folder, None)
    for kind, size in TOO_LONG.items():
        yield lambda kind=kind, size=size: bounded(kind, size, ["build", "check"], folder, True)


def ended(folder, pipes):
    """Functions that return what is wrong, as a list."""
    for name, path in endless(folder, pipes).items():
        yield lambda name=name, path=path: [line for line in [ends(name, path, folder)] if line]


def run_all(of_folder):
    """Runs what of_folder(folder) gives and says how many passed; returns whether one failed."""
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for job in of_folder(folder):
            wrong = job()
            passed += not wrong
            failed += bool(wrong)
            for line in wrong:
                print(line, flush=True)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


def main():
    if len(sys.argv) == 3:
        with tempfile.TemporaryDirectory() as folder:
            return bool(bounded(sys.argv[1], int(sys.argv[2]), COMMANDS, folder, None))
    return run_all(lambda folder: [*ended(folder, False), *jobs(folder)])


if __name__ == "__main__":
    sys.exit(main())
