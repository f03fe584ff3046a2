"""The fence over TLS: only whom the given authority vouches for is spoken to, and the deadline holds there too."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import time
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.unit.worker.scripted_server import ScriptedServer, answer, head, trickle
from worker.connectors.failures import Overdue, Unreachable
from worker.connectors.origin import Origin
from worker.transport import Transport

DEADLINE_SECONDS = 0.5


class Authority:
    """A certificate that vouches for itself and for 127.0.0.1; ``file`` holds it, ``context`` serves by it."""

    def __init__(self, folder: Path) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "scripted")])
        now = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(hours=1))
            .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
            .sign(key, hashes.SHA256())
        )
        self.file = folder / "authority.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        key_file = folder / "key.pem"
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.file, key_file)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def test_who_is_vouched_for_is_spoken_to(authority: Authority) -> None:
    with ScriptedServer(answer(body=b"private"), tls=authority.context) as server:
        transport = Transport(Origin.parse(server.url), certificate_authority=authority.file)
        assert transport.send("GET", f"{server.url}/", {}).body == b"private"


def test_anybody_else_is_not(authority: Authority) -> None:
    with ScriptedServer(answer(), tls=authority.context) as server, pytest.raises(Unreachable):
        Transport(Origin.parse(server.url)).send("GET", f"{server.url}/", {})
    assert server.requests == []


@pytest.mark.parametrize("begun", [b"HTTP/1.1 200 OK\r\nX-Slow: ", head()])
def test_an_answer_that_trickles_in_is_given_up_at_the_deadline(authority: Authority, begun: bytes) -> None:
    with ScriptedServer(trickle(begun, b"x" * 1500), tls=authority.context) as server:
        transport = Transport(Origin.parse(server.url), certificate_authority=authority.file)
        began = time.monotonic()
        with pytest.raises(Overdue):
            transport.send("GET", f"{server.url}/", {}, b"", DEADLINE_SECONDS)
        assert time.monotonic() - began < DEADLINE_SECONDS + 2
