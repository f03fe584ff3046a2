"""Problems: every one survives its document, and a side that does not know a code still learns what came."""

import inspect
import json

import pytest

from shared import problems
from shared.problems import Problem, StaleFencingToken, UnknownProblem, from_document

ALL = [
    kind
    for _, kind in inspect.getmembers(problems, inspect.isclass)
    if issubclass(kind, Problem) and "code" in vars(kind)
]
CODES_OF_THE_DESIGN = {
    "batch_conflict": 409,
    "batch_gap": 409,
    "boot_superseded": 409,
    "checkpoint_regression": 409,
    "lease_expired": 409,
    "nonce_replayed": 401,
    "server_draining": 409,
    "server_id_in_use": 409,
    "server_not_registered": 409,
    "signature_expired": 401,
    "signature_invalid": 401,
    "stale_fencing_token": 409,
    "stale_request": 409,
    "stale_task_owner": 409,
    "task_stalled": 409,
}


def over_the_wire(problem: Problem) -> Problem:
    return from_document(problem.status, json.loads(json.dumps(problem.to_document())), problem.retry_after_seconds)


@pytest.mark.parametrize("kind", ALL)
def test_it_survives_its_document(kind: type[Problem]) -> None:
    raised = kind("What was wrong, and what to do", retry_after_seconds=2.5, seen=[1, {"x": None}])
    caught = over_the_wire(raised)
    assert type(caught) is kind
    assert (caught.status, caught.code, caught.detail) == (kind.status, kind.code, "What was wrong, and what to do")
    assert (caught.members, caught.retry_after_seconds) == ({"seen": [1, {"x": None}]}, 2.5)
    assert str(caught) == "What was wrong, and what to do"


@pytest.mark.parametrize("kind", ALL)
def test_without_a_detail_it_says_its_title(kind: type[Problem]) -> None:
    assert over_the_wire(kind()).detail == kind.title


@pytest.mark.parametrize("kind", ALL)
def test_its_document_is_that_of_the_standard(kind: type[Problem]) -> None:
    document = kind("detail", member=1).to_document()
    assert document == {
        "type": "about:blank",
        "status": kind.status,
        "code": kind.code,
        "title": kind.title,
        "detail": "detail",
        "member": 1,
    }
    assert 400 <= kind.status < 600


def test_every_code_is_one_class() -> None:
    assert len({kind.code for kind in ALL}) == len(ALL)
    assert set(problems.BY_CODE.values()) == set(ALL)


def test_the_protocols_codes_are_there_with_their_status() -> None:
    assert {code: problems.BY_CODE[code].status for code in CODES_OF_THE_DESIGN} == CODES_OF_THE_DESIGN


def test_members_never_replace_what_the_standard_fixes() -> None:
    document = StaleFencingToken("real", status=200, type="x").to_document()
    assert (document["status"], document["type"]) == (409, "about:blank")


def test_an_unknown_code_keeps_what_came() -> None:
    caught = from_document(409, {"code": "from_the_future", "detail": "Later", "hint": 3}, 7.0)
    assert isinstance(caught, UnknownProblem)
    assert (caught.received_status, caught.received_code, caught.detail) == (409, "from_the_future", "Later")
    assert (caught.members, caught.retry_after_seconds) == ({"hint": 3}, 7.0)


@pytest.mark.parametrize("document", [{}, {"code": None}, {"code": ["x"]}, {"detail": {"a": 1}}])
def test_an_odd_document_is_still_a_problem(document: dict[str, object]) -> None:
    caught = from_document(502, document)
    assert isinstance(caught, UnknownProblem)
    assert caught.received_status == 502
    assert str(caught)
