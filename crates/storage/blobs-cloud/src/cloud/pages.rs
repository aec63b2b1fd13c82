//! Lists in pages that are short enough, and in no more of them than a service can need.

use groundstate_blobs::{Error, ErrorKind, ListOptions, Op, Page, Result};
use groundstate_http_client::{TooLarge, cause_of};
use serde::de::DeserializeOwned;

/// The most pages of a list: two million entries of S3.
const MOST_PAGES: usize = 2000;

/// A page, asked for with a lower limit for as long as the answer is too long; `most` is what the service gives at most.
///
/// # Errors
///
/// Those of `ask`, `Internal` where a list does not go on, and `LimitExceeded` where it does not end.
pub(crate) async fn page<F>(
    options: &ListOptions,
    most: usize,
    place: &str,
    ask: impl Fn(ListOptions) -> F,
) -> Result<Page>
where
    F: Future<Output = Result<Page>>,
{
    let mut asked = options.clone();
    loop {
        let page = ask(asked.clone()).await;
        match shorter(&asked, most, &page) {
            Some(shorter) => asked = shorter,
            None => return next(page?, options, place),
        }
    }
}

/// What to ask for instead of a page whose answer was too long, if that can be shorter.
fn shorter(options: &ListOptions, most: usize, page: &Result<Page>) -> Option<ListOptions> {
    let error = page.as_ref().err()?;
    cause_of::<TooLarge>(error)?;
    let limit = options.limit.unwrap_or(most).min(most);
    (limit > 1).then(|| options.clone().limit(limit.div_ceil(4)))
}

/// Reads the document of a page.
pub(crate) fn read_list<T: DeserializeOwned>(place: &str, body: &[u8]) -> Result<T> {
    let text = String::from_utf8_lossy(body);
    quick_xml::de::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
        let error = Error::new(ErrorKind::Internal, Op::List, place).with_source(error);
        error.because("the service's list cannot be read")
    })
}

/// A page that follows the one that was asked for.
fn next(page: Page, options: &ListOptions, place: &str) -> Result<Page> {
    let Page { blobs, prefixes, next, .. } = page;
    let Some(token) = next else { return Ok(Page::new(blobs, prefixes, None)) };
    let before = options.page.as_ref();
    if before.is_some_and(|before| before.as_str() == token.as_str()) {
        let error = Error::new(ErrorKind::Internal, Op::List, place);
        return Err(error.because("the service gives the same page of its list again"));
    }
    let (token, pages) = token.after(before);
    if pages > MOST_PAGES {
        let error = Error::new(ErrorKind::LimitExceeded, Op::List, place);
        return Err(error.because(format!("the list has more than {MOST_PAGES} pages")));
    }
    Ok(Page::new(blobs, prefixes, Some(token)))
}
