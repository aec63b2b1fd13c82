//! Tokens of a text that may be no JSON: damaged, cut off, or something else.

use crate::write::string_end;

/// Where the token ends that begins at `at`: a string, a run of white space, a brace, comma or colon, or a run of anything
/// else. It lies behind `at`, however the text goes on.
///
/// ```
/// use groundstate_json::lexeme_end;
///
/// let text = br#"{"a\"": tru}"#;
/// let mut ends = vec![0];
/// while let Some(&at) = ends.last().filter(|at| **at < text.len()) {
///     ends.push(lexeme_end(text, at));
/// }
/// assert_eq!(ends, [0, 1, 6, 7, 8, 11, 12]);
/// ```
pub fn lexeme_end(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let run = |is_in: &dyn Fn(&u8) -> bool| at + rest.iter().take_while(|byte| is_in(byte)).count().max(1);
    match rest.first() {
        Some(b'"') => string_end(text, at + 1),
        Some(b' ' | b'\t' | b'\n' | b'\r') => run(&|byte| b" \t\n\r".contains(byte)),
        Some(b'{' | b'}' | b'[' | b']' | b',' | b':') => at + 1,
        _ => run(&|byte| !b" \t\n\r{}[],:\"".contains(byte)),
    }
}
