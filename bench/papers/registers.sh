#!/bin/sh
# Instructions and bytes of paper_registers' tiles as a profiler (ncu) counts them, beside those of the paper's model.
#   bench/papers/registers.sh BUILD          BUILD was configured with -DL2K_BENCH=ON, or is a pack of one
set -eu
program=${1:?the build folder}/paper_registers
command -v ncu >/dev/null || { echo "ncu is missing"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
metrics=smsp__inst_executed.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum
ncu --csv --page raw --print-units base --metrics "$metrics" --kernel-name 'regex:register_tile_kernel' \
    "$program" --profile >"$scratch/all"
{ grep '^model' "$scratch/all" || true; } | tr '\t' '|' >"$scratch/model"
awk -F'","' '
    /^"ID"/ { for (i = 1; i <= NF; i++) { gsub(/"/, "", $i); column[$i] = i }; next }
    !("Kernel Name" in column) || $1 !~ /^"[0-9]/ { next }
    {
        gsub(/[",]/, "", $NF)
        for (i = 1; i <= NF; i++) gsub(/,/, "", $i)
        printf "%.0f|%.1f|%.1f|%.1f|%.1f\n", $column["smsp__inst_executed.sum"] / 1000,
            $column["lts__t_sectors_op_read.sum"] * 32 / 1e6, $column["dram__bytes_read.sum"] / 1e6,
            $column["lts__t_sectors_op_write.sum"] * 32 / 1e6, $column["dram__bytes_write.sum"] / 1e6
    }' "$scratch/all" >"$scratch/seen"
# A launch follows each line of the model, so that they pair up by their order, if none is missing.
lines=$(wc -l <"$scratch/model") launches=$(wc -l <"$scratch/seen")
if [ "$lines" -eq 0 ] || [ "$lines" -ne "$launches" ]; then
    echo "paper_registers has $lines lines of the model, but ncu $launches launches" >&2
    exit 1
fi
printf 'One level forward, MB:\n\n'
printf '| wavelet | height | loads, no cache | loads, halo from caches | stores | thousand instructions | read from L2 | read from memory | written to L2 | written to memory |\n'
printf '|---|---|---|---|---|---|---|---|---|---|\n'
paste -d'|' "$scratch/model" "$scratch/seen" | sed 's/^model//; s/|/ | /g; s/^ //; s/$/ |/'
