# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: random verbs, rings and rdma_cm of processes without privileges; words: [COUNT [SEED]]
# timeout: 900
. /ibex/lib/vib.sh
. /ibex/lib/user.sh
read -r total seed <<<"${IBEX_ARGS:-1000000}"
seed=${seed:-$RANDOM}
FUZZ_BOUND=800
PAIR_BOUND=90

# Some of what the processes had sent arrived, and some was refused.
completed() {
	local done errors
	read -r done errors < <(sed -n 's/.*completions: \([0-9]*\) of success, \([0-9]*\) errors/\1 \2/p' \
		/tmp/fuzzed)
	[ "$done" -gt $((total / 20000)) ] || fail "$done completions of success"
	[ "$errors" -gt $((total / 20000)) ] || fail "$errors completions with an error"
}

good_users() {
	say "good users still get through"
	cm rping "rping -s -a $A -p @ -C 5" "rping -c -a $A -I $B -p @ -C 5"
	next_port
	pair listens_tcp "ibv_rc_pingpong -d vib0 -p $PORT -n 50 -c" \
		"ibv_rc_pingpong -d vib1 -p $PORT -n 50 -c 127.0.0.1"
}

vib_up
load rdma_ucm
ulimit -l unlimited
record_core
subnet_up 2
core_resources vib0
ipoib_pair
# What is allocated once, at the first use, is no leak.
/ibex/bin/fuzz 4000 "$FUZZ_BOUND" "$seed" 65534 vib >/dev/null || fail "the fuzzer"
memory_mark
say "$total operations, seed $seed"
start=$(cut -d. -f1 /proc/uptime)
fuzzed "$total" 65534 "$seed" vib
say "$(($(cut -d. -f1 /proc/uptime) - start)) s"
completed
good_users
memory_check
rmmod ib_ipoib
no_resources
no_warning
opensm_down vib0
vib_down
