# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: NFS over RDMA, v4.2 and v3: files written, read back and compared
# timeout: 240
. /ibex/lib/user.sh

show_state() {
	echo
	echo "Modules of the RDMA core in memory:"
	show_core
	echo "Devices:"
	rdma link | sed 's/^/  /'
	echo "Connections:"
	rdma res show cm_id 2>/dev/null | sed 's/^/  /' || echo "  (not available)"
	echo "Resources:"
	rdma res show 2>/dev/null | sed 's/^/  /' || echo "  (not available)"
	echo "Transport, by the client's own account:"
	awk '/^device/ { dir = $5 }
		/xprt:.*rdma/ { print "  " dir " calls " $8 ", replies " $9 ", connects " $5 \
			", bytes written by RDMA " $16 ", read " $17 }' /proc/self/mountstats
	echo "Counters:"
	(
		shopt -s nullglob
		cd /sys/class/infiniband
		grep -H '^[0-9]' ./*/ports/1/hw_counters/* ./*/ports/1/cm_*/* |
			awk -F: '$2 != 0 && $1 !~ /lifespan/ {
				n = split($1, p, "/")
				if (p[2] != dev) { dev = p[2]; printf "%s  %s", sep, dev; sep = "\n" }
				k = p[n]
				if (p[n - 1] ~ /^cm_/) k = p[n - 1] "." k
				printf " %s=%s", k, $2
			} END { print "" }'
	) || echo "  (none)"
	echo
}

# Runs userspace programs on the same devices while files are transferred.
beside_nfs() {
	local churn gid_a gid_b
	load ib_uverbs rdma_ucm
	ulimit -l unlimited
	gid_a=$(gid_index rxe_a $A)
	gid_b=$(gid_index rxe_b $B)
	say "rping and ib_send_bw beside the mount"
	python3 /ibex/tools/files.py churn /mnt/v4.2 5 >/tmp/churn 2>&1 &
	churn=$!
	next_port
	pair listens_cm "rping -s -a $A -p $PORT -C 5 -v" "rping -c -a $A -I $B -p $PORT -C 5 -v"
	grep '^ping data' /tmp/client | cut -c1-60 | sed 's/^/  /'
	next_port
	pair listens_tcp "ib_send_bw -d rxe_a -x $gid_a -p $PORT -F -n 200 -s 16384" \
		"ib_send_bw -d rxe_b -x $gid_b -p $PORT -F -n 200 -s 16384 $A"
	grep -A 1 '#bytes' /tmp/client | sed 's/^/  /'
	wait $churn || fail "I/O beside them: $(cat /tmp/churn)"
	say "NFS meanwhile: $(cat /tmp/churn)"
	rm -f /mnt/v4.2/churn-*
}

say "NFS over RDMA on $(uname -r), core: $IBEX_MODE"
rdma_up
say "two RDMA devices up, wire carries $(wire_bytes) bytes so far"
if is_server; then
	nfs_server_up
	say "server exports a tmpfs, listens on RDMA port 20049"
fi
barrier serving
if is_client; then
	load rpcrdma
	say "mounting and moving files"
	nfs_compare 4.2
	nfs_compare 3
	show_state
	if is_both; then beside_nfs; fi
	umount /mnt/v3 /mnt/v4.2
fi
barrier end
if is_server; then nfs_server_down; fi
say "done"
