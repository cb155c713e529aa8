# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Swaps that succeed, fail, and die: at the end there is one whole core, with all on it."""
import unittest
from unittest import mock

from ibexctl import choice, index, journal
from ibexctl.host import Failed
from ibexctl.modules import CORE, SHARED, Modules
from ibexctl.swap import Swap

from .fake import GROUP, PORT, PORTAL, Killed, FakeHost

LOADED = ("rdma_ucm", "ib_umad", "rdma_rxe", "mlx5_ib", "rpcrdma", "ib_ipoib", "ib_isert",
          "nvmet_rdma", "vib")
ADDRESS = "10.9.0.1/24"
SETTINGS = "/sys/kernel/config/rdma_cm/rxe_a"
TOS = SETTINGS + "/ports/1/default_roce_tos"


def set_up():
    """a host with everything on Ibex"""
    host = FakeHost()
    for name in LOADED:
        host.load(name)
    host.add_link("rxe_b", "vb")
    host.add_link("rxe_a", "va")
    host.mkdir(SETTINGS)
    host.put(TOS, "32\n")
    host.do_ip("ip", "link", "add")
    host.do_ip("ip", "address", "replace", ADDRESS, "dev", "ib0.8001")
    for name in ("ib0", "ib0.8001"):
        host.nets[name]["flags"] = ["UP"]
    host.units["srp_daemon.service"] = True
    host.open_files(True)
    host.mount("/mnt/my\\040nfs")
    host.targets()
    host.fabric()
    return host


FABRICS = set_up().fabrics()


class Case(unittest.TestCase):
    """with such a host"""

    def setUp(self):
        self.host = set_up()
        self.addCleanup(self.host.close)
        patch = mock.patch("signal.signal")
        patch.start()
        self.addCleanup(patch.stop)
        self.said = []

    def swap(self):
        """as a new process has it, whose lock is free"""
        self.host.kept = ()
        return Swap(self.host, self.said.append)

    def assert_whole(self, core, host=None):
        """this core, and all that there was"""
        host = host or self.host
        modules = Modules(host)
        self.assertEqual((modules.memory(), modules.next(), choice.Choice(host).get()),
                         (core, core, core))
        for name in LOADED + (CORE if core == "ibex" else SHARED):
            self.assertTrue(modules.loaded(name), name)
        self.assertEqual(modules.loaded("ib_mad"), core == "ibex")
        self.assertEqual(list(host.links.items()), [("rxe_b", "vb"), ("rxe_a", "va")])
        self.assertEqual(host.word(TOS), "32")
        self.assertEqual(host.nets["ib0.8001"]["address"], [ADDRESS])
        self.assertEqual([host.nets[n]["flags"] for n in ("ib0", "ib0.8001")], [["UP"]] * 2)
        self.assertTrue(host.units["srp_daemon.service"])
        self.assertEqual(host.read("/proc/self/mounts").count("proto=rdma"), 1)
        self.assertEqual((host.word(GROUP + "enable"), host.word(PORTAL + "/iser")), ("1", "1"))
        self.assertEqual(host.list(PORT + "subsystems"), ["nqn.a", "nqn.b"])
        self.assertEqual(host.fabrics(), FABRICS)
        self.assertIsNone(journal.Journal(host).load())
        self.assertFalse(host.exists("/var/lib/ibex/index"))
        lock = journal.Lock(host)
        self.assertFalse(lock.is_taken())


