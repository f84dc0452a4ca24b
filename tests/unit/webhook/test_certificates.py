"""Issuing and renewing: validity, names, renewal points, change of authority without a gap, broken input.

Left out: loading into a live TLS context and sharing between replicas (test_keeper).
"""

import ssl
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from hypothesis import given, settings
from hypothesis import strategies as st

from lws_volcano.webhook.certificates import Lifetimes, advance, bundle, expiry

NOW = datetime(2030, 1, 1, tzinfo=UTC)
NAMES = ("lws-volcano.gpu.svc", "127.0.0.1")


def certificate_of(material):
    """The serving certificate."""
    return x509.load_pem_x509_certificate(material.certificate)


def authorities_of(material):
    """The trusted authorities, current first."""
    return x509.load_pem_x509_certificates(material.ca_bundle)


def trusted(material, by):
    """Whether the serving certificate is signed by one of the authorities in a bundle."""
    for authority in x509.load_pem_x509_certificates(by):
        try:
            certificate_of(material).verify_directly_issued_by(authority)
        except Exception:  # noqa: BLE001, S112 - cryptography raises several kinds for "no"
            continue
        return True
    return False


def test_first_material_names_every_address():
    """DNS names and IP addresses are both in the subject alternative names, each as its own kind."""
    names = certificate_of(advance(None, NAMES, NOW)).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert names.value.get_values_for_type(x509.DNSName) == ["lws-volcano.gpu.svc"]
    assert names.value.get_values_for_type(x509.IPAddress) == [ip_address("127.0.0.1")]


def test_first_material_verifies():
    """The certificate is good now, tolerates a clock that is behind, and is signed by the bundle's authority."""
    material = advance(None, NAMES, NOW)
    certificate = certificate_of(material)
    assert certificate.not_valid_before_utc < NOW < certificate.not_valid_after_utc
    assert trusted(material, material.ca_bundle)
    ssl.create_default_context(cadata=material.ca_bundle.decode())


def test_nothing_due_is_the_same_object():
    """Good material comes back as it is, so that nothing is written."""
    material = advance(None, NAMES, NOW)
    assert advance(material, NAMES, NOW + timedelta(days=30)) is material


def test_serving_certificate_renews_after_two_thirds():
    """A new certificate and key, under the same authority."""
    material = advance(None, NAMES, NOW)
    renewed = advance(material, NAMES, NOW + timedelta(days=61))
    assert (renewed.ca_bundle, renewed.ca_key) == (material.ca_bundle, material.ca_key)
    assert renewed.key != material.key
    assert expiry(renewed) > expiry(material)


def test_new_name_is_issued_at_once():
    """A name that the certificate lacks makes a new one."""
    material = advance(None, NAMES, NOW)
    wider = advance(material, (*NAMES, "other.svc"), NOW)
    assert wider is not material
    assert advance(wider, NAMES, NOW) is wider


def test_new_authority_is_published_before_it_is_used():
    """First the bundle has both authorities, only later the certificate comes from the new one."""
    terms = Lifetimes(authority=timedelta(days=300), serving=timedelta(days=90), publish=timedelta(minutes=10))
    material = advance(None, NAMES, NOW, terms)
    material = advance(material, NAMES, NOW + timedelta(days=190), terms)
    later = NOW + timedelta(days=201)
    published = advance(material, NAMES, later, terms)
    assert len(authorities_of(published)) == 2
    assert published.certificate == material.certificate
    assert advance(published, NAMES, later + timedelta(minutes=5), terms) is published
    used = advance(published, NAMES, later + timedelta(minutes=10), terms)
    assert trusted(used, published.ca_bundle)
    assert not trusted(used, material.ca_bundle)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(1, 60), min_size=5, max_size=25))
def test_a_caller_one_step_behind_always_trusts(days):
    """Whatever the rhythm of the looks, today's certificate verifies under yesterday's bundle, and is not expired."""
    terms = Lifetimes(authority=timedelta(days=400), serving=timedelta(days=200))
    now, material = NOW, advance(None, NAMES, NOW, terms)
    for step in days:
        now += timedelta(days=step)
        before = material
        material = advance(material, NAMES, now, terms)
        assert expiry(material) > now
        assert trusted(material, before.ca_bundle)


def test_expired_authority_leaves_the_bundle():
    """After long sleep everything is new and the dead authority is not trusted any more."""
    terms = Lifetimes(authority=timedelta(days=10), serving=timedelta(days=5))
    material = advance(None, NAMES, NOW, terms)
    fresh = advance(material, NAMES, NOW + timedelta(days=30), terms)
    assert len(authorities_of(fresh)) == 1
    assert trusted(fresh, fresh.ca_bundle)


@pytest.mark.parametrize("part", ["ca_bundle", "ca_key", "certificate", "key"])
def test_unreadable_parts_start_anew(part):
    """Garbage in the Secret is replaced, never a traceback."""
    broken = replace(advance(None, NAMES, NOW), **{part: b"garbage"})
    assert advance(broken, NAMES, NOW) is not broken


def test_key_of_another_certificate_starts_anew():
    """A pair that does not belong together would fail at every handshake."""
    first, second = advance(None, NAMES, NOW), advance(None, NAMES, NOW)
    assert advance(replace(first, key=second.key), NAMES, NOW) is not first


def test_foreign_issuer_is_left_alone():
    """Without the authority's key (cert-manager), nothing is issued here, even when renewal is due."""
    foreign = replace(advance(None, NAMES, NOW), ca_key=b"")
    assert advance(foreign, NAMES, NOW + timedelta(days=80)) is foreign


def test_bundle_joins_without_repeats_and_without_the_dead():
    """Authorities of several replicas, each once; an expired one goes."""
    long, short = (advance(None, NAMES, NOW, Lifetimes(authority=timedelta(days=d))).ca_bundle for d in (100, 2))
    joined = bundle(long, short, long, b"", b"garbage", now=NOW)
    assert joined == long + short
    assert bundle(joined, now=NOW + timedelta(days=3)) == long
