"""The runner of every strategy under which a model is still called as a whole on every rank."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import nn

from study.worker.contracts import Loss, Place
from study.worker.parameters import full_names


class WholeRunner:
    """Calls a module that looks like the model, be it wrapped, sharded or split (`contracts.Runner`).

    The mean loss of a rank's share is what its backward pass starts from; whoever wraps the module makes
    the gradients those of the whole batch. Every rank has its answers.
    """

    partners = None

    def __init__(
        self,
        module: nn.Module,
        part: nn.Module,
        place: Place,
        *,
        loss: Loss | None,
        scale: Callable[[Any], Any],
        unsynchronised: Callable[[], AbstractContextManager[Any]] | None = None,
    ) -> None:
        """`module` is called; `part`, often the same, is the model within it and has its names."""
        self.module = module
        self._part = part
        self._loss = loss
        self._scale = scale
        self._unsynchronised = unsynchronised
        self._autocast = place.accelerator.autocast
        self._precision = place.cell.precision

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        return full_names(self._part)

    def train(self, inputs: Any, targets: Any) -> Any:
        if self._loss is None:
            raise TypeError("a runner that trains is given a loss")
        with self._autocast(self._precision):
            loss = self._loss(self.module(inputs), targets)
        self._scale(loss).backward()
        return loss.detach()

    # Not inference_mode: DTensor takes a slow path there (2.5 times the time, torch 2.13).
    @torch.no_grad()
    def infer(self, inputs: Any, *context: Any) -> Any:
        return self.module(inputs, *context)

    def hand_back(self, answer: Any, like: Any) -> Any:  # noqa: ARG002 - the contract's
        """Every rank has its answers already."""
        return answer

    def unsynchronised(self) -> AbstractContextManager[Any] | None:
        return None if self._unsynchronised is None else self._unsynchronised()
