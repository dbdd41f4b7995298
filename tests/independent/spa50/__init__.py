"""A model of the loads of SPA 5.0: SM 5.0 to 6.2."""
