#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A sampler's side of marks: fake_marks.py PAGE LOG; prints a line when it is ready. Each message is a line of LOG.

It knows no energy of "new", no uncertainty of "vague", refuses "wrong", does not answer "silent", and answers "foreign" with other bytes.
"""
import contextlib
import socket
import struct
import sys

LAYOUT = struct.Struct("=8sIIdd40s256s")
KINDS = {3: "begin", 4: "end", 5: "read", 6: "fom"}
DONE, REFUSED = 7, 8
WITHIN_J = {"vague": float("nan")}


def text(field):
    return field.split(b"\0")[0].decode(errors="replace")


def answer(kind, name):
    if name == "wrong":
        return LAYOUT.pack(b"APAPIREM", 2, REFUSED, 0, 0, b"", b"region wrong is\x1b[31m not open")
    return LAYOUT.pack(b"APAPIREM", 2, DONE, float("nan") if name == "new" else 1234.5, WITHIN_J.get(name, 25), b"", name.encode())


def main(page, log):
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(page + ".regions")
    server.listen(8)
    print("ready", flush=True)
    kept = []
    while True:
        connection, _ = server.accept()
        kept.append(connection)
        magic, version, kind, value, _, unit, name = LAYOUT.unpack(connection.recv(4096))
        assert magic == b"APAPIREM" and version == 2
        with open(log, "a") as out:
            print(KINDS[kind], text(name), *([value, text(unit)] if kind == 6 else []), file=out)
        with contextlib.suppress(BrokenPipeError):  # on a busy machine the mark may have given up
            if text(name) == "foreign":
                connection.send(b"x" * LAYOUT.size)
            elif text(name) != "silent":
                connection.send(answer(kind, text(name)))


main(*sys.argv[1:])
