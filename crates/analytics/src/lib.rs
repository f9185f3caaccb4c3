//! Numerics on plain slices: detector, driver tree, demand, order-up-to, customer value.
