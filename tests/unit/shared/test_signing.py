"""The signature profile: what is signed verifies, and no part of a request can be changed, added or left out."""

import base64
import re

import pytest
from http_message_signatures.algorithms import HMAC_SHA256

from shared import signing
from shared.problems import SignatureInvalid

SECRET = bytes(range(32))
METHOD, AUTHORITY, TARGET, BODY = "POST", "coordinator.test:8443", "/api/v1/plan?limit=5&x=%20y", b'{"a": 1}'


def signed(body: bytes = BODY, target: str = TARGET) -> dict[str, str]:
    signer = signing.Signer("server-1", SECRET, now=lambda: 1_700_000_000)
    return signer.headers(METHOD, AUTHORITY, target, body)


def accept(
    headers: dict[str, str],
    *,
    method: str = METHOD,
    authority: str = AUTHORITY,
    target: str = TARGET,
    body: bytes = BODY,
    secret: bytes = SECRET,
) -> signing.Claim:
    claim = signing.parse(method, authority, target, headers)
    signing.verify(claim, secret, body)
    return claim


def test_what_is_signed_verifies_and_names_its_signer() -> None:
    claim = accept(signed())
    assert (claim.key_id, claim.created) == ("server-1", 1_700_000_000)
    assert len(base64.urlsafe_b64decode(claim.nonce)) * 8 >= 128


def test_an_empty_body_is_digested_too() -> None:
    headers = signed(body=b"")
    accept(headers, body=b"")
    with pytest.raises(SignatureInvalid):
        accept(headers, body=b" ")


def test_each_signature_has_a_nonce_of_its_own() -> None:
    assert len({accept(signed()).nonce for _ in range(50)}) == 50


def test_the_algorithm_is_the_standard_s_own() -> None:
    """RFC 9421 appendix B.2.5: its key, its signature base, its signature."""
    key = base64.b64decode("uzvJfB4u3N0Jy4T7NZ75MDVcr8zSTInedJtkgcu46YW4XByzNJjxBdtjUkdJPBtbmHhIDi6pcl8jsasjlTMtDQ==")
    base = (
        '"date": Tue, 20 Apr 2021 02:07:55 GMT\n"@authority": example.com\n"content-type": application/json\n'
        '"@signature-params": ("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret"'
    )
    signature = base64.b64decode("pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=")
    assert HMAC_SHA256(shared_secret=key).sign(base.encode()) == signature


def test_a_signature_made_once_verifies_for_ever() -> None:
    """A fixed request and its fixed signature, worked out by hand from RFC 9421 section 2.5: no drift on one side."""
    headers = signing.Signer("k", SECRET, now=lambda: 1, nonce=lambda: "A" * 22).headers("GET", "h", "/p", b"")
    base = (
        '"@method": GET\n"@authority": h\n"@path": /p\n"@query": ?\n'
        '"content-digest": sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:\n'
        '"@signature-params": ("@method" "@authority" "@path" "@query" "content-digest")'
        f';created=1;keyid="k";alg="hmac-sha256";nonce="{"A" * 22}";tag="marketplace-v1"'
    )
    expected = base64.b64encode(HMAC_SHA256(shared_secret=SECRET).sign(base.encode())).decode()
    assert headers["Signature"] == f"sig1=:{expected}:"


@pytest.mark.parametrize(
    "change",
    [
        {"method": "PUT"},
        {"method": "post"},
        {"authority": "coordinator.test"},
        {"authority": "other.test:8443"},
        {"target": "/api/v1/plan?limit=6&x=%20y"},
        {"target": "/api/v1/plan?limit=5&x= y"},
        {"target": "/api/v1/plan"},
        {"target": "/api/v1/plan?"},
        {"target": "/api/v1/%70lan?limit=5&x=%20y"},
        {"target": "/api/v1/plan/?limit=5&x=%20y"},
        {"target": "//api/v1/plan?limit=5&x=%20y"},
        {"body": b'{"a": 2}'},
        {"body": b'{"a": 1} '},
        {"body": b""},
        {"secret": bytes(32)},
    ],
    ids=str,
)
def test_a_changed_part_is_refused(change: dict[str, object]) -> None:
    headers = signed()
    accept(headers)
    with pytest.raises(SignatureInvalid):
        accept(headers, **change)  # type: ignore[arg-type]  # each value fits its own parameter


