// A locus: variables along a chromosome, or along the columns, with credible sets in colours.

const ALONG = { column: "column of the table", position: "position" };

class LocusPicture {
  constructor(figure, report) {
    this.figure = figure;
    this.report = report;
  }

  draw(width) {
    const { locus: found } = this.report.data;
    const across = widen(extent(found.at), 0.02);
    const panels = [{ values: found.probability, domain: [0, 1.04], label: "probability" }];
    if (found.log_p) panels.push({ values: found.log_p, domain: widen(extent([0, ...found.log_p]), 0.08), label: "-log10 p" });
    else if (found.z) panels.push({ values: found.z, domain: widen(extent([0, ...found.z]), 0.08), label: "z-score" });
    const ticks = panels.flatMap(({ domain }) => roundTicks(...domain, 4));
    const left = leftOf(ticks);
    const [height, legend] = [170, this.legendHeight(found, width)];
    const whole = legend + panels.length * (height + 14) + 48;
    const svg = canvas(this.figure, width, whole, "variables along their positions");
    this.legend(svg, found, left, width);
    panels.forEach(({ values, domain, label }, k) => {
      const top = legend + k * (height + 14);
      const box = { left, right: width - 14, top, bottom: top + height };
      const below = k === panels.length - 1 ? ALONG[found.along] : null;
      const { x, y } = plotted(svg, box, {
        domains: [across, domain], counts: [width < 500 ? 3 : 6, 4], labels: [below, label],
      });
      if (!k) svg.append(line("border", box.left, y(0.5), box.right, y(0.5)));
      this.points(svg, found, values, x, y);
    });
  }

  // Those of sets are drawn last, over the others.
  points(svg, found, values, x, y) {
    const order = found.sets.map((_, k) => k).sort((a, b) => (found.sets[a] > 0) - (found.sets[b] > 0));
    for (const k of order) {
      if (!known(values[k])) continue;
      const set = found.sets[k];
      const kind = set ? `point f${(set - 1) % COLOURS}` : "point";
      const member = set ? `, set ${set}` : "";
      const z = found.z ? `, z ${amount(found.z[k], 1)}` : "";
      const words = `${isolate(found.names[k])}: probability ${chance(found.probability[k])}${z}${member}`;
      svg.append(mark("circle", {
        class: kind, cx: x(found.at[k]).toFixed(1), cy: y(values[k]).toFixed(1), r: set ? 4 : 2.2,
      }, tip(words)));
    }
  }

  sets(found) {
    return [...new Set(found.sets)].filter(Boolean).sort((a, b) => a - b).slice(0, 12);
  }

  legendHeight(found, width) {
    const aRow = Math.max(1, Math.floor((width - 60) / 130));
    return 8 + 18 * Math.ceil(this.sets(found).length / aRow);
  }

  legend(svg, found, left, width) {
    const aRow = Math.max(1, Math.floor((width - 60) / 130));
    this.sets(found).forEach((set, k) => {
      const [x, y] = [left + 130 * (k % aRow), 8 + 18 * Math.floor(k / aRow)];
      const count = found.sets.filter((s) => s === set).length;
      svg.append(
        mark("circle", { class: `point f${(set - 1) % COLOURS}`, cx: x + 5, cy: y, r: 4 }),
        write("remark", x + 14, y + 4, `set ${set}: ${count === 1 ? "1 variable" : `${count} variables`}`),
      );
    });
  }

  // A locus does not change with the strength in view.
  move() {}
}
