# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: libfabric: fi_pingpong by each type of endpoint that its verbs provider has
# timeout: 240
# image: mpi
. /ibex/lib/user.sh

# How many peers rxm makes its completion queues for; those for 256 are larger than rdma_rxe allows.
export FI_UNIVERSE_SIZE=8

# pingpong PROVIDER TYPE LARGEST [SUFFIX]: data of up to so many bytes is compared, and on the wire;
# SUFFIX is that of the domains
pingpong() {
	local before options
	options="-p $1 -e $2 -c -I 20"
	before=$(wire_bytes)
	next_port
	pair listens_tcp "fi_pingpong -B $PORT -d rxe_a${4-} $options" \
		"fi_pingpong -P $PORT -d rxe_b${4-} $options $A"
	pair_says client "^$3 +20 +=20 "
	pair_says server "^$3 +20 +=20 "
	before=$(($(wire_bytes) - before))
	say "$1, $2: $(tail -n 1 /tmp/client), $before bytes on the wire"
	[ $before -gt 100000 ] || fail "the data was not on the wire"
}

user_up
fi_info -p verbs > /run/out/fi_info || fail "fi_info: $(cat /run/out/fi_info)"
for domain in rxe_a rxe_b rxe_a-dgram rxe_b-dgram; do
	grep -qx "    domain: $domain" /run/out/fi_info ||
		{ cat /run/out/fi_info; fail "no domain $domain"; }
done
pingpong verbs msg 1m
pingpong 'verbs;ofi_rxm' rdm 1m
pingpong 'verbs;ofi_rxd' rdm 64k -dgram
pingpong verbs dgram 4k -dgram
user_down
