# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: ibacm, rdma-core's local service, answers ib_acme and the kernel; it hangs and is killed
# timeout: 300
. /ibex/lib/vib.sh
. /ibex/lib/user.sh
PAIR_BOUND=90
LOG=/run/out/ibacm.log
ACM=

# Its clients are the kernel and ib_acme only: librdmacm asks the kernel, as it does without ibacm.
acm_up() {
	local address
	mkdir -p /etc/rdma
	# Even this machine's own addresses are found by multicast, and the paths to them by the SA.
	cat > /etc/rdma/ibacm_opts.cfg <<-END
		log_file $LOG
		log_level 2
		lock_file /run/ibacm.pid
		loopback_prot none
		server_mode unix
		acme_plus_kernel_only yes
	END
	ib_acme -A -D /etc/rdma > /dev/null || fail "ib_acme makes no list of addresses"
	ibacm -P > /run/out/ibacm.out 2>&1 &
	ACM=$!
	wait_for 60 test -S /run/ibacm-unix.sock || acm_failed "ibacm has no socket"
	for address in $A $B; do
		wait_for 60 endpoint_has "$address" || acm_failed "no endpoint has $address"
	done
}

acm_kill() {
	kill -9 "$ACM"
	wait "$ACM" 2> /dev/null || :
	ACM=
	rm -f /run/ibacm-unix.sock /run/ibacm.pid
}

acm_failed() {
	grep -v 'acm_svr\|acm_server\|acm_get_ep' $LOG | tail -n 60
	fail "$1"
}

endpoint_has() { ib_acme -e | grep -q "[,]$1[,/]"; }

# acm_count NAME: a counter, of both endpoints
acm_count() { ib_acme -P col | sed -n "s/^$1 Count : //p"; }

acm_logged() { grep -q "$1" $LOG; }

# asked: how many path queries of the kernel's ibacm has seen
asked() { grep -c "acm_nl_process_resolve: path use" $LOG || :; }

by_rdma_cm() { cm "$1" "rping -s -a $A -p @ -C 3" "rping -c -a $A -I $B -p @ -C 3"; }

# refused EVENT OPTIONS...: rping does not even find out which way to go
refused() {
	local event=$1
	shift
	! timeout -k 2 $PAIR_BOUND rping -c -p 7999 -C 3 "$@" > /tmp/client 2>&1 ||
		fail "rping $* got through"
	pair_says client "$event"
}

# ib_acme compares what ibacm says with what the SA says.
by_ib_acme() {
	local ends
	say "ib_acme: addresses by ibacm's multicast, paths by the SA"
	for ends in "$A $B" "$B $A"; do
		# shellcheck disable=SC2086 # two words
		set -- $ends
		ib_acme -f i -s "$1" -d "$2" -v > /tmp/acme || { cat /tmp/acme; acm_failed "from $1 to $2"; }
		grep -q "SA verification: success" /tmp/acme || { cat /tmp/acme; acm_failed "not the SA's"; }
	done
	grep -E 'Dest|Source|[ds]lid|SA ver' /tmp/acme
	[ "$(acm_count "Addr Query")" -gt 0 ] || acm_failed "it did not ask for an address"
}

# The kernel has a path from ibacm while the SA is stopped: nobody else can have told it.
by_kernel() {
	local resolved cached
	resolved=$(acm_count Resolve)
	by_rdma_cm "rping: the kernel asks ibacm, which asks the SA"
	[ "$(asked)" -gt 0 ] || acm_failed "the kernel did not ask"
	[ "$(acm_count Resolve)" -gt "$resolved" ] || acm_failed "ibacm did not answer"
	kill -STOP "${OPENSM[vib0]}"
	cached=$(acm_count "Route Cache")
	by_rdma_cm "rping: the SA is stopped, and ibacm remembers"
	[ "$(acm_count "Route Cache")" -gt "$cached" ] || acm_failed "ibacm did not remember"
	ulp_up
	ulp listen "$A 7471"
	ulp connect "$B $A 7471 10 4"
	ulp_check established=10
	ulp_check_clean
	say "a ULP of the kernel: $(ulp_show)"
	ulp_down
	ib_acme -P col
}

# ibacm of rdma-core 44 does not know what the kernel asks about a host behind a router.
behind_router() {
	say "an address behind a router: ibacm refuses"
	ip route add 10.9.0.0/24 via $B dev va
	refused ADDR_ERROR -a 10.9.0.1
	acm_logged "acm_nl_receive: WARN - invalid opcode 2" || acm_failed "it was not asked"
}

# Whether the kernel's question is in ibacm's socket: NETLINK_RDMA is 20
question_waits() { awk '$2 == 20 && $5 > 0 { n++ } END { exit !n }' /proc/net/netlink; }
no_question_waits() { ! question_waits; }

hangs() {
	say "ibacm hangs, the SA is still stopped: no path"
	kill -STOP "$ACM"
	refused ROUTE_ERROR -a $A -I $B
	question_waits || fail "ibacm was not asked"
	kill -CONT "${OPENSM[vib0]}"
	by_rdma_cm "rping: ibacm hangs, the kernel gives up and asks the SA"
	kill -CONT "$ACM"
	wait_for 20 no_question_waits || fail "ibacm does not go on"
	by_rdma_cm "rping: ibacm goes on, and its late answers do no harm"
}

killed() {
	local server client status=0
	kill -STOP "$ACM"
	next_port
	timeout -k 2 $PAIR_BOUND rping -s -a $A -p "$PORT" -C 3 > /tmp/server 2>&1 &
	server=$!
	wait_for 15 listens_cm || fail "rping does not listen"
	timeout -k 2 $PAIR_BOUND rping -c -a $A -I $B -p "$PORT" -C 3 > /tmp/client 2>&1 &
	client=$!
	wait_for 20 question_waits || fail "ibacm was not asked"
	acm_kill
	wait $client || status=$?
	wait $server || status=$?
	[ $status = 0 ] || pair_failed "rping ended with status $status"
	say "rping: ibacm is killed while it is asked, the SA is asked"
	by_rdma_cm "rping: nobody listens, the SA is asked at once"
}

vib_up
load rdma_ucm
ip link set lo up
ulimit -l unlimited
record_core
subnet_up 2
core_resources vib0
ipoib_pair
by_rdma_cm "rping: there is no ibacm"
acm_up
by_ib_acme
by_kernel
behind_router
hangs
killed
LOG=/run/out/ibacm-2.log
acm_up
by_rdma_cm "rping: ibacm is back"
[ "$(asked)" -gt 0 ] || acm_failed "it is not asked"
acm_kill
rmmod ib_ipoib
no_resources
no_warning
opensm_down vib0
vib_down
