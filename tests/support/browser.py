# SPDX-License-Identifier: Apache-2.0
"""Drives a headless Chromium over its DevTools protocol, with Python's standard library alone."""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def found():
    """The path of a browser, or None."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """One tab. Keeps the messages of the console and the addresses that pages load."""

    def __init__(self, path, seconds=120):
        self.folder = tempfile.mkdtemp()
        self.until = time.monotonic() + seconds
        self.number, self.text = 0, b""
        self.console, self.loaded, self.events = [], [], []
        browser_reads, self.to = os.pipe()
        self.of, browser_writes = os.pipe()
        # The protocol takes the file descriptors 3 and 4.
        script = f'exec "$0" "$@" 3<&{browser_reads} 4>&{browser_writes}'
        arguments = [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
                     f"--user-data-dir={self.folder}", "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(["bash", "-c", script, *arguments], pass_fds=(browser_reads, browser_writes),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(browser_reads)
        os.close(browser_writes)
        pages = [t for t in self.send("Target.getTargets", session=False)["targetInfos"] if t["type"] == "page"]
        self.session = self.send("Target.attachToTarget", session=False, targetId=pages[0]["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)  # the browser ends when the pipe is closed
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.of)
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.text:
            if not select.select([self.of], [], [], max(0.0, self.until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.of, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self.text += more
        one, self.text = self.text.split(b"\0", 1)
        return json.loads(one)

    def take(self, event):
        name, values = event.get("method"), event.get("params", {})
        self.events.append(name)
        if name == "Runtime.consoleAPICalled":
            self.console.append(values["type"] + ": " + " ".join(str(a.get("value")) for a in values["args"]))
        elif name == "Runtime.exceptionThrown":
            self.console.append("exception: " + values["exceptionDetails"]["text"])
        elif name == "Log.entryAdded":
            self.console.append(values["entry"]["level"] + ": " + values["entry"]["text"])
        elif name == "Network.requestWillBeSent":
            self.loaded.append(values["request"]["url"])

    def send(self, method, session=True, **values):
        """The result of a command. Events that come before it are kept."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": values}
        if session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") != self.number:
                self.take(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def open(self, path):
        """Loads a file and waits until all of it is there."""
        self.console, self.loaded, self.events = [], [], []
        self.send("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while "Page.loadEventFired" not in self.events:
            self.take(self.receive())

    def shape(self, width, height=800, dark=False):
        """The size of the window, and whether the reader prefers light letters on a dark page."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def ask(self, expression):
        """The value of an expression of JavaScript."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def picture(self, path):
        """Writes the whole page as a PNG image."""
        data = self.send("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
