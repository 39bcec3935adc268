"""`study render`: from the archive to the site."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from study.domain.errors import BadUsage

if TYPE_CHECKING:
    from study.domain.article import Article
    from study.press import Published


@click.command("render", short_help="Make the site from the runs.")
@click.argument("runs_wanted", metavar="[RUN]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--runs", type=click.Path(path_type=Path), default=Path("runs"), show_default=True, help="The archive."
)
@click.option(
    "--site",
    type=click.Path(path_type=Path),
    default=Path("site"),
    show_default=True,
    help="Where the pages go.",
)
@click.option("--lang", default="en", show_default=True, help="Languages, separated by commas: en, pl.")
@click.option("--templates", type=click.Path(path_type=Path), help="A folder of templates of your own.")
@click.option("--base-url", help="The address of the published site, for links that must be absolute.")
@click.option("--check", is_flag=True, help="Write nothing; say whether the site is what would be made.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document as the last line.")
def command(  # noqa: PLR0917  click hands over one argument an option
    runs_wanted: tuple[Path, ...],
    runs: Path,
    site: Path,
    lang: str,
    templates: Path | None,
    base_url: str | None,
    check: bool,
    as_json: bool,
) -> int:
    """Make the site from the runs: HTML, Markdown, charts as SVG, tables as CSV.

    RUN is the folder of a run; without it, every run of the archive. A site holds the articles of one
    call. Same records, same bytes.
    """
    folders = [folder for folder in _folders(runs_wanted, runs) if any((folder / "trials").glob("*.json"))]
    if not folders:
        raise BadUsage("No run has a record yet, so there is nothing to render.", "`study run` makes some.")
    _require_different(folders)
    items = [(article_of(folder), raw_files(folder)) for folder in folders]
    languages = tuple(part.strip() for part in lang.split(",") if part.strip())
    from study.press import publish

    if runs_wanted and not check:
        _require_no_loss(items, site, languages, templates, base_url)
    published = publish(
        items, site=site, languages=languages, templates=templates, base_url=base_url, check=check
    )
    if check:
        return _checked(published, site, as_json=as_json)
    page = site / "index.html"
    if as_json:
        import json

        document = {
            "site": str(site),
            "index": str(page),
            "pages": [str(site / p) for p in published.pages],
            "changed": len(published.changed),
            "unchanged": len(published.unchanged),
            "removed": len(published.removed),
        }
        click.echo(json.dumps(document, ensure_ascii=False))
        return 0
    articles = "1 article" if len(items) == 1 else f"{len(items)} articles"
    click.echo(
        f"{articles}; {len(published.changed)} files written, "
        f"{len(published.unchanged)} unchanged, {len(published.removed)} removed."
    )
    for article, _ in items:
        click.echo(f"  {article.title}: {page_of(site, article.study, article.run_id).resolve().as_uri()}")
    click.echo(f"All of them: {page.resolve().as_uri()}")
    return 0


def page_of(site: Path, study: str, run_id: str) -> Path:
    """The page about a run, in the site's first language."""
    from study.domain.article import path_of

    return site / "studies" / path_of(study, run_id) / "index.html"


def article_of(folder: Path) -> "Article":
    """The article about the run in `folder`.

    Raises:
        BadArchive: the run or one of its records cannot be read.
    """
    from study.analysis import analyse
    from study.archive import load_records, load_run
    from study.article import compose

    run, records = load_run(folder), load_records(folder)
    return compose(run, records, analyse(run, records))


def raw_files(folder: Path) -> dict[str, bytes]:
    """The run's own files, as they are offered beside the article: one JSON document with everything."""
    run = (folder / "run.json").read_bytes().rstrip()
    records = [path.read_bytes().rstrip() for path in sorted((folder / "trials").glob("*.json"))]
    whole = b'{"run":' + run + b',\n"records":[\n' + b",\n".join(records) + b"\n]}\n"
    return {"results.json": whole}


def _folders(wanted: Sequence[Path], runs: Path) -> list[Path]:
    from study.archive import find_runs

    if not wanted:
        found = find_runs(runs)
        if not found:
            raise BadUsage(f"{runs}: there is no run to render.", "`study run` makes one.")
        return found
    folders = []
    for path in wanted:
        inside = runs / path
        folder = path if (path / "run.json").is_file() else inside
        if not (folder / "run.json").is_file():
            raise BadUsage(f"{path}: there is no run there.", "`study list runs` shows the runs.")
        folders.append(folder)
    return folders


def _require_different(folders: Sequence[Path]) -> None:
    """Refuse two folders that hold the same run, such as a copy."""
    from study.archive import load_run

    seen: dict[tuple[str, str], Path] = {}
    for folder in folders:
        run = load_run(folder)
        first = seen.setdefault((run.study.name, run.id), folder)
        if first != folder:
            raise BadUsage(f"{first} and {folder} hold the same run.", "Move one of them out of the archive.")


def _require_no_loss(
    items: list[tuple["Article", dict[str, bytes]]],
    site: Path,
    languages: tuple[str, ...],
    templates: Path | None,
    base_url: str | None,
) -> None:
    """Refuse to drop other runs' articles from a site in which somebody asked for one run's."""
    from study.press import publish

    changes = publish(
        items, site=site, languages=languages, templates=templates, base_url=base_url, check=True
    )
    lost = [path for path in changes.removed if path.startswith("studies/") and path.endswith("/index.html")]
    if lost:
        raise BadUsage(
            f"{site} holds {len(lost)} more pages, of runs that you did not name; they would be removed.",
            "Render all runs with `study render`, or give another folder with --site.",
        )


def _checked(published: "Published", site: Path, *, as_json: bool) -> int:
    """Say whether the site holds the bytes that would be made now: exit code 0 if so, else 1."""
    differing = sorted({*published.changed, *published.removed})
    versions = _other_versions(site)
    if as_json:
        import json

        document = {"site": str(site), "differing": differing, "other_versions": versions}
        click.echo(json.dumps(document, ensure_ascii=False))
    elif differing:
        click.echo(f"{site} is not what would be made now; {len(differing)} files differ:")
        for name in differing:
            click.echo(f"  {name}")
        for name, (theirs, ours) in versions.items():
            click.echo(f"It was made with {name} {theirs}; here is {ours}, which may be all the difference.")
    else:
        click.echo(f"{site} is what would be made now: {len(published.unchanged)} files, byte for byte.")
    return 1 if differing else 0


def _other_versions(site: Path) -> dict[str, tuple[str, str]]:
    """Libraries on which the bytes depend, where the site's version is not the one here."""
    import json
    from importlib.metadata import version

    try:
        made_with = json.loads((site / "manifest.json").read_text(encoding="utf-8"))["depends_on"]
        pairs = {name: (str(theirs), version(name)) for name, theirs in made_with.items()}
    except (OSError, ValueError, KeyError, AttributeError):
        return {}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
