# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over a pair of pipes (its DevTools protocol: messages are JSON, each ended by a
zero byte). No driver, no socket: pages are files, or those of a server on this machine."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

CODES = {"Escape": 27}  # of keys that the browser itself knows
SECONDS = 120  # for any one answer: machines that run tests are busy


class Browser:
    def __init__(self):
        program = shutil.which("chromium")
        if not program:
            raise RuntimeError("chromium is not installed: sh harness/deps.sh test")
        self.folder = tempfile.mkdtemp()
        to_read, self.to = os.pipe()
        self.from_, to_write = os.pipe()

        def pipes():  # the protocol's are 3 and 4
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)
            for fd in (3, 4):
                os.set_inheritable(fd, True)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
             "--disable-background-networking", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             f"--user-data-dir={self.folder}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=pipes,
            close_fds=False)
        os.close(to_read)
        os.close(to_write)
        self.buffer = b""
        self.number = 0
        self.events = []
        target = self.call("Target.createTarget", {"url": "about:blank"}, None)["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True}, None)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.to)
        os.close(self.from_)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self):
        end = time.monotonic() + SECONDS
        while b"\0" not in self.buffer:
            if not select.select([self.from_], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.from_, 1 << 16)
            if not more:
                raise EOFError("the browser has ended")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, params=None, session=""):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, width, dark=False):
        """Loads a file; what its console says from now on is in complaints()."""
        self.go("file://" + os.path.abspath(path), width, dark)

    def go(self, url, width, dark=False):
        """The same of an address."""
        self.events.clear()
        self.size(width)
        self.scheme(dark)
        self.call("Page.navigate", {"url": url})
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.message())

    def size(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def scheme(self, dark):
        self.call("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def complaints(self):
        self.ask("0")  # what was said before it has come by now
        return [e for e in self.events
                if e.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")]

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True})
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": key,
                                                 "windowsVirtualKeyCode": CODES.get(key, 0)})

    def wait(self, expression, seconds):
        """Until it is true: how long that took. The page must say so within the time."""
        begin = time.monotonic()
        while not self.ask(expression):
            if time.monotonic() - begin > seconds:
                raise AssertionError(f"not within {seconds} s: {expression}")
            time.sleep(0.01)
        return time.monotonic() - begin

    def screenshot(self, path, whole=True):
        """Of the whole page, or of what the window shows."""
        picture = self.call("Page.captureScreenshot", {"captureBeyondViewport": whole})
        with open(path, "wb") as f:
            f.write(base64.b64decode(picture["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", {"printBackground": True})["data"])
