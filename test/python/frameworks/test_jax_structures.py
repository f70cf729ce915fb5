"""XLA's C structures as python/xla/xla.h has them, member by member, beside those of the jaxlib that is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from source_tree import ROOT

jax: Any = pytest.importorskip("jax", reason="needs JAX (make test-jax installs it)")


MEMBERS = {  # ours: XLA's, by our members in their order
    "Extension": ("Extension_Base", {"size": "struct_size", "type": "type", "next": "next"}),
    "Version": ("Api_Version", {"size": "struct_size", "major": "major_version", "minor": "minor_version"}),
    "CreateError": ("Error_Create_Args", {"message": "message", "code": "errc"}),
    "DestroyError": ("Error_Destroy_Args", {"error": "error"}),
    "GetStream": ("Stream_Get_Args", {"context": "ctx", "stream": "stream"}),
    "GetOrdinal": ("DeviceOrdinal_Get_Args", {"context": "ctx", "ordinal": "device_ordinal"}),
    "Api": (
        "Api",
        {
            "version": "api_version",
            "internal": "internal_api",
            "create_error": "XLA_FFI_Error_Create",
            "destroy_error": "XLA_FFI_Error_Destroy",
            "get_stream": "XLA_FFI_Stream_Get",
            "get_ordinal": "XLA_FFI_DeviceOrdinal_Get",
        },
    ),
    "Buffer": ("Buffer", {"type": "dtype", "data": "data", "rank": "rank", "dims": "dims"}),
    "Buffers": ("Args", {"count": "size", "kinds": "types", "at": "args"}),
    "Text": ("ByteSpan", {"start": "ptr", "length": "len"}),
    "Numbers": ("Array", {"type": "dtype", "count": "size", "data": "data"}),
    "Number": ("Scalar", {"type": "dtype", "data": "value"}),
    "Attributes": ("Attrs", {"count": "size", "kinds": "types", "names": "names", "at": "attrs"}),
    "Frame": (
        "CallFrame",
        {
            "api": "api",
            "context": "ctx",
            "stage": "stage",
            "arguments": "args",
            "results": "rets",
            "attributes": "attrs",
        },
    ),
    "Metadata": ("Metadata", {"version": "api_version", "traits": "traits", "state": "state_type_id"}),
    "MetadataExtension": ("Metadata_Extension", {"base": "extension_base", "metadata": "metadata"}),
}
VALUES = {
    "kMajor": "XLA_FFI_API_MAJOR",
    "kInt64": "XLA_FFI_DataType_S64",
    "kUint8": "XLA_FFI_DataType_U8",
    "kFloat16": "XLA_FFI_DataType_F16",
    "kFloat32": "XLA_FFI_DataType_F32",
    "kBfloat16": "XLA_FFI_DataType_BF16",
    "kInvalidArgument": "XLA_FFI_Error_Code_INVALID_ARGUMENT",
    "kResourceExhausted": "XLA_FFI_Error_Code_RESOURCE_EXHAUSTED",
    "kFailedPrecondition": "XLA_FFI_Error_Code_FAILED_PRECONDITION",
    "kInternal": "XLA_FFI_Error_Code_INTERNAL",
    "kUnavailable": "XLA_FFI_Error_Code_UNAVAILABLE",
    "Extension::kMetadata": "XLA_FFI_Extension_Metadata",
    "Buffers::kBuffer": "XLA_FFI_ArgType_BUFFER",
    "Attributes::kArray": "XLA_FFI_AttrType_ARRAY",
    "Attributes::kScalar": "XLA_FFI_AttrType_SCALAR",
    "Frame::kExecute": "XLA_FFI_ExecutionStage_EXECUTE",
    "Metadata::kMayBeCaptured": "XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE",
}


@pytest.mark.skipif(shutil.which("c++") is None, reason="no C++ compiler")
def test_structures_are_as_in_jaxlib(tmp_path: Path) -> None:
    checks = [f"ours::{a} == static_cast<long>({b})" for a, b in VALUES.items()]
    checks += ["ours::kMinor <= XLA_FFI_API_MINOR", "sizeof(ours::Buffers) == sizeof(XLA_FFI_Rets)"]
    for a, (b, members) in MEMBERS.items():
        for m, n in members.items():
            checks.append(f"offsetof(ours::{a}, {m}) == offsetof(XLA_FFI_{b}, {n})")
            checks.append(f"sizeof(ours::{a}::{m}) == sizeof(XLA_FFI_{b}::{n})")
    head = '#include "xla/ffi/api/c_api.h"\n#include "python/xla/xla.h"\nnamespace ours = nervanagpu::python::xla;\n'
    if "XLA_FFI_InternalExtension" in (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text(encoding="utf-8"):
        head += "using XLA_FFI_Extension_Base = XLA_FFI_InternalExtension;\n"  # its name since jaxlib 0.11
    source = tmp_path / "layout.cpp"

    def compiled(tests: list[str]) -> subprocess.CompletedProcess[str]:
        source.write_text(head + "".join(f"static_assert({test});\n" for test in tests), encoding="utf-8")
        command = ["c++", "-std=c++20", "-fsyntax-only", f"-I{ROOT}", f"-I{jax.ffi.include_dir()}", str(source)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    done = compiled(checks)
    assert done.returncode == 0, done.stderr
    assert compiled([*checks, "offsetof(ours::Buffer, rank) == offsetof(XLA_FFI_Buffer, dims)"]).returncode != 0
