#!/bin/sh
# The arrows between rooms (docs/architecture.md): reads every #include line and fails on an arrow that the table does
# not allow. A room is a folder with a row in the table; a folder without one belongs to the room above it.
# Argument: the root of the repository.
cd "${1:?the root of the repository is needed}" || exit 2
files=$(find include base mingw tiling dwt quant transform codec dirac pictures cli compat plugins python examples conformance tests bench \
    \( -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -print 2>/dev/null | sort)
if [ -z "$files" ]; then
    echo "no C or CUDA files below $1"
    exit 2
fi
# shellcheck disable=SC2086
awk '
BEGIN {
    # Each row names the rooms whose headers a room may include besides its own. A room does not stand for the rooms
    # inside it.
    row["include"] = row["mingw"] = ""
    row["base"] = "lift2k"
    row["tiling"] = row["dwt"] = row["quant"] = "lift2k base"
    row["tiling/pixel"] = "lift2k base tiling"
    # A backend is reached through the table in transform/backend.h; backends know nothing of each other.
    row["transform"] = "lift2k base tiling tiling/pixel dwt quant"
    row["transform/cpu"] = row["transform/cuda"] = row["transform/opencl"] = "lift2k base tiling tiling/pixel dwt quant transform"
    row["transform/volume"] = row["transform/cpu"]
    row["transform/volume/cpu"] = row["transform/volume"] " transform/volume"
    row["transform/volume/cuda"] = row["transform/volume/cpu"] " transform/cuda"
    # Data flows forward through codec/; encoder and decoder alone see all of it, and of engines only the door.
    stages = "lift2k base tiling quant transform"
    row["codec/tile"] = stages " dwt"
    row["codec/blocks"] = stages " codec/tile"
    row["codec/blocks/mq"] = stages " codec/tile codec/blocks"
    row["codec/blocks/ht"] = stages " codec/tile codec/blocks codec/blocks/mq"
    row["codec/packets"] = stages " codec/tile codec/blocks"
    row["codec/codestream"] = stages " codec/tile"
    row["codec/jp2"] = stages " codec/tile codec/codestream"
    row["codec/engine"] = stages " codec/tile codec/blocks"
    # A processor knows the door, and the CPU, which does what it has no kernels for; the door knows no processor.
    row["codec/engine/cpu"] = row["codec/engine"] " codec/engine"
    row["codec/engine/cuda/blocks"] = row["codec/engine"] " transform/cuda"
    row["codec/engine/cuda/mq"] = row["codec/engine/cuda/blocks"] " codec/blocks/mq codec/engine/cuda/blocks"
    row["codec/engine/cuda/ht"] = row["codec/engine/cuda/mq"] " codec/blocks/ht"
    row["codec/engine/cuda/coder"] = row["codec/engine/cuda/ht"] " codec/engine/cuda/mq codec/engine/cuda/ht"
    row["codec/engine/cuda/packets"] = row["codec/engine/cuda/blocks"] " codec/packets codec/engine codec/engine/cuda/blocks codec/engine/cuda/ht codec/engine/cuda/coder"
    row["codec/engine/cuda"] = row["codec/engine/cpu"] " codec/engine/cpu codec/engine/cuda/blocks codec/engine/cuda/coder codec/engine/cuda/packets"
    row["codec/engine/opencl"] = row["codec/engine/cpu"] " codec/engine/cpu codec/blocks/mq codec/blocks/ht transform/opencl"
    row["codec/run"] = stages " codec/tile codec/engine"
    whole = stages " tiling/pixel codec/tile codec/blocks codec/packets codec/codestream codec/jp2 codec/engine codec/run"
    row["codec/encode"] = row["codec/decode"] = whole
    row["codec/transcode"] = whole " codec/blocks/ht codec/encode codec/decode"
    row["dirac"] = "lift2k base dwt transform dirac/motion"
    row["dirac/motion"] = "lift2k base dirac"
    row["dirac/cuda"] = row["dirac"] " transform/cuda dirac"
    row["pictures/user"] = "lift2k"
    row["pictures/files"] = "lift2k pictures/user"
    row["pictures"] = "lift2k pictures/user pictures/files"
    row["pictures/formats"] = "lift2k pictures pictures/user pictures/files"
    # Everything in the command sees its options and cli/commands.h; the rooms of the subcommands build on the shared ones.
    command = "lift2k pictures pictures/user pictures/files cli cli/options"
    row["cli/options"] = row["cli/run"] = command
    row["cli"] = row["cli/input"] = command " cli/run"
    row["cli/coefficients"] = row["cli/info"] = row["cli/compare"] = row["cli/decode"] = command " cli/run cli/input"
    row["cli/view"] = row["cli/dump"] = command " cli/run cli/input cli/coefficients"
    row["cli/encode"] = command " cli/run cli/input cli/compare"
    row["cli/transcode"] = command " cli/run cli/input cli/encode"
    row["examples"] = "lift2k"
    row["python"] = "lift2k pictures pictures/user"
    row["compat/openjp2"] = row["plugins/gstreamer"] = row["plugins/hdf5"] = row["plugins/gdal"] = "lift2k"
    row["conformance"] = row["tests"] = row["bench"] = "*"

    # What is known about a wavelet matters beyond its room, its code does not: headers and the folders that read them.
    reader["dwt/wavelet.h"] = "quant codec"

    # Exceptions, at present none: exception["codec/a.c codec/b.h"] lets the file include the header. One that is no
    # longer needed is a fault as well.

    # Other projects: which rooms may include their headers.
    party["png.h"] = party["tiffio.h"] = "pictures/formats cli tests conformance bench"
    party["lcms2.h"] = "pictures cli tests"
    party["openjpeg.h"] = "compat/openjp2 tests conformance bench"
    party["gst/video/video.h"] = "plugins/gstreamer"
    party["hdf5.h"] = "plugins/hdf5 tests"
    party["nvjpeg2k.h"] = "bench"
    party["cmocka.h"] = "tests conformance"

    # Rooms without circles. Their objects, which all of a room sees, do not count.
    acyclic = "codec/encode codec/decode codec/run"
    objects = "codec/encode/encoder.h codec/decode/decoder.h"

    # Folders all of whose rooms have rows: a new one must say what it may include.
    divided = "tiling transform codec dirac pictures cli compat plugins"
}
function fault(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text
    faults++
}
function among(word, list) {
    return index(" " list " ", " " word " ") > 0
}
function top_of(path) {
    sub(/\/.*/, "", path)
    return path
}
# The room of a file: the closest folder above it that has a row.
function room_of(path) {
    do
        sub(/\/?[^\/]*$/, "", path)
    while (path != "" && !(path in row))
    return path
}
function folder_of(path) {
    sub(/\/[^\/]*$/, "", path)
    return path
}
# A source and its header are one.
function unit_of(path) {
    sub(/\.[^.]*$/, "", path)
    return path
}
# Follows the includes of a unit: 1 on the way, 2 done.
function follow(unit,    i, n, next_units) {
    state[unit] = 1
    n = split(calls[unit], next_units, " ")
    for (i = 1; i <= n; i++) {
        if (state[next_units[i]] == 1) {
            printf "%s and %s include each other, perhaps through others\n", unit, next_units[i]
            faults++
        } else if (!state[next_units[i]]) {
            follow(next_units[i])
        }
    }
    state[unit] = 2
}
function excepted(header) {
    if (!((FILENAME " " header) in exception))
        return 0
    used[FILENAME " " header] = 1
    return 1
}
FNR == 1 {
    seen++
    exists[FILENAME] = 1
    room = room_of(FILENAME)
    if (among(top_of(FILENAME), divided) && room != folder_of(FILENAME))
        fault("the room " folder_of(FILENAME) " has no row in the table of tests/house/layering.sh")
    if (FILENAME ~ /\.cuh?$/ && FILENAME !~ /cuda/ && room != "bench" && room != "tests")
        fault("a CUDA file whose path does not say cuda")
}
# An engine is a processor: in codec/ only its own folder and choose.c name one, and the options, which list the backends.
FILENAME ~ /^codec\// && FILENAME != "codec/engine/choose.c" && $0 !~ /\{"(backend|number of samples for the GPU)"/ {
    text = tolower($0)
    gsub(/l2k_([a-z]+_)?gpu_[a-z_]+/, "", text) # options
    if (FILENAME ~ /^codec\/engine\/cuda\//)
        gsub(/cuda|nvidia|gpu/, "", text)
    if (FILENAME ~ /^codec\/engine\/opencl\//)
        gsub(/opencl|gpu/, "", text)
    if (text ~ /cuda|opencl|nvidia|gpu|(^|[^a-z])(hip|vulkan|metal)([^a-z]|$)/)
        fault("only an engine names its processor: " $0)
}
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
    name = $0
    sub(/^[^<"]*[<"]/, "", name)
    sub(/[>"].*/, "", name)
    if (name ~ /^(cuda|cooperative_groups|cub\/|thrust\/|device_|driver_|vector_types|nvToolsExt|nvtx|mma\.h)/ &&
        FILENAME !~ /cuda/ && FILENAME !~ /\.cuh?$/)
        fault(name " is a CUDA header; only files whose path says cuda may include one")
    if (name in party && !among(room, party[name]))
        fault(room " must not include " name)
    if ($0 !~ /include[ \t]*"/)
        next
    arrows++
    if (name ~ /\.\.\//) {
        fault("name the folder instead of going up: " name)
        next
    }
    if (name !~ /\//) {
        if (row[room] != "*" && room != "examples")
            fault("write \"" folder_of(FILENAME) "/" name "\"")
        next
    }
    target = name ~ /^lift2k\// ? "lift2k" : room_of(name)
    if (target == "lift2k" && name != "lift2k/lift2k.h")
        fault("there is one public header, not " name)
    if (target == "")
        target = top_of(name)
    if (target == room && among(room, acyclic) && unit_of(name) != unit_of(FILENAME) && !among(name, objects))
        calls[unit_of(FILENAME)] = calls[unit_of(FILENAME)] " " unit_of(name)
    if (target == room || row[room] == "*" || among(target, row[room]) || excepted(name) ||
        (name in reader && among(top_of(FILENAME), reader[name])))
        next
    fault(room " -> " target " is not an arrow of the house: " name)
}
END {
    for (unit in calls)
        if (!state[unit])
            follow(unit)
    for (e in exception) {
        split(e, part, " ")
        if (part[1] in exists && !(e in used)) {
            printf "%s does not include %s: delete the exception in tests/house/layering.sh\n", part[1], part[2]
            faults++
        }
    }
    printf "%d files, %d arrows, %d faults\n", seen, arrows, faults
    exit faults > 0
}' $files
