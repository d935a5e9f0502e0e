# SPDX-License-Identifier: Apache-2.0
"""The sentences that users read are plain English: subject, verb, object; "after" and "before"; the noun, not a
pronoun for it. Each string literal of the product is searched for turns that were found hard to read, or that said
the opposite of what was meant to someone who read them once, in a log. Beside each is what to write.

Texts that are not sentences for users are left out: the C and the Lua that the compiler prints, scripts and style
sheets in HTML, and strings without a space.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FOLDERS = ("af_packet/", "base/", "brt/", "cli/", "compiler/", "control/", "dpdk/", "hosts/", "memif/", "p4rt/",
           "pcap/", "pipeline/", "rpc/", "session/", "sim/", "stages/", "wire/")
# what these print is code
LEFT_OUT = ("compiler/print/", "compiler/wireshark/", "compiler/describe/wire.c")

# (pattern, what to write, a sentence that it must find)
TURNS = [
    (r"limits? (is |are |%s)*passed", "exceeded", "does not fit Tofino 1: 3 limits passed"),
    (r"one another @", "give one of them a different @name", "two objects have one name; give one another @name"),
    (r"(?<!there )\b(is|are) no (?!(longer|more)\b)", "is not a", "'x' is no P4 program: it is not text"),
    (r"\b(is|are) none\b(?! of)", "is not one", "a stateful ALU returns numbers; 's' is none"),
    (r"\bis none of\b", "is not one of, is not in", "'x' is none of net_raw and net_admin"),
    (r"\bstands? only\b", "is only allowed in", "'exit' stands only in controls"),
    (r"\bcannot stand\b", "is not allowed", "'return' cannot stand here"),
    (r"\bit cannot be\.", "cannot with its subject and verb", "Fewer stages than that it cannot be."),
    (r"\brounds of (this|the|a) loop|loop's rounds", "iterations", "the number of rounds of this loop"),
    (r"(?<!, )\bbehind\b(?! a condition)", "after", "write @name behind it"),
    (r"\bin front\b", "before, earlier", "does not fit in front of the packet"),
    (r"\b(is|are) wanted\b", "is expected", "the name of an action is wanted here"),
    (r"\blooked at\b", "checked, modelled", "the traffic manager's buffers are not looked at"),
    (r"\bgives? out\b", "returns", "register action 'a' gives out 3"),
    (r"\basks? (how|whether|about)\b", "tests, compares, requests", "and asks how the sum stands to 0"),
    (r"\bmakes? (no|all of it) (sense|nothing)\b", "is invalid, invalidates", "the switch's reply makes no sense"),
    (r"\b(is|are) there (already|twice)\b", "exists already, is listed twice", "port 3 is there already"),
    (r"\bnobody\b(?! else)|\bsomebody\b", "the noun: no process, no host", "nobody has answered"),
    (r"\bwent away\b", "closed the connection, ended", "the switch went away"),
    (r"\banew\b", "again, re-: restart, rewrite", "cannot change while the switch runs; start it anew"),
    (r"\bnothing to do with\b", "unexpected argument", "there is nothing to do with 'x'"),
    (r"\b(one|once) more word\b", "unexpected argument", "there is one packet, and 'x' is one more word"),
    (r"\bthere (is|are): ", "the keys are:, the program has:", "unknown key; there is: a, b"),
    (r"; which one\?|^which \w+\?", "name it", "it has several packets; which one? FILE:NUMBER"),
    (r"\brights that\b|have this user's rights", "runs with a user's rights", "have this user's rights"),
    (r"\bof its own kind of way\b|\bby that way\b", "path", "by that way"),
    (r"\bmemory is short\b", "out of memory", "memory is short"),
    (r"\bis too long a name\b", "the name is too long", "'x' is too long a name"),
    (r"\bsay (which|what|so)\b", "name it", "entries at several priorities; say which"),
]

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|\'(?:\\.|[^\'\\\n])\'|'
                   r'(?P<text>"(?:\\.|[^"\\\n])*"(?:\s*(?:PRI\w+\s*)?"(?:\\.|[^"\\\n])*")*)', re.S)


def sentences(text):
    """Pairs (line, sentence) of the string literals of C; neighbouring literals are one."""
    for found in TOKEN.finditer(text):
        if found.group("text"):
            pieces = re.findall(r'"((?:\\.|[^"\\\n])*)"', found.group("text"))
            joined = "".join(pieces).replace("\\n", " ").replace('\\"', '"')
            if " " in joined.strip() and "#" != joined[:1] and "<" != joined[:1]:
                yield text.count("\n", 0, found.start()) + 1, joined


def turns_of(sentence):
    return [better for pattern, better, _ in TURNS if re.search(pattern, sentence)]


def sources():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=True).stdout
    return [f for f in listed.split() if f.startswith(FOLDERS) and f.endswith((".c", ".h", ".y", ".l"))
            and not f.startswith(LEFT_OUT)]


def main():
    failed = 0
    for pattern, better, example in TURNS:
        if not re.search(pattern, example):
            print(f"the pattern for '{better}' does not find: {example}")
            failed += 1
    n = 0
    for file in sources():
        with open(os.path.join(ROOT, file), encoding="utf-8") as f:
            text = f.read()
        for line, sentence in sentences(text):
            n += 1
            for better in turns_of(sentence):
                print(f"{file}:{line}: write '{better}': {sentence[:160]}")
                failed += 1
    if n < 2000:
        print(f"only {n} sentences were found")
        failed += 1
    print(f"{n} sentences")
    print(f"{1 if not failed else 0} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
