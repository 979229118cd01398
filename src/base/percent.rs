//! Percent-encoding of URIs (RFC 3986).

/// Decodes percent-encoded bytes: replaces `%41` by `A`. Keeps a percent sign without two hexadecimal digits after
/// it.
pub fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let hex = |byte: u8| (byte as char).to_digit(16).map(|d| d as u8);
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if let [b'%', high, low, ..] = text[at..]
            && let (Some(high), Some(low)) = (hex(high), hex(low))
        {
            out.push(high << 4 | low);
            at += 3;
        } else {
            out.push(text[at]);
            at += 1;
        }
    }
    out
}
