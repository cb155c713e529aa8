# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: ibexctl: status, check, swap of the core under links, kill -9 and recover, verify, report
# timeout: 600
# image: siw
. /ibex/lib/user.sh
DEVICES='rxe_a rxe_b siw_a siw_b'
JOURNAL=/var/lib/ibex/swap.json
TOS=/sys/kernel/config/rdma_cm/rxe_a/ports/1/default_roce_tos

ibexctl() { /ibex/ibexctl/bin/ibexctl "$@"; }

# answers STATUS COMMAND...: checks the exit status, sets $out
answers() {
	local want=$1 status=0
	shift
	out=$("$@" 2>&1) || status=$?
	[ $status = "$want" ] || fail "$*: status $status, not $want: $out"
}

# prints PATTERN: the last command has printed it
prints() { grep -Eq -- "$1" <<<"$out" || fail "no '$1' in: $out"; }

# siw is not in Debian's kernel: it becomes a module that modprobe finds.
siw_installed() {
	mkdir -p "/lib/modules/$(uname -r)/extra"
	cp /ibex/siw/*.ko "/lib/modules/$(uname -r)/extra/"
	depmod
}

links_up() {
	# as a package does it when it is installed
	python3 -m compileall -q /ibex/ibexctl/ibexctl
	user_up
	siw_installed
	load siw configfs
	rdma link add siw_a type siw netdev va
	rdma link add siw_b type siw netdev vb
	mountpoint -q /sys/kernel/config || mount -t configfs configfs /sys/kernel/config
	mkdir /sys/kernel/config/rdma_cm/rxe_a
	echo 32 >$TOS
}

# core_is CORE: all modules in memory are of that core, by their build ids (not by ibexctl)
core_is() {
	local dir m modules=()
	dir=/lib/modules/$(uname -r)
	case $1 in
	ibex) dir+=/updates ;;
	stock) dir+=/kernel/drivers/infiniband/core ;;
	esac
	for m in $CORE_MODULES; do
		[ "$m" != ib_mad ] || [ "$1" != stock ] || continue
		loaded "$m" || fail "$m is not loaded"
		modules+=("$m")
	done
	[ "$1" = ibex ] || ! loaded ib_mad || fail "ib_mad is loaded beside the stock core"
	python3 -S - "$dir" "${modules[@]}" <<-'END' || fail "not the $1 core"
		import sys
		for name in sys.argv[2:]:
		    note = open("/sys/module/%s/notes/.note.gnu.build-id" % name, "rb").read()
		    if len(note) != 36 or note not in open("%s/%s.ko" % (sys.argv[1], name), "rb").read():
		        sys.exit(name + " in memory is not that in " + sys.argv[1])
	END
}

# host_is CORE: this core, all links, the setting, and no trace of a swap
host_is() {
	local dev
	core_is "$1"
	for dev in $DEVICES; do
		[ -e "/sys/class/infiniband/$dev" ] || fail "the link $dev is not there"
		wait_for 10 grep -q ACTIVE "/sys/class/infiniband/$dev/ports/1/state" ||
			fail "$dev is not active"
	done
	for dev in rxe_b siw_b; do
		rdma link show $dev/1 | grep -q 'netdev vb' || fail "$dev is not on vb"
	done
	[ "$(cat $TOS)" = 32 ] || fail "the setting of rxe_a is $(cat $TOS)"
	[ ! -e $JOURNAL ] || fail "there is a journal"
}

ping_once() {
	wait_for 10 gid_index rxe_a $A || fail "no GID of $A"
	wait_for 10 gid_index rxe_b $B || fail "no GID of $B"
	cm "  rping on the $1 core" "rping -s -a $A -p @ -C 3 -v -V" "rping -c -a $A -I $B -p @ -C 3 -v -V"
	[ "$(grep -c '^ping data: rdma-ping-' /tmp/client)" = 3 ] || pair_failed "not 3 pings"
}

swapped() {
	answers 0 ibexctl swap "$1"
	prints "^the $1 core is loaded; RDMA was away for [0-9.]+ s"
	say "swap $1: $(tail -n 1 <<<"$out")"
	host_is "$1"
	record_core
	ping_once "$1"
}

verified() {
	answers 0 ibexctl verify
	prints "^ok +ib_core +$1, /lib/modules"
	prints '^ok +rdma_rxe +[0-9]+ symbols of the core'
	say "verify: $(grep -c '^ok' <<<"$out") modules of and on the $1 core are as they must be"
}

statuses() {
	answers 0 ibexctl status
	prints '^in memory  ibex, since 20'
	prints '^would load ibex, installed: stock ibex'
	prints '^  ib_mad +loaded, ibex, the same file +/lib/modules/.*/updates/ib_mad.ko [0-9.]+ srcversion [0-9A-F]+ taint OE'
	prints '^device     rxe_a, rxe, netdev va, port 1 ACTIVE'
	prints '^device     siw_b, siw, netdev vb, port 1 ACTIVE'
	ibexctl status -j | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["memory"] == d["next"] == d["choice"] == "ibex", d
assert {m["name"] for m in d["modules"] if m["same"]} == set(sys.argv[1:]), d["modules"]
assert [x["name"] for x in d["devices"]] == ["rxe_a", "rxe_b", "siw_a", "siw_b"], d
assert not d["interrupted"] and not d["users"], d' $CORE_MODULES || fail "status -j"
	say "status: the core, its files, and four devices, also as JSON"
}

