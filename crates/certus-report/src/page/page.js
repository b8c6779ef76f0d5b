"use strict";
// What can be played, pointed at and chosen on a page. Everything is in the page itself: without this script all tables
// and first pictures are there.
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const all = (node, selector) => Array.from(node.querySelectorAll(selector));

  // A number as tables show it: at most six digits.
  const short = (value) => {
    if (value === null || !Number.isFinite(value)) return "not finite";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size < 1e-4 || size >= 1e6) return value.toExponential(4);
    return String(Number(value.toPrecision(6)));
  };

  const element = (name, attributes, text) => {
    const made = document.createElementNS(NS, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // Where the numbers of a picture are.
  const geometry = (svg) => {
    const [left, top, width, height, x0, x1, y0, y1] = svg.dataset.plot.split(" ").map(Number);
    return { left, top, width, height, x0, x1, y0, y1 };
  };
  const toX = (g, value) => g.left + (g.width * (value - g.x0)) / (g.x1 - g.x0);
  const toY = (g, value) => g.top + g.height * (1 - (value - g.y0) / (g.y1 - g.y0));
  // The numbers under a pointer.
  const pointed = (svg, event) => {
    const g = geometry(svg);
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale;
    const y = (event.clientY - box.top) * scale;
    return [g.x0 + ((x - g.left) / g.width) * (g.x1 - g.x0), g.y0 + (1 - (y - g.top) / g.height) * (g.y1 - g.y0)];
  };

  const around = (values, share = 0.05) => {
    let low = Infinity, high = -Infinity;
    for (const value of values) if (Number.isFinite(value)) { low = Math.min(low, value); high = Math.max(high, value); }
    if (low > high) [low, high] = [0, 1];
    let air = share * (high - low);
    if (!(air > 0)) air = Math.max(0.05 * Math.abs(low), 0.5);
    return [low - air, high + air];
  };
  const ticks = (low, high, wanted) => {
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((own) => own >= rough * (1 - 1e-12)) || rough;
    const found = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + step * 1e-9 && found.length < 16; n += 1) found.push(n * step);
    return found;
  };
  const tickText = (value) => (Math.abs(value) < 1e-12 ? "0" : String(Number(value.toPrecision(6))));

  // Frame, ticks and names of two axes.
  const frame = (svg, across, up) => {
    const g = geometry(svg);
    const group = element("g", { class: "axes" });
    group.append(element("rect", { x: g.left, y: g.top, width: g.width, height: g.height, class: "frame" }));
    for (const tick of ticks(g.x0, g.x1, 5)) {
      const x = toX(g, tick);
      group.append(element("line", { x1: x, y1: g.top + g.height, x2: x, y2: g.top + g.height + 5, class: "tick" }));
      group.append(element("text", { x, y: g.top + g.height + 18, "text-anchor": "middle" }, tickText(tick)));
    }
    for (const tick of ticks(g.y0, g.y1, 6)) {
      const y = toY(g, tick);
      group.append(element("line", { x1: g.left - 5, y1: y, x2: g.left, y2: y, class: "tick" }));
      group.append(element("text", { x: g.left - 8, y: y + 4, "text-anchor": "end" }, tickText(tick)));
    }
    const middle = g.top + g.height / 2;
    group.append(element("text", { x: g.left + g.width / 2, y: g.top + g.height + 34, "text-anchor": "middle" }, across));
    group.append(element("text", { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, up));
    return group;
  };

  // The part of a convex polygon where a x + b y is at most a number.
  const clipped = (shape, a, b, most) => {
    const excess = (point) => a * point[0] + b * point[1] - most;
    const cut = [];
    shape.forEach((point, index) => {
      const next = shape[(index + 1) % shape.length];
      const [here, there] = [excess(point), excess(next)];
      if (here <= 0) cut.push(point);
      if ((here < 0 && there > 0) || (here > 0 && there < 0)) {
        const t = here / (here - there);
        cut.push([point[0] + t * (next[0] - point[0]), point[1] + t * (next[1] - point[1])]);
      }
    });
    return cut;
  };

  // A part of a set over two axes, each `{ name }` or, for time, `{ seconds }`: polygons, and whether they are only its shadow.
  const partOf = (part, set, g, across, up) => {
    const shows = (name) => across.name === name || up.name === name;
    const whole = part.variables.every(shows);
    let frame = [[g.x0, g.y0], [g.x1, g.y0], [g.x1, g.y1], [g.x0, g.y1]];
    for (const [axis, a, b, width] of [[across, 1, 0, g.x1 - g.x0], [up, 0, 1, g.y1 - g.y0]]) {
      if (axis.seconds === undefined) continue;
      const from = set.from * axis.seconds;
      const until = set.until === null ? Infinity : set.until * axis.seconds;
      const air = Math.max(0, 0.004 * width - (until - from)) / 2;
      frame = clipped(frame, -a, -b, -(from - air));
      if (until < Infinity) frame = clipped(frame, a, b, until + air);
    }
    if (part.raster) {
      if (!whole) return null;
      const { lower, upper, squares, rows } = part.raster;
      const end = (axis, count) => Number(lower[axis]) + ((Number(upper[axis]) - Number(lower[axis])) * count) / squares;
      const found = [];
      rows.forEach((stretches, row) => stretches.forEach(([from, to]) => {
        let shape = frame;
        part.variables.forEach((name, axis) => {
          const [a, b] = across.name === name ? [1, 0] : [0, 1];
          const [least, most] = axis === 0 ? [end(0, from), end(0, to)] : [end(1, row), end(1, row + 1)];
          shape = clipped(clipped(shape, -a, -b, -least), a, b, most);
        });
        if (shape.length > 2) found.push(shape);
      }));
      return found.length ? { polygons: found, drawn: "area" } : null;
    }
    if (!whole && set.role === "unsafe") return null;
    const faces = (part.faces || []).filter((face) => Object.keys(face.linear).every(shows));
    if (!faces.length) return null;
    for (const face of faces) {
      const of = (axis) => (axis.name === undefined ? 0 : Number(face.linear[axis.name] ?? 0));
      frame = clipped(frame, of(across), across.name === up.name ? 0 : of(up), Number(face.at_most));
    }
    return frame.length > 2 ? { polygons: [frame], drawn: whole ? "area" : "shadow" } : null;
  };

  // Initial, unsafe and goal states over two axes: shapes to draw, and which sets are among them.
  const statesOver = (states, g, across, up) => {
    const [shapes, seen] = [[], new Set()];
    if (!states) return { shapes, seen };
    states.sets.forEach((set, index) => {
      const paths = { area: "", shadow: "" };
      for (const part of set.parts) {
        const own = partOf(part, set, g, across, up);
        for (const shape of own ? own.polygons : []) {
          paths[own.drawn] += shape.map(([a, b], n) => `${n ? "L" : "M"}${toX(g, a).toFixed(2)} ${toY(g, b).toFixed(2)}`).join("") + "z";
        }
      }
      for (const drawn of ["area", "shadow"]) {
        if (!paths[drawn]) continue;
        seen.add(`${index} ${drawn}`);
        const name = set.role === "unsafe" ? "danger" : drawn === "area" ? "goal" : "low";
        const made = element("path", { d: paths[drawn], class: name });
        made.append(element("title", {}, set.role === "unsafe" ? `unsafe: not (${set.condition})` : `goal: ${set.condition}`));
        shapes.push(made);
      }
    });
    const ends = (axis) => {
      if (axis.seconds !== undefined) return [0, 0];
      const own = states.initial && states.initial.ranges.find((range) => range.name === axis.name);
      return own ? [Number(own.lower), Number(own.upper)] : null;
    };
    const [wide, high] = [ends(across), ends(up)];
    if (states.initial && wide && high) {
      const inside = (value, low, top) => Math.max(low, Math.min(top, value));
      const [x, end] = wide.map((value) => toX(g, inside(value, g.x0, g.x1)));
      const [bottom, y] = high.map((value) => toY(g, inside(value, g.y0, g.y1)));
      shapes.push(element("rect", { x, y, width: Math.max(0.7, end - x), height: Math.max(0.7, bottom - y), class: "start" }));
    }
    return { shapes, seen };
  };

  const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

  // Plays a range input from where it stands; returns what stops and starts it.
  const player = (button, input, set) => {
    let timer = null;
    const stop = () => {
      clearInterval(timer);
      timer = null;
      button.textContent = "▶ play";
      button.setAttribute("aria-label", "play");
    };
    button.addEventListener("click", () => {
      if (timer !== null) return stop();
      const [low, high] = [Number(input.min), Number(input.max)];
      if (Number(input.value) >= high) set(low);
      // About ten seconds for long runs, at most five steps a second for short ones.
      const stride = Math.max(1, Math.round((high - low) / 300));
      const pause = Math.max(33, Math.min(still() ? 500 : 200, 10000 / (high - low + 1)));
      button.textContent = "⏸ pause";
      button.setAttribute("aria-label", "pause");
      timer = setInterval(() => {
        const next = Math.min(high, Number(input.value) + stride);
        set(next);
        if (next >= high) stop();
      }, pause);
    });
    return stop;
  };

  // A run.
  for (const run of all(document, ".run")) {
    const data = read(run.dataset.run);
    const steps = data.steps || null;
    const place = (step) => {
      if (!steps) return step;
      let best = 0;
      for (let i = 0; i < steps.length; i += 1) if (Math.abs(steps[i] - step) < Math.abs(steps[best] - step)) best = i;
      return best;
    };
    const stepAt = (index) => (steps ? steps[index] : index);
    const range = run.querySelector(".step");
    const overTime = run.querySelector(".over-time svg");
    const cursor = overTime && overTime.querySelector(".cursor");
    const portrait = run.querySelector(".portrait");
    const rows = new Map(all(run, "[data-step]").map((own) => [Number(own.dataset.step), own.closest("tr")]));
    let marked = null;
    let dot = null;

    const drawPortrait = () => {
      const svg = portrait.querySelector("svg");
      const x = data.columns[Number(portrait.querySelector("select.across").value)];
      const y = data.columns[Number(portrait.querySelector("select.up").value)];
      const old = geometry(svg);
      const share = data.states ? 0.15 : 0.05;
      const [x0, x1] = around(x.values, share);
      const [y0, y1] = around(y.values, share);
      svg.dataset.plot = [old.left, old.top, old.width, old.height, x0, x1, y0, y1].join(" ");
      svg.setAttribute("aria-label", `${y.name} against ${x.name}`);
      const g = geometry(svg);
      const at = (i) => `${toX(g, x.values[i]).toFixed(2)} ${toY(g, y.values[i]).toFixed(2)}`;
      const indices = x.values.map((_, i) => i).filter((i) => x.values[i] !== null && y.values[i] !== null);
      const path = (from) => indices.filter((i) => stepAt(i) >= from).map((i, n) => (n ? "L" : "M") + at(i)).join("");
      const beside = statesOver(data.states, g, { name: x.name }, { name: y.name }).shapes;
      svg.replaceChildren(...beside, frame(svg, x.name, y.name), element("path", { d: path(0), class: "series" }));
      if (data.loop !== null) svg.append(element("path", { d: `${path(data.loop)}L${at(place(data.loop))}`, class: "second" }));
      const mark = (i, r, name) => {
        if (!indices.includes(i)) return;
        const made = element("circle", { cx: toX(g, x.values[i]), cy: toY(g, y.values[i]), r, class: name });
        made.append(element("title", {}, `step ${stepAt(i)}: ${x.name} = ${short(x.values[i])}, ${y.name} = ${short(y.values[i])}`));
        svg.append(made);
      };
      if (indices.length <= 60) for (const i of indices) mark(i, 2.6, "mark");
      mark(0, 4.5, "first");
      const last = x.values.length - 1;
      if (data.last - data.first_offending > 60) { mark(place(data.first_offending), 4, "bad"); mark(last, 4, "bad"); }
      else for (let i = place(data.first_offending); i <= last; i += 1) mark(i, 4, "bad");
      dot = element("circle", { r: 5.5, class: "here" });
      svg.append(dot);
    };

    const set = (step) => {
      step = Math.max(0, Math.min(data.last, step));
      const index = place(step);
      range.value = step;
      run.querySelector(".at").textContent = `${step} of ${data.last}`;
      const numbers = data.columns.map((column) => `${column.name} = ${short(column.values[index])}`);
      const labels = data.labels.map((own) => `${own.name} = ${own.names[own.values[index]]}`);
      const shown = numbers.concat(labels);
      run.querySelector(".values").textContent =
        `step ${stepAt(index)}: ${shown.slice(0, 24).join(", ")}${shown.length > 24 ? ", …" : ""}`;
      if (cursor) {
        const x = toX(geometry(overTime), step);
        cursor.setAttribute("x1", x);
        cursor.setAttribute("x2", x);
      }
      if (dot) {
        const svg = portrait.querySelector("svg");
        const g = geometry(svg);
        const x = data.columns[Number(portrait.querySelector("select.across").value)].values[index];
        const y = data.columns[Number(portrait.querySelector("select.up").value)].values[index];
        dot.setAttribute("cx", toX(g, x));
        dot.setAttribute("cy", toY(g, y));
      }
      if (marked) marked.classList.remove("here");
      marked = rows.get(step) || null;
      if (marked) marked.classList.add("here");
    };

    if (portrait) {
      drawPortrait();
      for (const select of all(portrait, "select")) select.addEventListener("change", () => { drawPortrait(); set(Number(range.value)); });
    }
    const stop = player(run.querySelector(".play"), range, set);
    const onClick = (name, to) => run.querySelector(name).addEventListener("click", () => { stop(); set(to()); });
    onClick(".to-first", () => 0);
    onClick(".back", () => Number(range.value) - 1);
    onClick(".on", () => Number(range.value) + 1);
    onClick(".to-last", () => data.last);
    range.addEventListener("input", () => { stop(); set(Number(range.value)); });
    if (overTime) {
      overTime.addEventListener("pointermove", (event) => {
        const step = Math.round(pointed(overTime, event)[0]);
        if (step >= 0 && step <= data.last) { stop(); set(step); }
      });
    }
    set(data.last);
  }

  // Boxes with values.
  for (const figure of all(document, "figure.boxes")) {
    // Other values of the same boxes leave their places to the first figure.
    const own = read(figure.dataset.boxes);
    const data = own.of ? { ...read(own.of), ...own } : own;
    const svg = figure.querySelector("svg");
    const says = figure.querySelector(".pointed");
    const across = figure.querySelector("select.across");
    const up = figure.querySelector("select.up");
    const until = figure.querySelector(".until");
    const flat = data.names.length === 1;
    const axes = () => (across ? [Number(across.value), Number(up.value)] : [0, flat ? 0 : 1]);
    const shownUpTo = () => (until ? Number(until.value) : Infinity);
    const lower = (d, i) => (flat && d === 1 ? 0 : data.lower[axes()[d]][i]);
    const upper = (d, i) => (flat && d === 1 ? 1 : data.upper[axes()[d]][i]);

    const draw = () => {
      const g = geometry(svg);
      const limit = shownUpTo();
      const [x, y] = axes();
      const paths = new Map();
      for (let i = 0; i < data.values.length; i += 1) {
        if (data.steps && data.values[i] > limit) continue;
        const left = toX(g, data.lower[x][i]);
        const width = Math.max(0.3, toX(g, data.upper[x][i]) - left).toFixed(2);
        const top = flat ? g.top : toY(g, data.upper[y][i]);
        const height = flat ? g.height : Math.max(0.3, toY(g, data.lower[y][i]) - top).toFixed(2);
        const level = data.levels[i];
        if (!paths.has(level)) paths.set(level, []);
        paths.get(level).push(`M${left.toFixed(2)} ${top.toFixed(2)}h${width}v${height}h-${width}z`);
      }
      // What counts is on top: the largest value, or the smallest step.
      const levels = Array.from(paths.keys()).sort((a, b) => (data.steps ? b - a : a - b));
      const group = svg.querySelector(".parts");
      const outlined = group.querySelector("path")?.getAttribute("class") ?? "heat";
      group.replaceChildren(...levels.map((level) => element("path", { d: paths.get(level).join(""), class: outlined, fill: data.colours[level] })));
      const sets = svg.querySelector(".sets");
      if (sets) sets.replaceChildren(...statesOver(data.states, g, { name: data.names[x] }, { name: data.names[y] }).shapes);
    };
    const rescale = () => {
      const old = geometry(svg);
      const [x, y] = axes();
      const ends = (axis) => {
        const low = data.lower[axis].reduce((a, b) => Math.min(a, b), Infinity);
        const high = data.upper[axis].reduce((a, b) => Math.max(a, b), -Infinity);
        return low < high ? [low, high] : [low - 0.5, low + 0.5];
      };
      svg.dataset.plot = [old.left, old.top, old.width, old.height, ...ends(x), ...ends(y)].join(" ");
      svg.querySelector(".axes").replaceWith(frame(svg, data.names[x], data.names[y]));
      draw();
    };
    const cross = element("g", { class: "crosshair" });
    svg.append(cross);
    const pointAt = ([a, b]) => {
      const limit = shownUpTo();
      let found = -1;
      for (let i = data.values.length - 1; i >= 0 && found < 0; i -= 1) {
        if (data.steps && data.values[i] > limit) continue;
        if (lower(0, i) <= a && a <= upper(0, i) && lower(1, i) <= b && b <= upper(1, i)) found = i;
      }
      if (found < 0) {
        says.textContent = "nothing here";
        return;
      }
      const ends = data.names.map((name, d) => `${name} in [${short(data.lower[d][found])}, ${short(data.upper[d][found])}]`);
      const value = data.least ? `in [${short(data.least[found])}, ${short(data.values[found])}]` : short(data.values[found]);
      says.textContent = `${data.value} ${value}: ${ends.join(", ")}`;
      says.dataset.index = found;
    };
    const showCross = ([a, b]) => {
      const g = geometry(svg);
      const [x, y] = [toX(g, a), toY(g, b)];
      cross.replaceChildren(
        element("line", { x1: x, y1: g.top, x2: x, y2: g.top + g.height, class: "cross" }),
        element("line", { x1: g.left, y1: y, x2: g.left + g.width, y2: y, class: "cross" }),
      );
    };
    svg.addEventListener("pointermove", (event) => { cross.replaceChildren(); pointAt(pointed(svg, event)); });
    let spot = null;
    svg.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowDown: [0, -1], ArrowUp: [0, 1] }[event.key];
      if (!move) return;
      event.preventDefault();
      const g = geometry(svg);
      const share = event.shiftKey ? 0.1 : 0.02;
      if (!spot) spot = [(g.x0 + g.x1) / 2, (g.y0 + g.y1) / 2];
      spot = [
        Math.max(g.x0, Math.min(g.x1, spot[0] + move[0] * share * (g.x1 - g.x0))),
        Math.max(g.y0, Math.min(g.y1, spot[1] + move[1] * share * (g.y1 - g.y0))),
      ];
      showCross(spot);
      pointAt(spot);
    });
    for (const select of [across, up]) if (select) select.addEventListener("change", () => { spot = null; cross.replaceChildren(); rescale(); });
    if (until) {
      const set = (step) => {
        until.value = step;
        figure.querySelector(".at").textContent = step;
        draw();
      };
      const stop = player(figure.querySelector(".play"), until, set);
      until.addEventListener("input", () => { stop(); set(Number(until.value)); });
    }
  }

  // Flowpipes: boxes over time or over two variables, with sets of states and runs.
  for (const figure of all(document, "figure.flowpipe")) {
    const data = read(figure.dataset.flowpipe);
    const svg = figure.querySelector("svg");
    const says = figure.querySelector(".pointed");
    const [across, up] = ["across", "up"].map((name) => figure.querySelector(`select.${name}`));
    // The first axis is time, the others are elements of the state.
    const axis = (select) => {
      const place = Number(select.value) - 1;
      const name = data.names[place + 1];
      if (place < 0) {
        const times = (values) => values.map((value) => value * data.seconds);
        return { label: name, seconds: data.seconds, lower: times(data.from), upper: times(data.to), at: (_, step) => step * data.seconds };
      }
      return { label: name, name, lower: data.lower[place], upper: data.upper[place], at: (state) => state[place] };
    };
    const ends = (own) => {
      const low = own.lower.reduce((a, b) => Math.min(a, b), Infinity);
      const high = own.upper.reduce((a, b) => Math.max(a, b), -Infinity);
      return low < high ? [low - (high - low) / 50, high + (high - low) / 50] : around([low]);
    };
    let [x, y] = [axis(across), axis(up)];
    const draw = () => {
      [x, y] = [axis(across), axis(up)];
      const old = geometry(svg);
      svg.dataset.plot = [old.left, old.top, old.width, old.height, ...ends(x), ...ends(y)].join(" ");
      svg.setAttribute("aria-label", `${y.label} against ${x.label}`);
      const g = geometry(svg);
      const paths = data.colours.map(() => "");
      data.levels.forEach((level, i) => {
        const widened = (from, to, own) => {
          const more = Math.max(0, (own.seconds === undefined ? 0.7 : data.thinnest) - (to - from));
          return [(from - more / 2).toFixed(2), (to - from + more).toFixed(2)];
        };
        const [left, width] = widened(toX(g, x.lower[i]), toX(g, x.upper[i]), x);
        const [top, height] = widened(toY(g, y.upper[i]), toY(g, y.lower[i]), y);
        paths[level] += `M${left} ${top}h${width}v${height}h-${width}z`;
      });
      const boxes = paths.map((d, level) => element("path", { d, class: "heat", fill: data.colours[level] }));
      svg.querySelector(".parts").replaceChildren(...boxes);
      const { shapes, seen } = statesOver(data.states, g, x, y);
      svg.querySelector(".sets").replaceChildren(...shapes.filter((own) => !own.classList.contains("start")));
      svg.querySelector(".initial").replaceChildren(...shapes.filter((own) => own.classList.contains("start")));
      const line = (run) =>
        run.map((state, n) => `${n ? "L" : "M"}${toX(g, x.at(state, n)).toFixed(2)} ${toY(g, y.at(state, n)).toFixed(2)}`).join("");
      svg.querySelector(".runs").replaceChildren(...data.runs.map((run) => element("path", { d: line(run), class: "run" })));
      svg.querySelector(".axes").replaceWith(frame(svg, x.label, y.label));
      for (const own of all(figure, "[data-set]")) own.hidden = !seen.has(`${own.dataset.set} ${own.dataset.drawn}`);
    };
    for (const select of [across, up]) select.addEventListener("change", draw);
    svg.addEventListener("pointermove", (event) => {
      const [a, b] = pointed(svg, event);
      let found = -1;
      for (let i = data.levels.length - 1; i >= 0 && found < 0; i -= 1) {
        if (x.lower[i] <= a && a <= x.upper[i] && y.lower[i] <= b && b <= y.upper[i]) found = i;
      }
      if (found < 0) {
        says.textContent = "nothing here";
        return;
      }
      const [from, to] = [data.from[found], data.to[found]];
      const ranges = data.axes.map((name, d) => `${name} in [${short(data.lower[d][found])}, ${short(data.upper[d][found])}]`);
      says.textContent = `${from === to ? `step ${short(from)}` : `steps ${short(from)} to ${short(to)}`}: ${ranges.join(", ")}`;
    });
  }

  // Pictures of which one is chosen.
  for (const figure of all(document, "figure.variants")) {
    const select = figure.querySelector("select.variant");
    if (!select) continue;
    select.addEventListener("change", () => {
      all(figure, "div.variant").forEach((own, index) => { own.hidden = index !== Number(select.value); });
    });
  }
})();
