# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# about: rdma link delete under a live NFS mount with I/O in flight, both sides
# timeout: 150
remove_begin
say "deleting the client's link under I/O"
remove_while_busy "rdma link delete rxe_b" rxe_b
remove_recover rxe_b vb
say "deleting the server's link under I/O"
remove_while_busy "rdma link delete rxe_a" rxe_a
remove_recover rxe_a va
remove_end
