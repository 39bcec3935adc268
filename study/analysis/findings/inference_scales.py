"""What more devices do to inference throughput: strong and weak scaling, each against one device."""

from study.analysis import scaling_claims
from study.analysis.parts import Parts
from study.domain.finding import Finding

FACTS = {
    "summary": "Inference throughput on more devices against one, strong and weak scaling by name.",
    "section": "more_devices",
    "rank": 21,
}

FRAMES = scaling_claims.FRAMES


def find(parts: Parts) -> list[Finding]:
    """One finding for each series of inference and each count of devices above one."""
    return scaling_claims.scaling_claims(parts, shelf="inference-scales", task="infer")
