# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Functions for all scenarios. One VM plays both hosts (IBEX_ROLE=both), or two VMs
# play one host each (server, client):
#
#          server                      client
#   rxe_a on va, 10.0.0.1  <---->  rxe_b on vb, 10.0.0.2

A=10.0.0.1
B=10.0.0.2
CORE_MODULES='ib_core ib_mad ib_cm iw_cm rdma_cm ib_uverbs ib_umad rdma_ucm'

say() { printf '[%6.1f] %s\n' "$(cut -d' ' -f1 /proc/uptime)" "$*"; }

fail() {
	say "FAIL: $*"
	exit 1
}

on_error() { say "FAIL: status $1 at $2:$3" >&2; }

is_server() { [ "$IBEX_ROLE" != client ]; }
is_client() { [ "$IBEX_ROLE" != server ]; }
is_both() { [ "$IBEX_ROLE" = both ]; }

# Records the modules of the core and the build ids of those in memory; scripts/vm compares
# them with the build ids of the files.
record_core() {
	local m notes=() names=()
	for m in $CORE_MODULES; do
		[ -e "/sys/module/$m/initstate" ] || continue
		names+=("$m")
		notes+=("/sys/module/$m/notes/.note.gnu.build-id")
	done
	# a scenario that unloads everything calls this before it unloads
	[ ${#names[@]} -gt 0 ] || return 0
	# a note: 16 bytes of header, 20 of id
	busybox hexdump -v -e '36/1 "%02x" "\n"' "${notes[@]}" | cut -c33- >/run/out/ids
	modinfo -F filename "${names[@]}" >/run/out/files
	printf '%s\n' "${names[@]}" | paste -d' ' - /run/out/ids /run/out/files >/run/out/core
	rm /run/out/ids /run/out/files
}

loaded() { [ -e "/sys/module/$1/initstate" ]; }

# core_leftovers: checks that nothing of the core is left
core_leftovers() {
	local what
	for what in /sys/class/infiniband /sys/class/infiniband_verbs \
		/sys/class/infiniband_mad /sys/class/infiniband_cm /dev/infiniband \
		/proc/sys/net/rdma_ucm; do
		[ ! -e "$what" ] || fail "$what is left"
	done
	! grep -wE 'ib_core|rdma_rxe|ib_cm|rdma_cm' /proc/modules || fail "modules left"
	# threads and slab caches that a module left behind
	! busybox ps | grep -E '\[(k?worker.*)?(ib_|rdma_|iw_cm|rxe)' || fail "threads left"
	! grep -E '^(ib_|rdma_|rxe)' /proc/slabinfo || fail "slab caches left"
}

# no_lost_objects: checks that no unloaded module has left memory behind. SLUB records the
# allocator of each object (slab_debug=U) and shows loaded code by name; if it shows an
# address, the allocator was a module that has been unloaded, no matter which. Not for
# scenarios that unload modules other than ours, whose leaks would be reported, too.
no_lost_objects() {
	wait_for 1 only_named_objects && return 0
	grep -E -A 3 "$LOST_OBJECT" /run/objects | sed -n 1,40p
	fail "a module that is gone has left memory behind"
}

LOST_OBJECT='^ *[0-9]+ 0x[0-9a-f]{16} '

only_named_objects() {
	[ -d /sys/kernel/debug/slab ] || return 0
	cat /sys/kernel/debug/slab/*/alloc_traces >/run/objects
	! grep -Eq "$LOST_OBJECT" /run/objects
}

show_core() {
	local m file taint
	record_core
	while read -r m _ file; do
		read -r taint <"/sys/module/$m/taint" || :
		case $file in
		*/updates/*) printf '  %-10s Ibex, taint %s  %s\n' "$m" "$taint" "$file" ;;
		*) printf '  %-10s in-tree  %s\n' "$m" "$file" ;;
		esac
	done </run/out/core
}

# wait_for SECONDS COMMAND...: repeats COMMAND until it succeeds; fails after SECONDS, or
# IBEX_SLOW times as many: 1, or more on the debug kernel
wait_for() {
	local n=$(($1 * IBEX_SLOW * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		n=$((n - 1))
		[ "$n" -gt 0 ] || return 1
		busybox usleep 100000
	done
}

# --- network -----------------------------------------------------------------
# One VM: both ends of a veth pair are in one namespace, so the local table must not
# deliver the traffic directly. Use it only for packets that arrived on the wire, and send
# packets for an address out of the opposite end of the pair.
net_rules() {
	ip -batch - <<-END
		link set lo up
		$(net_rules_of 1 va vb $A $B 100 101)
		rule add pref 32000 lookup local
		rule del pref 0
	END
}

# net_rules_of N DEVICE DEVICE ADDRESS ADDRESS TABLE TABLE: prints those of two ends, with the
# priorities N0 to N5
net_rules_of() {
	cat <<-END
		rule add pref ${1}0 iif $2 lookup local
		rule add pref ${1}1 iif $3 lookup local
		rule add pref ${1}2 iif lo to $5 lookup $6
		rule add pref ${1}3 iif lo to $4 lookup $7
		rule add pref ${1}4 to $5 oif $2 lookup $6
		rule add pref ${1}5 to $4 oif $3 lookup $7
	END
}

# makes the pair with its addresses and routes, which are deleted together with the pair
net_pair() {
	ip link add va mtu 4200 address 02:00:00:00:00:01 type veth \
		peer name vb mtu 4200 address 02:00:00:00:00:02
	net_ends
}

# va and vb get addresses and routes
net_ends() { net_ends_of va vb $A $B 100 101; }

# net_ends_of DEVICE DEVICE ADDRESS ADDRESS TABLE TABLE: so do these, of net_rules_of
net_ends_of() {
	local i
	for i in all "$1" "$2"; do
		echo 0 >"/proc/sys/net/ipv4/conf/$i/rp_filter"
		echo 1 >"/proc/sys/net/ipv4/conf/$i/accept_local"
		echo 1 >"/proc/sys/net/ipv4/conf/$i/arp_ignore"
		echo 2 >"/proc/sys/net/ipv4/conf/$i/arp_announce"
		echo 0 >"/proc/sys/net/ipv6/conf/$i/accept_dad"
	done
	ip -batch - <<-END
		addr replace $3/24 dev $1
		addr replace $4/24 dev $2
		link set $1 up
		link set $2 up
		route replace $4/32 dev $1 src $3 table $5
		route replace $3/32 dev $2 src $4 table $6
		neigh replace $4 dev $1 lladdr $(cat "/sys/class/net/$2/address")
		neigh replace $3 dev $2 lladdr $(cat "/sys/class/net/$1/address")
	END
}

net_up_virtio() {
	modprobe virtio_net
	wait_for 10 test -e /sys/class/net/eth0
	local dev=va addr=$A
	is_server || { dev=vb; addr=$B; }
	ip -batch - <<-END
		link set lo up
		link set eth0 name $dev
		addr add $addr/24 dev $dev
		link set $dev up
	END
}

net_up() {
	if is_both; then
		modprobe veth
		net_rules
		net_pair
		ping -c 1 -W 5 -I $A $B >/dev/null || fail "no ping over the veth pair"
	else
		net_up_virtio
		# the other VM may still be booting
		if is_client; then
			wait_for 60 ping -c 1 -W 1 $A || fail "no ping to the server"
		else
			wait_for 60 ping -c 1 -W 1 $B || fail "no ping to the client"
		fi
	fi
}

# tell_other TEXT: both VMs say a line; that of the other is in HEARD
tell_other() {
	local n=600
	if [ "$IBEX_ROLE" = server ]; then
		HEARD=$(echo "$1" | busybox nc -l -p 7000)
		return
	fi
	until HEARD=$(echo "$1" | busybox nc -w 5 $A 7000 2>/dev/null) && [ -n "$HEARD" ]; do
		n=$((n - 1))
		[ "$n" -gt 0 ] || fail "${1%% *}: no server"
		busybox usleep 100000
	done
}

# barrier NAME: waits until both VMs have reached this barrier
barrier() {
	! is_both || return 0
	tell_other "$1"
	[ "$HEARD" = "$1" ] || fail "barrier $1: the other side is at '$HEARD'"
}

# swap_files NAME DIR FILE...: a barrier, after which both have the files of both
swap_files() {
	local name=$1 dir=$2
	shift 2
	tell_other "$name $(tar -C "$dir" -c "$@" | base64 -w 0)"
	[ "${HEARD%% *}" = "$name" ] || fail "swap $name: the other side is at '${HEARD%% *}'"
	base64 -d <<< "${HEARD#* }" | tar -C "$dir" -x
}

# --- RDMA --------------------------------------------------------------------
load() {
	local m
	for m in "$@"; do
		modprobe "$m" || fail "modprobe $m"
	done
}

rxe_add() {
	rdma link add "$1" type rxe netdev "$2"
	wait_for 5 test -e "/sys/class/infiniband/$1/ports/1/gids/1"
	core_resources "$1"
}

# core_resources DEVICE: records what the core itself holds, as rdma lists it before the
# first use of the first device; other devices must be the same
core_resources() {
	[ -s /run/core-resources ] ||
		rdma res show "$1" >/run/core-resources || fail "rdma res show $1"
	[ -s /run/core-resources ] || fail "rdma res show $1 says nothing"
}

rdma_up() {
	net_up
	load rdma_rxe
	if is_server; then rxe_add rxe_a va; fi
	if is_client; then rxe_add rxe_b vb; fi
	record_core
}

# the sum of the bytes that both ends of the wire have received
wire_bytes() {
	cat /sys/class/net/v[ab]/statistics/rx_bytes | busybox awk '{ s += $1 } END { print s }'
}

# no_resources: checks that only what the core itself holds is left on each device (for
# MADs, for each port: a PD, a CQ, QP1; and the CQs of its pool)
no_resources() {
	wait_for 20 only_core_resources && return 0
	rdma res show || :
	rdma res show cm_id || :
	rdma res show qp || :
	rdma res show cq || :
	fail "resources left, or not to be listed; at first: $(cat /run/core-resources)"
}

# Lines of rdma res show: "0: rxe_a: pd 1 cq 1 qp 1 cm_id 0 mr 0 ctx 0 srq 0"; and of
# its cq: "dev rxe_a cqn 1 cqe 16 users 0 poll-ctx SOFTIRQ comm [ib_core]"
only_core_resources() {
	local dev
	rdma res show >/run/resources || return 1
	rdma res show cq >/run/cqs || return 1
	for dev in /sys/class/infiniband/*; do
		[ ! -e "$dev" ] || grep -q "^[0-9]*: ${dev##*/}: .*pd [0-9]" /run/resources || return 1
	done
	! grep -qvE 'comm \[(ib_core|ib_mad)\]' /run/cqs || return 1
	awk '
		FNR == NR { for (i = 3; i < NF; i += 2) held[$i] = $(i + 1); next }
		{ for (i = 3; i < NF; i += 2) if ($i != "cq" && $(i + 1) > held[$i] + 0) more = 1 }
		END { exit more }' /run/core-resources /run/resources
}

# --- the test ULP ------------------------------------------------------------
# ulp, ulp_get, ulp_is, ulp_check, ulp_check_clean and ulp_show also work for other modules
# with the same kind of debugfs files: see mad.sh.
ULP=/sys/kernel/debug/ibex_ulp
ULP_ERRORS='rejected|unreachable|addr_error|route_error|connect_error|removals|setup_error|timeouts|io_error|bad_data|duplicates|unexpected'

ulp_up() {
	load rdma_cm
	insmod /ibex/ulp/ibex_ulp.ko || fail "insmod ibex_ulp"
}

ulp_down() {
	rmmod ibex_ulp || fail "rmmod ibex_ulp"
}

ulp() { echo "$2" >"$ULP/$1" || fail "${ULP##*/}: $1 $2"; }

ulp_get() { sed -n "s/^$1=//p" $ULP/stats; }

ulp_is() { grep -qx "$1" $ULP/stats; }

# ulp_check NAME=VALUE...
ulp_check() {
	local want
	for want in "$@"; do
		ulp_is "$want" || {
			ulp_show
			fail "${ULP##*/}: ${want%=*} is $(ulp_get "${want%=*}"), not ${want#*=}"
		}
	done
}

# ulp_check_clean [NAME...]: checks that no errors were counted, except those named
# shellcheck disable=SC2120 # there need be none
ulp_check_clean() {
	local bad skip=" $* "
	for bad in $(grep -E "^($ULP_ERRORS)=[1-9]" $ULP/stats || :); do
		[[ $skip = *" ${bad%=*} "* ]] || {
			ulp_show
			fail "${ULP##*/}: $bad"
		}
	done
}

# With the in-tree core an ESTABLISHED can be lost if a DISCONNECTED follows closely; with
# ours it must not.
ulp_check_passive() {
	ulp_check requests="$1" accepted="$1" passive_disconnected="$1"
	[ "$IBEX_MODE" = stock ] || ulp_check passive_established="$1"
}

ulp_show() { grep -v '=0$' $ULP/stats | paste -sd' '; }

# --- NFS ---------------------------------------------------------------------
nfs_server_up() {
	mkdir -p /srv/nfs /var/lib/nfs/nfsdcltrack
	mount -t tmpfs -o size=600m,mode=777 tmpfs /srv/nfs
	load nfsd svcrdma
	mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
	mkdir -p /var/lib/nfs/rpc_pipefs
	mount -t rpc_pipefs rpc_pipefs /var/lib/nfs/rpc_pipefs 2>/dev/null || :
	echo "/srv/nfs *(rw,sync,fsid=0,insecure,no_root_squash,no_subtree_check)" >/etc/exports
	rpcbind -w
	exportfs -ra
	rpc.mountd
	echo 10 >/proc/fs/nfsd/nfsv4gracetime
	echo 10 >/proc/fs/nfsd/nfsv4leasetime
	rpc.nfsd --no-udp 4
	# if it keeps records of clients; else the grace period takes its ten seconds
	echo Y >/proc/fs/nfsd/v4_end_grace 2>/dev/null || :
	echo 'rdma 20049' >/proc/fs/nfsd/portlist
	grep -q rdma /proc/fs/nfsd/portlist || fail "nfsd does not listen on RDMA"
}

nfs_server_down() {
	rpc.nfsd 0
	exportfs -ua
	local p
	for p in rpc.mountd rpcbind; do
		busybox killall "$p" || :
	done
	umount /srv/nfs
	umount /proc/fs/nfsd || :
}

# nfs_mount VERSION DIRECTORY
nfs_mount() {
	local opt="vers=$1,proto=rdma,port=20049,noresvport,timeo=100,retrans=3"
	mkdir -p "$2"
	case $1 in
	3) mount -t nfs -o "$opt,nolock,mountproto=tcp" $A:/srv/nfs "$2" ;;
	*) mount -t nfs -o "$opt" $A:/ "$2" ;;
	esac
}

