# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What survives the death of a swap: a journal of what it has begun, and the lock."""
import fcntl
import json
import os

from .host import Failed, refusals

PATH = "/var/lib/ibex/swap.json"
LOCK = "/run/ibexctl.lock"


class Journal:
    """the swap that is going on, or was interrupted"""

    def __init__(self, host):
        self.host = host

    def load(self):
        """what is in the journal, or None if no swap is going on"""
        text = self.host.read(PATH)
        if text is None:
            return None
        try:
            found = json.loads(text)
            found["from"], found["to"], found["step"], found["state"]
        except (ValueError, KeyError, TypeError):
            raise Failed("%s is not a journal of ibexctl: look at it, then delete it"
                         % PATH) from None
        return found

    def write(self, entry):
        """note what is about to be done"""
        self.host.save(PATH, json.dumps(entry, indent=1) + "\n")

    def clear(self):
        """the swap has ended"""
        self.host.remove(PATH)


class Lock:
    """is held while a swap goes on, by its commands too, which may live longer"""

    def __init__(self, host):
        self.host = host
        self.fd = None

    def take(self, patience=0):
        """take it, waiting for so many seconds"""
        full = self.host.path(LOCK)
        with refusals(LOCK):
            os.makedirs(os.path.dirname(full), exist_ok=True)
            self.fd = os.open(full, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        end = self.host.now() + patience
        while True:
            try:
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if self.host.now() >= end:
                    self.drop()
                    raise Failed("another ibexctl is changing the core") from None
                self.host.sleep(0.2)
        self.host.kept = (self.fd,)

    def drop(self):
        """let others have it"""
        if self.fd is not None:
            os.close(self.fd)
        self.fd = None
        self.host.kept = ()

    def is_taken(self):
        """whether a swap is going on"""
        try:
            fd = os.open(self.host.path(LOCK), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
