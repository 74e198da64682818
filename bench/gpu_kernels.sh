#!/bin/sh
# Profiles the kernels that each work of gpu_transform launches at a size (ncu): duration, share of the memory's peak,
# registers, instructions that a warp issues for 32 samples of the work, share of the issue rate.
#   bench/gpu_kernels.sh BUILD [SIZE]        BUILD was configured with -DL2K_BENCH=ON
# The profiler runs each launch alone with cold caches. Instructions are those of one launch divided by all samples of
# the work, so those of a work's launches add up.
set -eu
build=${1:?the build folder}
size=${2:-8192}
metrics=gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,launch__registers_per_thread
metrics=$metrics,smsp__inst_executed.sum,smsp__issue_active.avg.pct_of_peak_sustained_active

echo "| work | kernel | blocks | us | % of memory peak | registers | instructions | % of issue rate |"
echo "|---|---|---|---|---|---|---|---|"
for work in 0 1 2 3 4; do
    for direction in forward inverse; do
        ncu --csv --page raw --print-units base --metrics "$metrics" --kernel-name "regex:${direction}_" --launch-count 6 \
            "$build/gpu_transform" "$size" $work | awk -F'","' -v work=$work -v size="$size" '
            /^"ID"/ { for (i = 1; i <= NF; i++) { gsub(/"/, "", $i); column[$i] = i }; next }
            !("Kernel Name" in column) || $1 !~ /^"[0-9]/ { next }
            {
                gsub(/"/, "", $NF)
                name = $column["Kernel Name"]
                if (seen[name $column["Grid Size"]]++) next
                sub(/\(l2k_cuda.*/, "", name); sub(/^void /, "", name); gsub(/<unnamed>::|\(anonymous namespace\)::|l2k_/, "", name)
                gsub(/[(), ]+/, " ", $column["Grid Size"]); split($column["Grid Size"], grid, " ")
                time = $column["gpu__time_duration.sum"]; instructions = $column["smsp__inst_executed.sum"]
                gsub(/,/, "", time); gsub(/,/, "", instructions)
                samples = size * size * (work > 2 ? 3 : 1)
                printf "| %d | `%s` | %d | %.1f | %.0f | %d | %.1f | %.0f |\n", work, name, grid[1] * grid[2],
                    time / 1000, $column["dram__throughput.avg.pct_of_peak_sustained_elapsed"],
                    $column["launch__registers_per_thread"], instructions * 32 / samples,
                    $column["smsp__issue_active.avg.pct_of_peak_sustained_active"]
            }'
    done
done
