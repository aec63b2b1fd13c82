//! What a request says of who sends it: the header `Authorization`.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::token::{PREFIX, Token};

/// The longest header that is looked at; tokens of CI systems have one to four thousand bytes.
const LONGEST: usize = 16 << 10;

/// Credentials of a form that is known. `Debug` does not show them.
pub(crate) enum Credentials {
    /// A token of this server.
    Token(Token),
    /// What Pulumi's CLI sends as its access token, and is none of this server. It cannot do without one, also where no
    /// credentials are needed.
    Any,
    /// A JSON Web Token, of which nothing is checked yet.
    Jwt(String),
}

/// Why a header has no credentials; nothing of it is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("there is more than one header Authorization")]
    Several,
    #[error("the header Authorization is too long")]
    TooLong,
    #[error("the header Authorization has neither the scheme Basic nor Bearer")]
    Scheme,
    #[error("the credentials of the scheme Basic are not base64 of USER:PASSWORD")]
    Basic,
    #[error("the password is neither a token of this server nor a JSON Web Token")]
    Unknown,
    #[error("the token has a slip: {0}")]
    Slip(#[from] super::token::InvalidToken),
}

impl Credentials {
    /// The credentials of a request; none if it has no such header.
    ///
    /// With the scheme Basic, which Terraform's client sends, the password is the token, and the user is any.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Self>, Malformed> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(Malformed::Several);
        }
        if value.len() > LONGEST {
            return Err(Malformed::TooLong);
        }
        let text = value.to_str().map_err(|_| Malformed::Scheme)?;
        let (scheme, rest) = text.split_once(' ').ok_or(Malformed::Scheme)?;
        let scheme = scheme.to_ascii_lowercase();
        let secret = match scheme.as_str() {
            "bearer" | "token" => rest.trim().to_owned(),
            "basic" => password(rest.trim()).ok_or(Malformed::Basic)?,
            _ => return Err(Malformed::Scheme),
        };
        if secret.starts_with(PREFIX) {
            return Ok(Some(Self::Token(Token::parse(&secret)?)));
        }
        // Three parts of base64 for URLs.
        let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let parts: Vec<&str> = secret.split('.').collect();
        if parts.len() == 3 && parts.iter().all(|part| !part.is_empty() && part.bytes().all(is_inside)) {
            return Ok(Some(Self::Jwt(secret)));
        }
        match scheme.as_str() {
            "token" if !secret.is_empty() => Ok(Some(Self::Any)),
            _ => Err(Malformed::Unknown),
        }
    }
}

fn password(base64: &str) -> Option<String> {
    let bytes = STANDARD.decode(base64).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    text.split_once(':').map(|(_, password)| password.to_owned())
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Token(_) => "Token(gs_…)",
            Self::Jwt(_) => "Jwt(…)",
            Self::Any => "Any",
        })
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use groundstate_common::OsIds;
    use http::{HeaderMap, HeaderValue};

    use super::{Credentials, Malformed};
    use crate::auth::token::Token;

    fn of(values: &[&str]) -> Result<Option<Credentials>, Malformed> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append("Authorization", HeaderValue::from_str(value).unwrap());
        }
        Credentials::of(&headers)
    }

    #[test]
    fn a_token_is_the_bearer_or_the_password_of_any_user() {
        let token = Token::generate(&OsIds).unwrap();
        let text = token.reveal();
        let basic = |user: &str| format!("Basic {}", STANDARD.encode(format!("{user}:{text}")));
        for header in
            [format!("Bearer {text}"), format!("bearer  {text} "), basic("ci"), basic(""), basic("a b")]
        {
            let found = of(&[&header]).unwrap().unwrap();
            assert!(matches!(&found, Credentials::Token(found) if *found == token), "{header}");
            assert!(!format!("{found:?}").contains(&text[3..9]));
        }
        assert!(matches!(of(&["Bearer aa.b-_.cc"]), Ok(Some(Credentials::Jwt(jwt))) if jwt == "aa.b-_.cc"));
        assert!(matches!(of(&[]), Ok(None)));
    }

    #[test]
    fn other_headers_are_refused_and_not_quoted() {
        let slip = "Bearer gs_hunter2";
        for (headers, expected) in [
            (&["hunter2"][..], "scheme"),
            (&["Negotiate hunter2"], "scheme"),
            (&["Bearer hunter2"], "neither"),
            (&["Bearer a.b"], "neither"),
            (&["Bearer a.b.c.d"], "neither"),
            (&["Bearer a..c"], "neither"),
            (&["Bearer a.b.c=hunter2"], "neither"),
            (&[slip], "slip"),
            (&["Basic hunter2"], "base64"),
            (&["Basic aHVudGVyMg=="], "base64"),
            (&["Basic //4="], "base64"),
            (&["Bearer a.b.c", "Bearer a.b.c"], "more than one"),
        ] {
            let error = of(headers).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("hunter2"), "{headers:?}: {error}");
        }
        assert_eq!(of(&[&format!("Bearer {}", "a".repeat(20_000))]).unwrap_err(), Malformed::TooLong);
    }
}
