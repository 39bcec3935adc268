"""A sheet of drawing paper, measured in CSS pixels from its upper left corner.

matplotlib draws and writes the SVG; where things stand is decided here and in `draw`, so that nothing depends
on a layout engine, fonts of the machine (DejaVu Sans comes with matplotlib and measures every text), or on a
locale. The sheet remembers the place of every text, so that none is put on another, and tests can look.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from study.domain.figure import Marker
from study.press import clean
from study.press.tokens import SHADES, text_token

if TYPE_CHECKING:
    from matplotlib.artist import Artist

Anchor = Literal["start", "middle", "end"]

SIZE = 12.5
"""Letters of a chart, in pixels: the same on a phone, because the narrow chart is a drawing of its own."""
LINE = 16.0
_ASCENT, _DESCENT = 0.80, 0.24
_MARKERS = {"circle": "o", "square": "s", "diamond": "D", "triangle": "^", "none": ""}
_EDGE = 2.0


class Box(NamedTuple):
    """A rectangle on the sheet; `text` is what stands in it, if anything."""

    left: float
    top: float
    right: float
    bottom: float
    text: str = ""

    def touches(self, other: "Box") -> bool:
        """Whether the two overlap."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


class Spot(NamedTuple):
    """A place for a text: where its base line begins, is centred or ends."""

    x: float
    y: float
    anchor: Anchor = "start"


