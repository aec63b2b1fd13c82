//! Pictures as SVG: boxes in groups, arrows between them, and a legend.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use groundstate_common::{one_line, push_escaped};

use super::layout::{Input, Line, Places, lay_out};
use super::{Arrow, NodeStyle, Shape};

/// Around everything.
const MARGIN: f64 = 32.0;
/// The widths of a letter, of which all are equally wide, and of one in words.
const LETTER: f64 = 7.4;
const SMALL: f64 = 6.5;
/// Letters of a name that are shown; the whole one is in the title.
const SHOWN: usize = 38;
/// The mark at the left of a box.
const MARK: f64 = 22.0;

/// What a picture shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The boxes.
    pub figures: Vec<Figure>,
    /// The names of groups, and the group that each lies in, which comes before it.
    pub groups: Vec<Frame>,
    /// Between figures; behind them come points without a name, where many arrows meet.
    pub arrows: Vec<Arrow>,
    /// How many of those points there are.
    pub points: usize,
    /// What lines mean, a sentence each.
    pub notes: Vec<String>,
}

/// The name of a group, and the group that it lies in, which comes before it.
pub type Frame = (String, Option<usize>);

/// A box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Everything about it, line by line, shown where the pointer rests.
    pub title: Vec<String>,
    /// What kind of thing it is: the small line above.
    pub kind: String,
    /// What the thing is called: the large line.
    pub name: String,
    /// How many things it stands for.
    pub count: usize,
    /// What is special about it: a small line below.
    pub remark: Option<String>,
    /// What happens, in words of the legend.
    pub action: String,
    /// Its colours.
    pub style: NodeStyle,
    /// Its outline.
    pub shape: Shape,
    /// The group it lies in.
    pub group: Option<usize>,
}

impl Figure {
    /// A thing that exists, or that is named and missing, with its whole name as the title.
    #[must_use]
    pub fn existing(title: &str, (kind, name): (&str, &str), is_missing: bool) -> Self {
        let (class, fill, line, action) = match is_missing {
            true => ("missing", "#ffebe9", "#cf222e", "missing"),
            false => ("resource", "#ffffff", "#818b98", ""),
        };
        Self {
            title: vec![title.to_owned()],
            kind: kind.to_owned(),
            name: name.to_owned(),
            count: 1,
            remark: None,
            action: action.to_owned(),
            style: NodeStyle { class, fill, line, dashed: is_missing },
            shape: Shape::Rounded,
            group: None,
        }
    }

    fn label(&self) -> String {
        let name = shortened(&self.name);
        if self.count > 1 { format!("{name} ×{}", self.count) } else { name }
    }

    fn size(&self) -> (f64, f64) {
        let small = [Some(&self.kind), self.remark.as_ref()].into_iter().flatten();
        let small = small.map(|text| cells(&shortened(text)) * SMALL).fold(0.0, f64::max);
        let width = (cells(&self.label()) * LETTER).max(small) + 24.0;
        let lines = [!self.kind.is_empty(), self.remark.is_some()].into_iter().filter(|line| *line).count();
        let mark = if mark(self.style.class).is_some() { MARK } else { 0.0 };
        (width.max(56.0) + mark, 28.0 + 14.0 * lines as f64)
    }
}

/// The sign in front of a kind of operation, as plans have them.
fn mark(class: &str) -> Option<&'static str> {
    Some(match class {
        "create" => "+",
        "update" => "~",
        "replace" => "±",
        "destroy" | "deposed" | "old" => "−",
        "read" => "≤",
        "forget" => "·",
        "protected" | "blocked" | "missing" => "!",
        _ => return None,
    })
}

