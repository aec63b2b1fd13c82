//! The macros that make a test of each case.

/// Makes a `#[test]` of each case, under each of the conditions, in modules that are called after those.
///
/// The argument is an expression for a [`Harness`](crate::Harness); each test evaluates it anew. With `optional` before it, it is one for
/// an `Option`, whose `None` says that the service is not there: the tests report "not run". Name conditions behind it to run
/// under those only.
///
/// ```
/// use groundstate_conformance::MemoryHarness;
///
/// groundstate_conformance::suite!(MemoryHarness::new(); calm, stops);
/// ```
///
/// Use it once in a module. The tests are called `calm::expect_version`, `stops::expect_version` and so on, so
/// `cargo test expect_version` runs one case under all conditions.
#[macro_export]
macro_rules! suite {
    (optional $harness:expr) => {
        $crate::suite!(optional $harness; calm, latency, errors, stops);
    };
    ($harness:expr) => {
        $crate::suite!($harness; calm, latency, errors, stops);
    };
    (optional $harness:expr; $($conditions:ident),+ $(,)?) => {
        #[cfg(test)]
        fn conformance_check(
            name: &str,
            conditions: &str,
            module: &str,
        ) -> ::std::result::Result<::std::option::Option<::std::string::String>, ::std::boxed::Box<dyn ::std::error::Error>>
        {
            let conditions = $crate::Conditions::find(conditions)
                .ok_or("the conditions are calm, latency, errors and stops")?;
            match $harness {
                ::std::option::Option::Some(harness) => {
                    $crate::check(::std::sync::Arc::new(harness), name, conditions, module)
                }
                ::std::option::Option::None => {
                    ::std::println!("not run: {name}, the service is not there");
                    ::std::result::Result::Ok(::std::option::Option::None)
                }
            }
        }

        $(
            #[cfg(test)]
            mod $conditions {
                $crate::__cases!(
                    __tests
                        | name
                        | super::conformance_check(
                            name,
                            ::std::stringify!($conditions),
                            ::std::module_path!(),
                        )
                );
            }
        )+
    };
    // Behind the one with the word: that word and a path would make a path too.
    ($harness:expr; $($conditions:ident),+ $(,)?) => {
        $crate::suite!(optional ::std::option::Option::Some($harness); $($conditions),+);
    };
}

/// Makes a `#[test]` of each case of the suite of blob stores.
///
/// The argument is an expression for a [`BlobHarness`](crate::BlobHarness); each test evaluates it anew. With `optional` before
/// it, it is one for an `Option`, whose `None` says that the service is not there: the tests report "not run". Use the macro
/// once in a module.
#[macro_export]
macro_rules! blob_suite {
    (optional $harness:expr) => {
        $crate::__blob_cases!(
            __tests
                | name
                | match $harness {
                    ::std::option::Option::Some(harness) =>
                        $crate::check_blobs(::std::sync::Arc::new(harness), name),
                    ::std::option::Option::None => {
                        ::std::println!("not run: {name}, the service is not there");
                        ::std::result::Result::Ok(::std::option::Option::None)
                    }
                }
        );
    };
    ($harness:expr) => {
        $crate::__blob_cases!(__tests | name | $crate::check_blobs(::std::sync::Arc::new($harness), name));
    };
}

/// Makes a `#[test]` of each case of journals. The argument is an expression for a
/// [`JournalHarness`](crate::journals::JournalHarness); each test evaluates it anew. Use it once in a module.
#[macro_export]
macro_rules! journal_suite {
    ($harness:expr) => {
        #[cfg(test)]
        mod journal {
            use super::*;

            $crate::__journal_cases!(
                __tests | name | $crate::journals::check_journal(::std::sync::Arc::new($harness), name)
            );
        }
    };
}

