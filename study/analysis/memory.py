"""How much memory training needs on one device, predicted: states, activations, logits, and a fixed rest.

Sources: Rajbhandari et al., SC 2020, arXiv 1910.02054 (ZeRO: states per parameter and what each stage
shards); Korthikanti et al. 2022, arXiv 2205.05198 (activations of a transformer layer, tensor and sequence
parallel). A prediction is not a measurement: it is printed beside the peak that was measured.
"""

from typing import Literal

from study.domain.fact import Fact

Recipe = Literal["fp32", "autocast", "mixed", "bf16"]
Stage = Literal[0, 1, 2, 3]

REST_BYTES = 1.5e9
"""Context of the device, kernels and NCCL's buffers, about."""

USABLE = 0.92
"""The share of a device's memory that may be planned for: the allocator fragments the rest."""


class States(Fact, frozen=True, kw_only=True):
    """Bytes per parameter that training with Adam keeps; `cast` are the copies that autocast caches."""

    parameter: int
    gradient: int
    optimizer: int
    cast: int = 0

    @property
    def all(self) -> int:
        return self.parameter + self.gradient + self.optimizer + self.cast


STATES: dict[Recipe, States] = {
    "fp32": States(parameter=4, gradient=4, optimizer=8),
    "autocast": States(parameter=4, gradient=4, optimizer=8, cast=2),
    "mixed": States(parameter=2, gradient=2, optimizer=12),  # an FP32 master copy and both moments
    "bf16": States(parameter=2, gradient=2, optimizer=4),
}


class Prediction(Fact, frozen=True, kw_only=True):
    """The predicted bytes of one device, by what needs them."""

    states: float
    activations: float
    logits: float
    rest: float = REST_BYTES

    @property
    def total(self) -> float:
        return self.states + self.activations + self.logits + self.rest

    def fits(self, memory_bytes: float) -> bool:
        """Whether it stays within the share of the memory that may be planned for."""
        return self.total <= USABLE * memory_bytes


def state_bytes(parameters: float, recipe: Recipe, *, stage: Stage = 0, ranks: int = 1) -> float:
    """States of one rank under ZeRO: stage 1 shards the optimizer, 2 also gradients, 3 also parameters."""
    each = STATES[recipe]
    optimizer = each.optimizer / (ranks if stage >= 1 else 1)
    gradient = each.gradient / (ranks if stage >= 2 else 1)
    parameter = (each.parameter + each.cast) / (ranks if stage >= 3 else 1)
    return parameters * (parameter + gradient + optimizer)


def fsdp_bytes(
    parameters: float,
    recipe: Recipe,
    *,
    ranks: int,
    largest_block: float,
    element_bytes: int,
    gathered: int = 2,
) -> float:
    """States of one rank under FSDP2: ZeRO's stage 3 and the blocks that are whole at a time.

    `largest_block` is in parameters; `gathered` is 2 where the next block is fetched ahead, else 1.
    """
    return state_bytes(parameters, recipe, stage=3, ranks=ranks) + largest_block * element_bytes * gathered


def activation_bytes(
    *,
    sequence: int,
    batch: int,
    width: int,
    heads: int,
    tensor_parallel: int = 1,
    sequence_parallel: bool = False,
    flash: bool = False,
    recompute: bool = False,
    element_bytes: int = 2,
) -> float:
    """Activations of one transformer layer on one device, with dropout, kept for the backward pass.

    s b h (34 + 5 a s/h) at two bytes an element; t tensor-parallel ranks leave each of them
    s b h (10 + 24/t + 5 a s/(h t)), sequence parallelism divides all by t. Flash attention keeps no
    scores; full recomputation keeps only the layer's input. Source: Korthikanti et al. 2022, table 2.
    """
    tokens, t, e = sequence * batch * width, tensor_parallel, element_bytes
    if recompute:
        return tokens * e
    # Of the 34: 16 elements, of which 12 are split by tensor parallelism, and two dropout masks of a byte.
    whole = 4 * e + 2
    split = 12 * e + (0 if flash else (2 * e + 1) * heads * sequence / width)
    return tokens * (whole / (t if sequence_parallel else 1) + split / t)


def logit_bytes(*, sequence: int, batch: int, vocabulary: int, bytes_each: int = 8) -> float:
    """The scores over the vocabulary: 4 bytes each in FP32, 8 while their gradient is held too."""
    return sequence * batch * vocabulary * bytes_each
