//! C1 and C2: what the store lacks, and what it calls itself.

use bytes::Bytes;
use groundstate_statemgr::{Capabilities, Exclusion, StateStore};

use crate::cases::absent::refusals;
use crate::cx::{Cx, MARK, put};
use crate::failure::{Answer, Step, describe, ensure, equal, fail};

pub(super) async fn lacking(cx: &Cx) -> Step {
    let has = cx.capabilities;
    let everything = Capabilities::none()
        .locking(Exclusion::Process)
        .conditional_write()
        .fencing()
        .lease()
        .force_unlock()
        .holder()
        .delete()
        .force_write();
    for client in cx.clients(2).await? {
        equal("the capabilities of every client", &client.capabilities(), &has)?;
    }
    ensure(has.locking == (has.exclusion != Exclusion::None), "locks exclude other clients", || {
        format!("the capabilities {has}")
    })?;
    for (name, there) in [
        ("fencing", has.fencing),
        ("lease", has.lease),
        ("force_unlock", has.force_unlock),
        ("holder", has.holder),
    ] {
        let seen = || format!("`{name}` without it");
        ensure(has.locking || !there, format!("`{name}` is about locks, so it needs `locking`"), seen)?;
    }
    refusals(cx, &has.missing(&everything)).await?;
    if has.locking {
        let a = cx.open().await?;
        let grant = a.lock(&cx.info("grant")).await.succeeds("a lock that is free")?;
        equal("a grant has a token only with `fencing`", &grant.fence.is_some(), &has.fencing)?;
        equal("a grant has an end only with `lease`", &grant.expires.is_some(), &has.lease)?;
        a.unlock(&grant.id).await.succeeds("the release")?;
    }
    Ok(())
}

pub(super) async fn display(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let (name, other) = (a.to_string(), b.to_string());
    let one_line = !name.trim().is_empty() && name.lines().count() == 1;
    ensure(one_line, "`Display` is one line and not empty", || format!("{name:?}"))?;
    equal("`Display` of another client of the place", &other, &name)?;
    put(&a, &cx.document()).await?;
    equal("`Display` after a write", &a.to_string(), &name)?;
    let mut shown = vec![("`Display`", name), ("`Debug`", format!("{a:?}"))];
    // An error that can be had everywhere, to see what stands in it.
    match a.write(Bytes::from_static(b""), &groundstate_statemgr::WriteOptions::any()).await {
        Ok(_) => return fail("a write of zero bytes is refused", "it succeeded"),
        Err(error) => shown.push(("an error", describe(&error))),
    }
    // `Debug` may show bytes as numbers.
    let numbers = MARK.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(", ");
    for (what, text) in shown {
        for secret in cx.harness.secrets() {
            let expected = format!("{what} shows no secret");
            ensure(secret.is_empty() || !text.contains(&secret), &expected, || "it shows one".to_owned())?;
        }
        let clean = !text.contains(MARK) && !text.contains(&numbers);
        ensure(clean, format!("{what} shows nothing of what is stored"), || "it does".to_owned())?;
    }
    Ok(())
}