class Swaps(Case):
    """that nothing disturbs"""

    def test_there_and_back(self):
        for core in ("stock", "ibex"):
            self.swap().swap(core, stop=True)
            self.assert_whole(core)
            self.assertRegex(self.said[-1], "^the %s core is loaded; RDMA was away for" % core)

    def test_links_come_back_in_their_order(self):
        self.swap().swap("stock", stop=True)
        self.assertEqual(list(self.host.links), ["rxe_b", "rxe_a"])

    def test_adapters_come_back_in_their_order(self):
        """after which IPoIB numbers its interfaces"""
        self.swap().swap("stock", stop=True)
        self.assertEqual([command.rsplit("/", 1)[-1] for command in self.host.commands
                          if command.startswith("mkdir") and "/nodes/" in command],
                         ["ca0", "sw", "ca2", "ca1"])

    def test_nothing_to_do(self):
        self.swap().swap("ibex")
        self.assertEqual((self.said, self.host.commands),
                         (["the ibex core is loaded already"], []))

    def test_only_the_choice_is_wrong(self):
        self.host.put(choice.DEPMOD, "")
        self.host.do_depmod("depmod")
        self.swap().swap("ibex")
        self.assertEqual(self.host.commands, ["depmod -a " + self.host.kver])
        self.assert_whole("ibex")

    def test_a_disabled_group_stays_disabled(self):
        """its portal is stopped all the same"""
        self.host.write(GROUP + "enable", "0\n")
        self.swap().swap("stock", stop=True)
        self.assertEqual((self.host.word(GROUP + "enable"), self.host.word(PORTAL + "/iser")),
                         ("0", "1"))

    def test_a_target_waits_for_its_address(self):
        """for a while"""
        for change in ("symlink %ssubsystems/nqn.a" % PORT, "write %s/iser" % PORTAL):
            self.host.close()
            self.host = set_up()
            self.addCleanup(self.host.close)
            self.said.clear()
            refusals = []

            def late(n, last=3, change=change, refusals=refusals):
                if self.host.commands[n - 1] != change or not self.host.links or \
                        len(refusals) == last:
                    return ""
                refusals.append(n)
                return "No such device"

            with self.subTest(change):
                # the portal was written once before, to stop it
                self.host.at = lambda n: late(n) if self.host.word(PORTAL + "/iser") != "1" \
                    else ""
                self.swap().swap("stock", stop=True)
                self.assertEqual(len(refusals), 3)
                self.assert_whole("stock")
                self.host.at = lambda n: "No such device" if self.host.commands[n - 1] == \
                    change and "failed" not in " ".join(self.said) else ""
                with self.assertRaisesRegex(Failed, "No such device; the host has the stock"):
                    self.swap().swap("ibex", stop=True)
                self.assert_whole("stock")

    def test_refused_without_stop(self):
        with self.assertRaises(Failed) as caught:
            self.swap().swap("stock")
        self.assertIn("process 77 (srp_daemon) of srp_daemon.service has", str(caught.exception))
        self.assertIn("NFS over RDMA is mounted at /mnt/my nfs", str(caught.exception))
        self.assertEqual(self.host.commands, [])
        self.assert_whole("ibex")

    def test_refused_with_stop(self):
        self.host.process(99, "rping", "/user.slice/user-0.slice/session-1.scope", "rdma_cm")
        with self.assertRaises(Failed) as caught:
            self.swap().swap("stock", stop=True)
        self.assertIn("process 99 (rping) of session-1.scope has /dev/infiniband/rdma_cm; "
                      "what to do: kill 99", str(caught.exception))
        self.assertEqual(self.host.commands, [])

    def test_refused_by_the_kernel(self):
        """which is known before anything is stopped"""
        self.swap().swap("stock", stop=True)
        self.host.commands.clear()
        self.host.secure_boot()
        with self.assertRaisesRegex(Failed, "not signed"):
            self.swap().swap("ibex", stop=True)
        self.assertEqual(self.host.commands, [])
        self.assert_whole("stock")
        self.host.secure_boot("DKMS")
        self.host.signers["ibex"] = "DKMS"
        self.swap().swap("ibex", stop=True)
        self.assert_whole("ibex")

    def test_no_such_core(self):
        self.host.remove("/lib/modules/%s/kernel/drivers/infiniband/core/ib_cm.ko"
                         % self.host.kver)
        with self.assertRaisesRegex(Failed, "the stock core is not installed"):
            self.swap().swap("stock", stop=True)
        self.assertEqual(self.host.commands, [])

    def test_missing_command(self):
        for name in ("rdma", "depmod", "rmmod", "modprobe"):
            with self.subTest(name):
                self.host.missing = {name}
                with self.assertRaisesRegex(Failed, "command %s is missing" % name):
                    self.swap().swap("stock", stop=True)

    def test_one_at_a_time(self):
        lock = journal.Lock(self.host)
        lock.take()
        self.assertTrue(journal.Lock(self.host).is_taken())
        with self.assertRaisesRegex(Failed, "another ibexctl"):
            self.swap().swap("stock", stop=True)
        lock.drop()
        self.assertFalse(journal.Lock(self.host).is_taken())

    def test_none_in_memory(self):
        host = FakeHost()
        self.addCleanup(host.close)
        Swap(host, self.said.append).swap("stock")
        self.assertEqual((Modules(host).memory(), Modules(host).next()), ("none", "stock"))
        host.load("rdma_ucm")
        self.assertEqual(Modules(host).memory(), "stock")

    def test_depmod_alone_is_not_enough(self):
        """why choice writes to modprobe.d, too"""
        self.host.put(choice.DEPMOD, "")
        self.host.do_depmod("depmod")
        for name in reversed(Modules(self.host).family()):
            self.host.busy.clear()
            self.host.count()
            self.host.unload(name)
        self.assertIn("ib_mad: Unknown symbol", self.host.load("rdma_ucm"))

    def test_the_index_is_made_while_rdma_is_there(self):
        """and once more at the end"""
        self.swap().swap("stock", stop=True)
        names = [command.split()[0] for command in self.host.commands]
        made = [at for at, name in enumerate(names) if name == "depmod"]
        self.assertEqual((made[0], made[1:]), (0, [len(names) - 1]))

    def test_depmod_fails_at_the_end(self):
        """the swap is complete all the same"""
        self.host.at = lambda n: "Broken" if n > 1 and self.host.commands[n - 1].startswith(
            "depmod") else ""
        self.swap().swap("stock", stop=True)
        self.assertIn("Broken; if modules were installed meanwhile, run depmod",
                      " ".join(self.said))
        self.host.remove_tree("/var/lib/ibex/index")
        self.assert_whole("stock")

    def test_other_settings_of_depmod(self):
        """hold for what is prepared, too"""
        self.host.put("/etc/depmod.d/site.conf", "search site updates built-in")
        self.host.put("/lib/depmod.d/site.conf", "hidden by the former")
        self.host.put("/lib/depmod.d/ibex.conf", "hidden by ours")
        self.host.put("/lib/depmod.d/README", "not read")
        index.Index(self.host).prepare("ibex.conf", "override")
        self.assertEqual(self.host.list(index.CONFIG), ["ibex.conf", "site.conf"])
        self.assertEqual(self.host.word(index.CONFIG + "/ibex.conf"), "override")
        self.assertTrue(self.host.word(index.CONFIG + "/site.conf").startswith("search site"))
        index.Index(self.host).prepare("ibex.conf", None)
        self.assertEqual(self.host.list(index.CONFIG), ["site.conf"])

    def test_an_intruder(self):
        """a modprobe of someone else between the unloading and the choice"""
        def intrude(n):
            if self.host.commands[n - 1].startswith("depmod"):
                self.host.load("ib_uverbs")

        self.host.at = intrude
        self.swap().swap("stock", stop=True)
        self.host.at = lambda n: None
        self.assert_whole("stock")


