# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib beside rdma_rxe, by turns in one boot: bandwidth, latency, memory of objects
# timeout: 400
# debug: off
#
# Prints one line for each measurement (the "head" line names the columns). No figure is
# asserted. Args: "full" for more rounds; "cost" for the time of a message when its two programs
# sleep while they wait, which is instructions in a machine whose clock counts these (--icount).
. /ibex/lib/vib.sh
. /ibex/lib/user.sh
PAIR_BOUND=90

rounds=2 scale=1 parts='copy rate memory'
for arg in $IBEX_ARGS; do
	case $arg in
	full) rounds=5 scale=2 ;;
	cost) rounds=3 parts=cost ;;
	*) fail "what is $arg?" ;;
	esac
done

# row WHAT UNIT PROVIDER VALUE
row() { echo "row | $round | $1 | $2 | $3 | $4"; }

# on PROVIDER PROGRAM OPTIONS...: the line of its client with the figures
server="" client=""
on() {
	local provider=$1 name=$2 dev=(vib0 vib1)
	shift 2
	local options=("$name -p @ -F -d ${dev[0]} $*" "$name -p @ -F -d ${dev[1]} $* 127.0.0.1")
	if [ "$provider" = rxe ]; then
		options=("$name -p @ -F -d rxe_a -x $gid_a $*" "$name -p @ -F -d rxe_b -x $gid_b $* $A")
	fi
	next_port
	pair listens_tcp "$server ${options[0]//@/$PORT}" "$client ${options[1]//@/$PORT}"
	figures=$(grep -E "^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+" /tmp/client) ||
		pair_failed "$name on $provider: no figures"
}

# bandwidth WHAT PROGRAM OPTIONS...: MB (of 2^20 bytes) a second, the average
bandwidth() {
	local what=$1 provider
	shift
	for provider in rxe vib; do
		on $provider "$@"
		row "$what" "MB/s" $provider "$(echo "$figures" | awk '{ print $4 }')"
	done
}

# latency WHAT PROGRAM OPTIONS...: microseconds, one way, typical
latency() {
	local what=$1 provider
	shift
	for provider in rxe vib; do
		on $provider "$@"
		row "$what" us $provider "$(echo "$figures" | awk '{ print $5 }')"
	done
}

# cost WHAT PROGRAM SIZE COUNT: nanoseconds for each of COUNT messages, one behind the other
cost() {
	local what=$1 provider
	for provider in rxe vib; do
		on $provider "$2" -e -s "$3" -n "$4"
		row "$what" ns $provider "$(echo "$figures" | awk -v size="$3" \
			'{ printf "%.0f", size / ($4 * 1048576) * 1e9 }')"
	done
}

# cost_alone SIZE COUNT: the same of a SEND with no other on its way, until the peer has it
cost_alone() {
	local provider words="-e -s $1 -n $2 -m 4096"
	for provider in rxe vib; do
		next_port
		if [ $provider = vib ]; then
			pair listens_tcp "ibv_rc_pingpong -d vib0 -p $PORT $words" \
				"ibv_rc_pingpong -d vib1 -p $PORT $words 127.0.0.1"
		else
			pair listens_tcp "ibv_rc_pingpong -d rxe_a -g $gid_a -p $PORT $words" \
				"ibv_rc_pingpong -d rxe_b -g $gid_b -p $PORT $words $A"
		fi
		# N iters in S seconds = T usec/iter, which is two messages
		row "a SEND of $1 bytes alone, and its wakeup" ns $provider \
			"$(awk '/usec\/iter/ { printf "%.0f", $(NF - 1) * 500 }' /tmp/client)"
	done
}

measure_copy() {
	local ns
	ns=$(cat /sys/module/ibex_memcpy/parameters/ns)
	row "memcpy() of 64 KiB, 4 KiB at a time" "MB/s" copy $((62500000 / ns))
}

# Both ends poll, each on its own processor: on one they would wait for each other's time slice to
# end.
measure_rate() {
	local server="taskset -c 0" client="taskset -c 1"
	bandwidth "ib_send_bw, 64 KiB" ib_send_bw -s 65536 -n $((250 * scale))
	bandwidth "ib_write_bw, 64 KiB" ib_write_bw -s 65536 -n $((250 * scale))
	bandwidth "ib_read_bw, 64 KiB" ib_read_bw -s 65536 -n $((250 * scale))
	bandwidth "ib_send_bw -e, 64 KiB" ib_send_bw -e -s 65536 -n $((250 * scale))
	latency "ib_send_lat, 2 bytes" ib_send_lat -s 2 -n $((250 * scale))
	latency "ib_write_lat, 2 bytes" ib_write_lat -s 2 -n $((250 * scale))
}

measure_cost() {
	cost "a READ of 4096 bytes, one behind the other" ib_read_bw 4096 2000
	cost "a READ of 64 bytes, one behind the other" ib_read_bw 64 2000
	cost "a SEND of 4096 bytes, one behind the other, and its wakeup" ib_send_bw 4096 2000
	cost "a SEND of 64 bytes, one behind the other, and its wakeup" ib_send_bw 64 2000
	cost_alone 4096 500
	cost_alone 64 500
}

# memory WHAT KIND COUNT
memory() {
	row "$1" bytes rxe "$(/ibex/bin/objects rxe_a "$2" "$3")"
	row "$1" bytes vib "$(/ibex/bin/objects vib0 "$2" "$3")"
}

measure_memory() {
	memory "a QP, of 16 requests each way" qp 2000
	memory "a CQ of 4095 entries" cq 100
	memory "a region of one page" mr 20000
}

rdma_up
gid_a=$(gid_index rxe_a $A) || fail "no GID of $A"
gid_b=$(gid_index rxe_b $B) || fail "no GID of $B"
vib_up
vib_star 2
for dev in vib0 vib1; do
	wait_for 20 port_is $dev INIT || fail "$dev does not come up"
done
opensm_up vib0
for dev in vib0 vib1; do
	wait_for 60 port_is $dev ACTIVE || fail "opensm leaves $dev inactive"
done
ulimit -l unlimited
insmod /ibex/memcpy/ibex_memcpy.ko
say "measuring"
echo "head | round | what | unit | provider | value"
for round in $(seq $rounds); do
	for part in $parts; do
		[ "$part" != memory ] || [ "$round" = 1 ] || continue
		"measure_$part"
	done
done
rmmod ibex_memcpy
no_warning
opensm_down vib0
vib_down
