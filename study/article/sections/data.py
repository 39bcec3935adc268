"""Data and reproduction: what to download, what to type, and which cells were left out and why."""

from collections.abc import Iterator

from study.article.material import Material
from study.article.words import count, results_digest
from study.domain.article import Block, Commands, Downloads, Listing, Paragraph, SectionOfArticle, TableBlock
from study.domain.figure import Column, Table
from study.domain.run import Run
from study.domain.text import Listing as InARow
from study.domain.text import Name, Num, Term, said


def section(material: Material) -> SectionOfArticle:
    """Never left out: whoever doubts a number starts here."""
    run = material.run
    return SectionOfArticle(
        key="data",
        title=said("Data and reproduction"),
        blocks=(
            Downloads(),
            Paragraph(
                sentences=(
                    said(
                        "The digest of the study is {digest}; runs with one digest measure the same cells in"
                        " the same way.",
                        digest=Name(text=run.plan.digest, code=True),
                    ),
                    said(
                        "The digest of the results is {digest}: a hash over the hashes of all records.",
                        digest=Name(text=results_digest(material.records), code=True),
                    ),
                    said(
                        "Order and data came from the seed {seed}; as {key} in {section} it gives the"
                        " same order again.",
                        seed=Name(text=str(run.plan.seed), code=True),
                        section=Name(text="[protocol]", code=True),
                        key=Name(text="seed", code=True),
                    ),
                    said(
                        "Trials took {time} from launch to end, of which {window} were windows that count.",
                        time=Num(value=material.analysis.turnaround_s, style="duration"),
                        window=Num(value=material.analysis.measured_s, style="duration"),
                    ),
                )
            ),
            Commands(lines=commands(run)),
            *_skipped(material),
            Listing(name=f"{run.study.name}.toml", text=run.study_text),
        ),
    )


def commands(run: Run) -> tuple[str, ...]:
    """What to type to measure the same study again, and to make this article again from its records.

    A preset goes by its name; any other study is the file that the article shows. What the command line
    had set in place of the file is set again.
    """
    source = run.study.name if run.source == "preset" else f"{run.study.name}.toml"
    stated, used = run.study.protocol, run.plan.protocol
    if used.blocks != stated.blocks:
        source += f" --blocks {used.blocks}"
    if used.precision is not None and used.precision != stated.precision:
        source += f" --precision {used.precision:g}"
    return (f"study run {source}", f"study render runs/{run.study.name}/{run.id}")


def _skipped(material: Material) -> Iterator[Block]:
    reasons: dict[str, list[str]] = {}
    for cell in material.run.plan.skipped:
        reasons.setdefault(cell.reason, []).append(cell.id)
    if reasons:
        yield TableBlock(
            table=Table(
                key="t-skipped",
                caption=said("Cells of the study that were not planned, by reason."),
                columns=(
                    Column(key="reason", title=said("Reason"), numeric=False),
                    Column(key="number", title=said("Number"), style="integer"),
                    Column(key="cells", title=said("Cells"), numeric=False),
                ),
                rows=tuple(
                    (
                        Term(text=reason),
                        count(len(ids)),
                        InARow(items=tuple(Name(text=cell_id, code=True) for cell_id in ids)),
                    )
                    for reason, ids in reasons.items()
                ),
            )
        )
