/// The candidate that was most likely meant, if any is close enough.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = match word.chars().count() {
        0..=2 => 0,
        3..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    let word = word.to_lowercase();
    let near = candidates.into_iter().filter_map(|candidate| {
        let steps = distance(&word, &candidate.to_lowercase(), allowed)?;
        Some((steps, candidate))
    });
    near.min_by_key(|(steps, _)| *steps).map(|(_, candidate)| candidate)
}

/// Characters to insert, remove, change or swap, when that is no more than `allowed`.
fn distance(from: &str, to: &str, allowed: usize) -> Option<usize> {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    if from.len().abs_diff(to.len()) > allowed {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, &a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &b) in to.iter().enumerate() {
            let changed = last[j] + usize::from(a != b);
            let mut best = changed.min(last[j + 1] + 1).min(row[j] + 1);
            let swapped = i > 0 && j > 0 && a == to[j - 1] && from[i - 1] == b;
            if swapped {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        if row.iter().all(|&steps| steps > allowed) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|&steps| steps <= allowed)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_word_is_found_and_strangers_are_not() {
        let keys = ["name", "triggeredOn", "tasks", "timeout"];
        let near = |word| nearest(word, keys);
        assert_eq!(near("triggerdOn"), Some("triggeredOn"));
        assert_eq!(near("triggeredon"), Some("triggeredOn"));
        assert_eq!(near("task"), Some("tasks"));
        assert_eq!(near("tiemout"), Some("timeout"));
        assert_eq!(near("nmae"), Some("name"));
        assert_eq!(near("colour"), None);
        assert_eq!(near(""), None);
        assert_eq!(near("é"), None);
    }
}
