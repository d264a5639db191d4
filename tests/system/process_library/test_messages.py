"""Messages between processes of the library: order, types, windows, broken connections, who is let in."""

import random
import time

import pytest
from standin import Agent, Proxy, kill, wait_until

DONE, FULL, NOTHING = 0, 1, 2
NOTFOUND, TOOBIG, CLOSED, INVALID = -4, -8, -12, -1
CAME, GONE, LEAVE = 1, 2, 3
ANY = -1


@pytest.fixture(params=["ipc", "127.0.0.1"])
def agent(request):
    with Agent(request.param) as made:
        yield made


def test_messages_come_in_order_and_whole(agent):
    one, two = agent.run(2)
    for size, count in ((0, 1), (8, 3000), (5000, 300), (3_000_001, 7)):
        one.begin("stream", 1, 5, 0, count, size, -1)
        assert two.ask("expect", 0, 5, 0, count, size, 60000) == (0, str(count))
        assert one.answer() == (0, str(count))
    assert two.ask("receive", ANY, ANY, 0) == (NOTHING, "")


def test_both_ways_at_once(agent):
    one, two = agent.run(2)
    for turn in range(3):
        for a, b in ((one, two), (two, one)):
            a.begin("stream", b.number, 1, turn * 1000, 1000, 100, -1)
        for a, b in ((one, two), (two, one)):
            assert a.answer() == (DONE, "1000")
            a.begin("expect", b.number, 1, turn * 1000, 1000, 100, 60000)
        assert one.answer() == two.answer() == (DONE, "1000")


def test_a_process_takes_by_sender_and_by_type(agent):
    one, two, three = agent.run(3)
    assert two.ask("send", 0, 7, -1, "two-seven") == (DONE, "")
    assert two.ask("send", 0, 8, -1, "two-eight") == (DONE, "")
    assert two.ask("send", 0, 7, -1, "two-seven-again") == (DONE, "")
    assert one.ask("probe", 1, 8, 20000) == (DONE, "1 8 9 ")
    assert three.ask("send", 0, 7, -1, "three-seven") == (DONE, "")
    assert one.ask("probe", 2, ANY, 20000) == (DONE, "2 7 11 ")
    assert one.ask("receive", 2, 7, 0) == (DONE, "2 7 11 three-seven")
    assert one.ask("receive", ANY, 8, 0) == (DONE, "1 8 9 two-eight")
    assert one.ask("receive", 1, 9, 0) == (NOTHING, "")
    assert one.ask("receive", ANY, ANY, 20000) == (DONE, "1 7 9 two-seven")
    assert one.ask("receive", 1, ANY, 20000) == (DONE, "1 7 15 two-seven-again")
    assert one.ask("receive", ANY, ANY, 50) == (NOTHING, "")


def test_a_message_without_room_stays(agent):
    one, two = agent.run(2)
    assert two.ask("send", 0, 3, -1, "twelve-bytes") == (DONE, "")
    assert one.ask("probe", 1, 3, 20000)[0] == DONE
    code, text = one.ask("receive", 1, 3, 0, 11)
    assert code == TOOBIG and "has 12 bytes, and there is room for 11" in text
    assert one.ask("receive", 1, 3, 0, 12) == (DONE, "1 3 12 twelve-bytes")


def test_to_itself(agent):
    one, = agent.run(1)
    assert one.ask("send", 0, 3, -1, "me") == (DONE, "")
    assert one.ask("receive", 0, 3, 0) == (DONE, "0 3 2 me")
    assert one.ask("stream", 0, 1, 0, 2000, 8, -1) == (FULL, "1024")
    assert one.ask("expect", 0, 1, 0, 1024, 8, 0) == (DONE, "1024")


