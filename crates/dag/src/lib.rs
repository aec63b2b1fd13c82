//! Directed graphs in stable order: toposort, levels, cycles, components, reduction, DOT.
