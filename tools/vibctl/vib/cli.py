# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
The commands.  A status of 1 says that the driver refused something or that it is not there,
2 that the command or a file is not as it must be.
"""
import argparse
import sys

from . import capture, faults, parse, shapes, show
from .configfs import Fabric, NotThere, Tree, Trunk, prepare
from .topology import wrong_name


class BadCommand(Exception):
    """words that do not make a command"""


def topology(args):
    """what `up` is to make"""
    if args.star is not None:
        return shapes.star(args.star, args.spare)
    if args.fat_tree is not None:
        return shapes.fat_tree(args.fat_tree, args.spare)
    if args.chain is not None:
        return shapes.chain(args.chain, args.spare)
    if args.spare:
        raise shapes.BadShape("--spare: not with a file, which says how many ports there are")
    if args.file == "-":
        return parse.parse("-", sys.stdin.buffer)
    return parse.parse_file(args.file)


def up(fabric, args):
    """make the fabric"""
    wanted = topology(args)
    prepare(fabric.tree)
    fabric.create(wanted)


def down(fabric, _args):
    """remove the fabric"""
    fabric.must_exist()
    fabric.remove()


def show_fabric(fabric, args):
    """print the fabric"""
    for line in show.ibnet(fabric) if args.ibnet else show.people(fabric):
        print(line)


def link(fabric, args):
    """cut a link, or mend it"""
    found = fabric.find_link(args.port)
    fabric.tree.write(int(args.state == "down"), fabric.name, found.folder, found.name, "cut")


def trunk(fabric, args):
    """make or remove a trunk, or print its counters"""
    if args.local in (None, "clear") and not args.peer:
        found = fabric.find_trunk(args.port)
        if args.local:
            fabric.tree.rmdir(fabric.name, found.folder, found.name)
        else:
            print(fabric.tree.read(fabric.name, found.folder, found.name, "counters"))
        return
    if not args.peer:
        raise BadCommand("trunk: expected the peer's address after %s" % args.local)
    fabric.add_trunk(fabric.find_end(args.port), args.local, args.peer, args.interval)


def fault(fabric, args):
    """set the faults of a link, or print them"""
    settings = faults.parse(args.setting)
    link_there = fabric.find_link(args.port)
    if isinstance(link_there, Trunk):
        raise NotThere("%s: a trunk, whose faults are the network's (tc-netem(8))" % args.port)
    found = faults.Faults(fabric, link_there)
    found.apply(settings)
    if not settings:
        print("\n".join(found.full()))


def capture_packets(fabric, args):
    """write the packets of a link, or of all links, to a file"""
    fabric.must_exist()
    where = (fabric.name,)
    if args.port is not None:
        where += ("links", fabric.find_link(args.port).name)
    capture.run(fabric.tree, where, args.file, args.erf, args.packets)


def positive(text):
    """the type of --packets"""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError("expected a number above 0")
    return int(text)


def fabric_name(text):
    """the type of --fabric"""
    expected = wrong_name(text)
    if expected:
        raise argparse.ArgumentTypeError("expected %s" % expected)
    return text


def parser():
    """the command line"""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--fabric", metavar="NAME", default="f0", type=fabric_name,
                        help="which fabric (default: %(default)s)")
    top = argparse.ArgumentParser(prog="vibctl", description="Fabrics of vib; see vibctl(8).")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, function):
        made = commands.add_parser(name, parents=[common], help=function.__doc__,
                                   description=function.__doc__)
        made.set_defaults(function=function)
        return made

    made_by_up = command("up", up)
    made_by_up.add_argument("--spare", type=int, default=0, metavar="N",
                            help="N more ports at each switch of a shape, for trunks")
    of_up = made_by_up.add_mutually_exclusive_group(required=True)
    of_up.add_argument("file", nargs="?", metavar="FILE",
                       help="a topology as ibnetdiscover prints it; - is the standard input")
    of_up.add_argument("--star", type=int, metavar="N", help="N adapters on one switch")
    of_up.add_argument("--fat-tree", type=int, metavar="K",
                       help="K*K/2 adapters, two levels of switches with K ports")
    of_up.add_argument("--chain", type=int, metavar="N",
                       help="N switches in a row, with an adapter each")
    command("down", down)
    command("show", show_fabric).add_argument(
        "--ibnet", action="store_true", help="as ibnetdiscover prints it")
    of_link = command("link", link)
    of_link.add_argument("port", metavar="PORT", help="one of its ends, such as ca0:1")
    of_link.add_argument("state", choices=("down", "up"))
    of_trunk = command("trunk", trunk)
    of_trunk.add_argument("port", metavar="PORT", help="its end here, such as sw0:3")
    of_trunk.add_argument("local", nargs="?", metavar="LOCAL",
                          help="this host's address, such as 10.0.0.1 or 10.0.0.1:18616; or clear")
    of_trunk.add_argument("peer", nargs="?", metavar="PEER", help="the other host's")
    of_trunk.add_argument("--interval", type=int, metavar="MS",
                          help="time between signs of life")
    of_fault = command("fault", fault)
    of_fault.add_argument("port", metavar="PORT", help="one of its ends, such as ca0:1")
    of_fault.add_argument("setting", nargs="*", metavar="SETTING",
                          help="drop=1%%, dup=0.1%%, corrupt=100ppm, delay=5ms, seed=42; "
                          "or clear")
    of_capture = command("capture", capture_packets)
    of_capture.add_argument("file", metavar="FILE", help="in pcap format; - is the standard output")
    of_capture.add_argument("port", nargs="?", metavar="PORT",
                            help="an end of the link, such as ca0:1; without it, all links")
    of_capture.add_argument("--erf", action="store_true",
                            help="as ERF records, for programs that do not know link type 247")
    of_capture.add_argument("--packets", type=positive, default=0, metavar="N",
                            help="end after so many")
    return top


def main(argv, tree=None):
    """run a command; returns the exit status"""
    args = parser().parse_args(argv)
    try:
        args.function(Fabric(tree or Tree(), args.fabric), args)
    except (parse.Malformed, shapes.BadShape, faults.BadFault, BadCommand) as error:
        status, text = 2, error
    except NotThere as error:
        status, text = 1, error
    except OSError as error:
        status, text = 1, "%s: %s" % (error.filename, error.strerror)
    else:
        return 0
    print("vibctl: %s" % text, file=sys.stderr)
    return status
