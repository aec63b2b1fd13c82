//! Places along a row: as near to where each item wants to be as order and gaps allow.

/// An item of a row: where its centre wants to be, how much that counts, and its width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) at: f64,
    pub(super) weight: f64,
    pub(super) width: f64,
    pub(super) gap: f64,
}

/// The centres that keep order and gaps and are, by least squares, nearest to what is wished for.
pub(super) fn settle(wishes: &[Wish]) -> Vec<f64> {
    // Without the room that order takes, centres only have to rise; neighbours that do not are put at their mean.
    let mut offsets = Vec::with_capacity(wishes.len());
    let mut offset = 0.0;
    for (at, wish) in wishes.iter().enumerate() {
        if let Some(before) = at.checked_sub(1).and_then(|before| wishes.get(before)) {
            offset += f64::midpoint(before.width, wish.width) + before.gap.max(wish.gap);
        }
        offsets.push(offset);
    }
    // Blocks of items: their mean, their weight, how many.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(wishes.len());
    for (wish, offset) in wishes.iter().zip(&offsets) {
        let mut block = (wish.at - offset, wish.weight, 1);
        while let Some(&(mean, weight, count)) = blocks.last() {
            if mean <= block.0 {
                break;
            }
            blocks.pop();
            let total = weight + block.1;
            block = ((mean * weight + block.0 * block.1) / total, total, count + block.2);
        }
        blocks.push(block);
    }
    let means = blocks.into_iter().flat_map(|(mean, _, count)| std::iter::repeat_n(mean, count));
    means.zip(offsets).map(|(mean, offset)| mean + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::{Wish, settle};

    #[test]
    fn items_go_where_they_want_unless_they_would_overlap() {
        let wish = |at: f64| Wish { at, weight: 1.0, width: 10.0, gap: 2.0 };
        assert_eq!(settle(&[wish(0.0), wish(50.0)]), [0.0, 50.0]);
        assert_eq!(settle(&[wish(20.0), wish(20.0)]), [14.0, 26.0]);
        let heavy = Wish { weight: 1e9, ..wish(20.0) };
        let settled = settle(&[wish(20.0), heavy, wish(0.0)]);
        assert!((settled[1] - 20.0).abs() < 1e-3 && settled[2] - settled[1] >= 12.0 - 1e-9, "{settled:?}");
    }
}
