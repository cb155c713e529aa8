# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: vib: vibctl makes nets from files and shapes; ibnetdiscover sees what was asked for
# timeout: 300
. /ibex/lib/vib.sh

# The records of a topology, in an order and without what is not the same each time
records() { grep -v '^#' "$1" | sed 's/[ \t]\+/ /g; s/ $//' | sort; }

# as_asked COMMAND...: brings a net up and compares
as_asked() {
	local ports device
	say "$*"
	vibctl "$@" || fail "vibctl $*"
	ports=(/sys/class/infiniband/*/ports/*)
	device=$(cd /sys/class/infiniband && echo vib* | cut -d ' ' -f 1)
	wait_for 20 ports_are INIT ${#ports[@]} || fail "ports do not come up"
	opensm_up "$device"
	wait_for 90 ports_are ACTIVE ${#ports[@]} || fail "opensm leaves ports inactive"
	wait_for 30 is_mapped || {
		diff /run/shown /run/seen | head -n 40
		fail "ibnetdiscover does not see the net that vibctl shows"
	}
	opensm_down "$device"
	vibctl show > "/run/out/show-${2##*/}"
}

# The nodes: how many ports each has, and its description, or else its ID
of_file() {
	sed -nE -e 's/^(Switch|Hca|Ca)\s+([0-9]+).*# "([^"]*)".*/\2 \3/p; t' \
		-e 's/^(Switch|Hca|Ca)\s+([0-9]+)\s+"([^"]*)".*/\2 \3/p' "$1" | sort
}

is_mapped() {
	vibctl show --ibnet > /run/out/shown
	ibnetdiscover > /run/out/seen
	records /run/out/shown > /run/shown
	records /run/out/seen > /run/seen
	cmp /run/shown /run/seen
}

vib_up
record_core
rmdir $FABRIC
for net in /ibex/nets/*; do
	as_asked up "$net"
	[ "$(of_file "$net")" = "$(of_file /run/out/seen)" ] ||
		fail "the net is not the one in the file"
	vibctl down
done
as_asked up --fat-tree 4
vibctl down
as_asked up --chain 5
vibctl down

say "what is malformed"
printf 'Switch 2 "s"\n[3] "c"[1]\n' > /run/bad
status=0
vibctl up /run/bad 2> /run/out/bad || status=$?
[ $status = 2 ] || fail "status $status"
grep -q '^vibctl: /run/bad:2: ' /run/out/bad || fail "$(cat /run/out/bad)"
[ ! -e $FABRIC ] || fail "something was made"
rmmod vib
