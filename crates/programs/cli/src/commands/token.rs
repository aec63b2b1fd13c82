//! `groundstate token`: the tokens of a server.

use std::sync::Arc;

use groundstate_common::{Clock, SystemClock, one_line};
use groundstate_server::auth::{Grant, NewToken, STALENESS, Token, TokenError, TokenInfo, Tokens};

use crate::args::{TokenCommand, TokenCreateArgs, TokenListArgs, TokenRevokeArgs};
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;
use crate::session::server_store::{ServerStore, actor};

pub(super) fn run(command: &TokenCommand) -> Result {
    match command {
        TokenCommand::Create(args) => create(args),
        TokenCommand::List(args) => list(args),
        TokenCommand::Revoke(args) => revoke(args),
    }
}

fn create(args: &TokenCreateArgs) -> Result {
    let grants = args.project.iter().flat_map(|project| {
        args.state.iter().map(|state| Grant::new(args.role.into(), project.clone(), state.clone()))
    });
    let mut new = NewToken::new(args.name.clone(), grants.collect(), actor());
    if let Some(age) = args.expires {
        let end = SystemClock.now().checked_add(age);
        let beyond = || Failure::new(Kind::Usage, "the token would expire later than times can be written");
        new = new.expires(end.ok_or_else(beyond)?);
    }
    let opened = ServerStore::prepare(&args.server, args.init)?;
    let (token, info) = runtime()?.block_on(tokens(&opened).create(new)).map_err(|error| refused(&error))?;
    // A token that the audit log does not know, or that its owner did not get, is not to be used.
    let shown = opened
        .record("token.create", &object(&info), &summary(&info))
        .and_then(|()| show(args.json, &opened, &token, &info));
    shown.map_err(|failure| withdrawn(&opened, &info, failure))?;
    if !args.json {
        let (name, id, summary) = (&info.name, &info.id, summary(&info));
        Messages::stderr().note(&format!("the token {name} ({id}), {summary}; it is not shown again"));
    }
    Ok(Outcome::Clean)
}

/// Prints the token, for the only time.
fn show(as_json: bool, opened: &ServerStore, token: &Token, info: &TokenInfo) -> Result<()> {
    let mut out = Output::stdout();
    if as_json {
        out.json(&Json::document(|json| {
            json.text("store", &opened.place);
            json.text("token", token.reveal());
            describe(json, info);
        }))?;
    } else {
        out.line(token.reveal())?;
    }
    Ok(out.finish()?)
}

/// Revokes a token that was not handed over.
fn withdrawn(opened: &ServerStore, info: &TokenInfo, failure: Failure) -> Failure {
    let id = info.id.as_str();
    let revoked = runtime().map(|runtime| runtime.block_on(tokens(opened).revoke(id, &actor())));
    let what = match revoked {
        Ok(Ok(_)) => {
            // Why the first entry was not stored may hold for this one; the document says it too.
            drop(opened.record("token.revoke", &object(info), "it was not handed over"));
            format!("the new token {} ({id}) was revoked, because it was not handed over", info.name)
        }
        Ok(Err(error)) => {
            format!(
                "the new token {} ({id}) is still valid and could not be revoked: {}",
                info.name,
                chain(&error)
            )
        }
        Err(error) => {
            format!("the new token {} ({id}) is still valid and could not be revoked: {error}", info.name)
        }
    };
    // A pipe that its reader has closed is no reason for silence here.
    Failure { quiet: false, ..failure }.details([what])
}

