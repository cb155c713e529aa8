# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What stands in the way: each kind is found, named, and not found where it is not."""
import unittest

from ibexctl.obstacles import Obstacles
from ibexctl.processes import Processes, stoppable
from ibexctl.signatures import Signatures

from .fake import PORT, PORTAL, HostTest


class Obstacle(HostTest):
    """on a host with rxe and NFS loaded"""
    modules = ("rdma_rxe", "rpcrdma", "rdma_ucm")

    def found(self):
        """(what, stop, kind, name) of each"""
        return [tuple(one) for one in Obstacles(self.host).all()]

    def test_nothing(self):
        self.host.put("/proc/self/mounts", "10.0.0.1:/ /mnt nfs4 rw,proto=tcp 0 0\n"
                      "x /y 9p trans=virtio 0 0\nbad line\n")
        self.host.put("/sys/class/nvme/nvme0/transport", "pcie\n")
        self.host.put("/sys/class/iscsi_host/host3/x", "")
        self.host.put("/sys/class/scsi_host/host3/proc_name", "iscsi_tcp\n")
        self.host.put("/sys/kernel/config/nvmet/ports/1/addr_trtype", "tcp\n")
        self.host.put("/sys/kernel/config/nvmet/ports/1/subsystems/nqn", "")
        self.host.put("/proc/fs/nfsd/portlist", "tcp 2049\n")
        self.host.put(PORTAL + "/iser", "0\n")
        self.host.put("/proc/50/comm", "bash\n")
        self.host.link_to("/proc/50/fd/0", "/dev/pts/0")
        self.assertEqual(self.found(), [])

    def test_mounts(self):
        self.host.put("/proc/self/mounts",
                      "10.0.0.1:/ /mnt/a\\040b nfs rw,proto=rdma,port=20049 0 0\n"
                      "10.0.0.1:/ /six nfs4 rw,proto=rdma6 0 0\nx /p 9p trans=rdma,rw 0 0\n"
                      "//s/x /s cifs rw,rdma 0 0\n")
        self.assertEqual(self.found(), [
            ("NFS over RDMA is mounted at /mnt/a b", "umount /mnt/a b", "mount", "/mnt/a b"),
            ("NFS over RDMA is mounted at /six", "umount /six", "mount", "/six"),
            ("9P over RDMA is mounted at /p", "umount /p", "mount", "/p"),
            ("SMB over RDMA is mounted at /s", "umount /s", "mount", "/s")])

    def test_nfsd(self):
        self.host.put("/proc/fs/nfsd/portlist", "tcp 2049\nrdma 20049\nrdma 20049\n")
        self.assertEqual(self.found(), [
            ("nfsd listens on RDMA port 20049", "rpc.nfsd 0", "", "")])
        self.host.units["nfs-server.service"] = True
        self.assertEqual(self.found(), [
            ("nfsd listens on RDMA port 20049", "systemctl stop nfs-server.service", "unit",
             "nfs-server.service")])

    def test_disks_and_fabrics(self):
        self.host.put("/sys/class/iscsi_host/host3/x", "")
        self.host.put("/sys/class/scsi_host/host3/proc_name", "iser\n")
        self.host.put("/sys/class/nvme/nvme1/transport", "rdma\n")
        self.host.put("/sys/class/nvme/nvme1/subsysnqn", "nqn.a\n")
        self.host.put("/sys/class/srp_remote_ports/port-4:1/x", "")
        self.host.put("/sys/class/rnbd-client/ctl/devices/d0/x", "")
        self.host.put("/sys/kernel/config/vib/f0/trunks/t0/live", "1\n")
        self.host.put("/sys/kernel/config/vib/f1/nodes/ca0/live", "1\n")
        self.assertEqual([one[0] for one in self.found()], [
            "an iSER session, SCSI host3", "nvme1 is connected over RDMA to nqn.a",
            "SRP is logged in to port-4:1", "RNBD has the device d0",
            "vib has the fabric f0, which has trunks"])
        self.assertEqual({one[2] for one in self.found()}, {""})

    def test_targets(self):
        self.host.load("ib_isert")
        self.host.load("nvmet_rdma")
        self.host.targets()
        self.assertEqual(self.found(), [
            ("nvmet listens on RDMA, port 1", "rm %ssubsystems/*" % PORT, "nvmet", "1"),
            ("LIO has an iSER portal, 10.0.0.1:3260",
             "echo 0 > %s/iser, and to enable of its group" % PORTAL, "iser", PORTAL)])

    def test_sockets(self):
        for name, text in (("smc", "SMC is in use"), ("rds_rdma", "RDS over RDMA is in use")):
            self.host.put("/sys/module/%s/initstate" % name, "live")
            self.host.put("/sys/module/%s/refcnt" % name, "0\n")
            self.assertEqual(self.found(), [])
            self.host.put("/sys/module/%s/refcnt" % name, "2\n")
            self.assertEqual([one[0] for one in self.found()], [text])
            self.host.put("/sys/module/%s/refcnt" % name, "0\n")

    def test_processes(self):
        self.host.busy["rdma_ucm"] = 1
        self.host.count()
        self.host.process(51, "rping", "/user.slice/user-0.slice/session-3.scope", "rdma_cm")
        self.host.process(52, "ibacm", "/system.slice/ibacm.service", "umad0")
        self.host.process(53, "rping", "/user.slice/u/user@0.service/app.slice/x.service",
                          "uverbs0")
        self.assertEqual(self.found(), [
            ("process 51 (rping) of session-3.scope has /dev/infiniband/rdma_cm", "kill 51", "",
             ""),
            ("process 52 (ibacm) of ibacm.service has /dev/infiniband/umad0",
             "systemctl stop ibacm.service", "unit", "ibacm.service"),
            ("process 53 (rping) of user@0.service has /dev/infiniband/uverbs0", "kill 53", "",
             "")])

    def test_ids_of_rdma_cm(self):
        """a process that rdma(8) names, though it has closed its file"""
        self.host.add_link("rxe_a", "va")
        self.host.answers["rdma -j resource show cm_id"] = (
            0, '[{"ifname":"rxe_a","pid":60,"comm":"x"},{"ifname":"rxe_a","comm":"ib_mad"}]', "")
        self.host.put("/proc/60/comm", "x\n")
        self.assertEqual([one[0] for one in self.found()],
                         ["process 60 (x) has RDMA resources"])

    def test_unknown_user(self):
        self.host.busy["rdma_rxe"] = 3
        self.host.count()
        self.assertEqual([one[0] for one in self.found()],
                         ["module rdma_rxe is in use 3 times by the kernel"])

    def test_settings_are_no_obstacle(self):
        self.host.busy["rdma_cm"] = 2
        self.host.count()
        self.assertEqual(len(self.found()), 1)
        self.host.put("/sys/kernel/config/rdma_cm/rxe_a/ports/1/default_roce_tos", "0\n")
        self.assertEqual(self.found(), [])

    def test_insmod(self):
        """a module that modprobe would not find again"""
        self.host.put("/sys/module/mine/initstate", "live\n")
        self.host.put("/sys/module/mine/refcnt", "0\n")
        self.host.put("/sys/module/ib_core/holders/mine", "")
        self.assertRegex(self.found()[0][0], "module mine was loaded from a file that modprobe")


