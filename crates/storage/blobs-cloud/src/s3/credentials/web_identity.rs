//! Credentials of a role that is assumed with the token of another issuer, as CI systems and Kubernetes have it.

use std::fmt;

use async_trait::async_trait;
use groundstate_blobs::{Error, ErrorKind, Result};

use super::sts::{Form, Sts};
use super::{Fetched, OP, Source, token_file};
use crate::cloud::token;

/// Where the token is.
pub(super) enum Token {
    /// In a file, which its issuer renews.
    File(String),
    Text(String),
}

#[derive(Debug)]
pub(super) struct WebIdentity {
    sts: Sts,
    /// All but the token.
    form: Form,
    token: Token,
    from: String,
}

impl WebIdentity {
    pub(super) fn new(sts: Sts, role: &str, session: Option<&str>, token: Token) -> Self {
        let form = Form::new("AssumeRoleWithWebIdentity")
            .with("RoleArn", role)
            .with("RoleSessionName", session.unwrap_or("groundstate"));
        Self { sts, form, token, from: format!("credentials of the role {role}") }
    }

    /// Adds to the form.
    pub(super) fn form(mut self, more: impl FnOnce(Form) -> Result<Form>) -> Result<Self> {
        self.form = more(self.form)?;
        Ok(self)
    }
}

#[async_trait]
impl Source for WebIdentity {
    fn kind(&self) -> &'static str {
        "a web identity"
    }

    async fn fetch(&self) -> Result<Fetched> {
        let (text, place) = match &self.token {
            Token::File(path) => (token_file(&self.from, path)?, format!("the token in {path}")),
            Token::Text(text) => (text.clone(), "the token".to_owned()),
        };
        let checked = token(&text).map_err(|why| {
            let error = Error::new(ErrorKind::Unauthenticated, OP, &self.from);
            error.because(format!("{place} cannot be used: {why}"))
        })?;
        let form = self.form.clone().with("WebIdentityToken", checked);
        self.sts.role(&self.from, &form, None).await
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Text(_) => f.write_str("Text"),
        }
    }
}
