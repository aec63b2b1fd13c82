//! Why an operation was refused. Nothing has changed then.

use groundstate_states::DeposedObject;
use groundstate_states::addr::{AbsResourceInstance, ProviderSource, Target};

use groundstate_statefile::Dialect;
use groundstate_statefile::EncodeError;
use groundstate_statefile::ReadError;

/// A move that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// The source matches nothing.
    #[error(
        "cannot move {from}: it matches nothing in the state; list the state to see the addresses it has"
    )]
    SourceMissing {
        /// The source.
        from: String,
    },
    /// All instances of the module call have keys, and the destination is one instance or a compatible move.
    #[error(
        "cannot move {from} to {to}: the module has instances with keys; name one of them, such as {example}"
    )]
    KeyedModule {
        /// The source.
        from: String,
        /// The destination.
        to: String,
        /// An instance that exists.
        example: String,
    },
    /// The destination is taken.
    #[error(
        "cannot move {from} to {to}: {taken} is in the state already; remove it or choose another address"
    )]
    DestinationExists {
        /// The source.
        from: String,
        /// The destination.
        to: String,
        /// What stands there.
        taken: String,
    },
    /// The other state has something else there.
    #[error(
        "cannot move {from} to {to}: the other state has {taken} already, and it is not the same; remove one of the two, or \
         choose another address"
    )]
    DestinationDiffers {
        /// The source.
        from: String,
        /// The destination.
        to: String,
        /// What the other state has.
        taken: String,
    },
    /// What was to be moved is not in the state any more as it was when the move was planned.
    #[error(
        "cannot move {from}: another client has changed it meanwhile; the other state has what it was before"
    )]
    SourceChanged {
        /// The source.
        from: String,
    },
    /// Two things would get one address.
    #[error("cannot move {from} to {to}: something else is moved there as well; give each its own address")]
    DestinationTwice {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// One thing would get two addresses.
    #[error("cannot move {from} to {to}: it is moved elsewhere as well; name it once")]
    SourceTwice {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// A module can only become a module.
    #[error(
        "cannot move {from} to {to}: a module can only become a module; write `module.NAME` as the destination"
    )]
    ModuleNeeded {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// All instances of a resource at once can only become a whole resource.
    #[error(
        "cannot move {from} to {to}: the source is a whole resource, so the destination must be one too; leave out the \
         key, or name one instance"
    )]
    ResourceNeeded {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// An instance can only become an instance.
    #[error(
        "cannot move {from} to {to}: a resource instance cannot become a module; write the address of an instance as \
         the destination"
    )]
    InstanceNeeded {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// One is managed, the other is data.
    #[error("cannot move {from} to {to}: a managed resource and a data source cannot become each other")]
    ModeMismatch {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// The resource types differ.
    #[error("cannot move {from} to {to}: the resource types differ; choose a destination of the same type")]
    TypeMismatch {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// Ephemeral resources are never stored.
    #[error("cannot move {from} to {to}: ephemeral resources are not part of a state")]
    Ephemeral {
        /// The source.
        from: String,
        /// The destination.
        to: String,
    },
    /// The root module keeps its place.
    #[error("the root module can neither be moved nor be a destination; name a module call")]
    RootModule,
    /// A part of the document could not be decoded.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// A removal that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveError {
    /// None of the addresses matches anything.
    #[error("nothing to remove: {} in the state; list the state to see the addresses it has", none_of(.targets))]
    NothingMatched {
        /// The addresses.
        targets: Vec<Target>,
    },
    /// The instance has no such deposed object.
    #[error("nothing to remove: {object} is not in the state; show the instance to see the objects it has")]
    NoDeposed {
        /// The object.
        object: DeposedObject,
    },
    /// A part of the document could not be decoded.
    #[error(transparent)]
    Read(#[from] ReadError),
}

fn none_of(targets: &[Target]) -> String {
    match targets {
        [] => "no address is given".into(),
        [one] => format!("{one} matches nothing"),
        [first, more @ ..] => format!("{first} and {} more addresses match nothing", more.len()),
    }
}

/// A replacement of a provider that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplaceProviderError {
    /// Both are the same.
    #[error("cannot replace {provider} by itself; name another provider")]
    Same {
        /// The provider.
        provider: ProviderSource,
    },
    /// No resource has it.
    #[error("nothing to replace: no resource has the provider {}", either(.providers))]
    NothingMatched {
        /// What was looked for.
        providers: Vec<ProviderSource>,
    },
    /// The product of the state refuses the address, and then drops the resource.
    #[error("cannot give resources the provider {provider}: {dialect} drops resources with this address; {}", .dialect.instead_of(.provider))]
    Unread {
        /// The new provider.
        provider: ProviderSource,
        /// The product.
        dialect: Dialect,
    },
    /// A part of the document could not be decoded.
    #[error(transparent)]
    Read(#[from] ReadError),
}

fn either(providers: &[ProviderSource]) -> String {
    providers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

/// A change of an object's status that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaintError {
    /// There is no such instance.
    #[error("{instance} is not in the state; list the state to see the addresses it has")]
    Missing {
        /// The instance.
        instance: AbsResourceInstance,
    },
    /// Only deposed objects are left.
    #[error(
        "{instance} has deposed objects only, from a replacement that did not finish; apply the configuration to \
         finish it first"
    )]
    NoCurrentObject {
        /// The instance.
        instance: AbsResourceInstance,
    },
    /// Data sources are read anew each time.
    #[error("{instance} is not a managed resource; only those can be tainted")]
    NotManaged {
        /// The instance.
        instance: AbsResourceInstance,
    },
    /// There is nothing to undo.
    #[error("{instance} is not tainted, so it cannot be untainted")]
    NotTainted {
        /// The instance.
        instance: AbsResourceInstance,
    },
    /// A part of the document could not be decoded.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// Why a changed state cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A part of the document could not be decoded.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The state cannot be stored, or `out` failed.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}
