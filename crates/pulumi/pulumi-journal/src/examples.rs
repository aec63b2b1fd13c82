//! Worked examples: what entries do to a base, step by step.
//!
//! Resources have short names here: `A'` is a new state of `A`, `B(A)` depends on `A`, `A~d` waits for its deletion and `A~p`
//! for its replacement. Behind the resources stand operations that are pending, as in `+creating A`. Entries are
//! `sequence operation kind`, and what is in them. The first entry of a journal always names the secrets manager, and
//! is left out.
//!
//! # A resource is created
//!
//! While it is being created, an operation is pending; then the resource is there.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("");
//! journal.take("2 1 begin +creating A");
//! assert_eq!(journal.to_string(), "+creating A");
//! journal.take("3 1 success A");
//! assert_eq!(journal.to_string(), "A");
//! ```
//!
//! # Its creation fails
//!
//! Nothing is there and nothing is pending, whatever state the entry has.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("");
//! journal.take("2 1 begin +creating A").take("3 1 failure A");
//! assert_eq!(journal.to_string(), "");
//! ```
//!
//! # Its creation is interrupted
//!
//! The operation stays pending, in the next run too, until its outcome is found out. Operations of other kinds
//! leave with the next run, which looks for itself.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("");
//! journal.take("2 1 begin +creating A");
//!
//! let mut next = on(&journal.to_string());
//! next.take("2 1 begin +creating A").take("3 1 success A");
//! assert_eq!(next.to_string(), "A +creating A");
//!
//! assert_eq!(on("A +updating A").to_string(), "A");
//! ```
//!
//! # A resource is changed
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("P A");
//! journal.take("2 1 begin").take("3 1 success removeOld0 P'");
//! assert_eq!(journal.to_string(), "P' A");
//! journal.take("4 2 begin +updating A'");
//! assert_eq!(journal.to_string(), "P' A +updating A'");
//! journal.take("5 2 success removeOld1 A'");
//! assert_eq!(journal.to_string(), "P' A'");
//! ```
//!
//! # It is replaced, and the new one comes first
//!
//! The old one waits for its deletion behind the resources that are new.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("P A B(A)");
//! journal.take("2 1 begin").take("3 1 success removeOld0 P'");
//! journal.take("4 2 begin +creating A'").take("5 2 success deleteOld1 A'");
//! assert_eq!(journal.to_string(), "P' A' A~d B(A)");
//! journal.take("6 4 begin +updating B'(A)").take("7 4 success removeOld2 B'(A)");
//! assert_eq!(journal.to_string(), "P' A' B'(A) A~d");
//! journal.take("8 5 begin +deleting A~d").take("9 5 success removeOld1");
//! assert_eq!(journal.to_string(), "P' A' B'(A)");
//! ```
//!
//! # It is replaced, and the old one goes first
//!
//! Between the two the old state stays, so that a run after a crash knows that there is nothing left to delete.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("P A");
//! journal.take("2 1 begin").take("3 1 success removeOld0 P'");
//! journal.take("4 2 begin +deleting A").take("5 2 success pendingReplacementOld1");
//! assert_eq!(journal.to_string(), "P' A~p");
//! journal.take("6 4 begin +creating A'").take("7 4 success removeOld1 A'");
//! assert_eq!(journal.to_string(), "P' A'");
//! ```
//!
//! # A refresh finds that a resource is gone
//!
//! From the first entry of a refresh on, nothing refers to what is not there.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("P A B(A)");
//! journal.take("2 1 begin").take("3 1 refresh-success isRefresh removeOld0 P");
//! journal.take("4 2 begin").take("5 2 refresh-success isRefresh removeOld1");
//! assert_eq!(journal.to_string(), "P B");
//! journal.take("6 3 begin").take("7 3 refresh-success isRefresh removeOld2 B'");
//! assert_eq!(journal.to_string(), "P B'");
//! journal.take("8 0 rebuilt-base-state");
//! assert_eq!(journal.to_string(), "P B'");
//! ```
//!
//! # A new resource is changed again
//!
//! What an operation of this journal recorded is named by the operation.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("");
//! journal.take("2 1 begin +importing A").take("3 1 success A");
//! journal.take("4 2 begin +updating A'").take("5 2 success removeNew1 A'");
//! assert_eq!(journal.to_string(), "A'");
//! ```
//!
//! # A component registers its outputs
//!
//! It stays in its place.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("");
//! journal.take("2 2 begin").take("3 2 success C").take("4 3 begin").take("5 3 success A@C");
//! journal.take("6 7 outputs removeNew2 C'");
//! assert_eq!(journal.to_string(), "C' A@C");
//! ```
//!
//! # Providers are put in place before the run
//!
//! Indexes are those of the new base.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("A");
//! journal.take("2 0 write [D A(D)]");
//! assert_eq!(journal.to_string(), "D A(D)");
//! journal.take("3 1 begin +deleting A(D)").take("4 1 success removeOld1");
//! assert_eq!(journal.to_string(), "D");
//! ```
//!
//! # A merge that looks wrong and is right
//!
//! `E` still refers to a `C` that is being replaced; by its name, it refers to the new one, which comes before it.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("A B(A) C(A,B) D(C) E(C)");
//! journal.take("2 1 begin").take("3 1 success removeOld1 B'");
//! journal.take("4 2 begin +creating C'(B)").take("5 2 success deleteOld2 C'(B)");
//! journal.take("6 4 begin +updating D'(C)").take("7 4 success removeOld3 D'(C)");
//! assert_eq!(journal.to_string(), "B' C'(B) D'(C) A C(A,B)~d E(C)");
//! # assert!(groundstate_pulumi_integrity::verify(&journal.replayed()?.snapshot, &Default::default()).is_valid());
//! # Ok::<(), groundstate_pulumi_journal::ReplayError>(())
//! ```
//!
//! # A refresh of several resources of one name
//!
//! Of what stands before a resource, any copy will do.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("A B(A) C(A,B) A'~d A''~d C(A,B)~d");
//! journal.take("2 1 begin").take("3 1 refresh-success isRefresh removeOld0");
//! journal.take("4 2 begin").take("5 2 refresh-success isRefresh removeOld4");
//! assert_eq!(journal.to_string(), "B C(B) A'~d C(A,B)~d");
//! ```
//!
//! # Entries are missing
//!
//! What has not arrived belongs to operations that are still under way, and nothing that is stored depends on them. Here
//! `B` does not depend on `A`, which is being replaced.
//!
//! ```
//! # mod notation { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/notation.in")); }
//! # use notation::*;
//! let mut journal = on("P A B");
//! journal.take("7 4 success removeOld2 B'").take("2 1 begin").take("3 1 success removeOld0 P'");
//! assert_eq!(journal.to_string(), "P' B' A");
//! journal.take("6 4 begin +updating B'");
//! assert_eq!(journal.to_string(), "P' B' A");
//! journal.take("5 2 success deleteOld1 A'").take("4 2 begin +creating A'");
//! assert_eq!(journal.to_string(), "P' A' B' A~d");
//! ```
