"""What people see of the progress, as lines and as a picture."""

import io

import pytest
from rich.console import Console

from deploy.cluster.progress import Goal, PlainProgress
from deploy.cluster.screen import LiveProgress, draw
from deploy.cluster.watching import RunningCrawl, ServerSeen, Snapshot

GOAL = Goal({("bazaar", f"seller-{number:02d}"): 20_000 for number in range(1, 11)})


def snapshot(servers: int = 1, accounts_crawled: int = 4, silent_seconds: float = 0.0) -> Snapshot:
    """Servers with one running crawl and two free slots each; the first one leads."""
    names = [f"server-{number}" for number in range(1, servers + 1)]
    return Snapshot(
        leader_server_id="server-1",
        term=2,
        servers=[ServerSeen(name, 3, 1, silent_seconds) for name in names],
        running=[RunningCrawl(name, "partner-07", "bazaar", "seller-03", 12_345) for name in names],
        accounts_crawled=accounts_crawled,
        records=92_345,
    )


def picture(shown: Snapshot, width: int, room: int = 30) -> list[str]:
    """The picture's lines on a terminal of that width."""
    console = Console(width=width, file=io.StringIO(), force_terminal=True, color_system=None)
    with console.capture() as capture:
        console.print(draw(shown, GOAL, per_second=1_000.0, seconds=65.0, room=room))
    return capture.get().splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_the_picture_tells_everything_within_the_terminal(width: int) -> None:
    lines = picture(snapshot(servers=3), width)
    assert {len(line) for line in lines} == {width}
    text = "\n".join(lines)
    assert "4 / 10" in text
    assert "92,345 / 200,000" in text
    assert "1,000 rows/s, about 1:47 to go" in text
    assert "leader server-1, term 2" in text
    assert text.count("12,345 / 20,000") == 3
    assert text.count("free") == 6
    assert text.count("leads") == 1


def test_a_server_that_is_not_heard_of_is_shown_as_silent() -> None:
    assert "silent" in "\n".join(picture(snapshot(silent_seconds=11.0), 80))
    assert "silent" not in "\n".join(picture(snapshot(silent_seconds=4.0), 80))


def test_slots_for_which_there_is_no_room_are_counted() -> None:
    lines = picture(snapshot(servers=5), 80, room=4)
    assert "and 11 more" in lines[-2]
    assert len(lines) < len(picture(snapshot(servers=5), 80))


def test_without_servers_it_says_so() -> None:
    assert "no server has registered yet" in "\n".join(picture(snapshot(servers=0), 80))


def test_a_terminal_is_left_with_the_steps_and_the_last_picture() -> None:
    console = Console(width=80, height=24, file=io.StringIO(), force_terminal=True, color_system=None)
    progress = LiveProgress(GOAL, console)
    with progress.step("something [odd]"):
        pass
    progress.show(snapshot())
    progress.remark("a server was lost [really]")
    progress.show(snapshot(accounts_crawled=10))
    progress.close()
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "✓ something [odd]" in shown
    assert "a server was lost [really]" in shown
    assert "done" in shown


def test_a_pipe_gets_a_line_for_each_step_and_one_now_and_then() -> None:
    lines: list[str] = []
    progress = PlainProgress(GOAL, lines.append)
    with progress.step("MySQL"):
        pass
    progress.show(snapshot())
    progress.show(snapshot())
    progress.close()
    assert lines[0].startswith("MySQL (0.0 s)")
    assert lines[1:] == [
        "4/10 accounts, 92,345/200,000 listings, 0 rows/s, no pace yet; leader server-1, term 2; slots: server-1 1/3"
    ]
