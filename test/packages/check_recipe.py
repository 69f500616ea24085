#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a recipe as its tool would, and compares it with the project.

usage: check_recipe.py spack|easybuild RECIPE REPOSITORY INSTALLED [CHECKSUM]
Status 1 and a line for each mistake.
"""
import pathlib
import re
import sys
import types

kind, recipe, repository, installed = sys.argv[1], *map(pathlib.Path, sys.argv[2:5])
checksum = sys.argv[5] if len(sys.argv) > 5 else "@SHA256@"
mistakes = []


def check(right, text):
    if not right:
        mistakes.append(f"{recipe.name}: {text}")


cmake = (repository / "CMakeLists.txt").read_text()
version = re.search(r"^ +VERSION ([0-9.]+)$", cmake, re.M)[1]
options = set(re.findall(r"^(?:option\(|set\()(\w+)", cmake, re.M)) | {"BUILD_TESTING", "Slurm_ROOT"}


facts = {}  # (tool, name): its version and the file that has it
for line in (pathlib.Path(__file__).parent / "recipe_facts").read_text().splitlines():
    if not line.startswith("#"):
        tool, name, *fact = line.split()
        facts[tool, name] = fact


def number(text):
    return [int(part) for part in re.split("[.-]", text)]


def check_option(name):
    check(name in options, f"CMakeLists.txt has no option {name}")


class Directives:
    """What Spack gives a package: directives that are called in the class, and methods that are used by it."""

    def __init__(self):
        self.variants, self.dependencies, self.versions = set(), set(), []

    def names(self):
        def depends_on(spec, type=None, when=None):
            name, _, least = spec.partition("@")
            check(re.fullmatch(r"([0-9.]+:)?", least), f"depends_on: bad spec {spec}")
            check(("spack", name) in facts, f"Spack has no package {name}")
            newest = facts.get(("spack", name), "-")[0]
            check(not least or newest == "-" or number(newest) >= number(least[:-1]), f"Spack has {name} {newest}, no {spec}")
            check(when is None or when[1:] in self.variants, f"depends_on {spec}: no variant {when}")
            self.dependencies.add(name)

        return {
            "version": lambda name, sha256: self.versions.append((name, sha256)),
            "variant": lambda name, default, description: self.variants.add(name),
            "depends_on": depends_on,
            "license": lambda name: check(name == "BSD-3-Clause", f"license {name}"),
        }


class Spec(dict):
    """A spec of which all variants are on, or off."""

    def __init__(self, variants, on):
        super().__init__({name: types.SimpleNamespace(prefix=f"/opt/{name}") for name in variants.dependencies})
        self.on, self.variants = on, variants.variants

    def satisfies(self, text):
        check(text[1:] in self.variants, f"satisfies: no variant {text}")
        return self.on


def check_spack():
    spack, package, variants = types.ModuleType("spack"), types.ModuleType("spack.package"), Directives()
    vars(package).update(variants.names())
    package.__all__ = list(variants.names())
    sys.modules.update({"spack": spack, "spack.package": package})
    for module in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):  # since Spack 1.0
        sys.modules[module] = types.ModuleType(module)
    cmake_module = sys.modules["spack_repo.builtin.build_systems.cmake"] = types.ModuleType("cmake")
    cmake_module.CMakePackage = type("CMakePackage", (), {})
    cmake_module.generator = lambda name: check(name in ("ninja", "make"), f"generator {name}")
    scope = {}
    exec(compile(recipe.read_text(), str(recipe), "exec"), scope)  # pylint: disable=exec-used
    check(variants.versions == [(version, checksum)], f"versions {variants.versions}, not {version} with {checksum}")
    check(f"apapi-{version}.tar.gz" in scope["Apapi"].url, f"url {scope['Apapi'].url}")
    check(bool(scope["Apapi"].__doc__), "no description")
    for on in (True, False):
        made = scope["Apapi"]()
        made.spec = Spec(variants, on)
        made.define = lambda name, value: check_option(name)
        made.define_from_variant = lambda name, variant: (
            check_option(name), check(variant in variants.variants, f"no variant {variant}"))
        check(len(made.cmake_args()) >= 2, "cmake_args")


def check_easybuild():
    scope = {"SHLIB_EXT": "so"}
    exec(compile(recipe.read_text(), str(recipe), "exec"), scope)  # pylint: disable=exec-used
    for name in ("name", "version", "homepage", "description", "toolchain", "moduleclass", "sources"):
        check(scope.get(name), f"no {name}")
    toolchain = scope["toolchain"]
    name = f"{scope['name']}-{scope['version']}-{toolchain['name']}-{toolchain['version']}.eb"
    check(recipe.name == name, f"the file's name is not {name}")
    check(scope["version"] == version, f"version {scope['version']}, not {version}")
    for dependency in scope["builddependencies"] + scope["dependencies"]:
        known = facts.get(("easybuild", dependency[0]), ["nothing of that name", "-"])
        check(known[0] == dependency[1], f"dependency {dependency}: EasyBuild has {known[0]}")
        check(f"-{toolchain['name']}-{toolchain['version']}.eb" in known[1], f"dependency {dependency}: it has {known[1]}")
    check(scope.get("checksums") == [checksum], f"checksums {scope.get('checksums')}, not {checksum}")
    for option in re.findall(r"-D(\w+)=", scope["configopts"]):
        check_option(option)
    for path in scope["sanity_check_paths"]["files"] + scope["sanity_check_paths"]["dirs"]:
        check((installed / path).exists(), f"sanity_check_paths: {path} is not installed")


{"spack": check_spack, "easybuild": check_easybuild}[kind]()
print("\n".join(mistakes))
sys.exit(1 if mistakes else 0)
