"""The code of the guides and the README, piece after piece, in a folder with tests/data. ```python MODULE needs that module."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [p for p in (ROOT / "README.md", *sorted(ROOT.glob("docs/guides/*.md"))) if "```python" in p.read_text()]


@pytest.mark.filterwarnings("ignore::lift2k.Lift2kWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code(page, tmp_path, monkeypatch):
    text = page.read_text()
    pieces = [(m.start(), *m.groups()) for m in re.finditer(r"^```python ?(\w*)\n(.*?)^```$", text, flags=re.S | re.M)]
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/data").symlink_to(ROOT / "tests/data")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "guide"}
    for start, module, code in pieces:
        if module:
            pytest.importorskip(module)
        lines = "\n" * (text.count("\n", 0, start) + 1)
        exec(compile(lines + code, str(page), "exec"), names)
