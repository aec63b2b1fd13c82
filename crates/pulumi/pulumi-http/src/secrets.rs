//! Secrets that a service encrypts by the key of a stack.

use std::collections::BTreeMap;

use groundstate_pulumi_protocol::{
    BatchDecrypt, BatchDecrypted, BatchEncrypt, BatchEncrypted, Capability, CipherBytes, EncryptValue,
    EncryptedValue, PlainBytes, StackCall, encode,
};

use crate::{ErrorKind, Op, Result, ServiceStack};

impl ServiceStack {
    /// Encrypts values in their order: by one request where the service can, and else by one for each.
    ///
    /// # Errors
    ///
    /// `NotFound`, `Denied`, and those of every call.
    pub async fn encrypt(&self, values: Vec<PlainBytes>) -> Result<Vec<CipherBytes>> {
        let is_batch =
            values.len() > 1 && self.service.capabilities().await?.get(Capability::BATCH_ENCRYPT).is_some();
        if is_batch {
            let (call, count) = (StackCall::BatchEncrypt, values.len());
            let sealed: BatchEncrypted =
                self.ask_secret(Op::Encrypt, call, &BatchEncrypt { plaintexts: values }).await?;
            return match sealed.ciphertexts.len() == count {
                true => Ok(sealed.ciphertexts),
                false => Err(self.missing(Op::Encrypt)),
            };
        }
        let mut sealed = Vec::with_capacity(values.len());
        for plaintext in values {
            let call = StackCall::Encrypt;
            let one: EncryptedValue = self.ask_secret(Op::Encrypt, call, &EncryptValue { plaintext }).await?;
            sealed.push(one.ciphertext);
        }
        Ok(sealed)
    }

    /// Decrypts values by one request. Every one of them has an entry in the answer.
    ///
    /// # Errors
    ///
    /// `Invalid` for what the key of the stack has not encrypted, `NotFound`, `Denied`, and those of every call.
    pub async fn decrypt(&self, values: Vec<CipherBytes>) -> Result<BTreeMap<CipherBytes, PlainBytes>> {
        if values.is_empty() {
            return Ok(BTreeMap::new());
        }
        let asked = BatchDecrypt { ciphertexts: values };
        let opened: BatchDecrypted = self.ask_secret(Op::Decrypt, StackCall::BatchDecrypt, &asked).await?;
        match asked.ciphertexts.iter().all(|value| opened.plaintexts.contains_key(value)) {
            true => Ok(opened.plaintexts),
            false => Err(self.missing(Op::Decrypt)),
        }
    }

    fn missing(&self, op: Op) -> crate::Error {
        self.error(ErrorKind::NotService, op).because("the answer lacks a value that was asked for")
    }

    /// Both directions come to the same however often they are asked for.
    async fn ask_secret<T: serde::de::DeserializeOwned>(
        &self,
        op: Op,
        call: StackCall,
        body: &impl serde::Serialize,
    ) -> Result<T> {
        let body = encode(body).map_err(|error| self.error(ErrorKind::Internal, op).with_source(error))?;
        self.service.0.connection.ask(&self.call(op, call).body(body).repeated().large()).await
    }
}
