"""Other libraries' interfaces over this library's tensors: the factory of the 2015 library, and cudamat.

Programs import what they always did: `nervanagpu.NervanaGPU`, `nervanagpu.cudamat`. Interfaces of several modules are
packages of their own: `nervanagpu.pycuda`, `nervanagpu.skcuda`, `nervanagpu.cupy`.
"""
