"""Opens pages of `certus report` in a real browser.

    python3 crates/certus/tests/browser.py [--certus target/release/certus] [--screenshots FOLDER] [--install]

Checks that pages load without errors on the console and without any request, that their controls work, and that the
numbers on them are those of the JSON. Needs Playwright and Chromium: with --install both are fetched (into a virtual
environment of its own, and Chromium by Playwright or else by apt-get). Where they are missing it says so and exits with
code 77.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}", file=sys.stderr)
    sys.exit(SKIPPED)


def install():
    """Goes on in a virtual environment that has Playwright."""
    venv = Path(tempfile.gettempdir()) / "certus-browser"
    python = venv / "bin" / "python"
    if not python.exists():
        if subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True).returncode:
            skip("no virtual environment can be made here")
    if subprocess.run([python, "-c", "import playwright"], capture_output=True).returncode:
        if subprocess.run([python, "-m", "pip", "install", "--quiet", "playwright"]).returncode:
            skip("Playwright cannot be installed here")
    if not chromium():
        fetched = subprocess.run([python, "-m", "playwright", "install", "chromium"], capture_output=True)
        if fetched.returncode and shutil.which("apt-get") and os.geteuid() == 0:
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            subprocess.run(["apt-get", "update"], **quiet)
            subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"], **quiet)
    arguments = [own for own in sys.argv[1:] if own != "--install"]
    os.execv(python, [str(python), __file__, *arguments])


def chromium():
    """A Chromium of the system, if there is one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


