// Branches, validation, predictions and correlations.

// Free energies span hundreds and differ by little: drawn is the difference of the two passes, on a
// scale of signed square roots, so that a small one is seen beside a large one.
class BranchPicture {
  constructor(figure, report) {
    this.figure = figure;
    this.report = report;
  }

  draw(width) {
    const { gap, apart, strength, strengths } = this.report.data.path;
    const root = (value) => Math.sign(value) * Math.sqrt(Math.abs(value));
    const [least, most] = extent([0, ...gap]);
    const reach = Math.max(-least, most) * 1.15;
    // The better pass may be the same everywhere: the other side then needs little room.
    const edge = reach / 25 || 1;
    const domain = [Math.min(least * 1.15, -edge), Math.max(most * 1.15, edge)];
    const inside = branchTicks(reach).filter((t) => t.value >= domain[0] && t.value <= domain[1]);
    const chart = new StepChart(this.figure, this.report, {
      width, height: 290, top: width < 480 ? 38 : 26, ticks: inside,
      words: "difference of free energy between backward and forward pass",
    });
    this.chart = chart;
    const { left, right, top, bottom } = chart.box;
    const y = (value) => linear(domain.map(root), [bottom, top])(root(value));
    for (const [low, high] of apart) {
      const [from, to] = [chart.x.of(low), chart.x.of(high)].sort((a, b) => a - b);
      const pad = chart.x.step / 2;
      chart.under.append(mark("rect", {
        class: "shade", x: from - pad, width: to - from + 2 * pad, y: top, height: bottom - top,
      }, tip(`forward and backward differ for ${strength} from ${amount(low)} to ${amount(high)}`)));
    }
    chart.yAxis(y, "backward − forward (free energy)");
    chart.xAxis();
    chart.markers();
    chart.draw(line("base", left, y(0), right, y(0)));
    gap.forEach((g, k) => {
      if (g === null) return;
      const x = chart.x.at(k);
      const at = strengths[k];
      const differs = apart.some(([low, high]) => at >= low && at <= high);
      const kind = !differs ? "same" : g > 0 ? "forward" : "backward";
      const words = differs
        ? `${strength} = ${amount(at)}: ${kind} is better by ${amount(Math.abs(g))}`
        : `${strength} = ${amount(at)}: the same solution`;
      if (differs) chart.draw(line(`stem ${kind}`, x, y(0), x, y(g)));
      const r = differs ? 3.2 : 1.8;
      chart.draw(mark("circle", { class: kind, cx: x, cy: y(g), r }, tip(words)));
    });
    this.legend(chart, width < 480);
  }

  legend(chart, narrow) {
    ["forward", "backward"].forEach((kind, k) => {
      const x = chart.box.left + 6 + (narrow ? 0 : 270 * k);
      const y = narrow ? 8 + 16 * k : 10;
      chart.draw(
        mark("circle", { class: kind, cx: x, cy: y, r: 4 }),
        write("remark", x + 10, y + 4, `${kind} pass found the better solution`),
      );
    });
  }

  move(at) {
    this.chart.move(at);
  }
}

// Numbers on both sides of 0: a few round ones and, as a scale of roots has room for it, a tenth.
function branchTicks(reach) {
  const right = roundTicks(0, reach, 2).filter((t) => t.value > 0);
  if (right.length) {
    const tenth = right[0].value / 10;
    right.push({ value: tenth, text: tickText(tenth, tenth) });
  }
  const left = right.map(({ value, text }) => ({ value: -value, text: `−${text}` }));
  return [...left, { value: 0, text: "0" }, ...right];
}

class ValidationPicture {
  constructor(figure, report) {
    this.figure = figure;
    this.report = report;
  }

