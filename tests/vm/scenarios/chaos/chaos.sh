# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: everything changes at random while traffic must go on; words: SEED [MINUTES [TRAFFIC...|all]]
# timeout: 600
# smp: 4
# image: siw
# allow-dmesg: (rxe|siw)_\w+: .*(fail|error|memory|exceed)
# allow-dmesg: ref_tracker: memory allocation failure
# allow-dmesg: reading GID index [0-9]+: -12
. /ibex/lib/chaos.sh
. /ibex/lib/traffic.sh
read -r seed minutes traffic <<< "${IBEX_ARGS:-}"
seed=${seed:-$RANDOM} minutes=${minutes:-2}
[ "$traffic" != all ] || traffic=${TRAFFIC[*]}
read -ra traffic <<< "$traffic"
tasks=(links addresses netns processors modules fabric nothing programs)

user_up
GID_A=$(gid_index rxe_a $A) || fail "no GID of $A"
GID_B=$(gid_index rxe_b $B) || fail "no GID of $B"
ip link add vc address 02:00:00:00:01:01 type veth peer name vd address 02:00:00:00:01:02
ip link set vc up
ip link set vd up
modprobe bonding max_bonds=0

say "seed $seed, $minutes minutes, traffic: ${traffic[*]-}"
traffic_begin "${traffic[@]}"
touch $CHAOS
PAIR_BOUND=$((minutes * 60 + 120))
next_port
rping -s -a $A -p "$PORT" -V > /tmp/steady-server 2>&1 &
steady=($!)
wait_for 15 listens_cm || fail "rping does not listen"
rping -c -a $A -I $B -p "$PORT" -V -C 100000000 > /tmp/steady 2>&1 &
steady+=($!)
failslab_on
jobs=()
for task in "${tasks[@]}"; do
	task "$task" "$seed" &
	jobs+=($!)
done
end=$((SECONDS + minutes * 60))
while [ $SECONDS -lt $end ]; do
	busybox usleep 1000000
	for pid in "${steady[@]}"; do
		kill -0 "$pid" 2> /dev/null || fail "the connection that must go on has ended:" \
			"$(cat /tmp/steady /tmp/steady-server)"
	done
	# One a second, so that each goes on all the time
	[ ${#traffic[@]} = 0 ] || traffic_goes_on "${traffic[SECONDS % ${#traffic[@]}]}"
done
rm $CHAOS
failslab_off
ended() { [ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"; }
for n in "${!jobs[@]}"; do
	wait_for 90 ended "${jobs[n]}" || fail "${tasks[n]} hangs: $(ps ax -o pid,ppid,stat,wchan:24,args)"
	wait "${jobs[n]}" || fail "${tasks[n]}"
done
traffic_end "${traffic[@]}"
kill "${steady[@]}" || fail "the connection that must go on has ended"
wait "${steady[@]}" 2> /dev/null || :

say "everything is as before"
ip link del vc
[ ! -e /sys/module/siw ] || rmmod siw
cm "rping" "rping -s -a $A -p @ -C 10 -V" "rping -c -a $A -I $B -p @ -C 10 -V"
[ ! -e /sys/module/ib_ipoib ] || rmmod ib_ipoib
user_down
