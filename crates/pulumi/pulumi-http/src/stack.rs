//! A stack of a service: what is known of it, its states, its tags, its update.

use std::fmt;

use bytes::Bytes;
use groundstate_pulumi_protocol::{
    CreateStack, CreatedStack, EngineEvents, ProjectPath, RenameStack, Route, Stack, StackCall, StackPath,
    Tags, UntypedDeployment, UpdateCall, check_tags, decode, encode, project_in_path,
};

use crate::connection::Call;
use crate::{Error, ErrorKind, Op, Result, Service};

/// A stack of a service, which need not exist.
#[derive(Clone)]
pub struct ServiceStack {
    pub(crate) service: Service,
    pub(crate) path: StackPath,
    /// As errors name it.
    pub(crate) name: String,
}

impl ServiceStack {
    pub(crate) fn new(service: Service, path: StackPath) -> Self {
        let name = format!("stack {path} of {service}");
        Self { service, path, name }
    }

    /// Its service.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Owner, project and name.
    pub fn path(&self) -> &StackPath {
        &self.path
    }

    /// The path in requests, in which the CLI replaces what no project in a path has.
    fn sent_path(&self) -> StackPath {
        let StackPath { owner, project, stack } = &self.path;
        StackPath::new(owner, project_in_path(project), stack)
    }

    pub(crate) fn call(&self, op: Op, call: StackCall) -> Call<'_> {
        Call::new(op, &self.name, &Route::Stack { stack: self.sent_path(), call })
    }

    pub(crate) fn update_call(&self, op: Op, update: &str, call: UpdateCall) -> Call<'_> {
        let update = update.to_owned();
        Call::new(op, &self.name, &Route::Update { stack: self.sent_path(), update, call })
    }

    pub(crate) fn error(&self, kind: ErrorKind, op: Op) -> Error {
        Error::new(kind, op, &self.name)
    }

    fn encoded(&self, op: Op, document: &impl serde::Serialize) -> Result<Vec<u8>> {
        encode(document).map_err(|error| self.error(ErrorKind::Internal, op).with_source(error))
    }

    /// What is known of the stack: its last version, its tags, the update that runs.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of every call.
    pub async fn get(&self) -> Result<Stack> {
        self.service.0.connection.ask(&self.call(Op::Read, StackCall::Get)).await
    }

    /// Makes the stack.
    ///
    /// # Errors
    ///
    /// `Exists`; `Ambiguous` if the answer got lost.
    pub async fn create(&self, tags: Tags, state: Option<UntypedDeployment>) -> Result<CreatedStack> {
        let StackPath { owner, project, stack } = self.sent_path();
        let document = CreateStack { stack_name: stack, tags, state, ..CreateStack::default() };
        let body = self.encoded(Op::Create, &document)?;
        let route = Route::CreateStack(ProjectPath::new(owner, project));
        self.service.0.connection.ask(&Call::new(Op::Create, &self.name, &route).body(body)).await
    }

    /// Removes the stack; with `force` also one that has resources, which are forgotten.
    ///
    /// # Errors
    ///
    /// `NotFound`, `HasResources`, `Running`; `Ambiguous` if the answer got lost.
    pub async fn remove(&self, force: bool) -> Result<()> {
        let call =
            self.call(Op::Remove, StackCall::Delete).query("force", if force { "true" } else { "false" });
        self.service.0.connection.send(&call).await.map(drop)
    }

    /// Gives the stack another name, and another project if that is said. Its owner stays.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Running` also where the name is taken; `Ambiguous` if the answer got lost.
    pub async fn rename(&self, name: &str, project: Option<&str>) -> Result<Self> {
        let (owner, old) = (&self.path.owner, &self.path.project);
        let new_project = project.unwrap_or(old);
        let document = RenameStack { new_name: name.to_owned(), new_project: new_project.to_owned() };
        let body = self.encoded(Op::Rename, &document)?;
        let call = self.call(Op::Rename, StackCall::Rename).body(body);
        self.service.0.connection.send(&call).await?;
        Ok(self.service.stack(StackPath::new(owner, new_project, name)))
    }

    /// Replaces all tags.
    ///
    /// # Errors
    ///
    /// `Invalid` for tags that break Pulumi's rules, `NotFound`; `Ambiguous` if the answer got lost.
    pub async fn set_tags(&self, tags: &Tags) -> Result<()> {
        check_tags(tags).map_err(|error| {
            self.error(ErrorKind::Invalid, Op::Tag).because(error.to_string()).with_source(error)
        })?;
        let body = self.encoded(Op::Tag, tags)?;
        self.service.0.connection.send(&self.call(Op::Tag, StackCall::SetTags).body(body)).await.map(drop)
    }

    /// The newest state, as the service sends it: an export, as `pulumi stack export` prints it.
    ///
    /// # Errors
    ///
    /// `NotFound`, `TooLarge`, and `NotService` for what is no deployment.
    pub async fn export(&self) -> Result<Bytes> {
        self.exported(StackCall::Export).await
    }

    /// The state of a version.
    ///
    /// # Errors
    ///
    /// Those of [`export`](Self::export).
    pub async fn export_version(&self, version: u64) -> Result<Bytes> {
        self.exported(StackCall::ExportVersion(version)).await
    }

    async fn exported(&self, call: StackCall) -> Result<Bytes> {
        let call = self.call(Op::Export, call).large();
        let bytes = self.service.0.connection.send(&call).await?;
        let wrong = |why: &dyn fmt::Display| self.service.0.connection.no_document(&call, &why.to_string());
        let document: UntypedDeployment = decode(&bytes).map_err(|error| wrong(&error))?;
        document.checked().map_err(|error| wrong(&error))?;
        Ok(bytes)
    }

    /// Cancels an update, whose process learns of it when it asks for more time. One that is over stays as it is.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Denied`, and those of every call.
    pub async fn cancel(&self, update: &str) -> Result<()> {
        let call = self.update_call(Op::Cancel, update, UpdateCall::Cancel).repeated();
        self.service.0.connection.send(&call).await.map(drop)
    }

    /// A page of the events of an update; `token` is that of the page before.
    ///
    /// # Errors
    ///
    /// `NotFound`, and those of every call.
    pub async fn events(&self, update: &str, token: Option<&str>) -> Result<EngineEvents> {
        let mut call = self.update_call(Op::Events, update, UpdateCall::Events).large();
        if let Some(token) = token {
            call = call.query("continuationToken", token);
        }
        self.service.0.connection.ask(&call).await
    }
}

impl fmt::Display for ServiceStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for ServiceStack {
    /// Shows no token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceStack").field("name", &self.name).finish_non_exhaustive()
    }
}