  draw(width) {
    const { validation: found, path } = this.report.data;
    const low = found.mean.map((m, k) => (known(m) ? m - (found.error[k] ?? 0) : null));
    const high = found.mean.map((m, k) => (known(m) ? m + (found.error[k] ?? 0) : null));
    // An error far beyond the null model's would flatten all others.
    const domain = extent([found.null, ...low, ...high]);
    if (found.null > 0) domain[1] = Math.min(domain[1], 2 * found.null);
    const shown = widen(domain, 0.06);
    const chart = new StepChart(this.figure, this.report, {
      width, height: 300, ticks: roundTicks(...shown, 5), words: `held-out ${found.measure} along the path`,
    });
    this.chart = chart;
    const { left, right, top, bottom } = chart.box;
    const y = (value) => Math.max(top, linear(shown, [bottom, top])(value));
    this.y = y;
    chart.yAxis(y, `held-out ${found.measure}`);
    chart.xAxis();
    chart.markers();
    const points = (values) => values.map((v, k) => [chart.x.at(k), known(v) ? y(v) : null]);
    const band = [...points(high), ...points(low).reverse()].filter(([, at]) => at !== null);
    if (band.length) chart.draw(mark("path", { class: "band", d: polyline(band) + "Z" }));
    chart.draw(mark("path", { class: "curve", d: polyline(points(found.mean)) }));
    if (known(found.null)) {
      const level = y(found.null);
      const words = `${found.nullModel}: ${amount(found.null)}`;
      chart.draw(
        line("reference", left, level, right, level),
        write("remark halo", right - 8, level + 16, words, "end"),
      );
    }
    found.mean.forEach((mean, k) => {
      if (!known(mean)) return;
      const words = `${amount(mean)} ± ${amount(found.error[k])}`;
      chart.draw(mark("circle", { class: "touch", cx: chart.x.at(k), cy: y(mean), r: 6 },
        tip(`${path.strength} = ${amount(path.strengths[k])}: ${words}`)));
    });
    this.rule(chart, y, high);
    this.spot = mark("circle", { class: "spot", r: 5 });
    this.words = mark("text", { class: "strong halo" });
    chart.draw(this.spot, this.words);
  }

  // The least error, and for the rule of one standard error the level that it allows.
  rule(chart, y, high) {
    const { mean, rule } = this.report.data.validation;
    let least = -1;
    mean.forEach((m, k) => {
      if (known(m) && (least < 0 || m < mean[least])) least = k;
    });
    if (least < 0) return;
    const at = chart.x.at(least);
    chart.draw(mark("path", {
      class: "curve", d: `M${at} ${y(mean[least]) - 5}l5 5l-5 5l-5 -5Z`, "data-least": least,
    }, tip(`least error: ${amount(mean[least])}`)));
    if (rule !== "1se" || !known(high[least])) return;
    const { left, right } = chart.box;
    const level = y(high[least]);
    chart.draw(
      line("chosen", left, level, right, level),
      write("remark halo", left + 8, level + 15, "least error + 1 standard error"),
    );
  }

  move(at) {
    this.chart.move(at);
    const value = this.report.data.validation.mean[at];
    const x = this.chart.x.at(at);
    const { left, right } = this.chart.box;
    this.spot.setAttribute("visibility", known(value) ? "visible" : "hidden");
    if (known(value)) {
      this.spot.setAttribute("cx", x);
      this.spot.setAttribute("cy", this.y(value));
      this.words.setAttribute("y", this.y(value) - 14);
    } else this.words.setAttribute("y", this.chart.box.top + 14);
    const late = x > (left + right) / 2;
    this.words.setAttribute("x", late ? x - 8 : x + 8);
    this.words.setAttribute("text-anchor", late ? "end" : "start");
    this.words.textContent = known(value) ? amount(value) : "not reached";
  }
}

class PredictionPicture {
  constructor(figure, report) {
    this.figure = figure;
    this.report = report;
  }

  draw(width) {
    const { predictions: found, response, scale, path } = this.report.data;
    const odds = scale === "log odds";
    const size = Math.min(width, 480);
    const chosen = found.predicted[path ? path.chosen : 0];
    const domain = widen(extent([...found.observed, ...chosen]), 0.03);
    const count = size < 400 ? 4 : 6;
    const left = leftOf(roundTicks(...domain, count));
    const box = { left, right: size - 12, top: 10, bottom: size - 60 };
    const svg = canvas(this.figure, size, size - 10, `predicted against observed ${response}`);
    const short = shorten(response, size < 400 ? 12 : 24);
    const seen = found.heldOut ? "held out" : "fitted";
    const { x, y } = plotted(svg, box, {
      domains: [domain, domain], counts: [count, count],
      labels: [
        `observed ${isolate(short)}`,
        `predicted ${odds ? "probability of " : ""}${isolate(short)} (${seen})`,
      ],
    });
    this.y = (value) => Math.min(box.bottom, Math.max(box.top, y(value)));
    const [low, high] = domain;
    svg.append(line("base", x(low), y(low), x(high), y(high)));
    this.dots = found.observed.map((value) => {
      const dot = mark("circle", { class: "dot", cx: x(value).toFixed(1), r: 3 }, tip(""));
      svg.append(dot);
      return dot;
    });
  }

