"""Where the cluster is: kubeconfigs good and bad, tokens that are renewed.

Covers: the messages for what is missing or broken, a token file read anew. Leaves out: TLS, cloud logins.
"""

from pathlib import Path

import pytest
import yaml

from lws_volcano.kube.client import Client
from lws_volcano.kube.credentials import load_credentials
from lws_volcano.kube.errors import ConfigurationError
from lws_volcano.kube.resources import QUEUES
from tests.contract.api_server import ApiServer, refused
from tests.contract.clocks import ManualClock


def kubeconfig(folder: Path, server: str = "http://127.0.0.1:1") -> Path:
    """A kubeconfig with a token file beside it."""
    (folder / "token").write_text("first")
    document = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"tokenFile": str(folder / "token")}}],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return path


async def test_no_kubeconfig_says_where_it_was_looked_for(tmp_path: Path) -> None:
    """And what to do."""
    with pytest.raises(ConfigurationError, match=r"no kubeconfig at .*missing: give --kubeconfig"):
        await load_credentials(str(tmp_path / "missing"), None, ManualClock())


@pytest.mark.parametrize("text", ["", "a: [", "current-context: x", "[]", "clusters: 7"])
async def test_a_broken_kubeconfig_is_no_traceback(tmp_path: Path, text: str) -> None:
    """Whatever is in the file."""
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(ConfigurationError):
        await load_credentials(str(path), None, ManualClock())


async def test_an_unknown_context_is_named(tmp_path: Path) -> None:
    """As the admin has written it."""
    with pytest.raises(ConfigurationError, match="elsewhere"):
        await load_credentials(str(kubeconfig(tmp_path)), "elsewhere", ManualClock())


async def test_a_token_that_was_refused_is_read_anew(tmp_path: Path) -> None:
    """401 once: the file is read again and the request made once more."""
    async with ApiServer() as server:
        path = kubeconfig(tmp_path, server.url)
        async with await Client.connect(str(path)) as client:
            (tmp_path / "token").write_text("second")
            server.fail("GET", "queues", refused(401, "Unauthorized"))
            await client.list_page(QUEUES, {})
        assert [asked.authorization for asked in server.asked] == ["Bearer first", "Bearer second"]
