variable "v" { default = "d" }
locals { a = "${var.v}-${local.b}", b = [1] }
terraform {
  encryption {
    state { method = method.unencrypted.u }
  }
}
