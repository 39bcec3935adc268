"""Labels that keep out of each other's way.

Labels at the ends of lines stand in one column: each as near to its line as the others allow. They are moved
in blocks, as in the regression of ordered values (pool adjacent violators): neighbours that touch become one
block, which stands at the mean of what its members want.
"""

from collections.abc import Sequence


def pushed_apart(wanted: Sequence[float], heights: Sequence[float], low: float, high: float) -> list[float]:
    """Centres nearest to those wanted such that no two labels overlap and all stay between `low` and `high`.

    Where there is not room for all, they are spaced evenly over what there is.
    """
    if not wanted:
        return []
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    room = high - low
    squeeze = min(1.0, room / sum(heights)) if room > 0 else 0.0
    size = [heights[i] * squeeze for i in order]
    blocks: list[list[int]] = []
    tops: list[float] = []
    for position, index in enumerate(order):
        blocks.append([position])
        tops.append(_held(wanted[index] - size[position] / 2, size[position], low, high))
        while len(blocks) > 1 and tops[-2] + sum(size[p] for p in blocks[-2]) > tops[-1] + 1e-9:
            merged = blocks[-2] + blocks[-1]
            del blocks[-2:], tops[-2:]
            blocks.append(merged)
            tops.append(_best_top(merged, [wanted[order[p]] for p in merged], size, low, high))
    centres = [0.0] * len(wanted)
    for block, top in zip(blocks, tops, strict=True):
        edge = top
        for position in block:
            centres[order[position]] = edge + size[position] / 2
            edge += size[position]
    return centres


def _best_top(
    block: Sequence[int], wanted: Sequence[float], size: Sequence[float], low: float, high: float
) -> float:
    """Where a block's upper edge stands so that its members' distances from their wishes sum to nothing."""
    offset, differences = 0.0, 0.0
    for position, wish in zip(block, wanted, strict=True):
        differences += wish - (offset + size[position] / 2)
        offset += size[position]
    return _held(differences / len(block), offset, low, high)


def _held(top: float, height: float, low: float, high: float) -> float:
    return max(low, min(top, high - height))
