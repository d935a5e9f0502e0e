#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The page of `silken check --html` in a browser: it shows what the JSON says, on any width, light and dark,
by mouse and by keyboard; it complains about nothing, and no name of a program becomes a part of it. Pages are of
the programs in p4/ and of made-up reports (test_report.c). Pictures of them are left in $BUILD/check."""
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(__file__)
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..")]
import tally  # noqa: E402
from browser import Browser  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
FOLDER = f"{BUILD}/check"
PROGRAMS = ("l2", "switchml", "ina")
MADE = ("many", "over", "empty", "pipes", "hostile")
PICTURES = ("switchml", "over")
WIDTHS = (400, 900, 2000)

# Contrast of text to what is behind it (WCAG), of elements with text of their own.
CONTRAST = """(function () {
    const parse = c => (c.match(/[\\d.]+/g) || []).map(Number);
    const light = c => { const f = c.slice(0, 3).map(v => { v /= 255;
        return v <= .03928 ? v / 12.92 : Math.pow((v + .055) / 1.055, 2.4); });
        return .2126 * f[0] + .7152 * f[1] + .0722 * f[2]; };
    const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
        if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
    const bad = [];
    for (const e of document.querySelectorAll('main *, header *')) {
        if (e.closest('.empty') || !Array.from(e.childNodes).some(n => n.nodeType === 3 && n.data.trim())) continue;
        if (e.closest('svg') || e.closest('[hidden]')) continue;
        const a = light(parse(getComputedStyle(e).color)), b = light(behind(e));
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < 4.5) bad.push([e.tagName, e.className, ratio.toFixed(2)].join(' '));
    }
    return Array.from(new Set(bad)).slice(0, 10);
})()"""


class Page(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        os.makedirs(FOLDER, exist_ok=True)
        subprocess.run([f"{BUILD}/harness/compiler/chip/test_report", "--write", FOLDER], check=True)
        for name in PROGRAMS:
            page = f"{FOLDER}/{name}.html"
            done = subprocess.run([f"{BUILD}/silken", "check", "--json", "--html", page, f"p4/{name}/{name}.p4"],
                                  capture_output=True, text=True, timeout=600)
            if done.returncode not in (0, 1):
                raise RuntimeError(done.stderr)
            with open(f"{FOLDER}/{name}.json", "w", encoding="utf-8") as f:
                f.write(done.stdout)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def document(self, name):
        with open(f"{FOLDER}/{name}.json", encoding="utf-8") as f:
            return json.load(f)

    def load(self, name, width=1400, dark=False):
        self.browser.open(f"{FOLDER}/{name}.html", width, dark)
        self.assertEqual(self.browser.complaints(), [])
        self.assertEqual(self.ask("document.documentElement.dataset.ready"), "yes")

    def ask(self, expression):
        return self.browser.ask(expression)

    def shows_what_the_json_says(self, doc):
        for i, pipe in enumerate(doc["pipelines"]):
            expected = sorted(f"{s} p{i}-{t['gress'][0]}{t['id']}" for t in pipe["tables"] for s in t["stages"])
            shown = self.ask(f"""Array.from(document.querySelectorAll('#p{i}-stages .stage')).flatMap(s =>
                Array.from(s.querySelectorAll('[data-unit]')).map(u => s.dataset.stage + ' ' + u.dataset.unit))""")
            self.assertEqual(sorted(shown), expected)
            listed = self.ask(f"""Array.from(document.querySelectorAll('#p{i}-tables tbody tr')).map(r =>
                r.id + ' ' + r.cells[0].textContent)""")
            visible = str.maketrans({c: "\ufffd" for c in [*range(9), *range(11, 32), 127]})
            self.assertEqual(listed, [f"p{i}-{t['gress'][0]}{t['id']} {t['name']}".translate(visible)
                                      for t in pipe["tables"]])
            nodes = self.ask(f"document.querySelectorAll('#p{i}-graph .node').length")
            self.assertEqual(nodes, len(pipe["tables"]))
            edges = {(d["gress"], d["from_id"], d["to_id"]) for d in pipe["dependencies"]}
            self.assertEqual(self.ask(f"document.querySelectorAll('#p{i}-graph .edge').length"), len(edges))
            cells = self.ask(f"document.querySelectorAll('#p{i}-phv .c:not(.free)').length")
            self.assertEqual(cells, sum(len(c["fields"]) > 0 for c in pipe["phv"]["containers"]))
        self.assertEqual(self.ask("document.querySelectorAll('.violation').length"), len(doc["violations"]))
        self.assertEqual(self.ask("document.querySelector('.answer').textContent").startswith("fits"), doc["fits"])

    # boxes do not lie on each other, nor outside the picture, and their texts within them
    def picture(self):
        self.assertEqual(self.ask("""Array.from(document.querySelectorAll('.graph svg')).flatMap(svg => {
            const all = Array.from(svg.querySelectorAll('.node rect')).map(r => r.getBBox());
            const w = svg.viewBox.baseVal.width, h = svg.viewBox.baseVal.height;
            return all.filter((a, i) => a.x < 0 || a.y < 0 || a.x + a.width > w || a.y + a.height > h ||
                all.some((b, k) => k > i && a.x < b.x + b.width && b.x < a.x + a.width &&
                         a.y < b.y + b.height && b.y < a.y + a.height)).map(a => [a.x, a.y]); })"""), [])
        self.assertEqual(self.ask("""Array.from(document.querySelectorAll('.node')).filter(n =>
            n.querySelector('text').getBBox().width > n.querySelector('rect').getBBox().width).length"""), 0)

    # each page is loaded once: what a page takes is most of this test's time
    def test_pages(self):
        for name in PROGRAMS + MADE:
            with self.subTest(name):
                self.load(name)
                self.shows_what_the_json_says(self.document(name))
                self.picture()
                for width in WIDTHS:
                    self.browser.size(width)
                    self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), width)
                    if width != 900 and name in PICTURES:
                        self.take_picture(name, "narrow" if width == 400 else "wide")
                self.browser.size(1400)
                for dark in (False, True):
                    self.browser.scheme(dark)
                    ground = self.ask("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
                    self.assertEqual(max(ground) < 80, dark)
                    if name in PICTURES:
                        self.assertEqual(self.ask(CONTRAST), [])
                        self.take_picture(name, "dark" if dark else "light")
                self.assertEqual(self.browser.complaints(), [])

    def take_picture(self, name, kind):
        path = f"{FOLDER}/{name}-{kind}.png"
        self.browser.screenshot(path)
        self.assertGreater(os.path.getsize(path), 20000)

    def test_choosing_a_table(self):
        self.load("many")
        deps = [d for d in self.document("many")["dependencies"] if d["gress"] == "ingress"]
        busiest = max(range(100), key=lambda u: sum(u in (d["from_id"], d["to_id"]) for d in deps))
        expected = sum(busiest in (d["from_id"], d["to_id"]) for d in deps)
        shown = "Array.from(document.querySelectorAll('.deps tbody tr')).filter(r => !r.hidden).length"
        all_of_them = self.ask(shown)
        self.ask(f"""document.querySelector('.node[data-unit="p0-i{busiest}"]').dispatchEvent(
            new MouseEvent('click', {{cancelable: true}}))""")
        self.assertEqual(self.ask(shown), expected)
        self.assertTrue(self.ask("document.querySelector('.deps').open"))
        self.assertEqual(self.ask("""new Set(Array.from(document.querySelectorAll('.edge.on')).map(e =>
            e.dataset.from + ' ' + e.dataset.to)).size"""),
            len({(d["from_id"], d["to_id"]) for d in deps if busiest in (d["from_id"], d["to_id"])}))
        kinds = sum(busiest in (d["from_id"], d["to_id"]) and d["kind"] != "control" for d in deps)
        self.ask("document.querySelector('.kinds input[value=control]').click()")
        self.assertEqual(self.ask(shown), kinds)
        self.ask("document.querySelector('.kinds input[value=control]').click()")
        self.browser.key("Escape")
        self.assertEqual(self.ask(shown), all_of_them)
        self.assertEqual(self.browser.complaints(), [])

    def test_sorting(self):
        self.load("many")
        for title, key in (("SRAM", lambda t: t["resources"].get("sram", 0)), ("entries", lambda t: t["entries"])):
            button = f"""Array.from(document.querySelectorAll('#p0-tables th[data-sort]')).find(h =>
                h.textContent === '{title}').querySelector('button').click()"""
            column = f"""(i => Array.from(document.querySelectorAll('#p0-tables tbody tr')).map(r =>
                Number(r.cells[i].textContent)))(Array.from(document.querySelectorAll('#p0-tables th[data-sort]'))
                .findIndex(h => h.textContent === '{title}'))"""
            expected = sorted((key(t) for t in self.document("many")["tables"]), reverse=True)
            self.ask(button)
            self.assertEqual(self.ask(column), expected)
            self.ask(button)
            self.assertEqual(self.ask(column), expected[::-1])

    def test_keyboard(self):
        self.load("many")
        self.assertEqual(self.ask("""Array.from(document.querySelectorAll('.phv')).map(l =>
            l.querySelectorAll('[tabindex="0"]').length)"""), [1] * self.ask("document.querySelectorAll('.phv').length"))
        self.ask("document.querySelector('.phv [tabindex=\"0\"]').focus()")
        first = self.ask("document.querySelector('.detail').textContent")
        self.browser.key("ArrowRight")
        second = self.ask("document.querySelector('.detail').textContent")
        self.assertIn("bits", first)
        self.assertNotEqual(first, second)
        self.assertEqual(self.ask("document.querySelectorAll('h1').length"), 1)
        self.assertEqual(self.ask("Array.from(document.querySelectorAll('section')).filter(s => "
                                  "!s.querySelector('h2')).length"), 0)
        self.assertEqual(self.ask("Array.from(document.querySelectorAll('nav a, .map a')).filter(a => "
                                  "!document.getElementById(a.hash.slice(1))).length"), 0)
        self.assertEqual(self.ask("(ids => ids.length - new Set(ids).size)(Array.from(document.querySelectorAll("
                                  "'[id]')).map(e => e.id))"), 0)

    def test_names_stay_names(self):
        self.load("hostile")
        self.assertNotEqual(self.ask("document.title"), "taken")
        self.assertEqual(self.ask("document.querySelectorAll('script').length"), 1)
        self.assertEqual(self.ask("document.querySelectorAll('img, iframe, object, embed, link, base, form').length"),
                         0)
        self.assertEqual(self.ask("Array.from(document.querySelectorAll('*')).filter(e => Array.from(e.attributes)"
                                  ".some(a => a.name.startsWith('on'))).length"), 0)
        # what is written into the page by whatever way does not run
        self.ask("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"document.title=1\">')")
        self.ask("document.body.append(Object.assign(document.createElement('script'), {textContent: "
                 "'document.title=1'}))")
        self.assertNotEqual(self.ask("document.title"), "1")

    def test_prints(self):
        self.load("switchml")
        self.assertTrue(self.browser.pdf().startswith(b"%PDF"))


if __name__ == "__main__":
    tally.main()
