#!/usr/bin/env bash
# The documents hold together: the README stays short and leads to every guide, the guide to installing asks CMake for the
# version of this repository, relative links and their anchors resolve, whatever stands in backquotes and looks like a path
# of the repository exists, and so do the functions, types, tests and files that the map of the standard names. Argument:
# the root of the repository.
root=$(realpath "$1")
. "$(dirname "$0")/../cli/support.sh"

prose() { # prose FILE: without what is between fences
    awk '/^```/ { inside = !inside; next } !inside' "$1"
}

# anchors FILE: its headings as links name them: small letters, without punctuation, a hyphen for each space
anchors() {
    prose "$1" | sed -n 's/^##* *//p' | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

links_lead() { # links_lead FILE: what it links to exists, heading included
    local link target anchor
    for link in $(prose "$1" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//' | grep -vE '^(https?|mailto):'); do
        checks=$((checks + 1))
        target=${link%%#*}
        anchor=${link#"$target"}
        target=${target:+$(dirname "$1")/$target}
        target=${target:-$1}
        [ -e "$target" ] || { fault "$(basename "$1"): no $link to link to"; continue; }
        [ -z "$anchor" ] || anchors "$target" | grep -qxF -- "${anchor#\#}" || fault "$(basename "$1"): no heading $link"
    done
}

# paths_exist FILE: the first word of each code span, if it begins with a folder of the repository; it may have a *
paths_exist() {
    local path
    while IFS= read -r path; do
        checks=$((checks + 1))
        compgen -G "$root/$path" >/dev/null || fault "$(basename "$1"): no $path in the repository"
    done < <(prose "$1" | tr '\n' ' ' | grep -oE '`[^`]+`' | tr -d '`' | awk '{ print $1 }' | grep -E "^($folders)/" |
        sed 's/[,;:]$//' | sort -u)
}

# names_exist FILE: each code span that is one name or a file's; in the sources, comments apart, it may begin with
# l2k_; a test fuzz_NAME, unit_NAME or gpu_NAME is a file NAME
names_exist() {
    local name
    while IFS= read -r name; do
        checks=$((checks + 1))
        grep -qxF -e "${name#fuzz_}" -e "${name#unit_}" -e "${name#gpu_}" -e "l2k_$name" "$names" || fault "$(basename "$1"): nothing is named $name"
    done < <(prose "$1" | tr '\n' ' ' | grep -oE '`[A-Za-z0-9_]+(\.[a-z]+)?`' | tr -d '`' | sort -u)
}

list_names() { # list_names FOLDER...: files, with and without their endings, and the words of C, CUDA and scripts
    find "$@" -type f | sed 's/.*\///' | sed 'p; s/\..*//'
    find "$@" -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.sh' -o -name CMakeLists.txt \) \
        ! -name documents.sh -exec cat {} + | grep -vE '^ *(/\*|\*|//|#( |$))' | grep -oE '[A-Za-z0-9_]+'
}

folders=$(cd "$root" && find . -maxdepth 1 -type d ! -name '.*' ! -name 'build*' | sed 's/^\.\///' | tr '\n' '|')
folders=${folders%|}
names=$PWD/names
(cd "$root" && IFS='|' && list_names $folders) | sort -u >"$names"

# ---- The script detects faults: each of these documents has a known number of them ----

selftest() { # selftest FAULTS TEXT
    local found
    checks=$((checks + 1))
    printf '%s\n' "$2" >selftest.md
    found=$({ links_lead selftest.md; paths_exist selftest.md; names_exist selftest.md; } | grep -c '^FAILED')
    [ "$found" -eq "$1" ] || fault "selftest: $found faults, not $1, in: $2"
}
selftest 0 '# One, two' && selftest 0 $'# One, two\n[a](#one-two) [b](selftest.md#one-two) [c](https://nowhere)'
selftest 1 '[a](missing.md)'
selftest 1 $'# One, two\n[a](#one-three)'
selftest 0 '`docs/architecture.md`, `tests/house/documents.sh ROOT`, `docs/*.md`, `build/none.c`, `a / b`'
selftest 0 '`quantise`, `l2k_plane`, `documents.sh`, `unit_dwt`, `t803`, `test_*`, `a b`'
selftest 3 '`no_such_function`, `l2k_no_such_type`, `none.c`'
selftest 2 $'`docs/none.md`, `tests/house/none*.sh` and `docs/\narchitecture.md`'
selftest 0 $'```\n`docs/none.md` [a](missing.md)\n```'

# ---- The documents ----

for file in "$root"/*.md "$root"/docs/*.md "$root"/docs/guides/*.md "$root"/*/README.md "$root"/bench/*/*.md; do
    links_lead "$file"
    paths_exist "$file"
done
names_exist "$root/docs/standard-map.md"
check "README of at most 130 lines" test "$(wc -l <"$root/README.md")" -le 130
check "README of at most 1000 words" test "$(wc -w <"$root/README.md")" -le 1000
for file in "$root"/docs/guides/*.md; do
    check "README leads to each guide" grep -qF "(docs/guides/$(basename "$file"))" "$root/README.md"
done
version=$(sed -nE 's/^project\(lift2k VERSION ([0-9]+\.[0-9]+)\..*/\1/p' "$root/CMakeLists.txt")
check "find_package of the guide asks for this version, $version" \
    grep -qxF "find_package(lift2k ${version:-none} REQUIRED)" "$root/docs/guides/installing.md"
check "something was checked" test "$checks" -gt 100
finish
