"""A headless browser on a page, driven by its own protocol: real keys, the page's own script.

The browser reads commands from file descriptor 3 and answers on 4 (``--remote-debugging-pipe``),
so nothing has to be installed and no port is opened.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["BROWSER", "Page", "opened"]

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
_KEYS = {
    "Tab": (9, "\t"), "Enter": (13, "\r"), " ": (32, " "),
    "ArrowDown": (40, ""), "ArrowUp": (38, ""),
}  # fmt: skip
# Puts two pipes where the browser looks for them, and becomes the browser.
_IN_PLACE = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(each), fcntl.F_DUPFD, 10) for each in sys.argv[1:3]]
for end, place in zip(ends, (3, 4)):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Page:
    def __init__(self, write: int, read: int) -> None:
        self._write, self._read = write, read
        self._waiting = b""
        self._last = 0
        self.session: str | None = None
        self.complaints: list[object] = []

    def send(self, method: str, **parameters: object) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._last += 1
        message: dict[str, object] = {"id": self._last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                return answer["result"]
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.complaints.append(answer["params"])

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            received = os.read(self._read, 1 << 16)
            assert received, "the browser is gone"
            self._waiting += received
        message, _, self._waiting = self._waiting.partition(b"\0")
        return json.loads(message)

    def value(self, expression: str) -> Any:
        """What an expression is in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def press(self, key: str) -> None:
        code, text = _KEYS[key]
        common = {"key": key, "windowsVirtualKeyCode": code}
        self.send("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.send("Input.dispatchKeyEvent", type="keyUp", **common)

    def type(self, text: str) -> None:
        self.send("Input.insertText", text=text)

    def tab_to(self, selector: str) -> None:
        """Press Tab until the element has the focus."""
        wanted = f"document.activeElement.matches({json.dumps(selector)})"
        for _ in range(200):
            self.press("Tab")
            if self.value(wanted):
                return
        raise AssertionError(f"Tab does not reach {selector}")


@contextmanager
def opened(
    path: Path,
    profile: Path,
    *,
    dark: bool = False,
    scripts: bool = True,
    width: int = 1000,
    height: int = 900,
) -> Iterator[Page]:
    """A browser that shows the file."""
    to_browser, from_here = os.pipe()
    from_browser, to_here = os.pipe()
    command = [
        str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}", f"--window-size={width},{height}", "about:blank",
    ]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", _IN_PLACE, str(to_browser), str(to_here), *command],
        pass_fds=(to_browser, to_here),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(to_here)
    page = Page(from_here, from_browser)
    try:
        targets = page.send("Target.getTargets")["targetInfos"]
        target = next(each["targetId"] for each in targets if each["type"] == "page")
        attached = page.send("Target.attachToTarget", targetId=target, flatten=True)
        page.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            page.send(f"{domain}.enable")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.send("Emulation.setEmulatedMedia", features=[scheme])
        page.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        page.send("Emulation.setScriptExecutionDisabled", value=not scripts)
        page.send("Page.navigate", url=path.as_uri())
        while page.value("location.protocol + document.readyState") != "file:complete":
            pass
        yield page
    finally:
        os.close(from_here)
        os.close(from_browser)
        process.terminate()
        process.wait(timeout=30)
