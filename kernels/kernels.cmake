# The templates that are assembled into the library, each with the architectures it is written for.
# ng_kernel(<op>/<name> <arch>...)
ng_kernel(gemm/sgemm sm_90a)
ng_kernel(gemm/gemm sm_90a sm_52)
ng_kernel(nn/convert sm_90a)
ng_kernel(nn/transpose sm_90a)
ng_kernel(conv/conv sm_90a sm_52)
