//! Refusing requests for who sent them, from where, and when.

use super::error::{Refused, Result};
use super::rules::Rules;
use super::sigv4::{Authorization, signature};
use crate::http::Request;
use crate::pattern::fits_request;

/// Checks a request to S3.
pub(super) fn check(rules: &Rules, request: &Request) -> Result<()> {
    if let Some(region) = &rules.redirect {
        let message = "The bucket you are attempting to access must be addressed using the specified endpoint. \
            Please send all future requests to this endpoint.";
        return Err(Refused::new(301, "PermanentRedirect", message)
            .with("Endpoint", &format!("s3.{region}.amazonaws.com"))
            .header("x-amz-bucket-region", region));
    }
    if rules.skewed {
        let message = "The difference between the request time and the current time is too large.";
        return Err(
            Refused::new(403, "RequestTimeTooSkewed", message).with("MaxAllowedSkewMilliseconds", "900000")
        );
    }
    let authorization = request.header("authorization").and_then(Authorization::parse);
    if let (Some(region), Some(authorization)) = (&rules.region, &authorization) {
        check_region(region, authorization)?;
    }
    if let Some((access, secret)) = &rules.key {
        let Some(authorization) = &authorization else { return Err(Refused::denied()) };
        check_key(access, secret, authorization, request)?;
    }
    let path = request.path();
    let fits = |(method, pattern): &(String, String)| {
        fits_request(method, pattern, (&request.method, &path, request.raw_query()))
    };
    if rules.denied.iter().any(fits) { Err(Refused::denied()) } else { Ok(()) }
}

fn check_region(region: &str, authorization: &Authorization<'_>) -> Result<()> {
    if authorization.region == region {
        return Ok(());
    }
    let message = format!(
        "The authorization header is malformed; the region '{}' is wrong; expecting '{region}'",
        authorization.region
    );
    Err(Refused::new(400, "AuthorizationHeaderMalformed", &message)
        .with("Region", region)
        .header("x-amz-bucket-region", region))
}

fn check_key(access: &str, secret: &str, authorization: &Authorization<'_>, request: &Request) -> Result<()> {
    if authorization.access_key != access {
        let message = "The AWS Access Key Id you provided does not exist in our records.";
        return Err(
            Refused::new(403, "InvalidAccessKeyId", message).with("AWSAccessKeyId", authorization.access_key)
        );
    }
    if signature(secret, authorization, request) == authorization.signature {
        return Ok(());
    }
    let message = "The request signature we calculated does not match the signature you provided. \
        Check your key and signing method.";
    Err(Refused::new(403, "SignatureDoesNotMatch", message).with("AWSAccessKeyId", access))
}

/// Checks a request to DynamoDB, which has its own names for the same refusals.
pub(super) fn check_api(rules: &Rules, request: &Request) -> std::result::Result<(), (&'static str, String)> {
    if rules.skewed {
        return Err(("InvalidSignatureException", "Signature expired".to_owned()));
    }
    let path = request.path();
    let target = request.header("x-amz-target").unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default();
    let fits = |(method, pattern): &(String, String)| {
        method == operation || fits_request(method, pattern, (&request.method, &path, ""))
    };
    if rules.denied.iter().any(fits) {
        let message = format!("User: testkit is not authorized to perform: dynamodb:{operation}");
        return Err(("AccessDeniedException", message));
    }
    let Some((access, secret)) = &rules.key else { return Ok(()) };
    let Some(authorization) = request.header("authorization").and_then(Authorization::parse) else {
        return Err(("MissingAuthenticationTokenException", "Missing Authentication Token".to_owned()));
    };
    if authorization.access_key != access {
        let message = "The security token included in the request is invalid.";
        return Err(("UnrecognizedClientException", message.to_owned()));
    }
    if signature(secret, &authorization, request) != authorization.signature {
        let message = "The request signature we calculated does not match the signature you provided.";
        return Err(("InvalidSignatureException", message.to_owned()));
    }
    Ok(())
}
