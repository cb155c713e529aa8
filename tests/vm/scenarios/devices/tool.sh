# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: every command of rdma(8), and netlink requests that it does not make, on rxe
# timeout: 150
# stock-fails: it takes a device name with a slash, and one that is too long
# stock-fails-with: FAIL: nldev.py malformed .*2 not refused
#
# With --args show, prints the output of each command without the parts that differ from run
# to run, so that two runs can be compared; the important parts are asserted.
show=${IBEX_ARGS:-}

normal() {
	sed -E 's/"?(sq-psn|rq-psn|rkey|lkey|local_dma_lkey|mrn|cm-idn|pid|lqpn|rqpn|cntn|src-addr|dst-addr)"?:? ("?[0-9a-fx.:]+"?)/\1 N/g
		s/"?((rx|tx|sent|rcvd)_[a-z_]+|ack_deferred|rdma_sends|rdma_recvs)"?:? [0-9]+/\1 N/g'
}

# run COMMAND...: runs it, sets $out and $status
run() {
	status=0
	out=$("$@" 2>&1) || status=$?
	[ "$show" != show ] || printf '$ %s\n%s\n=> %s\n' "$*" "$out" "$status" | normal
}

# expect PATTERN ARGUMENT...: checks that rdma succeeds and prints PATTERN
expect() {
	local want=$1
	shift
	run rdma "$@"
	[ $status = 0 ] || fail "rdma $*: status $status: $out"
	grep -Eq -- "$want" <<<"$out" || fail "rdma $*: no '$want' in '$out'"
}

# refuse PATTERN ARGUMENT...: checks that rdma fails and prints PATTERN
refuse() {
	local want=$1
	shift
	run rdma "$@"
	[ $status != 0 ] || fail "rdma $* was not refused"
	grep -Eq -- "$want" <<<"$out" || fail "rdma $*: no '$want' in '$out'"
}

# lines N ARGUMENT...: checks that rdma prints N lines
lines() {
	local n
	n=$1
	shift
	run rdma "$@"
	[ $status = 0 ] || fail "rdma $*: status $status: $out"
	[ "$(grep -c . <<<"$out")" = "$n" ] || fail "rdma $*: not $n lines but '$out'"
}

# json EXPRESSION ARGUMENT...: checks EXPRESSION for rdma's JSON output, which is d
json() {
	local expr=$1
	shift
	run rdma -j "$@"
	[ $status = 0 ] || fail "rdma -j $*: status $status: $out"
	python3 -c "import json, sys; d = json.load(sys.stdin); sys.exit(not ($expr))" \
		<<<"$out" || fail "rdma -j $*: not $expr: $out"
}

# nldev STATUS PATTERN ARGUMENT...: checks the exit status and output of nldev.py
nldev() {
	local code=$1 want=$2
	shift 2
	run python3 /ibex/tools/nldev.py "$@"
	[ "$status" = "$code" ] || fail "nldev.py $*: status $status: $out"
	grep -Eq -- "$want" <<<"$out" || fail "nldev.py $*: no '$want' in '$out'"
}

devices() {
	say "devices"
	expect '^[0-9]+: rxe_a: node_type ca node_guid [0-9a-f:]{19} sys_image_guid' dev
	lines 2 dev show
	lines 1 dev show rxe_a
	expect 'adaptive-moderation (on|off)' -d dev show rxe_a
	expect 'caps: <BAD_PKEY_CNTR' -d dev
	json 'len(d) == 2 and {"ifindex", "ifname", "node_type", "node_guid", "sys_image_guid"} <= set(d[0])' dev
	json '"caps" in d[0]' -d dev show rxe_b
	refuse 'Wrong device name' dev show nosuch
	expect '' dev set rxe_a name rxe_z
	[ -e /sys/class/infiniband/rxe_z/node_guid ] || fail "sysfs has not the new name"
	expect 'rxe_z:' dev show rxe_z
	refuse 'File exists' dev set rxe_z name rxe_b
	refuse 'Invalid argument' dev set rxe_z name ''
	expect '' dev set rxe_z name rxe_z
	expect '' dev set rxe_z name rxe_a
	expect '' dev set rxe_a adaptive-moderation on
	expect 'adaptive-moderation on' -d dev show rxe_a
	expect '' dev set rxe_a adaptive-moderation off
	expect 'adaptive-moderation off' -d dev show rxe_a
}

