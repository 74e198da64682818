#!/usr/bin/env bash
# The names that libopenjp2.so.7 exports, and its soname, are those of the system's OpenJPEG. Arguments: our library, the
# system's, nm.
ours=$1
theirs=$2
nm=$3
. "$(dirname "$0")/../cli/support.sh"

names() {
    "$nm" -D --defined-only "$1" | awk '{ print $NF }' | sort
}

names "$ours" >ours.txt
names "$theirs" >theirs.txt
check "there are names" test "$(wc -l <theirs.txt)" -gt 40
check "exported names" diff theirs.txt ours.txt
if command -v readelf >/dev/null; then
    for library in "$ours" "$theirs"; do
        readelf -d "$library" | grep -o 'soname: .*' >"$(basename "$(dirname "$library")").soname"
    done
    check "soname" grep -q 'libopenjp2.so.7' "$(basename "$(dirname "$ours")").soname"
fi
finish
