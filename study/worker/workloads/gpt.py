"""The workload `gpt`: a decoder-only transformer, trained on next tokens or decoding greedily with a cache.

Decoding is bound by reading weights and cache, training and the first token by arithmetic: three
different loads in one model. Sizes from `124m` to `1.5b` are GPT-2's (Radford et al. 2019), `2.7b` and
`6.7b` GPT-3's (Brown et al. 2020, table 2.1, which the learning rates follow).
"""

from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from study.worker.contracts import Evidence, Invalid, Job, Mark, Note, Place, Window
from study.worker.flops import decoding_flops
from study.worker.inference import prepared, require_sound
from study.worker.models.gpt import GPT, Cache, Dimensions
from study.worker.samples import token_batches
from study.worker.training import Training, count_parameters

FACTS = {
    "summary": "A decoder-only transformer (GPT-2's shape): training on next tokens, or greedy decoding.",
    "tasks": {
        "train": {
            "unit": "tokens",
            "options": {"sequence": 64},
            "ranges": {"sequence": (1, 1e9)},
            "fits": {"context": ("sequence",)},
        },
        "infer": {
            "unit": "tokens",
            "options": {"prompt": 32, "generate": 32},
            "ranges": {"prompt": (1, 1e9), "generate": (2, 1e9)},
            "fits": {"context": ("prompt", "generate")},
            "needs": ("cache",),
        },
    },
    "sizes": {
        "tiny": {
            "layers": 4,
            "width": 128,
            "heads": 4,
            "vocab": 512,
            "context": 128,
            "learning_rate": 1e-3,
        },
        "small": {
            "layers": 6,
            "width": 256,
            "heads": 8,
            "vocab": 2048,
            "context": 256,
            "learning_rate": 1e-3,
        },
        "124m": {
            "layers": 12,
            "width": 768,
            "heads": 12,
            "vocab": 50257,
            "context": 1024,
            "learning_rate": 6e-4,
        },
        "355m": {
            "layers": 24,
            "width": 1024,
            "heads": 16,
            "vocab": 50257,
            "context": 1024,
            "learning_rate": 3e-4,
        },
        "774m": {
            "layers": 36,
            "width": 1280,
            "heads": 20,
            "vocab": 50257,
            "context": 1024,
            "learning_rate": 2.5e-4,
        },
        "1.5b": {
            "layers": 48,
            "width": 1600,
            "heads": 25,
            "vocab": 50257,
            "context": 1024,
            "learning_rate": 2e-4,
        },
        "2.7b": {
            "layers": 32,
            "width": 2560,
            "heads": 32,
            "vocab": 50257,
            "context": 2048,
            "learning_rate": 1.6e-4,
        },
        "6.7b": {
            "layers": 32,
            "width": 4096,
            "heads": 32,
            "vocab": 50257,
            "context": 2048,
            "learning_rate": 1.2e-4,
        },
    },
    "precisions": ("fp32", "tf32", "bf16", "fp16"),
    "seams": {"copies": "", "blocks": "layers", "split": "heads"},
}


def build(place: Place) -> Job:
    """The job of one rank.

    Raises:
        Invalid: the sequence is longer than the size has positions for, or an option makes no sense.
    """
    return _training(place) if place.cell.task == "train" else Decoding(place)


def dimensions(size: str) -> Dimensions:
    """The dimensions of a size of this workload."""
    facts = FACTS["sizes"][size]  # type: ignore[index]
    return Dimensions(**{name: int(facts[name]) for name in Dimensions.__dataclass_fields__})


def _training(place: Place) -> Training:
    cell = place.cell
    size, sequence = dimensions(cell.size), int(cell.options["sequence"])
    _require_room(cell.size, sequence, size.context)
    with torch.device("meta"):
        model = GPT(size)
    # One more token than the sequence: the targets are the inputs moved by one.
    batches = token_batches(place, length=sequence + 1, vocab=size.vocab)
    learning_rate = FACTS["sizes"][cell.size]["learning_rate"]  # type: ignore[index]
    return Training(
        place,
        model,
        [(batch[:, :-1].contiguous(), batch[:, 1:].contiguous()) for batch in batches],
        _next_token_loss,
        # Fused: one kernel for all parameters, and with fp16 no wait for the scaler's verdict.
        lambda parameters: torch.optim.AdamW(parameters, lr=learning_rate, fused=True),
        work_unit="tokens",
        work_per_step=place.counted * sequence,
    )


