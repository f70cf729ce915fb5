"""What scripts of PyCUDA use, over this library's device: change `import pycuda` to `import nervanagpu.pycuda`.

    import nervanagpu.pycuda.autoinit
    import nervanagpu.pycuda.driver as drv
    from nervanagpu.pycuda.compiler import SourceModule

On a machine without a GPU the kernels run on the emulator, where NERVANAGPU_EMULATOR=checked names their mistakes.
`docs/modules.md` lists what there is.
"""
