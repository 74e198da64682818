#!/usr/bin/env bash
# A film over the loopback interface with the programs of examples/rtp: the same pictures, rows that come out before the
# last ones have gone in, and frames that lose packets. Arguments: the lift2k binary, the folder with the programs, the
# folder with test pictures. All packets fit into a socket's buffer, so that a slow machine loses none.
lift2k=$(realpath "$1")
examples=$(realpath "$2")
data=$(realpath "$3")
. "$(dirname "$0")/support.sh"

receive() { # receive OUT OPTIONS...: starts a receiver; $port is its port
    local out=$1
    shift
    : >receive.log
    "$examples/rtp_receive" -t 5 "$@" 0 >"$out" 2>receive.log &
    receiver=$!
    port=
    while [ -z "$port" ] && kill -0 $receiver 2>/dev/null; do
        port=$(sed -n 's/^rtp_receive: port //p' receive.log)
    done
}

ends_with() { # ends_with NAME STATUS PATTERN: of the receiver
    local status
    wait $receiver
    status=$?
    checks=$((checks + 1))
    [ $status -eq "$2" ] && tail -1 receive.log | grep -qE "$3" || { fault "$1: status $status"; tail -3 receive.log; }
}

# Each frame shows another part of a picture.
runs film encode "$data/coffee.png" coffee.jp2
for x in 0 40 80 120; do
    runs "frame $x" decode coffee.jp2 frame.ppm --region $x,0,$((x + 96)),330
    cat frame.ppm >>film.ppm
done
frame=$(wc -c <frame.ppm)

receive out.ppm -n 4
check send "$examples/rtp_send" 127.0.0.1 "$port" <film.ppm
ends_with film 0 '^rtp_receive: 4 frames, of which 4 are complete; 0 packets were lost$'
check 'film is unchanged' cmp film.ppm out.ppm

# The last eighth of a tall picture waits for its first rows.
{ printf 'P6\n96 660\n255\n' && for _ in 1 2; do tail -c $((96 * 330 * 3)) frame.ppm; done; } >tall.ppm
tall=$(wc -c <tall.ppm)
receive out.ppm -n 1
{
    head -c $((tall * 7 / 8)) tall.ppm
    for ((i = 0; i < 400; i++)); do
        [ "$(wc -c <out.ppm)" -lt 10000 ] || { touch early; break; }
        sleep 0.01
    done
    tail -c +$((tall * 7 / 8 + 1)) tall.ppm
} | check 'send parts' "$examples/rtp_send" 127.0.0.1 "$port"
ends_with parts 0 '1 are complete'
check 'rows come early' test -e early
check 'parts are unchanged' cmp tall.ppm out.ppm

# Every 41st packet is lost: some frames are as they were, the others have all of their rows.
receive out.ppm -n 4
check 'send with losses' "$examples/rtp_send" -d 41 127.0.0.1 "$port" <film.ppm
ends_with losses 3 '4 frames, of which [123] are complete; [1-9][0-9]* packets were lost$'
checks=$((checks + 1))
[ "$(wc -c <out.ppm)" -eq "$(wc -c <film.ppm)" ] || fault 'losses: rows are missing'
same=0
for ((i = 0; i < 4; i++)); do
    if cmp -s <(tail -c +$((i * frame + 1)) film.ppm | head -c "$frame") <(tail -c +$((i * frame + 1)) out.ppm | head -c "$frame"); then
        same=$((same + 1))
    fi
done
check 'complete frames are unchanged' grep -q "of which $same are complete" receive.log

# 9/7 with a quality factor.
receive out.ppm -n 4
check 'send Q' "$examples/rtp_send" -Q 90 127.0.0.1 "$port" <film.ppm
ends_with Q 0 '4 are complete'
head -c "$frame" film.ppm >a.ppm
head -c "$frame" out.ppm >b.ppm
"$lift2k" compare a.ppm b.ppm >psnr.log
check 'Q is close' awk 'NR > 1 && NR < 5 { n += $4 > 32 } END { exit n != 3 }' psnr.log
finish
