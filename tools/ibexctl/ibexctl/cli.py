# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
The commands.  A status of 1 says that the answer is no, or that the host refused something;
2 that the command is not as it must be.
"""
import argparse
import json
import os
import sys
import time

from .host import Failed, Host
from .obstacles import Obstacles
from .report import Report
from .signatures import Signatures
from .status import Status, lines
from .swap import Swap
from .verify import Verify


def say(text):
    """print a line, also when the terminal is gone: a swap must not end with it"""
    try:
        print(text, flush=True)
    except OSError:
        pass


def status(host, args):
    """show which core is loaded, which would be, and what runs on it"""
    found = Status(host).collect()
    if args.json:
        say(json.dumps(found, indent=1))
    else:
        for line in lines(found):
            say(line)
    return 0


def check(host, args):
    """say what stands in the way of a swap"""
    found = Obstacles(host).all() + Signatures(host).all()
    if args.json:
        say(json.dumps([one._asdict() for one in found], indent=1))
        return 1 if found else 0
    for one in found:
        say("%s; what to do: %s" % (one.what, one.stop))
    if not found:
        say("nothing stands in the way of a swap")
    return 1 if found else 0


def swap(host, args):
    """change the core of the running host"""
    Swap(host, say).swap(args.core, args.stop)
    return 0


def recover(host, _args):
    """end a swap that was interrupted"""
    Swap(host, say).recover()
    return 0


def verify(host, _args):
    """hold the modules in memory against their files and against each other"""
    bad = 0
    for name, held, wrong in Verify(host).checks():
        bad += bool(wrong)
        say("%-7s %-12s %s" % ("DIFFERS" if wrong else "ok", name, "; ".join(wrong) or held))
    return 1 if bad else 0


def report(host, args):
    """collect what a bug report needs"""
    path = args.output or time.strftime("ibexctl-report-%Y%m%d-%H%M%S.tar.gz")
    if os.path.lexists(path):
        raise Failed("%s: is there already" % path)
    made = Report(host, args.addresses, args.seconds)
    made.collect()
    made.write(path)
    say("%s: %d files%s" % (path, len(made.files), "" if args.addresses else
                            ", without addresses and the host's name"))
    return 0


def seconds(text):
    """the type of --seconds"""
    if not text.isdecimal() or int(text) > 600:
        raise argparse.ArgumentTypeError("expected a number from 0 to 600")
    return int(text)


def parser():
    """the command line"""
    top = argparse.ArgumentParser(
        prog="ibexctl", allow_abbrev=False,
        description="The RDMA core of a running host; see ibexctl(8).")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, function):
        made = commands.add_parser(name, help=function.__doc__, description=function.__doc__,
                                   allow_abbrev=False)
        made.set_defaults(function=function)
        return made

    for name, function in (("status", status), ("check", check)):
        command(name, function).add_argument("-j", "--json", action="store_true",
                                             help="print JSON")
    of_swap = command("swap", swap)
    of_swap.add_argument("core", choices=("ibex", "stock"))
    of_swap.add_argument("--stop", action="store_true",
                         help="stop the systemd units and unmount what check names, and "
                         "start and mount them after it")
    command("recover", recover)
    command("verify", verify)
    of_report = command("report", report)
    of_report.add_argument("-o", "--output", metavar="FILE", help="a file that is not there yet")
    of_report.add_argument("--addresses", action="store_true",
                           help="leave addresses and the host's name as they are")
    of_report.add_argument("--seconds", type=seconds, default=3, metavar="N",
                           help="how long to trace (default: %(default)s)")
    return top


def main(argv, host=None):
    """run a command; returns the exit status"""
    args = parser().parse_args(argv)
    host = host or Host()
    try:
        if not host.is_root():
            raise Failed("only root may do this")
        return args.function(host, args)
    except Failed as error:
        text = error
    except KeyboardInterrupt:
        text = "interrupted"
    except OSError as error:
        text = "%s: %s" % (error.filename or args.command, error.strerror)
    print("ibexctl: %s" % text, file=sys.stderr)
    return 1
