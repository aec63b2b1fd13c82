//! Carrying a request out, with what was planned to go wrong.

use super::{Faults, Kind};
use crate::http::{Answer, Flow, Request, Service};
use crate::log::Log;

/// Answers the request, or not.
pub(crate) async fn carry_out(
    faults: &Faults,
    service: &dyn Service,
    request: &Request,
    log: &Log,
    id: usize,
) -> Option<Answer> {
    let Some(kind) = faults.next(request) else { return service.answer(request).await };
    log.hit(id, kind.name());
    match kind {
        Kind::Refuse { status, code, retry_after } => {
            let seconds = retry_after.map(|seconds| seconds.to_string());
            Some(service.refusal(request, status, code).maybe("retry-after", seconds))
        }
        Kind::ErrorAfter { status, code } => {
            drop(service.answer(request).await);
            Some(service.refusal(request, status, code))
        }
        Kind::Instead(answer) => Some(answer),
        Kind::DropBefore => None,
        Kind::DropAfter => {
            drop(service.answer(request).await);
            None
        }
        Kind::Cut(after) => {
            let mut answer = service.answer(request).await?;
            answer.flow = Flow::Cut(after);
            Some(answer)
        }
        Kind::DelayBefore(by) => {
            tokio::time::sleep(by).await;
            service.answer(request).await
        }
        Kind::DelayAfter(by) => {
            let answer = service.answer(request).await;
            tokio::time::sleep(by).await;
            answer
        }
        Kind::Duplicate => {
            drop(service.answer(request).await);
            service.answer(request).await
        }
    }
}
