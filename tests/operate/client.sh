#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What the second machine of tests/operate/run does after it has booted: on the distribution's core,
# it has a hard mount of the server's NFS and its disks over NVMe and iSER, writes to all of them
# and reads back for as long as the server changes its core, and tells the server by a file there
# how many rounds have ended.
#
# usage: client.sh
set -u
# shellcheck source=tests/operate/steps.sh
. /var/ibex-test/steps.sh
. /ibex/lib/storage.sh

declare -A process

# io NAME FILE: rounds of writes and reads in the background
io() {
	: > /run/rounds-"$1"
	python3 /ibex/tools/blocks.py "$2" /run/end 4 0.5 > /run/rounds-"$1" 2>&1 &
	process[$1]=$!
}
rounds() {
	local name
	for name in nfs nvme iser; do
		tail -n 1 /run/rounds-$name | tr '\n' ' '
	done
	echo
}
all_run() {
	local name
	for name in "${!process[@]}"; do
		kill -0 "${process[$name]}" || return
	done
}

# The server's core is away for longer than an initiator usually waits.
patient_login() {
	iscsi_up
	iscsiadm "${ISER[@]}" -o update -n node.session.timeo.replacement_timeout -v 1800
	iser_login
}

# NFS tells clients apart by it.
hostname ibex-client
ok "client: the distribution's core" ibexctl swap stock
ok "client: the link" link_up
ok "client: a hard mount of the server" within 1800 mount /mnt
load nvme-rdma
nvme_connect ,keep_alive_tmo=30,reconnect_delay=2,ctrl_loss_tmo=1800
patient_login
ok "client: the core" core_is stock

truncate -s 16M /mnt/file
io nfs /mnt/file
io nvme "/dev/$NVME_DISK"
io iser "/dev/$ISER_DISK"
while [ ! -e /mnt/stop ] && all_run; do
	# The server never reads half of it.
	rounds > /mnt/rounds.new
	mv /mnt/rounds.new /mnt/rounds
	sleep 1
done
touch /run/end
for name in nfs nvme iser; do
	ok "client: $name has had no error, and no byte that is not as written" wait "${process[$name]}"
	say "$(tail -n 1 /run/rounds-$name) rounds"
done
# The server ends the session: after a logout isert may free a request twice (known.rst).
touch /mnt/ended
ok "client: the server ends the session" within 300 iser_lost
ok "client: logout" iser_logout
nvme_disconnect
touch /mnt/gone
ok "client: unmount" umount /mnt
echo "end"
systemctl poweroff
