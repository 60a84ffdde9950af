#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens pages of plans in a browser, and reads what it shows.

    page_in_browser.py PART PROGRAM ...

    numbers   every number on the pages is that of the plan's cost, as a reader sees it and as its attribute has it
    windows   on wide and narrow windows, light and dark: nothing overlaps or is cut off, nothing is loaded, no error
    picture   the same of docs/pictures/layout.svg
    catches   pages that are broken on purpose fail

MESHTENSOR_WRITE_SCREENSHOTS names a folder for images of the pages. The exit code is 77 where there is no browser."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

root = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "tests/support"))
import browser  # noqa: E402

PAGES = ("step", "layouts", "one", "wide")
failures = []


def expect(is_so, what):
    if not is_so:
        failures.append(what)
        print("FAILED:", what)


def rounded(n):
    """Three digits and a metric prefix; up to four digits unchanged."""
    if n < 10000:
        return f"{n} "
    power = (len(str(n)) - 1) // 3
    digits = f"{n / 1000 ** power:#.3g}".rstrip(".")
    if float(digits) >= 1000:
        power, digits = power + 1, "1.00"
    return f"{digits} {' kMGTPE'[power]}"


def seconds(text):
    number, unit = text.split()
    return float(number) * {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit]


# What a reader sees of the plans of a page. A cell that is not rendered has no text.
SHOWN = """
(text => [...document.querySelectorAll('.plan')].map(plan => ({
  title: text(plan.querySelector('h1')),
  numbers: [...plan.querySelectorAll('td[data-' + %s + ']')].map(x => [x.getAttribute('data-' + %s), text(x)]),
  rows: [...plan.querySelectorAll('table.collectives tr')].slice(1).map(r =>
      [r.children[0].getAttribute('data-bytes'), ...[...r.children].map(text)]),
  chain: [...plan.querySelectorAll('table.chain tr')].slice(1).map(r =>
      [r.children[0].getAttribute('data-seconds'), ...[...r.children].map(text)]),
  rates: [...plan.querySelectorAll('table.rates tr')].slice(1).map(r => [...r.children].map(text)),
})))(x => x.checkVisibility({visibilityProperty: true, opacityProperty: true}) ? x.innerText : '')"""


def shown(tab, attribute="ranks"):
    name = json.dumps(attribute)
    return tab.ask(SHOWN % (name, name))


def check_numbers(tab, page):
    tab.shape(1200)
    tab.open(page + ".html")
    plans = json.loads(pathlib.Path(page + ".json").read_text())
    expect([p["title"] for p in shown(tab)] == [p["title"] for p in plans], f"{page}: the titles")
    units = {"bytes": "B", "flops": "flop"}
    for kind in ("counts", "bytes", "flops"):
        for name in plans[0][kind]:
            for plan, seen in zip(plans, shown(tab, name)):
                value = plan[kind][name]
                text = rounded(value) + units.get(kind, "") if kind != "counts" else str(value)
                if name == "parameters":
                    text = rounded(value) + " elements"
                expect(seen["numbers"] == [[str(value), text]], f"{page}: {name}: {seen['numbers']} is not {value}, {text}")
    for plan, seen in zip(plans, shown(tab, "chain-seconds")):
        [[exact, text]] = seen["numbers"]
        expect(float(exact) == plan["chain"], f"{page}: the longest chain: {exact} is not {plan['chain']}")
        expect(abs(seconds(text) / plan["chain"] - 1) < 0.006, f"{page}: the longest chain reads {text}")
        total = sum(float(r[0]) for r in seen["chain"])
        expect(abs(total / plan["chain"] - 1) < 1e-9, f"{page}: the rows of the chain add up to {total}")
        expect(len(seen["chain"]) > 5, f"{page}: the chain has {len(seen['chain'])} rows")
        for exact, text, share, *_ in seen["chain"]:
            expect(abs(seconds(text) - float(exact)) <= 0.006 * float(exact), f"{page}: {text} is not {exact}")
            expect(abs(float(share.split()[0]) - 100 * float(exact) / plan["chain"]) < 0.051, f"{page}: {text}: {share}")
        # Rows of one kind over the same axes, however the page groups them by line.
        wanted, found = collections.Counter(), collections.Counter()
        for c in plan["collectives"]:
            wanted[c["kind"], c["over"], "bytes"] += c["bytes"]
            wanted[c["kind"], c["over"], "times"] += c["times"]
        for exact, text, kind, over, times, _ in seen["rows"]:
            if not (kind and times):
                expect(False, f"{page}: a row of {exact} bytes is not to be seen")
                continue
            found[kind.split()[0], over, "bytes"] += int(exact)
            found[kind.split()[0], over, "times"] += int(times)
            expect(text == rounded(int(exact)) + "B", f"{page}: {text} is not {exact} bytes")
        expect(found == wanted, f"{page}: collectives: {found} is not {wanted}")
        expect((plan["counts"]["ranks"] == 1) == (not found), f"{page}: collectives of {plan['counts']['ranks']} ranks")
    return plans


