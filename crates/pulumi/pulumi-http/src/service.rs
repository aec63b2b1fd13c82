//! A service: who the user is there, what it can do, which stacks it has.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use groundstate_common::Sleeper;
use groundstate_pulumi_protocol::{
    Capabilities, Capability, DefaultOrganization, Route, StackList, StackPath, StackSummary, User,
};
use tokio::sync::OnceCell;

use crate::connection::{Call, Connection};
use crate::{AccessToken, Error, ErrorKind, Op, Result, ServiceAddress, ServiceOptions, ServiceStack};

/// How many pages of stacks are read, at most: a service that goes on is not waited for.
const MOST_PAGES: usize = 100_000;

/// A Pulumi service, for one user. Clones share connections.
#[derive(Clone)]
pub struct Service(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) connection: Connection,
    /// The address, as errors name it.
    pub(crate) name: String,
    capabilities: OnceCell<Capabilities>,
}

/// Which stacks are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StackFilter {
    /// Those of this owner.
    pub organization: Option<String>,
    /// Those of this project.
    pub project: Option<String>,
    /// Those with a tag of this name, and of this value if there is one.
    pub tag: Option<(String, Option<String>)>,
}

impl StackFilter {
    /// Sets the owner.
    #[must_use]
    pub fn organization(mut self, organization: impl Into<String>) -> Self {
        self.organization = Some(organization.into());
        self
    }

    /// Sets the project.
    #[must_use]
    pub fn project(mut self, project: impl Into<String>) -> Self {
        self.project = Some(project.into());
        self
    }

    /// Sets a tag.
    #[must_use]
    pub fn tag(mut self, name: impl Into<String>, value: Option<String>) -> Self {
        self.tag = Some((name.into(), value));
        self
    }
}

impl Service {
    /// A client for the user of a token. Nothing is sent yet. Without a token, only what services tell anybody is answered.
    ///
    /// `sleeper` waits between repetitions.
    ///
    /// # Errors
    ///
    /// `Invalid` for options that no client can be made with.
    pub fn new(
        address: ServiceAddress,
        token: Option<AccessToken>,
        options: ServiceOptions,
        sleeper: Arc<dyn Sleeper>,
    ) -> Result<Self> {
        let name = address.to_string();
        let connection = Connection::new(address, token, options, sleeper)?;
        Ok(Self(Arc::new(Inner { connection, name, capabilities: OnceCell::new() })))
    }

    /// A client of the same service and user with connections of its own: for another runtime, since connections are driven by the runtime
    /// that made them.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn reconnected(&self) -> Result<Self> {
        let connection = self.0.connection.reconnected()?;
        let (name, capabilities) = (self.0.name.clone(), self.0.capabilities.clone());
        Ok(Self(Arc::new(Inner { connection, name, capabilities })))
    }

    /// Its address.
    pub fn address(&self) -> &ServiceAddress {
        &self.0.connection.address
    }

    /// The user of the token, with the organisations.
    ///
    /// # Errors
    ///
    /// `NotLoggedIn` for a token that is not valid, and those of every call: `NotService`, `Unavailable`, `Invalid`.
    pub async fn user(&self) -> Result<User> {
        let call = Call::new(Op::LogIn, &self.0.name, &Route::User);
        let user: User = self.0.connection.ask(&call).await?;
        if user.github_login.is_empty() {
            return Err(self.0.connection.no_document(&call, "it names no user"));
        }
        Ok(user)
    }

    /// The organisation of stacks whose reference names none: what the service says, or the name of the user.
    ///
    /// # Errors
    ///
    /// Those of [`user`](Self::user).
    pub async fn default_organization(&self) -> Result<String> {
        let call = Call::new(Op::LogIn, &self.0.name, &Route::DefaultOrganization);
        match self.0.connection.ask::<DefaultOrganization>(&call).await {
            Ok(default) if !default.github_login.is_empty() => Ok(default.github_login),
            Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotService) => Err(error),
            _ => Ok(self.user().await?.github_login),
        }
    }

    /// What the service can do; nothing if it does not say. It is asked once.
    ///
    /// # Errors
    ///
    /// Those of every call.
    pub async fn capabilities(&self) -> Result<&Capabilities> {
        self.0.capabilities.get_or_try_init(|| self.ask_capabilities()).await
    }

    /// Whether versions of other histories can be appended to a stack, with their own times.
    ///
    /// # Errors
    ///
    /// Those of [`capabilities`](Self::capabilities).
    pub async fn can_append_versions(&self) -> Result<bool> {
        Ok(self.capabilities().await?.get(Capability::APPEND_VERSIONS).is_some())
    }

    /// Whether an import can be made to depend on the state that it replaces, as [`ServiceStack::import_over`] does.
    ///
    /// # Errors
    ///
    /// Those of [`capabilities`](Self::capabilities).
    pub async fn can_import_conditionally(&self) -> Result<bool> {
        Ok(self.capabilities().await?.get(Capability::CONDITIONAL_IMPORT).is_some())
    }

    async fn ask_capabilities(&self) -> Result<Capabilities> {
        let call = Call::new(Op::Ask, &self.0.name, &Route::Capabilities);
        match self.0.connection.ask(&call).await {
            Err(error) if error.status() == Some(404) => Ok(Capabilities::default()),
            answer => answer,
        }
    }

    /// All stacks that the user may see and the filter lets pass, page by page.
    ///
    /// # Errors
    ///
    /// Those of every call, and `NotService` where pages never end.
    pub async fn stacks(&self, filter: &StackFilter) -> Result<Vec<StackSummary>> {
        let (mut stacks, mut seen, mut page) = (Vec::new(), BTreeSet::new(), None);
        loop {
            let StackList { stacks: found, continuation_token } = self.page(filter, page.as_deref()).await?;
            stacks.extend(found);
            let Some(next) = continuation_token.filter(|next| !next.is_empty()) else { return Ok(stacks) };
            if !seen.insert(next.clone()) || seen.len() > MOST_PAGES {
                return Err(Error::new(ErrorKind::NotService, Op::List, &self.0.name)
                    .because(format!("the pages of {} do not end", self.address())));
            }
            page = Some(next);
        }
    }

    /// A page of the stacks; `token` is that of the page before.
    ///
    /// # Errors
    ///
    /// Those of every call.
    pub async fn page(&self, filter: &StackFilter, token: Option<&str>) -> Result<StackList> {
        let (tag, value) = match &filter.tag {
            Some((name, value)) => (Some(name), value.as_ref()),
            None => (None, None),
        };
        let parameters = [
            ("organization", filter.organization.as_ref()),
            ("project", filter.project.as_ref()),
            ("tagName", tag),
            ("tagValue", value),
        ];
        let mut call = Call::new(Op::List, &self.0.name, &Route::ListStacks).large();
        for (name, value) in parameters {
            if let Some(value) = value {
                call = call.query(name, value);
            }
        }
        if let Some(token) = token {
            call = call.query("continuationToken", token);
        }
        self.0.connection.ask(&call).await
    }

    /// A stack of the service, which need not exist.
    pub fn stack(&self, path: StackPath) -> ServiceStack {
        ServiceStack::new(self.clone(), path)
    }
}

impl fmt::Debug for Service {
    /// Shows no token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("address", &self.0.name).finish_non_exhaustive()
    }
}

impl fmt::Display for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name)
    }
}
