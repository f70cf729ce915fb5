"""What every call goes through: arguments, keywords, devices, errors, and NumPy's protocols."""
