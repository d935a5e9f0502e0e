#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages and completion say what the program takes, no more and no less (packaging/pages)."""
import glob
import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "harness"))
sys.path.insert(0, os.path.join(ROOT, "packaging", "pages"))
import tally  # noqa: E402
import completion  # noqa: E402
import helptext  # noqa: E402
import roff  # noqa: E402

SILKEN = os.path.abspath(os.path.join(os.environ.get("BUILD", "build"), "silken"))
FOLDER = tempfile.TemporaryDirectory()


def setUpModule():
    with open(os.path.join(ROOT, "VERSION"), encoding="utf-8") as f:
        version = f.read().strip()
    subprocess.run([sys.executable, os.path.join(ROOT, "packaging", "pages", "pages.py"), SILKEN, version, FOLDER.name],
                   check=True, timeout=300)
    os.rename(os.path.join(FOLDER.name, "silken.zsh"), os.path.join(FOLDER.name, "_silken"))


def tearDownModule():
    FOLDER.cleanup()


def refused(*words):
    """What the program says that it does not take."""
    done = subprocess.run([SILKEN, *words], capture_output=True, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, "SILKEN_SOCKET": "/no/such/socket"})
    assert done.returncode == 2, (words, done)
    return done.stderr


class Same(unittest.TestCase):
    def test_the_same_each_time(self):
        """Whatever the order is in which Python goes through a set."""
        made = []
        for seed in "1", "2", "3":
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([sys.executable, os.path.join(ROOT, "packaging", "pages", "pages.py"), SILKEN, "1.0", folder],
                               check=True, timeout=300, env={**os.environ, "PYTHONHASHSEED": seed})
                files = {}
                for name in sorted(os.listdir(folder)):
                    with open(os.path.join(folder, name), "rb") as f:
                        files[name] = f.read()
                made.append(files)
        self.assertGreater(len(made[0]), 20)
        for other in made[1:]:
            self.assertEqual([n for n in made[0] if made[0][n] != other.get(n)], [])
            self.assertEqual(made[0].keys(), other.keys())


class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        _, cls.texts = helptext.all_help(SILKEN)

    def test_what_help_has_is_taken(self):
        asked = 0
        for command, text in self.texts.items():
            way = command.split() + {"libra": ["profile"], "dlcp": ["thresholds"]}.get(command, [])
            needs = "needs a value" if command == "demo" else "needs an argument"
            for option in helptext.options(text):
                for flag, argument, optional in option.flags:
                    if flag == "--help":
                        continue
                    with self.subTest(command=command, flag=flag):
                        if argument and not optional:
                            self.assertRegex(refused(*way, flag), f"{flag}'? {needs}")
                        else:
                            word = f"{flag}={argument}" if optional else flag
                            self.assertIn("there is no option '--no-such'", refused(*way, word, "--no-such"))
                        asked += 1
        self.assertGreater(asked, 150)

    def test_what_is_taken_is_in_help(self):
        shown = {}
        for text in self.texts.values():
            for option in helptext.options(text):
                for flag, argument, optional in option.flags:
                    shown.setdefault(flag, set()).add("optional" if optional else "required" if argument else "no")
            for _, flags in helptext.command_words(text):
                for flag, argument in flags:
                    shown.setdefault(flag, set()).add("required" if argument else "no")
        found = 0
        for name in glob.glob(os.path.join(ROOT, "cli", "**", "*.c"), recursive=True):
            with open(name, encoding="utf-8") as f:
                if name.endswith("compile.c"):
                    continue  # of a process of `silken run`, not for people
                for flag, kind in re.findall(r'\{"([a-z][a-z0-9%-]*)",\s*(no|required|optional)_argument', f.read()):
                    found += 1
                    if flag != "help":
                        self.assertIn(kind, shown.get("--" + flag, ()), f"{name}: --{flag}")
        self.assertGreater(found, 100)

    def test_a_text_that_is_not_understood_is_refused(self):
        for text in ("Prints a thing.\n", "usage: silken x\n\n  --good   it is\n odd\n", "usage: silken x\n\n  -\n"):
            with self.subTest(text), self.assertRaises(helptext.Unclear):
                helptext.parse("x", text)
        with self.assertRaises(helptext.Unclear):
            helptext.completes("x", "--y", "A NEW WORD")


