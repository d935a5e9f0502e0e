# SPDX-License-Identifier: Apache-2.0
"""Is everything that the compiler writes still the same, to the byte?

A change that only moves code, or only makes it faster, changes nothing of what the compiler writes. This
tool compiles every program of the tree in the fast, checked and scalar builds (to C text, the C compiler is
not run), and writes the schemas, the dissector, the wire header and the intermediate form besides. It
compares the SHA-256 of each text with harness/compiler/generated.text.

    python3 harness/compiler/generated.py             compares all programs, in ten seconds
    python3 harness/compiler/generated.py --update    writes the list anew, after a change that is meant
    python3 harness/compiler/generated.py --keep DIR  also leaves the texts there, to be compared with diff

A line of the list is the hash, the kind of text and the program, sorted by program. A program that the
compiler refuses has no lines. The texts name files: the sources that they were made of, and the headers that
generated C includes. Files that have moved since the list was made are in harness/compiler/generated.moved, a
line "OLD NEW" each (a folder ends in '/'): each NEW in a text becomes OLD before the text is hashed. --update
empties that file.
"""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
LIST = os.path.join(HERE, "generated.text")
MOVED = os.path.join(HERE, "generated.moved")
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
SILKEN = os.environ.get("SILKEN", f"{os.environ.get('BUILD', 'build')}/silken")
JOBS = int(os.environ.get("JOBS", "2"))
HEADER = "# SHA-256 of what the compiler writes: harness/compiler/generated.py\n"
BUILDS = {"fast": [], "checked": ["--checked"], "scalar": ["--scalar"]}
OTHERS = {"ir": "--dump-ir", "bfrt": "--bf-rt", "p4info": "--p4info", "wireshark": "--wireshark",
          "wire": "--wire-header"}


def programs():
    """All P4 files of the tree; what cannot be compiled alone is found out by compiling it."""
    listed = subprocess.run(["git", "ls-files", "*.p4"], cwd=ROOT, text=True, capture_output=True, check=True)
    return [p for p in listed.stdout.split() if not p.startswith("p4/include/")]


def moves():
    """Pairs (new, old), the longest new path first."""
    if not os.path.exists(MOVED):
        return []
    with open(MOVED, encoding="utf-8") as f:
        pairs = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return sorted(((new, old) for old, new in pairs), key=lambda pair: -len(pair[0]))


def moved_back(text, pairs):
    for new, old in pairs:
        text = text.replace(new.encode(), old.encode())
    return text


def compiled(program, kind, folder):
    """Texts by kind, of one build; those that are the same in every build come with the fast one. Empty when
    the compiler refuses the program."""
    files = {kind: os.path.join(folder, kind)}
    words = [SILKEN, "build", *BUILDS[kind], "--emit-c", files[kind]]
    if kind == "fast":
        for other, option in OTHERS.items():
            files[other] = os.path.join(folder, other)
            words += [option, files[other]]
    # the C compiler is not wanted: the text is written before it is called
    env = {**os.environ, "CC": "/bin/false", "SILKEN_CACHE": folder}
    subprocess.run([*words, program], cwd=ROOT, env=env, capture_output=True, check=False, timeout=300)
    if not os.path.exists(files[kind]):
        return {}
    texts = {}
    for name, path in files.items():
        with open(path, "rb") as f:
            texts[name] = f.read()
    return texts


def hashes(program, pairs, keep=None):
    """Lines of the list for one program."""
    lines = {}
    name = moved_back(program.encode(), pairs).decode()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o700)
        for kind in BUILDS:
            for k, text in compiled(program, kind, folder).items():
                text = moved_back(text, pairs)
                lines[(name, k)] = hashlib.sha256(text).hexdigest()
                if keep:
                    with open(os.path.join(keep, f"{name.replace('/', '+')}.{k}"), "wb") as f:
                        f.write(text)
    return lines


def of_all(chosen, pairs, keep=None):
    found = {}
    with ThreadPoolExecutor(JOBS) as pool:
        for lines in pool.map(lambda p: hashes(p, pairs, keep), chosen):
            found.update(lines)
    return found


def read_list():
    with open(LIST, encoding="utf-8") as f:
        rows = [line.split() for line in f if not line.startswith("#")]
    return {(program, kind): digest for digest, kind, program in rows}


def write_list(found):
    with open(LIST, "w", encoding="utf-8") as f:
        f.write(HEADER)
        for program, kind in sorted(found):
            f.write(f"{found[(program, kind)]} {kind} {program}\n")
    if os.path.exists(MOVED):
        os.remove(MOVED)


def differences(keep=None):
    """(number of texts compared, sentences about what is different)."""
    wanted = read_list()
    found = of_all(programs(), moves(), keep)
    said = []
    for key in sorted(wanted.keys() | found.keys()):
        program, kind = key
        if key not in found:
            said.append(f"{program}: the {kind} text is in the list, but is not written any more")
        elif key not in wanted:
            said.append(f"{program}: the {kind} text is not in the list")
        elif found[key] != wanted[key]:
            said.append(f"{program}: the {kind} text has changed")
    return len(wanted), said


def main():
    parser = argparse.ArgumentParser(description="compares what the compiler writes with a list of hashes")
    parser.add_argument("--update", action="store_true", help="write the list anew")
    parser.add_argument("--keep", metavar="DIR", help="leave the texts there")
    given = parser.parse_args()
    if given.keep:
        os.makedirs(given.keep, exist_ok=True)
    if given.update:
        found = of_all(programs(), [], given.keep)
        write_list(found)
        print(f"{len(found)} texts of {len({p for p, _ in found})} programs")
        return 0
    count, said = differences(given.keep)
    for sentence in said:
        print(sentence)
    print(f"{count} texts compared, {len(said)} different")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
