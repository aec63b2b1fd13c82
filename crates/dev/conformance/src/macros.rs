//! The macro that makes a test of each case.

/// Makes a `#[test]` of each case, under each of the conditions, in modules that are called after those.
///
/// The argument is an expression for a [`Harness`](crate::Harness); each test evaluates it anew. Name conditions behind
/// it to run under those only.
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
    ($harness:expr) => {
        $crate::suite!($harness; calm, latency, errors, stops);
    };
    ($harness:expr; $($conditions:ident),+ $(,)?) => {
        #[cfg(test)]
        fn conformance_harness() -> ::std::sync::Arc<dyn $crate::Harness> {
            ::std::sync::Arc::new($harness)
        }

        $(
            #[cfg(test)]
            mod $conditions {
                $crate::__cases!(__tests $conditions);
            }
        )+
    };
}

/// Calls a macro of this crate with an argument and the names of all cases. There is no other list that tests are made of;
/// one of this crate's own compares it with the table.
#[doc(hidden)]
#[macro_export]
macro_rules! __cases {
    ($then:ident $($argument:ident)?) => {
        $crate::$then! {
            [$($argument)?]
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
            lock_excludes
            lock_excludes_all_but_one_of_many
            lock_excludes_on_threads
            lock_excludes_in_random_histories
            lock_answers_at_once
            unlock_frees
            unlock_needs_the_id
            unlock_twice_fails
            lock_leaves_the_state_alone
            locks_are_told_apart
            refusal_names_the_holder
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

/// A test for each name.
#[doc(hidden)]
#[macro_export]
macro_rules! __tests {
    ([$conditions:ident] $($case:ident)+) => {
        $(
            #[test]
            fn $case() -> ::std::result::Result<(), ::std::boxed::Box<dyn ::std::error::Error>> {
                let name = ::std::stringify!($case);
                let conditions = $crate::Conditions::find(::std::stringify!($conditions))
                    .ok_or("the conditions are calm, latency, errors and stops")?;
                if let Some(why) = $crate::check(super::conformance_harness(), name, conditions)? {
                    ::std::println!("not applicable: {name} under {conditions}: {why}");
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
    use crate::cases::CASES;

    #[test]
    fn the_macro_knows_every_case() {
        let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(crate::__cases!(__names).to_vec(), names);
    }
}
