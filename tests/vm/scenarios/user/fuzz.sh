# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: a million random operations on uverbs, rdma_cm and umad; words: [COUNT [SEED]]
# timeout: 400
. /ibex/lib/user.sh
read -r total seed <<<"${IBEX_ARGS:-1000000}"
seed=${seed:-$RANDOM}

# fuzzed COUNT USER: runs the fuzzer. Some operations on each file must be accepted, or no code
# behind the first check is reached; usually a twentieth to a fifth are. On umad, which only
# root may open, none of another user may be accepted.
fuzzed() {
	/ibex/bin/fuzz "$1" 300 "$seed" "$2" >/tmp/fuzzed || {
		cat /tmp/fuzzed
		fail "the fuzzer, as user $2"
	}
	cat /tmp/fuzzed
	awk -v user="$2" '
		/ operations, / {
			n++
			denied = user != 0 && $1 == "umad"
			if (denied ? $(NF - 4) > 0 : $(NF - 4) * 50 < $(NF - 6)) bad = 1
		}
		END { exit bad || n != 5 }' /tmp/fuzzed || fail "not so many accepted, as user $2"
	no_warning
	no_resources
}

user_up
user_net6
user_multicast
# the driver logs each refusal, and the serial line is slow
dmesg -n 1
memory_mark
say "$total operations, seed $seed"
fuzzed $((total / 4 * 3)) 0
fuzzed $((total / 4)) 65534
say "a good user still gets through"
next_port
pair listens_cm "rping -s -a $A -p $PORT -C 5" "rping -c -a $A -I $B -p $PORT -C 5"
user_down
memory_check
