"""Importing this opens the device, as PyCUDA's module of this name does."""

from nervanagpu.pycuda import driver

driver.init()
device = driver.Device(0)
context = device.make_context()
