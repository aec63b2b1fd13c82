//! `groundstate token`: the tokens of a server.

use groundstate_common::{Clock, SystemClock};
use groundstate_server::auth::{Grant, NewToken, STALENESS, TokenError, TokenInfo, Tokens};

use super::store::{ServerStore, Use, actor};
use crate::args::{TokenCommand, TokenCreateArgs, TokenListArgs, TokenRevokeArgs};
use crate::input::runtime::runtime;
use crate::report::error::{Failure, Kind, Outcome, Result, chain};
use crate::report::json::Json;
use crate::report::messages::Messages;
use crate::report::output::Output;

pub(crate) fn run(command: &TokenCommand) -> Result {
    match command {
        TokenCommand::Create(args) => create(args),
        TokenCommand::List(args) => list(args),
        TokenCommand::Revoke(args) => revoke(args),
    }
}

fn create(args: &TokenCreateArgs) -> Result {
    let opened = ServerStore::open(&args.at, Use::Change)?;
    let tokens = tokens(&opened);
    let on_projects = |project: &_| {
        args.state.iter().map(|state| Grant::new(args.role.into(), Clone::clone(project), state.clone())).collect::<Vec<_>>()
    };
    let grants = args.project.iter().flat_map(on_projects).collect();
    let mut new = NewToken::new(args.name.clone(), grants, actor());
    if let Some(age) = args.expires {
        let end = SystemClock.now().checked_add(age);
        let beyond = || Failure::new(Kind::Usage, "the token would expire beyond the year 9999");
        new = new.expires(end.ok_or_else(beyond)?);
    }
    let runtime = runtime()?;
    let (token, info) = runtime.block_on(tokens.create(new)).map_err(|error| refused(&error))?;
    // Shown only when its entry is durable: a token that the audit log does not know is not to be used.
    if let Err(failure) = opened.record("token.create", &object(&info), &summary(&info)) {
        let revoked = runtime.block_on(tokens.revoke(info.id.as_str(), &actor()));
        let what = match revoked {
            Ok(_) => "the token was revoked again".to_owned(),
            Err(error) => format!("the token {} could not be revoked either: {}", info.id, chain(&error)),
        };
        return Err(failure.details([what]));
    }
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("store", &opened.place);
            json.text("token", token.reveal());
            describe(json, &info);
        }))?;
    } else {
        out.line(token.reveal())?;
        out.finish()?;
        let text = format!("this is the token {} ({}), {}; it is not shown again", info.name, info.id, summary(&info));
        Messages::stderr().note(&text);
        return Ok(Outcome::Clean);
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn list(args: &TokenListArgs) -> Result {
    let opened = ServerStore::open(&args.at, Use::Read)?;
    let infos = runtime()?.block_on(tokens(&opened).list()).map_err(|error| refused(&error))?;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("store", &opened.place);
            json.objects("tokens", &infos, describe);
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
    Ok(Outcome::Clean)
}

fn revoke(args: &TokenRevokeArgs) -> Result {
    let opened = ServerStore::open(&args.at, Use::Read)?;
    let tokens = tokens(&opened);
    let info = runtime()?.block_on(tokens.revoke(&args.token, &actor())).map_err(|error| refused(&error))?;
    opened.record("token.revoke", &object(&info), "")?;
    let mut out = Output::stdout();
    if args.json {
        out.json(&Json::document(|json| {
            json.text("store", &opened.place);
            describe(json, &info);
        }))?;
    } else {
        let seconds = STALENESS.as_secs();
        let (name, id) = (&info.name, &info.id);
        out.line(&format!("Revoked the token {name} ({id}); servers that have just seen it accept it for up to {seconds} seconds"))?;
    }
    out.finish()?;
    Ok(Outcome::Clean)
}

fn tokens(opened: &ServerStore) -> Tokens {
    Tokens::new(std::sync::Arc::clone(&opened.store), opened.context.clone())
}

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
        TokenError::Exists { .. } => Kind::Conflict,
        TokenError::NotFound(_) => Kind::NotFound,
        TokenError::Past(_) | TokenError::NoGrant => Kind::Usage,
        TokenError::Damaged { .. } => Kind::Unusable,
        _ => Kind::NoState,
    };
    let failure = Failure::new(kind, chain(error));
    match error {
        TokenError::NotFound(_) => failure.hint("`groundstate token list` lists them"),
        _ => failure,
    }
}
