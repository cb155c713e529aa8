# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: a million malformed MADs at QP1 with active agents and a listener; words: [COUNT [SEED]]
# timeout: 600
. /ibex/lib/user.sh
read -r total seed <<<"${IBEX_ARGS:-1000000}"
seed=${seed:-$RANDOM}
PEERS=$(seq 16 31)	# madfuzz.h
SLAB_BOUND=32768	# kB more than before, at any time
SLAB_SLACK=4096		# in the end
# each received MAD is counted in exactly one of these
OUTCOMES="mad/recv_delivered mad/recv_unmatched mad/recv_no_agent mad/recv_overflow
mad/recv_smi_dropped mad/recv_forwarded mad/recv_provider mad/rmpp_segments
mad/rmpp_controls mad/rmpp_dropped"
PORT_DIR=/sys/class/infiniband/rxe_a/ports/1

# counters: prints "NAME VALUE" lines of all counters of the port
counters() {
	(
		cd $PORT_DIR || exit
		grep -s '' mad/* cm_[rt]x_*/* hw_counters/[!l]* || :
	) | tr : ' ' | sort
}

# counted NAME...: prints the sum by which these counters grew
counted() {
	awk -v names=" $* " 'index(names, " " $1 " ") { n += $2 } END { print n + 0 }' /tmp/grown
}

# said NAME: prints a value from the output of madfuzz flood
said() { sed -n "s/^$1=//p" /tmp/flood; }

slab() { awk '/^Slab:/ { print $2 }' /proc/meminfo; }

slab_back() {
	memory_free >/dev/null
	[ $(($(slab) - slab_before)) -le $SLAB_SLACK ]
}

is_both || fail "this scenario runs in one VM"
net_up
load rdma_rxe ib_umad
rxe_add rxe_a va
for i in $PEERS; do
	ip neigh replace "10.0.0.$i" dev va lladdr 02:00:00:00:00:02
done
ulp_up
# bound to the wildcard, so that every address of the device is reachable
ulp listen "0.0.0.0 7471"
wait_for 10 test -c /dev/infiniband/umad0 || fail "no /dev/infiniband/umad0"
record_core
dmesg -n 1
memory_mark
slab_before=$(slab)
counters >/tmp/before
/ibex/bin/madfuzz agents /dev/infiniband/umad0 >/tmp/agents 2>&1 &
agents=$!
wait_for 10 grep -q listening /tmp/agents || fail "no agents: $(cat /tmp/agents)"

say "$total MADs, seed $seed"
/ibex/bin/madfuzz flood vb "$total" "$seed" >/tmp/flood || {
	cat /tmp/flood
	fail "the flood"
}
grep -v = /tmp/flood
expected=$(said expected)
slab_more=$(($(said slab_max) - slab_before))
no_warning
kill $agents
wait $agents || fail "the agents ended with status $?"
grep : /tmp/agents
counters >/tmp/after
join /tmp/before /tmp/after | awk '$3 > $2 { print $1, $3 - $2 }' >/tmp/grown
awk '{ printf "  %-32s %8d\n", $1, $2 }' /tmp/grown
say "the ULP saw: $(ulp_show)"

if [ -e $PORT_DIR/mad/received ]; then
	arrived=$(counted mad/received mad/recv_malformed)
	# shellcheck disable=SC2086 # words
	sum=$(counted $OUTCOMES)
	[ "$sum" = "$(counted mad/received)" ] || fail "what became of them adds up to $sum"
else
	arrived=$(counted hw_counters/rcvd_pkts)
fi
say "$arrived of $expected arrived; slab at most $slab_more kB more than before"
[ $((arrived * 10)) -ge $((expected * 8)) ] || fail "too few arrived to mean anything"
[ $slab_more -le $SLAB_BOUND ] || fail "too much memory was held"

ulp_check duplicates=0 unexpected=0 removals=0
# some peers announced that they may take hours to respond, others completed a connection
ulp drop 1
wait_for 60 ulp_is live=0 || fail "$(ulp_get live) connections still live"
say "good peers still get through"
rxe_add rxe_b vb
ulp stats 0
ulp connect "$B $A 7471 50 8"
ulp_check completed=50 established=50
ulp_check_clean
python3 /ibex/tools/umad.py exchange || fail "no MAD gets through"
ulp_down
user_down
wait_for 20 slab_back || fail "slab: $slab_before kB before, $(slab) kB after"
memory_check
