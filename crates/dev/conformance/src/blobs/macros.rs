//! The macro that makes a test of each case.

/// Makes a `#[test]` of each case of the suite of blob stores.
///
/// The argument is an expression for a [`BlobHarness`](crate::BlobHarness); each test evaluates it anew. With `optional` before
/// it, it is one for an `Option`, whose `None` says that the service is not there: the tests report "not run". Use the macro
/// once in a module.
#[macro_export]
macro_rules! blob_suite {
    (optional $harness:expr) => {
        $crate::__blob_tests! {
            [$harness]
            absent_is_none
            absent_is_none_after_delete
            reads_what_was_written
            reads_what_was_written_of_any_bytes
            reads_what_was_written_of_megabytes
            put_is_whole
            create_once
            create_once_of_many
            compare_and_swap
            compare_and_swap_loses_nothing
            conditional_delete
            ranges
            ranges_of_one_content
            conditional_reads
            lists_by_raw_prefix
            lists_by_raw_prefix_in_pages
            lists_by_raw_prefix_and_delimiter
            keys_are_kept
            attributes
            leases
            leases_protect_writes
            lacking_means_unsupported
            display_names_the_place
        }
    };
    ($harness:expr) => {
        $crate::blob_suite!(optional::std::option::Option::Some($harness));
    };
}

/// A test for each name.
#[doc(hidden)]
#[macro_export]
macro_rules! __blob_tests {
    ([$harness:expr] $($case:ident)+) => {
        $(
            #[test]
            fn $case() -> ::std::result::Result<(), ::std::boxed::Box<dyn ::std::error::Error>> {
                let name = ::std::stringify!($case);
                let ::std::option::Option::Some(harness) = $harness else {
                    ::std::println!("not run: {name}, the service is not there");
                    return Ok(());
                };
                if let Some(why) = $crate::check_blobs(&harness, name)? {
                    ::std::println!("not applicable: {name}: {why}");
                }
                Ok(())
            }
        )+

        #[test]
        fn every_case_has_a_test() {
            let names: ::std::vec::Vec<&str> = $crate::BLOB_CASES.iter().map(|case| case.name).collect();
            assert_eq!([$(::std::stringify!($case)),+].to_vec(), names);
        }
    };
}
