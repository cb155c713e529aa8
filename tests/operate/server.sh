#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What the first machine of tests/operate/run does after it has booted, as a unit of systemd: a
# server of NFS, NVMe and iSER, which mounts its own export, too, changes its RDMA core and changes
# back, while the second machine uses all of it.  Prints lines as tests/operate/run does.
# /var/ibex-test/step says how far it is.
#
# usage: server.sh

# shellcheck disable=SC2154 # steps.sh sets dir
set -u

# shellcheck source=tests/operate/steps.sh
. /var/ibex-test/steps.sh
. /ibex/lib/storage.sh
step=$(cat $dir/step 2> /dev/null || echo first)
swaps=$(cat $dir/swaps)
told() { ibexctl status | grep "$1"; }

# The file is read by the client again, over RDMA, and written.
data_is_whole() {
	mountpoint -q /mnt && grep -q ' /mnt nfs.*proto=rdma' /proc/mounts || return 1
	echo 3 > /proc/sys/vm/drop_caches
	sha256sum --status -c $dir/sum || return 1
	date +%s.%N > /mnt/stamp && sync /mnt/stamp && cmp /mnt/stamp /srv/nfs/stamp
}

server_up() {
	link_up || return 1
	systemctl restart nfs-server && grep -q 'rdma 20049' /proc/fs/nfsd/portlist || return 1
	within 60 mount /mnt
}

targets_up() {
	nvmet_up
	lio_up
	systemctl start ibex-test-rping
}

# An InfiniBand fabric, its subnet manager, and an interface of IPoIB on it.
fabric_up() {
	modprobe -a vib ib_umad ib_ipoib && vibctl up --star 2 || return
	opensm=opensm@$(ibstat -p vib0 | head -n 1).service
	systemctl start "$opensm" && within 60 fabric_is_whole || return
	ip address add 10.78.0.1/24 dev ib0 && ip link set ib0 up
}
fabric_is_whole() {
	systemctl is-active "$opensm" && ibstat vib0 | grep 'State: Active' &&
		ibstat vib1 | grep 'State: Active'
}
ipoib_is_back() { ip address show dev ib0 up | grep 'inet 10\.78\.0\.1/24'; }

# Each of the client's three: more rounds have ended since this was called.
client_goes_on() {
	local before
	read -r -a before < /srv/nfs/rounds || return
	within 600 beyond || {
		echo "rounds: ${before[*]}, and now $(cat /srv/nfs/rounds)"
		return 1
	}
}
beyond() {
	local now n
	read -r -a now < /srv/nfs/rounds || return
	[ ${#now[@]} = 3 ] || return
	for n in 0 1 2; do
		[ "${now[n]}" -gt $((before[n] + 1)) ] || return
	done
}

reboot_to() {
	echo "$1" > $dir/step
	echo "reboot"
	systemctl reboot
	exit
}
kernel_is() { [ "$(uname -r)" = "$(sed -n "$1p" $dir/kernels)" ]; }

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
	ok "the kernel of the installation" kernel_is 1
	ok "the network is there" ip link show lan
	ok "the NFS server exports over RDMA, and its export is mounted" server_up
	ok "ibex is the core, as nobody said otherwise" core_is ibex
	ok "data over RDMA" data_is_whole
	ok "targets of NVMe and iSER, and a process with a device open" targets_up
	ok "a fabric of vib, opensm and IPoIB" fabric_up
	ok "the client uses all of it" within 1800 client_goes_on
	ok "status names the core, its package and the server" ibexctl status
	cp $dir/said $dir/status
	ok "  the core" grep -q ibex $dir/status
	ok "  the package" grep -q ibex-dkms $dir/status
	ok "verify finds what is in memory to be what is installed" ibexctl verify
	ok "check finds what is in the way" not ibexctl check
	cp $dir/said $dir/check
	ok "  the mount" grep -q 'mounted at /mnt' $dir/check
	ok "  the server" grep -q 'nfs-server.service' $dir/check
	ok "  the targets" grep -q 'nvmet listens' $dir/check
	ok "  iSER's, too" grep -q 'LIO has an iSER portal' $dir/check
	ok "  the process" grep -q 'rping.* of ibex-test-rping.service' $dir/check
	ok "  the subnet manager" grep -q 'opensm.* of opensm@' $dir/check
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
		ok "  the process is back" systemctl is-active ibex-test-rping
		ok "  the fabric is back, and opensm brings it up" within 60 fabric_is_whole
		ok "  IPoIB has its address" ipoib_is_back
		ok "  the client's file and disks go on" client_goes_on
	done
	[ $((swaps % 2)) = 0 ] || ok "swap back to ibex" swap ibex
	killed
	touch /srv/nfs/stop
	ok "the client's reads and writes end" within 600 test -e /srv/nfs/ended
	echo 0 > "$TPG/enable"
	ok "the client is gone" within 600 test -e /srv/nfs/gone
	reboot_to second
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
		ok "  the fabric is back, and opensm brings it up" within 60 fabric_is_whole
		ok "  the client's file and disks go on" client_goes_on
	done
}
at_step() { grep -q "\"step\": \"$1\"" /var/lib/ibex/swap.json 2> /dev/null; }

second() {
	ok "after a reboot the newer kernel runs" kernel_is 2
	ok "  the server is up again" server_up
	ok "  the core is ibex" core_is ibex
	ok "  verify" ibexctl verify
	ok "  data" data_is_whole
	umount /mnt
	reboot_to stranger
}

# The kernel trusts whom the firmware trusts: here not the key of DKMS, with which it has signed.
locked_down() {
	[ "$(od -An -tu1 /sys/firmware/efi/efivars/SecureBoot-* | awk '{ print $NF }')" = 1 ] &&
		grep -q '\[integrity\]' /sys/kernel/security/lockdown
}
stranger() {
	ok "after a reboot Secure Boot is on" locked_down
	ok "without DKMS's key the kernel refuses ibex" not modprobe ib_core
	cp $dir/said $dir/modprobe
	ok "  as the key is not trusted" grep 'Key was rejected by service' $dir/modprobe
	ok "  no core is in memory" test ! -e /sys/module/ib_core
	ok "  status says why" told "^The kernel would refuse .* 'DKMS module signing key'"
	ok "  and what to do" told 'mokutil --import /var/lib/dkms/mok.pub'
	ok "  check, too" not ibexctl check
	cp $dir/said $dir/check
	ok "  why" grep -q "would refuse .* of the ibex core" $dir/check
	ok "the distribution's core is a swap away" swap stock
	ok "  the server is up" server_up
	ok "  the core" core_is stock
	ok "  data" data_is_whole
	ok "  a swap to ibex is refused" not swap ibex
	ok "  as the kernel would refuse it" grep -q 'would refuse' $dir/swap
	ok "  the server and the mount are as before" data_is_whole
	umount /mnt
	reboot_to owner
}

owner() {
	ok "after a reboot Secure Boot is on, with DKMS's key" locked_down
	ok "  the server is up on the distribution's core, as chosen" server_up
	ok "  the core" core_is stock
	ok "  swap to ibex" swap ibex
	echo "        RDMA was away for $(away) s"
	ok "  the core" core_is ibex
	ok "  verify" ibexctl verify
	ok "  data" data_is_whole
	ok "  a report, with what such a kernel lets root read" \
		ibexctl report --seconds 1 -o $dir/report.tar.gz
	umount /mnt
	systemctl stop nfs-server
	ok "the packages are purged beneath the running core" purge
	ok "  the core in memory goes on" core_is ibex
	ok "  and the server on it" server_up
	ok "  data" data_is_whole
	reboot_to third
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
