# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
The host: its files, below a root directory, and its commands.  All that ibexctl knows of the
system and does to it goes through here, so that tests can put another system in its place.
"""
import collections
import contextlib
import json
import os
import re
import shutil
import subprocess
import time

# the package of Debian that has a command
PACKAGES = {"rdma": "iproute2", "ip": "iproute2", "modprobe": "kmod", "rmmod": "kmod",
            "depmod": "kmod", "modinfo": "kmod", "zstd": "zstd", "dmesg": "util-linux"}

# commands that end by themselves, and so may keep the lock of a swap that has died
KEEPERS = ("rmmod", "modprobe", "depmod", "rdma", "ip")

Mount = collections.namedtuple("Mount", "source where type options")


class Result(collections.namedtuple("Result", "status out err")):
    """what a command has left"""

    def trouble(self):
        """why it has failed, in one line"""
        return (self.err.strip().splitlines() or ["status %d" % self.status])[-1]


class Failed(Exception):
    """something that the host refused, or that is not as it must be"""


class Missing(Failed):
    """a command that is not installed"""


@contextlib.contextmanager
def refusals(path):
    """what the system refuses about a file is a failure, in one line"""
    try:
        yield
    except OSError as error:
        raise Failed("%s: %s" % (path, error.strerror)) from None


class Host:
    """a system whose files are below root"""

    def __init__(self, root="/"):
        self.root = root.rstrip("/")
        # descriptors that KEEPERS keep open
        self.kept = ()

    def path(self, path):
        """where a file of the system is"""
        return self.root + path

    @property
    def kver(self):
        """the running kernel's release"""
        return (self.read("/proc/sys/kernel/osrelease") or os.uname().release).strip()

    @property
    def boot_id(self):
        """differs for each boot"""
        return (self.read("/proc/sys/kernel/random/boot_id") or "").strip()

    # --- reading: what is not there, or cannot be read, is None or empty -----------------
    def read(self, path):
        """the text of a file"""
        data = self.read_bytes(path)
        return None if data is None else data.decode(errors="replace")

    def read_bytes(self, path):
        """the bytes of a file"""
        try:
            with open(self.path(path), "rb") as file:
                return file.read()
        except OSError:
            return None

    def word(self, path):
        """the text of a file without the space around it; "" if there is none"""
        return (self.read(path) or "").strip()

    def list(self, path):
        """the names in a directory"""
        try:
            return sorted(os.listdir(self.path(path)))
        except OSError:
            return []

    def exists(self, path):
        """also of a link whose target is not there"""
        return os.path.lexists(self.path(path))

    def is_dir(self, path):
        """whether there is a directory"""
        return os.path.isdir(self.path(path))

    def readlink(self, path):
        """the target of a link"""
        try:
            return os.readlink(self.path(path))
        except OSError:
            return ""

    def base(self, path):
        """the last part of the target of a link"""
        return os.path.basename(self.readlink(path))

    def mtime(self, path):
        """seconds since 1970"""
        try:
            return os.stat(self.path(path)).st_mtime
        except OSError:
            return None

    def walk(self, path):
        """paths of all files below a directory, which may be a link, not through links in it"""
        for base, folders, names in os.walk(self.path(path)):
            folders.sort()
            for name in sorted(names):
                yield os.path.join(base, name)[len(self.root):]

    def mounts(self):
        """what is mounted, in that order"""
        for line in (self.read("/proc/self/mounts") or "").splitlines():
            fields = line.split()
            if len(fields) >= 4:
                # the kernel writes a space, for example, in octal
                fields[1] = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[1])
                yield Mount(*fields[:4])

    # --- changing ------------------------------------------------------------------------
    def write(self, path, text):
        """set an attribute of the kernel"""
        with refusals(path), open(self.path(path), "w", encoding="utf-8") as file:
            file.write(text)

    def mkdir(self, path):
        """a directory, of configfs for example; it may be there already"""
        with refusals(path), contextlib.suppress(FileExistsError):
            os.mkdir(self.path(path))

    def rmdir(self, path):
        """remove a directory, which may be gone already"""
        with refusals(path), contextlib.suppress(FileNotFoundError):
            os.rmdir(self.path(path))

    def makedirs(self, path):
        """a directory and those above it"""
        with refusals(path):
            os.makedirs(self.path(path), exist_ok=True)

    def symlink(self, path, target):
        """a symbolic link to another path of this host"""
        with refusals(path):
            os.symlink(self.path(target), self.path(path))

    def unlink(self, path):
        """remove a link of configfs, which may be gone already and cannot be synced"""
        with refusals(path), contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(path))

    def remove_tree(self, path):
        """a directory with all that is in it, which may be gone already"""
        with refusals(path), contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.path(path))

    def save(self, path, data):
        """write a file so that after a crash it is either the old or the new one, whole"""
        full = self.path(path)
        with refusals(path):
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full + ".new", "wb") as file:
                file.write(data if isinstance(data, bytes) else data.encode())
                file.flush()
                os.fsync(file.fileno())
            os.rename(full + ".new", full)
            self.sync_folder(full)

    def remove(self, path):
        """delete a file, which may be gone already, so that it does not come back"""
        full = self.path(path)
        with refusals(path), contextlib.suppress(FileNotFoundError):
            os.unlink(full)
            self.sync_folder(full)

    @staticmethod
    def sync_folder(full):
        """write the entry of a file to the disk"""
        fd = os.open(os.path.dirname(full), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    # --- commands ------------------------------------------------------------------------
    def run(self, *argv, timeout=120):
        """run a command; its status, output and errors"""
        try:
            done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=timeout, check=False,
                                  pass_fds=self.kept if argv[0] in KEEPERS else (),
                                  start_new_session=True,
                                  env={**os.environ, "LC_ALL": "C"})
        except FileNotFoundError:
            package = PACKAGES.get(argv[0])
            raise Missing("the command %s is missing%s" % (
                argv[0], package and ": install " + package or "")) from None
        except OSError as error:
            raise Failed("%s: %s" % (argv[0], error.strerror)) from None
        except subprocess.TimeoutExpired:
            raise Failed("%s: has not ended after %d s" % (" ".join(argv), timeout)) from None
        return Result(done.returncode, done.stdout.decode(errors="replace"),
                      done.stderr.decode(errors="replace"))

    def unzstd(self, path):
        """the bytes of a file that is compressed with zstd"""
        try:
            return subprocess.run(["zstd", "-dcq", self.path(path)], stdin=subprocess.DEVNULL,
                                  capture_output=True, check=True).stdout
        except FileNotFoundError:
            raise Missing("the command zstd is missing: install zstd") from None
        except subprocess.CalledProcessError:
            raise Failed("%s: is damaged" % path) from None

    def must(self, *argv, timeout=120):
        """the output of a command that has to succeed"""
        done = self.run(*argv, timeout=timeout)
        if done.status:
            raise Failed("%s: %s" % (" ".join(argv), done.trouble()))
        return done.out

    def json(self, *argv):
        """the list that a command of iproute2 prints; empty if it fails or prints nothing"""
        done = self.run(*argv)
        try:
            found = json.loads(done.out) if not done.status and done.out.strip() else []
        except ValueError:
            found = []
        return found if isinstance(found, list) else [found]

    def is_root(self):
        """whether all of this is allowed"""
        return os.geteuid() == 0

    def sleep(self, seconds):
        """wait"""
        time.sleep(seconds)

    def now(self):
        """seconds, not of any clock"""
        return time.monotonic()
