"""What knockoffs promise, on 100 tables of each kind: few false ones, and no less power than knockpy."""

import json
from pathlib import Path

import numpy as np
import pytest

from garrote import Knockoffs
from knockoff_tables import EFFECTS, make_table, shares

KNOCKPY = json.loads((Path(__file__).parents[2] / "data" / "knockoffs_knockpy.json").read_text())
Q = KNOCKPY["q"]

pytestmark = pytest.mark.slow


def found_in_tables(rho, **settings):
    """Return false shares and shares found, with the standard errors of their means."""
    found = []
    for seed in range(KNOCKPY["tables"]):
        X, y, truth = make_table(rho, seed)
        model = Knockoffs(q=Q, random_state=seed, **settings).fit(X, y)
        found.append(shares(model.get_support(), truth))
    each = np.array(found)
    return each.mean(axis=0), each.std(axis=0, ddof=1) / np.sqrt(len(each))


@pytest.mark.parametrize("separation", ["mvr", "sdp", "equicorrelated"])
@pytest.mark.parametrize("rho", EFFECTS)
def test_the_rate_is_kept_with_the_power_of_knockpy(rho, separation):
    (false, power), (false_error, power_error) = found_in_tables(rho, separation=separation)
    peer = KNOCKPY["found"][f"{rho} {separation}"]
    assert false < Q + 2 * false_error
    assert power > peer["power"] - 2 * np.hypot(power_error, peer["power_error"])


@pytest.mark.parametrize("rho", EFFECTS)
@pytest.mark.parametrize("statistic", ["lasso-difference", "signed-max"])
def test_fixed_copies_keep_the_rate(rho, statistic):
    (false, power), (false_error, _) = found_in_tables(rho, knockoffs="fixed", statistic=statistic)
    assert false < Q + 2 * false_error
    if statistic == "lasso-difference":
        assert power > 0.4


def test_several_copies_keep_the_rate_and_agree_more_from_seed_to_seed():
    apart = {1: [], 5: []}
    false = []
    for seed in range(20):
        X, y, truth = make_table(0.5, seed)
        for copies, found in apart.items():
            one, two = (
                Knockoffs(q=0.2, n_copies=copies, random_state=k).fit(X, y).get_support()
                for k in (0, 1)
            )
            found.append((one != two).sum())
        false.append(shares(one, truth)[0])
    assert np.mean(apart[5]) < np.mean(apart[1])
    assert np.mean(false) < 0.2
