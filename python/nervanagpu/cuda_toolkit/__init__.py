"""What NVIDIA's toolkit has, where it is installed: libraries and NVRTC, opened at run time; nothing links to them."""
