#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The functions of BF Runtime's C++ and C library, and which of them a client's sources name (docs/facade.md):

    harness/brt/library_calls.py --sde OPEN-P4STUDIO [FILE...]

FILE are the client's sources: C++ is compared with the virtual functions by class, Python (ctypes) with the C functions
by header. C++ is compared by name: of which class an object is, and which of several functions of one name is called,
the script cannot tell; it prints how many there are. DIR is a checkout with files."""
import argparse
import collections
import glob
import os
import re


def plain(path):
    """The file without comments and lines for the preprocessor."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", f.read(), flags=re.S)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)


def outermost(text):
    """(what is outside braces, with ';' where they close, [(what comes before the braces, what is in them)])."""
    outside, inside, depth, begin = [], [], 0, 0
    for i, c in enumerate(text):
        if c == "{":
            depth += 1
            if depth == 1:
                begin = i + 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                inside.append(("".join(outside).rsplit(";", 1)[-1], text[begin:i]))
                outside.append(";")
        elif depth == 0:
            outside.append(c)
    return "".join(outside), inside


def virtual_functions(headers):
    """[(class, function)] in the order of declaration; a destructor's name begins with '~'."""
    found = []
    for path in sorted(glob.glob(os.path.join(headers, "*.hpp"))):
        for _, namespace in [b for b in outermost(plain(path))[1] if "namespace bfrt" in b[0]]:
            for head, body in outermost(namespace)[1]:
                of = re.search(r"\bclass\s+(\w+)[^()]*$", head)
                if of and "enum" not in head:
                    found += [(of.group(1), f) for f in
                              re.findall(r"\bvirtual\b[^;(]*?(~?\w+)\s*\(", outermost(body)[0])]
    return found


def c_functions(headers):
    """[(header, function)]; a function that has two forms (BFRT_GENERIC_FLAGS) is there twice."""
    found = []
    for path in sorted(glob.glob(os.path.join(headers, "*.h"))):
        text = re.sub(r'extern\s+"C"\s*\{', "", plain(path))
        declarations = [d for d in outermost(text)[0].split(";") if not d.split()[:1] == ["typedef"]]
        found += [(os.path.basename(path), m.group(1)) for m in
                  (re.match(r"\s*[\w\s*]+?\b(bf_rt_\w+)\s*\(", d) for d in declarations) if m]
    return found


def show(what, functions, named):
    all_of, names = collections.Counter(f for f, _ in functions), collections.defaultdict(set)
    for of, f in functions:
        names[of].add(f)
    print(f"{what}: {len(functions)} declared, {len({f for _, f in functions})} names")
    for of, n in all_of.items():
        used = sorted(names[of] & named)
        print(f"  {of}: {n} declared, {len(names[of])} names, {len(used)} named by the client")
        for f in used:
            print(f"    {f} ({functions.count((of, f))})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sde", required=True, metavar="DIR")
    parser.add_argument("files", nargs="*", metavar="FILE")
    a = parser.parse_args()
    headers = os.path.join(a.sde, "pkgsrc/bf-drivers/include/bf_rt")
    cpp, c = set(), set()
    for path in a.files:
        if path.endswith(".py"):
            with open(path, encoding="utf-8") as f:
                c |= set(re.findall(r"(?:_driver|get_driver\(\))\s*\.\s*(\w+)", f.read()))
        else:
            cpp |= set(re.findall(r"(?:->|\.)\s*(\w+)\s*\(", plain(path)))
    show("virtual functions", virtual_functions(headers), cpp)
    show("C functions", c_functions(headers), c)


if __name__ == "__main__":
    main()
