"""What scripts of scikit-cuda use, over this library: change `import skcuda` to `import nervanagpu.skcuda`.

    import nervanagpu.pycuda.autoinit
    import nervanagpu.pycuda.gpuarray as gpuarray
    import nervanagpu.skcuda.linalg as linalg

Its `lib` ("cusolver", "cula", "cublas") and `handle` are taken and have no effect: nervanagpu.linalg chooses.
`docs/linalg.md` lists what there is.
"""
