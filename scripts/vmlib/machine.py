# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""QEMU: its command line, its accelerator, its clock, and a running machine."""
import ctypes
import mmap
import os
import subprocess
import tarfile
import tempfile
import time

from . import guest
from .common import VM, read, say


def clock(opts, accel):
    """
    The kernel parameters of the clock. The emulator passes the host's time stamp counter
    on. On a busy host the guest measures the counter's frequency wrong, so its seconds
    would have the wrong length: measure it here, more exactly, and pass it to the guest.
    """
    if opts.icount:
        return "tsc_early_khz=1000000 tsc=reliable "
    if accel != "tcg" or os.uname().machine != "x86_64":
        return ""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE |
                     mmap.PROT_EXEC)
    # rdtsc; shl $32,%rdx; or %rdx,%rax; ret
    page.write(bytes.fromhex("0f3148c1e2204809d0c3"))
    rdtsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(
        ctypes.addressof(ctypes.c_char.from_buffer(page)))
    best = None
    for _ in range(5):
        t0, n0, t1 = time.monotonic_ns(), rdtsc(), time.monotonic_ns()
        time.sleep(0.03)
        t2, n1, t3 = time.monotonic_ns(), rdtsc(), time.monotonic_ns()
        blur = t1 - t0 + t3 - t2
        if best is None or blur < best[0]:
            best = blur, (n1 - n0) * 1000000 * 2 // (t2 + t3 - t0 - t1)
    return "tsc_early_khz=%d tsc=reliable " % best[1]


def kernel_parameters(opts, accel, kernel):
    # 6.8 gave it another name.
    slab = "slub_debug" if kernel.is_6_1 else "slab_debug"
    # The parts of the kernel that are turned off do not affect RDMA, but take seconds.
    return ("console=ttyS0 loglevel=5 panic=-1 mitigations=off nokaslr "
            "no_timer_check apparmor=0 selinux=0 audit=0 log_buf_len=16M " +
            (slab + "=FZPU kfence.sample_interval=1 "
             if opts.debug and not kernel.kind else "") +
            # The emulator's processors are slow, and may not run at once.
            ("kcsan.skip_watch=100 kcsan.udelay_task=300 " if kernel.kind == "kcsan" else "") +
            "cryptomgr.notests initcall_blacklist=init_encrypted,"
            "jent_mod_init,crypto_kdf108_init "
            "rcupdate.rcu_cpu_stall_timeout=60 " + clock(opts, accel) + opts.append)


def processor(opts, accel):
    if accel == "kvm":
        return ["-accel", "kvm", "-cpu", "host"]
    if opts.icount:
        return ["-accel", "tcg,tb-size=512", "-icount", "shift=0,sleep=off",
                "-cpu", opts.cpu]
    return ["-accel", "tcg,thread=multi,tb-size=512", "-cpu", opts.cpu]


def port(name, backend, where):
    """options for a virtio port, which init finds by its name"""
    return ["-chardev", "%s,id=%s,%s" % (backend, name, where),
            "-device", "virtserialport,chardev=%s,name=ibex.%s" % (name, name)]


def command(image, opts, accel, rundir, suffix="", more=()):
    """the command that boots rundir/initrd; more: options, may define the console con"""
    cmd = ["qemu-system-x86_64", "-nodefaults", "-no-user-config",
           "-display", "none", "-no-reboot", "-M", "q35",
           "-smp", str(opts.smp or 2),
           "-m", str(opts.mem or image.kernel.mem),
           "-kernel", image.path("vmlinux"),
           "-initrd", os.path.join(rundir, "initrd" + suffix),
           "-append", kernel_parameters(opts, accel, image.kernel)]
    if not any(",id=con," in word for word in more):
        cmd += ["-chardev", "file,id=con,path=%s/console%s" % (rundir, suffix)]
    cmd += ["-serial", "chardev:con", "-device", "virtio-serial-pci"]
    cmd += port("log", "file", "path=%s/log%s" % (rundir, suffix))
    cmd += port("out", "file", "path=%s/out%s.tar" % (rundir, suffix))
    if opts.plugin:
        cmd += ["-plugin", "%s,out=%s/plugin%s" % (opts.plugin, rundir, suffix)]
    return cmd + processor(opts, accel) + list(more)


