"""A model of the loads of PTX: modules read, loads judged and executed."""
