#!/bin/sh
# The arrows between folders (docs/architecture.md): reads every #include line and fails on one that the table below does not
# allow. Argument: the root of the repository.
cd "${1:?the root of the repository is needed}" || exit 2
files=$(find include base tiling dwt quant transform codec pictures cli examples conformance tests bench \
    \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -print 2>/dev/null | sort)
if [ -z "$files" ]; then
    echo "no source files below $1"
    exit 2
fi
# shellcheck disable=SC2086
awk '
BEGIN {
    library = "base tiling dwt quant transform codec "
    allowed["include"] = ""
    allowed["base"] = "lift2k"
    allowed["tiling"] = allowed["dwt"] = allowed["quant"] = "lift2k base"
    allowed["transform"] = "lift2k base tiling dwt quant"
    allowed["codec"] = "lift2k base tiling quant transform"
    # What is known about a wavelet matters beyond its room, its code does not.
    reader["dwt/wavelet.h"] = "quant codec"
    allowed["pictures"] = allowed["examples"] = "lift2k"
    allowed["cli"] = "lift2k pictures"
    allowed["conformance"] = allowed["tests"] = allowed["bench"] = "*"
    # Third parties: where their headers may be seen.
    party["png.h"] = "pictures cli tests conformance bench"
    party["openjpeg.h"] = "tests conformance bench"
    party["cmocka.h"] = "tests conformance"
}
function fault(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text
    faults++
}
function among(word, list) {
    return index(" " list " ", " " word " ") > 0
}
FNR == 1 {
    seen++
    folder = FILENAME
    sub(/\/.*/, "", folder)
    leaf = FILENAME
    sub(/.*\//, "", leaf)
    if (leaf ~ /\.cuh?$/ && leaf !~ /cuda/ && folder != "bench" && folder != "tests")
        fault("a CUDA source whose name does not say cuda")
}
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    name = $0
    sub(/^[^<"]*[<"]/, "", name)
    sub(/[>"].*/, "", name)
    if (name ~ /^(cuda|cooperative_groups|cub\/|thrust\/|device_|driver_|vector_types|nvToolsExt|nvtx|mma\.h)/ && leaf !~ /cuda/ &&
        leaf !~ /\.cuh?$/)
        fault(name " is a CUDA header; only files named *cuda* may include one")
    if (name in party && !among(folder, party[name]))
        fault(folder " must not include " name)
    if ($0 !~ /include[ \t]*"/)
        next
    arrows++
    target = name
    if (name ~ /\.\.\//) {
        fault("name the folder instead of going up: " name)
        next
    }
    if (name !~ /\//) {
        if (allowed[folder] != "*" && folder != "examples")
            fault("write \"" folder "/" name "\"")
        next
    }
    sub(/\/.*/, "", target)
    if (target == "lift2k" && name != "lift2k/lift2k.h")
        fault("there is one public header, not " name)
    if (target == folder || allowed[folder] == "*" || among(target, allowed[folder]) || among(folder, reader[name]))
        next
    fault(folder " -> " target " is not an arrow of the house")
}
END {
    printf "%d files, %d arrows, %d faults\n", seen, arrows, faults
    exit faults > 0
}' $files
