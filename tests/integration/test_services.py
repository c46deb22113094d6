"""The tests' own PostgreSQL and Redis: there, private, and reached through sockets only."""

import psycopg
import redis


def test_postgres_answers_on_its_socket_only(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        version = connection.execute("select current_setting('server_version_num')::int").fetchone()
        listening = connection.execute("show listen_addresses").fetchone()
    assert version is not None
    assert version[0] >= 150000
    assert listening == ("",)


def test_redis_answers_on_its_socket_only(redis_url: str, broker_url: str) -> None:
    client = redis.Redis.from_url(redis_url)
    assert client.ping()
    assert client.config_get("port") == {"port": "0"}
    assert broker_url.removeprefix("redis+socket") == redis_url.removeprefix("unix")
