# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
Changes the core of the running host.  Before each step the journal says which; each step can be
done again, so that after a failure or a death at any point the way back is the same: take down
whatever is there, choose the former core, load it, make what was recorded.
"""
import contextlib
import signal

from .choice import Choice
from .host import Failed
from .journal import Journal, Lock
from .modules import CORES, Modules
from .obstacles import Obstacles
from .services import Services
from .signatures import Signatures
from .state import State

# how long a module may be busy with its last users
BUSY = 10
# how often someone else may load a module of the core meanwhile
INTRUDERS = 3


class Swap:
    """one run of ibexctl swap or recover; say prints a line"""

    def __init__(self, host, say):
        self.host = host
        self.say = say
        self.journal = Journal(host)
        self.modules = Modules(host)
        self.choice = Choice(host)
        self.services = Services(host)
        self.state = State(host)
        self.interrupted = False

    # --- commands ------------------------------------------------------------------------
    def swap(self, core, stop=False):
        """make core that of the host"""
        self.host.must("depmod", "--version")
        with self.alone():
            entry = self.journal.load()
            if entry:
                self.say("a swap was interrupted: going back first")
                self.finish(entry)
            self.begin(core, stop)

    def recover(self):
        """finish a swap that was interrupted"""
        # a command of the swap that died may still run
        with self.alone(patience=60):
            entry = self.journal.load()
            if entry:
                self.finish(entry)
            else:
                self.choice.forget()
                self.say("no swap was interrupted")

    @contextlib.contextmanager
    def alone(self, patience=0):
        """no other swap goes on, for which it waits so many seconds, and no signal ends this"""
        lock = Lock(self.host)
        lock.take(patience)
        try:
            self.catch_signals()
            yield
        finally:
            lock.drop()

    # --- a swap --------------------------------------------------------------------------
    def begin(self, core, stop):
        """checks, and then the steps"""
        if not self.modules.installed(core):
            raise Failed("the %s core is not installed for %s" % (core, self.host.kver))
        was = self.modules.memory()
        if was == core and self.choice.get() == core and self.modules.next() == core:
            self.say("the %s core is loaded already" % core)
            return
        if was == core:
            self.choose(core)
            self.say("the %s core is loaded already; from now on modprobe loads it, too" % core)
            return
        if was not in CORES + ("none",):
            raise Failed("the core in memory is not one that could be brought back: " + was)
        former = was if was != "none" else self.choice.get()
        if former not in CORES:
            former = self.modules.next()
        if former not in CORES or not self.modules.installed(former):
            raise Failed("the %s core in memory has no files, so that it could not be brought "
                          "back" % former)
        found = Obstacles(self.host).all() + Signatures(self.host).refused(core)
        if [one for one in found if not (stop and one.kind)]:
            raise Failed("in the way:\n" + "\n".join(
                "  %s; what to do: %s" % (one.what, one.stop) for one in found))
        entry = {"from": former, "to": core, "step": "prepare", "boot": self.host.boot_id,
                 "state": self.state.record(), "stopped": self.services.record(found)}
        try:
            self.forward(entry)
        except Failed as error:
            self.give_up(entry, error)

    def forward(self, entry):
        """all steps"""
        self.step(entry, "prepare")
        self.choice.prepare(entry["to"])
        self.step(entry, "stop")
        for one in entry["stopped"]:
            self.say("stopping " + one["name"])
        self.services.stop(entry["stopped"])
        left = Obstacles(self.host).all()
        if left:
            raise Failed("in the way: " + left[0].what)
        start = self.host.now()
        self.step(entry, "links")
        self.down_links(entry)
        self.step(entry, "unload")
        self.unload()
        self.step(entry, "switch")
        self.choose(entry["to"], prepared=True)
        self.step(entry, "load")
        self.load(entry, entry["to"])
        self.step(entry, "make")
        self.state.make(entry["state"])
        away = self.host.now() - start
        self.step(entry, "start")
        self.services.start(entry["stopped"])
        self.journal.clear()
        try:
            # Modules may have been installed since the index was prepared.
            self.choice.depmod()
        except Failed as error:
            self.say("%s; if modules were installed meanwhile, run depmod" % error)
        self.say("the %s core is loaded; RDMA was away for %.1f s" % (entry["to"], away))

    def step(self, entry, name):
        """the next step begins, unless someone has asked to stop"""
        if self.interrupted:
            raise Failed("interrupted by a signal before the step " + name)
        entry["step"] = name
        self.journal.write(entry)

    def down_links(self, entry):
        """what keeps modules in memory and is made again"""
        self.state.delete_links(entry["state"]["links"])
        self.state.drop_settings()
        self.state.fabrics.remove(entry["state"].get("fabrics", []))

    def unload(self):
        """the core and all that depends on it"""
        for _ in range(INTRUDERS):
            for name in reversed(self.modules.family()):
                self.rmmod(name)
            # someone's modprobe may have come in between
            if not self.modules.loaded_core():
                return
        raise Failed("someone loads the core again and again: " +
                     " ".join(self.modules.loaded_core()))

    def rmmod(self, name):
        """one module, whose last users may be on their way"""
        end = self.host.now() + BUSY
        while self.modules.loaded(name):
            done = self.host.run("rmmod", name)
            if not done.status:
                continue
            if self.host.now() >= end:
                raise Failed("rmmod %s: %s" % (name, done.trouble()))
            self.host.sleep(0.2)

    def choose(self, core, prepared=False):
        """from now on modprobe loads this core"""
        self.choice.set(core, prepared)
        self.modules.forget()
        if self.modules.next() != core:
            raise Failed("depmod has run, but modprobe would load the core %s" %
                         self.modules.next())

    def load(self, entry, core):
        """the modules that were there, on this core"""
        # what someone else has loaded meanwhile
        if self.modules.memory() not in (core, "none"):
            self.unload()
        self.state.load(entry["state"])
        if not self.is_whole(entry, core):
            raise Failed("the modules in memory are not those of the %s core: %s" % (
                core, self.modules.memory()))

    def is_whole(self, entry, core):
        """whether the host has this core, and all modules that there were"""
        wanted = [name for name in entry["state"]["modules"] if name != "ib_mad"]
        return self.choice.get() == core and \
            all(self.modules.loaded(name) for name in wanted) and \
            self.modules.memory() in (core,) + (() if wanted else ("none",))

    # --- back ----------------------------------------------------------------------------
    def give_up(self, entry, error):
        """a step has failed"""
        self.say("failed: %s; going back" % error)
        try:
            self.back(entry)
        except Failed as worse:
            raise Failed("%s; and going back failed: %s; %s; once that is put right, run "
                         "ibexctl recover" % (error, worse, self.describe())) from None
        raise Failed("%s; the host has the %s core, as before" % (error, entry["from"])) \
            from None

    def describe(self):
        """the state of the host in a few words"""
        loaded = self.modules.loaded_core()
        return "in memory: %s; modprobe would load: %s" % (
            "%s (%s)" % (self.modules.memory(), " ".join(loaded)) if loaded else "no core",
            self.modules.next())

    def finish(self, entry):
        """ends a swap that was interrupted"""
        self.say("the swap from %s to %s was interrupted at the step %s" % (
            entry["from"], entry["to"], entry["step"]))
        try:
            if entry.get("boot") != self.host.boot_id:
                self.after_boot(entry)
            elif entry["step"] == "start" and self.is_whole(entry, entry["to"]):
                self.services.start(entry["stopped"])
                self.choice.forget()
                self.journal.clear()
                self.say("the swap to %s is complete" % entry["to"])
            else:
                self.back(entry)
                self.say("the host has the %s core, as before" % entry["from"])
        except Failed as error:
            raise Failed("recover: %s; %s; once that is put right, run ibexctl recover" % (
                error, self.describe())) from None

    def back(self, entry):
        """the former core, and all that there was on it"""
        self.interrupted = False
        if entry["step"] == "start":
            self.services.stop(entry["stopped"])
        former = entry["from"]
        if self.modules.memory() not in (former, "none"):
            self.down_links(entry)
            self.unload()
        if self.choice.get() != former or self.modules.next() != former:
            self.choose(former)
        if not self.is_whole(entry, former):
            self.load(entry, former)
        self.state.make(entry["state"])
        self.services.start(entry["stopped"])
        self.choice.forget()
        self.journal.clear()

    def after_boot(self, entry):
        """the host has been rebooted: boot has loaded one of the cores, or none"""
        core = self.modules.memory()
        self.choose(core if core in CORES else entry["from"])
        self.journal.clear()
        self.say("the host has been rebooted since; %s; links that rdma(8) had made are lost: "
                 "%s" % (self.describe(), " ".join(
                     link["name"] for link in entry["state"]["links"]) or "none"))

    def catch_signals(self):
        """a signal ends the swap before its next step; the loss of a terminal does not"""
        def note(_signal, _frame):
            self.interrupted = True

        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, note)
