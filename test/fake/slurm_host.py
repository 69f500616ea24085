#!/usr/bin/python3 -IS
# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's side of core/channel/channel.h, for a helper process that it starts.

slurm_host.py sampler SAMPLER KEY=VALUE... -- COMMAND [ARGUMENT...]
    Plays slurmstepd for apapi-sampler: the step lasts as long as the command, which has the sampler's PID in
    $SAMPLER. The pairs are the configuration; those with '@' belong to the message that begins the step, those with
    '+' to the message that ends it. Afterwards the sampler is told to stop, and its record is printed, or why there
    is none. With $HOST_TELLS_STOP, standard error has when the order to stop was answered, how much processor time
    the sampler took for that, and the most memory that it had.
slurm_host.py collect COLLECTOR NODES NODELIST WAIT_MS COMMAND [ARGUMENT...]
    Plays srun for apapi-collect: the command sends data to $PORT with $TOKEN; then the step ends, and the report is
    printed. NODELIST is as Slurm writes it, or "" as if srun did not know it. Standard error has the time that the
    report took [ms]. With $GONE, the report is not taken. $TOTALS_MS, $BUDGET, $BUDGET_CONFIG and $SLURM_BIN are
    those of an energy budget. $OVERFLOW has limits, one a line.
"""
import os
import select
import signal
import socket
import subprocess
import sys
import time

CHANNEL_FD, LISTEN_FD, FREE_FD = 3, 4, 100
MESSAGE_MAX = 131072
TOKEN = "0123456789abcdef0123456789abcdef"


def start(program, patience_s, listener=None):
    """Start a program. Returns the channel to it, and its PID."""
    channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    channel.settimeout(patience_s)
    # first away from the numbers that they are to get
    files = [(os.POSIX_SPAWN_DUP2, other.fileno(), FREE_FD)]
    if listener:
        files.append((os.POSIX_SPAWN_DUP2, listener.fileno(), FREE_FD + 1))
        files.append((os.POSIX_SPAWN_DUP2, FREE_FD + 1, LISTEN_FD))
        files.append((os.POSIX_SPAWN_CLOSE, FREE_FD + 1))
    files.append((os.POSIX_SPAWN_DUP2, FREE_FD, CHANNEL_FD))
    files.append((os.POSIX_SPAWN_CLOSE, FREE_FD))
    ignored = [signal.SIGPIPE, signal.SIGXFSZ]  # by Python
    pid = os.posix_spawn(program, [program], os.environ, file_actions=files, setsigdef=ignored)
    other.close()
    return channel, pid


def say(channel, word, pairs):
    channel.send(os.fsencode("".join(text + "\0" for text in (word, *sum(pairs, ())))))


def pairs_of(words, mark):
    """Pairs of the words KEY=VALUE with this mark; "": without a mark."""
    marked = [word[len(mark):] for word in words if (word[0] if word[0] in "@+" else "") == mark]
    return [tuple(word.split("=", 1)) for word in marked]


def hear(channel, word):
    """Print the text of this word, or which other word has come."""
    text = b""
    heard = "part"
    while heard in ("part", "stopping"):
        try:
            message = channel.recv(MESSAGE_MAX)
        except OSError:
            message = b""
        if not message:
            print("the sampler has ended")
            return
        heard, part = (message.decode(errors="surrogateescape") + "\0").split("\0")[:2]
        text += os.fsencode(part) if heard != "stopping" else b""
    if heard != word:
        text = os.fsencode(f"{heard}: ") + text + b"\n"
    sys.stdout.flush()
    sys.stdout.buffer.write(text)


def moment(pid):
    """Now, and the processor time of a process [ms]."""
    try:
        worked = time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid(3)
    except OSError:
        worked = 0
    return time.monotonic() * 1e3, worked * 1e3


def play_slurmstepd(sampler, *words):
    separator = words.index("--")
    words, command = words[:separator], words[separator + 1:]
    channel, pid = start(sampler, 60)
    tells = "HOST_TELLS_STOP" in os.environ

    def tell(what, since):
        after, worked = (now - then for now, then in zip(moment(pid), since))
        if tells:
            print(f"{what} after {after:.3f} ms, worked {worked:.3f} ms", file=sys.stderr)

    say(channel, "config", pairs_of(words, ""))
    say(channel, "begin", pairs_of(words, "@"))
    hear(channel, "ready")
    sys.stdout.flush()
    subprocess.run(command, env={**os.environ, "SAMPLER": str(pid)}, check=False)
    begin = moment(pid)
    try:
        say(channel, "stop", pairs_of(words, "+"))
    except OSError as error:
        print(f"stop: {error}", file=sys.stderr)
    select.select([channel], [], [], 60)
    tell("answered", begin)
    hear(channel, "record")
    tell("recorded", begin)
    print(flush=True)
    used = os.wait4(pid, 0)[2]
    if tells:
        print(f"memory {used.ru_maxrss} KiB", file=sys.stderr)
    return 0


def play_srun(collector, nodes, nodelist, wait_ms, *command):
    listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
    channel, pid = start(collector, 120, listener)
    os.environ.update(PORT=str(listener.getsockname()[1]), TOKEN=TOKEN)
    listener.close()
    pairs = {"token": TOKEN, "step": "7.0", "name": "app", "nodes": nodes}
    variables = {"totals_ms": "TOTALS_MS", "budget": "BUDGET", "overflow": "OVERFLOW", "config": "BUDGET_CONFIG", "slurm_bin": "SLURM_BIN"}
    pairs.update({key: os.environ[name] for key, name in variables.items() if name in os.environ})
    say(channel, "config", list(pairs.items()))
    subprocess.run(command, check=True)
    begin_s = time.monotonic()
    if "GONE" in os.environ:
        channel.shutdown(socket.SHUT_RD)
    say(channel, "end", ([("nodelist", nodelist)] if nodelist else []) + [("wait_ms", wait_ms)])
    if "GONE" not in os.environ:
        report = channel.recv(MESSAGE_MAX).split(b"\0")[1]
        print(int((time.monotonic() - begin_s) * 1e3), file=sys.stderr)
        sys.stdout.buffer.write(report)
    return 0 if os.waitpid(pid, 0)[1] == 0 else 1


sys.exit({"sampler": play_slurmstepd, "collect": play_srun}[sys.argv[1]](*sys.argv[2:]))
