"""A program of somebody who has installed Pleat: it goes on until it has two ranks."""

import time

import pleat

with pleat.Session() as session:
    rows = session.rows("rows", 100, dtype=int)
    if session.begin() is pleat.STARTED:
        rows.local[:] = rows.indices
    while session.size < 2:
        time.sleep(0.002)
        session.adapt()
    total = session.comm.allreduce(int(rows.local.sum()))
    if session.rank == 0:
        print(f"RESULT {'ok' if total == 4950 else 'wrong'} on {session.size} ranks")
