"""Runs in the peer's environment: summed log-likelihoods of lm-evaluation-harness's HFLM.

Model folder on the command line; a JSON list of [context, continuation] on standard input; a JSON
list of sums on standard output.
"""

import json
import sys

from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM

pairs = json.load(sys.stdin)
model = HFLM(pretrained=sys.argv[1], device="cpu", dtype="float32", batch_size=1)
requests = [
    Instance(
        request_type="loglikelihood", doc={}, arguments=(context, f" {continuation}"), idx=index
    )
    for index, (context, continuation) in enumerate(pairs)
]
sums = [total for total, _ in model.loglikelihood(requests, disable_tqdm=True)]
print(json.dumps(sums))
