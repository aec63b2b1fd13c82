//! Servers, directories and files of somebody who means harm.

mod network;
