"""Takes the prompt of an engine out of the engine's own Python package, for the image of a pod.

    extract-prompts.py --requirement ENGINE     prints what pip has to install
    extract-prompts.py ENGINE FOLDER            writes FOLDER/page.txt and FOLDER/source.txt

The models were trained on these words, which are not ours to copy: they are read from the package where the image is built,
and stand nowhere in our sources. Ends with 1 and a sentence when the package is not what is expected here; nothing is
written then, and the build fails.
"""

import importlib
import importlib.metadata
import pathlib
import sys

# The attribute that holds the prompt for a whole page: a text, or a function without arguments that makes one. `names` are
# words that the text must hold, so that another prompt of the package is never taken for it; `fill` are its placeholders.
# The grid of Chandra is the one that our parser of its replies counts in.
ENGINES = {
    "surya": {
        "requirement": "surya-ocr>=0.20,<0.23",
        "module": "surya.inference.prompts",
        "attribute": "HIGH_ACCURACY_BBOX_PROMPT",
        "names": ["data-label", "data-bbox", "0-1000"],
        "fill": {},
    },
    "chandra": {
        "requirement": "chandra-ocr>=0.2,<0.3",
        "module": "chandra.prompts",
        "attribute": "OCR_LAYOUT_PROMPT",
        "names": ["data-label", "data-bbox", "0-1024"],
        "fill": {"{bbox_scale}": "1024"},
    },
    "olmocr": {
        "requirement": "olmocr==0.4.27",
        "module": "olmocr.prompts",
        "attribute": "build_no_anchoring_v4_yaml_prompt",
        "names": ["primary_language", "is_rotation_valid", "rotation_correction"],
        "fill": {},
    },
}


class Unexpected(Exception):
    """The package is not what is expected here."""


def read_prompt(engine):
    """The text, with its placeholders filled."""
    module, attribute = engine["module"], engine["attribute"]
    where = f"{module}.{attribute}"
    try:
        value = getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise Unexpected(f"{module} cannot be imported: {error}") from error
    except AttributeError as error:
        raise Unexpected(f"{module} has no {attribute}: find the new name of its prompt for whole pages") from error
    text = value() if callable(value) else value
    if not isinstance(text, str) or text.strip() == "":
        raise Unexpected(f"{where} is no text: got {type(text).__name__}")
    for placeholder, filling in engine["fill"].items():
        text = text.replace(placeholder, filling)
    missing = [name for name in engine["names"] if name not in text]
    if missing:
        raise Unexpected(f"{where} says nothing of {', '.join(missing)}: it is another prompt, or its replies changed")
    return text.strip()


def describe_source(engine):
    """Which release the text is from, for people who look into the image."""
    package = engine["requirement"].split("=")[0].rstrip("><")
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        version = "of unknown version"
    return f"{package} {version}, {engine['module']}.{engine['attribute']}\n"


def main(arguments):
    if len(arguments) != 2:
        raise Unexpected("expected an engine and a folder, or --requirement and an engine")
    wants_requirement = arguments[0] == "--requirement"
    name = arguments[1] if wants_requirement else arguments[0]
    if name not in ENGINES:
        raise Unexpected(f"there is no engine {name!r}: expected one of {', '.join(ENGINES)}")
    engine = ENGINES[name]
    if wants_requirement:
        print(engine["requirement"])
        return
    text = read_prompt(engine)
    folder = pathlib.Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "page.txt").write_text(text + "\n", encoding="utf-8")
    (folder / "source.txt").write_text(describe_source(engine), encoding="utf-8")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Unexpected as unexpected:
        sys.exit(f"extract-prompts: {unexpected}")