links() {
	say "links"
	expect '^link rxe_a/1 state ACTIVE physical_state LINK_UP netdev va' link
	lines 1 link show rxe_a/1
	expect 'netdev_index' -d link
	json 'd[0]["port"] == 1 and d[0]["state"] == "ACTIVE" and d[0]["netdev"] == "vb"' \
		link show rxe_b/1
	refuse . link show rxe_a/2
	refuse 'Wrong device name' link show nosuch/1
	refuse 'File exists' link add rxe_c type rxe netdev va
	refuse . link add rxe_a type rxe netdev lo
	refuse 'Invalid argument' link add rxe_c type nosuch netdev lo
	refuse 'No such device' link add rxe_c type rxe netdev nosuch
	refuse 'Invalid argument' link add rxe%d type rxe netdev lo
	expect '' link add rxe_l type rxe netdev lo
	expect 'rxe_l/1 .* netdev lo' link show rxe_l/1
	expect '' link delete rxe_l
	refuse 'Wrong device name' link delete rxe_l
	lines 2 link
}

resources() {
	local kind
	say "resources"
	ulp listen "$A 7471"
	ulp hold 1
	ulp connect "$B $A 7471 2 1"
	ulp hold 0
	expect 'rxe_a: pd [1-9][0-9]* cq [1-9][0-9]* qp 3 cm_id 3 mr 0 ctx 0 srq 0' res
	lines 1 res show rxe_a
	json '{"pd", "cq", "qp", "cm_id", "mr", "ctx", "srq"} <= set(d[0])' res show rxe_b
	for kind in qp cm_id cq mr pd ctx srq; do
		for flags in '' -d -dd -j -jd -jdd -jp; do
			# shellcheck disable=SC2086 # none, or one
			expect '' $flags res show $kind
		done
		refuse . res show $kind dev nosuch
	done
	expect 'rxe_a/1 lqpn [0-9]+ rqpn [0-9]+ type RC state RTS rq-psn [0-9]+ sq-psn [0-9]+ path-mig-state MIGRATED comm \[rdma_cm\]' res show qp
	expect 'rxe_a/1 lqpn 1 type GSI state RTS sq-psn [0-9]+ comm \[ib_' res show qp
	expect 'cm-idn [0-9]+ state LISTEN ps TCP comm \[ibex_ulp\] src-addr 10.0.0.1:7471' res show cm_id
	expect 'lqpn [0-9]+ qp-type RC state CONNECT ps TCP comm \[ibex_ulp\] src-addr 10.0.0.1:7471 dst-addr 10.0.0.2:' res show cm_id
	expect 'cqn [0-9]+ cqe [0-9]+ users [0-9]+ poll-ctx (DIRECT|SOFTIRQ) adaptive-moderation off comm \[ibex_ulp\]' res show cq
	expect 'pdn [0-9]+ local_dma_lkey 0x[0-9a-f]+ users 1 comm \[ibex_ulp\]' res show pd
	json 'set(d[0]) == {"ifindex", "ifname", "port", "lqpn", "rqpn", "type", "state", "rq-psn", "sq-psn", "path-mig-state", "comm"}' res show qp
	lines 3 res show qp link rxe_a
	lines 3 res show qp link rxe_a/1
	lines 2 res show qp link rxe_a type RC
	lines 2 res show qp link rxe_a state RTS type RC
	lines 1 res show qp link rxe_a lqpn 1
	lines 1 res show qp link rxe_a/1 lqpn 1
	lines 0 res show qp link rxe_a lqpn 4242
	lines 1 res show cm_id link rxe_a/1 state LISTEN
	lines 3 res show cm_id link rxe_a/1 ps TCP
	lines 1 res show cm_id link rxe_a/1 cm-idn 0
	lines 1 res show pd dev rxe_a pdn 0
	lines 1 res show cq dev rxe_a cqn 0
	lines 0 res show cq dev rxe_a cqn 99
	lines 0 res show mr dev rxe_a mrn 0
	refuse . res show qp link rxe_a bogus 1
	# rxe has no raw form of any resource
	refuse . -r res show qp
}

statistics() {
	say "statistics"
	expect '^link rxe_a/1 sent_pkts [1-9].* rdma_sends [0-9]+ rdma_recvs' statistic
	lines 2 statistic show link
	lines 1 statistic show link rxe_a/1
	json 'd[0]["port"] == 1 and d[0]["sent_pkts"] > 0 and "link_downed" in d[0]' \
		statistic show link rxe_b/1
	refuse . statistic show link rxe_a/2
	lines 0 statistic qp show
	expect 'rxe_a/1 mode qp auto off' statistic qp mode
	expect 'mode qp auto off' statistic qp mode link rxe_a/1
	expect '' statistic qp set link rxe_a/1 auto off
	refuse . statistic qp set link rxe_a/1 auto bogus on
	# rxe has no counters to bind, nor optional ones
	refuse . statistic qp bind link rxe_a/1 lqpn 1
	refuse . statistic qp unbind link rxe_a/1 cntn 1 lqpn 1
	lines 0 statistic mode
	lines 0 statistic mode supported
	json 'd == []' statistic mode supported
	refuse 'not supported' statistic set link rxe_a/1 optional-counters sent_pkts
	expect '' statistic unset link rxe_a/1 optional-counters
	lines 0 statistic mr
}

