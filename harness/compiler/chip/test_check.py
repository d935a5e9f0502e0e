#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""`silken check`: its answer and exit status, the form of its JSON, which chip is meant, and what it answers
to input that cannot be used."""
import glob
import json
import os
import re
import resource
import stat
import subprocess
import sys

HERE = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(HERE, "..", ".."), os.path.join(HERE, "..", "..", "pcap")]
import tally  # noqa: E402
from folder import FolderCase  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
L2 = "p4/l2/l2.p4"
INA = "p4/ina/ina.p4"
T2 = "harness/replay/programs/cut.p4"
COMPARES = "harness/compiler/chip/limits/salu_compares.p4"
KEYS = {"form", "program", "fits", "verdict", "target", "target_by", "stages_limit", "violations", "warnings", "notes",
        "stages", "stages_ingress", "stages_egress", "tables", "resources", "critical_path", "dependencies", "phv",
        "parser", "deparser", "pipelines"}
VIOLATION = {"rule", "message", "suggestion", "file", "line", "column", "limit", "used", "also", "also_text",
             "path", "doubtful"}


def check(*arguments, **options):
    env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    return subprocess.run([f"{BUILD}/silken", "check", *map(str, arguments)], text=True,
                          capture_output=True, timeout=600, env=env, **options)


class Check(FolderCase):
    def document(self, *arguments, status=0):
        done = check("--json", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        doc = json.loads(done.stdout)
        self.assertEqual(set(doc), KEYS)
        for violation in doc["violations"] + doc["warnings"]:
            self.assertEqual(set(violation), VIOLATION)
        self.assertEqual(doc["fits"], not doc["violations"])
        self.assertEqual(doc["fits"], status == 0)
        sure = [v for v in doc["violations"] if not v["doubtful"]]
        if status != 2:
            self.assertEqual(doc["verdict"], "fits" if doc["fits"] else "does not fit" if sure else "may not fit")
        self.assertEqual(status, {"fits": 0, "does not fit": 1, "may not fit": 3, None: 2}[doc["verdict"]])
        return doc

    def refused(self, sentence, *arguments, **options):
        """One sentence, status 2, nothing else."""
        done = check(*arguments, **options)
        self.assertEqual((done.returncode, done.stdout or "", done.stderr.count("\n")), (2, "", 1), done.stderr)
        self.assertIn(sentence, done.stderr)

    # ---- the answer ----

    def test_fits(self):
        doc = self.document(L2)
        self.assertEqual((doc["target"], doc["target_by"], doc["stages_limit"]), ("tofino1", "program", 12))
        self.assertEqual([p["name"] for p in doc["pipelines"]], ["pipe"])
        self.assertEqual([(t["name"], t["stages"], t["at"]["line"]) for t in doc["tables"]],
                         [("pipe.Ingress.forward", [0], 61)])
        done = check(L2)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith(f"fits Tofino 1\n{L2}: 1 of 12 stages, 1 in ingress, 0 in egress\n"))
        self.assertNotIn("\033", done.stdout)
        self.assertIn("\033[1;32mfits", check("--color", "always", L2).stdout)
        self.assertLessEqual(max(map(len, check("--width", "40", L2).stdout.splitlines())), 40)

    def test_our_programs_fit(self):
        programs = []
        for path in sorted(glob.glob("p4/*/*.p4")):
            with open(path, encoding="utf-8") as f:
                if re.search(r"^Switch\(.*\) main;", f.read(), re.M):
                    programs.append(path)
        self.assertGreaterEqual(len(programs), 5)
        for path in programs:
            with self.subTest(path):
                doc = self.document(path)
                self.assertTrue(1 <= doc["stages"] <= 12)

    def test_several_pipelines(self):
        doc = self.document(INA)
        self.assertEqual([p["name"] for p in doc["pipelines"]], ["switchml", "atp"])
        self.assertEqual(doc["stages"], max(p["stages"] for p in doc["pipelines"]))
        self.assertIn("==== pipeline atp\n", check(INA).stdout)

    def test_other_chip(self):
        doc = self.document("--target", "tofino2", L2)
        self.assertEqual((doc["target"], doc["target_by"], doc["stages_limit"]), ("tofino2", "option", 20))
        doc = self.document(T2)
        self.assertEqual((doc["target"], doc["target_by"]), ("tofino2", "program"))
        self.assertIn("because it includes t2na.p4", check(T2).stdout)
        doc = self.document("--target", "tofino1", T2, status=2)
        self.assertIn("--target tofino2", doc["violations"][0]["message"])

    def test_does_not_fit(self):
        doc = self.document("-D", "OVER", COMPARES, status=1)
        violation = doc["violations"][0]
        self.assertEqual((violation["rule"], violation["file"], violation["limit"], violation["used"]),
                         ("salu-comparisons", COMPARES, 2, 3))
        done = check("-D", "OVER", COMPARES)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertTrue(done.stdout.startswith("does not fit Tofino 1: 1 limit exceeded\n"))
        with open(COMPARES, encoding="utf-8") as f:
            line = f.read().splitlines()[violation["line"] - 1]
        self.assertIn(f"{COMPARES}:{violation['line']}:{violation['column']}: error: ", done.stdout)
        self.assertIn(f"{violation['line']} | {line}\n", done.stdout)

    def test_annotations_put_entries_into_partitions(self):
        """Wildcards in partitions are in SRAM; without the annotations they are in TCAM."""
        path = "harness/stf/tables/partitions.p4"
        with open(path, encoding="utf-8") as f:
            text = f.read()
        plain = self.path("plain.p4")
        with open(plain, "w", encoding="utf-8") as f:
            f.write(re.sub(r"@pragma atcam.*|@atcam_\w+\(.*?\)", "", text).replace('"../', '"' + os.path.abspath(
                "harness/stf") + "/"))
        tcam = [self.document(p)["resources"]["totals"]["tcam"]["used"] for p in (path, plain)]
        self.assertEqual((tcam[0], tcam[1] > 0), (0, True))

    def test_statements_that_are_joined(self):
        """What a condition or an action reads was computed elsewhere: the message tells where."""
        path = self.file("joined.p4", """#include "common.p4"
