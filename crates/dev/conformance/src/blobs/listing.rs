//! Lists, and the names in them.

use bytes::Bytes;
use groundstate_blobs::{BlobStore, ErrorKind, GetOptions, ListOptions, PutOptions};

use super::Cx;
use super::reading::{key, put};
use crate::failure::{Answer, Step, equal, holds};

/// All names and prefixes, over all pages, in the order they came.
async fn all(store: &dyn BlobStore, prefix: &str, options: ListOptions) -> Step<(Vec<String>, Vec<String>)> {
    let (mut names, mut prefixes) = (Vec::new(), Vec::new());
    let mut options = options;
    loop {
        let page = store.list(prefix, &options).await.succeeds("a list")?;
        if let Some(limit) = options.limit {
            holds(
                page.blobs.len() + page.prefixes.len() <= limit,
                "a page has as many entries as asked for, at most",
            )?;
        }
        names.extend(page.blobs.into_iter().map(|blob| blob.name));
        prefixes.extend(page.prefixes);
        let Some(next) = page.next else { return Ok((names, prefixes)) };
        options = options.page(Some(next));
    }
}

/// Leaves out the names that have another one and a slash before them, where the store cannot have both.
fn without_nested(store: &dyn BlobStore, names: &mut Vec<&str>) {
    if !store.capabilities().nested_keys {
        let all = names.clone();
        names.retain(|name| {
            !all.iter().any(|other| name.strip_prefix(other).is_some_and(|rest| rest.starts_with('/')))
        });
    }
}

pub(super) async fn raw_prefix(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    equal("a list of nothing", &all(&b, "", ListOptions::default()).await?, &(vec![], vec![]))?;
    let mut names =
        vec!["a", "a/b", "ab", "env:/dev/k", "env:/prod/k", "env:x", "kenv:dev", "kenv:prod", "z"];
    without_nested(&a, &mut names);
    for name in &names {
        put(&a, &key(name)?, *name).await?;
    }
    for prefix in ["", "a", "a/", "env:", "env:/", "env:/p", "kenv:", "kenv", "none", "z"] {
        let expected: Vec<&str> = names.iter().copied().filter(|name| name.starts_with(prefix)).collect();
        let (seen, _) = all(&b, prefix, ListOptions::default()).await?;
        equal(
            &format!("the names that begin with {prefix:?}"),
            &seen,
            &expected.into_iter().map(str::to_owned).collect(),
        )?;
    }
    let page = b.list("env:/dev", &ListOptions::default()).await.succeeds("a list")?;
    let head = b.head(&key("env:/dev/k")?).await.succeeds("a look")?;
    let same = page.blobs.first().zip(head).is_some_and(|(listed, head)| {
        listed.meta.version.same_as(&head.version) && listed.meta.size == head.size
    });
    holds(same, "a list gives versions and sizes")
}

pub(super) async fn pages(cx: &Cx) -> Step {
    let store = cx.open().await?;
    let names: Vec<String> = (0..25).map(|at| format!("p/{at:02}")).collect();
    for name in &names {
        put(&store, &key(name)?, "1").await?;
    }
    for limit in [1, 7, 24, 25, 26] {
        let (seen, _) = all(&store, "p/", ListOptions::default().limit(limit)).await?;
        equal(&format!("the names in pages of {limit}"), &seen, &names)?;
    }
    Ok(())
}

pub(super) async fn delimiter(cx: &Cx) -> Step {
    let store = cx.open().await?;
    for name in ["a", "b/1", "b/2", "b/3/4", "c", "d/1", "d-", "e/f/g"] {
        put(&store, &key(name)?, "1").await?;
    }
    for (prefix, names, prefixes) in [
        ("", &["a", "c", "d-"][..], &["b/", "d/", "e/"][..]),
        ("b/", &["b/1", "b/2"], &["b/3/"]),
        ("e/", &[], &["e/f/"]),
        ("d", &["d-"], &["d/"]),
    ] {
        for limit in [None, Some(1), Some(2)] {
            let mut options = ListOptions::default().delimited();
            options.limit = limit;
            let seen = all(&store, prefix, options).await?;
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            equal(
                &format!("the level below {prefix:?} in pages of {limit:?}"),
                &seen,
                &(owned(names), owned(prefixes)),
            )?;
        }
    }
    Ok(())
}

pub(super) async fn keys_are_kept(cx: &Cx) -> Step {
    let (a, b) = cx.two().await?;
    let mut names = vec![
        "with space",
        "100%",
        "a%2Fb",
        "a%20b",
        "plus+plus",
        "~tilde",
        "env:/my~key/k",
        "ümläut/ß",
        "状態/テラ",
        "a&b=c",
        "x<y>\"z\"",
        "q?m#h",
        "semi;colon",
        "(paren)'quote'!*",
        "dots...",
        "a.b/.c",
        "[1]{2}|^`",
        "@at,comma$",
        "a\\b",
        "trailing ",
        "emoji-🦀",
    ];
    names.sort_unstable();
    let mut kept = Vec::new();
    for name in names {
        match a.put(&key(name)?, Bytes::copy_from_slice(name.as_bytes()), &PutOptions::default()).await {
            // Better than another name.
            Err(error) if error.kind() == ErrorKind::InvalidKey => {}
            outcome => {
                outcome.succeeds(&format!("a write of {name:?}"))?;
                kept.push(name);
            }
        }
    }
    let names = kept;
    holds(names.len() > 15, "nearly all names can be keys")?;
    for name in &names {
        let blob = b.get(&key(name)?, &GetOptions::default()).await.succeeds("a read of an odd key")?;
        equal(
            &format!("the content of {name:?}"),
            &blob.map(|blob| blob.bytes),
            &Some(Bytes::copy_from_slice(name.as_bytes())),
        )?;
    }
    let (seen, _) = all(&b, "", ListOptions::default()).await?;
    equal("the names in a list", &seen, &names.iter().map(|name| (*name).to_owned()).collect())?;
    for name in &names {
        let (seen, _) = all(&b, name, ListOptions::default()).await?;
        holds(
            seen.first().is_some_and(|first| first == name),
            &format!("{name:?} is listed by itself as a prefix"),
        )?;
        let deleted =
            b.delete(&key(name)?, &Default::default()).await.succeeds("a deletion of an odd key")?;
        holds(deleted, "a deletion says that there was something")?;
    }
    equal("a list after all deletions", &all(&a, "", ListOptions::default()).await?.0, &vec![])
}
