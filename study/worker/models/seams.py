"""Where a model may be taken apart, as data: what strategies need to know and models need to say."""

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, kw_only=True)
class Seams:
    """Names of submodules, as in `named_modules`.

    `blocks` run in order and each takes only what the one before it gave, so a pipeline may be cut
    in front of any of them; `before` and `after` stay with the first and the last stage (a parameter of
    the model itself may be named there too). `columns` and `rows` name linear layers within a block
    whose outputs, or inputs, may be split over devices: a row-split layer takes what column-split ones
    gave. `split_limit` is the number of equal parts that such a split may be made of (its divisors too),
    0 if there is no such split. `tied` are modules that share one `weight`.
    """

    before: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    split_limit: int = 0
    tied: tuple[str, ...] = ()


class Model(Protocol):
    """What a model offers besides `forward`. It is made on the meta device and has no values yet.

    `draw` fills one whole parameter, or a buffer that is not BatchNorm's, given its full name; it uses no
    other source of chance than `generator`. A model with blocks gives what the first block takes by
    `enter` and makes its output of what the last one gave by `leave`; blocks are called like them, with
    whatever `forward` takes besides its input, and `forward` is these in order.
    """

    seams: Seams

    def draw(self, name: str, tensor: Any, generator: Any) -> None: ...
    def enter(self, inputs: Any, *context: Any) -> Any: ...
    def leave(self, x: Any, *context: Any) -> Any: ...
