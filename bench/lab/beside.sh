#!/bin/sh
# Two runs of tables.sh or gpu_ladder beside each other, as one Markdown: all of the first one, and behind each table's
# columns those of the second one that differ anywhere in it.
#   bench/lab/beside.sh FIRST SECOND NAME      NAME: what the heads of the second one's columns begin with, such as H200
set -eu
first=${1:?the output of one run} second=${2:?that of another} name=${3:?a name for it}
awk -F' *[|] *' -v name="$name" -v second="$second" '
    # A table is cell[run, row, column] until it ends; rows 1 and 2 are its head and the line below.
    function keep(run, row, i) { for (i = 2; i < NF; i++) cell[run, row, i] = $i }
    function read_second(subject, status) {
        do status = getline <second; while (status > 0 && $0 !~ /^[|]/)
        if (status > 0 && NF == width && $2 == subject) return
        print "the runs have different tables, from here on: " subject >"/dev/stderr"
        failed = 1
        exit 1
    }
    function finish(row, i, differ, line) {
        for (i = 2; i < width; i++)
            for (row = 1; row <= rows; row++)
                if (row != 2 && cell[1, row, i] != cell[2, row, i]) differ[i] = 1
        for (row = 1; row <= rows; row++) {
            line = "|"
            for (i = 2; i < width; i++) line = line " " cell[1, row, i] " |"
            for (i = 2; i < width; i++)
                if (i in differ) line = line " " (row == 1 ? name ": " : "") cell[2, row, i] " |"
            if (row == 2) gsub(/ /, "", line)
            print line
        }
        rows = 0
    }
    /^[|]/ { width = NF; keep(1, ++rows); read_second($2); keep(2, rows); next }
    { if (rows) finish(); print }
    END { if (rows && !failed) finish() }' "$first"