INGRESS {
    apply {
        md.v = hdr.num.e + 1;
        if (md.v == hdr.num.f) {
            hdr.num.a = 1;
        }
        md.w = hdr.num.e - hdr.more.e;
        hdr.more.f = md.w + hdr.num.f;
        if (hdr.num.e - hdr.num.f == 1) {
            hdr.num.b = 1;
        }
        hdr.more.g = md.w;
    }
}
MAIN
""")
        doc = self.document("-I", "harness/compiler/chip/limits", path, status=1)
        found = {v["line"]: (v["rule"], v["also"] and v["also"]["line"], v["also_text"]) for v in doc["violations"]}
        self.assertEqual(found, {
            5: ("gateway-operation", 4, "what it compares is computed here: the check joins the two"),
            9: ("action-sources", 8, "a part of it is computed here: the check joins the two"),
            10: ("gateway-operation", None, None)})
        advice = {v["line"]: v["suggestion"] for v in doc["violations"]}
        self.assertIn("keep the two apart", advice[5])
        self.assertIn("in an action of an earlier table", advice[10])

    # what lowering refuses because of the architecture is an answer; what is no program has none
    def test_refused_by_the_compiler(self):
        doc = self.document("harness/compiler/lower/refused/applied_twice.p4", status=1)
        self.assertEqual({v["rule"] for v in doc["violations"]}, {"compile"})
        self.assertEqual(doc["tables"], [])
        bad = self.file("bad.p4", "control c() { apply { x = 1; } }\n")
        doc = self.document(bad, status=2)
        self.assertEqual([(v["rule"], v["file"], v["line"]) for v in doc["violations"]], [("compile", bad, 1)])
        done = check(bad)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(f"{bad}:1:23: error: ", done.stderr)
        self.document(self.path("none.p4"), status=2)

    def test_rules_are_in_the_docs(self):
        with open("docs/hardware.md", encoding="utf-8") as f:
            listed = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", f.read()))
        rules = set()
        for path in glob.glob("harness/compiler/chip/limits/*.p4"):
            with open(path, encoding="utf-8") as f:
                rules |= set(re.findall(r"^// (?:refused|doubted): ([a-z-]+)", f.read(), re.M))
        self.assertGreater(len(rules), 10)
        self.assertEqual(rules - listed, set())

    # ---- options and files that cannot be used ----

    def test_options(self):
        self.refused("a P4 file is missing")
        self.refused("only one P4 file can be given", L2, L2)
        self.refused("--target takes tofino1 or tofino2, not 'tofino3'", "--target", "tofino3", L2)
        self.refused("option '--target' is given twice", "--target", "tofino1", "--target", "tofino2", L2)
        self.refused("option '--html' is given twice", "--html", "a", "--html", "b", L2)
        self.refused("option '--html' needs an argument", L2, "--html")
        self.refused("--html needs the name of a file", "--html", "-", L2)
        self.refused("--html needs the name of a file", "--html", "", L2)
        self.refused("there is no option '--page'", "--page", L2)
        self.refused("--width takes 40 to 10000, not '39'", "--width", "39", L2)
        self.refused("--color takes always, never or auto, not 'red'", "--color", "red", L2)
        self.refused(f"{L2} is the program", "--html", L2, L2)
        self.refused("cannot read", self.path("none.p4"))
        self.assertIn("usage: silken check", check("--help").stdout)

    def test_a_table_that_is_too_large(self):
        # nothing depends on anything: the table alone is more than the chip
        with open(L2, encoding="utf-8") as f:
            program = self.file("large.p4", f.read().replace("size = 1024;", "size = 4000000;"))
        doc = self.document(program, status=1)
        (v,) = doc["violations"]
        self.assertEqual((v["rule"], v["limit"], v["also"]), ("stages", 12, None))
        self.assertRegex(v["message"], r"^table pipe\.Ingress\.forward takes (\d+) stages of its own, a Tofino 1 has 12$")
        self.assertIn(f"takes {v['used']} stages", v["message"])

    def test_page_file(self):
        page = self.path("page.html")
        self.assertEqual(check("--html", page, L2).returncode, 0)
        text = self.text("page.html")
        self.assertTrue(text.startswith("<!doctype html>") and text.endswith("</html>\n"))
        os.chmod(page, 0o640)
        os.symlink(page, self.path("link"))
        self.assertEqual(check("--html", self.path("link"), COMPARES).returncode, 0)
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(os.stat(page).st_mode & 0o777, 0o640)
        other = self.text("page.html")
        self.assertNotEqual(other, text)
        # what fails leaves what was there
        bad = self.file("bad.p4", "x\n")
        self.assertEqual(check("--html", page, bad).returncode, 2)
        self.refused("File too large", "--html", page, L2,
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
        self.assertEqual(self.text("page.html"), other)
        self.refused(f"cannot write {self.dir}/none/page.html: No such file", "--html", f"{self.dir}/none/page.html", L2)
        self.refused(f"cannot write {self.dir}: Is a directory", "--html", self.dir, L2)
        self.assertEqual(sorted(os.listdir(self.dir)), ["bad.p4", "link", "page.html"])

    def test_devices(self):
        self.refused("cannot write /dev/full: No space left on device", "--html", "/dev/full", L2)
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        with subprocess.Popen(["cat", fifo], stdout=subprocess.PIPE, text=True) as cat:
            self.assertEqual(check("--html", fifo, L2).returncode, 0)
            self.assertTrue(cat.stdout.read().endswith("</html>\n"))
        self.assertTrue(stat.S_ISFIFO(os.stat(fifo).st_mode))

    def test_output(self):
        for arguments in ((L2,), ("--json", L2)):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([f"{BUILD}/silken", "check", *arguments], stdout=full,
                                      stderr=subprocess.PIPE, text=True, timeout=600)
            self.assertEqual((done.returncode, done.stderr),
                             (2, "silken check: cannot write: No space left on device\n"))
            done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", f"{BUILD}/silken", "check", *arguments],
                                  stderr=subprocess.PIPE, text=True, timeout=600)
            self.assertEqual((done.returncode, done.stderr), (2, "silken check: cannot write: Bad file descriptor\n"))

    # names that try to be more than that, by way of the compiler
    def test_hostile_names(self):
        with open(L2, encoding="utf-8") as f:
            program = f.read()
        bad = '\\"><script>x</script>\033]0;t\007'
        path = self.file("hostile.p4", program.replace("    table forward {", f'    @name("{bad}")\n    table forward {{')
                         .replace("forward", "f" * 10000))
        page = self.path("page.html")
        done = check("--html", page, path)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertNotIn("\033", done.stdout)
        self.assertEqual(self.text("page.html").count("<script"), 1)
        doc = self.document(path, status=done.returncode)
        self.assertIn("<script>", doc["tables"][0]["name"])


if __name__ == "__main__":
    tally.main()
