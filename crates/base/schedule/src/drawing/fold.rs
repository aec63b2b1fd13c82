//! Groups that differ in nothing but their keys, such as instances of one module: one frame with their number.

use std::collections::BTreeMap;

use super::svg::Frame;
use super::{Drawing, Node, Shape};

/// The frames of a picture.
#[derive(Debug)]
pub(super) struct Frames {
    pub(super) frames: Vec<Frame>,
    /// How many groups each of them stands for.
    counts: Vec<usize>,
    /// The frame that each node lies in.
    pub(super) of_node: Vec<Option<usize>>,
}

/// What a group holds, as far as its instances have it in common: its nodes, and the groups in it by their names and contents.
type Content<'a> = (Vec<(&'a str, &'a str, &'a str, &'a str, bool)>, Vec<(&'a str, usize)>);

impl Frames {
    /// How many groups the frame of a node stands for; one where it lies in no frame.
    pub(super) fn groups_of(&self, node: usize) -> usize {
        self.of_node[node].map_or(1, |frame| self.counts[frame])
    }
}

impl Drawing {
    /// A frame for each group.
    pub(super) fn frames(&self) -> Frames {
        let mut frames = Vec::new();
        let mut of_node = vec![None; self.nodes.len()];
        let mut open: Vec<usize> = Vec::new();
        for group in &self.groups {
            open.truncate(group.depth.saturating_sub(1));
            if group.depth > 0 {
                frames.push((group.name.clone(), open.last().copied()));
                open.push(frames.len() - 1);
            }
            for &node in &group.nodes {
                of_node[node] = open.last().copied().filter(|_| group.depth > 0);
            }
        }
        Frames { counts: vec![1; frames.len()], frames, of_node }
    }

    /// One frame for all groups that lie in the same one and differ in their keys only.
    pub(super) fn folded(&self, plain: &Frames) -> Frames {
        let names: Vec<&str> = (0..plain.frames.len()).map(|group| relative(&plain.frames, group)).collect();
        let contents = self.contents(plain, &names);
        let mut folded = Frames { frames: Vec::new(), counts: Vec::new(), of_node: Vec::new() };
        let mut known: BTreeMap<(Option<usize>, &str, bool, usize), usize> = BTreeMap::new();
        // For each group its frame, and what the frame is called without the number.
        let mut frame_of: Vec<usize> = Vec::with_capacity(names.len());
        let mut called: Vec<String> = Vec::new();
        for (group, (_, outer)) in plain.frames.iter().enumerate() {
            let outer = outer.map(|outer| frame_of[outer]);
            // In a frame of several groups, those of one name meet as well.
            let own = without_key(names[group]);
            let alike = (outer, own.unwrap_or(names[group]), own.is_some(), contents[group]);
            let frame = *known.entry(alike).or_insert(called.len());
            frame_of.push(frame);
            if frame < called.len() {
                folded.counts[frame] += 1;
                continue;
            }
            folded.frames.push((String::new(), outer));
            folded.counts.push(1);
            called.push(plain.frames[group].0.clone());
        }
        // A frame of several groups is called by what they have in common, and so are those in it.
        for frame in 0..called.len() {
            let group = frame_of.iter().position(|of| *of == frame).unwrap_or_default();
            let outer = folded.frames[frame].1;
            // So many in each of those around it.
            let number = folded.counts[frame] / outer.map_or(1, |outer| folded.counts[outer]);
            let own = without_key(names[group]).filter(|_| number > 1).unwrap_or(names[group]);
            let outer = outer.map_or("", |outer| called[outer].as_str());
            let whole = &plain.frames[group].0;
            let before = plain.frames[group].1.map_or("", |outer| plain.frames[outer].0.as_str());
            // What is between the name of the outer group and the own one, as a point.
            let between = whole.strip_prefix(before).and_then(|rest| rest.strip_suffix(names[group]));
            called[frame] = match between {
                Some(between) => format!("{outer}{between}{own}"),
                None => whole.clone(),
            };
            folded.frames[frame].0 = match number {
                0 | 1 => called[frame].clone(),
                number => format!("{} ×{number}", called[frame]),
            };
        }
        folded.of_node = plain.of_node.iter().map(|group| group.map(|group| frame_of[group])).collect();
        folded
    }

    /// A number for each group; groups that hold the same have the same.
    fn contents(&self, plain: &Frames, names: &[&str]) -> Vec<usize> {
        let mut held: Vec<Content<'_>> = vec![Content::default(); names.len()];
        for (node, group) in self.nodes.iter().zip(&plain.of_node) {
            if let Some(group) = *group {
                let Node { kind, short, key, style, shape, .. } = node;
                held[group].0.push((kind, short, key, style.class, *shape == Shape::Hexagon));
            }
        }
        let mut numbers: BTreeMap<Content<'_>, usize> = BTreeMap::new();
        let mut content = vec![0; names.len()];
        // Groups come behind those they lie in, so that the inner ones are done first.
        for group in (0..names.len()).rev() {
            let mut own = std::mem::take(&mut held[group]);
            own.0.sort_unstable();
            own.1.sort_unstable();
            let next = numbers.len();
            content[group] = *numbers.entry(own).or_insert(next);
            if let Some(outer) = plain.frames[group].1 {
                held[outer].1.push((names[group], content[group]));
            }
        }
        content
    }
}

