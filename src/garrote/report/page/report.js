// The page: one strength in view, and everything that follows it.

// A picture in its place. What goes wrong with it is said there, and stops nothing else.
class Framed {
  constructor(figure, Picture, report) {
    this.figure = figure;
    this.guarded(() => {
      this.picture = new Picture(figure, report);
    });
  }

  draw(width) {
    if (!this.picture) return;
    this.figure.querySelector(".failure")?.remove();
    this.failed = false;
    this.guarded(() => this.picture.draw(width));
  }

  move(at) {
    if (!this.failed) this.guarded(() => this.picture.move(at));
  }

  guarded(action) {
    try {
      action();
    } catch (error) {
      this.failed = true;
      console.error(error);
      this.figure.querySelector("svg")?.remove();
      const note = document.createElement("p");
      note.className = "note failure";
      note.textContent = `The picture of ${this.figure.dataset.picture} could not be drawn `
        + `(${error.message}); nothing else on this page depends on it.`;
      this.figure.append(note);
    }
  }
}

class Report {
  constructor(data) {
    this.data = data;
    this.noun = document.querySelector("th.evidence button")?.textContent.toLowerCase() ?? "evidence";
    this.at = data.path ? data.path.chosen : 0;
    // Where a variable has its curve, if it has one.
    this.curve = new Map((data.path?.columns ?? []).map((column, k) => [column, k]));
    // A column of several is in with its variable, which has the curve of the first of them.
    this.owner = new Map(data.owners);
    for (const [column, row] of data.owners) {
      if (!this.curve.has(row) && this.curve.has(column)) this.curve.set(row, this.curve.get(column));
    }
    this.parts = [];
    const table = document.getElementById("table");
    if (table) this.parts.push(new VariableTable(table, this));
    const pictures = [
      ["curves-picture", CurvesPicture], ["locus-picture", LocusPicture],
      ["calibration-picture", CalibrationPicture],
      ["models-picture", ModelsPicture], ["path-picture", PathPicture], ["branch-picture", BranchPicture],
      ["validation-picture", ValidationPicture], ["prediction-picture", PredictionPicture],
      ["correlation-picture", CorrelationPicture],
    ];
    this.pictures = pictures.flatMap(([id, Picture]) => {
      const figure = document.getElementById(id);
      return figure ? [new Framed(figure, Picture, this)] : [];
    });
    this.parts.push(...this.pictures);
    if (data.path) this.slider();
    this.fit();
    new ResizeObserver(() => this.fit()).observe(document.querySelector("main"));
  }

  // Draw for the width at hand, and again when it changes.
  fit() {
    const main = document.querySelector("main");
    const style = getComputedStyle(main);
    const padding = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
    const width = Math.floor(main.clientWidth - padding);
    if (width === this.width || width < 100) return;
    this.width = width;
    for (const picture of this.pictures) picture.draw(width);
    this.move(this.at);
  }

  // Draw one picture anew, as it wants to show something else.
  redraw(picture) {
    const framed = this.pictures.find((one) => one.picture === picture);
    framed.draw(this.width);
    framed.move(this.at);
  }

  slider() {
    this.range = document.getElementById("strength");
    this.back = document.getElementById("return");
    this.range.closest(".slider").hidden = false;
    // A reload may bring back the last position of the slider.
    this.range.value = this.at;
    this.range.addEventListener("input", () => this.move(Number(this.range.value)));
    this.back.addEventListener("click", () => {
      this.move(this.data.path.chosen);
      this.range.focus();
    });
  }

  move(at) {
    this.at = at;
    if (this.data.path) {
      const { strength, strengths, size } = this.data.path;
      const { certainty, sizes } = this.data;
      const [value, expected] = [amount(strengths[at]), amount(size[at], certainty ? 1 : 0)];
      document.getElementById("value").textContent = value;
      document.getElementById("size").textContent = expected;
      this.range.value = at;
      const words = `${strength} ${value}, ${expected} ${sizes[0]}`;
      this.range.setAttribute("aria-valuetext", words);
      this.back.disabled = this.isChosen();
    }
    for (const part of this.parts) part.move(at);
  }

  isChosen() {
    return !this.data.path || this.at === this.data.path.chosen;
  }

  probability(column) {
    // How early a variable enters is the same wherever on the path one looks.
    if (!this.data.certainty) return this.data.rows.probability[column] ?? null;
    return this.valueAt("probability", column);
  }

  effect(column) {
    return this.data.several[column] ? null : this.valueAt("effect", column);
  }

  // The value in view; null where a variable has none away from the chosen strength.
  valueAt(key, column) {
    const stated = this.data.rows[key];
    if (this.isChosen() && column < stated.length) return stated[column];
    if (this.curve.has(column)) return this.data.path[key][this.at][this.curve.get(column)];
    return this.data.covariate[column] && key === "probability" ? 1 : null;
  }

  inModel(column) {
    if (this.owner.has(column)) return this.inModel(this.owner.get(column));
    if (this.isChosen() && column < this.data.selected.length) return this.data.selected[column];
    const evidence = this.valueAt("probability", column) ?? 0;
    // Frequencies are whole numbers of resamples, and written with some digits.
    return this.data.frequency ? evidence >= this.data.least - 1e-6 : evidence > 0.5;
  }
}

new Report(JSON.parse(document.getElementById("data").textContent));
