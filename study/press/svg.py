"""From matplotlib's SVG to one that can be shown as an image on light and dark paper, and compared in Git.

Style attributes become presentation attributes, colours become classes (the colour stays as fall-back), one
`<style>` holds both schemes, coordinates have two decimals, and every group stands on its own line.
"""

import re
from collections.abc import Iterable
from xml.etree import ElementTree

from study.press.tokens import FONTS, SHADES

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
XML = "http://www.w3.org/XML/1998/namespace"

_TOKENS = {shade.light: token for token, shade in SHADES.items()}
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_GEOMETRY = (
    "d",
    "x",
    "y",
    "width",
    "height",
    "transform",
    "points",
    "stroke-width",
    "font-size",
    "stroke-dasharray",
)
_FONT = re.compile(r"(?:(?P<weight>bold|\d{3})\s+)?(?P<size>[\d.]+)px\s")
_USELESS = {"stroke-linejoin": "round", "stroke-opacity": "1", "opacity": "1"}
_NO_TURN = re.compile(r"\s*rotate\(-?0 [^)]*\)\s*")


def finished(raw: bytes, *, key: str, title: str, description: str, lang: str) -> bytes:
    """The SVG for the page.

    `title` and `description` are for those who hear the chart; `key` makes the ids.
    """
    root = ElementTree.fromstring(raw)  # noqa: S314 - written by matplotlib a moment ago
    width, height = root.attrib["viewBox"].split()[2:]
    _drop(root, f"{{{SVG}}}metadata")
    _drop(root, f"{{{SVG}}}style")
    used: set[tuple[str, str]] = set()
    for element in root.iter():
        _present(element, used)
    _halos(root, used)
    _flatten(root)
    whole = ElementTree.Element(
        f"{{{SVG}}}svg",
        {
            "width": _rounded(width),
            "height": _rounded(height),
            "viewBox": f"0 0 {_rounded(width)} {_rounded(height)}",
            "role": "img",
            "aria-labelledby": f"{key}-title {key}-desc",
            "font-family": FONTS,
            f"{{{XML}}}lang": lang,
        },
    )
    _child(whole, "title", title, id=f"{key}-title")
    _child(whole, "desc", description, id=f"{key}-desc")
    _child(whole, "style", _css(used))
    whole.extend(child for child in root if child.tag != f"{{{SVG}}}defs" or len(child))
    ElementTree.register_namespace("", SVG)
    text = ElementTree.tostring(whole, encoding="unicode", short_empty_elements=True)
    return (_lines(text) + "\n").encode()


def _drop(parent: ElementTree.Element, tag: str) -> None:
    for child in list(parent):
        if child.tag == tag:
            parent.remove(child)
        else:
            _drop(child, tag)


def _present(element: ElementTree.Element, used: set[tuple[str, str]]) -> None:
    """Style to attributes, colours to classes, numbers to two decimals."""
    attributes = element.attrib
    attributes |= _attributes_of(attributes.pop("style", ""))
    if f"{{{XLINK}}}href" in attributes:
        attributes["href"] = attributes.pop(f"{{{XLINK}}}href")
    if _NO_TURN.fullmatch(attributes.get("transform", "")):
        del attributes["transform"]
    for name in _GEOMETRY:
        if name in attributes:
            attributes[name] = " ".join(_rounded(attributes[name]).split())
    classes = []
    for name, prefix in (("fill", "f"), ("stroke", "k")):
        token = _TOKENS.get(attributes.get(name, ""))
        if token:
            used.add((prefix, token))
            classes.append(f"{prefix}-{token}")
    if classes:
        attributes["class"] = " ".join(classes)
    if element.tag == f"{{{SVG}}}g" and not attributes.get("id", "").startswith("halo"):
        attributes.pop("id", None)
    if element.text and not element.text.strip() and element.tag != f"{{{SVG}}}text":
        element.text = None
    element.tail = None


def _attributes_of(style: str) -> dict[str, str]:
    """The declarations of a style attribute as presentation attributes; the font's family is the root's."""
    found: dict[str, str] = {}
    for declaration in style.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name == "font" and (font := _FONT.match(value)):
            found["font-size"] = font["size"]
            if font["weight"]:
                found["font-weight"] = "700" if font["weight"] == "bold" else font["weight"]
        elif name == "font-size":
            found[name] = value.removesuffix("px")
        elif name not in ("", "font", "font-family") and _USELESS.get(name) != value:
            found[name] = value
    return found


def _halos(root: ElementTree.Element, used: set[tuple[str, str]]) -> None:
    """Letters over a chart get a rim in the paper's colour, so that lines beneath do not cross them."""
    for group in root.iter(f"{{{SVG}}}g"):
        if not group.attrib.pop("id", "").startswith("halo"):
            continue
        for text in group.iter(f"{{{SVG}}}text"):
            text.attrib |= {
                "stroke": SHADES["card"].light,
                "stroke-width": "3.5",
                "stroke-linejoin": "round",
                "paint-order": "stroke",
                "class": text.attrib.get("class", "") + " k-card",
            }
            used.add(("k", "card"))


def _flatten(parent: ElementTree.Element) -> None:
    """Groups without attributes say nothing: their children take their place, one drawn thing a group."""
    for child in list(parent):
        _flatten(child)
    result: list[ElementTree.Element] = []
    for child in parent:
        lone = child.tag == f"{{{SVG}}}g" and not child.attrib
        if lone and (len(child) <= 1 or any(grand.tag == f"{{{SVG}}}g" for grand in child)):
            result.extend(child)
        else:
            result.append(child)
    parent[:] = result


def _child(parent: ElementTree.Element, tag: str, text: str, **attributes: str) -> None:
    ElementTree.SubElement(parent, f"{{{SVG}}}{tag}", attributes).text = text


def _css(used: Iterable[tuple[str, str]]) -> str:
    """The classes in use, light first and dark in a media query: an image follows its page's scheme."""
    names = {"f": "fill", "k": "stroke"}
    ordered = sorted(used)
    light = "".join(f".{p}-{t}{{{names[p]}:{SHADES[t].light}}}" for p, t in ordered)
    dark = "".join(f".{p}-{t}{{{names[p]}:{SHADES[t].dark}}}" for p, t in ordered)
    base = "*{stroke-linejoin:round}text{font-variant-numeric:tabular-nums}"
    return f"{base}{light}@media(prefers-color-scheme:dark){{{dark}}}"


def _rounded(numbers: str) -> str:
    return _NUMBER.sub(lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), numbers)


def _lines(text: str) -> str:
    """One drawn thing a line, so that a comparison shows what moved."""
    text = re.sub(r"(<(?:g|text|path|defs|use|style|desc)[ >])", r"\n\1", text)
    return re.sub(r"(</(?:g|svg)>)(?=<|$)", r"\n\1", text).replace("\n\n", "\n")
