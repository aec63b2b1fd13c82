//! Moves from one state to another.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use groundstate_statefile::{Dialect, File, ReadError, WriterVersion};
use groundstate_states::addr::{AbsResource, AbsResourceInstance, ModuleInstance, Target};
use groundstate_states::{Generation, Lineage, Resource, ResourceInstance, Serial};

use super::error::MoveError;
use super::follow::{Routes, forget};
use super::moves::Resolved;
use super::shift::{Batch, Shift, join};
use super::summary::{Change, ProviderTaken, Summary};
use super::working_set::WorkingSet;
use super::{Editor, MoveOptions};

/// What moves from one state to another, taken from the first when the move is planned.
///
/// The state that gets it is written first and the state that gives it second, so that a crash between the two leaves it in
/// both and never in neither. The same move once more then finds it where it is to be, and ends what was begun.
///
/// What moves depends on what comes along only, and what stays depends on nothing that is gone: a recorded dependency has no
/// meaning in another state. Objects that lose dependencies are listed in the summaries.
///
/// ```
/// use groundstate_state_edit::statefile::Document;
/// use groundstate_state_edit::states::addr::Target;
/// use groundstate_state_edit::{Editor, Transfer};
///
/// let text = r#"{"version": 4, "serial": 7, "resources": [{"mode": "managed", "type": "null_resource",
///     "name": "a", "provider": "provider[\"registry.terraform.io/hashicorp/null\"]", "instances": [{}]}]}"#;
/// let from = Document::open(text.as_bytes().to_vec())?;
/// let to = Document::open(br#"{"version": 4, "serial": 1}"#.to_vec())?;
/// let (mut from, mut to) = (Editor::on_document(&from), Editor::on_document(&to));
///
/// let address = Target::parse("null_resource.a")?;
/// let transfer = Transfer::plan(&from, &[(address.clone(), address)])?;
/// transfer.add_to(&mut to)?; // Written first,
/// transfer.remove_from(&mut from)?; // and this second.
/// assert!(from.to_file()?.state.is_empty());
/// assert!(!to.to_file()?.state.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Transfer {
    batch: Batch,
    parts: Vec<Part>,
    /// Objects that lose dependencies because what they depend on does not come along.
    dependents: Vec<(AbsResourceInstance, Generation)>,
    dialect: Dialect,
    writer: Option<WriterVersion>,
}

/// What one shift of the batch moves.
#[derive(Debug)]
enum Part {
    Whole { was: Arc<Resource>, becomes: Arc<Resource> },
    One(Box<Single>),
}

/// One instance of a resource.
#[derive(Debug)]
struct Single {
    was: ResourceInstance,
    becomes: ResourceInstance,
    /// The resource that it comes from, without instances; what is not understood follows the last of them.
    frame: Resource,
}

impl Transfer {
    /// Finds what moves. Each pair means what it means in [`Editor::move_all`].
    ///
    /// # Errors
    ///
    /// See [`MoveError`].
    pub fn plan(from: &Editor<'_>, pairs: &[(Target, Target)]) -> Result<Self, MoveError> {
        let exact = MoveOptions::default().compat;
        let resolved: Result<Vec<_>, _> =
            pairs.iter().map(|(source, to)| from.resolve(source, to, exact)).collect();
        let batch = Batch::between_states(resolved?)?;
        let routes = Routes::new(&from.working_set, &batch);
        let mut leaving: HashMap<&AbsResource, usize> = HashMap::new();
        batch.shifts().for_each(|shift| *leaving.entry(&shift.from).or_default() += 1);
        let (mut parts, mut dependents) = (Vec::new(), Vec::new());
        for (pair, shift) in batch.pairs() {
            let missing = || MoveError::SourceMissing { from: pair.from.clone() };
            let resource = from.working_set.resource(&shift.from)?.ok_or_else(missing)?;
            parts.push(match &shift.keys {
                None => {
                    let mut becomes = Resource::clone(&resource);
                    for (key, instance) in &mut becomes.instances {
                        let address = shift.to.instance(key.clone());
                        depart(instance, shift, &routes, &address, &mut dependents);
                    }
                    Part::Whole { was: resource, becomes: Arc::new(becomes) }
                }
                Some((key, new)) => {
                    let was = resource.instances.get(key).ok_or_else(missing)?.clone();
                    let mut becomes = was.clone();
                    let address = shift.to.instance(new.clone());
                    depart(&mut becomes, shift, &routes, &address, &mut dependents);
                    let mut frame = Resource::new(resource.provider.clone());
                    if leaving.get(&shift.from) == Some(&resource.instances.len()) {
                        frame.extra = resource.extra.clone();
                    }
                    Part::One(Box::new(Single { was, becomes, frame }))
                }
            });
        }
        dependents.sort();
        Ok(Self { batch, parts, dependents, dialect: from.dialect(), writer: from.writer().cloned() })
    }

