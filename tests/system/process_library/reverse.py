"""Asks for a process, sends it bytes, and gets them back in reverse: docs/processes.md."""
from pleat import processes

with processes.begin() as everybody:
    if everybody.begun is processes.JOINED:
        message = everybody.receive()
        everybody.join("reversers")
        everybody.send(message.source, bytes(reversed(message.data)), type=2)
    elif everybody.begun is processes.STARTED:
        other = everybody.add()  # never waits for a processor
        everybody.send(other.process, b"olleh", type=1)
        print(everybody.receive(other.process, type=2).data.decode(), flush=True)