checks() {
	local job
	answers 0 ibexctl check
	prints '^nothing stands in the way'
	rping -s -a $A -p 7700 >/dev/null 2>&1 &
	job=$!
	PORT=7700
	wait_for 15 listens_cm || fail "rping does not listen"
	answers 1 ibexctl check
	prints "^process $job \\(rping\\) has .*/dev/infiniband/rdma_cm.*; what to do: kill $job\$"
	say "check: names $(head -n 1 <<<"$out")"
	answers 0 ibexctl status
	prints "^user       rping \\($job\\): .*cm_id"
	answers 1 ibexctl swap stock --stop
	prints "in the way:"
	prints "process $job \\(rping\\)"
	host_is ibex
	say "swap: refused meanwhile, nothing has changed"
	kill $job
	wait $job || :
	answers 0 ibexctl check
	say "check: nothing after rping has ended"
}

refusals() {
	answers 2 ibexctl
	answers 2 ibexctl swap
	answers 2 ibexctl swap mofed
	answers 2 ibexctl nosuch
	answers 2 ibexctl report --seconds x
	answers 1 setpriv --reuid 65534 --clear-groups /ibex/ibexctl/bin/ibexctl status
	prints '^ibexctl: only root may do this$'
	: >/tmp/there
	answers 1 ibexctl report -o /tmp/there
	prints 'is there already$'
	[ ! -s /tmp/there ] || fail "report has written over a file"
	(
		flock 9
		answers 1 ibexctl swap stock
		prints '^ibexctl: another ibexctl is changing the core$'
	) 9>/run/ibexctl.lock
	say "bad commands, no root, a second swap: refused"
}

# The commands that a swap uses, of which the one named in /run/shim/kill kills ibexctl when it
# is called for the Nth time, and goes on by itself.
shims() {
	local name
	mkdir -p /run/shim
	for name in rdma rmmod depmod modprobe; do
		cat >/run/shim/$name <<-END
			#!/bin/bash
			# of rdma, the changes of links
			[ "$name" = rdma ] && [ "\$1" != link ] || echo >>/run/shim/count.$name
			n=\$(busybox wc -l 2>/dev/null </run/shim/count.$name)
			[ "$name:\$n" != "\$(cat /run/shim/kill)" ] || kill -9 \$PPID
			exec $(command -v $name) "\$@"
		END
		chmod 755 /run/shim/$name
	done
}

# killed TO COMMAND:N STEP: a swap dies at the Nth call of COMMAND, in this step, and recover
# brings back the core that there was
killed() {
	local to=$1 when=$2 step=$3 was=ibex
	[ "$to" = stock ] || was=stock
	rm -f /run/shim/count.*
	echo "$when" >/run/shim/kill
	answers 137 env PATH="/run/shim:$PATH" /ibex/ibexctl/bin/ibexctl swap "$to"
	grep -q "\"step\": \"$step\"" $JOURNAL ||
		fail "killed at $when, but the journal says $(grep '"step"' $JOURNAL)"
	wait_for 20 flock -n /run/ibexctl.lock true || fail "the lock stays"
	answers 0 ibexctl recover
	prints "^the swap from $was to $to was interrupted at the step $step\$"
	prints "^the host has the $was core, as before"
	host_is "$was"
	say "kill -9 of swap $to at $when (step $step): recover goes back to $was"
}