    /// The dialect of the state that it leaves.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// What moves, as it is shown.
    pub fn changes(&self) -> Vec<Change> {
        let lines = self.batch.lines();
        lines.map(|(from, to)| Change::Moved { from: from.clone(), to: to.clone() }).collect()
    }

    /// The other state where there is none yet: nothing but what moves, as the release that wrote the state it leaves.
    ///
    /// # Errors
    ///
    /// As [`add_to`](Self::add_to).
    pub fn to_new_file(&self, lineage: Lineage) -> Result<File, MoveError> {
        let mut empty = File::new(self.dialect, lineage);
        empty.serial = Serial::new(1);
        empty.terraform_version = self.writer.clone();
        let mut editor = Editor::on_file(&empty);
        self.add_to(&mut editor)?;
        Ok(editor.to_file()?)
    }

    /// Adds it to the other state. What is there already, and the same, was added by an earlier attempt.
    ///
    /// # Errors
    ///
    /// [`MoveError::DestinationDiffers`] where something else has the address. Nothing is changed then.
    pub fn add_to(&self, to: &mut Editor<'_>) -> Result<Summary, MoveError> {
        self.check_modules(&to.working_set)?;
        to.attempt(|to| {
            let mut providers = Vec::new();
            for ((pair, shift), part) in self.batch.pairs().zip(&self.parts) {
                if let Some(taken) = part.add(shift, &mut to.working_set, &mut providers)? {
                    let (from, to, taken) = (pair.from.clone(), pair.to.clone(), taken.to_string());
                    return Err(MoveError::DestinationDiffers { from, to, taken });
                }
            }
            let (changes, dependents) = (self.changes(), self.dependents.clone());
            Ok(Summary { changes, dependents, providers, ..Summary::default() })
        })
    }

    /// Removes it from the state that it leaves, which has it as it was when the move was planned.
    ///
    /// # Errors
    ///
    /// [`MoveError::SourceChanged`] if it is not as it was. Nothing is changed then.
    pub fn remove_from(&self, from: &mut Editor<'_>) -> Result<Summary, MoveError> {
        for ((pair, shift), part) in self.batch.pairs().zip(&self.parts) {
            let resource = from.working_set.resource(&shift.from)?;
            if !resource.is_some_and(|resource| part.is_unchanged(shift, &resource)) {
                return Err(MoveError::SourceChanged { from: pair.from.clone() });
            }
        }
        from.attempt(|from| {
            let dependents = forget(&mut from.working_set, &self.batch)?;
            for shift in self.batch.shifts() {
                match &shift.keys {
                    None => from.working_set.put(shift.from.clone(), None),
                    Some((key, _)) => {
                        let resource = from.working_set.edit(&shift.from)?;
                        resource.map(|resource| resource.instances.remove(key));
                    }
                }
            }
            self.batch.prune(&mut from.working_set);
            Ok(Summary { changes: self.changes(), dependents, ..Summary::default() })
        })
    }

