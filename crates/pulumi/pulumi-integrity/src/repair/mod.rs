//! Repairs: a plan of named steps after which a snapshot is sound, whatever was wrong with it.

mod aliases;
mod choice;
mod cycles;
mod default_name;
mod duplicates;
mod identity;
mod order;
mod parents;
mod providers;
mod rest;
mod step;
mod values;
mod work;

pub use choice::{Choice, Question, QuestionId, RepairOptions};
pub use step::{Action, DropReason, RemoveReason, Step};

use groundstate_pulumi_snapshot::Snapshot;

use crate::verify::{Report, VerifyOptions, verify};
use work::Work;

/// So often all repairs are tried before resources that are still in the way are taken out as well, and so often again.
const ROUNDS: usize = 3;

/// A repair that has been worked out and not been carried out.
///
/// Nothing is dropped or changed that no step names. The same snapshot and options always give the same plan.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// What is done about it, in order.
    pub steps: Vec<Step>,
    /// What could be decided otherwise: plan again with other answers.
    pub questions: Vec<Question>,
    /// What the check says of the result. There is no error in it.
    pub after: Report,
    repaired: Snapshot,
}

impl Plan {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The questions that have to be answered before the plan may be carried out: by the default, values would be lost, or
    /// what a resource stands for would be deleted by the next update.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        self.questions.iter().filter(|question| question.open)
    }

    /// The snapshot as it is when all steps have been done.
    pub fn result(&self) -> &Snapshot {
        &self.repaired
    }

    /// Carries the plan out: gives the repaired snapshot.
    pub fn apply(self) -> Snapshot {
        self.repaired
    }
}

/// Works out how to repair a snapshot. A snapshot without errors needs nothing, but pending operations are cleared if the
/// options say so.
///
/// ```
/// use groundstate_pulumi_snapshot::{Resource, Snapshot, Urn};
/// use groundstate_pulumi_integrity::{RepairOptions, VerifyOptions, repair, verify};
///
/// let named = |name: &str| Resource::new(Urn::build("dev", "shop", "", "t:t:t", name), "t:t:t");
/// let (mut a, mut b) = (named("a"), named("b"));
/// a.dependencies = vec![b.urn.clone(), named("gone").urn];
/// b.dependencies = vec![a.urn.clone()];
///
/// let plan = repair(&Snapshot::new([a, b]), &RepairOptions::default());
/// let steps: Vec<&str> = plan.steps.iter().map(|step| step.action.name()).collect();
/// assert_eq!(steps, ["drop-reference", "drop-reference"]);
/// assert!(verify(&plan.apply(), &VerifyOptions::default()).is_valid());
/// ```
pub fn repair(snapshot: &Snapshot, options: &RepairOptions) -> Plan {
    // A report may be larger than the snapshot, so it is kept only in the end.
    let options_of_check = VerifyOptions::default().loading(true);
    let is_valid =
        |snapshot: &Snapshot| verify(snapshot, &options_of_check.clone().first_error(true)).is_valid();
    let was_valid = is_valid(snapshot);
    let mut work = Work::new(snapshot, options);
    work.unloadable_operations();
    let mut round = 0;
    while !(work.steps.is_empty() && was_valid || is_valid(&work.snapshot)) {
        if round >= ROUNDS {
            work.remove_offenders(&verify(&work.snapshot, &options_of_check));
        }
        // In the end only less is left, so that there is an end.
        if round < 2 * ROUNDS {
            work.mend();
        }
        round += 1;
    }
    if !was_valid {
        work.forget_record();
    }
    work.pending_operations();
    let after = verify(&work.snapshot, &options_of_check);
    let Work { snapshot: repaired, steps, questions, .. } = work;
    Plan { steps, questions, after, repaired }
}
