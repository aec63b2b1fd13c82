//! `postgres://`: a table of a database.

use std::sync::Arc;

use groundstate_blobs::{BlobStore, Error, Op, Result, Retry, RetryPolicy};
use groundstate_blobs_postgres::{PostgresBlobs, PostgresSettings};
use groundstate_common::Origin;

use crate::choice::BackendChoice;
use crate::open::{OpenContext, OtherForm};

/// The store twice, retried and as it is, for its table; and the other form of its URL.
type Opened = (Arc<dyn BlobStore>, Arc<PostgresBlobs>, Option<OtherForm>);

/// Opens the database; nothing is sent yet.
pub(crate) fn open(choice: &BackendChoice, with: OpenContext<'_>) -> Result<Opened> {
    if choice.origin < Origin::Environment {
        return Err(Error::unsupported(Op::Use, format_args!("the backend URL {}", choice.url))
            .because("only the project file names the server, which your password would be sent to")
            .next_step("log in with `pulumi login URL`, set PULUMI_BACKEND_URL, or pass `--trust-directory` if you trust it"));
    }
    let settings = PostgresSettings::from_url(&without_prefix(choice.url.secret_text()), with.variable)?;
    let store = Arc::new(PostgresBlobs::open(&settings)?);
    let retried = Retry::new(Arc::clone(&store), RetryPolicy::default(), with.context.clone());
    Ok((Arc::new(retried), store, other_form(&settings)))
}

fn other_form(settings: &PostgresSettings) -> Option<OtherForm> {
    let database = settings.database()?;
    Some(match settings.key_prefix() {
        "" => OtherForm {
            prefix: format!("{database}/"),
            url: format!("postgres://HOST/{database}, with the name of the database in its path"),
        },
        _ => OtherForm {
            prefix: String::new(),
            url: format!("postgres:// without a path, and PGDATABASE={database}"),
        },
    })
}

/// The URL without the parameter `prefix`, which is no word of a database; it is a part of the keys already.
fn without_prefix(text: &str) -> String {
    let Some((place, query)) = text.split_once('?') else { return text.to_owned() };
    let is_other = |pair: &&str| pair.split('=').next() != Some("prefix");
    let rest: Vec<&str> = query.split('&').filter(is_other).collect();
    if rest.is_empty() { place.to_owned() } else { format!("{place}?{}", rest.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::without_prefix;

    #[test]
    fn prefixes_are_left_out_and_nothing_else() {
        for (text, expected) in [
            ("postgres://h/d", "postgres://h/d"),
            ("postgres://h/d?prefix=a", "postgres://h/d"),
            ("postgres://h/d?table=t&prefix=a&sslmode=disable", "postgres://h/d?table=t&sslmode=disable"),
            ("postgres://h/d?prefixes=a", "postgres://h/d?prefixes=a"),
        ] {
            assert_eq!(without_prefix(text), expected);
        }
    }
}
