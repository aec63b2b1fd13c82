//! Pictures of graphs: another crate finds places for nodes and arrows, this draws them.

use std::fmt::Write as _;
use std::panic;
use std::thread;

use groundstate_common::push_escaped;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use layout::gv::{DotParser, GraphBuilder};

use crate::report::error::{Failure, Kind, Result};

/// Larger graphs are no pictures any more, and take minutes.
const MOST: Size = Size { nodes: 300, edges: 1200 };
/// Up to this size places are improved, until which a larger one takes minutes too.
const IMPROVED: Size = Size { nodes: 60, edges: 200 };
/// Finding places goes through chains of nodes by recursion.
const STACK: usize = 256 << 20;
/// Between the lines of a label, in parts of the size of its letters.
const LEADING: f64 = 1.25;
/// Around everything.
const MARGIN: f64 = 12.0;

/// How large a graph is.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) nodes: usize,
    pub(crate) edges: usize,
}

impl Size {
    fn is_within(self, other: Self) -> bool {
        self.nodes <= other.nodes && self.edges <= other.edges
    }
}

/// The picture of a graph in DOT without groups.
pub(crate) fn draw(dot: &str, size: Size) -> Result<String> {
    if !size.is_within(MOST) {
        let Size { nodes, edges } = size;
        let message = format!(
            "a picture of {nodes} nodes and {edges} edges cannot be read, {} and {} are the most",
            MOST.nodes, MOST.edges
        );
        return Err(Failure::new(Kind::Usage, message)
            .hint("draw a part with `--target`, or take `--format dot` to a program for large graphs"));
    }
    let dot = dot.to_owned();
    // Whatever the other crate stumbles over is our failure to draw, not the end of the process.
    let quiet = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let drawn = thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || layout_and_draw(&dot, size.is_within(IMPROVED)));
    let drawn = drawn.ok().and_then(|thread| thread.join().ok()).flatten();
    panic::set_hook(quiet);
    drawn.ok_or_else(|| {
        Failure::new(Kind::Usage, "the graph cannot be drawn as a picture")
            .hint("`--format dot` and `--format mermaid` are drawn by other programs")
    })
}

fn layout_and_draw(dot: &str, improve: bool) -> Option<String> {
    let graph = DotParser::new(dot).process().ok()?;
    let mut builder = GraphBuilder::new();
    builder.visit_graph(&graph);
    let mut canvas = Canvas::default();
    builder.get().do_it(false, !improve, false, &mut canvas);
    Some(canvas.finish())
}

/// What has been drawn.
#[derive(Default)]
struct Canvas {
    arrows: String,
    boxes: String,
    width: f64,
    height: f64,
}

impl Canvas {
    fn include(&mut self, point: Point) {
        self.width = self.width.max(point.x);
        self.height = self.height.max(point.y);
    }

    /// Boxes lie over arrows, so that no line runs through a label.
    fn finish(self) -> String {
        let (width, height) = (self.width + 2.0 * MARGIN, self.height + 2.0 * MARGIN);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             viewBox=\"{m:.0} {m:.0} {width:.0} {height:.0}\">\n\
             <defs><marker id=\"end\" viewBox=\"0 0 10 8\" refX=\"10\" refY=\"4\" markerWidth=\"8\" markerHeight=\"7\" \
             orient=\"auto\"><path d=\"M0 0 10 4 0 8z\" fill=\"context-stroke\"/></marker></defs>\n\
             <style>text {{ font-family: system-ui, 'Segoe UI', Helvetica, Arial, 'DejaVu Sans', sans-serif; fill: #24292f; \
             text-anchor: middle; dominant-baseline: central }}</style>\n\
             <rect x=\"{m:.0}\" y=\"{m:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#ffffff\"/>\n{}{}</svg>\n",
            self.arrows,
            self.boxes,
            m = -MARGIN,
        )
    }
}

// Writing into a string does not fail.
impl RenderBackend for Canvas {
    fn draw_rect(
        &mut self,
        at: Point,
        size: Point,
        look: &StyleAttr,
        _: Option<String>,
        _: Option<ClipHandle>,
    ) {
        self.include(at.add(size));
        let fill = look.fill_color.map_or_else(|| "none".to_owned(), |colour| colour.to_web_color());
        let _ = writeln!(
            self.boxes,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"5\" fill=\"{fill}\" stroke=\"{}\" \
             stroke-width=\"{}\"/>",
            at.x,
            at.y,
            size.x,
            size.y,
            look.line_color.to_web_color(),
            look.line_width,
        );
    }

    fn draw_line(&mut self, start: Point, stop: Point, look: &StyleAttr, _: Option<String>) {
        let _ = writeln!(
            self.boxes,
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{}\"/>",
            start.x,
            start.y,
            stop.x,
            stop.y,
            look.line_color.to_web_color(),
        );
    }

    fn draw_circle(&mut self, centre: Point, size: Point, look: &StyleAttr, _: Option<String>) {
        self.include(centre.add(size));
        let fill = look.fill_color.map_or_else(|| "none".to_owned(), |colour| colour.to_web_color());
        let _ = writeln!(
            self.boxes,
            "<ellipse cx=\"{:.1}\" cy=\"{:.1}\" rx=\"{:.1}\" ry=\"{:.1}\" fill=\"{fill}\" stroke=\"{}\"/>",
            centre.x,
            centre.y,
            size.x / 2.0,
            size.y / 2.0,
            look.line_color.to_web_color(),
        );
    }

    fn draw_text(&mut self, centre: Point, text: &str, look: &StyleAttr) {
        let size = look.font_size as f64;
        let lines: Vec<&str> = text.lines().collect();
        let first = centre.y - (lines.len().saturating_sub(1)) as f64 / 2.0 * size * LEADING;
        for (at, line) in lines.into_iter().enumerate() {
            let y = first + at as f64 * size * LEADING;
            let _ = writeln!(
                self.boxes,
                "<text x=\"{:.1}\" y=\"{y:.1}\" font-size=\"{size}\">{}</text>",
                centre.x,
                escaped(line)
            );
        }
    }

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        dashed: bool,
        head: (bool, bool),
        look: &StyleAttr,
        _: Option<String>,
        text: &str,
    ) {
        let [(start, leave), (enter, first), rest @ ..] = path else { return };
        let mut line = format!(
            "M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}",
            start.x, start.y, leave.x, leave.y, enter.x, enter.y, first.x, first.y
        );
        for (enter, point) in rest {
            let _ = write!(line, "S{:.1} {:.1} {:.1} {:.1}", enter.x, enter.y, point.x, point.y);
        }
        for (_, point) in path.iter().skip(1) {
            self.include(*point);
        }
        let dash = if dashed { " stroke-dasharray=\"5 4\"" } else { "" };
        let end = if head.1 { " marker-end=\"url(#end)\"" } else { "" };
        let _ = writeln!(
            self.arrows,
            "<path d=\"{line}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash}{end}/>",
            look.line_color.to_web_color(),
            look.line_width,
        );
        if let (false, Some((_, middle))) = (text.is_empty(), path.get(path.len() / 2)) {
            self.draw_text(*middle, text, look);
        }
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        // Only tables inside of nodes are clipped, of which there are none.
        0
    }
}

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
    use super::escaped;

    #[test]
    fn what_xml_has_no_form_for_is_replaced() {
        assert_eq!(escaped("a[\"<&>\"] é\u{1f600}"), "a[\"&lt;&amp;&gt;\"] é\u{1f600}");
        assert_eq!(escaped("\u{1}\u{ffff}\u{fffe}\n"), "\\u0001\u{fffd}\u{fffd}\\n");
    }
}
