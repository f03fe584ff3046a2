"""Durations in the unit that the policy uses."""

from __future__ import annotations

import datetime


def seconds(number: float) -> datetime.timedelta:
    return datetime.timedelta(seconds=number)