@pytest.mark.parametrize("host", ["ipc", "127.0.0.1"])
def test_a_full_window_holds_the_sender(host):
    with Agent(host, arguments=(10, 1000)) as agent:
        one, two = agent.run(2)
        assert one.ask("stream", 1, 1, 0, 20, 8, 0) == (FULL, "10")
        assert one.ask("stream", 1, 1, 10, 1, 8, 100) == (FULL, "0")
        one.begin("stream", 1, 1, 10, 10, 8, -1)  # waits
        assert two.ask("expect", 0, 1, 0, 20, 8, 30000) == (DONE, "20")
        assert one.answer() == (DONE, "10")
        # by bytes: a window's worth at once, and no more
        code, text = one.ask("stream", 1, 2, 0, 1, 1001, -1)
        assert code == TOOBIG and "1001 bytes does not fit into the window of 1000 bytes" in text
        assert one.ask("stream", 1, 2, 0, 2, 400, 30000) == (DONE, "2")
        assert one.ask("stream", 1, 2, 2, 1, 400, 0) == (FULL, "0")
        assert two.ask("expect", 0, 2, 0, 2, 400, 30000) == (DONE, "2")
        assert one.ask("stream", 1, 2, 0, 1, 1000, 30000) == (DONE, "1")
        assert two.ask("expect", 0, 2, 0, 1, 1000, 30000) == (DONE, "1")


def test_what_is_sent_to_one_that_is_starting_waits_for_it(agent):
    one, = agent.run(1)
    assert one.ask("add") == (2, "1")
    assert one.ask("stream", 1, 4, 0, 500, 64, 0) == (DONE, "500")
    assert one.ask("about", 1) == (0, "1 0 0 -1 0")
    assert one.ask("stream", 1, 4, 500, 2000, 64, 0) == (FULL, "524")
    two = agent.come(1)
    assert two.answer() == (2, "1 0 64")
    assert two.ask("expect", 0, 4, 0, 1024, 64, 30000) == (DONE, "1024")
    assert one.ask("notice", 30000) == (1, "1 1 0 -1 0 0")


def test_what_one_that_never_came_was_sent_is_said_to_be_lost(agent):
    one, = agent.run(1)
    assert one.ask("add") == (2, "1")
    assert one.ask("stream", 1, 4, 0, 5, 64, 0) == (DONE, "5")
    agent.gone(1, "not started")
    assert one.ask("notice", 30000) == (1, "2 1 5 -1 0 5")
    code, text = one.ask("send", 1, 4, 0, "more")
    assert code == CLOSED and "process 1 is gone (it could not be started)" in text


def test_the_death_of_one_is_told_with_what_it_had_not_taken(agent):
    one, two = agent.run(2)
    assert one.ask("stream", 1, 4, 0, 9, 64, -1) == (DONE, "9")
    assert two.ask("expect", 0, 4, 0, 3, 64, 30000) == (DONE, "3")
    assert two.ask("send", 0, 1, -1, "last-words") == (DONE, "")
    assert one.ask("probe", 1, 1, 30000)[0] == DONE  # with it came that three are taken; six are not
    kill(two)
    one.begin("receive", 1, 2, -1)  # waits for what will never come
    agent.gone(1, "died", signal=9)
    code, text = one.answer()
    assert code == CLOSED and "process 1 is gone (it died)" in text
    assert one.ask("notice", 0) == (1, "2 1 3 -1 9 6")
    assert one.ask("receive", 1, ANY, 0) == (DONE, "1 1 10 last-words")
    assert one.ask("receive", 1, ANY, -1)[0] == CLOSED
    assert one.ask("list") == (1, "0")
    assert one.end() == (0, "")


def test_nobody_of_that_number(agent):
    one, = agent.run(1)
    code, text = one.ask("send", 17, 1, 0, "x")
    assert code == NOTFOUND and "process 0 knows of no process 17" in text
    assert one.ask("receive", 17, 1, 0)[0] == NOTFOUND
    assert one.ask("send", 0, -2, 0, "x")[0] == INVALID
    assert one.ask("receive", -2, 1, 0)[0] == INVALID


