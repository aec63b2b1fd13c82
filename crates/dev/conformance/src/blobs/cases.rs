//! The table of the cases.

use super::{Cx, Step, changing, leases, listing, reading};
use crate::executor::BoxFuture;

/// One case.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct BlobCase {
    /// Its name, which tests have too.
    pub name: &'static str,
    /// The clause that it is about.
    pub clause: &'static str,
    pub(crate) run: fn(Cx) -> BoxFuture<'static, Step>,
}

impl std::fmt::Debug for BlobCase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.name, self.clause)
    }
}

macro_rules! cases {
    ($($name:ident $clause:ident $($path:ident)::+;)+) => {
        /// All cases of the suite of blob stores.
        pub static BLOB_CASES: &[BlobCase] = &[$(BlobCase {
            name: stringify!($name),
            clause: stringify!($clause),
            run: |cx| Box::pin(async move { $($path)::+(&cx).await }),
        }),+];
    };
}

cases! {
    absent_is_none absent_is_none reading::absent;
    absent_is_none_after_delete absent_is_none reading::deleted;
    reads_what_was_written reads_what_was_written reading::written;
    reads_what_was_written_of_any_bytes reads_what_was_written reading::any_bytes;
    reads_what_was_written_of_megabytes reads_what_was_written reading::megabytes;
    put_is_whole put_is_whole changing::whole;
    create_once create_once changing::create_once;
    create_once_of_many create_once changing::create_once_of_many;
    compare_and_swap compare_and_swap changing::compare_and_swap;
    compare_and_swap_loses_nothing compare_and_swap changing::loses_nothing;
    conditional_delete conditional_delete changing::conditional_delete;
    ranges ranges reading::ranges;
    ranges_of_one_content ranges reading::ranges_of_one_content;
    conditional_reads ranges reading::conditional_reads;
    lists_by_raw_prefix lists_by_raw_prefix listing::raw_prefix;
    lists_by_raw_prefix_in_pages lists_by_raw_prefix listing::pages;
    lists_by_raw_prefix_and_delimiter lists_by_raw_prefix listing::delimiter;
    keys_are_kept keys_are_kept listing::keys_are_kept;
    attributes attributes changing::attributes;
    leases leases leases::exclude;
    leases_protect_writes leases leases::protect;
    lacking_means_unsupported lacking_means_unsupported changing::lacking;
    display_names_the_place lacking_means_unsupported reading::display;
}
