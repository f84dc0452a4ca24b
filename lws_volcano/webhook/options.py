"""What an admin decides about the webhook of one process."""

from dataclasses import dataclass
from typing import Final, Literal

from lws_volcano.observe.address import Address
from lws_volcano.webhook.configuration import PATH, FailurePolicy, Registered, ServiceReference
from lws_volcano.webhook.registration import Mode

__all__ = ["RegistrationMode", "WebhookOptions"]

_EVERYWHERE: Final = Address("0.0.0.0", 9443)  # noqa: S104 - a pod's address isn't known beforehand
RegistrationMode = Literal["manage", "ca-bundle", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookOptions:
    """One process's webhook.

    Attributes
    ----------
    drain, finish
        Seconds for which a replica that is ending serves on, while endpoints learn that it is going; and that are then
        given to the requests still under way.
    namespace, service
        The Service in front of the replicas; its DNS names are in the certificate.
    url_host
        Host or IP address by which the API server reaches this very process, instead of a Service; with it the
        registration holds a URL.
    secret
        Name of the Secret (in `namespace`) that replicas share their certificate through; empty: each its own.
    registration
        `ca-bundle` keeps the bundle of an installed configuration, `manage` the whole object, `none` nothing.
    configuration
        Name of the MutatingWebhookConfiguration.
    lookup_timeout
        Seconds for the direct read of a LeaderWorkerSet that the cache does not have; below `timeout`.
    upkeep
        Seconds between two looks at the certificate and the registration: a bundle that was reset is wrong no longer.
    """

    address: Address = _EVERYWHERE
    drain: float = 3.0
    finish: float = 5.0
    namespace: str = "lws-volcano-system"
    service: str = "lws-volcano-webhook"
    url_host: str = ""
    secret: str = "lws-volcano-webhook"  # noqa: S105 - the name of a Secret
    registration: RegistrationMode = "ca-bundle"
    configuration: str = "lws-volcano"
    failure_policy: FailurePolicy = "Ignore"
    timeout: int = 3
    lookup_timeout: float = 1.0
    upkeep: float = 10.0

    @property
    def mode(self) -> Mode | None:
        """What is kept of the registration; None for nothing."""
        return None if self.registration == "none" else self.registration

    def names(self) -> tuple[str, ...]:
        """Names and addresses for the certificate."""
        if self.url_host:
            return (self.url_host,)
        host = f"{self.service}.{self.namespace}"
        return (f"{host}.svc", f"{host}.svc.cluster.local", host)

    def registered(self, scheduler_name: str, port: int) -> Registered:
        """The registration that goes with these options; `port` is the one listened on."""
        host = f"[{self.url_host}]" if ":" in self.url_host else self.url_host
        reference = ServiceReference(name=self.service, namespace=self.namespace)
        return Registered(
            target=f"https://{host}:{port}{PATH}" if self.url_host else reference,
            failure_policy=self.failure_policy,
            timeout=self.timeout,
            scheduler_name=scheduler_name,
            name=self.configuration,
        )
