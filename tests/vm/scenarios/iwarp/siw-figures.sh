# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: figures of iWARP over siw: connects a second, slab of a connection, of a listener
# timeout: 240
# debug: off
# image: siw
#
# The slab holds siw's share, the sockets' and the test ULP's besides the core's; they
# are the same under either core, so the difference of the two is the core's.
. /ibex/lib/iwarp.sh

slab() { awk '/^Slab:/ { print $2 }' /proc/meminfo; }

# slab_settled: in kB, when it no longer changes
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

# cost NAME COUNT COMMAND...: slab that COUNT of them take, which COMMAND makes
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

# Nothing is sent, so that no message comes before siw is there for it.
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
