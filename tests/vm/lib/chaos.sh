# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Tasks that change the configuration at random, each in a process of its own with a random
# sequence that depends on the seed and the task's name.  Their commands may fail: the devices are
# changed by others at the same time, and allocations fail where the kernel has failslab.  What must
# not happen is a report of the kernel, a hang, or anything that is left at the end.
. /ibex/lib/user.sh
. /ibex/lib/vib.sh

CHAOS=/run/chaos		# removed at the end of the time
FAILSLAB=/sys/kernel/debug/failslab
GID_A='' GID_B=''			# their indices, given by the scenario

# one_of WORD...
one_of() { echo "${@:1 + RANDOM % $#:1}"; }

# attempt COMMAND...: with a hundredth of its allocations failing
attempt() {
	(
		trap - ERR
		set +eE
		[ ! -e /proc/self/make-it-fail ] || echo 1 > "/proc/$BASHPID/make-it-fail"
		timeout -k 2 $((60 * IBEX_SLOW)) "$@"
	) > /dev/null 2>&1 || :
	done_so_far=$((done_so_far + 1))
}

# task NAME SEED: calls change_NAME, and at the end restore_NAME
task() {
	trap - ERR
	set +eE
	done_so_far=0
	RANDOM=$(($2 + $(printf '%s' "$1" | cksum | cut -d ' ' -f 1) % 32768))
	while [ -e $CHAOS ]; do
		"change_$1"
		busybox usleep $((RANDOM * 8))
	done
	"restore_$1" > /dev/null 2>&1
	echo "$1: $done_so_far changes"
}

# Only what modules allocate fails, who nearly all belong to the RDMA stack: a program whose start
# fails half way does nothing.
failslab_on() {
	[ -e $FAILSLAB/require-start ] || return 0
	echo 0xffffffffa0000000 > $FAILSLAB/require-start
	echo 0xffffffffff000000 > $FAILSLAB/require-end
	echo 32 > $FAILSLAB/stacktrace-depth
	echo Y > $FAILSLAB/task-filter
	echo N > $FAILSLAB/ignore-gfp-wait
	echo 0 > $FAILSLAB/verbose
	echo -1 > $FAILSLAB/times
	echo 1 > $FAILSLAB/interval
	echo 1 > $FAILSLAB/probability
}

failslab_off() { [ ! -e $FAILSLAB/require-start ] || echo 0 > $FAILSLAB/probability; }

# ---- links: rxe on vc and siw on vd are made, renamed and deleted ----

change_links() {
	case $((RANDOM % 8)) in
	0 | 1) attempt rdma link add rxe_c type rxe netdev vc ;;
	2) attempt rdma link add siw_d type siw netdev vd ;;
	3) attempt rdma link delete "$(one_of rxe_c rxe_new)" ;;
	4) attempt rdma link delete siw_d ;;
	5) attempt rdma dev set rxe_c name rxe_new ;;
	6) attempt rdma dev set rxe_new name rxe_c ;;
	7) attempt rdma link add rxe_v type rxe netdev vc.7 ;;
	esac
}

restore_links() {
	local dev
	for dev in rxe_c rxe_new rxe_v siw_d; do
		[ ! -e /sys/class/infiniband/$dev ] || rdma link delete $dev
	done
}

# ---- addresses, MACs, MTUs, VLANs and bonds of vc and vd ----

change_addresses() {
	local dev n=$((RANDOM % 200 + 2))
	dev=$(one_of vc vd)
	case $((RANDOM % 10)) in
	0) attempt ip addr add 10.9.0.$n/24 dev "$dev" ;;
	1) attempt ip addr del 10.9.0.$n/24 dev "$dev" ;;
	2) attempt ip addr add "fd09::$n/64" dev "$dev" nodad ;;
	3) attempt ip addr flush dev "$dev" ;;
	4) attempt ip link set "$dev" address "02:00:00:00:01:$(printf %02x $n)" ;;
	5) attempt ip link set "$dev" mtu "$(one_of 600 1500 2200 4200 9000)" ;;
	6) attempt ip link set "$dev" "$(one_of up up down)" ;;
	7) attempt ip link add link vc name vc.7 type vlan id 7 ;;
	8) attempt ip link del vc.7 ;;
	9) attempt ip link set vd "$(one_of 'master bond9' nomaster)" ;;
	esac
	[ $((RANDOM % 8)) != 0 ] || bond
}

bond() {
	attempt ip link add bond9 type bond mode active-backup
	attempt ip link set vd down
	attempt ip link set vd master bond9
	attempt ip link set bond9 up
	attempt rdma link add rxe_bond type rxe netdev bond9
	[ $((RANDOM % 2)) = 0 ] || attempt ip link del bond9
}

restore_addresses() {
	[ ! -e /sys/class/infiniband/rxe_bond ] || rdma link delete rxe_bond
	ip link del bond9
	ip link del vc.7
	ip addr flush dev vc
	ip addr flush dev vd
}

