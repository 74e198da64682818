#!/bin/sh
# Rows of the papers' tables on this GPU: times, registers and occupancy (gpu_tables), static instructions (cuobjdump),
# executed instructions and bytes beside those of the model (ncu). What is not installed is left out, and said so.
#   bench/lab/tables.sh BUILD          BUILD was configured with -DL2K_BENCH=ON
#   bench/lab/tables.sh --check BUILD  compares every kernel and rung with the CPU at small sizes, and times nothing
set -eu
check=0
if [ "${1:-}" = --check ]; then check=1 && shift; fi
build=${1:?the build folder}

if [ $check = 1 ]; then
    "$build/gpu_tables" --check
    exec "$build/gpu_ladder" --check
fi

program=$(cd "$build" && pwd)/gpu_tables
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$program"

echo
if command -v cuobjdump >/dev/null; then
    # Only the lab's part: disassembling the library's kernels, which are in the same file, would take half a minute.
    (cd "$scratch" && cuobjdump -xelf all "$program" >/dev/null)
    printf 'Static instructions of a warp, without padding behind the end:\n\n| kernel | instructions | shuffles | accesses to memory | to shared memory |\n|---|---|---|---|---|\n'
    grep -l register_tile_kernel "$scratch"/*.cubin | while read -r part; do cuobjdump -sass "$part"; done | c++filt | awk '
        function flush() { if (name != "") printf "| `%s` | %d | %d | %d | %d |\n", name, all, shuffles, memory, shared }
        /Function :/ {
            flush(); sub(/.*Function : /, ""); sub(/^void /, ""); sub(/\(.*/, "")
            name = $0; all = shuffles = memory = shared = 0; next
        }
        /^ +\/\*[0-9a-f]+\*\// && !/ NOP/ {
            all++
            if (/SHFL/) shuffles++
            if (/(LDG|STG)/) memory++
            if (/(LDS|STS)/) shared++
        }
        END { flush() }'
else
    echo "cuobjdump is not there: no static instructions"
fi

echo
if command -v ncu >/dev/null; then
    metrics=smsp__inst_executed.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum
    ncu --csv --page raw --print-units base --metrics "$metrics" --kernel-name 'regex:register_tile_(inverse_)?kernel' \
        "$program" --profile >"$scratch/all" || {
        echo "ncu may not profile here: no executed instructions, and no bytes beside the model's"
        exit 0
    }
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
        echo "gpu_tables has $lines lines of the model, but ncu $launches launches: no bytes beside the model's" >&2
        exit 1
    fi
    printf 'The model of bytes and halos beside the profiler, level 1, MB:\n\n'
    printf '| wavelet | direction | height | loads, no cache | loads, halo from caches | stores | thousand instructions | read from L2 | read from memory | written to L2 | written to memory |\n'
    printf '|---|---|---|---|---|---|---|---|---|---|---|\n'
    paste -d'|' "$scratch/model" "$scratch/seen" | sed 's/^model//; s/|/ | /g; s/^ //; s/$/ |/'
else
    echo "ncu is not there: no executed instructions, and no bytes beside the model's"
fi
