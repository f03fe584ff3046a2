"""Sealed secrets open only where they belong; a key file that cannot be trusted is refused by name."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest

from coordinator.vault import Binding, Sealed, Vault, VaultError, new_key_line, read_key_file

KEY = bytes(range(32))
KEY_TEXT = base64.b64encode(KEY).decode()
BINDING = Binding("signing-key", "server-1", "server-1")


@pytest.fixture
def vault() -> Vault:
    return Vault({1: KEY})


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    path.write_text(new_key_line())
    path.chmod(0o400)
    return path


def test_a_secret_opens_again(vault: Vault) -> None:
    sealed = vault.seal(b"secret", BINDING)
    assert vault.open(sealed, BINDING) == b"secret"
    assert b"secret" not in sealed.ciphertext


@pytest.mark.parametrize(
    "elsewhere",
    [
        Binding("account-credentials", "server-1", "server-1"),
        Binding("signing-key", "server-2", "server-1"),
        Binding("signing-key", "server-1", "server-2"),
    ],
)
def test_a_secret_moved_to_another_row_does_not_open(vault: Vault, elsewhere: Binding) -> None:
    sealed = vault.seal(b"secret", BINDING)
    with pytest.raises(VaultError):
        vault.open(sealed, elsewhere)


@pytest.mark.parametrize("part", ["nonce", "ciphertext"])
def test_an_altered_secret_does_not_open(vault: Vault, part: str) -> None:
    sealed = vault.seal(b"secret", BINDING)
    altered: bytes = getattr(sealed, part)
    with pytest.raises(VaultError):
        vault.open(replace(sealed, **{part: bytes([altered[0] ^ 1]) + altered[1:]}), BINDING)


def test_the_version_is_bound_too() -> None:
    same_key_twice = Vault({1: KEY, 2: KEY})
    sealed = same_key_twice.seal(b"secret", BINDING)
    assert sealed.version == 2
    with pytest.raises(VaultError):
        same_key_twice.open(Sealed(1, sealed.nonce, sealed.ciphertext), BINDING)


def test_an_old_secret_opens_after_a_new_key_came(vault: Vault) -> None:
    sealed = vault.seal(b"secret", BINDING)
    rotated = Vault({1: KEY, 2: KEY[::-1]})
    assert rotated.open(sealed, BINDING) == b"secret"
    with pytest.raises(VaultError, match="key-encryption key 1"):
        Vault({2: KEY[::-1]}).open(sealed, BINDING)


def test_two_bindings_never_read_alike() -> None:
    with pytest.raises(ValueError, match="bar"):
        Binding("signing-key", "a|b", "c").authenticated(1)


def test_a_key_file_is_read(key_file: Path) -> None:
    assert [len(key) for key in read_key_file(key_file, private=True).values()] == [32]


@pytest.mark.parametrize("mode", [0o404, 0o444, 0o602, 0o620])
def test_a_key_file_open_to_others_is_refused_where_it_matters(key_file: Path, mode: int) -> None:
    key_file.chmod(mode)
    assert read_key_file(key_file, private=False)
    with pytest.raises(VaultError, match="chmod"):
        read_key_file(key_file, private=True)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "x",
        "1:short",
        f"0:{KEY_TEXT}",
        f"70000:{KEY_TEXT}",
        f"1:{KEY_TEXT}\n1:{KEY_TEXT}\n",
        "1:" + "A" * 43 + "=",
        "\u00e4",
    ],
)
def test_a_key_file_that_cannot_be_used_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(VaultError, match=str(path)):
        read_key_file(path, private=False)


def test_a_missing_key_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="nowhere"):
        read_key_file(tmp_path / "nowhere", private=True)