# nfs_compare VERSION: leaves the file system mounted. Compares checksums (SHA-256) of what
# the client wrote, of what it reads back after its caches were dropped, and of what the
# server's file system holds.
nfs_compare() {
	local vers=$1 dir=/mnt/v$1 start before
	before=$(wire_bytes)
	start=$(cut -d. -f1 /proc/uptime)
	nfs_mount "$vers" "$dir"
	mkdir "$dir/v$vers"
	python3 /ibex/tools/files.py write "$dir/v$vers" >"/tmp/written-$vers"
	sync
	say "v$vers: written; dropping caches, mounting again, reading back"
	umount "$dir"
	echo 3 >/proc/sys/vm/drop_caches
	nfs_mount "$vers" "$dir"
	python3 /ibex/tools/files.py sums "$dir/v$vers" >"/tmp/read-$vers"
	cmp "/tmp/written-$vers" "/tmp/read-$vers" || fail "v$vers: read back differs"
	if is_server; then
		python3 /ibex/tools/files.py sums "/srv/nfs/v$vers" >"/tmp/served-$vers"
		cmp "/tmp/written-$vers" "/tmp/served-$vers" || fail "v$vers: server differs"
		rm -r "/srv/nfs/v$vers"
	fi
	say "v$vers: $(wc -l <"/tmp/read-$vers") files," \
		"$(awk '{ s += $2 } END { print s }' "/tmp/read-$vers")" \
		"bytes equal after $(($(cut -d. -f1 /proc/uptime) - start)) s;" \
		"$(($(wire_bytes) - before)) bytes crossed the wire"
}

