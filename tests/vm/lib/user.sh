# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Functions for userspace scenarios: pairs of programs, a server on rxe_a and a client on
# rxe_b, each with a time bound and judged by its exit status.

A6=fd00::1
B6=fd00::2
PAIR_BOUND=30
FUZZ_BOUND=300
pair_port=9000

# user_up: both devices and all modules that userspace needs
user_up() {
	is_both || fail "this scenario runs in one VM"
	rdma_up
	load ib_uverbs rdma_ucm ib_umad
	wait_for 10 test -c /dev/infiniband/rdma_cm || fail "no /dev/infiniband/rdma_cm"
	wait_for 10 test -c /dev/infiniband/uverbs1 || fail "no /dev/infiniband/uverbs1"
	ulimit -l unlimited
	record_core
}

# The rules of net_rules for IPv6, and below for multicast.
user_net6() {
	ip -6 -batch - <<-END
		$(net_rules_of 1 va vb $A6 $B6 100 101)
		rule add pref 32000 lookup local
		rule del pref 0
		addr add $A6/64 dev va nodad
		addr add $B6/64 dev vb nodad
		route add $B6/128 dev va src $A6 table 100
		route add $A6/128 dev vb src $B6 table 101
		neigh replace $B6 dev va lladdr 02:00:00:00:00:02
		neigh replace $A6 dev vb lladdr 02:00:00:00:00:01
	END
}

user_multicast() {
	ip -batch - <<-END
		rule add pref 16 to 239.0.0.0/8 oif va lookup 100
		rule add pref 17 to 239.0.0.0/8 oif vb lookup 101
		route add 239.0.0.0/8 dev va src $A table 100
		route add 239.0.0.0/8 dev vb src $B table 101
	END
}

# gid_index DEVICE ADDRESS: prints the index of the RoCE v2 GID of this IPv4 address
gid_index() {
	local dir=/sys/class/infiniband/$1/ports/1 gid i
	gid=$(echo "$2" | awk -F. '{ printf "ffff:%02x%02x:%02x%02x", $1, $2, $3, $4 }')
	for i in $(seq 0 15); do
		if grep -q "$gid" "$dir/gids/$i" && grep -q v2 "$dir/gid_attrs/types/$i"; then
			echo "$i"
			return 0
		fi
	done
	return 1
}

# next_port: sets PORT to an unused port, so that no program waits for a lingering one
next_port() {
	pair_port=$((pair_port + 1))
	PORT=$pair_port
}

listens_tcp() {
	grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$PORT") [0-9A-F:]* 0A" \
		/proc/net/tcp /proc/net/tcp6
}

listens_udp() {
	grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$PORT") " /proc/net/udp /proc/net/udp6
}

listens_cm() { rdma res show cm_id | grep -q "LISTEN.*:$PORT "; }

# pair READY SERVER CLIENT: runs two commands, given as strings, which use $PORT; the client
# starts once the command READY succeeds. Output goes to /tmp/server and /tmp/client. If
# PAIR_ENDLESS is set, the server does not end by itself and is killed.
pair() {
	local job status=0 server_status=0
	# shellcheck disable=SC2086 # words
	timeout -k 2 $((PAIR_BOUND * IBEX_SLOW)) $2 >/tmp/server 2>&1 &
	job=$!
	wait_for 15 "$1" || pair_failed "'$2' does not listen"
	# shellcheck disable=SC2086 # words
	timeout -k 2 $((PAIR_BOUND * IBEX_SLOW)) $3 >/tmp/client 2>&1 || status=$?
	[ -z "${PAIR_ENDLESS-}" ] || kill $job || :
	wait $job || server_status=$?
	[ $status = 0 ] || pair_failed "'$3' ended with status $status"
	[ $server_status = 0 ] || [ -n "${PAIR_ENDLESS-}" ] || pair_failed "'$2' ended with status $server_status"
}

pair_failed() {
	echo "--- server"
	tail -n 20 /tmp/server 2>/dev/null || :
	echo "--- client"
	tail -n 20 /tmp/client 2>/dev/null || :
	fail "$1"
}

