//! Numbers of things in messages.

/// Returns a number of things in words: `1 stroke`, `2 strokes`. `thing` is a noun whose plural ends in `s`.
pub fn counted(number: usize, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_no_plural() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "key")), ["0 keys", "1 key", "2 keys"]);
    }
}