def test_finish_waits_until_everything_is_received(agent):
    one, two = agent.run(2)
    assert one.ask("stream", 1, 4, 0, 1000, 2000, -1) == (DONE, "1000")
    assert one.end() == (0, "")
    wait_until(lambda: agent.states[0] == "gone")
    assert two.ask("expect", 0, 4, 0, 1000, 2000, 0) == (DONE, "1000")
    assert two.ask("receive", 0, ANY, -1)[0] == CLOSED
    assert two.ask("notice", 30000) == (1, "2 0 1 0 0 0")


def test_finish_says_what_was_not_received():
    with Agent(arguments=(0, 0, 200)) as agent:
        one, = agent.run(1)
        assert one.ask("add") == (2, "1")
        assert one.ask("stream", 1, 4, 0, 3, 10, 0) == (DONE, "3")
        code, text = one.end()
        assert code == -11 and text.startswith("3 messages of process 0 were not received")


def through(agent, number):
    """Connections to that process go through a proxy."""
    proxy = Proxy(agent.addresses[number])
    agent.replace[number] = proxy.address
    return proxy


def test_no_loss_and_no_duplicate_where_connections_break():
    with Agent("127.0.0.1") as agent:
        one = agent.start()
        assert one.answer()[0] == 1
        proxy = through(agent, 0)
        two = agent.start()
        assert two.answer()[0] == 1
        rng, sent = random.Random(20261128), 20000
        two.begin("stream", 0, 1, 0, sent, 900, -1)
        one.begin("expect", 1, 1, 0, sent, 900, 60000)
        for _ in range(12):
            time.sleep(rng.uniform(0.02, 0.15))
            proxy.stalled = True   # what comes now is held by the kernel and lost with the connection
            time.sleep(rng.uniform(0, 0.05))
            proxy.cut()
            proxy.stalled = False
        assert two.answer(200) == (DONE, str(sent))
        assert one.answer(200) == (DONE, str(sent))
        assert one.ask("receive", ANY, ANY, 300) == (NOTHING, "")
        assert proxy.cuts >= 2
        proxy.close()


def test_the_last_message_is_not_lost_with_the_connection():
    with Agent("127.0.0.1") as agent:
        one = agent.start()
        assert one.answer()[0] == 1
        proxy = through(agent, 0)
        two = agent.start()
        assert two.answer()[0] == 1
        assert two.ask("send", 0, 1, -1, "first") == (DONE, "")
        assert one.ask("receive", 1, 1, 30000) == (DONE, "1 1 5 first")
        proxy.stalled = True
        time.sleep(0.05)
        assert two.ask("send", 0, 1, -1, "second") == (DONE, "")
        assert two.ask("idle", 50)[0] == 0
        proxy.cut()
        proxy.stalled = False
        assert one.ask("receive", 1, 1, 60000) == (DONE, "1 1 6 second")
        assert two.end() == (0, "")
        proxy.close()


def test_who_has_another_key_is_not_let_in():
    with Agent("127.0.0.1", arguments=(0, 0, 300)) as agent, Agent("127.0.0.1", arguments=(0, 0, 300)) as foreign:
        one, = agent.run(1)
        foreign.next = 1
        stranger = foreign.start()
        assert stranger.answer()[0] == 1
        # it knows the address, and has a key of another run
        foreign.say(1, do="process", process=0, state="running", address=agent.addresses[0])
        wait_until(lambda: stranger.ask("list") == (2, "0 1"))
        assert stranger.ask("send", 0, 1, -1, "let-me-in") == (DONE, "")
        assert one.ask("receive", ANY, ANY, 700) == (NOTHING, "")
        code, text = stranger.end()
        assert code == -11 and text.startswith("1 messages")
        # one of the run is let in all the same
        two = agent.start()
        assert two.answer()[0] == 1
        assert two.ask("send", 0, 1, -1, "hello") == (DONE, "")
        assert one.ask("receive", 1, 1, 30000) == (DONE, "1 1 5 hello")
