// Draw [data-price-chart] so that it can be zoomed and walked through: by mouse, buttons or keys.
// The figure's picture and table come from the server; this replaces the picture and keeps the table.
// Needs the global uPlot, loaded before this module.
const HOUR = 3600;
const DAY = 24 * HOUR;
const LENGTHS = { hour: HOUR, day: DAY };
const HEIGHT = 232;
const AXIS_WIDTH = 52;
const TOP = 24;
const BOTTOM = 28;
// A label nearer to the left edge would be cut.
const EDGE = 20;
const ZOOM = 2;
const FAR = 24;
const MICRO = 1e6;
// A day may have 25 hours; two days always have more than 26.
const LONGEST_DAY = 26 * HOUR;
const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageDown: -FAR, PageUp: FAR, Home: -Infinity, End: Infinity };

const language = document.documentElement.lang === "fr" ? "fr" : "en";
const dates = language === "fr" ? "fr-FR" : "en-GB";

// Canvas knows no light-dark(): an element resolves the colour, once per theme.
const colour = (figure, name) => {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  figure.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

const rowsOfTable = (figure) =>
  [...figure.querySelectorAll("tbody tr")].map((row) => ({
    starts_at: row.querySelector("time").dateTime,
    average_price_micro: Number(row.querySelector("[data-price-micro]").dataset.priceMicro),
    gpu_hours: Number(row.querySelector("[data-gpu-hours]").dataset.gpuHours),
  }));

const historyOf = async (figure) => {
  const table = { hours: rowsOfTable(figure), period: figure.dataset.period };
  if (!figure.dataset.history) return table;
  try {
    const answer = await fetch(figure.dataset.history);
    return answer.ok ? await answer.json() : table;
  } catch {
    // The table holds the same, if less finely.
    return table;
  }
};

// Columns for uPlot, each period at its middle; where a period had no sale, an empty point breaks the line.
const columnsOf = ({ hours, period: name }) => {
  const columns = [[], [], []];
  const add = (...values) => values.forEach((value, index) => columns[index].push(value));
  const starts = hours.map((hour) => Date.parse(hour.starts_at) / 1000);
  const period = LENGTHS[name];
  const longest = period === DAY ? LONGEST_DAY : HOUR;
  hours.forEach((hour, index) => {
    if (index && starts[index] - starts[index - 1] > longest) add(starts[index - 1] + period * 1.5, null, null);
    add(starts[index] + period / 2, hour.average_price_micro / MICRO, hour.gpu_hours);
  });
  return { columns, period };
};

const button = (text, label, act) => {
  const made = document.createElement("button");
  made.type = "button";
  made.className = "btn alt small";
  made.textContent = text;
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
};

const formatsOf = ({ zone, currency }) => ({
  price: new Intl.NumberFormat(language, { style: "currency", currency, minimumFractionDigits: 2, maximumFractionDigits: 3 }),
  plain: new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 3 }),
  count: new Intl.NumberFormat(language),
  day: new Intl.DateTimeFormat(dates, { timeZone: zone, day: "numeric", month: "short" }),
  time: new Intl.DateTimeFormat(dates, { timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
  date: new Intl.DateTimeFormat(dates, { timeZone: zone, day: "numeric", month: "short", year: "numeric" }),
  moment: new Intl.DateTimeFormat(dates, {
    timeZone: zone, day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
  }),
});

const optionsOf = (figure, { columns, period }, shown, onCursor) => {
  const paint = (name) => () => colour(figure, name);
  const font = `12px ${getComputedStyle(figure).fontFamily}`;
  const axis = { font, stroke: paint("--ink2"), ticks: { show: false } };
  const grid = { show: true, width: 1, stroke: paint("--line") };
  // A point between two empty ones has no line: it is drawn as a dot.
  const isLone = (index) => columns[1][index] != null && columns[1][index - 1] == null && columns[1][index + 1] == null;
  const timeText = (plot, second, step) => {
    if (plot.valToPos(second, "x") < EDGE) return "";
    const moment = new Date(second * 1000);
    const time = shown.time.format(moment);
    return step >= DAY || time === "00:00" ? shown.day.format(moment) : time;
  };
  return {
    width: figure.clientWidth,
    height: HEIGHT,
    padding: [TOP, 0, 0, 0],
    legend: { show: false },
    tzDate: (second) => uPlot.tzDate(new Date(second * 1000), figure.dataset.zone),
    cursor: { y: false, drag: { x: true, y: false } },
    scales: {
      x: { time: true, range: (_plot, low, high) => [low, high], min: columns[0][0] - period / 2, max: columns[0].at(-1) + period / 2 },
      y: { range: (_plot, low, high) => [low - Math.max(high - low, 0.04) / 2, high + Math.max(high - low, 0.04) / 12] },
      volume: { range: (_plot, _low, high) => [0, (high || 1) * 4] },
    },
    axes: [
      { ...axis, size: BOTTOM, grid: { show: false }, space: 70, values: (plot, seconds, _axis, _space, step) => seconds.map((second) => timeText(plot, second, step)) },
      { ...axis, side: 1, size: AXIS_WIDTH, grid, values: (_plot, values) => values.map((value) => shown.plain.format(value)) },
    ],
    series: [
      {},
      { scale: "y", width: 1.75, stroke: paint("--brand"), points: { size: 5, fill: paint("--brand"), show: true, filter: (plot) => plot.data[0].map((_second, index) => index).filter(isLone) } },
      { scale: "volume", fill: () => colour(figure, "--m5").replace("rgb(", "rgba(").replace(")", ", .38)"), paths: uPlot.paths.bars({ size: [0.8, 60] }), points: { show: false } },
    ],
    hooks: { setCursor: [onCursor] },
  };
};

const draw = async (figure) => {
  const history = await historyOf(figure);
  if (!history.hours.length) return;
  const words = figure.dataset;
  const shown = formatsOf(words);
  const series = columnsOf(history);
  const { columns, period } = series;
  const [first, last] = [columns[0][0] - period / 2, columns[0].at(-1) + period / 2];
  const filled = columns[0].map((_second, index) => index).filter((index) => columns[1][index] != null);
  const picture = figure.querySelector("svg.plotted");
  const box = document.createElement("div");
  const bar = figure.querySelector(".chart-tools") ?? document.createElement("div");
  const readout = document.createElement("p");
  let place = filled.length - 1;
  // Zooming moves what lies under a resting cursor: only a moving pointer chooses a point.
  let isPointed = false;

  const say = (index) => {
    const start = new Date((columns[0][index] - period / 2) * 1000);
    const moment = (period === DAY ? shown.date : shown.moment).format(start);
    const text = columns[1][index] == null
      ? moment
      : `${moment} · ${words.labelPrice} ${shown.price.format(columns[1][index])} · ${words.labelVolume} ${shown.count.format(columns[2][index])}`;
    readout.textContent = text;
    return text;
  };
  const plot = new uPlot(
    optionsOf(figure, series, shown, ({ cursor }) => {
      if (cursor.idx == null || !isPointed) return;
      const nearest = filled.findLastIndex((index) => index <= cursor.idx);
      if (nearest >= 0) place = nearest;
      say(cursor.idx);
    }),
    columns,
    box,
  );

  const show = (min, max) => {
    isPointed = false;
    plot.setScale("x", { min, max });
    requestAnimationFrame(() => walk(0));
  };
  const reset = () => show(first, last);
  const zoom = (factor) => {
    const { min, max } = plot.scales.x;
    const middle = columns[0][filled[place]];
    const half = ((max - min) * factor) / 2;
    const low = Math.max(first, Math.min(middle - half, last - 2 * half));
    show(low, Math.min(last, low + 2 * half));
  };
  const walk = (steps) => {
    isPointed = false;
    place = Math.max(0, Math.min(filled.length - 1, place + steps));
    const second = columns[0][filled[place]];
    const { min, max } = plot.scales.x;
    if (second < min || second > max) {
      const low = Math.max(first, Math.min(second - (max - min) / 2, last - (max - min)));
      plot.setScale("x", { min: low, max: low + (max - min) });
    }
    plot.setCursor({ left: plot.valToPos(second, "x"), top: 0 }, false);
    box.setAttribute("aria-valuenow", String(place));
    // A slider's text is read out politely whenever it changes.
    box.setAttribute("aria-valuetext", say(filled[place]));
  };

  const facts = {
    role: "slider", tabindex: "0", "aria-label": picture.querySelector("title").textContent, "aria-description": words.help,
    "aria-valuemin": "0", "aria-valuemax": String(filled.length - 1), "aria-valuenow": String(place), "aria-valuetext": say(filled[place]),
  };
  for (const [name, value] of Object.entries(facts)) box.setAttribute(name, value);
  box.className = "plotted";
  box.addEventListener("pointermove", () => {
    isPointed = true;
  }, { capture: true });
  box.addEventListener("keydown", (event) => {
    if (event.key in KEYS) walk(KEYS[event.key]);
    else if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1 / ZOOM : ZOOM);
    else if (event.key === "Escape") reset();
    else return;
    event.preventDefault();
  });
  readout.className = "asof";
  bar.className = "chart-tools";
  const buttons = document.createElement("span");
  buttons.className = "row";
  buttons.append(
    button("+", words.labelIn, () => zoom(1 / ZOOM)),
    button("−", words.labelOut, () => zoom(ZOOM)),
    button(words.labelAll, "", reset),
  );
  bar.append(readout, buttons);
  picture.replaceWith(box);
  if (!bar.isConnected) box.after(bar);

  new ResizeObserver(() => {
    if (box.clientWidth !== plot.width) plot.setSize({ width: box.clientWidth, height: HEIGHT });
  }).observe(box);
  const repaint = () => plot.redraw(true);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
  new MutationObserver(repaint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
};

for (const figure of document.querySelectorAll("[data-price-chart]")) draw(figure);
