# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: Open MPI over UCX, by RC and UD, and over libfabric: MPI's operations, whose data is compared
# timeout: 500
# image: mpi
. /ibex/lib/user.sh

# See ucx and libfabric.
export UCX_UD_VERBS_ETH_DGID_CHECK=n FI_UNIVERSE_SIZE=8

# One rank in two has the other device.
rank_program() {
	cat >/run/rank <<-END
		#!/bin/sh
		device=rxe_a netdev=va gid=$(gid_index rxe_a $A)
		[ \$((OMPI_COMM_WORLD_RANK % 2)) = 0 ] ||
			device=rxe_b netdev=vb gid=$(gid_index rxe_b $B)
		export UCX_NET_DEVICES=\$device:1 UCX_IB_GID_INDEX=\$gid
		export FI_VERBS_DEVICE_NAME=\$device FI_VERBS_IFACE=\$netdev
		exec /ibex/bin/mpi
	END
	chmod 755 /run/rank
}

# mpi NAME RANKS BYTES OPTION...: so many bytes must be on the wire
mpi() {
	local name=$1 ranks=$2 least=$3 before status=0
	shift 3
	before=$(wire_bytes)
	timeout -k 5 $((150 * IBEX_SLOW)) mpirun.openmpi --allow-run-as-root --oversubscribe \
		-np "$ranks" --mca plm isolated "$@" /run/rank >/tmp/mpi 2>&1 || status=$?
	[ $status = 0 ] || { cat /tmp/mpi; fail "$name: mpirun ended with status $status"; }
	grep -Eq "^mpi: $ranks ranks, [0-9]+ bytes compared, 0 wrong$" /tmp/mpi ||
		{ cat /tmp/mpi; fail "$name: no result"; }
	before=$(($(wire_bytes) - before))
	say "$name, $(sed -n 's/^mpi: //p' /tmp/mpi), $before bytes on the wire"
	[ $before -gt "$least" ] || fail "the data was not on the wire"
}

ucx() {
	mpi "$@" --mca pml ucx --mca osc ucx \
		--mca opal_common_ucx_tls any --mca opal_common_ucx_devices any
}

user_up
rank_program
# Ranks with the same device are connected through it, without a wire.
UCX_TLS=rc_v,self ucx "UCX, RC" 3 30000000
UCX_TLS=ud_v,self ucx "UCX, UD" 2 15000000
mpi "libfabric, verbs;ofi_rxm" 3 30000000 --mca pml cm --mca mtl ofi --mca osc pt2pt \
	--mca mtl_ofi_provider_include 'verbs;ofi_rxm'
user_down
