//! The parts of a deployment besides its resources.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use groundstate_pulumi_snapshot::{
    Extension, Manifest, SecretsProvider, SnapshotMetadata, Snippet, SnippetDescriptor,
};

use super::Encoder;

impl<W: io::Write> Encoder<W> {
    /// A text that is written in any case.
    fn always(&mut self, name: &str, text: &str) {
        self.writer.name(name);
        self.writer.string(text);
    }

    pub(super) fn manifest(&mut self, manifest: &Manifest) -> io::Result<()> {
        self.writer.open('{');
        self.always("time", &manifest.time.to_string());
        self.always("magic", &manifest.magic);
        self.always("version", &manifest.version);
        if !manifest.plugins.is_empty() {
            self.writer.name("plugins");
            self.writer.open('[');
            for plugin in &manifest.plugins {
                self.writer.open('{');
                self.always("name", &plugin.name);
                self.always("path", &plugin.path);
                self.always("type", &plugin.kind);
                self.always("version", &plugin.version);
                self.extra(&plugin.extra)?;
                self.writer.close('}')?;
            }
            self.writer.close(']')?;
        }
        self.extra(&manifest.extra)?;
        self.writer.close('}')
    }

    pub(crate) fn secrets_provider(&mut self, provider: &SecretsProvider) -> io::Result<()> {
        self.writer.open('{');
        self.always("type", &provider.kind);
        if let Some(state) = &provider.state {
            self.writer.name("state");
            self.writer.raw(state.as_str())?;
        }
        self.extra(&provider.extra)?;
        self.writer.close('}')
    }

    pub(super) fn metadata(&mut self, metadata: &SnapshotMetadata, even_empty: bool) -> io::Result<()> {
        if !even_empty && *metadata == SnapshotMetadata::default() {
            return Ok(());
        }
        self.writer.name("metadata");
        self.writer.open('{');
        if let Some(error) = &metadata.integrity_error {
            self.writer.name("integrity_error");
            self.writer.open('{');
            self.text("version", Some(&error.version));
            self.text("command", Some(&error.command));
            self.text("error", Some(&error.error));
            if !error.env_vars.is_empty() {
                self.writer.name("env_vars");
                self.writer.open('{');
                error.env_vars.iter().for_each(|(variable, value)| self.always(variable, value));
                self.writer.close('}')?;
            }
            self.extra(&error.extra)?;
            self.writer.close('}')?;
        }
        self.extra(&metadata.extra)?;
        self.writer.close('}')
    }

    pub(crate) fn snippet(&mut self, snippet: &Snippet) -> io::Result<()> {
        self.writer.open('{');
        self.always("uuid", snippet.uuid.as_str());
        self.always("name", &snippet.name);
        self.always("type", snippet.kind.as_str());
        self.always("code", &snippet.code);
        self.writer.name("descriptor");
        self.descriptor(&snippet.descriptor)?;
        if !snippet.references.is_empty() {
            self.writer.name("references");
            self.writer.open('{');
            snippet.references.iter().for_each(|(name, urn)| self.always(name, urn.as_str()));
            self.writer.close('}')?;
        }
        self.extra(&snippet.extra)?;
        self.writer.close('}')
    }

    fn descriptor(&mut self, descriptor: &SnippetDescriptor) -> io::Result<()> {
        self.writer.open('{');
        self.always("name", &descriptor.name);
        if let Some(version) = &descriptor.version {
            self.always("version", version);
        }
        self.text("downloadURL", descriptor.download_url.as_ref());
        if let Some(parameterization) = &descriptor.parameterization {
            self.writer.name("parameterization");
            self.extension(parameterization)?;
        }
        self.extra(&descriptor.extra)?;
        self.writer.close('}')
    }

    pub(crate) fn extension(&mut self, extension: &Extension) -> io::Result<()> {
        self.writer.open('{');
        self.always("name", &extension.name);
        self.always("version", &extension.version);
        self.always("value", &STANDARD.encode(&extension.value));
        self.extra(&extension.extra)?;
        self.writer.close('}')
    }
}
