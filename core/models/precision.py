"""What a model computes in: what a person may ask for, and how dtypes are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from core.errors import InputError

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
QUANTIZATIONS = ("none", "int8", "nf4")


@dataclass(frozen=True, kw_only=True)
class Precision:
    """What is asked for, in a person's words.

    Parameters
    ----------
    dtype
        "float32", "bfloat16", "float16", or "auto": float32 on the CPU, elsewhere the checkpoint's
        own.
    quantization
        "none" (as the checkpoint is), "int8" or "nf4": core/models/quantization.py.
    compute_dtype
        What nf4 layers compute in: a dtype's name, or "auto" for that of the other layers.
    no_double_quant
        Whether nf4's scales are kept as they are, and not quantised too.
    """

    dtype: str = "auto"
    quantization: str = "none"
    compute_dtype: str = "auto"
    no_double_quant: bool = False

    def check(self) -> None:
        """Refuse what means nothing.

        Raises
        ------
        InputError
            When a name is unknown, or a setting of nf4 comes without it.
        """
        check_name("dtype", self.dtype, ["auto", *DTYPES])
        check_name("quantization", self.quantization, QUANTIZATIONS)
        check_name("compute dtype", self.compute_dtype, ["auto", *DTYPES])
        if self.quantization != "nf4" and (self.compute_dtype != "auto" or self.no_double_quant):
            raise InputError(
                "The compute dtype and double quantisation belong to quantization nf4; leave them "
                "out, or choose nf4."
            )


AS_IT_COMES = Precision()  # whatever the checkpoint and the device bring along


def check_name(option: str, value: str, names: Sequence[str]) -> None:
    """Refuse a value that is none of an option's names; InputError."""
    if value not in names:
        raise InputError(f'{option} is "{value}", which is none of {", ".join(names)}.')


def dtype_name(dtype: torch.dtype) -> str:
    """Torch's name of a dtype without the "torch." in front."""
    return str(dtype).removeprefix("torch.")