fn list(args: &TokenListArgs) -> Result {
    let opened = ServerStore::open(&args.server)?;
    let (infos, damaged) = runtime()?.block_on(tokens(&opened).survey()).map_err(|error| refused(&error))?;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("store", &opened.place);
            json.objects("tokens", &infos, describe);
            if !damaged.is_empty() {
                json.objects("damaged", &damaged, |json, error| {
                    json.text("problem", &error.to_string());
                });
            }
        }))?;
    } else {
        let now = SystemClock.now();
        let width = infos.iter().map(|info| info.name.as_str().len()).max().unwrap_or_default();
        for info in &infos {
            let used = info.last_used.as_ref().map_or("never used".to_owned(), |day| format!("used {day}"));
            let (id, name, status) = (&info.id, info.name.as_str(), info.status(now));
            out.line(&format!("{id}  {name:width$}  {status:7}  {}, {used}", summary(info)))?;
        }
    }
    out.finish()?;
    for error in &damaged {
        Messages::stderr().warning(&chain(error));
    }
    Ok(if damaged.is_empty() { Outcome::Clean } else { Outcome::Found(Kind::Findings) })
}

fn revoke(args: &TokenRevokeArgs) -> Result {
    let opened = ServerStore::open(&args.server)?;
    let revoked = runtime()?.block_on(tokens(&opened).revoke(&args.token, &actor()));
    let revoked = revoked.map_err(|error| refused(&error))?;
    let (info, was_revoked) = (revoked.info, revoked.was_revoked);
    let reason = if was_revoked { "it had been revoked before" } else { "" };
    let (name, id) = (&info.name, &info.id);
    opened.record("token.revoke", &object(&info), reason).map_err(|failure| {
        failure.details([format!("the token {name} ({id}) is revoked, and the audit log has no entry of it")])
    })?;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("store", &opened.place);
            describe(json, &info);
        }))?;
    } else {
        let earlier = info.revoked.as_ref().filter(|_| was_revoked);
        out.line(&match earlier {
            Some(earlier) => {
                let (time, by) = (earlier.time, one_line(&earlier.by));
                format!("The token {name} ({id}) has been revoked since {time}, by {by}")
            }
            None => {
                let seconds = STALENESS.as_secs();
                format!(
                    "Revoked the token {name} ({id}); servers that have just seen it accept it for up to {seconds} seconds"
                )
            }
        })?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn tokens(opened: &ServerStore) -> Tokens {
    Tokens::new(Arc::clone(&opened.store), opened.context.clone())
}

/// The token as the object of an entry.
fn object(info: &TokenInfo) -> String {
    format!("token:{} {}", info.name, info.id)
}

/// What it is for, and until when.
fn summary(info: &TokenInfo) -> String {
    let grants: Vec<String> = info.grants.iter().map(ToString::to_string).collect();
    let until = info.expires.map_or("without an end".to_owned(), |end| format!("until {end}"));
    format!("{}, {until}", grants.join(", "))
}

fn describe(json: &mut Json, info: &TokenInfo) {
    json.text("id", info.id.as_str());
    json.text("name", info.name.as_str());
    json.text("status", &info.status(SystemClock.now()).to_string());
    json.objects("grants", &info.grants, |json, grant| {
        json.text("role", grant.role.as_str());
        json.text("project", grant.project.as_str());
        json.text("state", grant.state.as_str());
    });
    json.text("created", &info.created.to_string());
    json.text("created_by", &info.created_by);
    if let Some(end) = info.expires {
        json.text("expires", &end.to_string());
    }
    if let Some(revoked) = &info.revoked {
        json.inner("revoked", |json| {
            json.text("time", &revoked.time.to_string());
            json.text("by", &revoked.by);
        });
    }
    if let Some(day) = &info.last_used {
        json.text("last_used", day);
    }
}

fn refused(error: &TokenError) -> Failure {
    let kind = match error {
        TokenError::Exists { .. } | TokenError::Contended(_) => Kind::Conflict,
        TokenError::NotFound(_) => Kind::NotFound,
        TokenError::Past(_)
        | TokenError::NoGrant
        | TokenError::NeverMatches(_)
        | TokenError::SeveralNamed { .. } => Kind::Usage,
        _ => Kind::of_cause(error).unwrap_or(Kind::NoState),
    };
    let failure = Failure::new(kind, chain(error));
    match error {
        TokenError::NotFound(_) => failure.hint("`groundstate token list` lists them"),
        TokenError::Damaged { .. } => {
            failure.hint("no server accepts that token: delete the object, or restore it from a backup")
        }
        _ => failure,
    }
}
