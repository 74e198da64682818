#!/usr/bin/env bash
# Words that docs/glossary.md has replaced do not come back into the sources, nor phrases that only a translator writes:
# in C, CUDA and OpenCL any word, alone or as a part of a name. Argument: the root of the repository.
cd "${1:?the root of the repository is needed}" || exit 2

# Retired words, each with the one that is used instead.
retired='walk(er|ing|ed|s)?:iterate prism(s)?:fused_kernel rung(s)?:lifting_step team(s)?:worker_group sweep(s|ing)?:level_pass swept:level_pass spare(s|d)?:idle l2k_turns?:job l2k_program(s)?:op_list row_kernels?:row_functions'
phrases='\b(so many|by and by|what there is|nobody|somebody else|has it|of its own accord|in hand|that is to say|gets here)\b'

sources=$(find include base tiling dwt quant transform codec pictures cli compat plugins -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \
    -o -name '*.cl' -o -name '*.clh') || exit 2
failed=0
complain() { # complain WHY: for the lines of grep on standard input
    local line
    while IFS= read -r line; do
        echo "FAILED: $line   <-- $1"
        failed=1
    done
}
for word in $retired; do
    # shellcheck disable=SC2086
    complain "docs/glossary.md: ${word#*:}" < <(grep -niE "(\b|_)${word%:*}[0-9]*(\b|_)" $sources)
done
# shellcheck disable=SC2086
complain "write it as an engineer says it" < <(grep -niE "$phrases" $sources)
# A name is one struct's: C++ compilers of users see all headers.
# shellcheck disable=SC2086
complain "two structs have this name" < <(sed -nE 's/^(typedef )?struct ([a-z0-9_]+) \{$/\2/p' $sources | grep '^l2k_' | sort | uniq -d)
[ "$(echo "$sources" | wc -l)" -gt 400 ] || { echo "FAILED: few sources below $PWD"; failed=1; }
exit $failed
