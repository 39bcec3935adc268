"""Colours, once: what a mark or a surface means, and how that looks on light and on dark paper.

Charts and pages both take their colours from here. Marks have a contrast of at least 3 to the card behind
them, text at least 4.5 (WCAG 2.2, 1.4.11 and 1.4.3; the tests compute it). `s1` and `s2` stay apart under any
colour-vision deficiency; more series than two are told apart by marker and label too.
"""

from typing import NamedTuple


class Shade(NamedTuple):
    """A colour on light and on dark paper."""

    light: str
    dark: str


SHADES = {
    "s1": Shade("#0067a8", "#5fb6ee"),
    "s2": Shade("#c8500a", "#f59a57"),
    "s3": Shade("#00785a", "#45c4a0"),
    "s4": Shade("#96407f", "#e39acb"),
    "n1": Shade("#8a929c", "#87919b"),
    "n2": Shade("#a9b0b8", "#6b7580"),
    "cap": Shade("#a3123a", "#ff8fa6"),
    "muted": Shade("#59626d", "#a2acb6"),
    "ink": Shade("#1d2329", "#e9e7e2"),
    # Text in the colour of the second series: #c8500a is too light for small letters.
    "s2-text": Shade("#b34708", "#f6a063"),
    "card": Shade("#fffefb", "#171d23"),
    # Letters on a bar.
    "onfill": Shade("#ffffff", "#10151a"),
    "grid": Shade("#e7e3d9", "#28313a"),
    "rule": Shade("#cfcabd", "#3a444d"),
}
"""Tokens of charts. Every light colour is there once, because charts are mapped back from colour to token."""

TEXT = {"s2": "s2-text", "n1": "muted", "n2": "muted"}
"""The token for letters, where the one for marks is too light to read."""

PAGE = {
    "paper": Shade("#fbfaf6", "#11161b"),
    "card": SHADES["card"],
    "ink": SHADES["ink"],
    "muted": SHADES["muted"],
    "rule": Shade("#ddd8cb", "#323b44"),
    "hair": Shade("#ebe7dc", "#252d35"),
    "accent": Shade("#0b5a78", "#8ad2e8"),
    "tint": Shade("#eef4f5", "#18252b"),
    "mark": SHADES["s2-text"],
    "bad": SHADES["cap"],
    "warn": Shade("#7a4300", "#f3c37c"),
    "warn-paper": Shade("#fdf1df", "#2a2115"),
    "warn-rule": Shade("#e7c48f", "#5c4522"),
}
"""Tokens of pages, as CSS custom properties."""

FONTS = "Inter,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Helvetica Neue',Arial,sans-serif"
"""The reader's own sans-serif: nothing is fetched."""


def text_token(token: str) -> str:
    """The token in which letters about this mark are set."""
    return TEXT.get(token, token)


def page_properties(scheme: str) -> str:
    """The page's custom properties in the "light" or the "dark" scheme, as CSS declarations."""
    return ";".join(f"--{name}:{getattr(shade, scheme)}" for name, shade in PAGE.items())
