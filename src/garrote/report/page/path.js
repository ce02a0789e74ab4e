// The path: one curve for each variable, its name at the end of it.

const COLOURS = 7;
const DASHES = 4;
// Curves that never rise to this have no name beside them.
const WORTH_A_NAME = 0.1;

class PathPicture {
  constructor(figure, report) {
    this.figure = figure;
    this.report = report;
    this.mode = report.data.certainty ? "probability" : "effect";
    const controls = document.getElementById("path-controls");
    if (!controls) return;
    const switches = controls.querySelectorAll("button");
    controls.hidden = false;
    for (const button of switches) {
      button.addEventListener("click", () => {
        this.mode = button.dataset.mode;
        for (const other of switches) other.setAttribute("aria-pressed", other === button);
        report.redraw(this);
      });
    }
  }

  draw(width) {
    const { data, noun } = this.report;
    const narrow = width < 520;
    const letters = narrow ? 12 : 20;
    const right = 26 + widest(data.path.columns.map((c) => shorten(data.names[c], letters)));
    const values = data.path[this.mode];
    const isEffect = this.mode === "effect";
    const domain = isEffect ? widen(extent([0, ...values.flat()]), 0.03) : [0, 1];
    const chart = new StepChart(this.figure, this.report, {
      width, height: narrow ? 380 : 430, right, top: 42, ticks: roundTicks(...domain, 5),
      words: `${this.mode} of ${data.path.columns.length} variables along the path`,
    });
    this.chart = chart;
    const { top, bottom } = chart.box;
    const y = linear(domain, [bottom - 2, top + 2]);
    const { on, per } = data.effect;
    const label = isEffect ? `effect (${on} per ${per} of the variable)` : noun;
    chart.yAxis(y, label);
    this.sizes(chart, chart.xAxis());
    chart.markers();
    if (isEffect) {
      const { left, right: end } = chart.box;
      chart.draw(line("base", left, y(0), end, y(0)));
    }
    const curves = data.path.columns.map((column, k) => this.curve(chart, y, values, column, k));
    // What was selected is drawn last, over the others.
    chart.draw(...curves.filter((c) => !c.key).map((c) => c.group).reverse());
    chart.draw(...curves.filter((c) => c.key).map((c) => c.group).reverse());
    this.names(chart, curves, letters);
  }

  curve(chart, y, values, column, k) {
    const { data } = this.report;
    const key = Boolean(data.selected[column]);
    const order = data.path.columns.slice(0, k).filter((c) => data.selected[c]).length;
    const colour = key ? ` s${order % COLOURS}` : "";
    const dash = key ? ` d${Math.floor(order / COLOURS) % DASHES}` : "";
    const d = polyline(values.map((row, i) => [chart.x.at(i), known(row[k]) ? y(row[k]) : null]));
    const group = mark("g", { class: key ? "key" : "other", "data-column": column },
      mark("path", { class: `line${colour}${dash}`, d }), mark("path", { class: "hit", d }),
      tip(isolate(data.names[column])));
    const last = values[values.length - 1][k];
    const total = data.path.probability.reduce((sum, row) => sum + (row[k] ?? 0), 0);
    const highest = extent(data.path.probability.map((row) => row[k]))[1];
    return { group, key, colour, column, total, highest, end: known(last) ? y(last) : null };
  }

  // Names stand at the ends of their curves, pushed apart; those that find no room have only a tip.
  names(chart, curves, letters) {
    const { top, bottom, right } = chart.box;
    const gap = 14;
    const shown = curves.filter((c) => c.end !== null && (c.key || c.highest >= WORTH_A_NAME))
      .slice(0, Math.floor((bottom - top) / gap) + 1)
      // Of curves that end at one height, the one that came in first stands on top.
      .sort((a, b) => Math.round(a.end / 8) - Math.round(b.end / 8) || b.total - a.total);
    const at = [];
    for (const { end } of shown) at.push(at.length ? Math.max(end, at[at.length - 1] + gap) : end);
    let limit = bottom;
    for (let k = at.length - 1; k >= 0; k--) {
      at[k] = Math.min(at[k], limit);
      limit = at[k] - gap;
    }
    shown.forEach(({ group, end, key, colour, column }, k) => {
      const name = shorten(this.report.data.names[column], letters);
      const d = `M${right - 5} ${end}h8L${right + 12} ${at[k]}h6`;
      group.append(
        mark("path", { class: `leader${colour}`, d }),
        write(key ? "name strong" : "name remark", right + 22, at[k] + 4, name),
      );
    });
    const unnamed = curves.length - shown.length;
    this.note(unnamed
      ? `${unnamed} of the curves have no name beside them and show it under the pointer.` : "");
  }

  note(words) {
    let note = this.figure.querySelector("figcaption");
    if (!note) {
      note = document.createElement("figcaption");
      note.className = "note screen";
      this.figure.append(note);
    }
    note.textContent = words;
  }

  // How many variables are expected in the model, along the upper edge.
  sizes(chart, ticks) {
    const { left, top } = chart.box;
    const sizes = this.report.data.path.size;
    const words = this.report.data.sizes[1];
    chart.under.append(write("remark", left, 12, words));
    for (const { x } of ticks) {
      const size = sizes[chart.x.nearest(x)];
      const whole = !known(size) || size >= 100 || Math.abs(size - Math.round(size)) < 0.05;
      chart.under.append(write("tick", x, top - 10, amount(size, whole ? 0 : 1), "middle"));
    }
  }

  move(at) {
    this.chart.move(at);
  }
}