def _next_token_loss(logits: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Decoding:
    """One step is a batch of prompts and `generate` greedy tokens for each; work counts those tokens."""

    work_unit = "tokens"

    def __init__(self, place: Place) -> None:
        cell = place.cell
        size = dimensions(cell.size)
        prompt, self._generate = int(cell.options["prompt"]), int(cell.options["generate"])
        if prompt < 1 or self._generate < 2:
            raise Invalid("Decoding needs a prompt of one token and two generated tokens at least.")
        room = prompt + self._generate
        _require_room(cell.size, room, size.context)
        with torch.device("meta"):
            model = GPT(size)
        self.parameters = count_parameters(model)
        model = prepared(model, cell.precision)  # type: ignore[assignment]
        self._flops = decoding_flops(
            model, Cache(prompt + 2), prompt=prompt, generate=self._generate, samples=place.counted
        )
        self.runner = place.run(model)
        self.work_per_step = place.counted * self._generate
        self._accelerator = place.accelerator
        self._vocab = size.vocab
        self._cache = Cache(room)
        self._pool = token_batches(place, length=prompt, vocab=size.vocab)
        self._steps = 0

    def begin(self) -> None:
        """Each step starts from a prompt anyway."""

    def step(self) -> tuple[Mark | None, Tensor | None]:
        """The mark after the first token, and whether every token and the last logits are sound; None on a
        rank that does not learn the tokens, or the logits."""
        prompts = self._pool[self._steps % len(self._pool)]
        self._steps += 1
        first, tokens, logits = self.decode(prompts)
        if logits is None:
            return first, None
        return first, logits.isfinite().all() & (tokens >= 0).all() & (tokens < self._vocab).all()

    @torch.no_grad()
    def decode(self, prompts: Tensor) -> tuple[Mark | None, Tensor, Tensor | None]:
        """The mark after the first token, the tokens (batch, generate), and the last one's logits.

        No token is read by the host while it decodes, so the device is never waited for. A rank that does
        not learn the tokens has no mark, and zeros, whose shape is all that it needs.
        """
        self._cache.clear()
        tokens = torch.zeros((prompts.shape[0], self._generate), dtype=prompts.dtype, device=prompts.device)
        inputs, first, logits = prompts, None, None
        for i in range(self._generate):
            logits = self.runner.infer(inputs, self._cache)
            chosen = None if logits is None else logits.argmax(dim=-1)
            token = self.runner.hand_back(chosen, tokens[:, i])
            if token is not None:
                tokens[:, i] = token
                first = first or self._accelerator.mark()
            inputs = tokens[:, i : i + 1]
        return first, tokens, logits

    def evidence(self, first: Note, window: Window) -> Evidence:
        """Time to the first token, and mean time of each later one, of every step; nothing on a rank that
        does not learn the tokens.

        Raises:
            Invalid: a step gave logits that are not finite, or a token that is no token.
        """
        require_sound([sound for _, sound in window.notes], "a logit was not finite or a token out of range")
        if first[0] is None:
            return Evidence(flops=self._flops)
        elapsed_ns, later = self._accelerator.elapsed_ns, self._generate - 1
        steps = zip(pairwise(window.marks), window.notes, strict=True)
        first_and_rest = [(elapsed_ns(a, token), elapsed_ns(token, b)) for (a, b), (token, _) in steps]
        return Evidence(
            first_token_ns=tuple(first_ns for first_ns, _ in first_and_rest),
            token_ns=tuple(round(rest_ns / later) for _, rest_ns in first_and_rest),
            flops=self._flops,
        )


def _require_room(size: str, length: int, context: int) -> None:
    if length > context:
        raise Invalid(f"{length} tokens are more than the {context} that size {size} has positions for.")
