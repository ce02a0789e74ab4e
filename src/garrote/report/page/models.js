// The most probable models side by side, each as wide as it is probable; a row is a variable.

class ModelsPicture {
  constructor(figure, report) {
    this.figure = figure;
    this.report = report;
  }

  draw(width) {
    const { models: found, names } = this.report.data;
    const letters = width < 520 ? 12 : 22;
    const left = 12 + Math.ceil(widest(found.columns.map((c) => shorten(names[c], letters))));
    const [right, top, row] = [width - 54, 8, 20];
    const bottom = top + row * found.columns.length;
    const svg = canvas(this.figure, width, bottom + 62, "the most probable models");
    const ends = [];
    let sum = 0;
    for (const p of found.probability) ends.push((sum += p));
    const x = linear([0, sum], [left, right]);
    found.columns.forEach((column, i) => {
      const y = top + i * row;
      const name = write("name", left - 7, y + row / 2 + 4, shorten(names[column], letters), "end");
      name.setAttribute("class", this.report.inModel(column) ? "name strong" : "name remark");
      name.append(tip(isolate(names[column])));
      const chanceOfIt = chance(this.report.probability(column));
      svg.append(
        line("grid", left, y + row / 2, right, y + row / 2), name,
        write("tick", right + 8, y + row / 2 + 4, chanceOfIt),
      );
      found.sign.forEach((signs, k) => {
        if (!signs[i]) return;
        const [from, to] = [x(ends[k] - found.probability[k]), x(ends[k])];
        const sign = signs[i] > 1 ? "several" : signs[i] > 0 ? "positive" : "negative";
        const what = sign === "several" ? "several columns" : `${sign} effect`;
        const words = `model ${k + 1}, probability ${chance(found.probability[k])}: `
          + `${what} of ${isolate(names[column])}`;
        svg.append(mark("rect", {
          class: `effect-${sign}`, x: from, y: y + 2, height: row - 4,
          // A thin gap tells neighbours apart, as long as there is room for one.
          width: Math.max(to - from - 1, 0.6 * (to - from)),
        }, tip(words)));
      });
    });
    this.axis(svg, x, sum, left, right, bottom);
  }

  axis(svg, x, sum, left, right, bottom) {
    const count = this.report.data.models.probability.length;
    svg.append(line("base", left, bottom, right, bottom));
    for (const { value, text } of roundTicks(0, sum, right - left < 300 ? 2 : 5)) {
      const at = x(value);
      svg.append(
        line("base", at, bottom, at, bottom + 4), write("tick", at, bottom + 17, text, "middle"),
      );
    }
    const label = `cumulative probability of ${count} models`;
    svg.append(write("label", (left + right) / 2, bottom + 36, label, "middle"));
    const several = this.report.data.models.sign.some((signs) => signs.includes(2));
    const kinds = ["positive effect", "negative effect", ...(several ? ["several columns"] : [])];
    const start = (left + right) / 2 - 57 * kinds.length;
    kinds.forEach((words, k) => {
      const at = start + 114 * k;
      svg.append(
        mark("rect", { class: `effect-${words.split(" ")[0]}`, x: at, y: bottom + 47, width: 10, height: 10 }),
        write("remark", at + 15, bottom + 56, words),
      );
    });
  }

  // Models do not change with the strength in view.
  move() {}
}
