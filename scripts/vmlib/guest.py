# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The files in /ibex of a machine: those of tests/vm, and the test modules and programs,
which are built here."""
import glob
import os
import shlex

from .common import BENCH, TESTS, TOOLS, TOP, die, digest, read, script

UAPI = os.path.join(TOP, "include", "uapi")
# what a scenario may name beside the image's archives
SUBJECTS = ("siw", "rnbd", "smbdirect")
PROGRAMS = ("mpi", "smb")


def cached(name, key, command):
    """the directory in the cache that command makes, given its path; see scripts/cache"""
    made = script("cache", name, key, *command)
    if not made:
        die(name, "does not build")
    return made


def modules_of(path, kernel):
    """the modules of a folder with a Kbuild, built against the kernel's headers"""
    name = os.path.basename(path)
    files = [p for p in glob.glob(path + "/**", recursive=True)
             if p.endswith((".c", ".h", "Kbuild"))]
    # Those that use what our modules offer beyond the kernel's headers say so in Kbuild.  The
    # loader wants the versions of such exports, where there are any.
    own = b""
    symvers = os.path.join(TOP, "build", kernel.kver, "Module.symvers")
    if b"IBEX_SRC" in read(os.path.join(path, "Kbuild")):
        for pattern in ("*.h", "*.mk"):
            files += glob.glob(os.path.join(TOP, "include", "ibex", "**", pattern), recursive=True)
        files += glob.glob(os.path.join(TOP, "include", "uapi", "*", "*.h"))
        if os.path.exists(symvers):
            own = b"".join(line for line in read(symvers).splitlines(True)
                           if b"\tibex_" in line)
    build = """cp -rL "$0" "$4" && printf '%s' "$3" > "$4/own.symvers" &&
        make -s -C "$1" M="$4" IBEX_SRC="$2" \\
            KBUILD_EXTRA_SYMBOLS="$4/own.symvers" W=1 modules"""
    out = cached("guest-" + name, digest(files, kernel.kdir, build, own),
                 ["sh", "-c", build, path, kernel.kdir, TOP, own.decode()])
    return {"ibex/%s/%s" % (name, os.path.basename(m)): m
            for m in glob.glob(out + "/*.ko")}


def made_libibex():
    """the directory with libibex"""
    path = os.path.join(TOP, "tools", "libibex")
    abi = os.path.join(TOP, "include", "uapi", "ibex", "xrc.h")
    files = [p for p in glob.glob(path + "/**", recursive=True) if os.path.isfile(p)]
    return cached("guest-libibex", digest(files + [abi]),
                  ["sh", "-c", 'make -s -C "$0" OUT="$1"', path])


def libibex():
    """the verbs that libibverbs does not have"""
    return {"usr/lib/x86_64-linux-gnu/libibex.so.1":
            os.path.join(made_libibex(), "libibex.so.1")}


def program_of(path, sdk=None):
    """
    Build the program of a folder, linked statically with the libraries that the folder's
    file libs lists; or dynamically, if that begins with the word dynamic. It may list
    sources of other programs, too, whose headers are found then. The directory sdk has more
    headers and libraries, in include/ and lib/.
    """
    name = os.path.basename(path)
    libs = os.path.join(path, "libs")
    libs = read(libs).decode().split() if os.path.exists(libs) else []
    shared = [os.path.normpath(os.path.join(path, w)) for w in libs if w.endswith(".c")]
    libs = [w for w in libs if not w.endswith(".c")]
    folders = sorted({path} | {os.path.dirname(source) for source in shared})
    sources = sorted(glob.glob(os.path.join(path, "*.c"))) + shared
    more = [p for f in folders for p in glob.glob(os.path.join(f, "*.h"))]
    more += glob.glob(os.path.join(path, "libs")) + glob.glob(os.path.join(UAPI, "rdma", "*.h"))
    if libs[:1] == ["dynamic"]:
        options = libs[1:]
    else:
        options = libs + ["-static"]
    if "-libex" in libs:
        options = ["-I" + os.path.join(TOP, "tools", "libibex"),
                   "-L" + made_libibex()] + options
    if sdk:
        # The libraries that these libraries need are not there.
        options = ["-I" + os.path.join(sdk, "include"), "-L" + os.path.join(sdk, "lib"),
                   "-Wl,--allow-shlib-undefined"] + options
    options = ["-I" + f for f in folders if f != path] + options
    build = """mkdir "${!#}" && gcc -O2 -Wall -Wextra -Werror \\
        -o "${!#}/$0" "${@:1:$#-1}" """
    out = cached("guest-" + name, digest(sources + more, build, sdk),
                 ["bash", "-c", build, name] + sources + ["-I" + UAPI] + options)
    return {"ibex/bin/" + name: os.path.join(out, name)}