class Sheet:
    """The sheet. Shapes are drawn in the order of their `layer`, then as they were added."""

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure
        from matplotlib.transforms import Affine2D

        self.width, self.height = width, height
        self.texts: list[Box] = []
        self.bodies: list[Box] = []
        self._figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        self._figure.patch.set_visible(False)
        self._pixels = Affine2D().scale(1, -1).translate(0, height)

    def width_of(self, text: str, *, size: float = SIZE, bold: bool = False) -> float:
        """The width of a text in pixels."""
        from matplotlib.font_manager import FontProperties
        from matplotlib.textpath import text_to_path

        font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
        return float(width)

    def fitted(self, text: str, room: float, *, size: float = SIZE, bold: bool = False) -> str:
        """The text, with its middle left out until it fits into `room` pixels."""
        text = clean.one_line(text, clean.LABEL_LIMIT)
        limit = len(text)
        while limit > 1 and self.width_of(text, size=size, bold=bold) > room:
            limit -= 1
            text = clean.shortened(text, limit)
        return text

    def wrapped(
        self, text: str, room: float, most: int, *, size: float = SIZE, bold: bool = False
    ) -> list[str]:
        """The text in at most `most` lines of at most `room` pixels; what does not fit is left out."""
        words = clean.one_line(text, clean.LABEL_LIMIT).split(" ")
        lines: list[str] = []
        for position, word in enumerate(words):
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self.width_of(longer, size=size, bold=bold) <= room:
                lines[-1] = longer
            elif len(lines) < most:
                lines.append(word)
            else:
                lines[-1] = " ".join([lines[-1], *words[position:]])
                break
        return [self.fitted(line, room, size=size, bold=bold) for line in lines]

    def box_of(self, text: str, spot: Spot, *, size: float = SIZE, bold: bool = False) -> Box:
        """The rectangle that the text would take."""
        width = self.width_of(text, size=size, bold=bold)
        left = spot.x - {"start": 0.0, "middle": width / 2, "end": width}[spot.anchor]
        return Box(left, spot.y - _ASCENT * size, left + width, spot.y + _DESCENT * size, text)

    def write(
        self,
        text: str,
        spot: Spot,
        *,
        shade: str = "muted",
        size: float = SIZE,
        bold: bool = False,
        halo: bool = False,
    ) -> Box:
        """Write a text, moved sideways onto the sheet if it would leave it."""
        from matplotlib.text import Text

        text = self.fitted(text, self.width - 2 * _EDGE, size=size, bold=bold)
        box = self.box_of(text, spot, size=size, bold=bold)
        shift = max(_EDGE - box.left, 0.0) or min(self.width - _EDGE - box.right, 0.0)
        box = box._replace(left=box.left + shift, right=box.right + shift)
        artist = Text(
            spot.x + shift,
            spot.y,
            text,
            transform=self._pixels,
            color=SHADES[text_token(shade)].light,
            fontsize=size,
            fontweight="bold" if bold else "normal",
            ha={"start": "left", "middle": "center", "end": "right"}[spot.anchor],
            va="baseline",
            parse_math=False,
            zorder=20,
        )
        if halo:
            artist.set_gid(f"halo-{len(self.texts)}")
        self._figure.add_artist(artist)
        self.texts.append(box)
        return box

    def write_where_free(
        self,
        text: str,
        spots: Sequence[Spot],
        *,
        shade: str,
        within: Box,
        bold: bool = False,
        bodies: bool = True,
        halo: bool = True,
    ) -> bool:
        """Write a text at the first spot where it touches no other text, and no mark if `bodies`.

        Without such a spot it is not written: the number is in the table, and an unreadable one helps nobody.
        """
        for spot in spots:
            box = self.box_of(text, spot, bold=bold)
            inside = within.left <= box.left and box.right <= within.right
            inside = inside and within.top <= box.top and box.bottom <= within.bottom
            others = [*self.texts, *self.bodies] if bodies else self.texts
            if inside and not any(box.touches(other) for other in others):
                self.write(text, spot, shade=shade, bold=bold, halo=halo)
                return True
        return False

    def stroke(
        self,
        x: Sequence[float],
        y: Sequence[float],
        *,
        shade: str,
        width: float = 1.0,
        dashes: tuple[float, float] | None = None,
        layer: float = 1,
        clip: Box | None = None,
        cap: Literal["butt", "round"] = "butt",
        opacity: float = 1.0,
    ) -> None:
        """A line through points."""
        from matplotlib.lines import Line2D

        line = Line2D(
            list(x),
            list(y),
            transform=self._pixels,
            color=SHADES[shade].light,
            linewidth=width,
            zorder=layer,
            solid_capstyle=cap,
            dash_capstyle="butt",
            alpha=None if opacity == 1.0 else opacity,
        )
        if dashes:
            line.set_linestyle((0, tuple(d / width for d in dashes)))
        self._add(line, clip)

    def stamp(
        self,
        x: Sequence[float],
        y: Sequence[float],
        marker: Marker,
        *,
        shade: str,
        size: float,
        hollow: bool = False,
        layer: float = 5,
    ) -> None:
        """Markers at points, each with a rim in the paper's colour, or as an outline if `hollow`."""
        from matplotlib.lines import Line2D

        if marker == "none" or not x:
            return
        colour = SHADES[shade].light
        size = size * {"diamond": 0.88, "square": 0.92, "triangle": 1.08}.get(marker, 1.0)
        points = Line2D(
            list(x),
            list(y),
            transform=self._pixels,
            linestyle="none",
            marker=_MARKERS[marker],
            markersize=size,
            markerfacecolor=SHADES["card"].light if hollow else colour,
            markeredgecolor=colour if hollow else SHADES["card"].light,
            markeredgewidth=1.6 if hollow and size > 5 else 1.1,
            zorder=layer,
        )
        self._figure.add_artist(points)
        self.bodies += [
            Box(a - size / 2, b - size / 2, a + size / 2, b + size / 2) for a, b in zip(x, y, strict=True)
        ]

    def fill(
        self,
        box: Box,
        *,
        shade: str,
        opacity: float = 1.0,
        hatched: bool = False,
        layer: float = 1,
        body: bool = False,
    ) -> None:
        """A rectangle, filled or hatched with an outline."""
        from matplotlib.patches import Rectangle

        colour = SHADES[shade].light
        patch = Rectangle(
            (box.left, box.top),
            box.right - box.left,
            box.bottom - box.top,
            transform=self._pixels,
            facecolor="none" if hatched else colour,
            edgecolor=colour if hatched else "none",
            linewidth=1.2 if hatched else 0.0,
            hatch="////" if hatched else None,
            alpha=None if opacity == 1.0 else opacity,
            zorder=layer,
        )
        self._figure.add_artist(patch)
        if body:
            self.bodies.append(box)

    def area(
        self,
        x: Sequence[float],
        low: Sequence[float],
        high: Sequence[float],
        *,
        shade: str,
        opacity: float,
        clip: Box,
    ) -> None:
        """The surface between two lines over the same positions."""
        from matplotlib.patches import Polygon

        outline = [*zip(x, low, strict=True), *reversed(list(zip(x, high, strict=True)))]
        patch = Polygon(
            outline,
            closed=True,
            transform=self._pixels,
            facecolor=SHADES[shade].light,
            edgecolor="none",
            linewidth=0.0,
            alpha=opacity,
            zorder=1.5,
        )
        self._add(patch, clip)

    def svg(self) -> bytes:
        """The sheet as matplotlib writes it; `svg.finished` makes it fit for the page."""
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        out = BytesIO()
        FigureCanvasSVG(self._figure).print_svg(  # type: ignore[no-untyped-call]
            out, metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
        return out.getvalue()

    def _add(self, artist: "Artist", clip: Box | None) -> None:
        from matplotlib.transforms import Bbox

        self._figure.add_artist(artist)
        if clip is not None:
            artist.set_clip_box(
                Bbox.from_extents(clip.left, self.height - clip.bottom, clip.right, self.height - clip.top)
            )


@contextmanager
def drawing_rules() -> Iterator[None]:
    """Matplotlib as the press needs it: text stays text, ids follow from the content, no mathematics.

    A script that DejaVu Sans lacks is measured by its missing-glyph box and shown in the reader's font, so
    the warning about it says nothing of use.
    """
    from matplotlib import rc_context

    rules: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": "study",
        "font.family": "DejaVu Sans",
        "text.usetex": False,
        "text.parse_math": False,
        "path.simplify": True,
        "hatch.linewidth": 1.0,
    }
    with warnings.catch_warnings(), rc_context(rules):
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield
