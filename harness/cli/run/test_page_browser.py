#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The page of a rack in which a job runs, in a browser: what it shows; that a worker which is lost is found there, with
the slots that wait for it and the alarm, within two seconds; a packet's way by a click; on any width, light and dark, by
keyboard; and that no name becomes a part of it. Pictures are left in $BUILD/page; with PICTURES=FOLDER, those of the
documents there."""
import os
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", ".."), os.path.join(HERE, "..", "..", "compiler", "chip")]
import tally  # noqa: E402
from browser import Browser  # noqa: E402
from page_rack import HOSTILE, SILKEN, SLOTS, WORKERS, Rack, ip  # noqa: E402
from test_page import CONTRAST  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
FOLDER = f"{BUILD}/page"
PICTURES = os.environ.get("PICTURES")
WIDTHS = (360, 768, 1280, 2560, 3840)
SOON = 2  # seconds in which a lost worker must be seen
LATE = 300  # for what a busy machine may take its time with

READY = "document.documentElement.dataset.ready === 'yes'"
# what is cut off at its right, of elements that do not scroll
CUT = """Array.from(document.querySelectorAll('main *, header *, footer *')).filter(e => e.getClientRects().length &&
    !e.closest('.scroll, svg, [hidden]') && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 &&
    getComputedStyle(e).display !== 'inline').map(e => e.tagName + ' ' + e.className).slice(0, 5)"""


@unittest.skipUnless(os.geteuid() == 0, "network namespaces need root")
class Page(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        os.makedirs(FOLDER, exist_ok=True)
        # what else runs on the machine is not what is timed here
        nice = os.getpriority(os.PRIO_PROCESS, 0)
        os.setpriority(os.PRIO_PROCESS, 0, -5)
        cls.addClassCleanup(os.setpriority, os.PRIO_PROCESS, 0, nice)
        # both builds of the program, which the switch then finds
        for command in (["build", "p4/rack/rack.p4"], ["explain", "p4/rack/rack.p4", "00" * 60]):
            subprocess.run([SILKEN, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=1200)
        # without PICTURES, with a name that is hostile
        cls.rack = Rack(hostile=not PICTURES, more={"queues": [{"port": 5, "speed": 30, "green": 1500, "yellow": 1500,
                                                                 "red": 1500, "limit": 1500}]})
        cls.rack.__enter__()
        cls.addClassCleanup(cls.rack.__exit__)
        cls.rack.start_job()
        cls.rack.other_traffic()
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def ask(self, expression):
        return self.browser.ask(expression)

    def texts(self, selector):
        return self.ask(f"Array.from(document.querySelectorAll({selector!r})).map(e => e.textContent)")

    def open(self, width=1600, dark=False):
        self.browser.go(self.rack.url, width, dark)
        self.browser.wait(READY, LATE)
        self.wait_for_compiler("document.querySelector('.stage') !== null")

    def wait_for_compiler(self, expression):
        end = time.monotonic() + LATE
        while not self.ask(expression) and time.monotonic() < end:
            self.rack.hurry()
            time.sleep(0.1)
        self.assertTrue(self.ask(expression), self.texts("#trace-state") + self.texts("#no-chip"))

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def take_picture(self, name, whole=True):
        path = os.path.join(FOLDER, f"{name}.png")
        self.browser.screenshot(path, whole)
        self.assertGreater(os.path.getsize(path), 20000)

    # ---- in the order of their names: the worker is lost last ----

    def test_1_what_runs(self):
        self.open()
        self.browser.wait("document.querySelector('.job .answer').textContent === 'running'", LATE)
        self.assertEqual(self.texts("h1"), ["rack.p4"])
        self.assertEqual(self.texts(".worker b"), [f"worker {i}" for i in range(WORKERS)])
        self.assertEqual(self.ask("document.querySelectorAll('.slot').length"), SLOTS)
        self.assertEqual(self.texts("#state"), ["no alarms"])
        self.assertTrue(self.ask("document.getElementById('alarms').hidden"))
        # packets of both kinds, and the tables that they look up
        for selector in ("[data-table$='.Ingress.sanity'].busy", "[data-table$='.admission.workers'].busy"):
            self.browser.wait(f"document.querySelector({selector!r}) !== null", LATE)
        self.browser.wait("Array.from(document.querySelectorAll('#port-list tr')).every((r, i) => i > 4 || "
                          "r.cells[2].textContent !== '0')", LATE)
        # the queue of the port with a speed, and what it does not take
        self.browser.wait("document.querySelector('.queue') !== null", LATE)
        self.browser.wait("Array.from(document.querySelectorAll('#drop-list tr')).some(r => "
                          "r.cells[3].textContent.includes('queue 0'))", LATE)

    def test_2_widths_and_colours(self):
        self.open()
        for width in WIDTHS:
            self.browser.size(width)
            self.assertLessEqual(self.ask("document.documentElement.scrollWidth"), width)
            self.assertEqual(self.ask(CUT), [], width)
        self.browser.size(390)
        self.take_picture("phone")
        self.browser.size(1600)
        for dark in (False, True):
            self.browser.scheme(dark)
            ground = self.ask("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
            self.assertEqual(max(ground) < 80, dark)
            self.assertEqual(self.ask(CONTRAST), [])
            self.take_picture("running-" + ("dark" if dark else "light"))

    def test_3_keyboard(self):
        self.open()
        self.assertEqual(self.ask("Array.from(document.querySelectorAll('nav a, .skip')).filter(a => "
                                  "!document.getElementById(a.hash.slice(1))).length"), 0)
        self.assertEqual(self.ask("document.querySelectorAll('.slots [tabindex=\"0\"]').length"), 1)
        self.ask("document.querySelector('.slots [tabindex=\"0\"]').focus()")
        for key, slot in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", SLOTS - 1), ("Home", 0)):
            self.browser.key(key)
            self.assertEqual(self.ask("document.activeElement.dataset.slot"), str(slot))
        self.browser.key("ArrowDown")
        below = int(self.ask("document.activeElement.dataset.slot"))
        self.assertEqual(self.ask(f"(c => c[{below}].offsetLeft === c[0].offsetLeft && c[{below}].offsetTop > c[0].offsetTop)"
                                  "(document.querySelectorAll('.slot'))"), True)
        self.assertTrue(self.texts(".detail-line")[0].startswith(f"Slot {below}"))
        # it stays there while the page changes
        clock = self.ask("document.querySelector('#equation').textContent")
        self.browser.wait(f"document.querySelector('#equation').textContent !== {clock!r}", LATE)
        self.assertEqual(self.ask("document.activeElement.dataset.slot"), str(below))
        # all that can be clicked can be reached and named
        self.assertEqual(self.ask("Array.from(document.querySelectorAll('button, a')).filter(e => e.tabIndex < 0 || "
                                  "!(e.textContent.trim() || e.title)).length"), 0)
        self.assertEqual(self.ask("Array.from(document.querySelectorAll('main section')).filter(s => "
                                  "!s.querySelector('h2')).length"), 0)

    def sorted_by(self, title, column):
        self.ask(f"Array.from(document.querySelectorAll('#tables th button')).find(b => b.textContent === {title!r}).click()")
        values = [v.replace(",", "") for v in
                  self.ask(f"Array.from(document.querySelectorAll('#table-list tr')).map(r => r.cells[{column}].textContent)")]
        return [int(v) for v in values]

    def test_4_sorting(self):
        self.open()
        down = self.sorted_by("of", 3)
        self.assertEqual(down, sorted(down, reverse=True))
        self.assertGreater(down[0], down[-1])
        self.assertEqual(self.sorted_by("of", 3), down[::-1])

    def test_5_the_way_of_a_packet(self):
        self.open()
        for selector, heading in (("#port-list [data-key='4'] button", "port 4 t0 receives"),
                                  ("#chip [data-table$='.admission.workers']", "admission.workers")):
            self.ask(f"document.querySelector({selector!r}).click()")
            self.assertIn(heading, self.texts("#trace-title")[0])
            self.wait_for_compiler("document.querySelector('#way .step') !== null")
            steps = self.texts("#way .step-title")
            self.assertIn("extract hdr.ethernet", steps)
            table = ".bridging.sources: " if heading.startswith("port") else ".admission.workers: hit"
            self.assertTrue(any(table in s for s in steps), steps)
            fields = list(zip(self.texts("#way .step.extract .fields dt"), self.texts("#way .step.extract .fields dd")))
            senders = [value for name, value in fields if name == "src_addr"]
            self.assertTrue(senders[0].startswith("02:00:00:00:"), senders)
            if "extract hdr.ipv4" in steps:
                self.assertIn(True, [s.startswith("10.0.10.") for s in senders])
            self.assertTrue(any(s.startswith(("sent to port", "dropped: ", "recirculated")) for s in steps), steps)
            self.assertNotIn("differently", self.texts("#trace-state")[0])
            self.assertEqual(self.ask(CONTRAST.replace("'main *, header *'", "'dialog *'")), [])
            self.take_picture("trace", False)
            self.browser.key("Escape")
            self.browser.wait("!document.getElementById('trace').open", 10)

    def test_6_names_stay_names(self):
        self.open()
        if not PICTURES:
            self.assertIn("5 " + HOSTILE, self.texts("#port-list button"))
        self.assertNotEqual(self.ask("document.title"), "taken")
        self.assertEqual(self.ask("document.querySelectorAll('img, iframe, object, embed, base, form').length"), 0)
        self.assertEqual(self.ask("document.querySelectorAll('script').length"), 1)
        # what is written into the page by whatever way does not run, nor is it taken
        self.assertIn("TrustedHTML", self.ask("""(() => { try { document.body.insertAdjacentHTML('beforeend',
            '<img src=x onerror="document.title=1">'); } catch (e) { return String(e); } })()"""))
        self.ask("""(() => { const s = document.createElement('script'); try { s.textContent = 'document.title = 1'; }
            catch (e) { return; } document.body.append(s); })()""")
        self.assertNotEqual(self.ask("document.title"), "1")
        self.ask("new Promise(r => setTimeout(r, 50))")
        self.browser.complaints()
        self.browser.events.clear()  # the browser's own, of these two

    def test_7_a_worker_is_lost(self):
        self.open()
        self.browser.wait("document.querySelector('.job .answer').textContent === 'running'", LATE)
        lost = 2
        if PICTURES:
            time.sleep(50)  # charts are of the last minute
        self.rack.lose(lost)
        took = {"straggler": self.browser.wait(
            f"document.querySelector('.worker.straggler') !== null && document.querySelector('.worker.straggler')"
            f".dataset.worker === '{lost}' && !document.querySelector('.straggler-line').hidden", LATE)}
        for what, expression in (
                # a slot in which all but the lost worker's part is
                ("slot", f"Array.from(document.querySelectorAll('.slot')).some(s => s.children.length === {WORKERS} && "
                 f"Array.from(s.children).every((p, i) => p.className === (i === {lost} ? 'out' : 'in')))"),
                ("alarm", "document.querySelector('[data-alarm=stuck-job]') !== null")):
            took[what] = max(took.values()) + self.browser.wait(expression, LATE)
        print("seen on the page after", ", ".join(f"{k} {v:.2f} s" for k, v in took.items()))
        self.assertLess(max(took.values()), SOON)
        self.assertEqual(self.texts("#state"), ["1 alarm"])
        self.assertIn(f"worker {lost} ({ip(f'w{lost}')})", self.texts("[data-alarm=stuck-job] h3")[0])
        self.assertIn(f"for worker {lost} ({ip(f'w{lost}')})", self.texts(".straggler-line")[0])
        self.browser.wait("document.querySelectorAll('.slot.stuck').length > 0", LATE)
        self.assertIn(f"waits for worker {lost} ({ip(f'w{lost}')}, port {lost} w{lost})", self.texts(".detail-line")[0])
        for dark in (False, True):
            self.browser.scheme(dark)
            self.assertEqual(self.ask(CONTRAST), [])
            self.take_picture("lost-" + ("dark" if dark else "light"))
            if PICTURES:
                self.browser.size(1600, 1000)
                self.browser.screenshot(os.path.join(PICTURES, f"page-{'dark' if dark else 'light'}.png"), False)

    def test_8_the_switch_ends(self):
        self.open()
        ports = self.texts("#port-list button")
        self.assertEqual(self.rack.lab.stop(), 0)
        self.browser.wait("document.getElementById('state').textContent.startsWith('not connected')", LATE)
        self.assertEqual(self.texts("#port-list button"), ports)
        self.assertEqual(self.ask(CONTRAST), [])
        self.browser.complaints()
        self.browser.events.clear()  # that the browser cannot connect


if __name__ == "__main__":
    tally.main()
