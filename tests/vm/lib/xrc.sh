# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# XRC receive QPs: those that exist, and what their control group is charged.
CGROUP=/sys/fs/cgroup/xrc

cgroup_up() {
	mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null || :
	echo +rdma > /sys/fs/cgroup/cgroup.subtree_control
	mkdir $CGROUP
}

in_cgroup() {
	echo $BASHPID > $CGROUP/cgroup.procs
	exec "$@"
}

# charged DEVICE: how many objects the control group is charged for
charged() {
	local n
	n=$(sed -n "s/^$1 .*hca_object=\([0-9]*\).*/\1/p" $CGROUP/rdma.current)
	echo "${n:-0}"
}

# targets [DEVICE]: of all devices, or of one
targets() { rdma resource show qp | grep "^link ${1-[^/]*}/.* type XRC_TGT "; }
no_targets() { ! targets; }
# target_count DEVICE
target_count() { targets "$1" | wc -l || :; }
