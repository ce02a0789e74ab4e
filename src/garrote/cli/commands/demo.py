"""``garrote demo``: the main job end to end, on data that come along."""

import argparse
import time

from garrote.cli.errors import DONE
from garrote.cli.outputs import check_library, check_targets

# Fits to parts of the rows: are the same variables selected again?
_REFITS = 20


def run(options: argparse.Namespace) -> int:
    """Select among the variables of the diabetes table, print them, write the report."""
    check_targets({"--report": options.report}, [])
    check_library("jinja2", "the demo's report", "report")
    from garrote import SpikeSlabRegressor
    from garrote.cli.console import progress, say
    from garrote.cli.rendering import show_selection
    from garrote.datasets import load_diabetes_quadratic

    X, y, names = load_diabetes_quadratic()
    say(
        f"Diabetes (Efron et al. 2004): {X.shape[0]} patients, {X.shape[1]} variables: ten "
        "measurements in standard deviations, their squares and products. The response is the "
        f"progression of the disease after a year, from {y.min():.0f} to {y.max():.0f}."
    )
    say()
    start = time.perf_counter()
    with progress() as callback:
        model = SpikeSlabRegressor(stability=_REFITS, random_state=0, callback=callback)
        model.fit(X, y, feature_names=names)
    seconds = time.perf_counter() - start
    selection = model.selection_.annotated(
        provenance={"source": "diabetes (Efron et al. 2004)"}, response="progression"
    )
    show_selection(selection, None, top=30)
    selection.report(options.report)
    say(
        f"Sampling models and refits took {seconds:.1f} s, compilation included. "
        f"The report is in {options.report}: open it in a browser."
    )
    return DONE
