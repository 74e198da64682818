#!/bin/sh
# build.sh FOLDER [cmake options]: configures and builds into FOLDER, incrementally. Says how long the CUDA backend takes.
set -eu
folder=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
log=$folder/build.log
mkdir -p "$folder"
if ! cmake -S "$root" -B "$folder" "$@" >"$log" 2>&1 || ! sed -n 's/^-- \(CUDA backend: .*-DL2K_CUDA=OFF.*\)/\1/p' "$log" ||
    ! cmake --build "$folder" --parallel "$(nproc)" >>"$log" 2>&1; then
    cat "$log" >&2
    echo "build: failed; the log is $log" >&2
    exit 1
fi