def whole_swap(host):
    """how many commands it has, and how often it writes the journal"""
    with mock.patch("signal.signal"):
        Swap(host, lambda line: None).swap("stock", stop=True)
    return len(host.commands), host.saves


class Disturbed(Case):
    """at each point"""

    def fresh(self):
        """another host"""
        self.host.close()
        self.host = set_up()
        self.addCleanup(self.host.close)
        self.said.clear()

    def points(self):
        """the number of commands, and of writes"""
        host = set_up()
        try:
            return whole_swap(host)
        finally:
            host.close()

    def test_each_command_fails(self):
        commands, _ = self.points()
        self.assertGreater(commands, 30)
        for at in range(1, commands + 1):
            self.fresh()
            first = []

            def fail(n, at=at, first=first):
                # rmmod is tried again: it goes on failing, until going back begins
                name = self.host.commands[n - 1]
                if n == at:
                    first.append(name)
                return "Broken" if first == [name] and "going back" not in " ".join(
                    self.said) else ""

            self.host.at = fail
            with self.subTest(at):
                if at == commands or "mount" in self.command(at):
                    continue
                with self.assertRaises(Failed) as caught:
                    self.swap().swap("stock", stop=True)
                self.assertRegex(str(caught.exception),
                                 "Broken; the host has the ibex core, as before$")
                self.assert_whole("ibex")

    def command(self, at):
        """the text of a command of a swap"""
        if not hasattr(self, "texts"):
            host = set_up()
            whole_swap(host)
            self.texts = host.commands
            host.close()
        return self.texts[at - 1]

    def test_the_mount_fails(self):
        """it is tried in two ways"""
        for word in ("umount", "mount -t"):
            self.fresh()
            self.host.at = lambda n, word=word: "Broken" if self.host.commands[
                n - 1].startswith(word) and "failed" not in " ".join(self.said) else ""
            with self.subTest(word):
                self.assertRaisesRegex(Failed, "Broken; the host has the ibex core", self.swap()
                                       .swap, "stock", stop=True)
                self.assert_whole("ibex")

    def dies(self):
        """a swap that is killed, and what comes after it"""
        with self.assertRaises(Killed):
            self.swap().swap("stock", stop=True)
        self.host.at = self.host.after = self.host.saved = lambda n: None

    def revives(self):
        """the core after recover: the new one if only services were left to start, or nothing"""
        entry = journal.Journal(self.host).load()
        self.swap().recover()
        whole = "stock" if not entry or entry["step"] == "start" else "ibex"
        self.assert_whole(whole)

    def test_killed_after_each_write(self):
        _, writes = self.points()
        self.assertEqual(writes, 8)
        for at in range(1, writes + 1):
            self.fresh()
            with self.subTest(at):
                self.host.saved = lambda n, at=at: self.kill(n == at)
                self.dies()
                self.revives()

    def test_killed_at_each_command(self):
        commands, _ = self.points()
        for when in ("at", "after"):
            for at in range(1, commands + 1):
                self.fresh()
                with self.subTest("%s %d %s" % (when, at, self.command(at))):
                    setattr(self.host, when, lambda n, at=at: self.kill(n == at))
                    self.dies()
                    self.revives()

    def test_recover_is_killed(self):
        """at each of its commands, after a swap that died when all was unloaded"""
        for at in range(1, 25):
            self.fresh()
            self.host.saved = lambda n: self.kill(n == 5)
            self.dies()
            start = len(self.host.commands)
            self.host.at = lambda n, at=at, start=start: self.kill(n == start + at)
            with self.subTest(at):
                try:
                    self.swap().recover()
                except Killed:
                    self.host.at = lambda n: None
                    self.swap().recover()
                self.assert_whole("ibex")

    @staticmethod
    def kill(now):
        """kill -9"""
        if now:
            raise Killed

    def test_the_next_swap_goes_back_first(self):
        self.host.saved = lambda n: self.kill(n == 6)
        self.dies()
        self.swap().swap("stock", stop=True)
        self.assertIn("a swap was interrupted: going back first", self.said)
        self.assert_whole("stock")

    def test_after_a_reboot(self):
        """of a host that died with the choice made: boot loads what is chosen"""
        self.host.saved = lambda n: self.kill(n == 6)
        self.dies()
        self.host.put("/proc/sys/kernel/random/boot_id", "boot-2\n")
        for core in ("stock", "none"):
            with self.subTest(core):
                if core == "stock":
                    self.host.load("ib_uverbs")
                self.swap().recover()
                self.assertEqual(Modules(self.host).next(), "stock")
                self.assertIsNone(journal.Journal(self.host).load())

    def test_a_signal(self):
        """ends it before the next step"""
        swap = self.swap()
        self.host.saved = lambda n: setattr(swap, "interrupted", n == 4)
        with self.assertRaisesRegex(Failed, "interrupted by a signal before the step switch; "
                                    "the host has the ibex core"):
            swap.swap("stock", stop=True)
        self.assert_whole("ibex")

    def test_going_back_fails(self):
        """then the journal stays, and recover can be run later"""
        self.host.at = lambda n: "Broken" if self.host.commands[n - 1].startswith(
            "modprobe rdma_ucm") else ""
        with self.assertRaises(Failed) as caught:
            self.swap().swap("stock", stop=True)
        self.assertRegex(str(caught.exception), "modprobe rdma_ucm: Broken; and going back "
                         "failed: modprobe rdma_ucm: Broken; in memory: .*run ibexctl recover")
        self.assertIsNotNone(journal.Journal(self.host).load())
        self.host.at = lambda n: None
        self.swap().recover()
        self.assert_whole("ibex")

    def test_a_user_comes_meanwhile(self):
        """a module that stays in use"""
        self.host.saved = lambda n: n == 3 and self.host.busy.update(rdma_rxe=1)
        self.host.at = lambda n: self.host.count()
        with self.assertRaisesRegex(Failed, "rmmod .*rdma_rxe.* in use"):
            self.swap().swap("stock", stop=True)
        self.assert_whole("ibex")

    def test_an_interface_that_stays_away(self):
        """IPoIB makes none on the other core"""
        add = self.host.add_net
        self.host.add_net = lambda what: add(what) if self.host.chosen == "ibex" else None
        with self.assertRaisesRegex(Failed, "interface ib0 has not come back after 10 s; the "
                                    "host has the ibex core"):
            self.swap().swap("stock", stop=True)
        self.assert_whole("ibex")

    def test_an_interface_of_another_name(self):
        """it is renamed"""
        add = self.host.add_net
        self.host.add_net = lambda what: add(
            dict(what, ifname="ib7") if what["ifname"] == "ib0" else what)
        self.swap().swap("stock", stop=True)
        self.assertIn("ip link set dev ib7 name ib0", self.host.commands)
        self.assert_whole("stock")

    def test_not_a_journal(self):
        for text in ("", "{}", "[]", "{\"from\": 1}"):
            self.host.put(journal.PATH, text)
            with self.subTest(text):
                self.assertRaisesRegex(Failed, "not a journal", self.swap().recover)


if __name__ == "__main__":
    unittest.main()
