//! Between the words of `object_store` and ours.

use groundstate_blobs::{Attributes, BlobMeta, BlobVersion, Error, ErrorKind, Op, Precondition};
use groundstate_common::Timestamp;
use object_store::{Attribute, AttributeValue, ObjectMeta, PutMode, UpdateVersion};

/// A version: one that is a number is a generation, as in Google Cloud Storage.
pub(super) fn version(e_tag: Option<&str>, version: Option<&str>) -> BlobVersion {
    let mut out = BlobVersion::default();
    if let Some(e_tag) = e_tag {
        out = out.with_e_tag(e_tag);
    }
    match version.map(|version| (version, version.parse())) {
        Some((_, Ok(generation))) => out.with_generation(generation),
        Some((id, Err(_))) => out.with_version_id(id),
        None => out,
    }
}

/// The ETag of a version. Nothing is stored under an empty one.
pub(super) fn e_tag(version: &BlobVersion) -> String {
    version.e_tag().unwrap_or_default().to_owned()
}

pub(super) fn mode(precondition: &Precondition) -> PutMode {
    match precondition {
        Precondition::Any => PutMode::Overwrite,
        Precondition::Absent => PutMode::Create,
        Precondition::Version(version) => {
            let generation = version.generation().map(|generation| generation.to_string());
            PutMode::Update(UpdateVersion {
                e_tag: version.e_tag().map(str::to_owned),
                version: generation.or_else(|| version.version_id().map(str::to_owned)),
            })
        }
    }
}

pub(super) fn attributes(attributes: &Attributes) -> object_store::Attributes {
    let mut out = object_store::Attributes::new();
    if let Some(content_type) = &attributes.content_type {
        out.insert(Attribute::ContentType, AttributeValue::from(content_type.clone()));
    }
    for (name, value) in &attributes.metadata {
        out.insert(Attribute::Metadata(name.clone().into()), AttributeValue::from(value.clone()));
    }
    out
}

pub(super) fn meta(meta: &ObjectMeta, attributes: &object_store::Attributes) -> BlobMeta {
    let mut out = BlobMeta::new(version(meta.e_tag.as_deref(), meta.version.as_deref()), meta.size);
    let modified = meta.last_modified;
    out.last_modified = Timestamp::from_unix(modified.timestamp(), modified.timestamp_subsec_nanos()).ok();
    for (name, value) in attributes {
        match name {
            Attribute::ContentType => out.attributes.content_type = Some(value.to_string()),
            Attribute::Metadata(name) => {
                out.attributes.metadata.insert(name.to_ascii_lowercase(), value.to_string());
            }
            _ => {}
        }
    }
    out
}

/// An error; what went wrong in some other way while something was changed may have been done nevertheless.
pub(super) fn error(op: Op, place: String, error: object_store::Error, changes: bool) -> Error {
    use object_store::Error as Theirs;
    let kind = match &error {
        Theirs::NotFound { .. } => ErrorKind::NotFound,
        Theirs::AlreadyExists { .. } | Theirs::Precondition { .. } => ErrorKind::PreconditionFailed,
        Theirs::NotModified { .. } => ErrorKind::NotModified,
        Theirs::NotSupported { .. } | Theirs::NotImplemented { .. } => ErrorKind::Unsupported,
        Theirs::PermissionDenied { .. } => ErrorKind::Denied,
        Theirs::Unauthenticated { .. } => ErrorKind::Unauthenticated,
        Theirs::InvalidPath { .. } => ErrorKind::InvalidKey,
        Theirs::UnknownConfigurationKey { .. } => ErrorKind::Invalid,
        _ if changes => ErrorKind::Ambiguous,
        _ => ErrorKind::Unavailable,
    };
    Error::new(kind, op, place).with_source(error)
}
