//! Writing JSON in the layouts of state files.
