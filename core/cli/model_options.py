"""The options of `score`: which model, and how it computes."""

from __future__ import annotations

from typing import Annotated

import typer

ModelOption = Annotated[
    str,
    typer.Option(
        metavar="MODEL", help="demo, a model folder, or org/name[@revision] from the hub."
    ),
]
DtypeOption = Annotated[
    str, typer.Option(metavar="DTYPE", help="Precision: auto, float32, bfloat16 or float16.")
]
DeviceOption = Annotated[
    str, typer.Option(metavar="DEVICE", help="Where to compute: auto, cpu, cuda or mps.")
]
QuantizationOption = Annotated[
    str,
    typer.Option(
        metavar="METHOD",
        help="Weights in fewer bits, through bitsandbytes: none, int8 or nf4 (4 bits).",
    ),
]
ComputeDtypeOption = Annotated[
    str,
    typer.Option(
        metavar="DTYPE",
        help="What nf4 computes in: auto (as --dtype), float32, bfloat16 or float16.",
    ),
]
NoDoubleQuantOption = Annotated[
    bool, typer.Option("--no-double-quant", help="Keep the scales of nf4 in float32.")
]
VariantOption = Annotated[
    str,
    typer.Option(
        metavar="VARIANT",
        help="Masked models: original, or within_word_l2r (masks the rest of the word too).",
    ),
]
ExactOption = Annotated[
    bool, typer.Option("--exact", help="One text at a time: slower, and a scorer of its own.")
]
TrustRemoteCodeOption = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run Python code that comes with the model.")
]
