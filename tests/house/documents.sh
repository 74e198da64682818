#!/usr/bin/env bash
# The documents hold together: the README stays short and leads to every guide, relative links and their anchors resolve,
# and whatever stands in backquotes and looks like a path of the repository exists. Argument: the root of the repository.
root=$(realpath "$1")
. "$(dirname "$0")/../cli/cli_support.sh"

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

folders=$(cd "$root" && find . -maxdepth 1 -type d ! -name '.*' ! -name 'build*' | sed 's/^\.\///' | tr '\n' '|')
folders=${folders%|}

# ---- The script detects faults: each of these documents has a known number of them ----

selftest() { # selftest FAULTS TEXT
    local found
    checks=$((checks + 1))
    printf '%s\n' "$2" >selftest.md
    found=$({ links_lead selftest.md; paths_exist selftest.md; } | grep -c '^FAILED')
    [ "$found" -eq "$1" ] || fault "selftest: $found faults, not $1, in: $2"
}
selftest 0 '# One, two' && selftest 0 $'# One, two\n[a](#one-two) [b](selftest.md#one-two) [c](https://nowhere)'
selftest 1 '[a](missing.md)'
selftest 1 $'# One, two\n[a](#one-three)'
selftest 0 '`docs/architecture.md`, `tests/house/documents.sh ROOT`, `docs/*.md`, `build/none.c`, `a / b`, `none.c`'
selftest 2 $'`docs/none.md`, `tests/house/none*.sh` and `docs/\narchitecture.md`'
selftest 0 $'```\n`docs/none.md` [a](missing.md)\n```'

# ---- The documents ----

for file in "$root"/*.md "$root"/docs/*.md "$root"/docs/guides/*.md; do
    links_lead "$file"
    paths_exist "$file"
done
check "README of at most 220 lines" test "$(wc -l <"$root/README.md")" -le 220
for file in "$root"/docs/guides/*.md; do
    check "README leads to each guide" grep -qF "(docs/guides/$(basename "$file"))" "$root/README.md"
done
check "something was checked" test "$checks" -gt 100
finish
