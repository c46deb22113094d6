"""The web half's files: a port, a certificate that the lab's CA vouches for, a user of its own."""

import os
import socket
import ssl
import stat
import threading
from pathlib import Path

from lab import accounts, certificates
from lab.accounts import Account
from lab.layout import Layout
from lab.web_process import HOST, Web, port_is_free


def test_a_port_somebody_listens_on_is_not_free() -> None:
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]
        assert not port_is_free(port)
    assert port_is_free(port)


def test_a_client_with_the_labs_ca_trusts_the_page(tmp_path: Path) -> None:
    ca, certificate, key = tmp_path / "ca.pem", tmp_path / "server.pem", tmp_path / "server.key"
    certificates.make(ca, certificate, key)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(certificate, key)
    client_side = ssl.create_default_context(cafile=str(ca))
    client_side.verify_flags |= ssl.VERIFY_X509_STRICT
    with socket.create_server((HOST, 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with server_side.wrap_socket(connection, server_side=True) as wrapped:
                wrapped.recv(1)

        thread = threading.Thread(target=serve)
        thread.start()
        with (
            socket.create_connection(listener.getsockname()) as connection,
            client_side.wrap_socket(connection, server_hostname=HOST) as wrapped,
        ):
            wrapped.send(b"x")
            assert wrapped.version() == "TLSv1.3"
        thread.join(10)


def test_secrets_differ_from_lab_to_lab_and_stay_within_one(tmp_path: Path) -> None:
    webs = []
    for name in ("one", "two"):
        layout = Layout(tmp_path / name)
        layout.make(os.getuid())
        web = Web(layout, Account.of(os.getuid()), 8443, None)
        web.prepare()
        first = web.password()
        web.prepare()
        assert web.password() == first
        webs.append(web)
    assert webs[0].password() != webs[1].password()
    assert webs[0].layout.ca_file.read_bytes() != webs[1].layout.ca_file.read_bytes()


def test_the_web_half_never_runs_as_root_by_choice() -> None:
    assert accounts.unprivileged().uid != 0
