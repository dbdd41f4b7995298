"""A model of the loads of SM 7.0 to 12.x."""
