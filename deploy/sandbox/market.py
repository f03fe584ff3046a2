"""All accounts and marketplaces of one sandbox."""

from collections.abc import Iterator
from random import Random

from deploy.sandbox.catalogue import Catalogue
from deploy.sandbox.conduct import Behaviour
from deploy.sandbox.identity import Identity, identity
from deploy.sandbox.items import Item, Maker
from deploy.sandbox.settings import Account, Code, Conduct, Settings

CODES: tuple[Code, ...] = ("bazaar", "harbour", "meridian", "quayside")


class Market:
    """Everything that the sandbox's requests meet."""

    def __init__(self, settings: Settings) -> None:
        self.seed = settings.seed
        self.accounts = settings.accounts
        self.behaviours: dict[str, Behaviour] = {
            code: Behaviour(settings.marketplaces.get(code, Conduct()), Random(f"{settings.seed}|{code}"))  # noqa: S311 - chance, not secrecy
            for code in CODES
        }
        self._catalogues = {_key(account): self._open(account) for account in settings.accounts}
        self._by_secret: dict[tuple[str, tuple[str, ...]], str] = {
            (account.marketplace_code, self._secret(account)): account.account_ref for account in settings.accounts
        }

    def catalogue(self, marketplace_code: str, account_ref: str) -> Catalogue:
        """An account's catalogue. Raises `KeyError`."""
        return self._catalogues[marketplace_code, account_ref]

    def items(self, marketplace_code: str, account_ref: str) -> Iterator[Item]:
        """What an account sells now. Raises `KeyError`."""
        return self.catalogue(marketplace_code, account_ref).items()

    def identity(self, account: Account) -> Identity:
        """An account's settings and credentials."""
        return identity(self.seed, account.marketplace_code, account.account_ref)

    def account_of(self, marketplace_code: str, *credentials: str) -> str | None:
        """The reference of the account that has these credentials, in the order of its identity."""
        return self._by_secret.get((marketplace_code, credentials))

    def _open(self, account: Account) -> Catalogue:
        return Catalogue(Maker(self.seed, account.marketplace_code, account.account_ref), account.size)

    def _secret(self, account: Account) -> tuple[str, ...]:
        return tuple(self.identity(account).credentials.values())


def _key(account: Account) -> tuple[str, str]:
    return account.marketplace_code, account.account_ref
