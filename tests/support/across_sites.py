"""A program of an evolving job: has a process at the site that is named, which answers with its node's name."""
import os, sys
from pleat import processes
with processes.begin() as everybody:
    if everybody.begun is processes.JOINED:
        message = everybody.receive()
        everybody.send(message.source, bytes(reversed(message.data)) + os.environb[b"PLEAT_NODE"], type=2)
    elif everybody.begun is processes.STARTED:
        other = everybody.add(site=sys.argv[1])
        everybody.send(other.process, b"olleh ", type=1)
        print(everybody.receive(other.process, type=2).data.decode(), flush=True)
