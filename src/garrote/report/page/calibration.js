// Calibration: are held-out rows as often of a class as its predicted probability says?

class CalibrationPicture {
  constructor(figure, report) {
    this.figure = figure;
    this.report = report;
  }

  draw(width) {
    const { calibration: found } = this.report.data;
    const size = Math.min(width, 420);
    const box = { left: leftOf([{ text: "0.8" }]), right: size - 12, top: 10, bottom: size - 60 };
    const svg = canvas(this.figure, size, size - 10, "share of held-out rows by predicted probability");
    const { x, y } = plotted(svg, box, {
      domains: [[0, 1], [0, 1]], counts: [5, 5],
      labels: [`predicted probability of ${isolate(found.of)}`, "share for which it came true"],
    });
    svg.append(line("base", x(0), y(0), x(1), y(1)));
    for (const fold of found.folds) {
      svg.append(mark("path", { class: "fold", d: polyline(fold.map(([p, q]) => [x(p), y(q)])) }));
    }
    svg.append(mark("path", { class: "curve", d: polyline(found.whole.map(([p, q]) => [x(p), y(q)])) }));
    for (const [predicted, share, weight] of found.whole) {
      const [low, high] = wilson(share, weight);
      const at = x(predicted);
      const rows = `${amount(weight, Number.isInteger(weight) ? 0 : 1)} rows`;
      const words = `${rows}, predicted ${amount(predicted, 2)}: true of ${amount(share, 2)}`;
      svg.append(
        line("whisker", at, y(low), at, y(high)),
        mark("circle", { class: "spot", cx: at, cy: y(share), r: 4.5 }, tip(words)),
      );
    }
  }

  // Calibration is stated at the chosen strength.
  move() {}
}

// Wilson's interval of a share of so many rows, at 95 %.
function wilson(share, weight) {
  const z2 = 1.96 ** 2;
  const centre = (share + z2 / (2 * weight)) / (1 + z2 / weight);
  const half = (1.96 / (1 + z2 / weight))
    * Math.sqrt((share * (1 - share)) / weight + z2 / (4 * weight ** 2));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}
