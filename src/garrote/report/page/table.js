// The table of variables: sorting, filtering, and its numbers at another strength.

// More levels than this are folded away at first.
const MOST_OPEN = 8;

class VariableTable {
  constructor(table, report) {
    this.report = report;
    this.body = table.tBodies[0];
    this.heads = [...table.querySelectorAll("thead th")];
    // A variable of several columns has a row for each of these below its own.
    this.rows = [...this.body.rows].filter((row) => row.dataset.row);
    this.levels = [...this.body.rows].filter((row) => !row.dataset.row);
    this.below = this.rows.map((_, k) => this.levels.filter((_, i) => report.data.levels[i].row === k));
    this.folded = this.below.map((levels) => levels.length > MOST_OPEN);
    this.filter = document.getElementById("filter");
    this.show = document.getElementById("show");
    this.count = document.getElementById("count");
    this.bare = table.classList.contains("bare");
    this.nothing = document.getElementById("nothing");
    this.elsewhere = document.getElementById("elsewhere");
    this.stated = this.rows.map((row) => ({
      interval: row.querySelector(".interval").textContent,
      error: row.querySelector(".error").textContent,
    }));
    this.ofLevels = this.levels.map((row) => ({
      interval: row.querySelector(".interval").textContent,
      error: row.querySelector(".error").textContent,
    }));
    this.order = null;
    this.rows.forEach((row, k) => this.foldable(row.querySelector(".fold"), k));
    this.filter.closest(".controls").hidden = false;
    if (report.data.selected.some(Boolean)) this.show.value = "selected";
    this.filter.addEventListener("input", () => this.select());
    this.show.addEventListener("change", () => this.select());
    for (const head of this.heads) {
      head.querySelector("button").addEventListener("click", () => this.sortBy(head));
    }
  }

  sortBy(head) {
    const key = head.querySelector("button").dataset.key;
    const words = key === "name" || key === "class";
    const first = words ? "ascending" : "descending";
    const second = words ? "descending" : "ascending";
    const direction = head.getAttribute("aria-sort") === first ? second : first;
    for (const other of this.heads) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", direction);
    this.order = { key, sign: direction === "ascending" ? 1 : -1 };
    this.sort();
  }

  // Rows without a value stay last in either direction; ties keep the document's ranking.
  sort() {
    if (!this.order) return;
    const { key, sign } = this.order;
    const names = new Intl.Collator(undefined, { numeric: true });
    const of = (row) => this.value(Number(row.dataset.row), key);
    const sorted = [...this.rows].sort((a, b) => {
      const [x, y] = [of(a), of(b)];
      if (!known(x) || !known(y)) return known(y) - known(x);
      return sign * (typeof x === "string" ? names.compare(x, y) : x - y);
    });
    this.body.append(...sorted.flatMap((row) => [row, ...this.below[Number(row.dataset.row)]]));
  }

  // Levels are shown or hidden by a button beside the name of their variable.
  foldable(button, k) {
    if (!button) return;
    button.hidden = false;
    button.setAttribute("aria-expanded", String(!this.folded[k]));
    button.addEventListener("click", () => {
      this.folded[k] = !this.folded[k];
      button.setAttribute("aria-expanded", String(!this.folded[k]));
      this.select();
    });
  }

  value(row, key) {
    const { data } = this.report;
    if (key === "name") return data.names[row];
    if (key === "class") return data.classes[row];
    if (key === "probability") return this.report.probability(row);
    const effect = this.report.effect(row);
    if (key === "effect") return effect;
    const scaled = this.scaled(row, effect);
    if (key === "unit") return scaled;
    if (key === "size") return known(scaled) ? Math.abs(scaled) : null;
    return this.report.isChosen() ? data.rows[key][row] : null;
  }

  // An effect for one standard deviation of its variable, where that is known: as the dots show it.
  scaled(row, effect) {
    return known(effect) ? effect * (this.report.data.unit?.[row] ?? 1) : null;
  }

