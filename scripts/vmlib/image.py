# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a machine boots from: a kernel and its modules, a root file system
(scripts/vmlib/vm-image), and an overlay with our modules."""
import glob
import os
import shutil
import subprocess
import tempfile

from . import archive
from .common import VM, build_id, die, digest, read

# The modules whose origin is checked, with either core.
CORE = ("ib_core", "ib_mad", "ib_cm", "iw_cm", "rdma_cm", "ib_uverbs",
        "ib_umad", "rdma_ucm")


class Image:
    """What the machines of one kernel boot from."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.kver = kernel.kver
        self.dir = kernel.image()
        if not self.dir:
            die("vm-image failed")

    def path(self, name):
        return os.path.join(self.dir, name)

    def overlay(self, modules):
        """cpio with our modules as updates/ and the indexes for modprobe"""
        key = digest(modules, read(self.path("key")))
        made = os.path.join(VM, "overlays", self.kver + "-" + key + ".cpio")
        if os.path.exists(made):
            os.utime(made)
            return made
        os.makedirs(os.path.dirname(made), exist_ok=True)
        new = "%s.%d" % (made, os.getpid())
        with open(new, "wb") as out:
            archive.write(out, self.laid_over(modules))
        os.rename(new, made)
        old = sorted(glob.glob(os.path.dirname(made) + "/*.cpio"),
                     key=os.path.getmtime)
        for path in old[:-8]:
            os.unlink(path)
        return made

    def laid_over(self, modules):
        """the files of an overlay: path in the guest -> (mode, bytes)"""
        rel = os.path.join("lib", "modules", self.kver)
        files = {}
        # on the file system of the image, for hard links
        with tempfile.TemporaryDirectory(dir=os.path.dirname(self.dir)) as tmp:
            subprocess.run(["cp", "-al", self.path("modules/lib"), tmp], check=True)
            updates = os.path.join(tmp, rel, "updates")
            os.mkdir(updates)
            for m in modules:
                subprocess.run(["objcopy", "--strip-debug", m,
                                os.path.join(updates, os.path.basename(m))], check=True)
            subprocess.run(["depmod", "-b", tmp, self.kver], check=True)
            for name in os.listdir(os.path.join(tmp, rel)):
                full = os.path.join(tmp, rel, name)
                if name.startswith("modules.") and os.path.isfile(full):
                    files[rel + "/" + name] = (0o644, read(full))
            for m in os.listdir(updates):
                files[rel + "/updates/" + m] = (0o644, read(os.path.join(updates, m)))
        return files

    def initrd(self, path, overlay, files, more=()):
        """write to path what a machine unpacks; more: names of the image's archives"""
        parts = [self.path("root.cpio"), self.path("modules.cpio"), overlay]
        parts += [self.path(name + ".cpio") for name in more]
        with open(path, "wb") as out:
            for part in parts:
                with open(part, "rb") as f:
                    shutil.copyfileobj(f, out, 1 << 20)
                out.write(b"\0" * (-out.tell() % 512))
            archive.write(out, files)

    def stock_ids(self):
        ids = {}
        for base, _, names in os.walk(self.path("modules")):
            for name in names:
                if name[:-3] in CORE:
                    ids[name[:-3]] = build_id(os.path.join(base, name))
        return ids
