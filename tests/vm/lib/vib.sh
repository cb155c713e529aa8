# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Fabrics of vib, made in configfs, their subnet managers, and IPoIB on them.
. /ibex/lib/lib.sh

FABRIC=/sys/kernel/config/vib/f0
declare -A OPENSM

vibctl() { /ibex/vibctl/vibctl "$@"; }

vib_load() {
	modprobe -a configfs ib_core ib_umad ib_uverbs
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	insmod /ibex/vib/vib.ko
}

vib_up() {
	vib_load
	mkdir $FABRIC
}

# vib_node NAME ca|switch PORTS
vib_node() {
	mkdir "$FABRIC/nodes/$1"
	echo "$2" > "$FABRIC/nodes/$1/type"
	echo "$3" > "$FABRIC/nodes/$1/ports"
	echo 1 > "$FABRIC/nodes/$1/live"
}

# vib_link PORT PORT, such as sw0:1 ca0:1
vib_link() {
	mkdir "$FABRIC/links/$1-$2"
	echo "$1" > "$FABRIC/links/$1-$2/a"
	echo "$2" > "$FABRIC/links/$1-$2/b"
	echo 1 > "$FABRIC/links/$1-$2/live"
}

# vib_star COUNT: so many adapters on one switch
vib_star() {
	local i
	vib_node sw0 switch "$1"
	for ((i = 0; i < $1; i++)); do
		vib_node "ca$i" ca 1
		vib_link "sw0:$((i + 1))" "ca$i:1"
	done
}

vib_down() {
	rmdir $FABRIC/links/* $FABRIC/nodes/*
	rmdir $FABRIC
	rmmod vib
}

# opensm_up DEVICE [OPTION...]: a subnet manager behind its port 1
opensm_up() {
	local device=$1 dir=/run/opensm-$1
	shift
	mkdir -p "$dir"
	OSM_CACHE_DIR=$dir OSM_TMP_DIR=$dir opensm -g "0x$(guid "$device")" -e "$@" \
		-f "/run/out/opensm-$device.log" > "/run/out/opensm-$device.out" 2>&1 &
	OPENSM[$device]=$!
}

opensm_down() {
	kill "${OPENSM[$1]}"
	wait "${OPENSM[$1]}" || true
	unset "OPENSM[$1]"
}

# ports_are STATE COUNT: so many ports of adapters are in it
ports_are() {
	[ "$(grep -lx "[0-9]: $1" /sys/class/infiniband/*/ports/*/state | wc -l)" = "$2" ]
}

port_is() { grep -qx "[0-9]: $2" "/sys/class/infiniband/$1/ports/1/state"; }

# of port 1, without the 0x
guid() { tr -d : < "/sys/class/infiniband/$1/ports/1/gids/0" | cut -c17-; }

counter() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# switch_port_is FABRIC NUMBER STATE: a port of the switch sw0
switch_port_is() {
	grep -q "^ *$2 $3 " "/sys/kernel/config/vib/$1/nodes/sw0/ports_state"
}

lid() { printf '%d' "$(cat "/sys/class/infiniband/$1/ports/1/lid")"; }

# The adapters of vib_star COUNT, all Active by opensm
subnet_up() {
	local count=$1
	shift
	vib_star "$count"
	wait_for 20 ports_are INIT "$count" || fail "ports do not come up"
	opensm_up vib0 "$@"
	wait_for 60 ports_are ACTIVE "$count" || fail "opensm leaves ports inactive"
}

# ipoib_up: ibN is 10.1.0.N+1, ib1 and the others in namespaces of their own, hostN
ipoib_up() {
	local dev n
	modprobe ib_ipoib
	for dev in /sys/class/net/ib*; do
		n=${dev##*/ib}
		if [ "$n" = 0 ]; then
			ip addr add 10.1.0.1/24 dev ib0
			ip link set ib0 up
			continue
		fi
		ip netns add "host$n"
		ip link set "ib$n" netns "host$n"
		ip -n "host$n" addr add "10.1.0.$((n + 1))/24" dev "ib$n"
		ip -n "host$n" link set "ib$n" up
	done
}

ipoib_down() {
	local host
	for host in $(ip netns list | cut -d ' ' -f 1); do
		# unless its adapter was removed
		ip -n "$host" link show "ib${host#host}" > /dev/null 2>&1 &&
			ip -n "$host" link set "ib${host#host}" netns 1
		ip netns del "$host"
	done
	rmmod ib_ipoib
}

# on_host N COMMAND...: where ibN is
on_host() {
	local n=$1
	shift
	if [ "$n" = 0 ]; then "$@"; else ip netns exec "host$n" "$@"; fi
}

# ipoib_child N P_KEY: ibN.P_KEY is 10.2.0.N+1
ipoib_child() {
	on_host "$1" ip link add link "ib$1" name "ib$1.$2" type ipoib pkey "0x$2"
	on_host "$1" ip addr add "10.2.0.$(($1 + 1))/24" dev "ib$1.$2"
	on_host "$1" ip link set "ib$1.$2" up
}

# pings COUNT ADDRESS [OPTION...]: all of them are answered
pings() {
	local count=$1 to=$2
	shift 2
	ping -q -c "$count" -i 0.05 -W 2 "$@" "$to" > /run/ping || { cat /run/ping; return 1; }
	grep -q "$count packets transmitted, $count received" /run/ping
}

# The interfaces of two adapters are va and vb in one namespace, as the scenarios for rxe have
# them: see lib.sh
ipoib_pair() {
	modprobe ib_ipoib
	ip link set ib0 name va
	ip link set ib1 name vb
	net_rules
	net_ends
	wait_for 60 ping -c 1 -W 1 -I $A $B || fail "no ping"
}

# adapter_again N NAME: caN, which was removed, comes back, and its interface is NAME again. It gets
# the next name that is free.
adapter_again() {
	rmdir "$FABRIC/links/sw0:$(($1 + 1))-ca$1:1"
	vib_node "ca$1" ca 1
	vib_link "sw0:$(($1 + 1))" "ca$1:1"
	wait_for 60 port_is "vib$1" ACTIVE || fail "vib$1 is not active again"
	wait_for 20 rename_interface "vib$1" "$2" || fail "no interface of vib$1"
	net_ends
	wait_for 60 ping -c 1 -W 1 -I $A $B || fail "no ping"
}

# An interface's address ends with the GUID of its port.
rename_interface() {
	local file
	file=$(grep -l "$(guid "$1" | sed 's/../:&/g')\$" /sys/class/net/ib*/address) || return
	file=${file%/address}
	ip link set "${file##*/}" name "$2"
}

# bytes that both adapters have received
wire_bytes() {
	cat /sys/class/infiniband/vib[01]/ports/1/hw_counters/rcv_data |
		busybox awk '{ s += $1 * 4 } END { print s }'
}
