//! `groundstate encryption`: what is encrypted, and changes of that.

mod apart;
mod convert;
mod places;
mod status;

use crate::args::EncryptionCommand;
use crate::report::error::Result;

pub(crate) fn run(command: &EncryptionCommand) -> Result {
    match command {
        EncryptionCommand::Status(args) => status::run(args),
        EncryptionCommand::Encrypt(args) => convert::run(args, convert::Goal::Encrypted),
        EncryptionCommand::Decrypt(args) => match &args.target {
            Some(target) => apart::run(args, target),
            None => convert::run(&args.change, convert::Goal::Plain),
        },
        EncryptionCommand::Rotate(args) => {
            convert::run(&args.change, convert::Goal::Rotated { renew: args.renew })
        }
    }
}
