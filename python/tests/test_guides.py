"""The code of the guides and the README, piece after piece, in a folder with tests/data. ```python MODULE needs that module."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.filterwarnings("ignore::lift2k.Lift2kWarning")
@pytest.mark.parametrize("page", ["README.md", *sorted(f"docs/guides/{p.name}" for p in ROOT.glob("docs/guides/*.md"))])
def test_code(page, tmp_path, monkeypatch):
    text = (ROOT / page).read_text()
    pieces = [(m.start(), *m.groups()) for m in re.finditer(r"^```python ?(\w*)\n(.*?)^```$", text, flags=re.S | re.M)]
    if not pieces:
        pytest.skip("no Python")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/data").symlink_to(ROOT / "tests/data")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "guide"}
    for start, module, code in pieces:
        if module:
            pytest.importorskip(module)
        lines = "\n" * (text.count("\n", 0, start) + 1)
        exec(compile(lines + code, page, "exec"), names)