def check_rates(tab):
    tab.open("layouts.html")
    for seen in shown(tab):
        expect(seen["rates"] == [["arithmetic", "200 Tflop/s", "data sheet"], ["memory", "2.00 TB/s", "data sheet"],
                                 ["network over data", "25.0 GB/s, 5.00 µs a message", "data sheet"],
                                 ["network over model", "200 GB/s, 2.00 µs a message", "data sheet"]],
               f"the rates are {seen['rates']}")
    tab.open("one.html")
    expect(shown(tab)[0]["rates"] == [["arithmetic", "100 Gflop/s", "assumed"], ["memory", "10.0 GB/s", "assumed"]],
           "the rates of one rank")


OVERLAPS = """
[...document.querySelectorAll('svg')].flatMap(image => {
  const frame = image.getBoundingClientRect();
  const texts = [...image.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]);
  const cut = texts.filter(([, b]) => b.left < frame.left - 1 || b.right > frame.right + 1 ||
                                      b.top < frame.top - 4 || b.bottom > frame.bottom + 4).map(([t]) => t + ' is cut off');
  const over = texts.flatMap(([t, a], i) => texts.slice(i + 1).filter(([, b]) =>
      Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
      Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3).map(([u]) => t + ' overlaps ' + u));
  return [...cut, ...over];
})"""
# Of a colour as the browser has computed it, from 0 for black to 1 for white.
BRIGHTNESS = """
(colour => { const [r, g, b] = colour.match(/[0-9.]+/g).map(Number); return (2 * r + 5 * g + b) / 8 / 255; })
(getComputedStyle(%s).%s)"""


def check_window(tab, file, width, dark):
    of = f"{file} at {width} pixels, {'dark' if dark else 'light'}"
    tab.shape(width, dark=dark)
    tab.open(file)
    expect(not tab.console, f"{of}: the console has {tab.console}")
    expect(tab.loaded == [pathlib.Path(file).resolve().as_uri()], f"{of}: it loads {tab.loaded}")
    overlaps = tab.ask(OVERLAPS)
    expect(not overlaps, f"{of}: {overlaps[:5]}")
    if file.endswith(".html"):
        room = tab.ask("document.documentElement.scrollWidth - innerWidth")
        expect(room <= 0, f"{of}: the page is {room} pixels too wide")
        paper, ink = (tab.ask(BRIGHTNESS % ("document.body", name)) for name in ("backgroundColor", "color"))
        note = tab.ask(BRIGHTNESS % ("document.querySelector('text.note')", "fill"))
    else:
        paper = tab.ask(BRIGHTNESS % ("document.querySelector('.paper')", "fill"))
        ink = tab.ask(BRIGHTNESS % ("document.querySelector('.title')", "fill"))
        note = tab.ask(BRIGHTNESS % ("document.querySelector('text.note')", "fill"))
    expect((paper < 0.2 and ink > 0.8) if dark else (paper > 0.9 and ink < 0.2), f"{of}: {ink} on {paper}")
    expect(abs(note - paper) > 0.4, f"{of}: notes of {note} on {paper}")
    label = tab.ask(BRIGHTNESS % ("document.querySelector('text.label')", "fill"))
    expect(label < 0.2, f"{of}: labels of {label} on light colours")
    colours = tab.ask("[...document.querySelectorAll('.curve polygon')].map(p => p.getAttribute('fill'))") or []
    shared = [c for c, n in collections.Counter(colours).items() if n > max(1, len(tab.ask(SHOWN % ('"ranks"', '"ranks"'))))]
    expect(not shared, f"{of}: scopes share the colour {shared}")
    if folder := os.environ.get("MESHTENSOR_WRITE_SCREENSHOTS"):
        name = f"{pathlib.Path(file).stem}-{width}{'-dark' if dark else ''}.png"
        tab.picture(pathlib.Path(folder) / name)


