#!/usr/bin/env bash
# compat_parameters, which encodes with odd parameters, says the same with both libraries; what OpenJPEG crashes with is
# refused. Arguments: the folder of our library, compat_parameters.
ours=$1
parameters=$2
. "$(dirname "$0")/compat_support.sh"

with theirs "$parameters" >theirs.txt
with ours "$parameters" >ours.txt
checks=$((checks + 1))
diff theirs.txt ours.txt || fault "encoding with odd parameters"
checks=$((checks + 1))
with ours "$parameters" alone | grep -q '^sub-sampling 0: 0$' || fault "sub-sampling 0 is not refused"
OMP_WAIT_POLICY=passive OPJ_NUM_THREADS=1000000 with ours "$parameters" >many.txt
checks=$((checks + 1))
cmp -s ours.txt many.txt || fault "OPJ_NUM_THREADS of a million"
finish