impl Picture {
    /// The picture as SVG text, the same for the same picture. It is light or dark as the reader's system is, and light where
    /// that is not known.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let mut sizes: Vec<(f64, f64)> = self.figures.iter().map(Figure::size).collect();
        sizes.resize(self.figures.len() + self.points, (10.0, 10.0));
        let mut group_of: Vec<Option<usize>> = self.figures.iter().map(|figure| figure.group).collect();
        group_of.resize(sizes.len(), None);
        let groups: Vec<(Option<usize>, f64)> =
            self.groups.iter().map(|(name, outer)| (*outer, cells(&shortened(name)) * SMALL)).collect();
        let arrows: Vec<(usize, usize, usize)> = self.arrows.iter().map(ends).collect();
        let places = lay_out(&Input { nodes: &sizes, group_of: &group_of, groups: &groups, arrows: &arrows });
        let mut body = String::new();
        self.draw_groups(&mut body, &places);
        for line in &places.lines {
            self.draw_line(&mut body, line);
        }
        self.draw_group_names(&mut body, &places);
        for ((figure, size), at) in self.figures.iter().zip(&sizes).zip(&places.nodes) {
            draw_figure(&mut body, figure, *size, *at);
        }
        for (x, y) in places.nodes.iter().skip(self.figures.len()) {
            let _ = writeln!(
                body,
                "<circle class=\"point\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\"/>",
                x + 5.0,
                y + 5.0
            );
        }
        let (width, height) = self.draw_legend(&mut body, &places);
        let (width, height) = (width + 2.0 * MARGIN, height + 2.0 * MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"{m:.0} {m:.0} {width:.0} {height:.0}\">\n<style>\n{}</style>\n\
             <rect class=\"page\" x=\"{m:.0}\" y=\"{m:.0}\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n{body}</svg>\n",
            self.colours(),
            m = -MARGIN,
        )
    }

    /// The style sheet. Renderers that know no media queries take what stands before them.
    fn colours(&self) -> String {
        let styles: BTreeMap<&str, NodeStyle> =
            self.figures.iter().map(|figure| (figure.style.class, figure.style)).collect();
        let mut light = String::from(
            "text { font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1f2328 }\n\
             .name { font-size: 12px } .kind, .group-name, .note { font-size: 10.5px; fill: #59636e }\n\
             .mark { font-size: 14px; font-weight: bold; fill: #ffffff; text-anchor: middle }\n\
             .page { fill: #ffffff } .point { fill: #59636e }\n\
             .group { fill: #818b98; fill-opacity: 0.09; stroke: #d1d9e0 } .under { fill: #f6f8fa }\n\
             .line { fill: none; stroke: #818b98; stroke-width: 1.2 } .head { fill: #818b98 }\n\
             .dashed { stroke-dasharray: 5 4 } .cycle { stroke: #cf222e; stroke-width: 2 } .cycle-head { fill: #cf222e }\n\
             .box { stroke-width: 1.2 }\n",
        );
        let mut dark = String::from(
            "@media (prefers-color-scheme: dark) {\n\
             text { fill: #f0f6fc } .kind, .group-name, .note { fill: #9198a1 } .mark { fill: #0d1117 }\n\
             .page { fill: #0d1117 } .point { fill: #9198a1 } .group { stroke: #3d444d } .under { fill: #161b22 }\n\
             .line { stroke: #6e7681 } .head { fill: #6e7681 } .cycle { stroke: #f85149 } .cycle-head { fill: #f85149 }\n",
        );
        for (class, style) in styles {
            let (fill, line) = in_the_dark(style.line);
            let dashes = if style.dashed { "; stroke-dasharray: 4 3" } else { "" };
            let _ = writeln!(
                light,
                ".b-{class} {{ fill: {}; stroke: {}{dashes} }} .m-{class} {{ fill: {} }}",
                style.fill, style.line, style.line
            );
            let _ =
                writeln!(dark, ".b-{class} {{ fill: {fill}; stroke: {line} }} .m-{class} {{ fill: {line} }}");
        }
        light + &dark + "}\n"
    }

    fn draw_groups(&self, out: &mut String, places: &Places) {
        for ((name, _), (x, y, width, height)) in self.groups.iter().zip(&places.groups) {
            let _ = writeln!(
                out,
                "<rect class=\"group\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"8\"><title>{}</title></rect>",
                escaped(name)
            );
        }
    }

    /// Names lie over lines, so that they can be read where one enters the group.
    fn draw_group_names(&self, out: &mut String, places: &Places) {
        for ((name, _), (x, y, ..)) in self.groups.iter().zip(&places.groups) {
            let name = shortened(name);
            let width = cells(&name) * SMALL + 10.0;
            let _ = writeln!(
                out,
                "<rect class=\"under\" x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"16\" rx=\"4\"/><text class=\"group-name\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 7.0,
                y + 5.0,
                x + 12.0,
                y + 17.0,
                escaped(&name)
            );
        }
    }

    fn draw_line(&self, out: &mut String, line: &Line) {
        let arrow = self.arrows[line.arrow];
        let dashed = if arrow.dashed { " dashed" } else { "" };
        let (cycle, head_class) = if arrow.on_cycle { (" cycle", "cycle-head") } else { ("", "head") };
        let ((x1, y1), (x2, end)) = (line.from, line.to);
        // The head covers the end of the line.
        let y2 = if line.head { end - 6.0 } else { end };
        let way = match line.aside {
            Some(x) => format!(
                "M{x1:.1} {y1:.1}C{x1:.1} {:.1} {x:.1} {:.1} {x:.1} {y1:.1}L{x:.1} {y2:.1}C{x:.1} {:.1} {x2:.1} {:.1} {x2:.1} {y2:.1}",
                y1 + 26.0,
                y1 + 26.0,
                y2 - 26.0,
                y2 - 26.0
            ),
            None if (x1 - x2).abs() < 0.5 => format!("M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}"),
            None => {
                let middle = f64::midpoint(y1, y2);
                format!("M{x1:.1} {y1:.1}C{x1:.1} {middle:.1} {x2:.1} {middle:.1} {x2:.1} {y2:.1}")
            }
        };
        let _ = writeln!(out, "<path class=\"line{dashed}{cycle}\" d=\"{way}\"/>");
        if line.head {
            let _ = writeln!(
                out,
                "<path class=\"{head_class}\" d=\"M{:.1} {:.1}h8l-4 8z\"/>",
                x2 - 4.0,
                end - 8.0
            );
        }
    }

    /// What marks, colours and lines mean, below the picture. Gives the size of the whole.
    fn draw_legend(&self, out: &mut String, places: &Places) -> (f64, f64) {
        let mut kinds: Vec<(&str, &str)> = Vec::new();
        for figure in self.figures.iter().filter(|figure| !figure.action.is_empty()) {
            let class = figure.style.class;
            if kinds.iter().all(|(known, _)| *known != class) {
                kinds.push((class, &figure.action));
            }
        }
        kinds.sort_unstable();
        let limit = places.width.max(480.0);
        let (mut x, mut y, mut width) = (0.0, places.height + 30.0, places.width);
        for (class, action) in kinds {
            let wide = 26.0 + cells(action) * SMALL + 24.0;
            if x > 0.0 && x + wide > limit {
                (x, y) = (0.0, y + 24.0);
            }
            let _ = writeln!(
                out,
                "<rect class=\"box b-{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"18\" height=\"16\" rx=\"4\"/>"
            );
            if let Some(mark) = mark(class) {
                let _ = writeln!(
                    out,
                    "<text class=\"kind\" x=\"{:.1}\" y=\"{:.1}\">{mark}</text>",
                    x + 6.0,
                    y + 12.0
                );
            }
            let _ = writeln!(
                out,
                "<text class=\"note\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + 26.0,
                y + 12.0,
                escaped(action)
            );
            x += wide;
            width = width.max(x);
        }
        for note in &self.notes {
            (x, y) = (0.0, if x > 0.0 { y + 26.0 } else { y + 18.0 });
            let _ =
                writeln!(out, "<text class=\"note\" x=\"0\" y=\"{:.1}\">{}</text>", y + 10.0, escaped(note));
            width = width.max(cells(note) * SMALL);
        }
        (width, y + 18.0)
    }
}

