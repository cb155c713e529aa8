# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: every RTU lost, both ways: processes and NFS get through; time to ESTABLISHED
# timeout: 150
#
# The words of a run name parts: lost (the default), and for rtu-lost-long clean, more (more
# of lost) and queries (which counts how often a provider is queried on a clean wire);
# rtu-loss runs loss (20 % of all packets are lost, not only RTUs).
#
# The scenario asserts for our core that programs succeed and transfers complete, and that
# each accepted id of firstdata gets one ESTABLISHED, then one DISCONNECTED. Time bounds are
# there to end hangs; times are reported in rows. If the in-tree core fails, the row says
# "never".
. /ibex/lib/user.sh
. /ibex/lib/rtu.sh
. /ibex/lib/rows.sh
. /ibex/lib/storage.sh
parts=${IBEX_ARGS:-lost}

part() { [[ " $parts " = *" $1 "* ]]; }

# bounds COUNT MESSAGES ESTABLISHED PROGRAM KERNEL: sets the number of connections of
# firstdata, of messages of other programs, and the longest waits, in seconds, for
# ESTABLISHED, for a program and for the kernel's consumers
bounds() {
	count=$1
	messages=$2
	BOUND=$3
	PROGRAM_BOUND=$4
	KERNEL_BOUND=$5
}

# --- the wire ----------------------------------------------------------------
wire_clean() {
	rtu_clean
	rtu_mark
}
wire_lost() { rtu_wire both loss 100%; }
wire_first() { rtu_wire first 1; }
wire_loss() {
	rtu_clean
	tc qdisc add dev va root netem loss 20%
	tc qdisc add dev vb root netem loss 20%
	rtu_mark
}

# rtus_lost AT-LEAST: checks, with wire_lost, that all RTUs were dropped
rtus_lost() {
	[ "$wire" = wire_lost ] || return 0
	[ "$(rtu_new)" = 0 ] || fail "$condition: $(rtu_new) RTUs came"
	[ "$(rtu_dropped)" -ge "$1" ] || fail "$condition: only $(rtu_dropped) RTUs dropped"
}

told() {
	[ "$wire" = wire_clean ] || [ "$wire" = wire_loss ] || rtu_told
	established_told
}

# --- processes ---------------------------------------------------------------
# first_data KIND WHAT: runs firstdata, see firstdata/main.c
first_data() {
	local status=0
	$wire
	next_port
	/ibex/bin/firstdata "$1" "$count" $A $B "$PORT" $((BOUND * 1000)) \
		>/tmp/times 2>/tmp/client || status=$?
	if [ $status != 0 ]; then
		cat /tmp/times /tmp/client
		ours_must "firstdata $1 ended with status $status" false
		row "$2 to ESTABLISHED" never - - \
			"an error after $(wc -l </tmp/times) of $count"
		return 0
	fi
	since_received /tmp/times $((BOUND * 1000000)) | row_of "$2 to ESTABLISHED"
	rtus_lost "$count"
	told
	# a DREQ establishes a connection, too, but comes too late
	ours_must "$1: not each ESTABLISHED in $BOUND s" in_bound
	ours_must "$1: not each one ESTABLISHED, then one DISCONNECTED" each_once /tmp/times
	# the data must have arrived in any case
	! grep -q '^-' /tmp/times || fail "$condition: firstdata $1 saw no data"
}

in_bound() {
	awk -v max=$((BOUND * 1000000)) '
		$2 == "-" || $2 + 0 >= max { late++ }
		END { exit late > 0 }' /tmp/times
}

write_only() { first_data write "data written into memory"; }

