"""Why a page could not be had: raised by connectors and by the transport, judged by `Connector.classify`."""


class ConnectorFailure(Exception):  # noqa: N818 - the subclasses say what failed
    """Something between a crawl and its next page. Its message is safe to log: it holds no secret and no body."""


class Unreachable(ConnectorFailure):
    """The transport could not connect, or the connection broke before the answer was whole."""


class Overdue(ConnectorFailure):
    """The answer was not whole within the total deadline."""


class Oversize(ConnectorFailure):
    """The answer is larger than the transport's cap."""


class Misdirected(ConnectorFailure):
    """A redirect or a next-page link leads out of the marketplace's origin."""


class PageUnreadable(ConnectorFailure):
    """The answer is not a page: HTML, truncated JSON, a false Content-Encoding, records not where they belong."""


class CursorUnreadable(ConnectorFailure):
    """The cursor was not made by this connector, or its page can no longer be found by it."""


class CursorTooLong(ConnectorFailure):
    """The marketplace's next-page token does not fit into a checkpoint."""


class AccountMisconfigured(ConnectorFailure):
    """The account lacks a setting or credential that its marketplace needs, or has one that cannot be used.

    `problems` names each of them with its remedy; `of_credentials` says whether credentials are among them.
    """

    def __init__(self, problems: list[str], *, of_credentials: bool) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems
        self.of_credentials = of_credentials
