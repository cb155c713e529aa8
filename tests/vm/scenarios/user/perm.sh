# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: what an unprivileged user may not do: modes, CAP_NET_RAW, memory, others' files
# timeout: 90
. /ibex/lib/user.sh
user_up

mode() {
	local got
	got=$(stat -c %a:%u "$1") || fail "no $1"
	[ "$got" = "$2:0" ] || fail "$1 has mode $got, not $2:0"
}
for i in 0 1; do
	mode /dev/infiniband/uverbs$i 666
	mode /dev/infiniband/umad$i 600
done
mode /dev/infiniband/rdma_cm 666
say "modes are right"

# expect FILE NAME VALUE...
expect() {
	local file=$1
	shift
	while [ $# -gt 0 ]; do
		grep -qx "$1 $2" "$file" || { cat "$file"; fail "${file##*/}: $1 is not $2"; }
		shift 2
	done
}

# rxe has no raw QPs, but the permission check must come first
/ibex/bin/perm 0 >/tmp/root || { cat /tmp/root; fail "perm as root"; }
/ibex/bin/perm 65534 >/tmp/nobody || { cat /tmp/nobody; fail "perm as nobody"; }
say "name root nobody"
join <(sort /tmp/root) <(sort /tmp/nobody) | sed 's/^/  /'
expect /tmp/root open-uverbs ok open-rdma_cm ok open-umad ok \
	raw-packet EOPNOTSUPP smi EINVAL qkey ok privileged-qkey ok small-mr ok large-mr ok \
	port ok low-port ok their-uverbs ok their-rdma_cm ok
expect /tmp/nobody open-uverbs ok open-rdma_cm ok open-umad EACCES \
	raw-packet EPERM smi EINVAL qkey ok privileged-qkey EPERM small-mr ok large-mr ENOMEM \
	port ok low-port EACCES their-uverbs EACCES their-rdma_cm EACCES

as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
refused() {
	! as_nobody "$@" >/tmp/refused 2>&1 || fail "nobody may: $*"
	grep -qi "not permitted\|denied" /tmp/refused || fail "$*: $(cat /tmp/refused)"
}
refused rdma link delete rxe_a
refused rdma link add rxe_c type rxe netdev va
refused rdma dev set rxe_a name rxe_c
refused rdma system set netns exclusive
as_nobody rdma link | grep -q rxe_b || fail "nobody may not list the links"
as_nobody rdma res show >/dev/null || fail "nobody may not list resources"

say "and what is allowed works"
chmod 777 /tmp
next_port
pair listens_cm "setpriv --reuid 65534 --regid 65534 --clear-groups rping -s -a $A -p $PORT -C 5" \
	"setpriv --reuid 65534 --regid 65534 --clear-groups rping -c -a $A -I $B -p $PORT -C 5 -v"
[ "$(grep -c '^ping data: rdma-ping-' /tmp/client)" = 5 ] || pair_failed "not 5 pings"
no_resources
