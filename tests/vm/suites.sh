# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: a module of KUnit suites; words: the modules to load, in order (scripts/vm-kunit)
# timeout: 900
# smp: 4
#
# scripts/suites/ktap.py judges the kernel's log, in which suites have the core complain.
# allow-dmesg: .
# "### ... failed" fails the run.
read -r -a modules <<<"$IBEX_ARGS"

tell() { echo "### $*" >/dev/kmsg; }
try() {
	tell "$*"
	"$@" || tell "$* failed"
}

# GFP_KERNEL allocations must be able to fail; a test picks which one.
echo N >/sys/kernel/debug/failslab/ignore-gfp-wait
echo 0 >/sys/kernel/debug/failslab/verbose
# Some cases sleep for minutes.
echo 1200 >/proc/sys/kernel/hung_task_timeout_secs
busybox mount -t configfs configfs /sys/kernel/config
ip link set lo up
modprobe bonding max_bonds=0
for module in "${modules[@]}"; do
	try modprobe "${module##*/}"
done
record_core
for ((i = ${#modules[@]} - 1; i >= 0; i--)); do
	try rmmod "${modules[i]##*/}"
done
if [[ $(uname -r) != *-kcsan ]]; then # which has no kmemleak
	# It refuses when it had to give up.
	for _ in 1 2; do
		echo scan >/sys/kernel/debug/kmemleak || tell "kmemleak failed"
		sleep 6
	done
	cat /sys/kernel/debug/kmemleak >/run/leaks
	cat /run/leaks
	[ ! -s /run/leaks ] || tell "memory that nothing points to: it failed"
fi
tell end
