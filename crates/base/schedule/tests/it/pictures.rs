//! Pictures: no boxes overlap, whatever the graph, and the same graph gives the same picture.

use groundstate_schedule::drawing::{Arrow, Figure, NodeStyle, Picture, Shape};
use proptest::prelude::*;

fn picture(groups: &[Option<usize>], nodes: &[usize], arrows: &[(usize, usize)]) -> Picture {
    let style = NodeStyle { class: "create", fill: "#dafbe1", line: "#1a7f37", dashed: false };
    let figure = |(number, group): (usize, &usize)| Figure {
        title: vec![format!("node {number}")],
        kind: "kind".to_owned(),
        name: "n".repeat(number % 7 + 1),
        count: 1,
        remark: None,
        action: "create".to_owned(),
        style,
        shape: Shape::Rounded,
        group: group.checked_sub(1).filter(|group| *group < groups.len()),
    };
    let arrow = |&(first, then): &(usize, usize)| {
        let (first, then) = ((first % nodes.len()) as u32, (then % nodes.len()) as u32);
        Arrow { first, then, dashed: then % 5 == 0, on_cycle: false }
    };
    Picture {
        figures: nodes.iter().enumerate().map(figure).collect(),
        groups: groups.iter().enumerate().map(|(number, outer)| (format!("g{number}"), *outer)).collect(),
        arrows: arrows.iter().map(arrow).filter(|arrow| arrow.first != arrow.then).collect(),
        points: 0,
        notes: Vec::new(),
    }
}

/// Left, top, right and bottom of what is drawn as a rectangle of this class.
fn boxes(svg: &str, class: &str) -> Vec<[f64; 4]> {
    let legend = "width=\"18\" height=\"16\"";
    let lines = svg.lines().filter(|line| line.contains(class) && !line.contains(legend));
    let of = |line: &str| {
        let number = |name: &str| -> f64 {
            let rest = line.split_once(&format!(" {name}=\"")).expect("the box has a place").1;
            rest.split('"').next().and_then(|number| number.parse().ok()).expect("it is a number")
        };
        let (x, y) = (number("x"), number("y"));
        [x, y, x + number("width"), y + number("height")]
    };
    lines.map(of).collect()
}

proptest! {
    #[test]
    fn boxes_never_overlap_and_lie_in_the_picture(
        outer in prop::collection::vec(0_usize..4, 0..5),
        nodes in prop::collection::vec(0_usize..6, 1..40),
        arrows in prop::collection::vec((0_usize..40, 0_usize..40), 0..60),
    ) {
        let groups: Vec<Option<usize>> =
            outer.iter().enumerate().map(|(number, outer)| outer.checked_sub(1).filter(|outer| *outer < number)).collect();
        let picture = picture(&groups, &nodes, &arrows);
        let svg = picture.to_svg();
        prop_assert_eq!(&svg, &picture.to_svg());
        let found = boxes(&svg, "class=\"box b-create\"");
        prop_assert_eq!(found.len(), nodes.len());
        let page = boxes(&svg, "class=\"page\"")[0];
        for (at, a) in found.iter().enumerate() {
            prop_assert!(a[0] >= page[0] && a[1] >= page[1] && a[2] <= page[2] && a[3] <= page[3], "{a:?} in {page:?}");
            for b in &found[at + 1..] {
                let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                prop_assert!(apart, "{a:?} {b:?}");
            }
        }
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}

#[test]
fn wide_fans_are_wrapped_and_large_graphs_are_drawn() {
    let nodes = vec![0; 300];
    let fan: Vec<(usize, usize)> = (1..300).map(|node| (node, 0)).collect();
    let page = boxes(&picture(&[], &nodes, &fan).to_svg(), "class=\"page\"")[0];
    assert!(page[2] - page[0] < 2_600.0, "{page:?}");
    let nodes = vec![0; 3_000];
    let chain: Vec<(usize, usize)> =
        (1..3_000).flat_map(|node| [(node - 1, node), (node / 2, node), (0, node)]).collect();
    assert_eq!(boxes(&picture(&[], &nodes, &chain).to_svg(), "class=\"box").len(), 3_000);
}
