//! Locks of stacks in buckets that the service takes without an update, and leases of stacks that are gone.

use groundstate_server::pulumi_backends::pulumi_diy::ErrorKind as DiyKind;
use groundstate_server::pulumi_service::ErrorKind;

use super::buckets::{Node, ROOT, checkpoint, path};

#[tokio::test]
async fn a_lock_without_an_update_is_a_lock_in_the_bucket_too() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    let stack = node.stack().await;
    stack.lock("lock-1", "ann").await.unwrap();
    assert_eq!(node.locks_directly().await.unwrap_err().kind(), DiyKind::Locked);
    assert_eq!(node.started().await.unwrap_err().kind(), ErrorKind::Running);
    // The state is that of the bucket, and no copy of the service.
    node.saves(checkpoint(&[ROOT, "urn:pulumi:dev::p::t:i:x::a"])).await;
    let exported = stack.export().await.unwrap().collect(1 << 20).await.unwrap();
    assert!(String::from_utf8_lossy(&exported).contains("t:i:x::a"));
    stack.renew_lock("lock-1", "ann").await.unwrap();
    stack.unlock("lock-1", "ann").await.unwrap();
    assert_eq!(node.locks().await, 0);

    // As `pulumi cancel` at the bucket does.
    for renews in [true, false] {
        let id = format!("lock-{renews}");
        stack.lock(&id, "ann").await.unwrap();
        drop(node.direct("dev").await.cancel().await.unwrap());
        let lost = match renews {
            true => stack.renew_lock(&id, "ann").await.map(drop),
            false => stack.unlock(&id, "ann").await,
        };
        assert_eq!(lost.unwrap_err().kind(), ErrorKind::LeaseLost, "{renews}");
        let again = stack.renew_lock(&id, "ann").await.unwrap_err();
        assert!(again.to_string().contains("another program removed its lock"), "{again}");
    }

    // A node that died leaves a lock that ends with its lease, in the bucket as well.
    stack.lock("lock-4", "ann").await.unwrap();
    node.wait(301);
    let other = node.node();
    let (update, _) = other.started().await.unwrap();
    update.cancel("ann").await.unwrap();
    assert_eq!(node.locks().await, 0);
}

#[tokio::test]
async fn a_stack_that_was_removed_or_renamed_leaves_no_lease_in_its_bucket() {
    let node = Node::new();
    node.saves(checkpoint(&[ROOT])).await;
    node.stack().await.rename(&path("new"), "ann").await.unwrap();
    assert_eq!(node.keys(".pulumi/groundstate/locks/organization/p/dev").await, Vec::<String>::new());
    node.stacks.stack(&path("new")).await.unwrap().remove(true, "ann").await.unwrap();
    assert_eq!(node.keys(".pulumi/groundstate/locks").await, Vec::<String>::new());
}
