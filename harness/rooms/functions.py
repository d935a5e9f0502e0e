# SPDX-License-Identifier: Apache-2.0
"""A static function's name is one file's alone, so that perf, gdb and grep tell functions apart: it begins with the
module's name (`flows_find`, not `find`).

    python3 harness/rooms/functions.py [FOLDER]      checks the tree in FOLDER (default: this one)

Functions are read from the text, without a compiler. What is read is the outermost level of a file: comments, literals, preprocessor lines and bodies in braces are left out,
and what remains are declarations.
"""
import collections
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import arrows  # noqa: E402

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
# The product; tests and benches are programs of their own.
NOT_PRODUCT = ("harness/", "bench/")

# comments, string literals, character literals
NO_CODE = re.compile(r'//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.M)
# words that a parenthesis follows in front of a function's name
NO_NAME = {"_Alignas", "_Static_assert", "__typeof__", "typeof", "alignas", "__declspec", "sizeof"}
ATTRIBUTE = re.compile(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)")
WORD_AND_PARENTHESIS = re.compile(r"([A-Za-z_]\w*)\s*\(")

Function = collections.namedtuple("Function", "name static defined line")


def blank(text):
    """The text as long as before, lines kept, without comments, literals and preprocessor lines."""
    def spaces(found):
        return re.sub(r"[^\n]", " ", found.group())
    return DIRECTIVE.sub(spaces, NO_CODE.sub(spaces, text))


def declarations(text):
    """Triples (offset, text, whether a body follows) of the outermost level."""
    depth, start, i = 0, 0, 0
    for found in re.finditer(r"[{};]", text):
        i, sign = found.start(), found.group()
        if sign == "{":
            if not depth and "(" in text[start:i] and "=" not in text[start:i]:
                yield start, text[start:i], True
            depth += 1
        elif sign == "}":
            depth = max(depth - 1, 0)
            if not depth:
                start = i + 1
        elif not depth:
            yield start, text[start:i], False
            start = i + 1


def functions(text):
    """The functions that C text declares or defines, in their order."""
    found = []
    for offset, declared, defined in declarations(blank(text)):
        head = ATTRIBUTE.sub(" ", declared.split("=")[0])
        if re.match(r"\s*(typedef|_Static_assert|extern\s*$)", head):
            continue
        for name in WORD_AND_PARENTHESIS.finditer(head):
            if name.group(1) in NO_NAME:
                continue
            # "int (*f)(void)" is a pointer: its type stands before a parenthesis
            if not re.match(r"\(\s*\*", head[name.end() - 1:]) and head[:name.start()].strip():
                found.append(Function(name.group(1), bool(re.search(r"\bstatic\b", head[:name.start()])), defined,
                                      text.count("\n", 0, offset + re.search(r"\b%s\s*\(" % name.group(1), declared).start()) + 1))
            break
    return found


def sources(folder, ends=(".c", ".h")):
    """The C files of the tree, relative to its folder."""
    return [p for p in arrows.sources(folder) if p.endswith(ends)]


def product(folder):
    """Those of the product, grammars included."""
    return [p for p in sources(folder, (".c", ".h", ".y", ".l")) if not p.startswith(NOT_PRODUCT)]


def read(folder, files):
    """{file: its functions}"""
    of = {}
    for file in files:
        with open(os.path.join(folder, file), encoding="utf-8") as f:
            of[file] = functions(f.read())
    return of


def shared(of):
    """{name: [(file, line)]} of the static functions whose name is a function's in another file too. A function that
    is not static is one function, wherever it is declared."""
    places = collections.defaultdict(dict)
    for file, found in of.items():
        for function in found:
            if function.static or function.defined:
                places[function.name].setdefault(file, function)
    return {name: [(file, function.line) for file, function in sorted(files.items())]
            for name, files in places.items() if len(files) > 1 and any(f.static for f in files.values())}


def check(of):
    """A sentence for each name of a static function that is not one file's alone. 'of' is of read()."""
    return [f"{places[0][0]}:{places[0][1]}: {', '.join(f'{file}:{line}' for file, line in places[1:])} "
            f"{'has' if len(places) == 2 else 'have'} a function '{name}', too: put the module's name in front of a "
            "static function's" for name, places in sorted(shared(of).items())]


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else ROOT
    said = check(read(folder, product(folder)))
    for sentence in said:
        print(sentence)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
