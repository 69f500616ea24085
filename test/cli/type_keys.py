#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Types keys into an interactive shell, and prints the line that stands there then.

usage: type_keys.py SHELL START TABS KEYS...
START is a command that is run first. Each KEYS is typed at a prompt of its own, then TABS tab keys. With two tab keys, what
the shell lists is printed, too.
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

shell, start, tabs = sys.argv[1:4]
WAIT_S = 300  # zsh reads its functions for a second, on a busy machine for a minute
END = b"<END"
READY = rb"ready\r\n.*PROMPT> "  # a prompt that comes after what was echoed


def read_until(fd, pattern):
    """What the terminal shows until `pattern`."""
    text, end = b"", time.monotonic() + WAIT_S
    while time.monotonic() < end:
        if re.search(pattern, text):
            return text
        if select.select([fd], [], [], 0.1)[0]:
            text += os.read(fd, 65536)
    sys.exit(f"no {pattern!r} in {text!r}")


child, fd = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 1000, 0, 0))  # rows, columns: a line is never cut
    os.environ.update(PS1="", TERM="dumb", INPUTRC="/dev/null", HISTFILE="/dev/null")
    words = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}[shell]
    os.execvp(words[0], words)
setup = "PS1='PROMPT> '; unset PROMPT_SP"
os.write(fd, f"{setup}; {start}; echo rea''dy\n".encode())
read_until(fd, READY)
for keys in sys.argv[4:]:
    # what is typed after the tabs is shown when they have been answered
    os.write(fd, keys.encode() + b"\t" * int(tabs) + END)
    shown = read_until(fd, re.escape(END))
    text = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]|[\r\x07\x08]", b"", shown).decode(errors="replace")
    print(text.removesuffix(END.decode()))
    os.write(fd, b"\x15echo rea''dy\n")  # the line is emptied
    read_until(fd, READY)
os.kill(child, 9)
