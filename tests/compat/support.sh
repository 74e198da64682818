# What the tests of libopenjp2.so.7 share: commands that run with the system's library and with ours. $ours is the folder
# of our library.
. "$(dirname "$0")/../cli/support.sh"

# with WHICH COMMAND...: with the system's library ("theirs") or ours ("ours")
with() {
    local which=$1
    shift
    if [ "$which" = ours ]; then
        LD_LIBRARY_PATH=$ours "$@"
    else
        "$@"
    fi
}

missing() { # missing PROGRAM PACKAGE: true, with a message, if it is not installed
    command -v "$1" >/dev/null && return 1
    echo "SKIPPED: $1 is not installed (Debian: $2)"
}

uses_openjp2() { # uses_openjp2 NAME FILE: the program or module loads libopenjp2.so.7
    ldd "$2" 2>/dev/null | grep -q 'libopenjp2\.so\.7' && return 0
    echo "SKIPPED: $1 does not use libopenjp2.so.7"
    return 1
}

# same_code A B: the files are equal from SOC on, but for COM in the main header
same_code() {
    python3 -IS - "$1" "$2" <<'END'
import sys
def code(name):
    data = open(name, 'rb').read()
    at = data.find(b'\xff\x4f\xff\x51') + 2
    out = data[at - 2:at]
    while data[at:at + 2] != b'\xff\x90':
        end = at + 2 + int.from_bytes(data[at + 2:at + 4], 'big')
        if data[at:at + 2] != b'\xff\x64':
            out += data[at:end]
        at = end
    return out + data[at:]
sys.exit(code(sys.argv[1]) != code(sys.argv[2]))
END
}

# run_both NAME EXTENSION COMMAND...: with both libraries, into theirs.EXTENSION and ours.EXTENSION, which $out in the
# command stands for
run_both() {
    local name=$1 extension=$2 which out
    shift 2
    checks=$((checks + 1))
    for which in theirs ours; do
        out=$which.$extension
        rm -f $out
        with $which "${@//'$out'/$out}" >$which.log 2>&1 || {
            fault "$name: status with $which: $*"
            tail -2 $which.log
        }
    done
}