fn ends(arrow: &Arrow) -> (usize, usize, usize) {
    let kind = usize::from(arrow.dashed) + 2 * usize::from(arrow.on_cycle);
    (arrow.first as usize, arrow.then as usize, kind)
}

fn draw_figure(out: &mut String, figure: &Figure, (width, height): (f64, f64), (x, y): (f64, f64)) {
    let class = figure.style.class;
    let radius = if figure.shape == Shape::Hexagon { height / 2.0 } else { 6.0 };
    // Each line by itself, so that no name makes lines of its own.
    let title: Vec<String> = figure.title.iter().map(|line| escaped(line)).collect();
    let _ = writeln!(out, "<g><title>{}</title>", title.join("\n"));
    let _ = writeln!(
        out,
        "<rect class=\"box b-{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{radius:.1}\"/>"
    );
    let mut left = x + 12.0;
    if let Some(mark) = mark(class) {
        let _ = writeln!(
            out,
            "<path class=\"m-{class}\" d=\"M{:.1} {y:.1}h-16a6 6 0 0 0 -6 6v{:.1}a6 6 0 0 0 6 6h16z\"/><text class=\"mark\" x=\"{:.1}\" y=\"{:.1}\">{mark}</text>",
            x + MARK,
            height - 12.0,
            x + MARK / 2.0,
            y + height / 2.0 + 5.0
        );
        left += MARK - 2.0;
    }
    let mut base = y + 18.0;
    let mut line = |class: &str, text: &str, step: f64| {
        let _ =
            writeln!(out, "<text class=\"{class}\" x=\"{left:.1}\" y=\"{base:.1}\">{}</text>", escaped(text));
        base += step;
    };
    if !figure.kind.is_empty() {
        line("kind", &shortened(&figure.kind), 15.0);
    }
    line("name", &figure.label(), 13.0);
    if let Some(remark) = &figure.remark {
        line("kind", &shortened(remark), 13.0);
    }
    out.push_str("</g>\n");
}