# ---- network namespaces with devices in them ----

change_netns() {
	local ns
	ns=chaos$((RANDOM % 3))
	case $((RANDOM % 5)) in
	0) attempt ip netns add $ns ;;
	1) attempt ip link add "v_$ns" type veth peer name "w_$ns" ;;
	2)
		attempt ip link set "v_$ns" up
		attempt rdma link add "r_$ns" type rxe netdev "v_$ns"
		;;
	3) attempt ip link set "v_$ns" netns $ns ;;
	4) attempt ip netns del $ns ;;
	esac
}

restore_netns() {
	local ns
	for ns in chaos0 chaos1 chaos2; do
		[ ! -e "/sys/class/infiniband/r_$ns" ] || rdma link delete "r_$ns"
		ip link del "w_$ns"
		ip netns del $ns
	done
}

# ---- processors ----

change_processors() {
	local cpu=/sys/devices/system/cpu/cpu$((1 + RANDOM % 3))/online
	[ ! -e "$cpu" ] || echo $((RANDOM % 2)) > "$cpu"
	done_so_far=$((done_so_far + 1))
	busybox usleep 500000
}

restore_processors() {
	local cpu
	for cpu in /sys/devices/system/cpu/cpu[1-9]/online; do echo 1 > "$cpu"; done
}

# ---- modules that nobody needs all the time ----

change_modules() {
	local module
	module=$(one_of siw ib_umad rdma_ucm ib_ipoib rdma_cm)
	case $((RANDOM % 2)) in
	0) attempt load_one "$module" ;;
	1) attempt rmmod "$module" ;;
	esac
}

# The distribution's kernel has no siw.
load_one() {
	modprobe "$1" && return
	insmod /ibex/siw/libcrc32c.ko
	insmod "/ibex/siw/$1.ko"
}

restore_modules() { modprobe -a ib_uverbs rdma_ucm ib_umad; }

# ---- a fabric of vib, whose nodes and links come and go ----

change_fabric() {
	local node link
	case $((RANDOM % 7)) in
	0)
		attempt vib_up
		attempt vib_star 2
		;;
	1 | 2)
		node=$(one_of ca0 ca1 sw0)
		[ ! -e "$FABRIC/nodes/$node" ] || attempt write $((RANDOM % 2)) "$FABRIC/nodes/$node/live"
		;;
	3 | 4)
		for link in "$FABRIC"/links/*; do attempt write 1 "$link/live"; done
		;;
	5)
		for link in "$FABRIC"/links/*; do attempt write $((RANDOM % 2)) "$link/cut"; done
		;;
	6) [ $((RANDOM % 3)) != 0 ] || attempt vib_down ;;
	esac
}

write() { echo "$1" > "$2"; }

restore_fabric() { vib_down; }

# ---- those who read everything ----

change_nothing() {
	attempt rdma -dd "$(one_of res dev link)" show
	attempt rdma -dd res show "$(one_of qp cq mr cm_id pd ctx srq)"
	attempt rdma stat show
	attempt find /sys/class/infiniband/ /sys/class/infiniband_verbs/ -follow -maxdepth 6 -type f \
		-exec cat {} +
	attempt find /sys/kernel/debug/ib_core /sys/kernel/debug/ib_mad -type f -exec cat {} +
}

restore_nothing() { :; }

# ---- programs, on devices that stay and on those that come and go, killed at random ----

change_programs() {
	local here=$A there=$B pids=() server client n=1000000
	[ $((RANDOM % 3)) != 0 ] || here=10.9.0.$((RANDOM % 200 + 2)) there=$here
	next_port
	case $((RANDOM % 5)) in
	0) server="rping -s -a $here -p $PORT" client="rping -c -a $here -I $there -p $PORT -C $n" ;;
	1)
		server="ibv_rc_pingpong -d rxe_a -g $GID_A -p $PORT -n $n -e"
		client="ibv_rc_pingpong -d rxe_b -g $GID_B -p $PORT -n $n -e $A"
		;;
	2) server="ib_write_bw -d rxe_a -R -p $PORT -F -n $n" client="ib_write_bw -d rxe_b -R -p $PORT -F -n $n $A" ;;
	3)
		server="ucmatose -b $here -p $PORT -c 20 -C 1000"
		client="ucmatose -s $here -b $there -p $PORT -c 20 -C 1000"
		;;
	4)
		server="rstream -b $here -p $PORT -I $n -C 10 -S 4096"
		client="rstream -s $here -b $there -p $PORT -I $n -C 10 -S 4096"
		;;
	esac
	$server > /dev/null 2>&1 &
	pids+=($!)
	busybox usleep $((RANDOM * 20))
	$client > /dev/null 2>&1 &
	pids+=($!)
	busybox usleep $((RANDOM * 60))
	kill -9 "${pids[@]}" 2> /dev/null
	wait "${pids[@]}" 2> /dev/null
	done_so_far=$((done_so_far + 1))
}

restore_programs() { :; }
