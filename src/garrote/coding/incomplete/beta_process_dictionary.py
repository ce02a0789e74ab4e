"""Dictionaries whose number of atoms is not given, by a beta process, as a scikit-learn transformer."""

from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from garrote.arrays import Floats
from garrote.coding.atoms import atoms_to_begin_with
from garrote.coding.codes import Codes
from garrote.coding.incomplete.draws import (
    Chain,
    DictionaryDraws,
    EachDraw,
    Reconstruction,
    certify_draws,
    reconstructed,
    run_chain,
)
from garrote.coding.incomplete.factorising import check_forgetting
from garrote.coding.incomplete.mean_field import (
    SlabLaws,
    coded_by_mean_field,
    encoded_by_mean_field,
)
from garrote.coding.incomplete.signals import Incomplete, check_incomplete
from garrote.coding.incomplete.transformer import IncompleteTransformer
from garrote.coding.record import LearningRecord
from garrote.estimators.shared.posterior_settings import seed_of
from garrote.results.certificates import Certificate
from garrote.settings import check_count, check_positive
from garrote.solvers.coding.beta_process import Beliefs, State, first_laws, without_codes
from garrote.solvers.coding.beta_process_draws import Laws
from garrote.solvers.coding.code_sums import CodeSums
from garrote.solvers.control import Callback, Control

# Atoms that a dictionary has by default, and draws of it that are kept.
_MOST_ATOMS, _KEPT = 256, 50