# cm NAME SERVER CLIENT: a pair that listens by rdma_cm; $PORT replaces @ in both commands
cm() {
	next_port
	pair listens_cm "${2//@/$PORT}" "${3//@/$PORT}"
	say "$1"
}

# pair_says FILE TEXT: checks that the server or client has printed TEXT (an expression)
pair_says() {
	grep -Eq -- "$2" "/tmp/$1" || pair_failed "the $1 did not print '$2'"
}

# perftest_shows NAME: prints what its client measured, from the line of size, iterations, ...
perftest_shows() {
	local what
	what=$(grep -E "^ *[0-9]+ +[0-9]+ +[0-9.]+ +[0-9.]+" /tmp/client) ||
		pair_failed "$1: no figures"
	case $1 in
	*_bw*) echo "$what" | awk -v n="$1" '
		{ printf "  %-20s %8s B %10.2f MB/s\n", n, $1, $4 }' ;;
	*) echo "$what" | awk -v n="$1" '
		{ printf "  %-20s %8s B %10.2f us typical\n", n, $1, $5 }' ;;
	esac
}

# no_warning: checks the kernel's taint, since a warning in the log may have been lost
no_warning() {
	local taint
	taint=$(cat /proc/sys/kernel/tainted)
	# 128: died, 512: warned, 16384: soft lockup
	[ $((taint & (128 | 512 | 16384))) = 0 ] || fail "the kernel has warned: taint $taint"
}

# user_down: checks that nothing is in use, unloads everything, checks that nothing is left
user_down() {
	local m
	no_warning
	no_resources
	for m in rxe_a rxe_b; do
		[ ! -e /sys/class/infiniband/$m ] || rdma link delete $m
	done
	for m in rdma_rxe rdma_ucm rdma_cm iw_cm ib_umad ib_uverbs ib_cm ib_mad ib_core; do
		[ -e "/sys/module/$m/initstate" ] || continue
		wait_for 10 unused $m || fail "$m: $(cat "/sys/module/$m/refcnt") references"
		rmmod "$m" || fail "rmmod $m"
	done
	[ ! -e /dev/infiniband ] || fail "/dev/infiniband is left"
	! grep -E '^(ib_|rdma_|rxe)' /proc/slabinfo || fail "slab caches left"
	no_warning
}

unused() { [ "$(cat "/sys/module/$1/refcnt")" = 0 ]; }

# memory_mark ... memory_check: checks that no memory was leaked in between. The slack, in kB,
# is for memory that a machine keeps once it has been used
MEMORY_SLACK=32768

memory_free() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemAvailable:/ { print $2 }' /proc/meminfo
}

memory_mark() { memory_before=$(memory_free); }

memory_check() {
	local lost=0
	# RCU and the per-CPU lists free some memory late
	for _ in $(seq 20); do
		lost=$((memory_before - $(memory_free)))
		[ $lost -gt $MEMORY_SLACK ] || break
		busybox usleep 200000
	done
	say "memory: $lost kB less than before"
	[ $lost -le $MEMORY_SLACK ] || fail "$lost kB are gone"
}

# fuzzed COUNT USER SEED [vib]: runs the fuzzer. Some operations on each file must be accepted,
# or no code behind the first check is reached; usually a twentieth to a fifth are. On umad, which
# only root may open, none of another user may be accepted.
fuzzed() {
	local files=5
	[ -z "${4-}" ] || files=6
	# shellcheck disable=SC2086 # no word, or one
	/ibex/bin/fuzz "$1" "$FUZZ_BOUND" "$3" "$2" ${4-} >/tmp/fuzzed || {
		cat /tmp/fuzzed
		fail "the fuzzer, as user $2"
	}
	cat /tmp/fuzzed
	awk -v user="$2" -v files=$files '
		/ operations, / {
			n++
			denied = user != 0 && $1 == "umad"
			if (denied ? $(NF - 4) > 0 : $(NF - 4) * 50 < $(NF - 6)) bad = 1
		}
		END { exit bad || n != files }' /tmp/fuzzed || fail "not so many accepted, as user $2"
	no_warning
}
