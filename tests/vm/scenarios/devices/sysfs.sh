# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: sysfs, configfs, sysctl, parameters and trace events: names, modes, formats
# timeout: 90
#
# The kernel's Documentation/ABI/stable/sysfs-class-infiniband describes these files.
GUID='[0-9a-f]{4}(:[0-9a-f]{4}){3}'
GID='[0-9a-f]{4}(:[0-9a-f]{4}){7}'

# file MODE PATTERN PATH...: checks the mode and the content of files
file() {
	local mode=$1 want=$2 path got
	shift 2
	for path in "$@"; do
		[ -e "$path" ] || fail "no $path"
		got=$(stat -c %a "$path")
		[ "$got" = "$mode" ] || fail "$path: mode $got, not $mode"
		got=$(cat "$path") || fail "$path cannot be read"
		grep -Eqx -- "$want" <<<"$got" || fail "$path: '$got' is not '$want'"
	done
}

# unused PATH...: checks that unused entries of a table cannot be read
unused() {
	local path
	for path in "$@"; do
		! cat "$path" >/dev/null 2>&1 || fail "$path can be read"
	done
}

# write STATUS VALUE PATH: checks the exit status of writing VALUE
write() {
	local status=0
	# shellcheck disable=SC2320 # echo ends with the write's status
	echo "$2" >"$3" 2>/dev/null || status=$?
	[ "$status" = "$1" ] || fail "$3: writing '$2' gives status $status, not $1"
}

device() {
	local dev=/sys/class/infiniband/$1
	file 444 '1: CA' $dev/node_type
	file 444 "$GUID" $dev/node_guid $dev/sys_image_guid
	file 444 '.*' $dev/fw_ver
	file 644 '.*' $dev/node_desc $dev/uevent
	grep -qx "NAME=$1" $dev/uevent || fail "uevent does not name $1"
	write 0 "a node" $dev/node_desc
	file 644 'a node' $dev/node_desc
	write 0 rxe $dev/node_desc
	[ "$(ls $dev/ports)" = 1 ] || fail "$1 has other ports than 1"
}

port() {
	local port=/sys/class/infiniband/$1/ports/1 n
	file 444 '4: ACTIVE' $port/state
	file 444 '5: LinkUp' $port/phys_state
	file 444 '[0-9.]+ Gb/sec \([0-9]+X( [A-Z]+[0-9]*)?\)' $port/rate
	file 444 '0x[0-9a-f]+' $port/lid $port/sm_lid
	file 444 '[0-9]+' $port/lid_mask_count $port/sm_sl
	file 444 '0x[0-9a-f]{8}' $port/cap_mask
	file 444 Ethernet $port/link_layer
	file 444 0xffff $port/pkeys/0
	[ "$(ls $port/pkeys | wc -l)" -ge 1 ] || fail "no P_Keys"

	n=$(ls $port/gids | wc -l)
	[ "$(ls $port/gid_attrs/ndevs | wc -l)" = "$n" ] || fail "other ndevs than GIDs"
	[ "$(ls $port/gid_attrs/types | wc -l)" = "$n" ] || fail "other types than GIDs"
	file 444 "$GID" $port/gids/0 $port/gids/1 $port/gids/$((n - 1))
	file 444 'fe80:.*' $port/gids/0
	file 444 "0000:0000:0000:0000:0000:ffff:0a00:000$3" $port/gids/1
	file 444 "$2" $port/gid_attrs/ndevs/0 $port/gid_attrs/ndevs/1
	file 444 'RoCE v2' $port/gid_attrs/types/0 $port/gid_attrs/types/1
	unused $port/gid_attrs/ndevs/$((n - 1)) $port/gid_attrs/types/$((n - 1))
	# a GID is removed together with its address
	ip addr add 10.9.9.9/32 dev "$2"
	wait_for 10 grep -rqx 0000:0000:0000:0000:0000:ffff:0a09:0909 $port/gids ||
		fail "no GID of a new address"
	ip addr del 10.9.9.9/32 dev "$2"
	gone() { ! grep -rqx 0000:0000:0000:0000:0000:ffff:0a09:0909 $port/gids; }
	wait_for 10 gone || fail "the GID outlives the address"
}

counters() {
	local dir=/sys/class/infiniband/$1/ports/1/hw_counters name
	for name in sent_pkts rcvd_pkts duplicate_request out_of_seq_request rcvd_rnr_err \
		send_rnr_err rcvd_seq_err ack_deferred retry_exceeded_err \
		retry_rnr_exceeded_err completer_retry_err send_err link_downed \
		rdma_sends rdma_recvs; do
		file 444 '[0-9]+' $dir/$name
	done
	file 644 '[0-9]+' $dir/lifespan
	write 0 10000 $dir/lifespan
	file 644 10000 $dir/lifespan
	write 1 10001 $dir/lifespan
	write 1 x $dir/lifespan
	write 0 10 $dir/lifespan
}

