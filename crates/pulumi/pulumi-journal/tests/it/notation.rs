//! Journals in few words; examples in the documentation use the same file.

include!("../support/notation.in");