/// Calls a macro of this crate with an argument and the names of all cases. There is no other list that tests are made of;
/// one of this crate's own compares it with the table.
#[doc(hidden)]
#[macro_export]
macro_rules! __cases {
    ($then:ident $($argument:tt)*) => {
        $crate::$then! {
            [$($argument)*]
            absent_reads_as_none
            absent_reads_as_none_after_delete
            absent_reads_as_none_where_zero_bytes_lie
            absent_reads_as_none_but_not_without_container
            reads_own_and_others_writes
            reads_own_and_others_writes_of_any_bytes
            reads_own_and_others_writes_of_megabytes
            reads_own_and_others_writes_after_a_restart
            reads_whole_snapshots
            reads_whole_snapshots_on_threads
            reads_without_lock
            equal_versions_mean_equal_bytes
            write_replaces_all
            write_refuses_nothing
            write_is_all_or_nothing
            write_is_all_or_nothing_in_random_histories
            expect_absent
            expect_version
            check_and_write_are_one
            check_and_write_are_one_on_threads
            check_and_write_are_one_in_random_histories
            refused_writes_change_nothing
            write_may_need_the_lock
            delete_removes
            delete_is_repeatable
            delete_honours_options
            delete_keeps_the_lock
            lock_excludes
            lock_excludes_all_but_one_of_many
            lock_excludes_on_threads
            lock_excludes_in_random_histories
            lock_excludes_other_processes
            lock_answers_at_once
            unlock_frees
            unlock_needs_the_id
            unlock_twice_fails
            lock_leaves_the_state_alone
            locks_are_told_apart
            refusal_names_the_holder
            refusal_names_the_holder_of_a_long_document
            a_dropped_lock_is_held_or_free
            holder_is_known
            force_unlock_frees
            force_unlock_needs_the_id
            lease_expires
            renew_prolongs
            lost_lease_is_said
            lost_lease_is_said_after_force
            tokens_grow
            tokens_grow_across_a_restart
            outdated_tokens_are_refused
            outdated_tokens_are_refused_in_a_race
            broken_locks_are_fenced
            lacking_means_unsupported
            display_names_the_place
            terraform_full_manager
            terraform_remote_client
            terraform_remote_locks
            terraform_backend_locks
            terraform_backend_force_unlock
            terraform_workspaces
            terraform_remote_sequence
            managers_lose_no_update
        }
    };
}

/// The same for blobs.
#[doc(hidden)]
#[macro_export]
macro_rules! __blob_cases {
    ($then:ident $($argument:tt)*) => {
        $crate::$then! {
            [$($argument)*]
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
}

/// The same for journals.
#[doc(hidden)]
#[macro_export]
macro_rules! __journal_cases {
    ($then:ident $($argument:tt)*) => {
        $crate::$then! {
            [$($argument)*]
            absent_reads_as_none
            acknowledged_is_read
            reads_need_no_writer
            reads_from_a_position
            reads_from_a_position_of_an_epoch_that_is_over
            acknowledged_is_durable
            order_is_kept
            batches_are_whole
            concurrent_appends_all_count
            any_bytes_are_records
            append_needs_an_epoch
            begin_replaces
            begin_is_all_or_nothing
            begin_is_all_or_nothing_beside_readers
            newest_writer_wins
            newest_writer_wins_over_one_that_slept_long
            newest_writer_wins_in_every_operation
            newest_writer_wins_in_a_race
            open_never_waits
            closed_writers_end
            a_new_writer_goes_on
            torn_tails_count_for_nothing
            damage_is_refused
            display_names_the_place
        }
    };
}

/// A test for each name: it calls the closure with it.
#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    ([|$name:ident| $check:expr] $($case:ident)+) => {
        $(
            #[test]
            fn $case() -> ::std::result::Result<(), ::std::boxed::Box<dyn ::std::error::Error>> {
                let $name = ::std::stringify!($case);
                let shows_nothing: ::std::option::Option<::std::string::String> = $check?;
                if let ::std::option::Option::Some(why) = shows_nothing {
                    ::std::println!("{}: {why}", ::std::stringify!($case));
                }
                Ok(())
            }
        )+
    };
}

/// The names as texts.
#[doc(hidden)]
#[macro_export]
macro_rules! __names {
    ([] $($case:ident)+) => {
        [$(::std::stringify!($case)),+]
    };
}

#[cfg(test)]
mod tests {
    use crate::blobs::BLOB_CASES;
    use crate::cases::CASES;
    use crate::journals::JOURNAL_CASES;

    #[test]
    fn the_macros_know_every_case() {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(crate::__cases!(__names).to_vec(), names);
        let names: Vec<&str> = BLOB_CASES.iter().map(|case| case.name).collect();
        assert_eq!(crate::__blob_cases!(__names).to_vec(), names);
        let names: Vec<&str> = JOURNAL_CASES.iter().map(|case| case.name).collect();
        assert_eq!(crate::__journal_cases!(__names).to_vec(), names);
    }
}
