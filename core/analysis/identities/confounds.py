"""Which pairs of a data set in the cache differ in more than the identity."""

from __future__ import annotations

from core.items.pair_confounds import is_confounded, is_identity_pair
from core.store.gate import Cache
from core.store.items import stored_items


def confounded_pairs(cache: Cache, dataset: str) -> frozenset[tuple[str, str, str]]:
    """Data set, condition and item id of each confounded pair, as `IdentityRequest` takes them.

    Only pairs that name an identity and a counterfactual one can be told.

    Raises
    ------
    InputError
        There is no such data set.
    """
    pairs = filter(is_identity_pair, stored_items(cache, dataset))
    return frozenset((dataset, one.condition, one.item_id) for one in pairs if is_confounded(one))