# --- device removal ----------------------------------------------------------
# The client keeps writing and reading over NFS, and the test ULP holds open connections
# over the same devices. A removal must end within REMOVE_BOUND seconds, whatever users do.
# NFS is a hard mount: its I/O waits, and continues when the device is back.
REMOVE_BOUND=60

remove_begin() {
	is_both || fail "this scenario runs in one VM"
	rdma_up
	ulp_up
	ulp listen "$A 7471"
	nfs_server_up
	load rpcrdma
	nfs_mount 4.2 /mnt/nfs
	python3 /ibex/tools/files.py write /mnt/nfs >/tmp/written
	sync
}

hold_some() {
	ulp stats 0
	ulp hold 1
	ulp connect "$B $A 7471 20 4"
	ulp hold 0
	ulp_check established=20 live=40
}

link_gone() { [ ! -e "/sys/class/infiniband/$1" ]; }

# removal COMMAND DEVICES: checks that COMMAND returns in time and that DEVICES are removed;
# sets TOOK to the seconds
removal() {
	local start now d job
	start=$(cut -d. -f1 /proc/uptime)
	$1 &
	job=$!
	while kill -0 $job 2>/dev/null; do
		now=$(cut -d. -f1 /proc/uptime)
		[ $((now - start)) -lt $((REMOVE_BOUND * IBEX_SLOW)) ] ||
			fail "'$1' still blocks after $((now - start)) s"
		busybox usleep 200000
	done
	wait $job || fail "'$1' failed"
	for d in $2; do
		wait_for 20 link_gone "$d" || fail "$d is still there"
	done
	TOOK=$(($(cut -d. -f1 /proc/uptime) - start))
}

