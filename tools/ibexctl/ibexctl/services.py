# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Mounts, targets and units that are stopped for a swap, and started again after it."""
from .targets import Targets

# in this order: the server of a mount may be a target or a unit here
KINDS = ("mount", "iser", "nvmet", "unit")


class Services:
    """stops and starts them; each may be in that state already"""

    def __init__(self, host):
        self.host = host
        self.targets = Targets(host)

    def record(self, obstacles):
        """what to stop, in that order"""
        found = []
        for one in obstacles:
            entry = {"kind": one.kind, "name": one.name}
            if one.kind == "mount":
                entry.update(self.mounted(one.name) or {})
            elif one.kind != "unit":
                entry.update(self.targets.record(one.kind, one.name))
            if entry not in found:
                found.append(entry)
        return sorted(found, key=lambda entry: KINDS.index(entry["kind"]))

    def mounted(self, where):
        """what is mounted there last, or None"""
        found = None
        for mount in self.host.mounts():
            if mount.where == where:
                found = {"source": mount.source, "type": mount.type, "options": mount.options}
        return found

    def stop(self, entries):
        """all of them"""
        for entry in entries:
            if entry["kind"] == "unit":
                self.host.must("systemctl", "stop", entry["name"], timeout=300)
            elif entry["kind"] != "mount":
                self.targets.stop(entry)
            elif self.mounted(entry["name"]):
                self.host.must("umount", entry["name"], timeout=300)

    def start(self, entries):
        """all of them, the last one stopped first"""
        for entry in reversed(entries):
            if entry["kind"] == "unit":
                self.host.must("systemctl", "start", entry["name"], timeout=300)
            elif entry["kind"] != "mount":
                self.targets.start(entry)
            elif not self.mounted(entry["name"]):
                # as fstab says, else as the kernel said
                if self.host.run("mount", entry["name"], timeout=300).status:
                    self.host.must("mount", "-t", entry["type"], "-o", entry["options"],
                                   entry["source"], entry["name"], timeout=300)
