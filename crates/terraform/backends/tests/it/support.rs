//! Directories with files in them, and a backend that is not built in.

use std::fs;
use std::sync::Arc;

use groundstate_backends::{BackendsError, Context, Factory, Opened, PlaceUrl, Settings, Variables};
use groundstate_common::{FixedClock, OsIds, Timestamp};
use groundstate_statemgr::{MemoryBackend, WorkspaceName};

/// Makes a directory with these files.
pub(crate) fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("there is room for a folder");
    for (name, content) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("it can be made");
        fs::write(path, content).expect("it can be written");
    }
    dir
}

pub(crate) fn context(variables: &[(&str, &str)]) -> Context {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let clock = Arc::new(FixedClock::new(Timestamp::UNIX_EPOCH));
    Context::new(Arc::<FixedClock>::clone(&clock), clock, Arc::new(OsIds))
        .variables(variables.collect::<Variables>())
}

pub(crate) fn name(text: &str) -> WorkspaceName {
    WorkspaceName::parse(text).expect("it is a name")
}

/// What a stranger adds to the registry.
#[derive(Debug)]
pub(crate) struct Shelf(pub(crate) MemoryBackend);

impl Factory for Shelf {
    fn kind(&self) -> &'static str {
        "shelf"
    }

    fn schemes(&self) -> &'static [&'static str] {
        &["shelf"]
    }

    fn settings(&self, url: &PlaceUrl) -> Result<(Settings, Option<WorkspaceName>), BackendsError> {
        if url.authority().is_empty() {
            return Err(url.wrong("it names no shelf"));
        }
        Ok((Settings::new("shelf").with("board", url.authority()), None))
    }

    fn open(&self, settings: &Settings, _: &Context) -> Result<Opened, BackendsError> {
        settings.only(&["board"])?;
        match settings.text("board")? {
            Some(_) => Ok(Opened::new(Arc::new(self.0.clone()))),
            None => Err(settings.wrong("board", "it has to be given")),
        }
    }
}
