//! Events of updates, whose numbers are those of clients.

use groundstate_pulumi_service::Event;
use groundstate_pulumi_service::json::RawJson;

use crate::support::Service;

#[tokio::test]
async fn behind_the_highest_number_of_an_event_there_is_no_page() {
    let service = Service::new();
    let stack = service.stack().await;
    let (update, lease) = service.started(&stack, "update").await;
    let text = RawJson::parse_as_written("{}").unwrap();
    update.store_events(&lease.token, &[Event { sequence: u64::MAX, text }], None).await.unwrap();
    let page = update.events(0, 0).await.unwrap();
    let numbers: Vec<u64> = page.events.iter().map(|event| event.sequence).collect();
    assert_eq!((numbers, page.next), (vec![u64::MAX], None));
}