# program NAME SERVER CLIENT: checks that both commands succeed; @ stands for the port. If
# PAIR_ENDLESS is set, the server does not end by itself and is killed.
program() {
	local name=$1 job start took status=0 server=0
	$wire
	next_port
	PORT=${PAIR_PORT-$PORT}
	# shellcheck disable=SC2086 # words
	timeout -k 2 $PROGRAM_BOUND ${2//@/$PORT} >/tmp/server 2>&1 &
	job=$!
	wait_for 15 listens_cm || pair_failed "$condition: '$2' does not listen"
	start=$(now_us)
	# shellcheck disable=SC2086 # words
	timeout -k 2 $PROGRAM_BOUND ${3//@/$PORT} >/tmp/client 2>&1 || status=$?
	if [ $status != 0 ] || [ -n "${PAIR_ENDLESS-}" ]; then
		kill $job 2>/dev/null || :
	fi
	wait $job || server=$?
	[ $status != 0 ] || [ -n "${PAIR_ENDLESS-}" ] || status=$server
	took=$(ms $(($(now_us) - start)))
	[ $status = 0 ] || took=never
	row "$name: both ends done" "$took" - - \
		"$([ $status = 0 ] || echo "status $status, $PROGRAM_BOUND s")"
	told
	[ $status = 0 ] || [ "$IBEX_MODE" = stock ] ||
		pair_failed "$condition: $name ended with status $status"
}

rping() {
	program "rping" "rping -s -a $A -p @ -C $messages -v -V -S 1000" \
		"rping -c -a $A -I $B -p @ -C $messages -v -V -S 1000"
	rtus_lost 1
}

rping_back() {
	program "rping, the other way" "rping -s -a $B -p @ -C $messages -v -V -S 1000" \
		"rping -c -a $B -I $A -p @ -C $messages -v -V -S 1000"
	rtus_lost 1
}

# its passive side sends first: only an RTU can tell it that the active side is ready
ucmatose() {
	program "ucmatose, $1" "ucmatose -b $A -p @ -c $1 -C 2" "ucmatose -s $A -b $B -p @ -c $1 -C 2"
}

rdma_server() {
	program "rdma_server" "rdma_server -s $A -p @" "rdma_client -s $A -p @"
	rtus_lost 1
}

# uses no RTU. It cannot run on a lossy wire: datagrams are lost, and its server exits while
# clients still repeat requests that it has answered
udaddy() {
	# udaddy cannot use another port
	PAIR_PORT=7174 program "udaddy" "udaddy -b $A -c 4 -C 5" "udaddy -s $A -b $B -c 4 -C 5"
}

rstream() {
	program "rstream" "rstream -b $A -p @ -S 4096 -I 5 -C $messages -T r" \
		"rstream -s $A -b $B -p @ -S 4096 -I 5 -C $messages -T r"
	rtus_lost 1
}

cmtime() {
	PAIR_ENDLESS=1 program "cmtime, 100 connects" "cmtime -b $A -p @ -c 100" \
		"cmtime -s $A -b $B -p @ -c 100"
}

# perftest PROGRAM OPTIONS...: runs it with connections by rdma_cm
perftest() {
	local name=$1
	shift
	program "$name -R" "$name -d rxe_a -x $gid_a -R -F -p @ -n $((2 * messages)) $*" \
		"$name -d rxe_b -x $gid_b -R -F -p @ -n $((2 * messages)) $* $A"
	rtus_lost 1
}

# --- consumers in the kernel -------------------------------------------------
# in_time WHAT COMMAND...: checks that COMMAND ends in time. No signal ends a wait in the
# kernel, so when the bound has passed, RTUs are let through again
in_time() {
	local what=$1 start took dog note=""
	shift
	$wire
	rm -f /tmp/lifted
	start=$(now_us)
	{
		busybox sleep $KERNEL_BOUND
		if [ "$wire" = wire_loss ]; then rtu_clean; else rtu_lift; fi
		: >/tmp/lifted
	} &
	dog=$!
	"$@"
	took=$(ms $(($(now_us) - start)))
	kill $dog 2>/dev/null || :
	wait $dog 2>/dev/null || :
	if [ -e /tmp/lifted ]; then
		took=never
		note="not before all came, after $KERNEL_BOUND s"
	fi
	row "$what" "$took" - - "$note"
	[ -n "$note" ] || rtus_lost 1
	told
	[ -z "$note" ] || ours_must "$what: not in $KERNEL_BOUND s" false
}

nfs_transfer() {
	nfs_mount 4.2 /mnt/lost || fail "$condition: mount"
	cmp /mnt/lost/file /srv/nfs/file || fail "$condition: the file differs"
	cp /srv/nfs/file /mnt/lost/copy
	sync -f /mnt/lost/copy
	cmp /srv/nfs/copy /srv/nfs/file || fail "$condition: the copy differs"
	umount /mnt/lost
}

nfs_up() {
	nfs_server_up
	load rpcrdma
	busybox dd if=/dev/urandom of=/srv/nfs/file bs=64k count=4 2>/dev/null
}

nfs() { in_time "NFS: mounted, read, written" nfs_transfer; }

nvme_transfer() {
	nvme_connect
	store_compare "/dev/$NVME_DISK" nvme
	nvme_disconnect
}

nvme() { in_time "NVMe: connected, written, read" nvme_transfer; }

iser_transfer() {
	iser_login
	store_compare "/dev/$ISER_DISK" iser
	iser_logout
}

iser() { in_time "iSER: logged in, written, read" iser_transfer; }

# --- parts -------------------------------------------------------------------
# If a program's peer exits as soon as it has the last message, and the ACK of that message is
# lost, the program never ends: rdma_rxe resends the message forever (a retry count of 7).
acks_are_lost() { [ "$wire" = wire_loss ]; }

few() {
	write_only
	rping
	acks_are_lost || rdma_server
	nfs
}

more() {
	first_data armed "receive, CQ armed,"
	first_data polled "receive, CQ polled,"
	rping_back
	acks_are_lost || {
		rstream
		perftest ib_send_bw -s 4096
		perftest ib_send_lat -s 64
		perftest ib_write_bw -s 4096
		perftest ib_read_bw -s 4096
	}
	cmtime
	nvme
	iser
}

# Counts how often the provider is queried for a QP's attributes; rdma(8) does it once for
# each QP.
TRACING=/sys/kernel/debug/tracing

asked() { awk '$1 == "query_qp" { print $2 }' $TRACING/kprobe_profile; }

# asked_by PROGRAM WORDS...: runs it and reports how often the provider was queried
asked_by() {
	local before
	before=$(asked)
	"$@"
	row "$1: QPs queried" $(($(asked) - before)) - - ""
}

queries() {
	condition=clean
	wire=wire_clean
	bounds 20 10 20 60 60
	echo 'p:ibex/query_qp rdma_rxe:rxe_query_qp' >$TRACING/kprobe_events
	echo 1 >$TRACING/events/ibex/query_qp/enable
	rdma res show qp >/dev/null
	[ "$(asked)" -gt 0 ] || fail "queries are not counted"
	asked_by rping
	asked_by ucmatose 20
	echo 0 >$TRACING/events/ibex/query_qp/enable
	echo >$TRACING/kprobe_events
}

user_up
load sch_netem sch_prio cls_u32 act_police
gid_a=$(gid_index rxe_a $A) || fail "no GID of $A"
gid_b=$(gid_index rxe_b $B) || fail "no GID of $B"
! part queries || queries
nfs_up
if part more || part loss; then
	nvmet_up
	lio_up
	iscsi_up
fi
if part clean; then
	condition=clean
	wire=wire_clean
	bounds 20 10 20 60 60
	few
	more
fi
if part lost; then
	condition="RTU lost, both ways"
	wire=wire_lost
	bounds 20 10 20 60 60
	# the in-tree core is known to fail: do not wait long
	[ "$IBEX_MODE" = ours ] || bounds 3 10 3 8 8
	few
	! part more || more
	! part more || udaddy
	condition="first RTU lost"
	wire=wire_first
	bounds 20 10 20 60 60
	ucmatose 1
fi
if part loss; then
	condition="20 % of all lost"
	wire=wire_loss
	# both the CM and the adapter resend lost packets only after seconds
	bounds 8 3 60 150 240
	few
	ucmatose 4
	more
fi
rtu_clean
if part more || part loss; then
	iscsi_down
	lio_down
	nvmet_down
	store_down
fi
nfs_server_down
no_warning
no_resources