# What is broken, and the text of a page with what stands for it.
BROKEN = (("an error", "</body>", "<script>console.error('broken')</script></body>"),
          ("an exception", "</body>", "<script>broken()</script></body>"),
          ("an image from elsewhere", "</body>", "<img src='http://127.0.0.1:9/a.png'></body>"),
          ("a wide line", "</body>", "<div style='width:1300px'>wide</div></body>"),
          ("a text upon another", "</svg>", "<text x='2' y='40'>a text</text><text x='4' y='42'>a text</text></svg>"),
          ("a text beyond its image", "</svg>", "<text x='9999' y='40'>a text</text></svg>"),
          ("dark letters on a dark page", "--ink:#e6edf3", "--ink:#1f2328"),
          ("two scopes in one colour", 'fill="#ee8866"', 'fill="#4477aa"'),
          ("a wrong unit", " MB</td>", " kB</td>"),
          ("a wrong number", 'data-received-bytes="', 'data-received-bytes="1'),
          ("a wrong time", " ms</td>", " s</td>"),
          ("a hidden row", '<tr><td class="number" data-bytes=', '<tr hidden><td class="number" data-bytes='))


def check_catches(tab):
    whole = pathlib.Path("step.html").read_text()
    pathlib.Path("broken.json").write_text(pathlib.Path("step.json").read_text())
    missed = []
    for what, text, broken in BROKEN:
        assert text in whole, text
        pathlib.Path("broken.html").write_text(whole.replace(text, broken, 1))
        failures.clear()
        check_numbers(tab, "broken")
        check_window(tab, "broken.html", 1200, True)
        if not failures:
            missed.append(what)
    failures[:] = [f"not seen: {what}" for what in missed]


def main():
    part, program = sys.argv[1:3]
    path = browser.found()
    if path is None:
        print("skipped: there is no Chromium: install the package chromium")
        return 77
    with tempfile.TemporaryDirectory() as folder, browser.Browser(path) as tab:
        os.chdir(folder)
        subprocess.run([program], check=True)
        for page in PAGES if part == "numbers" else ():
            plans = check_numbers(tab, page)
            # 256 tokens and 64 positions of 128; 4 layers of 128, 512 and 128; norms and logits.
            per_layer = 4 * 128 * 128 + 2 * 128 * 512 + 512 + 128 + 4 * 128
            wanted = (256 + 64) * 128 + 4 * per_layer + 2 * 128 + 128 * 256 + 256
            expect(all(p["counts"]["parameters"] == wanted for p in plans), f"{page}: {wanted} parameters")
        if part == "numbers":
            check_rates(tab)
        if part == "catches":
            check_catches(tab)
        files = [p + ".html" for p in PAGES] if part == "windows" else [str(root / "docs/pictures/layout.svg")]
        for file in files if part in ("windows", "picture") else ():
            for width in (1200, 400):
                for dark in (False, True):
                    check_window(tab, file, width, dark)
        os.chdir("/")
    print(*failures, sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