/// The name of a group in the one it lies in.
fn relative(frames: &[Frame], group: usize) -> &str {
    let (name, outer) = &frames[group];
    let inside = outer.and_then(|outer| name.strip_prefix(frames[outer].0.as_str()));
    inside.map_or(name.as_str(), |rest| rest.trim_start_matches('.'))
}

/// A name that ends with the only key in it, without that key.
fn without_key(name: &str) -> Option<&str> {
    let (own, key) = name.split_once('[')?;
    let key = key.strip_suffix(']')?;
    let is_number = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
    let is_text = || {
        let Some(text) = key.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return false };
        // A quote inside that nothing escapes ends the key before the end of the name.
        let mut escaped = false;
        text.chars().all(|c| {
            let goes_on = c != '"' || escaped;
            escaped = c == '\\' && !escaped;
            goes_on
        }) && !escaped
    };
    (is_number || is_text()).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::without_key;
    use crate::WaitGraph;
    use crate::drawing::{Drawing, Node, NodeGroup, NodeStyle};

    const STYLE: NodeStyle = NodeStyle { class: "create", fill: "#dafbe1", line: "#1a7f37", dashed: false };

    /// Modules with a network and a server that waits for it, and what waits for all servers.
    fn modules(names: &[&str], last: &str) -> Drawing {
        let mut nodes = Vec::new();
        let mut groups = vec![NodeGroup { name: String::new(), depth: 0, nodes: Vec::new() }];
        let mut edges = Vec::new();
        for name in names {
            let at = nodes.len();
            nodes.extend([Node::new("network", "create", STYLE), Node::new("server", "create", STYLE)]);
            edges.push((at as u32 + 1, at as u32, ()));
            groups.push(NodeGroup { name: (*name).to_owned(), depth: 1, nodes: vec![at] });
            groups.push(NodeGroup { name: format!("{name}.module.inner"), depth: 2, nodes: vec![at + 1] });
        }
        let end = nodes.len() as u32;
        nodes.push(Node::new(last, "create", STYLE));
        groups[0].nodes.push(end as usize);
        edges.extend((0..names.len() as u32).map(|number| (end, 2 * number + 1, ())));
        let graph = WaitGraph::new(nodes.len(), nodes.len(), edges);
        Drawing::new(&graph, nodes, groups, |()| false)
    }

    /// How many frames of this name there are; each says it in its title and in its text.
    fn titles(svg: &str, name: &str) -> usize {
        svg.matches(&format!("<title>{name}</title>")).count()
    }

    #[test]
    fn instances_of_a_module_that_are_alike_are_one_frame() {
        let svg = modules(&["module.x[\"a\"]", "module.x[\"b\"]", "module.x[\"c\"]"], "last").to_svg();
        assert_eq!((titles(&svg, "module.x ×3"), titles(&svg, "module.x.module.inner")), (1, 1), "{svg}");
        assert!(!svg.contains("module.x[\"a\"]<"), "{svg}");
        assert!(
            svg.contains(">server</text>") && !svg.contains("server ×"),
            "the frame has the number: {svg}"
        );
        let svg = modules(&["module.x[0]", "module.y[0]"], "last").to_svg();
        assert_eq!((titles(&svg, "module.x[0]"), titles(&svg, "module.y[0]")), (1, 1), "{svg}");
        assert!(!svg.contains('×'), "{svg}");
    }

    #[test]
    fn instances_of_a_module_that_differ_keep_their_frames() {
        let mut drawing = modules(&["module.x[0]", "module.x[1]", "module.x[2]"], "last");
        drawing.nodes[2].short = "other".to_owned();
        let svg = drawing.to_svg();
        assert_eq!((titles(&svg, "module.x ×2"), titles(&svg, "module.x[1]")), (1, 1), "{svg}");
    }

    #[test]
    fn instances_that_wait_for_each_other_through_others_stay_apart() {
        let mut drawing = modules(&["module.x[0]", "module.x[1]"], "last");
        // The second waits for what waits for the first.
        drawing.arrows.retain(|arrow| (arrow.first, arrow.then) != (3, 4));
        drawing.arrows.push(crate::drawing::Arrow { first: 4, then: 2, dashed: false, on_cycle: false });
        let svg = drawing.to_svg();
        assert_eq!((titles(&svg, "module.x[0]"), titles(&svg, "module.x[1]")), (1, 1), "{svg}");
    }

    #[test]
    fn only_a_key_at_the_end_is_left_out() {
        for (name, expected) in [
            ("module.x[0]", Some("module.x")),
            ("module.x[\"a.b\"]", Some("module.x")),
            ("module.x[\"a\\\"]\"]", Some("module.x")),
            ("module.x", None),
            ("module.x[\"a\"].module.y", None),
            ("module.x[\"a\"].module.y[\"b\"]", None),
            ("module.x[]", None),
        ] {
            assert_eq!(without_key(name), expected, "{name}");
        }
    }
}
