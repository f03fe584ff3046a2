"""What an election among many must have come to."""

from __future__ import annotations

from collections.abc import Sequence

from tests.integration.scenarios.leadership.candidate import Call, Candidate
from tests.integration.seed import Seed
from tests.integration.served.server import Answer


def campaigns(crowd: Sequence[Candidate]) -> list[Call]:
    """All of them ask to lead, when they are called."""
    return [candidate.ready("campaign") for candidate in crowd]


def refused(answers: Sequence[Answer]) -> set[tuple[int, str]]:
    """Status and code of answers that refuse; with an answer that does not, the whole of it."""
    return {(answer.status, answer.document.get("code", f"no refusal: {answer.document}")) for answer in answers}


def the_one_elected(answers: Sequence[Answer], crowd: Sequence[Candidate], token: int) -> Candidate:
    """Who was elected: exactly one, under this token, and all the others were told so."""
    assert {answer.status for answer in answers} == {200}, [answer.body for answer in answers if answer.status != 200]
    said = [answer.document for answer in answers]
    elected = [candidate for candidate, answer in zip(crowd, said, strict=True) if answer["elected"]]
    assert len(elected) == 1, f"{len(elected)} servers were elected at once: {said}"
    told = {(answer["leader_server_id"], answer["fencing_token"]) for answer in said}
    assert told == {(elected[0].server_id, token)}, f"not all were told of the same leader: {told}"
    return elected[0]


def nobody_elected(answers: Sequence[Answer], leader: Candidate, token: int) -> None:
    """All were told that this server leads, and that they do not."""
    assert {answer.status for answer in answers} == {200}, [answer.body for answer in answers if answer.status != 200]
    told = {
        tuple(answer.document[name] for name in ("elected", "leader_server_id", "fencing_token")) for answer in answers
    }
    assert told == {(False, leader.server_id, token)}, told


def leads(seed: Seed, leader: Candidate, token: int) -> None:
    """The leadership row and the newest term name this server's boot and token."""
    row, term = seed.row("leadership"), seed.row("leadership_terms", fencing_token=token)
    found = (row["leader_server_id"], row["leader_boot_id"].hex(), row["fencing_token"])
    boot = leader.boot_id.replace("-", "")
    assert found == (leader.server_id, boot, token), found
    assert (term["server_id"], term["boot_id"].hex(), term["ended_at"]) == (leader.server_id, boot, None), term
    assert term["elected_at"] <= row["renewed_at"]