class Pages(unittest.TestCase):
    def shown(self, name):
        """A page as man shows it. Warnings are errors."""
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", os.path.join(FOLDER.name, name)], capture_output=True,
                              text=True, timeout=60, check=True, env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
        self.assertEqual(done.stderr, "", name)
        return re.sub(r".\x08", "", done.stdout)

    def test_each_command_has_a_page_with_its_options(self):
        summaries, texts = helptext.all_help(SILKEN)
        overview = self.shown("silken.1")
        for command, text in texts.items():
            page = "silken-" + command.replace(" ", "-")
            with self.subTest(page):
                self.assertIn(page + "(1)", overview)
                shown = self.shown(page + ".1")
                self.assertIn(summaries[command], " ".join(shown.split()))
                for option in helptext.options(text):
                    for flag, _, _ in option.flags:
                        self.assertRegex(shown, rf"(?m)^ +.*{re.escape(flag)}\b|{re.escape(flag)}")
                    words = re.findall(r"[a-z]{4,}", option.text)
                    for word in words[:5]:
                        self.assertIn(word, shown.replace("\u2010\n", "").replace("-\n", ""))

    def test_formats(self):
        schema = json.loads(helptext.ask(SILKEN, "schema", "--config"))
        members = self.shown("silken-switch.json.5").split("\nMEMBERS\n")[1]
        for name in schema["properties"]:
            self.assertRegex(members, rf"(?m)^ {{7}}{name}\b")
        pages = sorted(n for n in os.listdir(FOLDER.name) if n.endswith(".5"))
        self.assertGreaterEqual(len(pages), 8)
        for name in pages:
            self.assertGreater(len(self.shown(name).split("\n")), 20, name)

    def test_nothing_in_a_text_is_a_request(self):
        page = roff.Page("x", 1, "0", "a 'b' \\c")
        page.paragraph(roff.inline(".TH `\\fB` 'x'"))
        page.verbatim([".sp", "'br", "\\n[x]"])
        with open(os.path.join(FOLDER.name, "x.1"), "w", encoding="utf-8") as f:
            f.write(page.text())
        shown = self.shown("x.1")
        for text in ("a 'b' \\c", ".TH \\fB 'x'", ".sp", "'br", "\\n[x]"):
            self.assertIn(text, shown)


# what is typed: words among what is offered
OFFERED = {
    "silken re": ["record", "replay"],
    "silken help s": ["schema", "server", "sim"],
    "silken build --dump": ["--dump-ast", "--dump-ir", "--dump-plan"],
    "silken build --target ": ["tofino1", "tofino2"],
    "silken replay --format ": ["pcap", "pcapng"],
    "silken libra ": ["control", "profile", "tables"],
    "silken ctl table d": ["data", "default", "delete", "dump"],
    "silken ctl port pool ": ["delete", "set"],
    "silken ctl top --view ": ["alarms", "all", "drops", "jobs", "ports"],
}


class Bash(unittest.TestCase):
    def offered(self, typed):
        script = '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _silken; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", script, "bash", os.path.join(FOLDER.name, "silken.bash"), *typed.split(" ")],
                              capture_output=True, text=True, timeout=60, check=True, cwd=ROOT)
        return sorted(done.stdout.split())

    def test_offered(self):
        for typed, words in OFFERED.items():
            with self.subTest(typed):
                self.assertEqual(self.offered(typed), words)

    def test_files_and_folders(self):
        self.assertEqual(self.offered("silken build p4/l2/l"), ["p4/l2/l2.p4"])
        self.assertEqual(self.offered("silken build -I p4/l"), ["p4/l2", "p4/libra"])
        self.assertEqual(self.offered("silken run -c VERS"), ["VERSION"])

    def test_a_socket_is_no_command(self):
        self.assertEqual(self.offered("silken ctl -s /x table d"), ["data", "default", "delete", "dump"])


class Zsh(unittest.TestCase):
    """In a terminal, as zsh completes nowhere else."""

    def setUp(self):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.environ.update(TERM="dumb", PS1="prompt> ", HOME=FOLDER.name)
            os.chdir(ROOT)
            os.execlp("zsh", "zsh", "-f", "-i")
        self.addCleanup(self.end, pid)
        self.write(f"unsetopt beep; fpath=({FOLDER.name} $fpath); autoload -U compinit; compinit -D -u; echo rea''dy\n")
        self.read_to("ready\r\n", "prompt> ")

    def end(self, pid):
        os.close(self.terminal)
        os.waitpid(pid, 0)

    def write(self, text):
        os.write(self.terminal, text.encode())

    def read_to(self, *words):
        """What the terminal shows, until all |words| are there, in their order."""
        text, end = "", time.monotonic() + 60
        while not re.search(".*".join(map(re.escape, words)), text, re.S):
            self.assertLess(time.monotonic(), end, f"waits for {words}: {text!r}")
            if select.select([self.terminal], [], [], 0.1)[0]:
                text += os.read(self.terminal, 65536).decode()
        return text

    def test_offered(self):
        for typed, words in OFFERED.items():
            self.write(typed + "\x04")  # at the end of a line: what could be, as a list
            self.read_to(*words)
            self.write("\x15echo do''ne\n")
            self.read_to("done\r\n", "prompt> ")


class Model(unittest.TestCase):
    def test_every_argument_is_known(self):
        _, known = completion.model(SILKEN)
        self.assertGreaterEqual(len(known), 15)


if __name__ == "__main__":
    tally.main()
