#!/bin/sh
# python.sh [pytest's arguments]: builds the Python package, installs it into an environment of its own (build-python/) with
# the packages that its tests compare with (python/tests/requirements.txt), and runs them. Takes a minute or two on two
# cores; `python.sh --rounds 1000 --seed 7` has more random cases. Skipped, with a message, where pip cannot get packages.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
folder=$root/build-python
needs=python/tests/requirements.txt
echo "== Python"

skip() {
    echo "SKIPPED: the Python package: $1"
    exit 0
}

python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || skip "it needs Python 3.11 or later"
mkdir -p "$folder"
if ! cmp -s $needs "$folder/requirements.txt"; then
    python3 -m venv --clear "$folder/venv" >"$folder/pip.log" 2>&1 || skip "python3 -m venv failed (Debian: python3-venv)"
    "$folder/venv/bin/pip" --disable-pip-version-check install -q -r $needs >>"$folder/pip.log" 2>&1 ||
        skip "pip could not install $needs; $folder/pip.log has its messages"
    cp $needs "$folder/requirements.txt"
fi
# From here on, what fails is a fault.
PATH=$folder/venv/bin:$PATH # ninja
export PATH
if ! pip --disable-pip-version-check install --no-build-isolation --no-deps --force-reinstall . \
    --config-settings build-dir="$folder/cmake" >"$folder/build.log" 2>&1; then
    cat "$folder/build.log" >&2
    echo "python: the wheel could not be built or installed" >&2
    exit 1
fi
"$folder/venv/bin/python" -m pytest -q -rs -p no:cacheprovider python/tests "$@"
