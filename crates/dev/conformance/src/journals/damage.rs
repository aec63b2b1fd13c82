//! D1 and D2: torn ends and damage.

use groundstate_wal::{ErrorKind, read_all};

use super::cx::{Cx, records};
use crate::failure::{Answer, Step, ensure, failed, not_applicable};

pub(super) async fn torn(cx: &Cx) -> Step {
    let mut texts = vec!["one".to_owned()];
    let writer = cx.begun().await?;
    writer.append(&records(&["one"])).await.succeeds("appending")?;
    drop(writer);
    for keep in [1, 250, 500, 999] {
        if !cx.place.tear(keep).await.succeeds("leaving the remains of a batch")? {
            return not_applicable("the harness cannot leave the remains of a batch (`TestJournal::tear`)");
        }
        let contents = cx.contents().await?.ok_or_else(|| failed("an epoch", "none"))?;
        ensure(contents.torn.is_some(), "it is said that something was torn", || "nothing".to_owned())?;
        let expected: Vec<&str> = texts.iter().map(String::as_str).collect();
        cx.holds(&records(&expected)).await?;
        let writer = cx.writer("next").await?;
        texts.push(format!("after {keep}"));
        writer.append(&records(&[&format!("after {keep}")])).await.succeeds("appending behind remains")?;
        let expected: Vec<&str> = texts.iter().map(String::as_str).collect();
        cx.holds(&records(&expected)).await?;
    }
    Ok(())
}

pub(super) async fn refused(cx: &Cx) -> Step {
    let writer = cx.begun().await?;
    for round in 0..3 {
        writer.append(&records(&[&format!("batch {round}")])).await.succeeds("appending")?;
    }
    drop(writer);
    if !cx.place.damage().await.succeeds("damaging the first batch")? {
        return not_applicable("the harness cannot damage what is stored (`TestJournal::damage`)");
    }
    let error =
        read_all(&*cx.client().await?).await.refused(ErrorKind::Corrupt, "reading what is damaged")?;
    ensure(error.place().is_some(), "the place of the damage", || error.to_string())
}