# the compat device of a namespace shows the same files
namespaces() {
	local have want
	ip netns add n1
	list() { find /sys/class/infiniband/rxe_a/ports/1/ -type f -not -path '*hw_counters*' \
		-not -path '*/cm_*' -not -path '*/mad*/*' -printf '%M %P\n' | sort; }
	want=$(list)
	have=$(ip netns exec n1 bash -c "$(declare -f list); list")
	[ -n "$have" ] || fail "no compat device"
	[ "$have" = "$want" ] || diff <(echo "$want") <(echo "$have") ||
		fail "the compat device has other files"
	ip netns del n1
}

cm_defaults() {
	local value
	file 644 4295 "$1/default_cm_timeout_ms"
	file 644 15 "$1/default_cm_retries"
	write 0 100 "$1/default_cm_timeout_ms"
	file 644 135 "$1/default_cm_timeout_ms"
	for value in 0 -1 8796095 x ''; do
		write 1 "$value" "$1/default_cm_timeout_ms"
	done
	write 0 4295 "$1/default_cm_timeout_ms"
	write 0 0 "$1/default_cm_retries"
	for value in 16 -1 x ''; do
		write 1 "$value" "$1/default_cm_retries"
	done
	write 0 15 "$1/default_cm_retries"
}

roce_defaults() {
	local dir=/sys/kernel/config/rdma_cm/rxe_a value
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	! mkdir /sys/kernel/config/rdma_cm/nosuch 2>/dev/null || fail "a device that is not"
	mkdir $dir
	file 644 'RoCE v2' $dir/ports/1/default_roce_mode
	file 644 0 $dir/ports/1/default_roce_tos
	write 0 'RoCE v2' $dir/ports/1/default_roce_mode
	# rxe supports no other mode
	for value in 'RoCE v1' 'IB/RoCE v1' bogus ''; do
		write 1 "$value" $dir/ports/1/default_roce_mode
	done
	write 0 0x10 $dir/ports/1/default_roce_tos
	file 644 16 $dir/ports/1/default_roce_tos
	for value in 256 -1 x; do
		write 1 $value $dir/ports/1/default_roce_tos
	done
	write 0 0 $dir/ports/1/default_roce_tos
	[ "$IBEX_MODE" = stock ] || cm_defaults $dir/ports/1
	rmdir $dir
}

settings() {
	file 444 Y /sys/module/ib_core/parameters/netns_mode
	load iw_cm
	file 644 256 /proc/sys/net/iw_cm/default_backlog
	write 0 128 /proc/sys/net/iw_cm/default_backlog
	write 0 256 /proc/sys/net/iw_cm/default_backlog
}

# names that tools look for
trace_events() {
	local dir=/sys/kernel/tracing/events event
	mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing
	for event in rdma_core/cq_{alloc,alloc_error,drain_complete,free,modify,poll,process,reschedule,schedule} \
		rdma_core/mr_{alloc,dereg,integ_alloc} \
		ib_mad/ib_mad_{create_agent,error_handler,handle_ib_smi,handle_opa_smi,handle_out_ib_smi,handle_out_opa_smi,ib_send_mad,recv_done_agent,recv_done_handler,send_done_agent,send_done_handler,send_done_resend,unregister_agent} \
		rdma_cma/cm_{add_one,remove_one,id_attach,id_destroy,event_handler,event_done,req_handler,disconnect,qp_create,qp_destroy} \
		rdma_cma/cm_{send_req,send_rep,send_rej,send_mra,send_rtu,send_sidr_req,send_sidr_rep,sent_dreq,sent_drep} \
		ib_cma/icm_send_{req,rep,rej,rtu,mra,dreq,drep}; do
		[ -e "$dir/$event/format" ] || fail "no event $event"
	done
}

# parameters out of range: the module is not loaded
bad_parameters() {
	local bad
	for bad in cm_retries=16 cm_timeout_ms=0 cm_timeout_ms=8796095; do
		! modprobe rdma_cm $bad 2>/dev/null || fail "rdma_cm is loaded with $bad"
	done
}

is_both || fail "this scenario runs in one VM"
[ "$IBEX_MODE" = stock ] || bad_parameters
rdma_up
load rdma_cm
say "devices"
device rxe_a
device rxe_b
say "ports"
port rxe_a va 1
port rxe_b vb 2
counters rxe_a
namespaces
say "settings"
roce_defaults
settings
trace_events
say "gone with the device"
rdma link delete rxe_b
[ ! -e /sys/class/infiniband/rxe_b ] || fail "rxe_b is still there"
