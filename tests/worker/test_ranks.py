"""Whole ranks, for real: fresh processes that leave complete and consistent readings, or say why not."""

from collections.abc import Callable

import pytest

from study.domain.fact import missing_reasons
from study.domain.record import Preheat, Reading
from study.domain.study import Protocol

pytestmark = pytest.mark.xdist_group("whole ranks")

Readings = Callable[..., list[Reading]]

LOADS = [
    ("gpt", "train", {"sequence": 16}, "tokens", 16),
    ("gpt", "infer", {"prompt": 8, "generate": 6}, "tokens", 6),
    ("resnet", "train", {"image": 16}, "images", 1),
    ("resnet", "infer", {"image": 0}, "images", 1),
]


@pytest.fixture(scope="module", params=[1, 2], ids=["x1", "x2"])
def devices(request: pytest.FixtureRequest) -> int:
    """One rank alone and two together."""
    return request.param


@pytest.fixture(scope="module", params=LOADS, ids=lambda load: f"{load[0]}-{load[1]}")
def measured(
    request: pytest.FixtureRequest, devices: int, readings: Readings
) -> tuple[list[Reading], str, int]:
    """A trial of every load that computes, with its unit and its units per sample."""
    workload, task, options, unit, units = request.param
    return readings(workload, task, devices=devices, **options), unit, units


@pytest.mark.torch
class TestReadings:
    """What every reading of a trial that computes must hold."""

    def test_every_rank_tells_the_same_number_of_steps(self, measured, devices):
        """Each rank comes back, and each has one time for every step of the window."""
        readings, _, _ = measured

        steps = [len(reading.step_ns) for reading in readings]

        assert [reading.rank for reading in readings] == list(range(devices))
        assert steps == [12] * devices

    def test_steps_fill_the_window(self, measured):
        """The steps' times add up to the window, of which nothing is lost at its ends."""
        readings, _, _ = measured

        for reading in readings:
            window_ns = reading.window_end_ns - reading.window_start_ns
            assert sum(reading.step_ns) <= window_ns
            assert sum(reading.step_ns) == pytest.approx(window_ns, rel=0.01)
            assert all(step > 0 for step in reading.step_ns)

    def test_work_of_all_ranks_is_the_work_ordered(self, measured):
        """Units over all ranks are steps times the global batch times units per sample."""
        readings, unit, units = measured

        work = sum(reading.work for reading in readings)

        assert work == 12 * 8 * units
        assert {reading.work_unit for reading in readings} == {unit}

    def test_what_is_not_known_has_a_reason(self, measured):
        """Nothing is null without a sentence, and what a CPU can tell is told."""
        readings, _, _ = measured

        for reading in readings:
            assert missing_reasons(reading, reading.unknown) == []
            assert missing_reasons(reading.numerics, reading.numerics.unknown) == []
            assert reading.threads == 1
            assert reading.start_method == "fork"
            assert reading.cpu_ns > 0
            assert len(reading.warmup_step_ns) in {2, 4, 6}  # in training until buckets are rebuilt
            assert not any(event.window for event in reading.events)
            assert reading.cpus
            assert (reading.pinned, reading.not_pinned) == (False, "nothing was said about it")
            assert reading.preheat == Preheat(seconds=0.0, ended="off")
            assert reading.parameters > 100_000
            assert reading.peak_memory_bytes > 50_000_000


@pytest.mark.torch
def test_training_tells_one_loss_a_step_and_it_falls(readings):
    """A training reading has the first loss, near ln of the vocabulary, and falling ones after it."""
    (reading,) = readings("gpt", "train", sequence=16)

    assert len(reading.loss) == 12
    assert reading.loss_first == pytest.approx(6.24, abs=0.3)
    assert reading.loss[-1] < reading.loss[0] < reading.loss_first
    assert reading.first_token_ns == reading.token_ns == ()


@pytest.mark.torch
def test_decoding_tells_time_to_first_and_per_later_token(readings):
    """First token and five later ones together are the step, to the rounding of the mean."""
    (reading,) = readings("gpt", "infer", prompt=8, generate=6)

    whole = [first + 5 * later for first, later in zip(reading.first_token_ns, reading.token_ns, strict=True)]

    assert whole == pytest.approx(list(reading.step_ns), abs=5)
    assert reading.loss_first is None
    assert reading.loss == ()
    assert reading.unknown["loss_first"] == "nothing is trained"


@pytest.mark.torch
def test_ranks_agree_on_a_window_that_fills_its_seconds(readings):
    """Without a number in the study, ranks warm up by time and agree on the steps of the window."""
    protocol = Protocol(warmup_steps=2, warmup_s=0.1, window_s=0.2, min_steps=3)

    first, second = readings("resnet", "infer", devices=2, image=0, protocol=protocol)

    assert len(first.step_ns) == len(second.step_ns) >= 3
    assert len(first.warmup_step_ns) == len(second.warmup_step_ns) > 2
    assert sum(first.warmup_step_ns) > 0.05e9


