"""Time against size, as SVG: one panel for each series. Standard library only."""

import math
import statistics

COLOURS = ["#b5482a", "#2a6fb5", "#3d8b40", "#8a4fa0"]
DECIDED = ("sat", "unsat", "holds", "violated")


def slope(xs, ys):
    """The slope of the line through some points by least squares."""
    x, y = statistics.fmean(xs), statistics.fmean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def fit(points, start):
    """Slope of log(seconds beyond the start) over log(size), and the factor per unit of size, by least squares."""
    usable = [(size, seconds - start) for size, seconds in points if seconds > 1.2 * start]
    if len(usable) < 3:
        return math.nan, math.nan
    sizes, logs = [size for size, _ in usable], [math.log(seconds) for _, seconds in usable]
    return slope([math.log(size) for size in sizes], logs), math.exp(slope(sizes, logs))


def panel(series, points, left, width, limits, note, title, colour, linear):
    """One plot: seconds over size, both in powers of ten, a dot per measurement, a line through the medians."""
    top, height, (low, high) = 46, 236, limits
    sizes = sorted(size for size, _ in points)
    scale = (lambda v: v) if linear else math.log10
    first, last = scale(sizes[0]), scale(sizes[-1])
    across = lambda size: left + 8 + (width - 16) * (scale(size) - first) / ((last - first) or 1)
    down = lambda seconds: top + height * (1 - (math.log10(seconds) - low) / (high - low))
    out = [f'<text x="{left}" y="22" class="title">{title}</text>', f'<text x="{left}" y="38" class="note">{note}</text>']
    for power in range(low, high + 1):
        y = down(10.0**power)
        label = f"{10**power} s" if power >= 0 else f"{10.0**power:.{-power}f} s"
        out.append(f'<line x1="{left}" y1="{y:.1f}" x2="{left + width}" y2="{y:.1f}" class="grid"/>')
        out.append(f'<text x="{left - 6}" y="{y + 4:.1f}" class="tick" text-anchor="end">{label}</text>')
    for size in sizes:
        out.append(f'<text x="{across(size):.1f}" y="{top + height + 16}" class="tick" text-anchor="middle">{size}</text>')
    line = []
    for size, rows in points:
        middle = statistics.median(seconds for _, seconds in rows)
        line.append(f"{across(size):.1f},{down(middle):.1f}")
        for verdict, seconds in rows:
            fill = colour if verdict in DECIDED else "none"
            out.append(f'<circle cx="{across(size):.1f}" cy="{down(seconds):.1f}" r="3.2" fill="{fill}" stroke="{colour}"/>')
    out.append(f'<polyline points="{" ".join(line)}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    return out


def draw(results, notes, path, titles, heading, footer, linear=()):
    """Writes the panels of some series of (size, [(verdict, seconds)]) beside each other."""
    times = [seconds for points in results.values() for _, rows in points for _, seconds in rows]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    limits = low, max(high, low + 1)
    width, gap, margin_left = 270, 64, 60
    total = margin_left + len(results) * (width + gap) - gap + 20
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} 330" width="{total}" height="330" role="img">',
             f"<title>{heading}</title>",
             "<style>text{font-family:sans-serif;fill:#333}.title{font-size:14px;font-weight:bold}.note,.tick{font-size:11px}"
             ".grid{stroke:#ddd}</style>",
             f'<rect width="{total}" height="330" fill="#fff"/>']
    for number, (series, points) in enumerate(results.items()):
        left, colour = margin_left + number * (width + gap), COLOURS[number % len(COLOURS)]
        parts += panel(series, points, left, width, limits, notes[series], titles[series], colour, series in linear)
    parts += [f'<text x="{margin_left}" y="322" class="note">{footer}</text>', "</svg>"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(parts) + "\n")