/// Inside and outline of a box in the dark, for the colour that its outline has in the light.
fn in_the_dark(line: &str) -> (&'static str, &'static str) {
    match line {
        "#1a7f37" => ("#12261e", "#3fb950"),
        "#0969da" => ("#121d2f", "#4493f8"),
        "#9a6700" => ("#272115", "#d29922"),
        "#8250df" => ("#1e1633", "#ab7df8"),
        "#cf222e" => ("#25171c", "#f85149"),
        _ => ("#151b23", "#9198a1"),
    }
}

/// How many letters wide a text is; those of Asian scripts and pictures are two.
fn cells(text: &str) -> f64 {
    text.chars()
        .map(|c| if c < '\u{1100}' || ('\u{2010}'..'\u{2800}').contains(&c) { 1.0 } else { 2.0 })
        .sum()
}

/// The text on one line, without its middle if it is long.
fn shortened(text: &str) -> String {
    let text = one_line(text);
    let count = text.chars().count();
    if count <= SHOWN {
        return text.into();
    }
    let half = (SHOWN - 1) / 2;
    let (head, tail): (String, String) =
        (text.chars().take(half).collect(), text.chars().skip(count - half).collect());
    format!("{head}…{tail}")
}

/// Text for XML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // XML has no form for these.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => push_escaped(&mut out, c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{cells, escaped, shortened};

    #[test]
    fn what_xml_has_no_form_for_is_replaced() {
        assert_eq!(escaped("a[\"<&>\"] é\u{1f600}"), "a[\"&lt;&amp;&gt;\"] é\u{1f600}");
        assert_eq!(escaped("\u{1}\u{ffff}\u{fffe}\n"), "\\u0001\u{fffd}\u{fffd}\\n");
    }

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(shortened("web"), "web");
        let long = shortened(&format!("begin{}end", "x".repeat(100)));
        assert!(long.starts_with("begin") && long.ends_with("end") && cells(&long) < 39.0, "{long}");
        assert!(cells("日本") > 3.0);
    }
}
