"""Whoever came later ends the say of whoever was before: terms (I1, I2), task owners (I6), grants (I4)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from tests.invariants.exchange import Exchange

_LEADERS = re.compile(r"/leadership/(heartbeat|resign)|/plan|/housekeeping")
_OWNERS = re.compile(r"/tasks/(\d+)/(heartbeat|complete|fail|release|credentials|batches/\d+)")


def check(history: Iterable[Exchange]) -> list[str]:
    """Sentences for every accepted write that came after its writer had been followed by another."""
    decided = [each for each in history if each.side == "coordinator" and each.succeeded]
    return [*_terms(decided), *_owners(decided), *_grants(decided)]


def _terms(decided: Iterable[Exchange]) -> Iterator[str]:
    said = []
    for each in decided:
        if _LEADERS.fullmatch(each.path) and each.method == "POST":
            said.append((each, each.said["fencing_token"]))
        elif each.path == "/leadership/campaign" and each.answer.get("elected"):
            said.append((each, each.answer["fencing_token"]))
    for each, token, newer in _overtaken(said):
        yield f"I2: {each.method} {each.path} by term {token} was accepted after term {newer} had been answered"


def _owners(decided: Iterable[Exchange]) -> Iterator[str]:
    of_task: dict[int, list[tuple[Exchange, int]]] = defaultdict(list)
    for each in decided:
        if each.path == "/tasks/acquire" and each.status == 200:
            of_task[each.answer["task_id"]].append((each, each.answer["fencing_token"]))
        elif found := _OWNERS.fullmatch(each.path):
            of_task[int(found[1])].append((each, each.said["fencing_token"]))
    for said in of_task.values():
        for each, token, newer in _overtaken(said):
            yield f"I6: {each.method} {each.path} by owner {token} was accepted after owner {newer} had been answered"


def _grants(decided: Iterable[Exchange]) -> Iterator[str]:
    holders: dict[tuple[int, int], tuple[str, str]] = {}
    for each in decided:
        if each.path != "/tasks/acquire" or each.status != 200:
            continue
        grant = (each.answer["task_id"], each.answer["fencing_token"])
        asked = (each.said["server_id"], each.said["boot_id"])
        if holders.setdefault(grant, asked) != asked:
            yield f"I4: task {grant[0]} by token {grant[1]} was given to {holders[grant]} and to {asked}"


def _overtaken(said: list[tuple[Exchange, int]]) -> Iterator[tuple[Exchange, int, int]]:
    """Writes that began after one with a higher token had ended: real time, so nothing can excuse them."""
    ends = sorted((each.ended, token) for each, token in said)
    place, newest = 0, 0
    for each, token in sorted(said, key=lambda pair: pair[0].began):
        while place < len(ends) and ends[place][0] < each.began:
            newest = max(newest, ends[place][1])
            place += 1
        if token < newest:
            yield each, token, newest
