"""Writes the dist-info of the Python package, from which entry points are found: metadata.py PYPROJECT FOLDER."""

import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path(sys.argv[1]).read_text())["project"]
folder = Path(sys.argv[2], f"{project['name']}-{project['version']}.dist-info")
folder.mkdir(parents=True)
fields = [("Metadata-Version", "2.1"), ("Name", project["name"]), ("Version", project["version"]),
          ("Summary", project["description"]), ("License", project["license"])]
fields += [("Requires-Dist", requirement) for requirement in project["dependencies"]]
(folder / "METADATA").write_text("".join(f"{name}: {value}\n" for name, value in fields))
(folder / "entry_points.txt").write_text("".join(
    f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
    for group, entries in project["entry-points"].items()))
