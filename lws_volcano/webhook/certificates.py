"""Our certificate authority and the serving certificate under it. Pure but for key generation: the time is given.

`advance` is called again and again; each call returns material that is good now. A new authority is published one step
before the first certificate under it is served, so that at no moment a caller holds an older bundle than the server's
certificate needs.

cert-manager was considered: it does this well, but is one more thing to install; where it is there, its Secret is used
as it is (`Material.ca_key` empty: then nothing is issued here).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["Lifetimes", "Material", "advance", "bundle", "expiry"]

_AUTHORITY: Final = "lws-volcano admission CA"
_BACKDATE: Final = timedelta(minutes=5)
"""Clocks of API servers may be behind ours."""
_RENEW_AT: Final = 2 / 3
"""Share of the lifetime after which a certificate is renewed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetimes:
    """How long things last.

    Attributes
    ----------
    publish
        Time between publishing a new authority and serving a certificate under it.
    """

    authority: timedelta = timedelta(days=3650)
    serving: timedelta = timedelta(days=90)
    publish: timedelta = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """PEM: everything a replica needs to serve.

    Attributes
    ----------
    ca_bundle
        Authorities to trust, the current one first.
    ca_key
        Key of the first of them; empty when somebody else issues the certificates.
    """

    ca_bundle: bytes
    ca_key: bytes
    certificate: bytes
    key: bytes


def advance(
    material: Material | None, names: Sequence[str], now: datetime, lifetimes: Lifetimes | None = None
) -> Material:
    """Material that is good at `now`: the same when nothing is due, else one step further.

    Parameters
    ----------
    material
        What there is; None or unreadable starts anew.
    names
        DNS names and IP addresses that the API server calls us by.
    now
        Time zone aware.
    """
    terms = lifetimes or Lifetimes()
    current = _readable(material)
    if current is None:
        authority = _new_authority(now, terms)
        return _serve(authority, names, now, terms)
    if not current.ca_key:
        return current
    if _past_renewal(_authorities(current)[0], now):
        return _renew_authority(current, names, now, terms)
    return _serve(current, names, now, terms) if _serving_due(current, names, now, terms) else current


def expiry(material: Material) -> datetime:
    """When the serving certificate ends."""
    return x509.load_pem_x509_certificate(material.certificate).not_valid_after_utc


def bundle(*parts: bytes, now: datetime) -> bytes:
    """Authorities of several bundles, each once, without those that have expired, in the order given."""
    seen: dict[bytes, None] = {}
    for part in parts:
        for certificate in _parse_bundle(part):
            if certificate.not_valid_after_utc > now:
                seen[certificate.public_bytes(serialization.Encoding.PEM)] = None
    return b"".join(seen)


def _readable(material: Material | None) -> Material | None:
    if material is None:
        return None
    try:
        certificate = x509.load_pem_x509_certificate(material.certificate)
        key = serialization.load_pem_private_key(material.key, password=None)
        pair = certificate.public_key() == key.public_key()
        authority = _authorities(material)[0]
        issuer = not material.ca_key or _load_key(material.ca_key).public_key() == authority.public_key()
    except (ValueError, TypeError, IndexError):
        return None
    return material if pair and issuer else None


def _authorities(material: Material) -> list[x509.Certificate]:
    return _parse_bundle(material.ca_bundle)


def _parse_bundle(pem: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem) if pem.strip() else []
    except ValueError:
        return []


def _past_renewal(certificate: x509.Certificate, now: datetime) -> bool:
    start, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return now < start or now >= start + (end - start) * _RENEW_AT


def _serving_due(material: Material, names: Sequence[str], now: datetime, terms: Lifetimes) -> bool:
    certificate = x509.load_pem_x509_certificate(material.certificate)
    if _past_renewal(certificate, now) or not set(names) <= _names_of(certificate):
        return True
    authority = _authorities(material)[0]
    published = authority.not_valid_before_utc + _BACKDATE + terms.publish
    return not _issued_by(certificate, authority) and now >= published


def _issued_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    identifier = certificate.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    return identifier == authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest


def _renew_authority(material: Material, names: Sequence[str], now: datetime, terms: Lifetimes) -> Material:
    fresh = _new_authority(now, terms)
    older = bundle(material.ca_bundle, now=now)
    combined = replace(material, ca_bundle=fresh.ca_bundle + older, ca_key=fresh.ca_key)
    still_good = older and expiry(material) > now + terms.publish
    return combined if still_good else _serve(combined, names, now, terms)


def _new_authority(now: datetime, terms: Lifetimes) -> Material:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, _AUTHORITY)])
    usage = x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    certificate = (
        _builder(name, name, key.public_key(), now, now + terms.authority)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    return Material(ca_bundle=pem, ca_key=_pem_key(key), certificate=b"", key=b"")


def _serve(material: Material, names: Sequence[str], now: datetime, terms: Lifetimes) -> Material:
    authority, authority_key = _authorities(material)[0], _load_key(material.ca_key)
    key = ec.generate_private_key(ec.SECP256R1())
    end = min(now + terms.serving, authority.not_valid_after_utc)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "lws-volcano")])
    certificate = (
        _builder(subject, authority.subject, key.public_key(), now, end)
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    return replace(material, certificate=pem, key=_pem_key(key))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATE)
        .not_valid_after(end)
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _names_of(certificate: x509.Certificate) -> set[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set()
    return {str(name.value) for name in names}


def _load_key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("not an elliptic curve key")
    return key


def _pem_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
