#!/bin/sh
# Install what can be had of the libraries that the benchmarks compare with, and say what could not.
#
#     benchmarks/setup_rivals.sh            # into the Python on the path
#     PYTHON=.venv/bin/python benchmarks/setup_rivals.sh
#
# adelie needs NumPy 1 and gets benchmarks/.venv-adelie, unless ADELIE_PYTHON names an interpreter
# that has it. R packages are not installed here: on Debian,
# apt-get install r-base-core r-cran-glmnet r-cran-susier r-cran-bms

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
PYTHON=${PYTHON:-python3}
missing=0

lacks() {
    echo "missing: $1"
    missing=$((missing + 1))
}

for package in scikit-learn celer abess; do
    "$PYTHON" -m pip install --quiet "$package" || lacks "$package (pip install $package failed)"
done

if [ -z "$ADELIE_PYTHON" ]; then
    ADELIE_PYTHON=$here/.venv-adelie/bin/python
    [ -x "$ADELIE_PYTHON" ] || "$PYTHON" -m venv "$here/.venv-adelie"
    "$ADELIE_PYTHON" -m pip install --quiet adelie scipy || echo "pip install adelie failed"
fi
"$ADELIE_PYTHON" -c "import adelie, scipy" 2>/dev/null || lacks "adelie (in $ADELIE_PYTHON)"

if command -v Rscript >/dev/null; then
    for package in glmnet susieR BMS Matrix; do
        Rscript --vanilla -e "library($package)" >/dev/null 2>&1 || lacks "R package $package"
    done
else
    lacks "R (Rscript is not on the path): glmnet, susie and BMS"
fi

[ "$missing" -eq 0 ] && echo "all rivals are here"
exit 0
