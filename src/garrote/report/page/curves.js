// Effects that are curves: a panel for each number, with its band.

class CurvesPicture {
  constructor(figure, report) {
    this.figure = figure;
    this.report = report;
  }

  draw(width) {
    const { curves: found, effect } = this.report.data;
    const aRow = Math.max(1, Math.min(found.length, Math.floor(width / 330)));
    const [across, height] = [Math.min(480, Math.floor(width / aRow)), 230];
    const svg = canvas(
      this.figure, width, height * Math.ceil(found.length / aRow), "effects that are curves",
    );
    found.forEach((curve, k) => {
      const panel = mark("g", {
        transform: `translate(${across * (k % aRow)} ${height * Math.floor(k / aRow)})`,
      });
      svg.append(panel);
      this.panel(panel, curve, across, height, effect.on);
    });
  }

  panel(svg, curve, width, height, on) {
    const upwards = widen(extent([0, ...curve.effect, ...curve.lower, ...curve.upper]), 0.06);
    const ticks = roundTicks(...upwards, 4);
    const box = { left: leftOf(ticks), right: width - 18, top: 10, bottom: height - 52 };
    const { x, y } = plotted(svg, box, {
      domains: [extent(curve.x), upwards], counts: [4, 4],
      labels: [isolate(curve.name), `effect on ${isolate(on)}`],
    });
    svg.append(line("base", box.left, y(0), box.right, y(0)));
    if (known(curve.lower[0])) {
      const ends = [
        ...curve.x.map((at, k) => [x(at), y(curve.upper[k])]),
        ...curve.x.map((at, k) => [x(at), y(curve.lower[k])]).reverse(),
      ];
      svg.append(mark("path", { class: "band", d: `${polyline(ends)}Z` }));
    }
    const points = curve.x.map((at, k) => [x(at), y(curve.effect[k])]);
    svg.append(mark("path", { class: "curve", d: polyline(points) }, tip(curve.name)));
  }

  // Curves are those at the chosen strength.
  move() {}
}
