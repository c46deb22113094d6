"""VPP's startup file: the document's part is read and written, the rest stays."""

from __future__ import annotations

import pytest

from appliance.dataplane.vpp.sizing import settings
from appliance.dataplane.vpp.startup import StartupSettings, parse, read, rewrite
from appliance.features.dataplane.model import Dataplane

TEXT = """# a comment
unix { nodaemon cli-listen /run/vpp/cli.sock }
statseg { socket-name /run/vpp/stats.sock size 128M per-node-counters on }
memory { main-heap-size 512M }
buffers { buffers-per-numa 16384 }
plugins {
  plugin default { disable }
  plugin linux_cp_plugin.so { enable }
}
linux-cp { default netns dataplane lcp-sync }
"""


def test_a_file_with_the_defaults_is_what_an_empty_document_asks_for() -> None:
    assert read(TEXT) == settings(Dataplane(), None)
    assert read("") == settings(Dataplane(), None)


@pytest.mark.parametrize(
    "wanted",
    [
        StartupSettings(2, 1, 1024, 512, 65536),
        StartupSettings(0, None, 512, 128, 16384),
        StartupSettings(1, None, 2048, 32, 4096),
    ],
)
def test_what_is_written_reads_back_and_nothing_else_changes(wanted: StartupSettings) -> None:
    text = rewrite(TEXT, wanted)
    assert read(text) == wanted
    assert rewrite(text, wanted) == text
    assert parse(rewrite(text, read(TEXT))) == parse(rewrite(TEXT, read(TEXT)))
    for kept in (
        "unix { nodaemon cli-listen /run/vpp/cli.sock }",
        "  plugin linux_cp_plugin.so { enable }",
        "linux-cp { default netns dataplane lcp-sync }",
        "per-node-counters on",
    ):
        assert kept in text


def test_worker_cores_are_counted() -> None:
    assert read("cpu { main-core 0 corelist-workers 1-3,5 }").workers == 4
    text = rewrite("cpu { main-core 0 corelist-workers 1-3,5 }", StartupSettings(1, 0, 512, 128, 16384))
    assert "corelist-workers" not in text
    assert read(text).workers == 1


@pytest.mark.parametrize("text", ["unix {", "}", "{ }", "memory { main-heap-size lots }"])
def test_a_file_that_cannot_be_read_is_said_so(text: str) -> None:
    with pytest.raises(ValueError, match="startup file"):
        read(text)