    /// No module is merged into one that the other state has.
    fn check_modules(&self, to: &WorkingSet<'_>) -> Result<(), MoveError> {
        let pairs = || self.batch.pairs().filter(|(pair, _)| pair.is_of_module());
        let own: HashSet<&AbsResource> = pairs().map(|(_, shift)| &shift.to).collect();
        let modules: HashSet<&ModuleInstance> = own.iter().map(|address| &address.module).collect();
        if modules.is_empty() {
            return Ok(());
        }
        let other = |address: &AbsResource| modules.contains(&address.module) && !own.contains(address);
        let Some(taken) = to.addresses().into_iter().find(other) else { return Ok(()) };
        let into = |(_, shift): &(&Resolved, &Shift)| shift.to.module == taken.module;
        let Some((pair, _)) = pairs().find(into) else { return Ok(()) };
        let taken = Target::Module(taken.module.clone()).to_string();
        Err(MoveError::DestinationDiffers { from: pair.from.clone(), to: pair.to.clone(), taken })
    }
}

impl Part {
    /// Adds it, unless it is there; gives what has its address if that is something else.
    fn add(
        &self,
        shift: &Shift,
        to: &mut WorkingSet<'_>,
        providers: &mut Vec<ProviderTaken>,
    ) -> Result<Option<Target>, ReadError> {
        match (self, &shift.keys) {
            (Self::Whole { becomes, .. }, _) => {
                match to.resource(&shift.to)? {
                    Some(there) if there == *becomes => {}
                    Some(_) => return Ok(Some(Target::Resource(shift.to.clone()))),
                    None => to.put(shift.to.clone(), Some(Arc::clone(becomes))),
                }
                Ok(None)
            }
            (Self::One(single), Some((_, key))) => {
                let Single { becomes, frame, .. } = &**single;
                if !to.has(&shift.to) {
                    to.put(shift.to.clone(), Some(Arc::new(frame.clone())));
                }
                let mut instance = becomes.clone();
                let Some(resource) = to.edit(&shift.to)? else { return Ok(None) };
                let address = shift.to.instance(key.clone());
                providers.extend(join(&mut instance, address, &frame.provider, &resource.provider));
                match resource.instances.get(key) {
                    Some(there) if *there == instance => {}
                    Some(_) => return Ok(Some(Target::Instance(shift.to.instance(key.clone())))),
                    None => drop(resource.instances.insert(key.clone(), instance)),
                }
                Ok(None)
            }
            // A single instance has its keys.
            (Self::One(_), None) => Ok(None),
        }
    }

    fn is_unchanged(&self, shift: &Shift, resource: &Resource) -> bool {
        match self {
            Self::Whole { was, .. } => **was == *resource,
            Self::One(single) => {
                let Single { was, frame, .. } = &**single;
                let key = shift.keys.as_ref().map(|(key, _)| key);
                resource.provider == frame.provider
                    && key.and_then(|key| resource.instances.get(key)) == Some(was)
            }
        }
    }
}

/// Leaves an instance the dependencies on what comes along.
fn depart(
    instance: &mut ResourceInstance,
    shift: &Shift,
    routes: &Routes,
    address: &AbsResourceInstance,
    dependents: &mut Vec<(AbsResourceInstance, Generation)>,
) {
    let own = shift.to.to_config();
    let objects: Vec<_> = instance
        .objects()
        .filter_map(|(generation, object)| {
            let departing = routes.departing(object, &shift.from.module, &own)?;
            let is_lost = departing.dependencies.len() < object.dependencies.len()
                || departing.depends_on.len() < object.depends_on.len();
            Some((generation, departing, is_lost))
        })
        .collect();
    for (generation, object, is_lost) in objects {
        super::follow::set(instance, generation, object);
        if is_lost {
            dependents.push((address.clone(), generation));
        }
    }
}