@pytest.mark.parametrize(
    ("header", "pattern", "replacement"),
    [
        ("Signature-Input", "created=1700000000", "created=1700000001"),
        ("Signature-Input", "server-1", "server-2"),
        ("Signature-Input", 'nonce="[^"]*"', f'nonce="{"B" * 32}"'),
        ("Signature", "=:.", "=:_"),
        ("Content-Digest", "sha-256=:.", "sha-256=:_"),
    ],
)
def test_a_changed_parameter_is_refused(header: str, pattern: str, replacement: str) -> None:
    headers = signed()
    # "_" is no letter of base64: put there one that differs from what stands there.
    old = headers[header]
    start = re.search(pattern, old)
    assert start
    letter = "A" if start.group()[-1] != "A" else "B"
    headers[header] = re.sub(pattern, replacement.replace("=:_", f"=:{letter}"), old, count=1)
    assert headers[header] != old
    with pytest.raises(SignatureInvalid):
        accept(headers)


def forged(input_field: str) -> dict[str, str]:
    """Headers whose Signature-Input is ``input_field``, with a signature of the right form."""
    return {**signed(), "Signature-Input": input_field}


GOOD = signed()["Signature-Input"]


@pytest.mark.parametrize(
    "input_field",
    [
        GOOD.replace('"@method" ', ""),
        GOOD.replace(' "content-digest"', ""),
        re.sub(r"\(.*?\)", "()", GOOD),
        GOOD.replace('"content-digest")', '"content-digest" "date")'),
        GOOD.replace('"@method" "@authority"', '"@authority" "@method"'),
        GOOD.replace('"@path"', '"@path";req'),
        GOOD.replace("sig1=", "sig2="),
        f"{GOOD}, {GOOD.replace('sig1=', 'sig2=')}",
        f"{GOOD}, {GOOD}",
        GOOD.replace(";created=1700000000", ""),
        GOOD.replace("created=1700000000", 'created="1700000000"'),
        GOOD.replace("created=1700000000", "created=-1"),
        GOOD.replace("created=1700000000", "created=1.5"),
        GOOD.replace("created=1700000000", "created=9999999999999999999"),
        GOOD.replace(";created=1700000000", ";created=1700000000;created=1700000000"),
        f"{GOOD};expires=1800000000",
        GOOD.replace("created=", "expires="),
        re.sub(';nonce="[^"]*"', "", GOOD),
        re.sub('nonce="[^"]*"', 'nonce="short"', GOOD),
        re.sub('nonce="[^"]*"', f'nonce="{"A" * 65}"', GOOD),
        re.sub('nonce="[^"]*"', "nonce=5", GOOD),
        GOOD.replace('keyid="server-1"', 'keyid=""'),
        GOOD.replace('keyid="server-1"', 'keyid="Server 1"'),
        GOOD.replace('keyid="server-1"', 'keyid="a/../b"'),
        GOOD.replace('keyid="server-1"', f'keyid="{"a" * 65}"'),
        GOOD.replace("hmac-sha256", "none"),
        GOOD.replace("hmac-sha256", "hmac-sha512"),
        GOOD.replace("marketplace-v1", "marketplace-v2"),
        GOOD.replace(';tag="marketplace-v1"', ""),
        GOOD.replace("sig1=(", "sig1=(" + "(" * 500),
        "sig1=\u00e4",
        "x" * 5000,
        "",
    ],
)
def test_a_signature_of_another_profile_is_refused(input_field: str) -> None:
    with pytest.raises(SignatureInvalid):
        accept(forged(input_field))


@pytest.mark.parametrize("name", ["Signature-Input", "Signature", "Content-Digest"])
def test_a_missing_header_is_named(name: str) -> None:
    headers = signed()
    del headers[name]
    with pytest.raises(SignatureInvalid, match=name):
        accept(headers)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Signature", "sig1=:AAAA:"),
        ("Signature", "sig1=AAAA"),
        ("Signature", f"sig1=:{'A' * 43}=:, sig2=:{'A' * 43}=:"),
        ("Content-Digest", f"sha-512=:{'A' * 86}==:"),
        ("Content-Digest", f"sha-256=:{'A' * 43}=:, sha-512=:{'A' * 86}==:"),
        ("Content-Digest", "sha-256=:AAAA:"),
    ],
)
def test_a_malformed_header_is_named(name: str, value: str) -> None:
    with pytest.raises(SignatureInvalid, match=name):
        accept({**signed(), name: value})


def test_the_raw_target_is_signed_without_any_decoding() -> None:
    target = "/a%2Fb/../c//d?q=%C3%A4&q=+&empty="
    accept(signed(target=target), target=target)
    with pytest.raises(SignatureInvalid):
        accept(signed(target=target), target=target.replace("%C3%A4", "%c3%a4"))


@pytest.mark.parametrize("target", ["*", "http://coordinator.test/x", "", "/" + "x" * 9000])
def test_a_target_that_is_no_path_is_refused(target: str) -> None:
    with pytest.raises(SignatureInvalid, match="target"):
        accept(signed(), target=target)


def test_secret_and_headers_stay_out_of_representations() -> None:
    claim = accept(signed())
    assert "sig1" not in repr(claim)
    assert SECRET.hex() not in repr(claim)