def network(role, socket):
    """options for the network of two machines: the server listens"""
    server = role == "server"
    return ["-netdev", "stream,id=n0,server=%s,addr.type=unix,addr.path=%s" % (
                "on" if server else "off", socket),
            "-device", "virtio-net-pci,netdev=n0,mac=52:54:00:00:00:0%d" % (
                1 if server else 2)]


def probe_kvm(image, opts):
    """KVM may exist but fail to run this kernel (nested, restricted): try it."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    key = "%s %s %s" % (image.kver, os.uname().release, os.uname().nodename)
    cache = os.path.join(VM, "accel-" + image.kver)
    try:
        known, answer = read(cache).decode().split("\n")[:2]
        if known == key:
            return answer
    except (OSError, ValueError):
        pass
    answer = "tcg"
    with tempfile.TemporaryDirectory(dir=VM) as tmp:
        image.initrd(os.path.join(tmp, "initrd"), image.overlay([]), {
            **guest.init(), **guest.config(
                IBEX_SCENARIO="probe", IBEX_ROLE="both", IBEX_MODE="stock",
                IBEX_TIMEOUT=10, IBEX_ARGS="")})
        try:
            subprocess.run(command(image, opts, "kvm", tmp),
                           timeout=25, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if b"ibex-probe-ok" in read(os.path.join(tmp, "log")):
                answer = "kvm"
        except (subprocess.TimeoutExpired, OSError):
            pass
    with open(cache, "w") as f:
        f.write(key + "\n" + answer + "\n")
    say("accelerator:", answer)
    return answer


class Machine:
    """QEMU from its start to its end, and the files that it leaves in rundir"""

    def __init__(self, cmd, rundir, suffix="", **files):
        self.suffix = suffix
        self.rundir = rundir
        self.seen = 0
        self.errors = open(self.file("qemu"), "wb")
        files = {"stdin": subprocess.DEVNULL, "stdout": self.errors,
                 "stderr": self.errors, **files}
        self.proc = subprocess.Popen(cmd, **files)

    def file(self, name):
        return os.path.join(self.rundir, name + self.suffix)

    def new_output(self, ended):
        """new lines of the log; unless the machine has ended, only complete lines"""
        try:
            with open(self.file("log"), "rb") as f:
                f.seek(self.seen)
                data = f.read()
        except OSError:
            return []
        end = len(data) if ended else data.rfind(b"\n") + 1
        self.seen += end
        return data[:end].decode(errors="replace").splitlines()

    def running(self):
        return self.proc.poll() is None

    def kill(self):
        if self.running():
            self.proc.kill()
        self.proc.wait()
        self.errors.close()

    def console(self):
        try:
            return read(self.file("console")).decode(errors="replace")
        except OSError:
            return ""

    def unpack(self):
        """the files that the machine sent at its end: name -> text"""
        result = {}
        tar = os.path.join(self.rundir, "out%s.tar" % self.suffix)
        try:
            with tarfile.open(tar) as t:
                for member in t:
                    if member.isfile():
                        name = os.path.basename(member.name)
                        data = t.extractfile(member).read()
                        result[name] = data.decode(errors="replace")
                        with open(self.file(name), "wb") as f:
                            f.write(data)
        except (OSError, tarfile.TarError, EOFError):
            pass
        if os.path.exists(tar):
            os.unlink(tar)
        return result


def watch(machines, start, bound, show):
    """
    Call show(line) for each line of the logs until every machine has ended or bound
    seconds have passed; returns the boot time.
    """
    boot = 0
    while True:
        alive = [m for m in machines if m.running()]
        for m in machines:
            for line in m.new_output(m not in alive):
                if not boot:
                    boot = time.monotonic() - start
                show((m.suffix[1:] + "| " if m.suffix else "") + line)
        if not alive or time.monotonic() - start > bound:
            return boot
        time.sleep(0.1)