class Signature(HostTest):
    """on a host with no core in memory"""

    def found(self):
        """what the kernel would refuse, and what to do"""
        return [(one.what, one.stop) for one in Signatures(self.host).all()]

    def test_nobody_asks(self):
        self.assertEqual(self.found(), [])
        self.host.put("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n")
        self.host.put("/sys/module/module/parameters/sig_enforce", "N\n")
        self.assertEqual(self.found(), [])

    def test_not_signed(self):
        self.host.secure_boot("DKMS")
        refused = [("the kernel would refuse ib_cm of the ibex core, which is not signed "
                    "(Secure Boot)", "install openssl and build the modules again")]
        self.assertEqual(self.found(), refused)
        self.host.put("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n")
        self.assertEqual(self.found(), [])
        self.host.put("/sys/module/module/parameters/sig_enforce", "Y\n")
        self.assertEqual(self.found(), refused)

    def test_not_trusted(self):
        self.host.secure_boot("DKMS 2")
        self.host.signers["ibex"] = "DKMS"
        self.assertEqual(self.found(), [
            ("the kernel would refuse ib_cm of the ibex core, as it does not trust the key "
             "'DKMS' (Secure Boot)",
             "mokutil --import /var/lib/dkms/mok.pub, reboot, and confirm")])
        self.host.secure_boot("DKMS 2", "DKMS")
        self.assertEqual(self.found(), [])

    def test_in_memory(self):
        self.host.load("rdma_rxe")
        self.host.secure_boot()
        self.assertEqual(self.found(), [])


class Units(HostTest):
    """as cgroups tell them"""

    def test_unit(self):
        for text, unit in (
                ("0::/system.slice/a.service\n", "a.service"),
                ("0::/system.slice/system-x.slice/x@1.service/sub\n", "x@1.service"),
                ("12:cpu:/\n1:name=systemd:/system.slice/a.service\n", "a.service"),
                ("12:cpu:/b.service\n", ""), ("0::/\n", ""), ("", "")):
            self.host.put("/proc/5/cgroup", text)
            self.assertEqual(Processes(self.host).unit(5), unit, text)

    def test_stoppable(self):
        self.assertTrue(stoppable("opensm.service"))
        for unit in ("", "session-1.scope", "user@0.service", "init.scope"):
            self.assertFalse(stoppable(unit), unit)


if __name__ == "__main__":
    unittest.main()
