//! What a URL reaches.

use crate::support::Server;

#[tokio::test]
async fn an_unknown_url_is_a_problem_document() {
    let answer = Server::new().stranger().get("/nothing%1B").await.is(404);
    assert_eq!(answer.problem(), "no-such-route");
    assert_eq!(answer.json()["detail"], "there is nothing at /nothing%1B");
}
