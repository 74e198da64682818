#!/bin/sh
# Every header compiles alone; the public one also as C99 and as C++. Arguments: the root of the repository, the C compiler.
cd "${1:?the root of the repository is needed}" || exit 2
cc=${2:?the C compiler is needed}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
status=0
count=0

compiles() { # compiles HEADER LANGUAGE COMPILER FLAGS...
    header=$1
    language=$2
    shift 2
    count=$((count + 1))
    printf '#include "%s"\nint l2k_nothing_else;\n' "$header" >"$work/alone.$language"
    if ! "$@" -fsyntax-only -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-variable -I. -Iinclude -Itests \
        "$work/alone.$language" 2>"$work/log"; then
        echo "FAILED: $header does not compile alone ($*)"
        head -5 "$work/log"
        status=1
    fi
}

# libtiff is optional.
tiff='pictures/formats/tiff.h'
printf '#include <tiffio.h>\n' | "$cc" -fsyntax-only -x c - 2>/dev/null && tiff=
for header in $(find base tiling dwt quant transform codec pictures cli -name '*.h' ! -name '*cuda*' ! -path '*/opencl/*' | sort); do
    [ "$header" = "$tiff" ] || compiles "$header" c "$cc" -std=c11
done
for standard in c99 c11 c17; do
    compiles lift2k/lift2k.h c "$cc" -std=$standard -pedantic
done
if command -v c++ >/dev/null 2>&1; then
    for standard in c++11 c++17; do
        compiles lift2k/lift2k.h cpp c++ -std=$standard -pedantic
    done
else
    echo "SKIPPED: no C++ compiler, lift2k.h was not compiled as C++"
fi
echo "$count headers"
[ "$count" -gt 20 ] || status=1
exit $status
