# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: RMPP transfers both ways, one segment to 2 MiB, also over a lossy wire
# timeout: 240
# stock-fails: two transfers of 2 MiB each way at once are not over in a minute
# stock-fails-with: FAIL: ibex_mad: 
. /ibex/lib/user.sh
. /ibex/lib/mad.sh
get_multi=20
may_fail=

# transfer COUNT WINDOW SIZE REPLY
transfer() {
	ulp stats 0
	ulp size "$3"
	ulp reply "$4"
	mad_order run "$1" "$2"
	mad_check_whole
	ulp_check posted="$1" succeeded="$1" responses="$1"
	# the last ACK can be lost, and the agent that would resend it is deregistered
	ulp_check_clean "$may_fail"
	say "agents, $1 of $3 bytes for $4: $(ulp_get run_us) us, $(ulp_get retries) retries"
}

# wire TC-WORDS...
wire() {
	local dev
	say "the wire: $*"
	for dev in va vb; do
		tc qdisc replace dev $dev root netem "$@"
	done
}

clean_wire() {
	tc qdisc del dev va root
	tc qdisc del dev vb root
}

mad_up
load ib_umad sch_netem
# for the in-tree core this is the time of a whole response
mad_set rmpp=1 timeout_ms=60000
transfer 100 16 16 0
transfer 100 16 216 220
transfer 100 16 220 216
transfer 20 8 20000 0
transfer 4 2 300000 16
transfer 4 2 16 300000
transfer 2 2 2097152 0
mad_set rmpp=1 timeout_ms=60000 method=$get_multi
say "both sides of a transfer in several segments (GetMulti)"
transfer 20 8 2000 20000
transfer 2 2 300000 300000
umad_pair ask 50 8 12 20000
umad_pair ask 50 8 20000 12
umad_pair ask 10 4 300000 0
umad_pair ask 1 1 2097152 2097152
umad_pair segments 220 220
umad_pair segments 100000 50000

may_fail=answers_failed
mad_set rmpp=1 retries=20
for what in "loss 4%" "duplicate 30%" "delay 4ms 2ms reorder 60% 50%" \
	"loss 2% duplicate 10% delay 2ms 1ms reorder 50%"; do
	# shellcheck disable=SC2086 # words
	wire $what
	transfer 16 8 20000 0
	transfer 2 2 16 200000
	umad_pair ask 4 4 20000 20000
	clean_wire
done
may_fail=
transfer 10 4 20000 0
mad_down
