# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
Targets of the kernel that listen over RDMA: ports of nvmet, and portals of LIO's iSCSI targets.
Both are configured in configfs and need no unit.  Only their listening ends for a swap: the rest
of their configuration stays, whoever made it.
"""
from .state import insist

NVMET = "/sys/kernel/config/nvmet/"
ISCSI = "/sys/kernel/config/target/iscsi/"


def enable(portal):
    """the attribute of its group"""
    return portal.rsplit("/np/", 1)[0] + "/enable"


class Targets:
    """finds them, and stops and starts their listening"""

    def __init__(self, host):
        self.host = host

    # --- ports of nvmet ------------------------------------------------------------------
    @staticmethod
    def links(port):
        """the folder with a link to each subsystem of a port"""
        return "%sports/%s/subsystems" % (NVMET, port)

    def nvmet(self):
        """{port: its subsystems} of those that listen over RDMA: a port without one does not"""
        found = {}
        for port in self.host.list(NVMET + "ports"):
            subsystems = self.host.list(self.links(port))
            if subsystems and self.host.word(
                    "%sports/%s/addr_trtype" % (NVMET, port)) == "rdma":
                found[port] = subsystems
        return found

    def stop_nvmet(self, entry):
        """the last link takes the port down; hosts try to connect again"""
        for name in entry["subsystems"]:
            self.host.unlink("%s/%s" % (self.links(entry["name"]), name))

    def start_nvmet(self, entry):
        """the first link needs the address of the port"""
        for name in entry["subsystems"]:
            path = "%s/%s" % (self.links(entry["name"]), name)
            if not self.host.exists(path):
                insist(self.host, lambda path=path, name=name: self.host.symlink(
                    path, NVMET + "subsystems/" + name))

    # --- portals of LIO ------------------------------------------------------------------
    def iser(self):
        """the folders of portals with iSER"""
        return [path[:-len("/iser")]
                for path in (self.host.walk(ISCSI) if self.host.is_dir(ISCSI) else ())
                if path.endswith("/iser") and self.host.word(path) == "1"]

    def stop_iser(self, entry):
        """
        Sessions outlive their portal, and end with all of its group when that is disabled;
        initiators log in again.
        """
        self.change(enable(entry["name"]), "0")
        self.change(entry["name"] + "/iser", "0")
        self.change(enable(entry["name"]), entry["enabled"])

    def start_iser(self, entry):
        """it needs the address of the portal"""
        insist(self.host, lambda: self.change(entry["name"] + "/iser", "1"))
        self.change(enable(entry["name"]), entry["enabled"])

    def change(self, path, value):
        """an attribute; to disable what is disabled, for example, is refused"""
        if self.host.word(path) != value:
            self.host.write(path, value + "\n")

    # --- both ----------------------------------------------------------------------------
    def record(self, kind, name):
        """what start() needs besides"""
        if kind == "nvmet":
            return {"subsystems": self.host.list(self.links(name))}
        return {"enabled": self.host.word(enable(name))}

    def stop(self, entry):
        """end the listening, and all that is connected"""
        getattr(self, "stop_" + entry["kind"])(entry)

    def start(self, entry):
        """listen again"""
        getattr(self, "start_" + entry["kind"])(entry)
