//! Numbers of things and ages in messages.

use std::time::Duration;

/// Returns a number of things in words: `1 stroke`, `2 strokes`. `thing` is a noun whose plural ends in `s`.
pub fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Returns an age in words, in the largest unit that fits: `3 hours ago`.
pub fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    let (count, unit) = match seconds {
        0..60 => return "less than a minute ago".into(),
        60..3600 => (seconds / 60, "minute"),
        3600..86400 => (seconds / 3600, "hour"),
        _ => (seconds / 86400, "day"),
    };
    format!("{} ago", counted(count as usize, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_no_plural() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "key")), ["0 keys", "1 key", "2 keys"]);
    }
}
