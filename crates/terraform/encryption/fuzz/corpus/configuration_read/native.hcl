key_provider "pbkdf2" "main" {
  passphrase = "x-${var.passphrase}"
  hash_function = "sha256"
}
method "aes_gcm" "m" {
  keys = key_provider.pbkdf2.main
  aad = [1, 2]
}
method "unencrypted" "u" {}
state {
  method = method.aes_gcm.m
  enforced = false
  fallback { method = method.unencrypted.u }
}
