# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Traffic of kernel ULPs between rxe_a and rxe_b, which goes on while other things change:
# NAME_begin sets one up, and starts a process that does one round of it after the other, compares
# the data, and prints how many rounds have ended.  Needs user.sh and vib.sh.
#
# shellcheck disable=SC2034,SC2154 # used by the files below, or set by user.sh
. /ibex/lib/storage.sh
. /ibex/lib/srp.sh
. /ibex/lib/smc.sh

TRAFFIC=(nfs nvme iser srp smc rds)
PAUSE=0.5	# seconds between rounds: the processors are for those who change things, too
declare -A TRAFFIC_PID TRAFFIC_SEEN

traffic_rounds() { tail -n 1 "/run/traffic-$1" 2> /dev/null; }

# traffic_beyond NAME ROUND: more rounds have ended; or all has, which the next check tells
traffic_beyond() {
	! kill -0 "${TRAFFIC_PID[$1]}" 2> /dev/null || [ "$(traffic_rounds "$1")" -gt "$2" ] 2> /dev/null
}

# traffic_start NAME COMMAND...
traffic_start() {
	local name=$1
	shift
	rm -f "/run/traffic-$name.stop"
	"$@" > "/run/traffic-$name" 2>&1 &
	TRAFFIC_PID[$name]=$!
	TRAFFIC_SEEN[$name]=0
	traffic_goes_on "$name"
	say "$name: traffic"
}

# traffic_goes_on NAME: a round has ended since the last call
traffic_goes_on() {
	local seen=${TRAFFIC_SEEN[$1]}
	wait_for 120 traffic_beyond "$1" "$seen" || fail "$1: no round has ended since $seen"
	kill -0 "${TRAFFIC_PID[$1]}" 2> /dev/null || fail "$1 has ended: $(cat "/run/traffic-$1")"
	TRAFFIC_SEEN[$1]=$(traffic_rounds "$1")
}

# traffic_stop NAME: it was without an error
traffic_stop() {
	touch "/run/traffic-$1.stop"
	wait "${TRAFFIC_PID[$1]}" || fail "$1: $(cat "/run/traffic-$1")"
	say "$1: $(traffic_rounds "$1") rounds"
}

# by_blocks NAME FILE: reads and writes that go past all caches
by_blocks() { traffic_start "$1" python3 /ibex/tools/blocks.py "$2" "/run/traffic-$1.stop" 8 $PAUSE; }

# again NAME COMMAND...: until it is told to stop
again() {
	local name=$1 n=0
	shift
	until [ -e "/run/traffic-$name.stop" ]; do
		"$@" > "/run/traffic-$name.last" 2>&1 || { cat "/run/traffic-$name.last"; return 1; }
		n=$((n + 1))
		echo $n
		busybox sleep $PAUSE
	done
}

nfs_begin() {
	nfs_server_up
	load rpcrdma
	nfs_mount 4.2 /mnt/nfs
	truncate -s 1M /mnt/nfs/blocks
	by_blocks nfs /mnt/nfs/blocks
}

nfs_end() {
	umount /mnt/nfs
	nfs_server_down
	wait_for 20 unused rpcrdma || fail "rpcrdma is in use"
	rmmod rpcrdma || fail "rmmod rpcrdma"
}

nvme_begin() {
	nvmet_up
	nvme_connect
	by_blocks nvme "/dev/$NVME_DISK"
}

nvme_end() {
	nvme_disconnect
	nvmet_down
}

iser_begin() {
	lio_up
	iscsi_up
	iser_login
	by_blocks iser "/dev/$ISER_DISK"
}

iser_end() {
	iser_close
	iscsi_down
	lio_down
}

srp_begin() {
	srp_target_up rxe_a rxe_b
	srp_listen 5555
	srp_login rxe_b "src=$B,dest=$A:5555"
	by_blocks srp "/dev/$SRP_DISK"
}

srp_end() {
	srp_logout
	srp_target_down
}

smc_begin() {
	smc_up
	smc_serve
	traffic_start smc again smc smc_talk
}

smc_end() {
	smc_serve_no_more
	smc_down
}

rds_begin() {
	load rds rds_rdma
	traffic_start rds again rds python3 /ibex/tools/rds.py $A $B 1
}

rds_end() { modprobe -r rds_rdma || fail "modprobe -r rds_rdma"; }

# traffic_begin NAME...
traffic_begin() {
	local name
	condition=chaos
	for name; do "${name}_begin"; done
}

# traffic_end NAME...: as when nothing was begun
traffic_end() {
	local name
	for name; do
		traffic_goes_on "$name"
		traffic_stop "$name"
		"${name}_end"
	done
	! mountpoint -q $STORE || store_down
}
