# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests of ibexctl: python3 -m unittest discover -s tools/ibexctl -t tools/ibexctl"""
