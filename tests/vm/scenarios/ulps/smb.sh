# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: SMB Direct, cifs and ksmbd: files; a link flaps, the server and each device go; the client
#	connects again
# timeout: 500
# stock-fails: the client has no room in its receive queue for what drains it, and waits for an answer
# stock-fails-with: failed to drain recv queue|__ib_drain_rq|task (cifsd|python3|kworker)[^ ]* blocked for|FAIL: rxe_a is removed and back: I/O does not end
# image: smbdirect
# image: smb
. /ibex/lib/user.sh
. /ibex/lib/storage.sh
. /ibex/lib/smb.sh

# The client connects again by itself. I/O that waits meanwhile may end with an error, but not with
# other data.
goes_on() {
	local status=0 last
	touch /run/blocks-stop
	wait_for 120 blocks_ended || fail "$condition: I/O does not end"
	wait $BLOCKS || status=$?
	last=$(tail -n 1 /run/blocks)
	[[ $status = 0 || $last != *" of round "* ]] || fail "$condition: I/O: $last"
	say "$condition: I/O before: $last"
	wait_for 60 smb_answers || fail "$condition: the client does not connect again"
	blocks_start $SMB_DIR/blocks
}

smb_answers() { timeout 20 ls $SMB_DIR; }

# With nothing to send: rdma_rxe ends a QP whose packet it cannot send, and the client then waits
# without end for the answer to an echo.
flap() {
	blocks_stop
	condition="a link flaps"
	ip link set va down
	wait_for 10 grep -q DOWN /sys/class/infiniband/rxe_a/ports/1/state || fail "the port stays up"
	ip link set va up
	net_ends
	blocks_start $SMB_DIR/blocks
}

server() {
	condition="the server is unloaded and loaded again"
	smb_serve_no_more
	smb_serve
	goes_on
}

# gone DEVICE NETDEV
gone() {
	condition="$1 is removed and back"
	removal "rdma link delete $1" "$1"
	rxe_add "$1" "$2"
	goes_on
}

user_up
condition="at first"
smb_up
smb_mount
smb_compare
truncate -s 1M $SMB_DIR/blocks
blocks_start $SMB_DIR/blocks
flap
server
gone rxe_a va
gone rxe_b vb
blocks_stop
condition="at last"
smb_compare
smb_umount
smb_down
user_down
