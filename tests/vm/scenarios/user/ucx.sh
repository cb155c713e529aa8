# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: UCX over RC and UD: ucx_perftest, with addresses told by TCP, and io_demo by rdma_cm
# timeout: 400
# image: mpi
. /ibex/lib/user.sh

# For UCX 1.13 the SL of a received datagram tells whether it has an IPv4 header, as with mlx5: with
# any other adapter it would drop all of those.
export UCX_UD_VERBS_ETH_DGID_CHECK=n UCX_SOCKADDR_TLS_PRIORITY=rdmacm

# on DEVICE ADDRESS TRANSPORT: the start of a command that uses no other
on() {
	echo "env UCX_NET_DEVICES=$1:1 UCX_IB_GID_INDEX=$(gid_index "$1" "$2") UCX_TLS=$3"
}

# with TRANSPORT: sets SERVER and CLIENT
with() {
	SERVER=$(on rxe_a $A "$1")
	CLIENT=$(on rxe_b $B "$1")
}

# on_wire NAME BYTES COMMAND...: what COMMAND moves must be on the wire
on_wire() {
	local name=$1 least=$2 before
	shift 2
	before=$(wire_bytes)
	"$@"
	before=$(($(wire_bytes) - before))
	say "$name: $before bytes on the wire"
	[ $before -gt "$least" ] || fail "the data was not on the wire"
}

# perftest TEST BYTES [OPTION...]: twenty messages
perftest() {
	next_port
	pair listens_tcp "$SERVER ucx_perftest -p $PORT" \
		"$CLIENT ucx_perftest $A -p $PORT -t $1 -s $2 ${*:3} -n 20 -w 2 -f -v"
	pair_says client '^ *20,[0-9.]+,'
}

IO_RANGE=64:200000
# io OPTION...: reads and writes of random size, whose data is compared
io() {
	next_port
	PAIR_ENDLESS=1 pair listens_cm "$SERVER io_demo -p $PORT -q -d $IO_RANGE $*" \
		"$CLIENT io_demo -p $PORT -q -v -I $B -i 40 -d $IO_RANGE -o read,write $* $A"
	pair_says client "Client exit with status 'OK'"
}

user_up
for transport in rc_v ud_v; do
	with $transport
	on_wire "$transport, tags" 40000 perftest tag_lat 1024
	on_wire "$transport, tags, waiting for events" 40000 perftest tag_lat 1024 -E sleep
	on_wire "$transport, tags, rendezvous" 6000000 perftest tag_bw 300000
	on_wire "$transport, streams" 200000 perftest stream_bw 10000
	on_wire "$transport, active messages" 200000 perftest ucp_am_bw 10000
	on_wire "$transport, writes" 200000 perftest ucp_put_bw 10000
	on_wire "$transport, reads" 200000 perftest ucp_get 10000
	on_wire "$transport, atomic additions" 2000 perftest ucp_fadd 8
done
# UD alone: an endpoint of RC that ends may abort its process with rdma_rxe (known.rst).
on_wire "$transport, rdma_cm, tags" 1000000 io
on_wire "$transport, rdma_cm, active messages" 1000000 io -A
user_down
