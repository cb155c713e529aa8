# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The command vibctl: fabrics of vib, the InfiniBand fabric in software."""
