//! Which accounts credentials may be of.

use groundstate_blobs::{Error, ErrorKind, Result};
use object_store::aws::AwsCredential;
use serde::Deserialize;

use super::OP;
use super::sts::{Form, Sts, items};
use crate::settings::Values;

/// The options `allowed_account_ids` and `forbidden_account_ids`.
#[derive(Debug)]
pub(in crate::s3) struct Accounts {
    sts: Sts,
    allowed: Vec<String>,
    forbidden: Vec<String>,
}

#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "GetCallerIdentityResult")]
    result: Identity,
}

#[derive(Deserialize)]
struct Identity {
    #[serde(rename = "Account")]
    account: String,
}

impl Accounts {
    /// `None` if every account is as good.
    pub(super) fn of(values: &Values, sts: &Sts) -> Result<Option<Self>> {
        let list = |name: &'static str| {
            let ids: Vec<String> = items(values.text(name)).map(str::to_owned).collect();
            let is_id = |id: &String| id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_digit());
            match ids.iter().find(|id| !is_id(id)) {
                Some(id) => {
                    Err(values.invalid(name, format!("{id:?} is not an account, which has 12 digits")))
                }
                None => Ok(ids),
            }
        };
        let (allowed, forbidden) = (list("allowed_account_ids")?, list("forbidden_account_ids")?);
        if !allowed.is_empty() && !forbidden.is_empty() {
            let why = "`forbidden_account_ids` is set too, and one excludes the other";
            return Err(values.invalid("allowed_account_ids", why));
        }
        let is_any = allowed.is_empty() && forbidden.is_empty();
        Ok((!is_any).then(|| Self { sts: sts.clone(), allowed, forbidden }))
    }

    /// Asks the service whose credentials these are.
    pub(super) async fn check(&self, credential: &AwsCredential) -> Result<()> {
        let from = "the account of the credentials";
        let answer: Answer = self.sts.call(from, &Form::new("GetCallerIdentity"), Some(credential)).await?;
        let account = answer.result.account;
        let (is_refused, option) = match self.allowed.is_empty() {
            true => (self.forbidden.contains(&account), "forbidden_account_ids"),
            false => (!self.allowed.contains(&account), "allowed_account_ids"),
        };
        if is_refused {
            let error = Error::new(ErrorKind::Denied, OP, "credentials");
            let error = error.because(format!("`{option}` excludes the account {account}, whose they are"));
            return Err(error.next_step(format!("use credentials of another account, or correct `{option}`")));
        }
        Ok(())
    }
}
