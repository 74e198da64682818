#!/bin/sh
# The library's symbols: only names of its own, and no calls that print, exit or change the process.
# Arguments: nm, the archive, 1 where the build is instrumented (sanitizers and debug builds bring symbols of their own).
nm=${1:?nm is needed}
archive=${2:?the archive is needed}
if [ "${3:-0}" = 1 ]; then
    echo "SKIPPED: only a release build without sanitizers shows the library's own symbols"
    exit 77
fi
table=$("$nm" -A -g "$archive" 2>/dev/null) || exit 2
# nvcc exports kernels of an unnamed namespace (GLOBAL__N) and its own registration names; neither can clash. Weak symbols
# of C++ headers merge.
nvcc='GLOBAL__N|^__nv|^__cuda|^__fat|^_ZL|^_ZZL|^DW\.ref'
defined=$(echo "$table" | awk '$(NF - 1) ~ /^[ABCDGRSTi]$/ { print $NF }' | grep -vE "^(\.|__x86)|$nvcc" | sort -u)
count=$(echo "$defined" | grep -c .)
if [ "$count" -lt 20 ]; then
    echo "only $count symbols found in $archive: is it the library?"
    exit 2
fi
status=0
foreign=$(echo "$defined" | grep -v '^l2k_')
if [ -n "$foreign" ]; then
    echo "global symbols without the prefix l2k_:"
    echo "$foreign"
    status=1
fi
# vsnprintf and snprintf write to memory and are allowed; __*_chk are hardened forms.
banned='^(__)?(v?d?printf|v?fprintf|puts|fputs|putchar|putc|fputc|fwrite|perror|exit|_exit|_Exit|quick_exit|abort|raise|stdout|stderr|stdin|fopen|signal|setlocale|srand|rand|__assert_fail|assert_fail|getenv|setenv|system)(_chk)?$'
for name in $(echo "$table" | awk '$(NF - 1) == "U" { print $NF }' | sed 's/@.*//' | sort -u | grep -E "$banned"); do
    echo "the library uses $name:"
    echo "$table" | awk -v name="$name" '$(NF - 1) == "U" && $NF == name { print "    " $1 }'
    status=1
done
# Memory comes from the caller's hooks; where there are none, base/memory.c and
# base/pages.c use malloc and free.
for name in malloc calloc realloc free posix_memalign aligned_alloc; do
    users=$(echo "$table" | awk -v name="$name" '$(NF - 1) == "U" && $NF == name { print $1 }' | sed 's/.*[:(]\(.*\.o\).*/\1/' |
        grep -Ev '^(memory|pages)\.c\.o$' | sort -u)
    if [ -n "$users" ]; then
        echo "$name is used outside base/memory.c and base/pages.c: $users"
        status=1
    fi
done
# Writable variables are global state, including static ones (except nvcc's registration of kernels, in *.cu.o). Constant
# tables of pointers (.data.rel.ro) are not, nor what the processor has, which base/cpu.c remembers, nor OpenCL's devices
# and programs, which a process has once, as CUDA's runtime has them.
state=$("$nm" -A -f sysv "$archive" 2>/dev/null | awk -F '|' '
    { gsub(/ /, "", $3); gsub(/ /, "", $NF) }
    $3 ~ /^[DBCdb]$/ && $NF !~ /^\.data\.rel\.ro/ && $1 !~ /DW\.ref/ && $1 !~ /\.cu\.o:|:cpu\.c\.o:known|:cl_(runtime|program)\.c\.o:/ { print $1 }')
if [ -n "$state" ]; then
    echo "writable variables:"
    echo "$state"
    status=1
fi
echo "$count global symbols"
exit $status
