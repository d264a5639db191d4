#!/usr/bin/env python3
"""decisions.py: a program asks for a rank, refuses a growth by an action, gives a rank back, and plans which actions are called
in which order. It starts on one rank."""

import time

import pleat

called = []

with pleat.Session() as session:
    state = session.values(phase=0)

    @session.action("first")
    def first(moment, change):
        called.append(("first", moment, change.to))
        if moment is pleat.BEFORE and change.to == 4:
            raise pleat.Refuse

    @session.action("second")
    def second(moment, change):
        called.append(("second", moment, change.to))
        return session.comm.size == session.size

    session.on_plan(lambda moment, change, names: names[::-1])
    session.begin()
    asked_in = None
    while not session.leaving and state.phase < 3:
        done = None
        if session.rank == 0:
            if asked_in != state.phase:
                asked_in = state.phase
                (lambda: session.ask(1), lambda: session.ask(2), lambda: session.give_back(1))[asked_in]()
            granted = session.asked.state is pleat.Asked.GRANTED
            done = (granted and session.size == 2, session.failure is not None, granted and session.size == 1)[state.phase]
        if session.comm.bcast(done):
            if state.phase == 1:
                session.ask(0)
            state.phase += 1
            continue
        time.sleep(0.002)
        session.adapt()
    if not session.leaving:
        there = [("second", pleat.BEFORE, 2), ("first", pleat.BEFORE, 2), ("second", pleat.AFTER, 2), ("first", pleat.AFTER, 2)]
        refused = [("second", pleat.BEFORE, 4), ("first", pleat.BEFORE, 4), ("first", pleat.NOT_DONE, 4), ("second", pleat.NOT_DONE, 4)]
        back = [("second", pleat.BEFORE, 1), ("first", pleat.BEFORE, 1), ("second", pleat.AFTER, 1), ("first", pleat.AFTER, 1)]
        assert called == there + refused + back, called
        assert "first" in str(session.failure), session.failure
        assert (session.change.current, session.change.to, session.change.relaunch) == (2, 1, False), session.change
        print("RESULT ok")
