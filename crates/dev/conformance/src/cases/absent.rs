//! What a store that lacks something answers to those who ask for it.

use groundstate_statemgr::{ErrorKind, Expect, FencingToken, LockId, Result, Version, WriteOptions};

use crate::cx::{Client, Cx, put, read, reads_the_same};
use crate::failure::{Answer, Step, Stop};

/// Everything that needs one of these capabilities is `Unsupported` and changes nothing.
pub(crate) async fn refusals(cx: &Cx, missing: &[&str]) -> Step {
    let (a, b) = cx.two().await?;
    put(&a, &cx.document()).await?;
    // With a lock there is something that a refusal could change.
    let lock = match cx.capabilities.locking {
        true => Some(a.lock(&cx.info("held")).await.succeeds("a lock that is free")?),
        false => None,
    };
    let id = lock.as_ref().map_or_else(|| LockId::new("held"), |grant| grant.id.clone());
    let before = read(&b).await?;
    for name in missing {
        let outcome = refusal(cx, &a, name, &id, before.as_ref().map(|stored| &stored.version)).await;
        outcome.map_err(of_c1)?;
        reads_the_same(&b, &format!("B, after what needs `{name}` was refused,"), before.as_ref()).await?;
        if lock.is_some() {
            let what = format!("a lock of B while A holds it, after what needs `{name}` was refused,");
            b.lock(&cx.info("b")).await.refused(ErrorKind::Locked, &what)?;
        }
    }
    match lock {
        Some(grant) => a.unlock(&grant.id).await.succeeds("the release"),
        None => Ok(()),
    }
}

/// A refusal that does not come is a matter of C1, whatever case asked for it.
fn of_c1(stop: Stop) -> Stop {
    match stop {
        Stop::Failed { expected, seen, .. } => {
            Stop::Failed { expected, seen, clause: Some("C1"), hint: None }
        }
        other => other,
    }
}

async fn refusal(cx: &Cx, a: &Client, name: &str, id: &LockId, version: Option<&Version>) -> Step {
    let stored = Expect::Version(version.cloned().unwrap_or_else(|| Version::new("1")));
    match name {
        "locking" => {
            unsupported(a.lock(&cx.info("a")).await, "`lock`")?;
            unsupported(a.unlock(id).await, "`unlock`")
        }
        "conditional_write" => {
            for expect in [Expect::Absent, stored] {
                let options = WriteOptions::expecting(expect);
                let what = format!("a write that expects {}", options.expect);
                unsupported(a.write(cx.document().into(), &options).await, &what)?;
                unsupported(a.delete(&options).await, "a deletion that expects something")?;
            }
            Ok(())
        }
        "fencing" => {
            let options = WriteOptions::any().fence(FencingToken::new(1));
            unsupported(a.write(cx.document().into(), &options).await, "a write with a token")?;
            unsupported(a.delete(&options).await, "a deletion with a token")
        }
        "lease" => unsupported(a.renew(id).await, "`renew`"),
        "force_unlock" => unsupported(a.force_unlock(id).await, "`force_unlock`"),
        "holder" => unsupported(a.lock_holder().await, "`lock_holder`"),
        "delete" => unsupported(a.delete(&WriteOptions::any()).await, "a deletion"),
        "force_write" => {
            let options = WriteOptions::any().force(true);
            unsupported(a.write(cx.document().into(), &options).await, "a write by force")?;
            unsupported(a.delete(&options).await, "a deletion by force")
        }
        // Whom a lock keeps out has no call of its own.
        _ => Ok(()),
    }
}

fn unsupported<T>(outcome: Result<T>, what: &str) -> Step {
    let what = format!("{what}, which needs a capability that the store does not have,");
    outcome.refused(ErrorKind::Unsupported, &what).map(drop)
}
