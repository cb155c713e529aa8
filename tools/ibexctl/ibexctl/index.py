# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
What depmod makes of a kernel's modules, prepared before it is needed: depmod reads every module,
which takes ten seconds or more, and RDMA is to be away for less.
"""
STAGE = "/var/lib/ibex/index"
TREE = STAGE + "/lib/modules/"
CONFIG = STAGE + "/depmod.d"
# as depmod.d(5) has them: a file hides those of the same name in the following
FOLDERS = ("/etc/depmod.d", "/run/depmod.d", "/usr/local/lib/depmod.d", "/lib/depmod.d")
# what the kernel's package has in the folder; all other files there are depmod's
GIVEN = ("modules.order", "modules.builtin", "modules.builtin.modinfo")


class Index:
    """the files of one kernel; they may be prepared again and again"""

    def __init__(self, host):
        self.host = host
        self.real = "/lib/modules/%s/" % host.kver
        self.staged = TREE + host.kver + "/"

    def prepare(self, name, text):
        """as if the file /etc/depmod.d/NAME had this text, or were not there if it is None"""
        self.drop()
        self.host.makedirs(self.staged)
        self.host.makedirs(CONFIG)
        for entry in self.host.list(self.real):
            if entry in GIVEN or self.host.is_dir(self.real + entry):
                self.host.symlink(self.staged + entry, self.real + entry)
        if text is not None:
            self.host.save(CONFIG + "/" + name, text)
        for folder in FOLDERS:
            for entry in self.host.list(folder):
                if entry != name and entry.endswith(".conf") and \
                        not self.host.exists(CONFIG + "/" + entry):
                    self.host.symlink(CONFIG + "/" + entry, folder + "/" + entry)
        self.host.must("depmod", "-a", "-b", self.host.path(STAGE), "-C",
                       self.host.path(CONFIG), self.host.kver, timeout=600)

    def commit(self):
        """put what was prepared in place of what is there"""
        for entry in self.host.list(self.staged):
            if not self.host.readlink(self.staged + entry):
                self.host.save(self.real + entry, self.host.read_bytes(self.staged + entry))

    def drop(self):
        """forget what was prepared"""
        self.host.remove_tree(STAGE)