  move(at) {
    const { predictions: found, path } = this.report.data;
    const predicted = found.predicted[path ? at : 0];
    let squares = 0, spread = 0, count = 0, total = 0;
    found.observed.forEach((o, k) => {
      const p = predicted[k];
      const dot = this.dots[k];
      dot.setAttribute("visibility", known(o) && known(p) ? "visible" : "hidden");
      if (!known(o) || !known(p)) return;
      dot.setAttribute("cy", this.y(p).toFixed(1));
      const words = `observed ${amount(o)}, predicted ${amount(p)}`;
      dot.firstChild.textContent = `row ${found.rows[k]}: ${words}`;
      squares += (o - p) ** 2;
      total += o;
      count += 1;
    });
    const words = document.getElementById("agreement");
    if (!count) {
      words.textContent = "No predictions at this strength.";
      return;
    }
    found.observed.forEach((o, k) => {
      if (known(o) && known(predicted[k])) spread += (o - total / count) ** 2;
    });
    const explained = spread > 0 ? ` R² = ${amount(1 - squares / spread, 2)};` : "";
    const where = path ? ` at ${path.strength} = ${amount(path.strengths[at])}` : "";
    const error = `mean squared error of these rows ${amount(squares / count)}`;
    words.textContent = `${count} rows${where}:${explained} ${error}.`;
  }
}

// How strong the colour of a correlation is.
const depth = (r) => (0.85 * Math.abs(r) ** 1.2).toFixed(3);

class CorrelationPicture {
  constructor(figure, report) {
    this.figure = figure;
    this.report = report;
  }

  draw(width) {
    const { standIns: found, names } = this.report.data;
    const narrow = width < 520;
    const letters = narrow ? 12 : 18;
    const label = 12 + Math.ceil(widest(found.columns.map((c) => shorten(names[c], letters))));
    const room = Math.floor((width - label - 4) / (narrow ? 17 : 20));
    const columns = found.columns.slice(0, Math.max(2, room));
    const cell = Math.min(30, (width - label - 4) / columns.length);
    const side = cell * columns.length;
    const words = `correlations among ${columns.length} variables`;
    const svg = canvas(this.figure, width, label + side + 40, words);
    this.labels = columns.flatMap((column, k) => {
      const middle = label + (k + 0.5) * cell;
      const short = shorten(names[column], letters);
      const turn = `translate(${middle + 4} ${label - 7}) rotate(-90)`;
      return [
        write("name", label - 7, middle + 4, short, "end"),
        mark("text", { transform: turn }, short),
      ].map((element) => {
        element.dataset.column = column;
        element.append(tip(isolate(names[column])));
        return element;
      });
    });
    svg.append(...this.labels);
    columns.forEach((_, i) => columns.forEach((__, j) => {
      svg.append(...this.cell(i, j, label + j * cell, label + i * cell, cell));
    }));
    this.legend(svg, label, label + side + 14);
    this.note(columns.length);
  }

  // One correlation: a colour of its sign and depth, and the number where there is room for it.
  cell(i, j, x, y, size) {
    const { standIns: found, names } = this.report.data;
    const [row, column] = [found.columns[i], found.columns[j]];
    const box = { x, y, width: size - 1, height: size - 1 };
    if (i === j) return [mark("rect", { ...box, class: "own" }, tip(isolate(names[row])))];
    const r = found.correlation[i][j];
    const words = `${isolate(names[row])} and ${isolate(names[column])}: ${amount(r, 2)}`;
    const colour = { class: r > 0 ? "positive" : "negative", "fill-opacity": depth(r ?? 0) };
    const marks = [
      mark("rect", { ...box, class: "blank" }), mark("rect", { ...box, ...colour }, tip(words)),
    ];
    if (known(r) && Math.abs(r) >= 0.5 && size >= 21) {
      const kind = Math.abs(r) < 0.65 ? "in-cell" : "in-cell deep";
      const text = amount(r, 2).replace("0.", ".");
      marks.push(write(kind, x + size / 2 - 0.5, y + size / 2 + 3, text, "middle"));
    }
    return marks;
  }

  note(shown) {
    const all = this.report.data.standIns.columns.length;
    this.figure.querySelector("figcaption")?.remove();
    const note = document.createElement("figcaption");
    note.className = "note";
    const some = shown < all ? `The first ${shown} of ${all} variables. ` : "";
    const { path, bold: inside } = this.report.data;
    const bold = path ? `${inside} at the strength in view` : "selected";
    note.textContent =
      `${some}Correlation among variables selected and nearly selected; in bold those ${bold}.`;
    this.figure.append(note);
  }

  legend(svg, left, top) {
    [-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1].forEach((r, k) => {
      const box = { x: left + k * 22, y: top, width: 22, height: 9 };
      const kind = r > 0 ? "positive" : "negative";
      svg.append(
        mark("rect", { ...box, class: "blank" }),
        mark("rect", { ...box, class: kind, "fill-opacity": depth(r) }),
      );
      if (k % 4 === 0) {
        const text = r > 0 ? `+${r}` : amount(r, 0);
        svg.append(write("tick", box.x + 11, top + 22, text, "middle"));
      }
    });
  }

  move() {
    for (const label of this.labels) {
      const inside = this.report.inModel(Number(label.dataset.column));
      label.setAttribute("class", inside ? "name strong" : "name remark");
    }
  }
}
