key_provider "external" "e" {
  command = ["a", <<-EOT
    b
  EOT
  ]
}
