"""Write docs/reference/formats.md: every format with an example, its source, and the tests that read it.

python tools/formats_page.py
"""

import inspect
import re
from pathlib import Path

from misspenalty.traces import formats
from misspenalty.traces.dialects import dialects

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "formats.md"
TESTS = ROOT / "tests" / "traces"
EXAMPLES = "test_inputs.py"  # file of the tests that read the example of every dialect
HEAD = """# Formats of traces

`tools/formats_page.py` writes this page from the descriptions of the formats. An example consists of the first lines of
a file. The last column names the tests in `tests/traces/` that read the format. `misspenalty trace formats NAME` shows
one format in a terminal.

| format | what | example | source | read by |
|---|---|---|---|---|
"""


def page():
    """Return the text of the page, with a row for each format."""
    described, texts = dialects(), {path: path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("test_*.py"))}
    rows = []
    for name, form in formats().items():
        reading = [str(path.relative_to(TESTS)) for path, text in texts.items() if f'"{name}"' in text]
        if name in described and EXAMPLES not in reading:
            reading.append(EXAMPLES)
        example = "<br>".join(f"`{_cell(line)}`" for line in form.example.splitlines()[:2])
        source = form.source or inspect.getdoc(inspect.getmodule(form.read)).partition("\n\n")[2] or form.summary
        cells = (f"`{name}`", _cell(form.summary), example, _cell(source), "<br>".join(f"`{each}`" for each in reading))
        rows.append("| " + " | ".join(cells) + " |\n")
    return HEAD + "".join(rows)


def _cell(text):
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
