# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# 9P over RDMA on vib. diod speaks 9P over TCP: tests/vm/programs/p9rdma is between it and the
# kernel's client. Needs vib.sh and user.sh.
#
# The client lets the adapter send nothing again (a retry count of 0): an ACK that is late ends its
# connection. What waits for an answer then waits until it is killed, and the client leaks it. So
# the subnet manager must be told P9_OPENSM, that packets may live for 9 s.
#
# shellcheck disable=SC2034 # used by user.sh, and by scripts sourced after this one

DIOD=
P9RDMA=
P9_DIR=/mnt/9p
P9_SERVED=/srv/9p
P9_OPENSM=(-F /run/p9-opensm)
echo subnet_timeout 21 > /run/p9-opensm

diod_up() {
	mkdir -p $P9_SERVED $P9_DIR
	mount -t tmpfs -o size=100m tmpfs $P9_SERVED
	diod -f -n -l 127.0.0.1:564 -e $P9_SERVED > /run/out/diod 2>&1 &
	DIOD=$!
	PORT=564
	wait_for 20 listens_tcp || fail "diod does not listen: $(cat /run/out/diod)"
}

diod_down() {
	kill "$DIOD"
	wait "$DIOD" || :
	umount $P9_SERVED
}

p9_serve() {
	/ibex/bin/p9rdma "$A" 5640 564 > /run/out/p9rdma 2>&1 &
	P9RDMA=$!
	PORT=5640
	wait_for 20 listens_cm || fail "p9rdma does not listen: $(cat /run/out/p9rdma)"
}

p9_serve_no_more() {
	kill "$P9RDMA"
	wait "$P9RDMA" || fail "p9rdma: $(cat /run/out/p9rdma)"
	cat /run/out/p9rdma
}

# p9_mounts: whether it can be mounted
p9_mounts() {
	mount -t 9p -o "trans=rdma,port=5640,version=9p2000.L,aname=$P9_SERVED,msize=65536,uname=root" \
		"$A" $P9_DIR
}

# p9_mount WHAT
p9_mount() { p9_mounts || fail "$1: mount: $(cat /run/out/p9rdma /run/out/diod)"; }

# p9_compare WHAT: what the client writes is what the server has, and what the client reads when
# it has mounted again, without a cache
p9_compare() {
	local before
	before=$(wire_bytes)
	rm -rf $P9_SERVED/files
	mkdir $P9_DIR/files || fail "$1: mkdir"
	python3 /ibex/tools/files.py write $P9_DIR/files > /tmp/written || fail "$1: write"
	python3 /ibex/tools/files.py sums $P9_SERVED/files > /tmp/served
	cmp /tmp/written /tmp/served || fail "$1: the server has other files"
	umount $P9_DIR || fail "$1: umount"
	p9_mount "$1"
	python3 /ibex/tools/files.py sums $P9_DIR/files > /tmp/read || fail "$1: read"
	cmp /tmp/written /tmp/read || fail "$1: other files are read"
	before=$(($(wire_bytes) - before))
	say "$1: $(wc -l < /tmp/read) files equal, $before bytes on the wire"
	[ $before -ge "$(awk '{ s += $2 } END { print 2 * s }' /tmp/read)" ] ||
		fail "$1: the data was not on the wire"
}

# p9_file WHAT: the same of one file of 1 MiB
p9_file() {
	local before
	before=$(wire_bytes)
	busybox dd if=/dev/urandom of=/run/p9 bs=64k count=16 2> /dev/null
	cp /run/p9 $P9_DIR/file || fail "$1: write"
	cmp /run/p9 $P9_SERVED/file || fail "$1: the server has another file"
	umount $P9_DIR || fail "$1: umount"
	p9_mount "$1"
	cmp /run/p9 $P9_DIR/file || fail "$1: another file is read"
	before=$(($(wire_bytes) - before))
	say "$1: a file, $before bytes on the wire"
	[ $before -ge $((2 << 20)) ] || fail "$1: the data was not on the wire"
}
