// Marks, scales and axes: what every picture is made of. Text enters only as text nodes.

const SPACE = "http://www.w3.org/2000/svg";

function mark(kind, attributes = {}, ...children) {
  const element = document.createElementNS(SPACE, kind);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const tip = (words) => mark("title", {}, words);

const line = (kind, x1, y1, x2, y2) => mark("line", { class: kind, x1, y1, x2, y2 });

// Words at a point: they start there, end there or have it in their middle.
const write = (kind, x, y, words, anchor = "start") =>
  mark("text", { class: kind, x, y, "text-anchor": anchor }, words);

// The label of a vertical axis, at the left edge and within some room.
const writeUpwards = (y, words, room) => mark("text", {
  class: "label", "text-anchor": "middle", transform: `translate(13 ${y}) rotate(-90)`,
}, fitted(words, room), tip(words));

const isolate = (name) => `\u2068${name}\u2069`;
const known = (value) => value !== null && value !== undefined;

// As `brief` of the page's words: the beginning and the end of a long name.
function shorten(name, most) {
  const letters = Array.from(name);
  if (letters.length <= most) return name;
  const end = Math.floor(most / 3);
  const start = Math.max(1, Math.floor((2 * most) / 3) - 1);
  return letters.slice(0, start).join("") + "…" + (end ? letters.slice(-end).join("") : "");
}

function amount(value, decimals = null) {
  if (!known(value)) return "–";
  let text;
  if (decimals !== null) text = value.toFixed(decimals);
  else if (value === 0) text = "0";
  else {
    const size = Math.floor(Math.log10(Math.abs(value)));
    text = size < -4 || size > 6
      ? value.toExponential(3).replace("e+", "e")
      : value.toFixed(Math.max(0, 3 - size));
  }
  if (Number(text) === 0) text = text.replace("-", "");
  return text.replaceAll("-", "−");
}

function chance(value) {
  if (!known(value)) return "–";
  if (value > 0 && value < 0.0005) return "<0.001";
  if (value > 0.9995 && value < 1) return ">0.999";
  return value.toFixed(3);
}

// How many pixels the widest of some labels takes, in bold.
function widest(labels) {
  const pen = document.createElement("canvas").getContext("2d");
  const root = getComputedStyle(document.documentElement);
  pen.font = `bold 12px ${root.getPropertyValue("--sans")}`;
  return Math.max(0, ...labels.map((label) => pen.measureText(label).width));
}

// The width of a digit of an axis.
const DIGIT = 6.6;

// Words that take no more room than there is; what is left out is in the middle.
function fitted(words, room) {
  const needed = widest([words]);
  return needed <= room ? words : shorten(words, Math.max(4, Math.floor((words.length * room) / needed)));
}

// Where the plot begins, so that the numbers of a vertical axis clear its label.
const leftOf = (ticks) => Math.max(46, 36 + Math.ceil(widest(ticks.map((tick) => tick.text))));

function linear([low, high], [from, to]) {
  const slope = high > low ? (to - from) / (high - low) : 0;
  return (value) => from + (value - low) * slope;
}

// Round numbers between two ends, about so many and at least two; each with the text of its label.
function roundTicks(low, high, count) {
  if (!(high > low)) return [{ value: low, text: amount(low) }];
  const step = roundStep(low, high, count);
  const ticks = [];
  for (let k = firstMultiple(low, step); k <= lastMultiple(high, step); k++) {
    ticks.push({ value: k * step, text: tickText(k * step, step) });
  }
  return ticks;
}

const firstMultiple = (low, step) => Math.ceil(low / step - 1e-9);
const lastMultiple = (high, step) => Math.floor(high / step + 1e-9);

// As `round_step` of the page's rows.
function roundStep(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const steps = [0.5, 1, 2, 5, 10].map((factor) => factor * power);
  const k = steps.findIndex((step) => step >= rough * (1 - 1e-9));
  const several = lastMultiple(high, steps[k]) > firstMultiple(low, steps[k]);
  return several ? steps[k] : steps[k - 1];
}

// A multiple of a step, with all the digits that tell it from its neighbours.
function tickText(value, step) {
  const place = Math.floor(Math.log10(step) + 1e-9);
  if (value === 0 || (Math.abs(value) < 1e7 && place >= -5)) return amount(value, Math.max(0, -place));
  const digits = Math.floor(Math.log10(Math.abs(value)) + 1e-9) - place;
  const text = value.toExponential(Math.min(15, Math.max(0, digits)));
  return text.replace("e+", "e").replaceAll("-", "−");
}

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (!known(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

function widen([low, high], share) {
  const margin = (high - low || Math.abs(high) || 1) * share;
  return [low - margin, high + margin];
}

// A new drawing in a figure, in place of the last one.
function canvas(figure, width, height, words) {
  const svg = mark("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": words,
  });
  figure.querySelector("svg")?.remove();
  figure.prepend(svg);
  return svg;
}

// A plot of two linear axes with their grids, numbers and labels; returns its scales.
function plotted(svg, box, { domains: [across, upwards], counts, labels: [below, beside] }) {
  const x = linear(across, [box.left, box.right]);
  const y = linear(upwards, [box.bottom, box.top]);
  const ticks = roundTicks(...across, counts[0]);
  for (const { value } of ticks) svg.append(line("grid", x(value), box.top, x(value), box.bottom));
  sideAxis(svg, box, y, roundTicks(...upwards, counts[1]), beside);
  if (below) belowAxis(svg, box, ticks.map(({ value, text }) => ({ x: x(value), text })), below);
  return { x, y };
}

// A vertical axis: a line of the grid at each number, and the label beside them.
function sideAxis(svg, { left, right, top, bottom }, y, ticks, label) {
  for (const { value, text } of ticks) {
    const at = y(value);
    svg.append(line("grid", left, at, right, at), write("tick", left - 8, at + 4, text, "end"));
  }
  svg.append(writeUpwards((top + bottom) / 2, label, bottom - top + 20));
}

// A horizontal axis: marks with their numbers, and the label below.
function belowAxis(svg, { left, right, bottom }, ticks, label) {
  svg.append(line("base", left, bottom, right, bottom));
  for (const { x, text } of ticks) {
    svg.append(line("base", x, bottom, x, bottom + 4), write("tick", x, bottom + 17, text, "middle"));
  }
  const words = fitted(label, right - left + 40);
  svg.append(write("label", (left + right) / 2, bottom + 38, words, "middle"));
}

function polyline(points) {
  let pen = "M";
  let path = "";
  for (const [x, y] of points) {
    if (y === null) pen = "M";
    else {
      path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = "L";
    }
  }
  return path;
}

// The strengths of a path stand at equal steps, as the slider does; numbers are put between them.
class Steps {
  constructor(strengths, left, right) {
    this.strengths = strengths;
    this.at = linear([0, strengths.length - 1], [left, right]);
    this.step = (right - left) / (strengths.length - 1);
  }

  of(value) {
    const s = this.strengths;
    const rising = s[s.length - 1] > s[0] ? 1 : -1;
    let k = 1;
    while (k < s.length - 1 && (s[k] - value) * rising < 0) k++;
    const share = (value - s[k - 1]) / (s[k] - s[k - 1] || 1);
    return this.at(k - 1 + Math.min(1, Math.max(0, share)));
  }

  nearest(x) {
    const k = Math.round((x - this.at(0)) / this.step);
    return Math.min(this.strengths.length - 1, Math.max(0, k));
  }

  // Round numbers, the roundest first, as long as they do not crowd each other.
  ticks(room) {
    const [low, high] = extent(this.strengths);
    const found = [];
    const largest = Math.max(Math.abs(low), Math.abs(high)) || 1;
    const top = Math.floor(Math.log10(largest));
    // Strengths that are nearly the same differ in later digits.
    const last = Math.min(top - 3, Math.floor(Math.log10(high - low || largest)) - 1);
    const place = (value, step) => {
      if (value < low || value > high) return;
      const [x, text] = [this.of(value), tickText(value, step)];
      const half = (DIGIT * text.length) / 2 + 5;
      const free = found.every((tick) => Math.abs(tick.x - x) >= Math.max(room, half + tick.half));
      if (free) found.push({ value, x, text, half });
    };
    for (let power = top; power >= last; power--) {
      for (const factor of [10, 5, 2, 1]) {
        const step = factor * 10 ** power;
        if ((high - low) / step > 60) break;
        for (let k = Math.ceil(low / step); k * step <= high; k++) place(k * step, step);
      }
    }
    return found.sort((a, b) => a.x - b.x);
  }
}

// Axes over the steps of a path, with markers for the chosen strength and the one in view.
class StepChart {
  constructor(figure, report, { width, height, right = 14, top = 14, ticks, words }) {
    this.report = report;
    const path = report.data.path;
    const bottom = 48;
    this.ticks = ticks;
    this.box = { left: leftOf(ticks), right: width - right, top, bottom: height - bottom };
    this.svg = canvas(figure, width, height, words);
    this.x = new Steps(path.strengths, this.box.left + 6, this.box.right - 6);
    this.under = mark("g");
    this.svg.append(this.under);
  }

  draw(...marks) {
    this.svg.append(...marks);
  }

  yAxis(y, label) {
    sideAxis(this.under, this.box, y, this.ticks, label);
  }

  xAxis() {
    const { strength, meaning } = this.report.data.path;
    const ticks = this.x.ticks(44);
    const narrow = this.box.right - this.box.left < 300;
    belowAxis(this.under, this.box, ticks, meaning && !narrow ? `${strength} (${meaning})` : strength);
    return ticks;
  }

  markers() {
    const { left, right, top, bottom } = this.box;
    const chosen = this.x.at(this.report.data.path.chosen);
    this.here = line("here", chosen, top, chosen, bottom);
    const plot = mark("rect", {
      class: "plot", x: left, y: top, width: right - left, height: bottom - top,
    });
    plot.addEventListener("click", (event) => {
      const box = this.svg.getBoundingClientRect();
      const scale = this.svg.viewBox.baseVal.width / box.width;
      this.report.move(this.x.nearest((event.clientX - box.left) * scale));
    });
    this.under.append(plot, line("chosen", chosen, top, chosen, bottom), this.here);
  }

  move(at) {
    const x = this.x.at(at).toFixed(1);
    this.here.setAttribute("x1", x);
    this.here.setAttribute("x2", x);
    this.here.dataset.at = at;
  }
}
