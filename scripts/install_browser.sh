#!/usr/bin/env bash
# Install the browser in which the report is tested, where that is possible. Never fails: without a
# browser those tests are skipped, and say so.
set -uo pipefail

for browser in chromium chromium-browser google-chrome google-chrome-stable; do
    command -v "$browser" >/dev/null && exit 0
done

if ! command -v apt-get >/dev/null; then
    echo "No Chromium was found: install it, or the tests of the report in a browser are skipped." >&2
    exit 0
fi

if [ "$(id -u)" -eq 0 ]; then
    become=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    become=(sudo -n)
else
    echo "No Chromium was found: run 'sudo apt-get install chromium', or the tests of the report in a" \
        "browser are skipped." >&2
    exit 0
fi

export DEBIAN_FRONTEND=noninteractive
install=("${become[@]}" apt-get install --yes --quiet --no-install-recommends chromium)
# The package lists of a fresh machine are empty or old.
"${install[@]}" >/dev/null 2>&1 ||
    { "${become[@]}" apt-get update --quiet && "${install[@]}"; } >/dev/null 2>&1 ||
    echo "Chromium could not be installed: the tests of the report in a browser are skipped." >&2
exit 0
