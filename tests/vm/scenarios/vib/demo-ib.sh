# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: two machines (--two) as one InfiniBand subnet, by a trunk: opensm, IPoIB, NFS, XRC
# timeout: 300
#
#   server, fabric left                             client, fabric right
#   vib0 - sw0:1, sw0:2 - trunk 10.0.0.1  <-- Ethernet -->  10.0.0.2 trunk - sw0:2, sw0:1 - vib0
#   ib0 10.1.0.1                                    ib0 10.1.0.2
. /ibex/lib/vib.sh
. /ibex/lib/user.sh

IB_A=10.1.0.1
IB_B=10.1.0.2
HERE=left

shows() { sed 's/^/  /'; }

port2_is() { switch_port_is $HERE 2 "$1"; }

counter() { vibctl trunk sw0:2 --fabric $HERE | sed -n "s/^$1 //p"; }

join() {
	local local=$A peer=$B
	is_server || { HERE=right local=$B peer=$A; }
	vibctl up - --fabric $HERE <<-END
		Switch 2 "sw0" # "$HERE switch"
		[1] "ca0"[1]
		Ca 1 "ca0" # "$HERE adapter"
	END
	# Emulated machines are slow: a second without a sign of life is nothing special.
	vibctl trunk sw0:2 "$local" "$peer" --interval 1000 --fabric $HERE
	wait_for 60 port2_is Init || fail "the trunk does not come up"
	say "fabric $HERE: a switch, an adapter, and a trunk from $local to $peer"
}

subnet() {
	if is_server; then opensm_up vib0; fi
	wait_for 120 port_is vib0 ACTIVE || fail "opensm leaves the adapter inactive"
	wait_for 120 port2_is Active || fail "opensm leaves the trunk inactive"
	barrier active
	if is_server; then
		say "opensm has brought up both machines; the subnet, as iblinkinfo sees it:"
		iblinkinfo -l | shows
	else
		say "this machine's half, as vibctl sees it:"
		vibctl show --fabric $HERE | shows
	fi
}

ipoib() {
	local own=$IB_A
	is_server || own=$IB_B
	modprobe ib_ipoib
	ip addr add $own/24 dev ib0
	ip link set ib0 up
	barrier ipoib
	is_client || return 0
	wait_for 60 ping -c 1 -W 1 $IB_A || fail "no ping"
	say "IPoIB from machine to machine:"
	ping -c 5 -i 0.2 -s 1900 $IB_A | shows
	pings 50 $IB_A -s 8000 || fail "pings in fragments are lost"
}

# Files that the client writes by NFS over RDMA are read back, and compared with what the
# server has in its file system.
nfs() {
	local A=$IB_A
	if is_server; then
		nfs_server_up
		say "server exports a tmpfs over RDMA"
	fi
	barrier serving
	if is_client; then
		load rpcrdma
		nfs_mount 4.2 /mnt/nfs
		python3 /ibex/tools/files.py write /mnt/nfs > /tmp/written
		sync
	fi
	barrier written
	if is_server; then
		python3 /ibex/tools/files.py sums /srv/nfs > /tmp/served
		cp /tmp/served /srv/nfs/served
	fi
	barrier served
	if is_client; then
		umount /mnt/nfs
		echo 3 > /proc/sys/vm/drop_caches
		nfs_mount 4.2 /mnt/nfs
		mv /mnt/nfs/served /tmp/served
		python3 /ibex/tools/files.py sums /mnt/nfs > /tmp/read
		cmp /tmp/written /tmp/read || fail "what is read back differs"
		cmp /tmp/written /tmp/served || fail "the server has other files"
		say "NFS over RDMA: $(wc -l < /tmp/read) files," \
			"$(awk '{ s += $2 } END { print s }' /tmp/read) bytes, equal at both machines"
		awk '/^device/ { dir = $5 }
			/xprt:.*rdma/ { print "  " dir " calls " $8 ", replies " $9 \
				", bytes written by RDMA " $16 ", read " $17 }' /proc/self/mountstats
		umount /mnt/nfs
	fi
	barrier unmounted
	if is_server; then nfs_server_down; fi
}