def documents(certus, folder):
    """Outcomes of several engines, the larger ones made up."""
    made = {}

    def ran(name, *command):
        path = folder / f"{name}.json"
        subprocess.run([certus, *command, "--json", "-o", path], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        made[name] = path

    ran("check", "check", "zoo/toy/toy.certus", "-k", "5")
    ran("region", "check", "zoo/aurora/aurora.certus", "p3", "-k", "0", "--region", "loss,close", "--resolution", "8")
    ran("prob", "prob", "zoo/stopping_car/stopping_car.certus")
    ran("gate", "gate", "zoo/toy/toy.certus", "zoo/toy/toy.onnx", "--runs", "50", "--steps", "10")
    shield = folder / "shield.json"
    subprocess.run([certus, "shield", "zoo/pendulum/pendulum.certus", "-o", shield], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    made["shield"] = shield
    ran("shield-run", "shield", "run", shield, "--runs", "20", "--steps", "100")
    steps = []
    for step in range(40):
        x = math.exp(-step / 30) * math.cos(step / 4)
        steps.append({"state": {"x": x, "v": math.sin(step / 4), "z": step * 0.1}, "input": {"wind": 0.1 + 0.2}, "chance": {},
                      "policy": {"a": -x / 3}, "action": {"go": "left" if x > 0 else "right"}, "atoms": {"x < 0.9": x < 0.9}})
    cells = [{"box": [[i / 7, (i + 1) / 7], [j / 7, (j + 1) / 7], [0, 1 + j]], "step": max(abs(i - 5), abs(j - 5))}
             for i in range(10) for j in range(10)]
    grid = {"policy": "network", "axes": ["x", "v", "w"], "widths": {}, "automaton_states": 2, "cells": len(cells), "bounded": 0, "bytes": 0,
            "refinements": 0, "halved": 0, "new_cells_per_step": [], "hull": [], "reachable": {"every": 1, "cells": cells}, "candidate": [],
            "seconds": {"bounds": 0.5, "product": 0.5}}
    faces = [{"linear": {"x": 1, "v": 0.5}, "at_most": 1.25}, {"linear": {"x": -1, "v": 0.25}, "at_most": 1}]
    # The rest of the document is that of a check of the binary.
    synthetic = json.loads(made["check"].read_text())
    synthetic.update({"system": "made_up", "states": [{"name": "x", "lower": -2, "upper": 2}, {"name": "v", "lower": -2, "upper": 2}], "results": [
        {"property": "run", "words": "", "formula": "G x < 0.9", "verdict": "violated", "engine": "bmc", "scope": {"bounded": 39},
         "seconds": 0.25, "trace": steps, "loop": 12, "reason": None},
        {"property": "cells", "words": "", "formula": "G x < 2", "verdict": "holds", "engine": "grid", "scope": "unbounded", "seconds": 1.5,
         "reason": None, "grid": grid,
         "proof": {"for_all_time": [{"induction": {"depth": 1, "different": False, "invariant": faces}}]}}]})
    made["made_up"] = folder / "made_up.json"
    made["made_up"].write_text(json.dumps(synthetic))
    return made, synthetic


def check(condition, message):
    if not condition:
        raise AssertionError(message)


def rounds_to(shown, value):
    """Whether a text is a number to about six digits."""
    return abs(float(shown) - value) <= 1e-4 * max(abs(value), 1e-12)


def look_at_actions(page, prob_document):
    """One map for every action, with the bounds of the document under the pointer."""
    result = prob_document["results"][0]
    for action in result["actions"]:
        name = f"{action['action']} = {action['label']}"
        figure = page.locator("figure.boxes").filter(has_text=f"Probability of {name}").first
        squares = figure.locator(".parts path").evaluate_all("own => own.map(p => p.getAttribute('d'))")
        check(sum(own.count("M") for own in squares) == len(result["cells"]), f"{name}: boxes")
        figure.locator("svg").focus()
        page.keyboard.press("ArrowRight")
        said = figure.locator("output.pointed").inner_text()
        check(said.startswith(f"{name} in ["), said)
        low, high = said[len(name) + 5:said.index("]")].split(", ")
        near = lambda shown, value: abs(float(shown) - value) <= 1e-3 * max(value, 1e-3)
        bounds = zip(action["lower"], action["upper"])
        check(any(near(low, least) and near(high, most) for least, most in bounds), said)
    check(page.locator("figure").filter(has_text="How the interval narrowed").count() > 0, "convergence")


def look(browser, page_file, synthetic, check_document, prob_document, screenshots):
    for width in (1280, 400):
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
            errors, requests = [], []
            page.on("console", lambda message: errors.append(message.text) if message.type in ("error", "warning") else None)
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on("request", lambda request: requests.append(request.url))
            page.goto(page_file.as_uri())
            check(not errors, f"{width} {scheme}: {errors}")
            others = [own for own in requests if own != page_file.as_uri() and not own.startswith("data:")]
            check(not others, f"the page asks for {others}")
            wide = page.evaluate("document.documentElement.scrollWidth")
            check(wide <= width, f"{width}: the page is {wide} wide")
            if screenshots:
                page.screenshot(path=str(screenshots / f"report-{width}-{scheme}.png"), full_page=True)
            page.close()

    page = browser.new_page(viewport={"width": 1280, "height": 900})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(page_file.as_uri())

    # The summary has the verdicts and times of the document.
    rows = page.locator("#summary tbody tr")
    for result in check_document["results"]:
        row = rows.filter(has_text=result["property"]).first
        check(result["verdict"] in row.inner_text(), f"{result['property']}: {row.inner_text()}")
        check(float(row.locator("data").first.get_attribute("value")) == result["seconds"], "seconds in the summary")

    # The run: table, controls, values.
    trace = synthetic["results"][0]["trace"]
    run = page.locator(".run").filter(has_text="back at step 12")
    run.locator("summary").first.click()
    for step in (0, 17, 39):
        cells = run.locator(f"tr:has([data-step='{step}'])").locator("data")
        shown = [float(cells.nth(i).get_attribute("value")) for i in range(cells.count())]
        at = trace[step]
        check(shown == [at["state"]["x"], at["state"]["v"], at["state"]["z"], at["input"]["wind"], at["policy"]["a"]], f"step {step}: {shown}")
    at = run.locator("output.at")
    check(at.inner_text() == "39 of 39", at.inner_text())
    run.get_by_label("first step").click()
    check(at.inner_text() == "0 of 39", at.inner_text())
    run.get_by_label("one step on").click()
    run.get_by_label("one step on").press("Enter")
    check(at.inner_text() == "2 of 39", at.inner_text())
    values = run.locator("output.values").inner_text()
    said = dict(part.split(" = ") for part in values.split(": ", 1)[1].split(", "))
    check(rounds_to(said["x"], trace[2]["state"]["x"]) and said["go"] == trace[2]["action"]["go"], values)
    run.locator("input.step").focus()
    page.keyboard.press("ArrowRight")
    check(at.inner_text() == "3 of 39", at.inner_text())
    run.get_by_label("play", exact=True).click()
    page.wait_for_function("node => Number(node.value) > 6", arg=run.locator("input.step").element_handle())
    run.get_by_label("pause").click()
    stopped = at.inner_text()
    page.wait_for_timeout(400)
    check(at.inner_text() == stopped, "a paused run goes on")
    plot = run.locator(".over-time svg")
    plot.scroll_into_view_if_needed()
    plot.hover(position={"x": plot.bounding_box()["width"] * 0.9, "y": 120})
    check(at.inner_text() != stopped, "pointing at the plot chooses no step")

    # Phase portrait over other variables.
    portrait = run.locator("figure.portrait")
    before = portrait.locator("path.series").get_attribute("d")
    portrait.locator("select.across").select_option(label="z")
    check(portrait.locator("path.series").get_attribute("d") != before, "the portrait stays as it was")
    check("z" in portrait.locator("svg text").all_text_contents(), "the axis keeps its name")

    # Cells over time, and along other axes; values by pointer and by keys.
    figure = page.locator("figure.boxes").filter(has_text="first reached")
    cells = synthetic["results"][1]["grid"]["reachable"]["cells"]
    squares = lambda: sum(own.count("M") for own in figure.locator(".parts path").evaluate_all("own => own.map(p => p.getAttribute('d'))"))
    check(squares() == len(cells), f"{squares()} of {len(cells)} cells are drawn")
    figure.locator("input.until").fill("2")
    check(squares() == sum(cell["step"] <= 2 for cell in cells), "cells up to step 2")
    figure.locator("input.until").fill("5")
    figure.locator("svg").focus()
    page.keyboard.press("ArrowRight")
    said = figure.locator("output.pointed").inner_text()
    found = int(figure.locator("output.pointed").get_attribute("data-index"))
    data = json.loads(page.evaluate("id => document.getElementById(id).textContent", figure.get_attribute("data-boxes")))
    check(said.startswith(f"step {data['values'][found]:g}"), said)
    check(any(cell["step"] == data["values"][found] and cell["box"][0][0] == data["lower"][0][found] for cell in cells), "the cell is in the document")
    figure.locator("select.up").select_option(label="w")
    check("w" in figure.locator("svg text").all_text_contents(), "the axis keeps its name")
    look_at_actions(page, prob_document)
    check(not errors, f"{errors}")
    page.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--certus", default=str(ROOT / "target/release/certus"))
    parser.add_argument("--screenshots", type=Path)
    parser.add_argument("--page", type=Path, help="only opens this page, and says how long that takes")
    parser.add_argument("--install", action="store_true")
    arguments = parser.parse_args()
    if arguments.install:
        install()
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        skip("no Playwright; --install fetches it")
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        except Error as error:
            skip(f"no Chromium that starts: {str(error).splitlines()[0]}")
        if arguments.page:
            page = browser.new_page()
            started = time.perf_counter()
            page.goto(arguments.page.resolve().as_uri(), wait_until="load")
            page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            print(f"opened in {time.perf_counter() - started:.2f} s")
            return
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            made, synthetic = documents(arguments.certus, folder)
            page_file = folder / "report.html"
            subprocess.run([arguments.certus, "report", *made.values(), "-o", page_file], check=True, stdout=subprocess.DEVNULL)
            if arguments.screenshots:
                arguments.screenshots.mkdir(parents=True, exist_ok=True)
            documents_read = [json.loads(made[name].read_text()) for name in ("check", "prob")]
            look(browser, page_file, synthetic, *documents_read, arguments.screenshots)
        browser.close()
    print("ok")


if __name__ == "__main__":
    main()
