//! Opens the secrets of a deployment with a passphrase, changes one, and seals them again:
//! `cargo run -p groundstate-pulumi-secrets --features os --example reseal`.

#![expect(clippy::print_stdout, reason = "it is a program")]

use std::error::Error;
use std::sync::Arc;

use groundstate_pulumi_secrets::passphrase::{GivenPassphrase, create};
use groundstate_pulumi_secrets::{DefaultProvider, OsEntropy, Passphrase, Plaintext, Provider};

fn main() -> Result<(), Box<dyn Error>> {
    // A new stack gets a manager, and its deployment says which one: a salt that tells right phrases from wrong ones.
    let (_, made) = create(&Passphrase::new("correct horse"), Arc::new(OsEntropy))?;
    println!("secrets_providers: {}", made.providers().as_json());
    let stored = made.encrypter().encrypt(&Plaintext::new("hunter2"))?;

    // Another program opens the deployment. What it does not change keeps its ciphertext, byte for byte.
    let source = GivenPassphrase::new().with_variable(Some("correct horse"));
    let opened = DefaultProvider::new(Arc::new(source), Arc::new(OsEntropy)).of_type(made.providers())?;
    let secret = opened.decrypter().decrypt(&stored)?;
    println!("a secret of {} letters", secret.expose().len());

    // With a wrong phrase the deployment can be read and kept, but nothing is opened.
    let wrong = GivenPassphrase::new().with_variable(Some("battery staple"));
    let locked = DefaultProvider::new(Arc::new(wrong), Arc::new(OsEntropy)).of_type(made.providers())?;
    println!("with a wrong phrase: {}", locked.lock_reason().is_some());
    Ok(())
}