# meet PROGRAM: it listens on $PORT at this machine; the other goes on when it does
meet() {
	"$@" > /tmp/here 2>&1 &
	JOB=$!
	wait_for 60 listens_tcp || fail "$1 does not listen: $(cat /tmp/here)"
	barrier "$1"
}

# XRC from machine to machine. The programs tell each other their QPs over the Ethernet.
xrc() {
	PORT=7200
	if is_server; then
		meet ibv_xsrq_pingpong -d vib0 -p $PORT -n 20
		wait $JOB || fail "$(cat /tmp/here)"
	else
		barrier ibv_xsrq_pingpong
		timeout 200 stdbuf -oL ibv_xsrq_pingpong -d vib0 -p $PORT -n 20 $A \
			> /tmp/here 2>&1 || fail "ibv_xsrq_pingpong: $(cat /tmp/here)"
		say "XRC: ibv_xsrq_pingpong, 20 messages to and fro by SRQs:"
		shows < /tmp/here
	fi
	grep -q "^success" /tmp/here || fail "$(cat /tmp/here)"
	barrier pingpong
	[ "$IBEX_MODE" = ours ] || return 0
	domain
}

# What only our core can do: the QP that receives is its domain's. A process of the server has it
# made and is killed, and another goes on receiving through it what the client sends.
domain() {
	PORT=7201
	if is_client; then
		meet /ibex/bin/xrcrcv --sender vib0 $PORT
		wait $JOB || fail "$(cat /tmp/here)"
		return 0
	fi
	barrier /ibex/bin/xrcrcv
	# an empty line after each step
	/ibex/bin/xrcrcv vib0 $B:$PORT 100 <<< $'\n\n\n' > /tmp/here 2>&1 ||
		fail "$(cat /tmp/here)"
	say "XRC: who had the receive QP made is killed, the receiver goes on:"
	shows < /tmp/here
	grep -q "^lost 0 of 90" /tmp/here || fail "messages from the other machine are lost"
}

# A cable that is pulled at one machine is noticed at the other.
unplugged() {
	barrier plugged
	if is_server; then
		vibctl link sw0:2 down --fabric $HERE
		wait_for 10 port2_is Down || fail "a cut trunk stays up"
	else
		wait_for 20 port2_is Down || fail "the other end stays up"
		say "the server has pulled the cable; here:"
		vibctl show --fabric $HERE | grep trunk | shows
		! ping -c 1 -W 1 $IB_A > /dev/null || fail "pings go by another way"
	fi
	barrier pulled
	is_client || vibctl link sw0:2 up --fabric $HERE
	wait_for 120 port2_is Active || fail "the trunk does not come up again"
	barrier again
	is_client || return 0
	wait_for 60 ping -c 1 -W 1 $IB_A || fail "no ping after it"
	pings 20 $IB_A || fail "pings are lost after it"
	say "pushed in again: pings are answered"
}

# The two machines' network may lose something when it has too much to do, and nothing else
# may have gone wrong.
counters() {
	local name
	say "counters of the trunk:"
	vibctl trunk sw0:2 --fabric $HERE | grep -v ' 0$' | paste -sd, | sed 's/,/, /g' | shows
	for name in foreign malformed overruns no_memory; do
		[ "$(counter $name)" = 0 ] || fail "the trunk counts $(counter $name) $name"
	done
	[ "$(counter sent)" -gt 1000 ] || fail "the trunk was not used"
}

! is_both || fail "this scenario runs in two machines: --two"
say "$IBEX_ROLE: $(uname -r), core: $IBEX_MODE"
net_up
vib_load
record_core
join
subnet
ipoib
nfs
xrc
unplugged
barrier counted
counters
rmmod ib_ipoib
barrier end
if is_server; then opensm_down vib0; fi
vibctl down --fabric $HERE
rmmod vib
say "done"
