"""Tables for people (Markdown, ready for the README) and the same for machines."""


def verdicts(result):
    """Each requirement that could be measured: (requirement, figure, kept)."""
    for requirement in result.work.requirements:
        for series in result.series:
            if series.contender.label != requirement.label:
                continue
            figure = {"value": series.value, "ratio": result.ratio(series, requirement.against),
                      "cpu_ratio": result.cpu_ratio(series),
                      "cpu_added": result.cpu_added(series, requirement.against) * 1e6}[requirement.figure]
            kept = ((requirement.at_least is None or figure >= requirement.at_least)
                    and (requirement.at_most is None or figure <= requirement.at_most))
            yield requirement, figure, kept


def bound(requirement):
    if requirement.at_least is not None:
        return f"at least {requirement.at_least:g}"
    return f"at most {requirement.at_most:g}"


def described(requirement, result):
    name = {"value": result.work.unit, "ratio": "× C", "cpu_ratio": "× C's CPU",
            "cpu_added": "µs of CPU added"}[requirement.figure]
    if requirement.against and requirement.figure == "ratio":
        name = f"× {requirement.against}"
    return f"{bound(requirement)} {name}"


def cpu(series, result=None):
    """Of a GB where bytes are what is moved, else of a request, and what that is more than the limit's."""
    if series.is_per_byte:
        return f"{series.cpu_each * 1e9:.2f} s/GB"
    text = f"{series.cpu_each * 1e6:.1f} µs"
    if result is None or series is result.limit or result.work.unit != "µs each":
        return text
    return f"{text} ({result.cpu_added(series) * 1e6:+.1f})"


def missed(result):
    return [f"{result.work.name}: {requirement.label} {figure:.3g}, wanted {described(requirement, result)}"
            for requirement, figure, kept in verdicts(result) if not kept]


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def table(result):
    work = result.work
    rows = [("", work.unit, "lowest–highest", "× C", "CPU", "CPU × C", "peak MiB", "switches",
             "must reach")]
    for series in result.series:
        own = [(described(requirement, result), kept) for requirement, _, kept in verdicts(result)
               if requirement.label == series.contender.label]
        must = ", ".join(text + ("" if kept else " (missed)") for text, kept in own)
        rows.append((
            series.contender.label + (" *" if series is result.limit else ""), number(series.value),
            f"{number(min(series.values))}–{number(max(series.values))}", f"{result.ratio(series):.2f}",
            cpu(series, result), f"{result.cpu_ratio(series):.2f}", f"{series.peak_mib:.1f}",
            number(series.switches), must))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    note = f"not built: {', '.join(result.absent)}\n" if result.absent else ""
    return f"### {work.title}\n" + "\n".join(lines) + f"\n{note}"


def as_json(result):
    return {
        "name": result.work.name, "title": result.work.title, "unit": result.work.unit,
        "limit": result.limit.contender.label, "missed": missed(result), "not_built": result.absent,
        "contenders": [{
            "label": series.contender.label, "median": series.value, "ratio": result.ratio(series),
            "cpu_ratio": result.cpu_ratio(series), "cpu": cpu(series),
            "cpu_added_us": result.cpu_added(series) * 1e6, "peak_mib": series.peak_mib,
            "switches": series.switches, "values": series.values,
            "lines": series.lines,
        } for series in result.series],
    }
