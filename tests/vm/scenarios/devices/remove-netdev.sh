# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: the netdev deleted under a live NFS mount with I/O in flight
# timeout: 150
# stock-fails: the in-tree core loses the DISCONNECTED event when the DREQ cannot be sent
# stock-fails-with: FAIL: 'ip link delete vb' still blocks|unregister_netdevice: waiting for v
remove_begin
say "deleting the netdev (both ends of the pair) under I/O"
remove_while_busy "ip link delete vb" "rxe_a rxe_b"
say "putting the wire and the devices back"
net_pair
remove_recover rxe_a va rxe_b vb
remove_end
