#!/bin/sh
# The binary interface of the shared library against tests/house/abi.txt: exported functions, sizes and offsets of structures,
# values of enumerators. A difference is either a mistake, or a new version's business: then --update writes the list anew.
# Arguments: nm, the shared library, the program of abi_layout.c, the header, the list; --update at the end.
nm=${1:?nm is needed}
library=${2:?the shared library is needed}
layout=${3:?the program that prints sizes is needed}
header=${4:?the header is needed}
list=${5:?the list is needed}
case $(uname -sm) in
"Linux x86_64" | "Linux aarch64") ;;
*)
    echo "SKIPPED: the list is that of 64-bit Linux"
    exit 77
    ;;
esac
found=$(
    "$nm" -D --defined-only "$library" | awk '$2 == "T" { print $3 "()" }' | sort || exit 2
    "$layout" || exit 2
)
# Whatever the header gains must be printed, or a change would pass unseen.
status=0
for name in $(sed -n 's/^} \(l2k_[a-z0-9_]*\);$/\1/p' "$header") $(grep -oE '^ +L2K_[A-Z0-9_]+( = [^,]*)?,?' "$header" | grep -oE 'L2K_[A-Z0-9_]+'); do
    case $name in
    L2K_*) pattern="^$name = " ;;
    *) grep -q "^typedef struct $name {" "$header" && pattern="^$name [0-9]* bytes" || continue ;;
    esac
    if ! echo "$found" | grep -q "$pattern"; then
        echo "abi_layout.c does not print $name"
        status=1
    fi
done
if [ "${6:-}" = --update ]; then
    echo "$found" >"$list"
    exit $status
fi
if ! echo "$found" | diff "$list" -; then
    echo "The binary interface has changed. If that is meant: raise the version, and run this test's command with --update."
    status=1
fi
exit $status
