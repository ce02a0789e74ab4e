"""Settings of the documentation; `make docs` builds it."""

import sys
from pathlib import Path

import sphinx.ext.autosummary

import garrote

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "garrote"
author = copyright = "the garrote developers"
version = release = garrote.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "command_options",
    "live_report",
    "live_tutorials",
    "mathml",
    "methods_table",
    "texts_table",
    "combinations_table",
    "absolute_values",
]
templates_path = ["_templates"]
exclude_patterns = ["extensions"]

# Markdown; definition lists for options, dollars for mathematics.
myst_enable_extensions = ["deflist", "dollarmath", "colon_fence"]
myst_heading_anchors = 3
smartquotes_action = "qe"  # options begin with two hyphens
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"

# The reference: one page an object; parameters are described in docstrings, not in signatures.
autosummary_generate = True
sphinx.ext.autosummary.WELL_KNOWN_ABBREVIATIONS += ("Eq.", "Eqs.")  # no end of a summary
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
default_role = "autolink"
nitpicky = True
nitpick_ignore_regex = [("py:obj", ".*")]  # single backticks: a link if there is a page

# The gallery runs every script in examples/.
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
    "download_all_examples": False,
    "show_signature": False,
    "capture_repr": ("_repr_html_",),
    "notebook_extensions": set(),
    "remove_config_comments": True,
    "min_reported_time": 1e6,
}

# The pages make no request to any host: mathematics is MathML, the theme brings its own files.
html_theme = "furo"
html_title = "garrote"
html_static_path = ["_static"]
html_css_files = ["garrote.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_copy_source = False
