# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: iWARP over siw: connects per second, slab memory of a connection and of a listener
# timeout: 240
# debug: off
# image: siw
#
# The slab figures include the memory of siw, the sockets and the test ULP. It is the same
# with both cores, so a difference between the cores is their own.
. /ibex/lib/iwarp.sh

slab() { awk '/^Slab:/ { print $2 }' /proc/meminfo; }

# slab_settled: prints the size of the slab in kB when it no longer changes
slab_settled() {
	local last=0 now
	for _ in $(seq 30); do
		echo 3 >/proc/sys/vm/drop_caches
		now=$(slab)
		[ $((now - last)) -gt 16 ] || [ $((last - now)) -gt 16 ] || break
		last=$now
		busybox usleep 300000
	done
	echo "$now"
}

# cost NAME COUNT COMMAND...: reports the slab memory of the COUNT objects that COMMAND makes
cost() {
	local name=$1 count=$2 before after
	shift 2
	before=$(slab_settled)
	"$@"
	after=$(slab_settled)
	say "$name: $(((after - before) * 1024 / count)) bytes of slab each" \
		"($count take $((after - before)) kB)"
}

hold_connections() {
	ulp stats 0
	ulp hold 1
	ulp silent 1
	ulp connect "$B $A 7471 $1 16"
	ulp silent 0
	ulp hold 0
	ulp_check established="$1" passive_established="$1" live=$(($1 * 2))
}

connections() {
	cost "a connection, both its ends" 1000 hold_connections 1000
	ulp drop 1
	wait_for 60 ulp_is live=0 || fail "$(ulp_get live) connections still live"
}

listeners() {
	local backlog
	for backlog in 128 512; do
		cost "a listener, backlog $backlog" 100 ulp idle "$A 100 $backlog"
		ulp idle off
	done
}

# No messages are sent, so none can arrive before siw has taken over the socket.
rates() {
	local rate
	ulp silent 1
	for _ in $(seq 5); do
		iwarp_connects 1000 16
		rate=$((1000 * 1000000 / $(ulp_get run_us)))
		say "$rate connects a second; connect to established $(ulp_get connect_avg_us) us"
	done
	ulp silent 0
}

iwarp_up
iwarp_connects 100 16
rates
connections
listeners
connections
listeners
ulp_down
siw_down
