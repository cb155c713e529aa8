# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: librdmacm's programs: rping v4 and v6, ucmatose, udaddy, mckey, rsockets, cmtime
# timeout: 150
. /ibex/lib/user.sh
GROUP=239.1.1.1
user_up
user_net6
user_multicast
wait_for 10 gid_index rxe_a $A || fail "no GID of $A"

cm "rping, IPv4" "rping -s -a $A -p @ -C 10 -v -V -S 1000" \
	"rping -c -a $A -I $B -p @ -C 10 -v -V -S 1000"
[ "$(grep -c '^ping data: rdma-ping-' /tmp/client)" = 10 ] || pair_failed "not 10 pings"
[ "$(grep -c 'ping data: rdma-ping-' /tmp/server)" = 10 ] || pair_failed "not 10 answers"
wait_for 10 grep -q "fd00:0000:0000:0000:0000:0000:0000:0001" -r \
	/sys/class/infiniband/rxe_a/ports/1/gids || fail "no GID of $A6"
cm "rping, IPv6" "rping -s -a $A6 -p @ -C 10 -v -V" "rping -c -a $A6 -I $B6 -p @ -C 10 -v -V"
[ "$(grep -c '^ping data: rdma-ping-' /tmp/client)" = 10 ] || pair_failed "not 10 pings"
if [ "$IBEX_MODE" != stock ]; then
	for a in 127.0.0.1 ::1; do
		cm "rping, to $a" "rping -s -a $a -p @ -C 10 -v -V" \
			"rping -c -a $a -p @ -C 10 -v -V"
		[ "$(grep -c '^ping data: rdma-ping-' /tmp/client)" = 10 ] ||
			pair_failed "not 10 pings"
	done
fi
cm "ucmatose, 20 connections" "ucmatose -b $A -p @ -c 20 -C 5 -S 512" \
	"ucmatose -s $A -b $B -p @ -c 20 -C 5 -S 512"
pair_says client "return status 0"
pair_says server "return status 0"
cm "ucmatose, migrating its ids" "ucmatose -b $A -p @ -c 4 -C 5 -m" \
	"ucmatose -s $A -b $B -p @ -c 4 -C 5 -m"
pair_says client "return status 0"
PORT=7174	# udaddy cannot use another port
pair listens_cm "udaddy -b $A -c 4 -C 5" "udaddy -s $A -b $B -c 4 -C 5"
say "udaddy"
pair_says client "data transfers complete"
pair_says client "return status 0"
pair_says server "return status 0"
cm "rdma_server, rdma_client" "rdma_server -s $A -p @" "rdma_client -s $A -p @"
pair_says client "rdma_client: end 0"
pair_says server "rdma_server: end 0"
cm "rdma_xserver, rdma_xclient (RC)" "rdma_xserver -p @ -c r" "rdma_xclient -s $A -p @ -c r"
pair_says client "end 0"
cm "rstream" "rstream -b $A -p @ -S 4096 -I 5 -C 10 -T r" \
	"rstream -s $A -b $B -p @ -S 4096 -I 5 -C 10 -T r"
tail -n 1 /tmp/client | sed 's/^/  /'
# not -T a: the server's close can overtake the client's last poll
cm "rstream, blocking, verifying" "rstream -b $A -p @ -S 4096 -I 5 -C 10 -T b -T v" \
	"rstream -s $A -b $B -p @ -S 4096 -I 5 -C 10 -T b -T v"
cm "riostream" "riostream -b $A -p @ -S 4096 -I 5 -C 10" \
	"riostream -s $A -b $B -p @ -S 4096 -I 5 -C 10"

say "udpong"
next_port
timeout -k 2 $((PAIR_BOUND * IBEX_SLOW)) udpong -b $A -p $PORT >/tmp/server 2>&1 &
server=$!
wait_for 15 listens_udp || pair_failed "udpong does not listen"
if timeout -k 2 $((PAIR_BOUND * IBEX_SLOW)) udpong -s $A -p $PORT -C 10 -S 1000 >/tmp/client 2>&1; then
	tail -n 1 /tmp/client | sed 's/^/  /'
else
	# datagrams of rsockets fail here on RoCE, with either core
	pair_says client "rconnect: No such file or directory"
	say "  its connect: No such file or directory, as ever"
fi
kill $server 2>/dev/null || :
wait $server || :
PAIR_ENDLESS=1 cm "cmtime" "cmtime -b $A -p @ -c 100" "cmtime -s $A -b $B -p @ -c 100"
sed -n '/^step/,$ s/^/  /p' /tmp/client
awk '/^connect / { printf "  %d connects a second\n", 100 * 1000 / $3 }' /tmp/client
say "mckey"
timeout -k 2 $((PAIR_BOUND * IBEX_SLOW)) stdbuf -oL mckey -m $GROUP -b $A -C 5 >/tmp/server 2>&1 &
server=$!
wait_for 15 grep -q "joined dgid" /tmp/server || pair_failed "mckey did not join"
# The sender does not wait for its sends, of which rdma_rxe drops those that are left when it exits:
# those of its first QPs have time while it posts to the others.
for n in $(seq 20); do
	timeout -k 2 $((PAIR_BOUND * IBEX_SLOW)) mckey -s -m $GROUP -b $B -c 8 -C 50 >/tmp/client 2>&1 ||
		pair_failed "mckey's sender"
	pair_says client "return status 0"
	kill -0 $server 2>/dev/null || break
done
wait $server || pair_failed "mckey's receiver"
pair_says server "return status 0"
say "  received after $n runs of the sender"
user_down
