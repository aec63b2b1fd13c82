//! The macro that makes a test of each case.

/// Makes a `#[test]` of each case of journals. The argument is an expression for a
/// [`JournalHarness`](crate::journals::JournalHarness); each test evaluates it anew. Use it once in a module.
#[macro_export]
macro_rules! journal_suite {
    ($harness:expr) => {
        #[cfg(test)]
        fn journal_conformance_harness() -> impl $crate::journals::JournalHarness {
            $harness
        }

        #[cfg(test)]
        mod journal {
            $crate::__journal_cases!(__journal_tests);
        }
    };
}

/// Calls a macro of this crate with the names of all cases.
#[doc(hidden)]
#[macro_export]
macro_rules! __journal_cases {
    ($then:ident) => {
        $crate::$then! {
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

/// A test for each name.
#[doc(hidden)]
#[macro_export]
macro_rules! __journal_tests {
    ($($case:ident)+) => {
        $(
            #[test]
            fn $case() -> ::std::result::Result<(), ::std::boxed::Box<dyn ::std::error::Error>> {
                let name = ::std::stringify!($case);
                let harness = super::journal_conformance_harness();
                if let Some(why) = $crate::journals::check_journal(&harness, name, 1)? {
                    ::std::println!("not applicable: {name}: {why}");
                }
                Ok(())
            }
        )+
    };
}

/// The names as texts.
#[doc(hidden)]
#[macro_export]
macro_rules! __journal_names {
    ($($case:ident)+) => {
        [$(::std::stringify!($case)),+]
    };
}

#[cfg(test)]
mod tests {
    use crate::journals::JOURNAL_CASES;

    #[test]
    fn the_macro_knows_every_case() {
        let names: Vec<&str> = JOURNAL_CASES.iter().map(|case| case.name).collect();
        assert_eq!(crate::__journal_cases!(__journal_names).to_vec(), names);
    }
}