class BetaProcessDictionary(IncompleteTransformer):
    """A dictionary with as many atoms as signals ask for, and how sure that makes of every entry.

    x = sum over k of z_k s_k d_k + noise: switches z_k ~ Bernoulli(pi_k) with pi_k ~ Beta(mass / K,
    concentration (K - 1) / K), sizes s_k ~ N(0, 1 / slab), atoms d_k of Gaussian entries, and noise ~
    N(0, 1 / noise); precisions have vague Gamma laws. As K grows this is a beta process, under
    which any signals have finitely many of infinitely many atoms (Murphy 2012, section 13.8.1; Zhou et
    al. 2009). All is drawn by a Gibbs sampler, given entries that were seen. Signals are not centred.

    Parameters
    ----------
    n_components : int, optional
        K, at which the process is cut off; by default four times the number of columns, at most 256.
    mass, concentration : float, default=1.0
        About mass / concentration atoms are expected in a signal, and mass log N in N signals.
    noise_variance : float, optional
        By default it is learned.
    n_steps : int, default=100
        States of each chain that count; up to 50 dictionaries of all are kept.
    burn_in : int, default=200
        States before them; in the first part of them noise is high, and falls.
    n_chains : int, default=1
        They begin with other atoms each, and run one after the other.
    dictionary : array of shape (n_components, D), optional
        Atoms to begin with; by default random ones.
    warm_start : bool, default=False
        Whether `fit` goes on from the atoms, probabilities and precisions of the fit before.
    forgetting : float, default=3.0
        Of `partial_fit`: how what is kept of earlier signals fades, as in `Online`. Their codes are not
        drawn again, so that what they got wrong stays for as long as they count; 0 keeps all.
    sparse_output : bool, default=False
        Whether `transform` returns a sparse array.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads; answers do not depend on them.
    callback : callable, optional
        Told of each state, as `Progress`.

    Attributes
    ----------
    components_ : array of shape (n_components, D)
        Atoms of the last state, those in most signals first; the last ones may be in none.
    signals_, deviation_ : array of shape (n_signals, D)
        Posterior mean and deviation of every entry of the signals of the fit without noise, whether it
        was seen or not.
    inclusion_ : array of shape (n_components,)
        The probability of each atom in the last state.
    slab_variance_, noise_variance_ : float
        Means over the states that count.
    n_atoms_ : float
        How many atoms are in any signal, on average.
    truncation_binds_ : bool
        Whether all atoms are in use in all states, so that a larger ``n_components`` may have more.
    draws_ : DictionaryDraws
        What `reconstruct` averages over.
    record_ : LearningRecord
        Minus the log likelihood of a signal along the states of the first chain, which is no objective
        that falls; what is left, and atoms a signal.
    certificate_ : Certificate
        The largest standard error of an entry's mean, in its deviations, of 300 entries and the logs of
        both precisions; R-hat between halves of chains; and, of some entries that are hidden and found
        again, how far the share outside of their 95 % intervals is from 5 %.
    n_iter_ : int
        States of a chain.
    memory_ : tuple
        What `partial_fit` goes on from: of each chain the last laws, and sums over codes.
    n_features_in_, feature_names_in_

    References
    ----------
    Zhou, M., Chen, H., Paisley, J., Ren, L., Sapiro, G. & Carin, L. (2009). Non-parametric Bayesian
    dictionary learning for sparse image representations. NeurIPS 22, 2295-2303.

    Zhou, M. et al. (2012). Nonparametric Bayesian dictionary learning for analysis of noisy and
    incomplete images. IEEE Transactions on Image Processing 21, 130-144.

    Examples
    --------
    >>> import numpy as np
    >>> from garrote.coding import BetaProcessDictionary
    >>> rng = np.random.default_rng(0)
    >>> atoms = rng.standard_normal((5, 10))
    >>> truth = rng.standard_normal((300, 5)) * (rng.random((300, 5)) < 0.4) @ atoms
    >>> signals = truth + 0.1 * rng.standard_normal((300, 10))
    >>> signals[rng.random((300, 10)) < 0.2] = np.nan
    >>> model = BetaProcessDictionary(20, random_state=0).fit(signals)
    >>> bool(np.mean((model.signals_ - truth) ** 2) < 0.1**2)
    True
    >>> bool(np.all(model.deviation_ > 0)), model.truncation_binds_
    (True, False)
    """

    record_: LearningRecord

    def __init__(
        self,
        n_components: int | None = None,
        *,
        mass: float = 1.0,
        concentration: float = 1.0,
        noise_variance: float | None = None,
        n_steps: int = 100,
        burn_in: int = 200,
        n_chains: int = 1,
        dictionary: Any = None,
        warm_start: bool = False,
        forgetting: float = 3.0,
        sparse_output: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        callback: Callback | None = None,
    ):
        self.n_components = n_components
        self.mass = mass
        self.concentration = concentration
        self.noise_variance = noise_variance
        self.n_steps = n_steps
        self.burn_in = burn_in
        self.n_chains = n_chains
        self.dictionary = dictionary
        self.warm_start = warm_start
        self.forgetting = forgetting
        self.sparse_output = sparse_output
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.callback = callback

    def fit(self, X: Any, y: Any = None, *, each_draw: EachDraw | None = None) -> Self:
        """Draw dictionaries and codes.

        Parameters
        ----------
        X : array of shape (n_signals, D)
            NaN where an entry is missing.
        y : ignored
        each_draw : callable, optional
            Given the signals without noise of each state that counts, an array of shape (n_signals, D):
            what is made of several signals, as an image is of its patches, has its deviation over these.
        """
        self._check_settings()
        signals = check_incomplete(self, X, reset=True)
        scale, rng = signals.scale, np.random.default_rng(seed_of(self.random_state))
        streams = rng.spawn(self.n_chains)
        laws = [self._first_laws(signals, scale, own) for own in streams]
        starts = [without_codes(each, len(signals.values)) for each in laws]
        return self._sample(signals, scale, starts, streams, rng, each_draw)

    def partial_fit(self, X: Any, y: Any = None, *, each_draw: EachDraw | None = None) -> Self:
        """Go on from one more batch of signals, beside earlier ones whose codes stay as they are.

        The first batch is fitted as `fit` does it. Chains then go on where they ended: codes of the new
        signals are drawn, and all that signals share given these codes and the last ones of earlier
        signals, of which sums are kept. What is said of signals is then of this batch, and a batch that
        comes again counts as new signals.

        Parameters
        ----------
        X : array of shape (n_signals, D)
            NaN where an entry is missing.
        y : ignored
        each_draw : callable, optional
            As in `fit`.
        """
        if not hasattr(self, "components_"):
            return self.fit(X, each_draw=each_draw)
        self._check_settings()
        signals = check_incomplete(self, X, reset=False)
        before: LearningRecord = self.record_
        scale, parts, *known = self.memory_
        seed = seed_of(self.random_state)
        rng = np.random.default_rng(None if seed is None else [seed, parts])
        count = len(signals.values)
        share = (parts / (parts + 1)) ** self.forgetting
        starts = [
            without_codes(Laws(*one[:4]), count, CodeSums(*one[4:]).times(share)) for one in known
        ]
        self._sample(signals, scale, starts, rng.spawn(len(known)), rng, each_draw, parts)
        self.record_ = before.followed_by(self.record_)
        return self

    def _sample(
        self,
        signals: Incomplete,
        scale: float,
        starts: list[State],
        streams: list[np.random.Generator],
        rng: np.random.Generator,
        each_draw: EachDraw | None,
        parts: int = 0,
    ) -> Self:
        """Run chains over signals, and keep what they find."""
        unit = Incomplete(signals.values / scale, signals.seen)
        slab = 1.0, float(signals.values.shape[1])
        beliefs = Beliefs(self.mass, self.concentration, slab, known=self._known(scale))
        keep = max(1, -(-self.n_steps * len(starts) // _KEPT))
        tell = None if each_draw is None else partial(_in_units, each_draw, scale)
        report = partial(Control(callback=self.callback).report, "sampling")
        chains = [
            run_chain(
                start, unit, beliefs, self.burn_in, self.n_steps, min(keep, self.n_steps), own,
                self.n_jobs, report, tell,
            )
            for start, own in zip(starts, streams, strict=True)
        ]  # fmt: skip
        self._keep(chains, scale)
        self.memory_: tuple[Any, ...] = (
            scale, parts + 1, *(chain.known(unit) for chain in chains),
        )  # fmt: skip
        watched = np.array([chain.watched for chain in chains])
        bound = f"all {len(self.components_)} atoms are in use" if self.truncation_binds_ else ""
        self.certificate_: Certificate = certify_draws(watched, self.draws_, signals, rng, bound)
        return self

    def reconstruct(self, X: Any, *, each_draw: EachDraw | None = None) -> Reconstruction:
        """Return whole signals without noise, with deviations, averaged over the dictionaries kept.

        Codes are drawn under each of these in turn.

        Parameters
        ----------
        X : array of shape (n_signals, D)
            NaN where an entry is missing.
        each_draw : callable, optional
            Given each draw of the signals, as in `fit`.
        """
        check_is_fitted(self, "components_")
        signals = check_incomplete(self, X, reset=False)
        seed = np.random.default_rng(seed_of(self.random_state))
        return reconstructed(self.draws_, signals, seed, self.n_jobs, each_draw)

    def encode(self, X: Any) -> Codes:
        """Return the codes of signals with what is left of each, and how probable each atom is.

        Parameters
        ----------
        X : array of shape (n_signals, D)
            NaN where an entry is missing.
        """
        check_is_fitted(self, "components_")
        return encoded_by_mean_field(self._slab_laws, check_incomplete(self, X, reset=False))

    def _coded(self, signals: Incomplete) -> scipy.sparse.csr_array:
        return coded_by_mean_field(self._slab_laws, signals)[0]

    @property
    def _slab_laws(self) -> SlabLaws:
        """What transforms code by: the atoms of the last state, and means of both precisions."""
        slab = np.full(len(self.components_), 1.0 / self.slab_variance_)
        log_odds, noise = self._log_odds, 1.0 / self.noise_variance_
        return SlabLaws(self.components_, None, log_odds, slab, noise)

    @property
    def _log_odds(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.inclusion_) - np.log1p(-self.inclusion_))

    def _known(self, scale: float) -> float | None:
        """Return the precision of the noise, of signals divided by their scale, if it is given."""
        return None if self.noise_variance is None else scale**2 / self.noise_variance

    def _first_laws(self, signals: Incomplete, scale: float, rng: np.random.Generator) -> Laws:
        """Return where a chain begins."""
        width, count = signals.values.shape[1], self.n_components
        known = self._known(scale)
        given = self.dictionary
        if given is None and self.warm_start and hasattr(self, "components_"):
            given = self.components_
        if given is not None:
            atoms = atoms_to_begin_with(given, width, count) / scale
            if self.dictionary is None:
                noise = scale**2 / self.noise_variance_ if known is None else known
                return Laws(atoms, self._log_odds, 1.0 / self.slab_variance_, noise)
        else:
            count = count or min(_MOST_ATOMS, 4 * width)
            atoms = rng.standard_normal((count, width)) / np.sqrt(width)
        return first_laws(atoms, known)

    def _keep(self, chains: list[Chain], scale: float) -> None:
        """Store what chains have found, in the units of the signals."""
        first, kept = chains[0], [laws for chain in chains for laws in chain.draws]
        self.draws_ = DictionaryDraws(
            scale * np.array([laws.atoms for laws in kept]),
            np.array([laws.log_odds for laws in kept]),
            1.0 / np.array([laws.slab for laws in kept]),
            scale**2 / np.array([laws.noise for laws in kept]),
        )
        laws = first.last.laws
        order = np.argsort(-first.last.used, kind="stable")
        self.components_ = scale * laws.atoms[order]
        self.inclusion_ = expit(laws.log_odds[order])
        precisions = np.concatenate([chain.watched[:, :2] for chain in chains])
        self.noise_variance_ = float(scale**2 * np.exp(-precisions[:, 0]).mean())
        self.slab_variance_ = float(np.exp(-precisions[:, 1]).mean())
        used = np.concatenate([chain.used for chain in chains])
        self.n_atoms_ = float(used.mean())
        self.truncation_binds_ = bool((used == len(laws.atoms)).all())
        for other in chains[1:]:
            first.signals.join(other.signals)
        self.signals_ = scale * first.signals.mean
        self.deviation_ = scale * first.signals.deviation
        self.record_ = LearningRecord.of(first.rounds, True)
        self.n_iter_ = self.burn_in + self.n_steps

    def _check_settings(self) -> None:
        """Refuse settings before any work."""
        if self.n_components is not None:
            check_count("n_components", self.n_components, 1)
        check_count("n_steps", self.n_steps, 1)
        check_count("burn_in", self.burn_in, 0)
        check_count("n_chains", self.n_chains, 1)
        for name in ("mass", "concentration"):
            check_positive(name, getattr(self, name))
        check_forgetting(self.forgetting)
        if self.noise_variance is not None:
            check_positive("noise_variance", self.noise_variance)


def _in_units(each_draw: EachDraw, scale: float, signals: Floats) -> None:
    """Hand a draw over in the units of the signals."""
    each_draw(scale * signals)