@pytest.mark.torch
def test_bf16_trains_too(readings):
    """Training under autocast measures and its loss falls."""
    (reading,) = readings("gpt", "train", sequence=16, precision="bf16")

    assert reading.loss[-1] < reading.loss_first


@pytest.mark.torch
@pytest.mark.parametrize(
    ("workload", "options"), [("gpt", {"prompt": 8, "generate": 4}), ("resnet", {"image": 16})]
)
def test_bf16_infers_with_weights_of_half_the_size(readings, workload, options):
    """Inference in bf16 answers with finite logits, from as many parameters."""
    (half,) = readings(workload, "infer", precision="bf16", **options)
    (full,) = readings(workload, "infer", **options)

    assert half.work == full.work
    assert half.parameters == full.parameters


@pytest.mark.torch
def test_ddp_alone_joins_a_group_of_one(readings):
    """The wrapper's cost can be measured: ddp runs on one device."""
    (reading,) = readings("gpt", "train", strategy="ddp", sequence=16)

    assert reading.work == 12 * 8 * 16


@pytest.mark.torch
@pytest.mark.parametrize(
    ("workload", "task", "options", "units"),
    [
        ("gpt", "train", {"sequence": 16}, 16),
        ("gpt", "infer", {"prompt": 8, "generate": 6}, 6),
        ("resnet", "infer", {"image": 16}, 1),
    ],
)
def test_stages_report_what_they_have(readings, workload, task, options, units):
    """Under layer-split the last stage counts the work and has the losses; others say why they have none."""
    first, middle, last = readings(
        workload, task, devices=3, strategy="layer-split", mesh={"stages": 3}, **options
    )

    assert (first.work, middle.work, last.work) == (0, 0, 12 * 8 * units)
    assert first.loss == middle.loss == ()
    assert first.parameters == last.parameters > 100_000
    if task == "train":
        assert first.unknown["loss_first"] == "another rank has the loss"
        assert len(last.loss) == 12
        assert last.loss[-1] < last.loss_first
    if workload == "gpt" and task == "infer":
        assert len(first.first_token_ns) == len(last.first_token_ns) == 12
        assert middle.first_token_ns == ()


@pytest.mark.torch
def test_a_mesh_that_is_not_the_ranks_is_invalid(launch):
    """A layout for three ranks cannot be measured on two."""
    ranks = launch("gpt", "train", devices=2, mesh={"data": 3}, sequence=16)

    assert {rank.error.message for rank in ranks} == {"A mesh of {'data': 3} is not made of 2 ranks."}


def test_sleep_runs_without_torch(launch):
    """Two ranks of the instrument check meet over files, never load torch, and do the work ordered."""
    ranks = launch("sleep", "check", devices=2, size="amdahl", step_ms=4.0, serial_share=0.5, jitter=0.0)

    assert [rank.code for rank in ranks] == [0, 0], ranks[0].log
    assert [rank.loaded_torch for rank in ranks] == [False, False]
    readings = [rank.reading for rank in ranks]
    assert {reading.start_method for reading in readings} == {"exec"}
    assert sum(reading.work for reading in readings) == 12 * 8
    for reading in readings:
        window_ns = reading.window_end_ns - reading.window_start_ns
        # 4 ms × (0.5 + 0.5/2) = 3 ms a step: it cannot be less, and how much more is the machine's.
        assert window_ns >= 12 * 3_000_000
        assert sum(reading.step_ns) == pytest.approx(window_ns, rel=0.01)
        assert reading.parameters is None
        assert missing_reasons(reading, reading.unknown) == []


def test_a_rank_that_raises_says_so_and_its_peer_is_an_echo(launch):
    """The rank at fault exits 1 with a cause, the rank that waited for it 1 with a secondary error."""
    echo, fault = launch("faulty", "check", devices=2, size="one", fault="raise", rank=1)

    assert (fault.code, fault.error.kind, fault.error.secondary) == (1, "raised", False)
    assert fault.error.message == "ValueError: a fault on purpose"
    assert "study_faulty.py" in "\n".join(fault.error.trace)
    assert "a fault on purpose" in fault.log
    assert (echo.code, echo.error.kind, echo.error.secondary) == (1, "raised", True)
    assert fault.error.time_ns < echo.error.time_ns
    assert fault.reading is echo.reading is None


def test_a_rank_without_memory_exits_2(launch):
    """A MemoryError is out of memory, not a mere failure."""
    (rank,) = launch("faulty", "check", size="one", fault="memory", rank=0)

    assert (rank.code, rank.error.kind) == (2, "out_of_memory")
    assert rank.error.message == "MemoryError: no room on purpose"