def subject(name, kernel):
    """modules that the distribution's kernel lacks; see scripts/vmlib/subject-build"""
    made = script("vmlib/subject-build", name, kernel.kdir)
    if not made:
        die(name, "does not build")
    return {"ibex/%s/%s" % (name, os.path.basename(m)): m
            for m in glob.glob(made + "/*.ko") + [made + "/order"]}


def programs(name):
    """
    an archive of programs, without its suffix; and those of our programs that need its
    libraries; see scripts/vmlib/vm-programs
    """
    made = script("vmlib/vm-programs", name)
    if not made:
        die("vm-programs failed")
    ours = {}
    for path in sorted(glob.glob(os.path.join(TESTS, "linked", name, "*"))):
        ours.update(program_of(path, made))
    return os.path.join(made, name), ours


def libvib():
    """vib's provider for libibverbs, at the places where that looks for it"""
    path = os.path.join(TOP, "tools", "libvib")
    files = [p for p in glob.glob(path + "/*") if os.path.isfile(p)]
    abi = os.path.join(UAPI, "rdma", "vib-abi.h")
    made = cached("guest-libvib", digest(files + [abi]),
                  ["sh", "-c", 'make -s -C "$0" OUT="$1"', path])
    lib = "usr/lib/x86_64-linux-gnu/libibverbs/libvib-rdmav34.so"
    return {lib: os.path.join(made, os.path.basename(lib)),
            "etc/libibverbs.d/vib.driver": os.path.join(path, "vib.driver")}


def built(kernel):
    """path in the guest -> path here, for all modules and programs"""
    made = modules_of(BENCH, kernel)
    made.update(modules_of(os.path.join(TOP, "drivers", "vib"), kernel))
    made.update(libvib())
    made.update(libibex())
    for path in sorted(glob.glob(os.path.join(TESTS, "modules", "*"))):
        # diffkapi calls functions that the in-tree core of 6.1 does not have.
        if not kernel.is_6_1 or os.path.basename(path) != "diffkapi":
            made.update(modules_of(path, kernel))
    for path in sorted(glob.glob(os.path.join(TESTS, "programs", "*"))):
        made.update(program_of(path))
    return made


def init():
    """the program of the first process"""
    return {"init": (0o755, read(os.path.join(TESTS, "init")))}


def tests():
    """the files of tests/vm that are not built: path in the guest -> (mode, bytes)"""
    files = init()
    for top, pattern in ((TESTS, "*"), (TESTS, "lib/*"), (TESTS, "tools/*"), (TESTS, "nets/*"),
                         (TESTS, "scenarios/*/*"), (TOOLS, "vibctl/vibctl"),
                         (TOOLS, "vibctl/vib/*.py"), (TOOLS, "ibexctl/bin/*"),
                         (TOOLS, "ibexctl/ibexctl/*.py"),
                         (os.path.join(TOP, "tests", "kunit"), "fuzz/corpus/*")):
        for path in glob.glob(os.path.join(top, pattern)):
            if os.path.isfile(path):
                files["ibex/" + os.path.relpath(path, top)] = (0o755, read(path))
    return files


def config(**values):
    """ibex/config, which init reads"""
    text = "".join("%s=%s\n" % (k, shlex.quote(str(v))) for k, v in values.items())
    return {"ibex/config": (0o644, text.encode())}
