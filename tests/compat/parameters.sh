#!/usr/bin/env bash
# compat_parameters, which encodes with odd parameters, says the same with both libraries; what OpenJPEG crashes with, or
# accepts without making a file of it, is refused. Arguments: the folder of our library, compat_parameters.
ours=$1
parameters=$2
. "$(dirname "$0")/support.sh"

with theirs "$parameters" >theirs.txt
with ours "$parameters" >ours.txt
checks=$((checks + 1))
diff theirs.txt ours.txt || fault "encoding with odd parameters"
with ours "$parameters" alone >alone.txt
for refused in 'sub-sampling 0: 0' 'component transform 3: 0, not set up' 'nothing encoded: 0' \
    "tiles from the image's right side on: 0, not set up" 'tiles from below the image on: 0, not set up'; do
    checks=$((checks + 1))
    grep -qx "$refused" alone.txt || fault "not so: $refused"
done
OMP_WAIT_POLICY=passive OPJ_NUM_THREADS=1000000 with ours "$parameters" >many.txt
checks=$((checks + 1))
cmp -s ours.txt many.txt || fault "OPJ_NUM_THREADS of a million"
finish