# remove_while_busy COMMAND DEVICES
remove_while_busy() {
	hold_some
	python3 /ibex/tools/files.py churn /mnt/nfs 8 >/tmp/churn 2>&1 &
	churn=$!
	wait_for 20 test -e "/mnt/nfs/churn-$churn" || fail "no I/O going on"
	busybox usleep 500000
	removal "$1" "$2"
	say "'$1' took $TOOK s; $(ulp_show)"
	ulp drop 1
	wait_for 20 ulp_is live=0 || fail "$(ulp_get live) connections still live"
	[ "$(ulp_get removals)" -gt 0 ] || fail "no DEVICE_REMOVAL event"
	ulp_check unexpected=0 duplicates=0 timeouts=0
}

# remove_recover DEVICE NETDEV...: adds the devices again, and checks that I/O continues
remove_recover() {
	local status=0
	while [ $# -gt 0 ]; do
		rxe_add "$1" "$2"
		shift 2
	done
	grep -q rdma /proc/fs/nfsd/portlist || fail "nfsd no longer listens"
	wait "$churn" || status=$?
	[ $status = 0 ] || fail "I/O of a hard mount ended with status $status: $(cat /tmp/churn)"
	say "I/O went on: $(cat /tmp/churn)"
	[ "$(ulp_get listening)" = 1 ] || ulp listen "$A 7471"
	echo 3 >/proc/sys/vm/drop_caches
	rm -f "/mnt/nfs/churn-$churn"
	python3 /ibex/tools/files.py sums /mnt/nfs >/tmp/read
	cmp /tmp/written /tmp/read || fail "files differ after the removal"
	say "files compare equal over the new connection"
}

remove_end() {
	umount /mnt/nfs
	nfs_server_down
	ulp_down
	no_resources
	rdma link delete rxe_a
	rdma link delete rxe_b
	say "done"
}
