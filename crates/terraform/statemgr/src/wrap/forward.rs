//! What is the same in every store around another one that changes only what is read and written.

/// Capabilities and locks of a [`StateStore`](crate::StateStore) around another one, which is in the field that is named: those
/// of the other one. What is left to write is reading, writing and deleting.
///
/// ```
/// use std::fmt;
///
/// use async_trait::async_trait;
/// use groundstate_statemgr::bytes::Bytes;
/// use groundstate_statemgr::{Result, StateStore, Stored, Version, WriteOptions, forward_locking};
///
/// #[derive(Debug)]
/// struct Printing<S>(S);
///
/// impl<S: StateStore> fmt::Display for Printing<S> {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         write!(f, "{}", self.0)
///     }
/// }
///
/// #[async_trait]
/// impl<S: StateStore> StateStore for Printing<S> {
///     forward_locking!(0);
///
///     async fn read(&self) -> Result<Option<Stored>> {
///         self.0.read().await
///     }
///
///     async fn write(&self, bytes: Bytes, options: &WriteOptions) -> Result<Version> {
///         println!("{} bytes into {self}", bytes.len());
///         self.0.write(bytes, options).await
///     }
///
///     async fn delete(&self, options: &WriteOptions) -> Result<()> {
///         self.0.delete(options).await
///     }
/// }
/// ```
#[macro_export]
macro_rules! forward_locking {
    (@call $name:ident($argument:ident: $type:ty) -> $answer:ty, $($field:tt).+) => {
        fn $name<'life0, 'life1, 'async_trait>(
            &'life0 self,
            $argument: &'life1 $type,
        ) -> ::std::pin::Pin<
            ::std::boxed::Box<
                dyn ::std::future::Future<Output = $crate::Result<$answer>> + ::std::marker::Send + 'async_trait,
            >,
        >
        where
            'life0: 'async_trait,
            'life1: 'async_trait,
            Self: 'async_trait,
        {
            $crate::StateStore::$name(&self.$($field).+, $argument)
        }
    };
    ($($field:tt).+) => {
        fn capabilities(&self) -> $crate::Capabilities {
            $crate::StateStore::capabilities(&self.$($field).+)
        }

        fn lock_name(&self) -> ::std::string::String {
            $crate::StateStore::lock_name(&self.$($field).+)
        }

        $crate::forward_locking!(@call lock(info: $crate::LockInfo) -> $crate::LockGrant, $($field).+);
        $crate::forward_locking!(@call renew(id: $crate::LockId) -> $crate::LockGrant, $($field).+);
        $crate::forward_locking!(@call unlock(id: $crate::LockId) -> (), $($field).+);
        $crate::forward_locking!(@call force_unlock(id: $crate::LockId) -> (), $($field).+);

        fn lock_holder<'life0, 'async_trait>(
            &'life0 self,
        ) -> ::std::pin::Pin<
            ::std::boxed::Box<
                dyn ::std::future::Future<
                        Output = $crate::Result<::std::option::Option<$crate::LockHolder>>,
                    > + ::std::marker::Send
                    + 'async_trait,
            >,
        >
        where
            'life0: 'async_trait,
            Self: 'async_trait,
        {
            $crate::StateStore::lock_holder(&self.$($field).+)
        }
    };
}
