//! Futures of all operations can move between threads.

use groundstate_versioned::{
    Content, Document, Documents, ListFilter, NewLock, Reader, Step, SweepOptions, Upload, Version,
    WriteOptions,
};

fn sendable<T>(_: impl Future<Output = T> + Send + 'static) {}

/// Compiles only if each of the futures is `Send`, also where its arguments are borrowed.
#[expect(dead_code, reason = "it is enough that it compiles")]
fn operations(documents: Documents, document: Document, version: Version, content: Content) {
    let d = document.clone();
    sendable(async move { d.head().await });
    let d = document.clone();
    sendable(async move { d.step(|_| Ok::<_, String>(Step::nothing())).await });
    let d = document.clone();
    sendable(async move {
        let id = "a".to_owned();
        d.lock(&NewLock::new(id.as_str())).await?;
        d.renew(&id, None).await?;
        d.break_lock(Some(&id), "", "").await?;
        d.unlock(&id).await
    });
    let d = document.clone();
    sendable(async move {
        let options = WriteOptions::default();
        d.write(&content, &options).await?;
        d.restore(1, &options).await?;
        d.pin(1, true).await?;
        d.delete(&options).await
    });
    let d = document.clone();
    sendable(async move { d.content("a").await });
    let d = document.clone();
    sendable(async move { d.versions(None, 10).await });
    let d = document.clone();
    sendable(async move { d.version(1).await });
    let d = document.clone();
    sendable(async move { d.read().await });
    let d = document.clone();
    sendable(async move { d.open(&version).await });
    let d = document.clone();
    sendable(async move { d.sweep(&SweepOptions::default()).await });
    let d = documents.clone();
    sendable(async move { d.list(&ListFilter::default()).await });
    sendable(async move { documents.sweep(&SweepOptions::default()).await });
}

#[expect(dead_code, reason = "it is enough that it compiles")]
fn streams(mut upload: Upload, mut reader: Reader) {
    sendable(async move {
        upload.push("a").await?;
        upload.finish().await
    });
    sendable(async move {
        reader.next_part().await?;
        reader.collect(1).await
    });
}
