# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Processes that use RDMA, and the systemd units that they belong to."""
import collections

User = collections.namedtuple("User", "pid name unit files")


class Processes:
    """the processes of a host"""

    def __init__(self, host):
        self.host = host

    def all(self):
        """their ids"""
        return sorted(int(name) for name in self.host.list("/proc") if name.isdigit())

    def name(self, pid):
        """the name of its program"""
        return self.host.word("/proc/%s/comm" % pid) or "?"

    def unit(self, pid):
        """the systemd unit that it belongs to, or "" """
        for line in (self.host.read("/proc/%s/cgroup" % pid) or "").splitlines():
            path = line.split(":", 2)[-1]
            parts = [part for part in path.split("/")
                     if part.endswith((".service", ".scope"))]
            # cgroup v2, or the hierarchy of systemd in v1
            if parts and line.startswith(("0::", "1:name=systemd:")):
                return parts[0] if parts[0].startswith("user@") else parts[-1]
        return ""

    def opened(self, pid):
        """the files in /dev/infiniband that a process has open"""
        folder = "/proc/%s/fd/" % pid
        targets = [self.host.readlink(folder + fd) for fd in self.host.list(folder)]
        return sorted({t for t in targets if t.startswith("/dev/infiniband/")})

    def users(self, also=()):
        """the processes with a file of RDMA open, and those whose ids are in also"""
        found = []
        for pid in self.all():
            files = self.opened(pid)
            if files or pid in also:
                found.append(User(pid, self.name(pid), self.unit(pid), files))
        return found


def stoppable(unit):
    """
    Whether a unit can be stopped and started for a swap: a service of the system.  Not a
    session, in which someone is logged in, nor a user's manager.
    """
    return unit.endswith(".service") and not unit.startswith("user@")
