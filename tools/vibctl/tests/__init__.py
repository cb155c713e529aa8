# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests of vibctl: python3 -m unittest discover -s tools/vibctl -t tools/vibctl"""