def test_an_invalid_result_exits_3_with_its_sentence(launch):
    """A result that is wrong is no reading; the sentence stands without a class's name."""
    (rank,) = launch("faulty", "check", size="one", fault="invalid", rank=0)

    assert (rank.code, rank.error.kind) == (3, "invalid")
    assert rank.error.message == "The answer is wrong on purpose."


def test_a_lonely_rank_gives_up_at_its_deadline(launch):
    """A peer that never comes is waited for no longer than the deadline, and that is an echo."""
    prelude = (
        "import sys, io, json\n"
        "told = json.loads(sys.stdin.buffer.read())\n"
        "if told['rank'] == 1:\n    sys.exit(9)\n"
        "sys.stdin = io.TextIOWrapper(io.BytesIO(json.dumps(told).encode()))\n"
    )

    lonely, gone = launch(
        "faulty", "check", devices=2, size="one", fault="", rank=0, prelude=prelude, deadline_s=0.2
    )

    assert gone.code == 9
    assert (lonely.code, lonely.error.secondary) == (1, True)
    assert lonely.error.message == "TimeoutError: Timed out waiting for rank 1 for 0.2 s"


def test_an_unknown_workload_is_named_with_what_there_is(launch):
    """A name that is on no shelf is invalid, and the shelf's names are told."""
    (rank,) = launch("sleeep", "check", size="one")

    assert rank.code == 3
    assert rank.error.message.startswith("There is no 'sleeep' on the shelf of workloads; there are ")
    assert "gpt, memcpy, resnet, sleep" in rank.error.message


@pytest.mark.torch
def test_gloo_echo_is_secondary(launch):
    """Over torch.distributed too, the first cause is told from the peer's broken connection."""
    echo, fault = launch("faulty-gpt", "train", devices=2, sequence=16, fault="raise", rank=1)

    assert (fault.code, fault.error.kind, fault.error.secondary) == (1, "raised", False)
    assert (echo.code, echo.error.kind, echo.error.secondary) == (1, "raised", True), echo.log
    assert fault.error.time_ns < echo.error.time_ns


@pytest.mark.torch
@pytest.mark.parametrize("fault", ["memory", "accelerator memory"])
def test_a_tensor_too_large_is_out_of_memory(launch, fault):
    """What torch's allocators say is understood as out of memory."""
    (rank,) = launch("faulty-gpt", "train", sequence=16, fault=fault, rank=0)

    assert (rank.code, rank.error.kind, rank.error.secondary) == (2, "out_of_memory", False)
    assert "memory" in rank.error.message


@pytest.mark.torch
def test_a_limit_on_address_space_is_out_of_memory(launch):
    """A rank that really runs into RLIMIT_AS, with a batch too large for it, is out of memory."""
    prelude = (
        "import resource, torch, torch._dynamo\n"
        "held = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (held + (600 << 20),) * 2)\n"
    )

    (rank,) = launch("gpt", "train", sequence=128, batch=512, prelude=prelude)

    assert (rank.code, rank.error.kind) == (2, "out_of_memory"), rank.log


@pytest.mark.torch
@pytest.mark.parametrize(
    ("task", "options", "sentence"),
    [
        ("train", {"sequence": 16}, "The loss of window step 3 is nan"),
        ("infer", {"prompt": 4, "generate": 4}, "In window step 3 of 12 a logit was not finite"),
    ],
)
def test_a_weight_that_is_no_number_is_invalid(launch, task, options, sentence):
    """A NaN makes the trial invalid, and the step is named."""
    (rank,) = launch("faulty-gpt", task, fault="nan", rank=0, **options)

    assert (rank.code, rank.error.kind) == (3, "invalid")
    assert rank.error.message.startswith(sentence)


@pytest.mark.torch
def test_a_loss_that_rises_is_invalid_with_both_numbers(launch):
    """Training that does not learn is not training: the sentence has the first loss and the last ones'."""
    (rank,) = launch("faulty-gpt", "train", sequence=16, fault="wrong sign", rank=0)

    assert (rank.code, rank.error.kind) == (3, "invalid"), rank.error
    assert rank.error.message.startswith("The loss did not fall: the mean of the window's last 3 steps is ")
    assert ", the first warm-up step's was 6." in rank.error.message


@pytest.mark.torch
def test_a_batch_that_cannot_be_shared_is_invalid(launch):
    """Seven samples do not divide by two ranks, and each rank says so before it waits for the other."""
    ranks = launch("gpt", "train", devices=2, batch=7, sequence=16)

    assert [rank.code for rank in ranks] == [3, 3]
    assert ranks[0].error.message == "A batch of 7 cannot be shared equally by 2 ranks."
