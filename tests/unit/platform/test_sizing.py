"""VPP's share of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from appliance.dataplane.machine import Machine
from appliance.dataplane.vpp.cpus import forwarding_cpus
from appliance.dataplane.vpp.sizing import (
    BASELINE,
    FULL_TABLE_ROUTES,
    HOST_MB,
    choose,
    for_machine,
    hugepages,
    most_routes,
    settings,
)
from appliance.dataplane.vpp.startup import StartupSettings
from appliance.errors import ValidationFailed
from appliance.features.dataplane.model import Dataplane
from appliance.platform.cpu_sets import allowed, mask, steer_interrupts

SMALL, MEDIUM, LARGE = Machine(2, 1990), Machine(4, 3920), Machine(8, 7950)


@pytest.mark.parametrize(
    ("machine", "wanted", "pages", "busy"),
    [
        (Machine(1, 990), StartupSettings(0, None, 256, 64, 12288), 24, set()),
        (SMALL, StartupSettings(0, 1, 256, 64, 24576), 39, {1}),
        (MEDIUM, StartupSettings(2, 1, 448, 128, 49152), 68, {2, 3}),
        (LARGE, StartupSettings(6, 1, 1536, 640, 102400), 131, {2, 3, 4, 5, 6, 7}),
    ],
)
def test_the_sizes_of_the_docs(machine: Machine, wanted: StartupSettings, pages: int, busy: set[int]) -> None:
    sized = settings(Dataplane(), machine)
    assert sized == wanted
    assert hugepages(sized, machine) == pages
    assert hugepages(sized, machine, dpdk_nics=2) == pages + 48
    assert forwarding_cpus(sized, machine.cpus) == busy


@pytest.mark.parametrize("cpus", [1, 2, 3, 4, 6, 8, 16, 64, 128])
@pytest.mark.parametrize("memory_mb", [900, 1990, 3920, 7950, 16000, 64000])
def test_every_machine_has_room_for_the_rest_of_the_system(cpus: int, memory_mb: int) -> None:
    machine = Machine(cpus, memory_mb)
    sized = settings(Dataplane(), machine)
    assert sized.workers <= 64
    said = Dataplane(
        workers=sized.workers,
        main_core=sized.main_core,
        main_heap_mb=sized.main_heap_mb,
        stats_segment_mb=sized.stats_segment_mb,
        buffers_per_numa=sized.buffers_per_numa,
    )
    assert settings(said, None) == sized, "the document could say the same"
    if memory_mb >= 1990:
        taken_mb = sized.main_heap_mb + sized.stats_segment_mb + 2 * hugepages(sized, machine)
        assert taken_mb <= memory_mb - HOST_MB
    left = set(range(cpus)) - forwarding_cpus(sized, cpus)
    assert 0 in left, "the host always has a CPU"
    assert cpus < 2 or forwarding_cpus(sized, cpus)


@pytest.mark.parametrize("scale", ["auto", "full_tables"])
def test_full_tables_on_a_large_machine(scale: str) -> None:
    sized = settings(Dataplane.model_validate({"route_scale": scale}), LARGE)
    assert (sized.main_heap_mb, sized.stats_segment_mb) == (1536, 640)
    assert most_routes(sized) > 1_200_000


@pytest.mark.parametrize("cpus", [1, 2, 8, 16])
@pytest.mark.parametrize("memory_mb", [6000, 7950, 16000, 24000, 64000])
def test_a_machine_with_the_memory_has_room_for_a_million_without_any_setting(
    cpus: int, memory_mb: int
) -> None:
    machine = Machine(cpus, memory_mb)
    choice = choose(Dataplane(), machine)
    assert choice.scale == "full_tables" and f"{memory_mb:,} MB" in choice.reason
    assert most_routes(settings(Dataplane(), machine)) >= FULL_TABLE_ROUTES


@pytest.mark.parametrize("machine", [None, Machine(1, 990), SMALL, MEDIUM, Machine(4, 5999)])
def test_a_machine_without_the_memory_stays_as_it_was(machine: Machine | None) -> None:
    choice = choose(Dataplane(), machine)
    assert choice.scale == "standard"
    assert "not known" in choice.reason if machine is None else "6,000 MB" in choice.reason
    assert settings(Dataplane(), machine) == settings(Dataplane(route_scale="standard"), machine)


@pytest.mark.parametrize("said", [{"main_heap_mb": 512}, {"stats_segment_mb": 96}])
@pytest.mark.parametrize("memory_mb", [6000, 7950, 24000])
def test_a_document_that_sizes_the_room_for_routes_keeps_its_sizes(
    said: dict[str, int], memory_mb: int
) -> None:
    machine = Machine(4, memory_mb)
    before = settings(Dataplane.model_validate({"route_scale": "standard", **said}), machine)
    assert settings(Dataplane.model_validate(said), machine) == before
    assert next(iter(said)) in choose(Dataplane.model_validate(said), machine).reason


def test_the_choice_says_where_counters_leave_less_room() -> None:
    crowded = Machine(64, 8000)
    assert "63 threads" in choose(Dataplane(), crowded).reason
    assert most_routes(settings(Dataplane(), crowded)) < FULL_TABLE_ROUTES


@pytest.mark.parametrize("memory_mb", [6000, 8000, 16000])
def test_auto_never_refuses_what_standard_accepts(memory_mb: int) -> None:
    """The running document of a router that is upgraded has to stay valid."""
    for nodes in (1, 2):
        machine = Machine(4, memory_mb, nodes)
        for buffers in range(65536, 1048577, 65536):
            said = {"buffers_per_numa": buffers}
            try:
                settings(Dataplane.model_validate({"route_scale": "standard", **said}), machine)
            except ValidationFailed:
                continue
            settings(Dataplane.model_validate(said), machine)


def test_a_shared_machine_decides_only_the_room_for_routes() -> None:
    """A lab uses neither all CPUs nor all memory."""
    large, small = (Machine(8, memory_mb, shared=True) for memory_mb in (24000, 4000))
    assert settings(Dataplane(), small) == BASELINE
    sized = settings(Dataplane(), large)
    assert (sized.workers, sized.main_core, sized.buffers_per_numa) == (0, None, BASELINE.buffers_per_numa)
    assert most_routes(sized) >= FULL_TABLE_ROUTES
    assert settings(Dataplane(main_heap_mb=65536), large).main_heap_mb == 65536


@pytest.mark.parametrize("machine", [SMALL, MEDIUM])
def test_full_tables_are_refused_where_they_do_not_fit(machine: Machine) -> None:
    with pytest.raises(ValidationFailed, match="6000 MB") as refused:
        settings(Dataplane(route_scale="full_tables"), machine)
    assert refused.value.problems[0].pointer == "/dataplane/route_scale"


def test_what_the_document_sets_wins_and_the_rest_is_the_machines() -> None:
    sized = settings(Dataplane(workers=1, main_core=0, main_heap_mb=640), MEDIUM)
    assert sized == StartupSettings(1, 0, 640, 128, 49152)
    assert forwarding_cpus(sized, 4) == {1}


@pytest.mark.parametrize(
    ("heap_mb", "stats_mb", "workers", "died_at"),
    [
        (256, 512, 0, 458_752),
        (320, 512, 0, 688_128),
        (448, 512, 0, 1_048_576),
        (512, 512, 0, 1_048_576),
        (768, 512, 0, 1_572_864),
        (512, 32, 0, 524_288),
    ],
)
def test_vpp_gets_fewer_routes_than_it_died_of(
    heap_mb: int, stats_mb: int, workers: int, died_at: int
) -> None:
    """Measured: routes with one next hop given to VPP 26.06 until it crashed; the worse of both families."""
    most = most_routes(StartupSettings(workers, None, heap_mb, stats_mb, 16384))
    assert 0.35 * died_at < most < 0.95 * died_at


def test_each_thread_takes_its_share_of_the_statistics() -> None:
    alone = most_routes(StartupSettings(0, None, 65536, 64, 16384))
    assert most_routes(StartupSettings(3, None, 65536, 64, 16384)) == alone // 4


def test_zero_workers_is_an_answer_and_not_an_omission() -> None:
    sized = settings(Dataplane(workers=0), LARGE)
    assert sized.workers == 0
    assert forwarding_cpus(sized, 8) == {1}


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"main_heap_mb": 65536}, "/dataplane/main_heap_mb"),
        ({"stats_segment_mb": 4096}, "/dataplane/stats_segment_mb"),
        ({"buffers_per_numa": 1048576}, "/dataplane/buffers_per_numa"),
        ({"main_core": 4}, "/dataplane/main_core"),
    ],
)
def test_more_than_there_is_names_the_field(asked: dict[str, int], pointer: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        settings(Dataplane.model_validate(asked), MEDIUM)
    assert [problem.pointer for problem in refused.value.problems] == [pointer]


def test_where_nobody_knows_the_machine_nothing_is_refused() -> None:
    assert settings(Dataplane(), None) == BASELINE
    assert settings(Dataplane(main_heap_mb=65536), None).main_heap_mb == 65536
    assert settings(Dataplane(route_scale="full_tables"), None).stats_segment_mb == 512


def test_huge_pages_are_counted_on_each_node() -> None:
    sized = for_machine(LARGE)
    assert hugepages(sized, Machine(8, 7950, 2)) == 2 * (hugepages(sized, LARGE) - 8) + 8


def test_forwarding_never_takes_the_last_cpu() -> None:
    assert forwarding_cpus(StartupSettings(0, 0, 512, 128, 16384), 1) == frozenset()
    assert forwarding_cpus(StartupSettings(2, None, 512, 128, 16384), 4) == frozenset()


def test_cpus_left_to_the_host_as_systemd_is_told() -> None:
    assert allowed(4, frozenset([2, 3])) == "0 1"
    assert allowed(2, frozenset([1])) == "0"
    assert allowed(4, frozenset()) == ""


def test_interrupts_are_served_by_the_other_cpus(tmp_path: Path) -> None:
    for number in (4, 11):
        (tmp_path / str(number)).mkdir()
    (tmp_path / "7/smp_affinity_list").mkdir(parents=True)  # whatever is written here is refused
    assert steer_interrupts(4, frozenset([2, 3]), tmp_path) == [7]
    assert (tmp_path / "default_smp_affinity").read_text() == "00000003"
    assert (tmp_path / "11/smp_affinity_list").read_text() == "0,1"
    assert steer_interrupts(4, frozenset(), tmp_path) == [7]
    assert (tmp_path / "4/smp_affinity_list").read_text() == "0,1,2,3"


def test_a_mask_of_many_cpus_is_written_in_words() -> None:
    assert mask([0]) == "00000001"
    assert mask(range(40)) == "000000ff,ffffffff"
    assert mask([64, 33]) == "00000001,00000002,00000000"
