# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""ibexctl(8): the RDMA core of a running host."""
