# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: every RTU lost; data establishes connections of the test ULP and of SRP
# timeout: 300
#
# COMM_EST is the provider's event for the first packet that comes to a QP in RTR. SRP's target
# leaves its QP there until it gets an RTU or the event, on which it calls ib_cm_notify(); until
# then it answers nothing. rdma_cm moves a QP to RTS when it accepts, so there is no event. The
# test ULP, which listens by rdma_cm, never calls rdma_notify(): what it receives establishes its
# connections on our core. On the in-tree core nothing does, which is reported.
. /ibex/lib/vib.sh
. /ibex/lib/rows.sh
. /ibex/lib/storage.sh
. /ibex/lib/srp.sh

count=20
parallel=4
BOUND=20	# longest wait for ESTABLISHED, seconds

# cm_stat NAME: this statistic of the passive side's CM; ours only
cm_stat() { awk -v name="$1" '$1 == name { print $NF }' /sys/kernel/debug/ib_cm/vib0-1; }

rtus_dropped() { vibctl fault ca1:1 | sed -n 's/^drop=.*(\([0-9]*\) packets)$/\1/p'; }

rtus_received() { cat /sys/class/infiniband/vib0/ports/1/cm_rx_msgs/rtu; }

all_established() { ulp_is "passive_established=$count"; }

# cm_counts NAME NUMBER: of the CM's counters
cm_counts() {
	[ "$IBEX_MODE" = stock ] || [ "$(cm_stat "$1")" = "$2" ] ||
		fail "$condition: the CM counts $(cm_stat "$1") $1, not $2"
}

# rtus_lost AT-LEAST
rtus_lost() {
	say "$(rtus_dropped) RTUs dropped, $(rtus_received) received"
	[ "$(rtus_received)" = 0 ] || fail "$(rtus_received) RTUs came"
	[ "$(rtus_dropped)" -ge "$1" ] || fail "only $(rtus_dropped) RTUs dropped"
}

# Connections are made, carry a message each way and stay.
lost() {
	condition="RTU lost"
	ulp stats 0
	ulp hold 1
	ulp connect "$B $A 7471 $count $parallel"
	ulp hold 0
	ulp_check established=$count accepted=$count
	within $BOUND all_established || true
	since_received $ULP/times | row_of "first receive to ESTABLISHED"
	rtus_lost $count
	ours_must "no ESTABLISHED in $BOUND s" all_established
	cm_counts comm_est_events 0
	cm_counts established_by_receive $count
	over
}

# Each of the target's channels has its QP, and its own id of the IB CM.
srp() {
	condition="RTU lost, SRP"
	srp_target_up vib0 vib1
	srp_login vib1
	rtus_lost $((count + 1))
	store_compare "/dev/$SRP_DISK" srp
	[ "$IBEX_MODE" = stock ] || [ "$(cm_stat established_by_comm_est)" -gt 0 ] ||
		fail "$condition: no event has established anything"
	srp_logout
	srp_target_down
	store_down
}

# RTUs come, and no data.
clean() {
	condition=clean
	ulp stats 0
	ulp silent 1
	ulp hold 1
	ulp connect "$B $A 7471 $count $parallel"
	ulp hold 0
	within $BOUND all_established || fail "no ESTABLISHED in $BOUND s"
	cm_counts established_by_rtu $count
	over
	ulp silent 0
}

# The active side ends all connections.
over() {
	ulp drop active
	within 20 ulp_is live=0 || fail "$(ulp_get live) connections still live"
	ours_must "not each one ESTABLISHED, then one DISCONNECTED" each_once $ULP/times
	ulp_check duplicates=0 unexpected=0 bad_data=0 io_error=0
	ulp_check_clean
}

vib_up
record_core
subnet_up 2
ipoib_pair
ulp_up
ulp listen "$A 7471"
vibctl fault ca1:1 match=RTU drop=100%
lost
srp
vibctl fault ca1:1 clear
clean
ulp_down
rmmod ib_ipoib
opensm_down vib0
vib_down
