#!/usr/bin/env bash
# Help, hints for mistyped commands and options, and what installation generates. Arguments: the lift2k binary, the folder
# with the pictures, lift2k_pages.
lift2k=$1
data=$2
pages=$3
export LC_ALL=C
. "$(dirname "$0")/support.sh"

# usage NAME PATTERN ARGUMENTS...: status 2 and one line
usage() {
    local name=$1 pattern=$2
    shift 2
    refuses "$name" "" "$pattern" "$@"
    "$lift2k" "$@" >out.log 2>err.log
    [ $? -eq 2 ] || fault "$name: not status 2 from: $*"
    : >out.log
}

# ---- Without arguments ----

"$lift2k" >out.log 2>err.log
check "alone: status" test $? -eq 2
check "alone: nothing on standard output" test ! -s out.log
check "alone: short" test "$(wc -l <err.log)" -le 10
check "alone: three examples" test "$(grep -cE '^ +lift2k (encode|decode) photo' err.log)" -eq 3
check "alone: where there is more" grep -q "lift2k --help" err.log
cp "$data/camera.png" photo.png
cp err.log guide
grep -oE '^ +lift2k [^ ]+ [^ ]+ [^ ]+( -I -r 20)?' guide | while read -r _ arguments; do
    "$lift2k" $arguments --quiet || echo "the example does not work: $arguments"
done >examples.log 2>&1
check "alone: the examples work" test ! -s examples.log
for word in help --help -h; do
    check "lift2k $word" sh -c "'$lift2k' $word | cmp - help.txt 2>/dev/null || '$lift2k' $word >help.txt"
done
check "help encode" sh -c "'$lift2k' help encode | grep -q -- --verify"
for command in encode decode info compare view dump; do
    check "help $command" bash -c "cmp <('$lift2k' $command --help) <('$lift2k' help $command)"
done

# ---- Generated files ----

check "for bash" bash -c "'$pages' bash >completion.bash && source ./completion.bash && complete -p lift2k"
check "for zsh" sh -c "'$pages' zsh | grep -qx '#compdef lift2k'"
check "for man" sh -c "'$pages' man dump | grep -qF 'pgx|raw'"
check "for no shell" sh -c "'$pages' fish; test \$? -eq 2"
check "for no command" sh -c "'$pages' man unheard; test \$? -eq 2"

# ---- Mistyped ----

while read -r typed meant; do
    usage "command $typed" "^lift2k: $typed: no such command; did you mean $meant\? " "$typed" a b
done <<'WORDS'
encoed encode
Encode encode
decod decode
deocde decode
inof info
comprae compare
WORDS
usage "a command that is like none" "^lift2k: xylophone: no such command; lift2k --help lists all commands" xylophone
usage "a file for a command" "photo.png: a command comes before the file" photo.png x.jp2
while read -r command typed meant; do
    usage "$command $typed" "^lift2k: ${typed%%=*}: no such option; did you mean $meant\? \(lift2k $command --help" \
        "$command" photo.png x.jp2 "$typed"
done <<'WORDS'
encode --qiuet --quiet
encode --treads --threads
encode --threds=5 --threads
encode --verfy --verify
encode --outdir --out-dir
encode --irreversable --irreversible
decode --regoin=1,2,3,4 --region
decode --redcue --reduce
info --jsno --json
compare --quite --quiet
WORDS
usage "an option that is like none" "^lift2k: --xylophone: no such option; lift2k encode --help lists all options" \
    encode photo.png x.jp2 --xylophone
usage "two options begin so" "^lift2k: --prog: ambiguous: could be --progression or --progress$" encode photo.png x.jp2 --prog RPCL
usage "one hyphen" "^lift2k: -quiet: did you mean --quiet, with two hyphens" encode photo.png x.jp2 -quiet
usage "one hyphen, in between" "^lift2k: -tile: did you mean --tile" encode -I -tile 64,64 photo.png x.jp2
usage "a value too many" "^lift2k: --quiet: the option takes no value" encode photo.png x.jp2 --quiet=1
usage "a value too few" "^lift2k: --rate: the option needs a value" encode photo.png x.jp2 --rate
usage "an unknown letter" "^lift2k: -Z: no such option; lift2k encode --help" encode photo.png x.jp2 -Z
runs "unambiguous abbreviations" encode photo.png x.jp2 --thr 1 --qui

# ---- Version ----

"$lift2k" --version >version
for fact in "lift2k [0-9.]+" "OpenMP +(yes|no)" "CUDA +[^ ]" "libpng +1\." "libtiff +([0-9]|no: )" "libjpeg +(turbo )?([0-9]|no: )" "Little CMS +([0-9]|no)" "compiler +[^ ]"; do
    check "version: $fact" grep -qE "^$fact" version
done

finish
