#!/bin/sh
# numerics.sh GAINS NUMERICS.MD: the tables that bound the size of coefficients are those that GAINS computes.
set -u
failures=0
computed=$("$1") || exit 1
rows=$(printf '%s\n' "$computed" | awk -F ' [|] ' '
    /^Largest/ { second = 1 }
    /^5\/3|^9\/7/ { wavelet = $0; second = 0 }
    /^[|] [0-9]/ {
        sub(/^[|] /, ""); sub(/ [|]$/, "")
        level = $1; row = ""
        for (i = 2; i <= (second && wavelet == "9/7" ? 4 : NF); i++)
            row = row " | " (second && $i == "0" ? "none" : $i)
        if (wavelet == "5/3") first[second, level] = row
        else print "| " level first[second, level] row " |"
    }')
for level in 1 3 5 6; do
    printf '%s\n' "$rows" | grep "^| $level " >"${TMPDIR:-/tmp}/numerics.$$" || failures=$((failures + 1))
    while read -r row; do
        tr -d '*' <"$2" | grep -qxF -- "$row" || { echo "FAILED: not in $2: $row"; failures=$((failures + 1)); }
    done <"${TMPDIR:-/tmp}/numerics.$$"
done
rm -f "${TMPDIR:-/tmp}/numerics.$$"
echo "$(printf '%s\n' "$rows" | wc -l) rows computed, $failures failures"
[ "$failures" -eq 0 ]
