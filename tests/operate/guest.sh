#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What tests/operate/run has a Debian do after it has booted, as a unit of systemd: an NFS server,
# which exports over RDMA and mounts its own export, changes its RDMA core and changes back.
# Prints lines as tests/operate/run does.  /var/ibex-test/step says how far it is.
#
# usage: guest.sh
set -u

dir=/var/ibex-test
step=$(cat $dir/step 2> /dev/null || echo first)
swaps=$(cat $dir/swaps)
log=$dir/log

# ok WHAT COMMAND...
ok() {
	local what=$1
	shift
	if "$@" > $dir/said 2>&1; then
		echo "ok      $what"
	else
		echo "not ok  $what"
		sed 's/^/        /' $dir/said | tail -n 20
	fi
	{
		echo "--- $what"
		cat $dir/said
	} >> $log
}
not() { ! "$@"; }
told() { ibexctl status | grep "$1"; }

# The core in memory, by the taint: the distribution's has none.
core_is() {
	case $1 in
	ibex) [ -e /sys/module/ib_mad ] && grep -q O /sys/module/ib_core/taint ;;
	stock) [ ! -e /sys/module/ib_mad ] && [ -e /sys/module/ib_core ] &&
		! grep -q O /sys/module/ib_core/taint ;;
	esac
}

# within SECONDS COMMAND...
within() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}

# The file is read by the client again, over RDMA, and written.
data_is_whole() {
	mountpoint -q /mnt && grep -q ' /mnt nfs.*proto=rdma' /proc/mounts || return 1
	echo 3 > /proc/sys/vm/drop_caches
	sha256sum --status -c $dir/sum || return 1
	date +%s.%N > /mnt/stamp && sync /mnt/stamp && cmp /mnt/stamp /srv/nfs/stamp
}

server_up() {
	rdma link show rxe0/1 2> /dev/null || rdma link add rxe0 type rxe netdev dummy0 || return 1
	systemctl restart nfs-server && grep -q 'rdma 20049' /proc/fs/nfsd/portlist || return 1
	within 60 mount /mnt
}

# swap WORDS...: what it prints is told, too
swap() {
	ibexctl swap "$@" --stop > $dir/swap 2>&1
	local status=$?
	cat $dir/swap
	return $status
}
away() { sed -n 's/.*RDMA was away for \([0-9.]*\) s.*/\1/p' $dir/swap; }

first() {
	dd if=/dev/urandom of=/srv/nfs/data bs=1M count=8 status=none
	(cd /srv/nfs && sha256sum data) | sed 's|data|/mnt/data|' > $dir/sum
	ok "the network is there" ip link show dummy0
	ok "the NFS server exports over RDMA, and its export is mounted" server_up
	ok "ibex is the core, as nobody said otherwise" core_is ibex
	ok "data over RDMA" data_is_whole
	ok "status names the core, its package and the server" ibexctl status
	cp $dir/said $dir/status
	ok "  the core" grep -q ibex $dir/status
	ok "  the package" grep -q ibex-dkms $dir/status
	ok "verify finds what is in memory to be what is installed" ibexctl verify
	ok "check finds what is in the way" not ibexctl check
	cp $dir/said $dir/check
	ok "  the mount" grep -q 'mounted at /mnt' $dir/check
	ok "  the server" grep -q 'nfs-server.service' $dir/check
	ok "without --stop nothing is swapped" not ibexctl swap stock
	ok "  the core is the former one" core_is ibex
	ok "  data" data_is_whole

	local n to other
	for n in $(seq "$swaps"); do
		to=stock other=ibex
		[ $((n % 2)) = 1 ] || to=ibex other=stock
		ok "swap $n, to $to" swap $to
		echo "        RDMA was away for $(away) s"
		ok "  the core" core_is $to
		ok "  it is not the other one" not core_is $other
		ok "  verify" ibexctl verify
		ok "  the server and the mount are back, data is whole" data_is_whole
	done
	[ $((swaps % 2)) = 0 ] || ok "swap back to ibex" swap ibex
	killed
	echo second > $dir/step
	systemctl reboot
	exit
}

# A swap that is killed at a step leaves one whole core once recover has run.
killed() {
	local at pid
	for at in unload switch load; do
		ibexctl swap stock --stop > $dir/swap 2>&1 &
		pid=$!
		ok "a swap reaches the step $at" within 300 at_step $at
		kill -KILL $pid
		wait $pid 2> /dev/null
		ok "  status tells that it was interrupted" told interrupted
		ok "  recover" ibexctl recover
		ok "  the core is the former one" core_is ibex
		ok "  verify" ibexctl verify
		ok "  the server and the mount are back, data is whole" data_is_whole
	done
}
at_step() { grep -q "\"step\": \"$1\"" /var/lib/ibex/swap.json 2> /dev/null; }

second() {
	ok "after a reboot the server is up again" server_up
	ok "  the core is ibex" core_is ibex
	ok "  data" data_is_whole
	umount /mnt
	systemctl stop nfs-server
	ok "the packages are purged beneath the running core" purge
	ok "  the core in memory goes on" core_is ibex
	ok "  and the server on it" server_up
	ok "  data" data_is_whole
	echo third > $dir/step
	systemctl reboot
	exit
}
purge() { DEBIAN_FRONTEND=noninteractive apt-get -y purge ibex-dkms ibex-tools; }

third() {
	ok "after a reboot the server is up on the distribution's core" server_up
	ok "  the core is the distribution's" core_is stock
	ok "  data" data_is_whole
	ok "nothing is left of ibex" nothing_left
	echo "end"
	systemctl poweroff
}
# libex* are libexpat and its like.
nothing_left() {
	! find /lib/modules /var/lib/dkms /usr/src /etc /usr/lib /usr/share -name '*ibex*' \
		-not -path '*/ibex-test*' -not -name 'libex*' | grep . &&
		! find /lib/modules -path '*updates*' -name 'ib_*' | grep .
}

$step
