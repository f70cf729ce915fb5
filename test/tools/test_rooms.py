"""tools/rooms.py sees circles of folders and functions that another folder defines, and passes what is none."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import rooms  # noqa: E402


def includes(*names: str) -> str:
    return "// one\n" + "".join(f'#include "{name}"\n' for name in names)


def test_a_circle_is_named_with_its_places() -> None:
    texts = {
        "src/a/one.h": includes("src/b/two.h"),
        "src/b/two.h": includes(),
        "src/b/three.cpp": includes("src/b/two.h", "src/c.h"),
        "src/c.h": includes("src/a/one.h"),
    }
    assert rooms.circles(texts) == [
        "src/a/one.h:2: a circle: src/a -> src/b (src/a/one.h:2), src/b -> src/c (src/b/three.cpp:3), "
        "src/c -> src/a (src/c.h:2)"
    ]


def test_a_circle_within_a_room() -> None:
    texts = {
        "kernels/a/x/one.h": includes("kernels/a/y/two.h"),
        "kernels/a/y/two.h": includes("kernels/a/three.h"),
        "kernels/a/three.h": includes("kernels/a/x/one.h"),
    }
    assert rooms.circles(texts) == [
        "kernels/a/three.h:2: a circle: kernels/a/three.h -> kernels/a/x (kernels/a/three.h:2), "
        "kernels/a/x -> kernels/a/y (kernels/a/x/one.h:2), kernels/a/y -> kernels/a/three.h (kernels/a/y/two.h:2)"
    ]


@pytest.mark.parametrize(
    "texts",
    [
        {"src/a/x.h": includes("src/a/y.h"), "src/a/y.h": includes("src/a/x.h")},  # one room
        {"src/a/x.h": includes("src/b/y.h"), "src/b/y.h": includes("include.h", "src/c/z.h"), "src/c/z.h": includes()},
        {
            "src/x.h": includes("src/a/y.h"),
            "src/a/y.h": includes("src/z.h"),
            "src/z.h": includes(),
        },  # pairs beside rooms
        {
            "src/r/a/x.cpp": includes("src/r/f.h"),
            "src/r/f.h": includes(),
            "src/r/f.cpp": includes("src/r/a/y.h"),
            "src/r/a/y.h": includes(),
        },  # a header beside folders, and what is after it
        {"test/a/x.h": includes("test/b/y.h"), "test/b/y.h": includes("test/a/x.h")},
        {
            "python/nervanagpu/a.py": "from nervanagpu import b\n",
            "python/nervanagpu/b.py": "def f():\n    from nervanagpu import a\n",
        },
        {
            "python/nervanagpu/a.py": "from nervanagpu import b\n",
            "python/nervanagpu/b.py": "if TYPE_CHECKING:\n    from nervanagpu import a\n",
        },
    ],
)
def test_no_circle(texts: dict[str, str]) -> None:
    assert rooms.circles(texts) == []


@pytest.mark.parametrize(
    "back",
    ["from nervanagpu import a", "from nervanagpu.a import x", "import nervanagpu.a", "try:\n    import nervanagpu.a"],
)
def test_circles_of_modules(back: str) -> None:
    texts = {"python/nervanagpu/a.py": "from nervanagpu.b import f\n", "python/nervanagpu/b.py": back}
    tail = "\nexcept ImportError:\n    pass\n" if back.startswith("try") else "\n"
    texts["python/nervanagpu/b.py"] += tail
    assert len(rooms.circles(texts)) == 1


def test_the_public_headers_are_a_room() -> None:
    texts = {"include/nervanagpu/a.hpp": includes("src/b/x.h"), "src/b/x.h": includes("nervanagpu/a.hpp")}
    assert len(rooms.circles(texts)) == 1


@pytest.mark.parametrize(
    ("declaration", "definition"),
    [
        ("bool run(int a);", "bool run(int a) {\n  return true;\n}\n"),
        ("void run(const T& a,\n         int b) noexcept;", "void expr::run(const T& a, int b) noexcept {\n}\n"),
        ("Result<std::vector<int>> run();", "Result<std::vector<int>> run() {\n  return {};\n}\n"),
    ],
)
def test_another_folder_defines_it(declaration: str, definition: str) -> None:
    texts = {"src/a/x.h": "// one\n" + declaration, "kernels/b/y.cpp": definition}
    assert rooms.defined_elsewhere(texts) == [
        "src/a/x.h:2: declares run(), which kernels/b/y.cpp defines; needs one folder for both"
    ]
    assert rooms.defined_elsewhere({**texts, "src/a/other.cpp": definition}) == []
    hidden = f"namespace {{\n\n{definition}\n}}  // namespace\n"
    assert rooms.defined_elsewhere({**texts, "kernels/b/y.cpp": hidden}) == []
