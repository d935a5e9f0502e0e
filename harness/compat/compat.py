#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What becomes of programs that others wrote: compiles every P4 program under the folders given
and writes a table, docs/compatibility.md for instance.

    harness/compat/compat.py [OPTION]... FOLDER...

A program is a file that instantiates 'main', comments apart. Its own folder, the two folders above and any
folder 'common', 'include' or 'includes' of those are searched for included files; a file that is in none of
them is looked for everywhere under FOLDER, as the project's build would name its place. A program that is
refused for a Tofino 1 and asks for the chip (__TARGET_TOFINO__, or 4 bits of a mirror type) is asked about for a
Tofino 2. Four things can happen:

    compiled   silken build made an object
    refused    an error at a place in the source; the first one is shown, and why it is right
    other      not a TNA or T2NA program (v1model, PSA...): silken build --parse-only is run instead
    FAILED     anything else: a crash, a time-out, C that does not compile. There must be none.

Why a refusal is right is said by harness/compat/reasons, a line "REGULAR EXPRESSION | REASON" for each kind; the
expression is matched with PROGRAM: MESSAGE. A refusal without a reason is wrong until somebody has looked at it:
it is marked, counted, and makes the exit status 1.

With --translate the C compiler is not run: the programs are 'translated', to C text.
With --brief, a project is a line of counts, and only what was refused or failed is listed by program. A folder
OWNER+PROJECT is shown as OWNER/PROJECT. --append adds to the page that --out names.
With --scripts DIR, the packet scripts DIR/PROGRAM/*.stf are run on a compiled program and counted. Scripts of
our own are in harness/compat/scripts/PROJECT/PATH/*.stf, where PROJECT is FOLDER's name and PATH the program's below
it, without '.p4': what comes out was derived from what the program is for. --own runs them too, in the fast build, the
checked one and with a trace; --behaviour looks at nothing else, and at no program without one. Where a script is wrong,
not Silken, harness/compat/limits says why, a line as in 'reasons', matched with PROGRAM: WHAT THE SCRIPT SAYS.
With --reference CMD, CMD is run with the path of each refused program, and the table says whether it
refuses as well (exit status other than 0).

The last line is 'N programs: A compiled, B refused, C other, D failed'. Exit status 1 when something failed, a
script too, or was refused without a reason.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MAIN = re.compile(r"\)\s*main\s*;")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
ASKS_FOR_CHIP = re.compile(r"__TARGET_TOFINO__|bit<4>\s+MIRROR")
MISSING = re.compile(r"error: ([^\s:]+): No such file")
NO_COMPILER = """#!/bin/sh
# In place of a C compiler: an empty object.
case "$*" in *--version*) echo none; exit 0;; esac
while [ $# -gt 0 ]; do [ "$1" = -o ] && { : > "$2"; exit 0; }; shift; done
"""
ARCHITECTURES = (("tna", re.compile(r'include\s*[<"]t(2)?na\.p4')),
                 ("v1model", re.compile(r'include\s*[<"]v1model\.p4')),
                 ("psa", re.compile(r'include\s*[<"](bmv2/)?psa\.p4')),
                 ("pna", re.compile(r'include\s*[<"](dpdk/)?pna\.p4')))

Result = collections.namedtuple("Result", "name status note scripts")


def programs(folder):
    for path in sorted(folder.rglob("*.p4")):
        try:
            if path.is_file() and MAIN.search(text_of(path)):
                yield path
        except OSError as e:
            sys.exit(f"compat: {path}: {e.strerror}")


def text_of(path):
    return COMMENT.sub("", path.read_text(errors="replace"))


def reasons(file):
    """[(expression, reason)]"""
    out = []
    for line in file.read_text().splitlines():
        if line and not line.startswith("#"):
            expression, reason = line.rsplit(" | ", 1)
            out.append((re.compile(expression.strip()), reason.strip()))
    return out


def include_dirs(path, extra):
    dirs = [path.parent, path.parent.parent, path.parent.parent.parent]
    dirs += [d / n for d in dirs for n in ("common", "include", "includes") if (d / n).is_dir()]
    return [str(d) for d in dirs] + extra


def folder_of(missing, folder, program=None):
    """Where a project has the file that its programs include, of several places the one nearest to
    'program'; null: nowhere."""
    found = [str(f)[:-len(missing) - 1] for f in sorted(folder.rglob(pathlib.Path(missing).name))
             if str(f).endswith("/" + missing)]
    if program:
        found.sort(key=lambda f: -len(os.path.commonpath([f, str(program)])))
    return found[0] if found else None


def architecture(path):
    text = text_of(path)
    found = [name for name, pattern in ARCHITECTURES if pattern.search(text)]
    if "tna" in found:
        return "tna"
    if found:
        return found[0]
    if re.search(r'include\s*[<"][a-z0-9_]*(model|xsa)\.p4', text):
        return "another architecture"
    return "tna"  # an include of an include


def run(command, seconds):
    """Exit status (None: time-out) and everything that was printed."""
    try:
        p = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, ""
    return p.returncode, p.stdout.decode(errors="replace")


def first_error(output, folder):
    for line in output.splitlines():
        m = re.match(r"(.*?):(\d+):\d+: error: (.*)", line)
        if m:
            where = os.path.relpath(m[1], folder)
            # headers of the architecture lie elsewhere: their name is enough
            return f"{pathlib.Path(where).name}:{m[2]}: {m[3]}"
    return None


def first_line(output):
    """Of an error that has no place in the text: a file that is not there."""
    for line in output.splitlines():
        if line.startswith("silken: error: "):
            return line[len("silken: error: "):]
    return None


def script_runs(args, path, folder):
    """(script, options of silken test)"""
    if args.scripts:
        for s in sorted((pathlib.Path(args.scripts) / path.stem).glob("*.stf")):
            yield s, args.test_option
    if args.own:
        for s in own_scripts(args, path, folder):
            for options in ([], ["--checked"], ["--trace"]):
                yield s, args.test_option + options


def own_scripts(args, path, folder):
    return sorted((args.own_scripts / folder.name / path.relative_to(folder).with_suffix("")).glob("*.stf"))


def own_without_program(args, folders):
    """Scripts of our own that no program in these folders was found for."""
    known = {s for folder in folders for path in programs(folder) for s in own_scripts(args, path, folder)}
    return [str(s.relative_to(args.own_scripts)) for s in sorted(args.own_scripts.rglob("*.stf")) if s not in known]


def scripts_of(args, path, folder, includes):
    """(passed, failed, first failing script, [why it is not Silken that fails])"""
    passed = failed = 0
    worst = ""
    limits = []
    for s, options in script_runs(args, path, folder):
        status, output = run([args.silken, "test"] + options + includes + [str(path), str(s)],
                             args.seconds)
        said = re.findall(rf"{re.escape(str(s))}:\d+: (.*)", output)
        limit = why_limited(args, path, said) if status else None
        if status == 0:
            passed += 1
        elif limit:
            limits.append(limit)
        else:
            failed += 1
            worst = worst or s.name
    return passed, failed, worst, limits


def why_limited(args, path, said):
    for expression, reason in args.limits:
        if any(expression.search(f"{path}: {sentence}") for sentence in said):
            return reason
    return None


def build(args, path, folder, options, includes):
    """Exit status and output; adds to 'includes' what the program turns out to need."""
    for _ in range(8):
        status, output = run([args.silken, "build"] + options + includes + [str(path)], args.seconds)
        missing = MISSING.search(output) if status == 1 else None
        found = folder_of(missing[1], folder, path) if missing else None
        if not found or found in includes:
            break
        includes += ["-I", found]
    return status, output


def why_right(args, name, error):
    for expression, reason in args.reasons:
        if expression.search(f"{name}: {error}"):
            return reason
    return None


def judge(args, path, folder):
    name = str(path.relative_to(folder))
    arch = architecture(path)
    includes = []
    for d in include_dirs(path, args.include):
        includes += ["-I", d]
    if arch == "another architecture":
        return Result(name, "other", arch, None)
    options = ["--parse-only"] if arch != "tna" else []
    status, output = build(args, path, folder, options, includes)
    note = ""
    if status == 1 and arch == "tna" and ASKS_FOR_CHIP.search(path.read_text(errors="replace")):
        again = build(args, path, folder, ["--target", "tofino2"], includes)
        if again[0] == 0:
            status, output = again
            note = "for a Tofino 2"
            options = ["--target", "tofino2"]
    if status == 0:
        if arch != "tna":
            return Result(name, "other", f"{arch}: syntax and types are accepted", None)
        done = "translated" if args.translate else "compiled"
        return Result(name, done, note, scripts_of(args, path, folder, options + includes))
    error = first_error(output, folder) or first_line(output)
    if status == 1 and error:
        if args.reference:
            ref, _ = run(args.reference.split() + [str(path)], args.seconds)
            error += " (the reference compiler refuses it as well)" if ref else \
                " (the reference compiler accepts it)"
        if arch == "tna":
            reason = why_right(args, name, error)
            return Result(name, "refused" if reason else "REFUSED",
                          f"{error}: {reason}" if reason else error, None)
        return Result(name, "other", f"{arch}: {error}", None)
    note = "time-out" if status is None else f"exit status {status}: {output.strip()[:200]}"
    return Result(name, "FAILED", note, None)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def totals(results):
    count = collections.Counter(r.status for r in results)
    parts = [f"{count[s]} {s}" for s in ("compiled", "translated", "refused", "other") if count[s]]
    parts += [f"{count['REFUSED']} wrongly refused"] if count["REFUSED"] else []
    return f"{len(results)} programs: {', '.join(parts + [str(count['FAILED']) + ' failed'])}"


def table(out, label, results, with_scripts):
    print(f"\n## {label}\n", file=out)
    print(f"{totals(results)}.\n", file=out)
    head = "| program | status | packet scripts | |" if with_scripts else "| program | status | |"
    print(head + "\n" + "| --- " * (head.count("|") - 1) + "|", file=out)
    for r in results:
        row = [r.name, r.status]
        note = r.note
        if with_scripts:
            if r.scripts and r.scripts[0] + r.scripts[1]:
                row.append(f"{r.scripts[0]} of {r.scripts[0] + r.scripts[1]} pass")
                if r.scripts[1]:
                    note = f"first that fails: {r.scripts[2]}"
            else:
                row.append("")
        print("| " + " | ".join(cell(c) for c in row + [note]) + " |", file=out)


def brief(out, label, groups):
    """Of the projects that have TNA programs."""
    groups = [(name, results) for name, results in groups if any(r.status != "other" for r in results)]
    every = [r for _, results in groups for r in results]
    print(f"\n## {label}\n\n{len(groups)} projects, {totals(every)}.\n", file=out)
    print("| project | programs | |\n| --- | --- | --- |", file=out)
    for name, results in groups:
        print(f"| {cell(name)} | {len(results)} | {totals(results).split(': ', 1)[1]} |", file=out)
    wrong = [(name, r) for name, results in groups for r in results if r.status in ("refused", "REFUSED", "FAILED")]
    if wrong:
        print("\n| project | program | status | why |\n| --- | --- | --- | --- |", file=out)
    for name, r in wrong:
        print("| " + " | ".join(cell(c) for c in (name, r.name, r.status, r.note)) + " |", file=out)


def said_of(script):
    """The first sentence of its first comment, or who wrote it."""
    if script.read_text().startswith("# p4testgen"):
        return "by p4testgen"
    words = " ".join(re.match(r"(?:#[^\n]*\n)*", script.read_text())[0].replace("#", "").split())
    return re.split(r"(?<=[.]) ", words)[0].rstrip(".")


def packets_of(script):
    return len(re.findall(r"^\s*packet\s", script.read_text(), re.MULTILINE))


def outcome(result):
    if not result.scripts:
        return f"{result.status}: {result.note}"
    passed, failed, worst, limits = result.scripts
    said = f"{passed} of {passed + failed + len(limits)} pass"
    for limit, n in collections.Counter(limits).items():
        said += f"; {n}: {limit}"
    return said + (f"; first that fails: {worst}" if failed else "")


def behaviour(args, out, groups, folders):
    """Of the programs that have scripts of our own."""
    n = sum(len(results) for _, results in groups)
    bad = sum(1 for _, results in groups for r in results if not r.scripts or r.scripts[1])
    limits = sum(len(r.scripts[3]) for _, results in groups for r in results if r.scripts)
    runs = sum(sum(r.scripts[:2]) for _, results in groups for r in results if r.scripts) + limits
    wrong = f"; {limits} of {runs} runs are of scripts that are wrong themselves" if limits else ""
    print(f"\n## {args.behaviour}\n\n{n} programs of {len(groups)} projects: {n - bad} behave as their scripts say, "
          f"{bad} do not{wrong}.\n", file=out)
    print("| program | what is tried | packets | fast, checked, trace |\n"
          "| --- | --- | --- | --- |", file=out)
    for (name, results), folder in zip(groups, folders):
        for r in results:
            scripts = own_scripts(args, folder / r.name, folder)
            row = (f"{name}/{r.name}", "; ".join(dict.fromkeys(said_of(s) for s in scripts)),
                   str(sum(packets_of(s) for s in scripts)), outcome(r))
            print("| " + " | ".join(cell(c) for c in row) + " |", file=out)


def write(args, out, groups, folders):
    if not args.append:
        print("# Programs of others\n\nWritten by `harness/compat/compat.py`, which says what the words "
              "mean.\nNothing of these programs is in this tree.", file=out)
        if args.preface:
            print("\n" + pathlib.Path(args.preface).read_text().strip(), file=out)
    if args.brief:
        brief(out, args.brief, groups)
        return
    if args.behaviour:
        behaviour(args, out, groups, folders)
        return
    for label, results in groups:
        table(out, label, results, args.scripts or args.own)


def arguments():
    p = argparse.ArgumentParser(description="Compiles every P4 program under the folders.")
    p.add_argument("folders", nargs="+", metavar="FOLDER")
    p.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    p.add_argument("--silken", default="build/silken", help="the compiler (build/silken)")
    p.add_argument("--scripts", metavar="DIR", help="packet scripts: DIR/PROGRAM/*.stf")
    p.add_argument("--own", action="store_true", help="packet scripts of our own, too")
    p.add_argument("--own-scripts", type=pathlib.Path, default=HERE / "scripts", metavar="DIR",
                   help="where those are (harness/compat/scripts)")
    p.add_argument("--translate", action="store_true", help="to C text; the C compiler is not run")
    p.add_argument("--test-option", action="append", default=[], metavar="OPT",
                   help="passed on to silken test")
    p.add_argument("--reference", metavar="CMD", help="another compiler, run on what is refused")
    p.add_argument("--label", action="append", default=[],
                   help="heading for a folder, in their order (its name)")
    p.add_argument("--brief", metavar="HEADING", help="one section: counts by project, and what was refused")
    p.add_argument("--behaviour", metavar="HEADING",
                   help="one section: the programs with packet scripts of our own, and how they behave")
    p.add_argument("--append", action="store_true", help="add to the file that --out names")
    p.add_argument("--preface", metavar="FILE", help="text to put before the tables")
    p.add_argument("--out", metavar="FILE", help="write the tables there (standard output)")
    p.add_argument("--seconds", type=float, default=180, help="limit for a program (180)")
    return p.parse_intermixed_args()


def main():
    args = arguments()
    args.reasons = reasons(HERE / "reasons")
    args.limits = reasons(HERE / "limits") if args.behaviour else []
    args.own = args.own or bool(args.behaviour)
    if args.translate:
        compiler = tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False)
        compiler.write(NO_COMPILER)
        compiler.close()
        os.chmod(compiler.name, 0o755)
        os.environ["CC"] = compiler.name
        os.environ["SILKEN_CACHE"] = tempfile.mkdtemp(prefix="silken-compat-")
    groups, folders = [], []
    for i, f in enumerate(args.folders):
        folder = pathlib.Path(f).resolve()
        if not folder.is_dir():
            sys.exit(f"compat: {f}: no such folder")
        results = []
        for path in programs(folder):
            if args.behaviour and not own_scripts(args, path, folder):
                continue
            r = judge(args, path, folder)
            results.append(r)
            print(f"{r.status:9} {r.name} {r.note}", file=sys.stderr)
        if not results and (args.brief or args.behaviour):
            continue
        if not results:
            sys.exit(f"compat: {f}: no P4 program in it")
        folders.append(folder)
        groups.append((args.label[i] if i < len(args.label) else folder.name.replace("+", "/"), results))
    out = open(args.out, "a" if args.append else "w") if args.out else sys.stdout
    write(args, out, groups, folders)
    every = [r for _, results in groups for r in results]
    bad = sum(r.scripts[1] for r in every if r.scripts)
    if args.out:
        out.close()
    print(totals(every))
    lost = own_without_program(args, folders) if args.behaviour else []
    for script in lost:
        print(f"compat: no program for {script}", file=sys.stderr)
    wrong = lost or any(r.status in ("FAILED", "REFUSED") for r in every)
    return 1 if wrong or bad else 0


if __name__ == "__main__":
    sys.exit(main())
