# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: iWARP's port mapper: iwpmd maps, is asked by peers, restarts, hangs, dies
# timeout: 180
# image: siw
# stock-fails: it tells a daemon that starts again of ports that were given back
# stock-fails-with: FAIL: told anew: [0-9]+ ports mapped|^TIMEOUT after
. /ibex/lib/iwarp.sh

LOG=/tmp/syslog

daemon_up() {
	iwpmd
	wait_for 10 pidof iwpmd || fail "iwpmd does not start: $(cat $LOG)"
	wait_for 10 udp_bound || fail "iwpmd is not bound"
}

# the protocol's port, 3935 in hex, on all addresses
udp_bound() { grep -q ' 00000000:0F5F ' /proc/net/udp; }

daemon_kill() {
	busybox killall -KILL iwpmd
	wait_for 10 gone || fail "iwpmd is still there"
}

gone() { ! pidof iwpmd; }

# Prints the mappings of the daemon, one "ADDRESS:PORT ADDRESS:PORT" per line, ours and the
# mapped one. The daemon writes them to its log, with a delay: its first list is complete
# when the second one begins.
mappings() {
	local from n
	from=$(($(wc -l <$LOG) + 1))
	for n in 1 2; do
		kill -USR1 "$(pidof iwpmd)"
		wait_for 10 dumped $n || return
	done
	tail -n "+$from" $LOG | awk '
		/print_iwpm_mapped_ports/ { n++ }
		n != 1 { next }
		/Local address/ { sub(/.*IPV[46] /, ""); sub(/\(.*/, ""); own = $0 }
		/Mapped address/ { sub(/.*IPV[46] /, ""); sub(/\(.*/, ""); print own, $0 }'
}

dumped() { [ "$(tail -n "+$from" $LOG | grep -c print_iwpm_mapped_ports)" -ge "$1" ]; }

is_mapped() { mappings | grep -qx "$1 $1"; }

mapped_num() { [ "$(mappings | wc -l)" = "$1" ]; }

# expect_mapped NUMBER WHEN
expect_mapped() {
	wait_for 10 mapped_num "$1" || {
		tail -n 20 $LOG
		fail "$2: $(mappings | wc -l) ports mapped, not $1"
	}
	say "$2: $1 ports mapped"
}

# connect_some NUMBER: makes that many more connections and keeps them open
connect_some() {
	ulp connect "$B $A $listening $1 4"
	established=$((established + $1))
	ulp_check established=$established
}

busybox syslogd -n -O $LOG &
syslogd=$!
wait_for 10 test -S /dev/log || fail "no syslogd"
siw_up
ulp_up
established=0
ulp hold 1

say "a listener of before the daemon"
listening=7470
ulp listen "$A $listening"
connect_some 2
daemon_up
connect_some 5
expect_mapped 5 "connections to a port that is not mapped"

say "a mapped listener"
listening=7471
ulp listen off
ulp listen "$A $listening"
expect_mapped 6 "a listener"
is_mapped "$A:$listening" || fail "the listener's port does not stand for itself"
connect_some 20
expect_mapped 26 "connections to a mapped port"
cm "rping beside it, IPv4" "rping -s -a $A -p @ -C 3 -v" "rping -c -a $A -I $B -p @ -C 3 -v"
cm "rping beside it, IPv6" "rping -s -a $A6 -p @ -C 3 -v" "rping -c -a $A6 -I $B6 -p @ -C 3 -v"
cm "rping beside it, any address" "rping -s -p @ -C 3 -v" "rping -c -a $A -I $B -p @ -C 3 -v"
expect_mapped 26 "their ports given back"

say "the daemon dies and starts again"
daemon_kill
connect_some 3
daemon_up
expect_mapped 26 "told anew"
is_mapped "$A:$listening" || fail "the listener's mapping is lost"
connect_some 2
expect_mapped 28 "connections to the new daemon"

say "the daemon hangs"
kill -STOP "$(pidof iwpmd)"
start=$(cut -d. -f1 /proc/uptime)
connect_some 4
took=$(($(cut -d. -f1 /proc/uptime) - start))
say "4 connects took $took s"
[ $took -lt 15 ] || fail "connects wait for a daemon that hangs"
kill -CONT "$(pidof iwpmd)"
expect_mapped 28 "what it was asked meanwhile is undone"
connect_some 1
expect_mapped 29 "it is asked again"

say "the daemon dies while it is asked"
kill -STOP "$(pidof iwpmd)"
ulp connect "$B $A $listening 4 4" &
connecting=$!
busybox usleep 500000
daemon_kill
wait $connecting
established=$((established + 4))
ulp_check established=$established live=$((2 * established))

say "everything is given back"
daemon_up
expect_mapped 29 "told anew"
ulp drop 1
wait_for 20 ulp_is live=0 || fail "$(ulp_get live) connections still live"
expect_mapped 1 "connections gone"
ulp listen off
expect_mapped 0 "the listener gone"
ulp_check_clean
ulp_down
# the daemon's socket holds a reference on ib_core
daemon_kill
siw_down
kill $syslogd
say "done"
