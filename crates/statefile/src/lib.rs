//! Lossless reader and writer of Terraform and OpenTofu state files, formats 1 to 4.
