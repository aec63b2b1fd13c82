//! The table of the cases.

use super::{Cx, changing, leases, listing, reading};
use crate::frame::cases;

cases! {
    /// All cases of the suite of blob stores.
    BLOB_CASES: Cx;
    absent_is_none absent_is_none reading::absent,
    absent_is_none absent_is_none_after_delete reading::deleted,
    reads_what_was_written reads_what_was_written reading::written,
    reads_what_was_written reads_what_was_written_of_any_bytes reading::any_bytes,
    reads_what_was_written reads_what_was_written_of_megabytes reading::megabytes,
    put_is_whole put_is_whole changing::whole,
    create_once create_once changing::create_once,
    create_once create_once_of_many changing::create_once_of_many,
    compare_and_swap compare_and_swap changing::compare_and_swap,
    compare_and_swap compare_and_swap_loses_nothing changing::loses_nothing,
    conditional_delete conditional_delete changing::conditional_delete,
    ranges ranges reading::ranges,
    ranges ranges_of_one_content reading::ranges_of_one_content,
    ranges conditional_reads reading::conditional_reads,
    lists_by_raw_prefix lists_by_raw_prefix listing::raw_prefix,
    lists_by_raw_prefix lists_by_raw_prefix_in_pages listing::pages,
    lists_by_raw_prefix lists_by_raw_prefix_and_delimiter listing::delimiter,
    keys_are_kept keys_are_kept listing::keys_are_kept,
    attributes attributes changing::attributes,
    leases leases leases::exclude,
    leases leases_protect_writes leases::protect,
    lacking_means_unsupported lacking_means_unsupported changing::lacking,
    lacking_means_unsupported display_names_the_place reading::display,
}
