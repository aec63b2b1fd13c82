//! The numbers of advisory locks that stand for the creation of a workspace.

use crate::config::PgSettings;

/// What Terraform, and OpenTofu before 1.10, hold while they create a workspace, in any schema of the database.
const OF_TERRAFORM: i64 = -1;

/// The keys that every creator of a workspace takes, in this order: one for each of the programs that it may meet.
pub(crate) fn creation_keys(settings: &PgSettings) -> [i64; 2] {
    [OF_TERRAFORM, of_opentofu(&settings.schema, &settings.table)]
}

/// What OpenTofu holds from 1.10 on: one number for each table.
fn of_opentofu(schema: &str, table: &str) -> i64 {
    let bytes = schema.bytes().chain([0]).chain(table.bytes());
    // FNV-1, which multiplies before it mixes.
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| hash.wrapping_mul(0x0100_0193) ^ u32::from(byte));
    -i64::from(hash)
}

#[cfg(test)]
mod tests {
    use super::of_opentofu;

    #[test]
    fn keys_are_those_of_opentofu() {
        assert_eq!(of_opentofu("terraform_remote_state", "states"), -3_797_183_428);
        assert_eq!(of_opentofu("tf_a", "states"), -338_881_067);
    }
}
