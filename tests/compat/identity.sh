#!/usr/bin/env bash
# All combinations of the identity test through opj_compress with both libraries: the same status and the same bytes but
# for COM. The test finds a command of the same name, which runs the real one twice. Arguments: the folder of our library,
# conformance_identity.
ours=$1
identity=$2
. "$(dirname "$0")/support.sh"
missing opj_compress libopenjp2-tools && exit 77
[ -x "$identity" ] || { echo "SKIPPED: conformance_identity was not built"; exit 77; }
real=$(command -v opj_compress)
mkdir bin
declare -f same_code >functions
cat >bin/opj_compress <<END
#!/usr/bin/env bash
. "$work/functions"
"$real" "\$@"
status=\$?
words=()
for word in "\$@"; do
    case \$word in
    *.j2k | *.jp2) theirs=\$word; word=\$word.ours.\${word##*.} ;;
    esac
    words+=("\$word")
done
mine=\$theirs.ours.\${theirs##*.}
LD_LIBRARY_PATH=$ours "$real" "\${words[@]}" >/dev/null 2>&1
[ \$? -eq \$status ] || [ \$status -ne 0 ] || echo "status: \$*" >>"$work/faults"
if [ \$status -eq 0 ] && [ -e "\$mine" ]; then
    same_code "\$theirs" "\$mine" || echo "bytes: \$*" >>"$work/faults"
fi
rm -f "\$mine"
echo >>"$work/count"
exit \$status
END
chmod +x bin/opj_compress
: >faults
: >count
PATH=$work/bin:$PATH "$identity" >identity.log 2>&1
check "the identity test itself" test $? -eq 0
checks=$(($(wc -l <count) + 1))
# OpenJPEG filters tiles of one row or column at an odd place as if it were even (docs/conformance.md).
grep -vE -- '-F (64,1|1,64),.* -d (0,1|1,0) ' faults >unexpected
[ ! -s unexpected ] || fault "$(wc -l <unexpected) combinations, such as $(head -1 unexpected)"
[ "$checks" -gt 600 ] || fault "only $checks combinations were tried"
finish
