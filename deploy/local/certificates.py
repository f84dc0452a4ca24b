"""Certificates and keys of one local control plane: an authority of its own, in its temporary folder."""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["Authority", "Identity", "service_account_key"]

LIFETIME: Final = dt.timedelta(days=2)
BACKDATED: Final = dt.timedelta(minutes=5)


@dataclass(frozen=True)
class Identity:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


class Authority:
    """A certificate authority.

    Parameters
    ----------
    folder : Path
        Where it writes what it signs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "lws-volcano local")])
        certificate = (
            _builder(self._name, self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = folder / "ca.crt"
        self.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def server(self, name: str, *hosts: str) -> Identity:
        """Certificate of a server on these host names and addresses."""
        names: list[x509.GeneralName] = []
        for host in hosts:
            try:
                names.append(x509.IPAddress(ipaddress.ip_address(host)))
            except ValueError:
                names.append(x509.DNSName(host))
        return self._sign(name, x509.SubjectAlternativeName(names), ExtendedKeyUsageOID.SERVER_AUTH)

    def client(self, user: str, *groups: str) -> Identity:
        """Certificate of a user, who belongs to the groups."""
        return self._sign(user, None, ExtendedKeyUsageOID.CLIENT_AUTH, groups)

    def _sign(
        self,
        name: str,
        hosts: x509.SubjectAlternativeName | None,
        usage: x509.ObjectIdentifier,
        groups: tuple[str, ...] = (),
    ) -> Identity:
        key = ec.generate_private_key(ec.SECP256R1())
        attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        subject = x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = _builder(subject, self._name, key.public_key()).add_extension(
            x509.ExtendedKeyUsage([usage]), critical=False
        )
        if hosts is not None:
            builder = builder.add_extension(hosts, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        stem = f"{'server' if hosts is not None else 'client'}-{name}".replace(":", "-").replace("/", "-")
        identity = Identity(self._folder / f"{stem}.crt", self._folder / f"{stem}.key")
        identity.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        _write_key(key, identity.key)
        return identity


def service_account_key(folder: Path) -> Path:
    """Key that signs service account tokens."""
    path = folder / "service-account.key"
    _write_key(ec.generate_private_key(ec.SECP256R1()), path)
    return path


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + LIFETIME)
    )


def _write_key(key: ec.EllipticCurvePrivateKey, path: Path) -> None:
    path.touch(mode=0o600)
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