kills() {
	shims
	killed stock rdma:3 links
	killed stock rmmod:4 unload
	killed stock depmod:2 prepare
	killed stock modprobe:4 load
	ping_once ibex
	# a swap at the next start goes back first
	rm -f /run/shim/count.*
	echo rmmod:2 >/run/shim/kill
	answers 137 env PATH="/run/shim:$PATH" /ibex/ibexctl/bin/ibexctl swap stock
	wait_for 20 flock -n /run/ibexctl.lock true || fail "the lock stays"
	answers 0 ibexctl status
	prints '^A swap was interrupted at the step unload: run ibexctl recover'
	answers 0 ibexctl swap stock
	prints '^a swap was interrupted: going back first'
	host_is stock
	say "swap after a kill -9: goes back, then changes the core"
	killed ibex modprobe:2 load
	killed ibex rdma:7 make
	ping_once stock
	answers 0 ibexctl recover
	prints '^no swap was interrupted'
}

# A swap that fails, since the other core is not whole: the former one comes back.
fails_back() {
	local file
	file=/lib/modules/$(uname -r)/updates/rdma_ucm.ko
	mv "$file" /tmp/
	answers 1 ibexctl swap ibex
	prints '^ibexctl: the ibex core is not installed'
	host_is stock
	python3 - /tmp/rdma_ucm.ko "$file" <<-'END'
		import sys
		data = open(sys.argv[1], "rb").read()
		# the kernel's release does not count where symbols have versions
		broken = data.replace(b" mod_unload ", b" mod_unloaX ")
		assert broken != data
		open(sys.argv[2], "wb").write(broken)
	END
	answers 1 ibexctl swap ibex
	prints '^ibexctl: modprobe rdma_ucm: .*; the host has the stock core, as before'
	host_is stock
	cp /tmp/rdma_ucm.ko "$file"
	say "swap to a core that does not load: the host is as before"
}

# What modprobe would load is another core: verify must see it.
differs() {
	local conf=/etc/depmod.d/ibex.conf
	echo "override ib_umad * kernel/drivers/infiniband/core" >$conf
	depmod
	answers 1 ibexctl verify
	prints '^DIFFERS +ib_umad +is not /lib/modules/.*/kernel/'
	[ "$(grep -c '^DIFFERS' <<<"$out")" = 1 ] || fail "not one difference: $out"
	rm $conf
	depmod
	say "verify: finds the one module whose file is not the one in memory"
}

reports() {
	rm -rf /tmp/report*
	answers 0 ibexctl report --seconds 1 -o /tmp/report.tar.gz
	[ "$(stat -c %a /tmp/report.tar.gz)" = 600 ] || fail "others can read the report"
	mkdir /tmp/report
	tar -C /tmp/report -xzf /tmp/report.tar.gz
	for out in uname cmdline status.json dmesg rdma/link rdma/resource-qp trace \
		parameters/ib_core counters/rxe_a debugfs/ib_cm debugfs/rdma_cm; do
		[ -s "/tmp/report/report/$out" ] || fail "the report has no $out: $(find /tmp/report)"
	done
	! grep -rE '10\.0\.0\.[12]|0000:00ff:fe00:000|02:00:00:00:00' /tmp/report ||
		fail "the report has addresses"
	answers 0 ibexctl report --addresses --seconds 0 -o /tmp/report2.tar.gz
	tar -xzOf /tmp/report2.tar.gz | grep -q '0000:00ff:fe00:0001' ||
		fail "--addresses has none"
	[ -z "$(ls /sys/kernel/debug/tracing/instances)" ] || fail "a trace instance is left"
	say "report: $(find /tmp/report -type f | wc -l) files, no addresses; --addresses: with them"
}

links_up
if [ "$IBEX_MODE" = stock ]; then
	answers 0 ibexctl status
	prints '^in memory  stock'
	answers 1 ibexctl swap ibex
	prints '^ibexctl: the ibex core is not installed'
	host_is stock
	verified stock
	return 0
fi
statuses
checks
refusals
verified ibex
swapped stock
verified stock
swapped ibex
verified ibex
kills
fails_back
swapped ibex
differs
verified ibex
reports
host_is ibex
