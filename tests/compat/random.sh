#!/usr/bin/env bash
# compat_random, which encodes and decodes at random with both libraries, also what was cut, finds the same status, bytes
# and samples. Arguments: the folder of our library, compat_random, the system's library. L2K_RANDOM_CASES cases, 400 by
# default, from number L2K_RANDOM_FIRST, 1 by default.
ours=$1
random=$2
theirs=$3
. "$(dirname "$0")/support.sh"

checks=${L2K_RANDOM_CASES:-400}
OMP_NUM_THREADS=1 "$random" "$ours/libopenjp2.so.7" "$theirs" "$checks" "${L2K_RANDOM_FIRST:-1}" >cases.txt 2>messages.txt ||
    fault "$(tail -5 cases.txt)"
tail -1 cases.txt
finish
