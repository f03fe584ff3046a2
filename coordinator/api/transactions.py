"""How a view reaches the database: its first transaction also stores the request's nonce and judges its window."""

from collections.abc import Callable
from typing import TypeVar, cast

from flask import g

from coordinator.api.services import services
from coordinator.audit import Actor
from coordinator.authentication import Admission, Caller
from coordinator.database import Transaction
from coordinator.policies import CurrentPolicy
from shared.policy import Policy

T = TypeVar("T")


def admission() -> Admission:
    """The current request's; every view under the prefix has one."""
    return cast(Admission, g.admission)


def caller() -> Caller:
    """Who signed the current request."""
    return admission().caller


def actor() -> Actor:
    """The caller as the audit names it."""
    return Actor(caller().owner, g.request_id)


def policy() -> Policy:
    """The policy that the request was admitted under; to be asked inside of a transaction."""
    return current_policy().policy


def current_policy() -> CurrentPolicy:
    """That policy with its version and digest."""
    current = admission().policy
    if current is None:
        raise LookupError("the policy is known once the request's first transaction has begun")
    return current


def run(work: Callable[[Transaction], T]) -> T:
    """Run ``work`` in a transaction. In the request's first one the nonce is stored and the window judged before.

    A ``Problem`` that ``work`` raises undoes its writes, not the nonce: a refused request cannot be replayed either.
    Raises that problem, or ``NonceReplayed``, ``SignatureExpired``, ``DatabaseUnavailable``.
    """
    database = services().database
    if g.settled:
        return database.transaction(work)
    # Whatever comes of this transaction, its nonce is not tried a second time: the first commit may have happened.
    g.settled = True
    return database.transaction(work, first=admission().admit)


def settle() -> None:
    """Store the nonce and judge the window of a request that no transaction was run for, since it was refused before.

    Raises what ``run`` raises.
    """
    if "admission" in g and not g.settled:
        run(lambda _: None)
