//! Ways to be wrong.

/// What a server does wrong, each one thing, for tests of what has to find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpFlaw {
    /// What was never stored is answered with 500.
    AbsentIsAnError,
    /// JSON is parsed and written again.
    ReformatsStates,
    /// An upload is answered with 202.
    AcceptsUploadsForLater,
    /// `Content-MD5` of an upload is not compared.
    IgnoresDigests,
    /// A body without a length is refused with 411.
    RefusesChunks,
    /// A body without a length counts as empty.
    LosesChunks,
    /// A lock is granted with 201.
    GrantsWith201,
    /// Every lock is granted.
    GrantsEveryLock,
    /// A lock that is held is answered with 500.
    RefusesLocksWith500,
    /// A refusal of a lock has no body.
    HidesTheHolder,
    /// A refusal of a lock has the holder's document below another member.
    WrapsTheHolder,
    /// A refusal of a lock has the holder's id and nothing else.
    ShortensTheHolder,
    /// The holder that asks again under its id is refused as another client would be.
    RefusesTheHolder,
    /// A lock without an id is granted.
    GrantsLocksWithoutId,
    /// A release is answered with 204.
    ReleasesWith204,
    /// A release under any id frees the lock.
    ReleasesAnyId,
    /// A release of what is free is answered with 409.
    RefusesRepeatedReleases,
    /// A release without a body ends in 500.
    FailsOnEmptyReleases,
    /// A release without a body succeeds, and the lock stays.
    IgnoresEmptyReleases,
    /// A write under another client's lock is accepted.
    AcceptsWritesUnderAnyLock,
    /// A write with the id of a lock that is gone is accepted.
    AcceptsWritesWithLostLocks,
    /// A write of the holder that is repeated is refused.
    RefusesRepeatedWrites,
    /// Reads are redirected to another path.
    RedirectsReads,
    /// Methods that it does not know are taken for uploads.
    TakesAnyMethodForUpload,
    /// Methods that it does not know are answered with 500.
    FailsOnUnknownMethods,
    /// A deletion is answered with 200, and the state stays.
    KeepsDeletedStates,
    /// All paths have one state.
    HasOneState,
    /// `Content-MD5` of a read is that of something else.
    SendsWrongDigests,
}