system() {
	say "system"
	expect 'netns shared copy-on-fork on' system
	expect 'netns shared' system show netns
	refuse 'valid options' system set netns bogus
	expect '' system set netns exclusive
	expect 'netns exclusive' system
	ip netns add n1
	[ -z "$(ip netns exec n1 rdma dev)" ] || fail "a namespace sees others' devices"
	# rxe cannot leave the namespace of its netdev
	refuse 'not supported' dev set rxe_a netns n1
	refuse 'Cannot open network namespace' dev set rxe_a netns nosuch
	run ip netns exec n1 rdma system set netns shared
	[ $status != 0 ] || fail "a namespace rules the host"
	ip netns del n1
	wait_for 10 rdma system set netns shared || fail "never shared again"
	ip netns add n1
	run ip netns exec n1 rdma link
	[ "$(grep -c . <<<"$out")" = 2 ] || fail "a namespace does not share: $out"
	! grep -q netdev <<<"$out" || fail "a namespace is told of others' netdevs"
	ip netns exec n1 ls /sys/class/infiniband | grep -qx rxe_a || fail "no compat device"
	ip netns del n1

	nldev 0 '^netns=1$' sys
	nldev 0 '^copy-on-fork=1$' sys
	nldev 0 '^monitor=1$' sys
	nldev 0 '^privileged-qkey=0$' sys
	nldev 0 '' set privileged-qkey 1
	nldev 0 '^privileged-qkey=1$' sys
	nldev 22 EINVAL set privileged-qkey 2
	nldev 0 '^privileged-qkey=1$' sys
	nldev 0 '' set privileged-qkey 0
	nldev 22 EINVAL set monitor 0
}

by_hand() {
	local index
	say "by hand"
	index=$(rdma dev show rxe_a | cut -d: -f1)
	nldev 0 'not refused' malformed "$index"
	nldev 95 SUP newdev "$index" smi
	nldev 95 SUP deldev "$index"
	[ ! -e /sys/class/infiniband_verbs/uverbs0 ] ||
		nldev 0 '^uverbs[0-9]+ [0-9]+:[0-9]+ abi 2 driver 14$' chardev uverbs "$index"

	python3 /ibex/tools/nldev.py monitor 60 >/tmp/events &
	local job=$!
	wait_for 10 grep -q listening /tmp/events || fail "no monitor"
	rdma link add rxe_l type rxe netdev lo
	ip link add va.5 link va type vlan id 5
	rdma link delete rxe_l
	wait_for 10 grep -q '^unregister rxe_l' /tmp/events || :
	kill $job
	cat /tmp/events
	cat >/tmp/want <<-END
		listening
		register rxe_l
		netdev-attach rxe_l port 1 netdev lo
		unregister rxe_l
	END
	grep -v detach /tmp/events | cmp - /tmp/want || fail "not those events"
	ip link del va.5
}

# an unprivileged user may read, but not change anything
unprivileged() {
	say "unprivileged"
	local cmd
	nobody() {
		run setpriv --reuid 65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"
	}
	for cmd in dev link 'res show' '-dd res show qp' system statistic 'statistic qp mode'; do
		# shellcheck disable=SC2086 # words
		nobody rdma $cmd
		[ $status = 0 ] || fail "rdma $cmd: refused to a user: $out"
	done
	nobody rdma res show pd
	! grep -q lkey <<<"$out" || fail "a user is told keys: $out"
	for cmd in 'dev set rxe_a name x' 'link add rxe_c type rxe netdev lo' 'link del rxe_a' \
		'system set netns exclusive' 'statistic qp set link rxe_a/1 auto off' \
		'dev set rxe_a adaptive-moderation on' '-r res show qp'; do
		# shellcheck disable=SC2086 # words
		nobody rdma $cmd
		[ $status != 0 ] || fail "rdma $cmd: not refused to a user"
		grep -q 'not permitted' <<<"$out" || fail "rdma $cmd: $out"
	done
	nobody python3 /ibex/tools/nldev.py set privileged-qkey 1
	[ $status = 1 ] || fail "privileged-qkey: $out"
}

is_both || fail "this scenario runs in one VM"
rdma_up
ulp_up
load 8021q
devices
links
resources
statistics
by_hand
unprivileged
ulp drop 1
wait_for 20 ulp_is live=0 || fail "$(ulp_get live) connections still live"
ulp_down
system
printf 'dev show rxe_a\nlink show rxe_a/1\nsystem show\n' >/tmp/batch
lines 3 -b /tmp/batch
no_resources
