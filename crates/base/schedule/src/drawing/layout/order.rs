//! The order of items in rows, so that few lines cross.

/// Puts the rows in order by the means of their neighbours, down and up in turn, and keeps the best. `joined` has what each
/// is joined with above, and below.
pub(super) fn sweep(rows: &mut Vec<Vec<usize>>, joined: &[Vec<Vec<usize>>; 2], sweeps: usize) {
    let count = joined[0].len();
    let mut place = vec![0_usize; count];
    let note = |row: &[usize], place: &mut Vec<usize>| {
        for (at, &spot) in row.iter().enumerate() {
            place[spot] = at;
        }
    };
    for row in rows.iter() {
        note(row, &mut place);
    }
    let mut best = (crossings(rows, &joined[1], &place), rows.clone());
    for sweep in 0..sweeps {
        let upwards = sweep % 2 == 1;
        let side = &joined[usize::from(upwards)];
        for at in 0..rows.len() {
            let at = if upwards { rows.len() - 1 - at } else { at };
            let row = &mut rows[at];
            let mean = |spot: usize| {
                let others = &side[spot];
                let sum: usize = others.iter().map(|&other| place[other]).sum();
                // What is joined with nothing on this side stays where it is.
                if others.is_empty() { None } else { Some(sum as f64 / others.len() as f64) }
            };
            reorder(row, mean, sweep % 4 >= 2);
            note(row, &mut place);
        }
        let now = crossings(rows, &joined[1], &place);
        if now < best.0 {
            best = (now, rows.clone());
        }
        if best.0 == 0 {
            break;
        }
    }
    *rows = best.1;
}

/// Sorts those that have a mean among the places that they have; equal ones change places if `turn` is set.
fn reorder(row: &mut [usize], mean: impl Fn(usize) -> Option<f64>, turn: bool) {
    let means: Vec<Option<f64>> = row.iter().map(|&spot| mean(spot)).collect();
    let mut sorted: Vec<(f64, usize)> =
        row.iter().zip(&means).filter_map(|(&spot, mean)| Some(((*mean)?, spot))).collect();
    if turn {
        sorted.reverse();
    }
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut next = sorted.into_iter();
    for (place, _) in row.iter_mut().zip(&means).filter(|(_, mean)| mean.is_some()) {
        if let Some((_, spot)) = next.next() {
            *place = spot;
        }
    }
}

/// How many pairs of lines between neighbouring rows cross.
fn crossings(rows: &[Vec<usize>], below: &[Vec<usize>], place: &[usize]) -> u64 {
    let mut total = 0;
    for (row, next) in rows.iter().zip(rows.iter().skip(1)) {
        // Counted as inversions of the lower ends, with a tree of sums.
        let mut sums = vec![0_u64; next.len() + 1];
        let mut seen = 0;
        for &upper in row {
            let mut ends: Vec<usize> = below[upper].iter().map(|&lower| place[lower] + 1).collect();
            ends.retain(|&end| end <= next.len());
            for &end in &ends {
                let mut at = end;
                let mut left = 0;
                while at > 0 {
                    left += sums[at];
                    at &= at - 1;
                }
                total += seen - left;
            }
            for end in ends {
                let mut at = end;
                while at <= next.len() {
                    sums[at] += 1;
                    at += at & at.wrapping_neg();
                }
                seen += 1;
            }
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::sweep;

    #[test]
    fn lines_that_need_not_cross_do_not() {
        let mut rows = vec![vec![0, 1, 2], vec![3, 4, 5]];
        let below = vec![vec![5], vec![4], vec![3], vec![], vec![], vec![]];
        let above = vec![vec![], vec![], vec![], vec![2], vec![1], vec![0]];
        sweep(&mut rows, &[above, below], 8);
        let order = |row: &[usize]| row.iter().map(|spot| spot % 3).collect::<Vec<_>>();
        let mut lower = order(&rows[1]);
        lower.reverse();
        assert_eq!(order(&rows[0]).iter().map(|at| 2 - at).collect::<Vec<_>>(), order(&rows[1]), "{rows:?}");
    }
}
