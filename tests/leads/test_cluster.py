"""A cluster of two processes that reads from a service speaking S3 gives what one process gives."""

from __future__ import annotations

import pytest

from dialframe import leads
from dialframe.errors import ConfigError
from dialframe.leads.dask_workers import dask_workers
from leads.test_streaming import made

pytest.importorskip("distributed")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_and_an_object_store(tmp_path, monkeypatch):
    """Row for row, byte for byte."""
    import fsspec
    from distributed import LocalCluster
    from moto.server import ThreadedMotoServer

    for name, value in (("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test"), ("AWS_DEFAULT_REGION", "us-east-1")):  # fmt: skip
        monkeypatch.setenv(name, value)
    server = ThreadedMotoServer(port=0)
    server.start()
    try:
        _, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        store = fsspec.filesystem("s3")
        store.mkdir("lists")
        for seed in range(4):
            with store.open(f"lists/list{seed}.csv", "wb") as file:
                file.write(made(seed, 150).encode())
        url = ["s3://lists/*.csv"]
        one = leads.clean_files(url, tmp_path / "one", region="US")
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            ) as cluster,
            dask_workers(cluster.scheduler_address) as workers,
        ):
            two = leads.clean_files(url, tmp_path / "two", region="US", workers=workers)
    finally:
        # The next test in this process has a server of its own.
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        server.stop()

    assert one.counts == two.counts
    assert one.counts["records"] > 500
    for key, path in one.paths.items():
        assert two.paths[key].read_bytes() == path.read_bytes(), key


def test_a_cluster_of_this_machine_shows_its_pages_to_this_machine_alone(monkeypatch):
    """On a port that is free, however many clusters there are."""
    begun = {}

    class Begun(Exception):
        """In the place of a cluster."""

    def client(**settings):
        begun.update(settings)
        raise Begun

    monkeypatch.setattr("distributed.Client", client)
    with pytest.raises(Begun), dask_workers():
        pass
    assert begun["dashboard_address"] == "127.0.0.1:0"


def test_a_scheduler_that_is_not_there(monkeypatch):
    """One sentence instead of a traceback."""
    import dask

    with (
        dask.config.set({"distributed.comm.timeouts.connect": "200ms"}),
        pytest.raises(ConfigError, match="no Dask scheduler"),
        dask_workers("tcp://127.0.0.1:9"),
    ):
        pass