  select() {
    const wanted = this.filter.value.trim().toLowerCase();
    const all = this.show.value === "all";
    let shown = 0;
    for (const row of this.rows) {
      const k = Number(row.dataset.row);
      const { data } = this.report;
      const inside = all || this.report.inModel(k) || data.covariate[k];
      row.hidden = !(inside && this.isCalled(k, wanted));
      for (const level of this.below[k]) level.hidden = row.hidden || this.folded[k];
      shown += !row.hidden;
    }
    this.nothing.hidden = shown > 0;
    this.count.textContent = `${shown} of ${this.rows.length} shown`;
  }

  // A variable is found by its own name, and by that of a level.
  isCalled(k, wanted) {
    const names = [this.report.data.names[k], ...this.below[k].map((row) => row.cells[0].textContent)];
    return names.some((name) => name.toLowerCase().includes(wanted));
  }

  // Effects of levels follow the strength in view, as far as they have a curve in the path.
  moveLevels(chosen) {
    this.levels.forEach((row, i) => {
      const level = this.report.data.levels[i];
      const effect = chosen ? level.effect : this.report.effect(level.column);
      row.classList.toggle("selected", this.report.inModel(level.row));
      row.querySelector(".effect").textContent = amount(effect, level.decimals);
      row.querySelector(".error").textContent = chosen ? this.ofLevels[i].error : "–";
      row.querySelector(".interval").textContent = chosen ? this.ofLevels[i].interval : "–";
      const scaled = known(effect) ? effect * level.unit : null;
      this.dot(row.querySelector("td.forest svg"), scaled, level.reach, chosen);
    });
  }

  move() {
    const { data } = this.report;
    const chosen = this.report.isChosen();
    for (const row of this.rows) {
      const k = Number(row.dataset.row);
      const [probability, effect] = [this.report.probability(k), this.report.effect(k)];
      row.classList.toggle("selected", this.report.inModel(k));
      const evidence = row.querySelector(".evidence");
      evidence.querySelector("span").textContent = chance(probability);
      const share = Math.min(1, Math.max(0, probability ?? 0));
      evidence.querySelector(".bar").setAttribute("width", `${100 * share}%`);
      if (data.several[k]) continue;
      row.querySelector(".effect").textContent = amount(effect, data.decimals[k]);
      const unit = row.querySelector(".unit");
      if (unit) unit.textContent = amount(this.scaled(k, effect), data.unitDecimals);
      row.querySelector(".error").textContent = chosen ? this.stated[k].error : "–";
      row.querySelector(".interval").textContent = chosen ? this.stated[k].interval : "–";
      this.forest(row.querySelector("td.forest svg"), k, effect, chosen);
    }
    this.moveLevels(chosen);
    this.elsewhere.hidden = chosen;
    if (!chosen) {
      const { strength, strengths, chosen: at } = data.path;
      const elsewhere = this.bare ? "" :
        `Standard errors and intervals are stated at the chosen ${strength} = ` +
        `${amount(strengths[at])} only. `;
      this.elsewhere.textContent =
        `Shown is ${strength} = ${amount(strengths[this.report.at])}. ${elsewhere}` +
        "Variables without a curve in the path have no values here.";
    }
    this.sort();
    this.select();
  }

  forest(svg, k, effect, chosen) {
    const { data } = this.report;
    const words = amount(effect, data.decimals[k]);
    const interval = this.stated[k].interval;
    const stated = chosen && !this.bare;
    svg.querySelector("title").textContent = stated ? `${words} (${interval})` : words;
    const said = stated ? `effect ${words}, interval ${interval}` : `effect ${words}`;
    svg.setAttribute("aria-label", said);
    this.dot(svg, this.scaled(k, effect), data.reach?.[k], chosen);
  }

  // Put the dot of a row in its place: on the axis of all, or on one of its own.
  dot(svg, scaled, own, chosen) {
    const { data } = this.report;
    const [low, high] = data.reach ? [-own, own] : data.domain;
    svg.querySelector(".reach")?.setAttribute("visibility", chosen ? "visible" : "hidden");
    const dot = svg.querySelector("circle");
    if (!dot) return;
    dot.setAttribute("visibility", known(scaled) ? "visible" : "hidden");
    const percent = (100 * ((scaled ?? 0) - low)) / (high - low);
    dot.setAttribute("cx", `${Math.min(100, Math.max(0, percent))}%`);
    dot.classList.toggle("beyond", percent < 0 || percent > 100);
  }
}
