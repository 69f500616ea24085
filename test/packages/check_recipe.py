#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads a recipe as its tool would, and compares it with the project: version, checksum, options, variants, what is installed.

usage: check_recipe.py spack|easybuild RECIPE REPOSITORY INSTALLED [CHECKSUM]
"""
import pathlib
import re
import sys
import types

kind, recipe, repository, installed = sys.argv[1], *map(pathlib.Path, sys.argv[2:5])
checksum = sys.argv[5] if len(sys.argv) > 5 else "@SHA256@"
cmake = (repository / "CMakeLists.txt").read_text()
version = re.search(r"^ +VERSION ([0-9.]+)$", cmake, re.M)[1]
options = set(re.findall(r"^(?:option\(|set\()(\w+)", cmake, re.M)) | {"BUILD_TESTING", "Slurm_ROOT"}


def check(right, text):
    if not right:
        sys.exit(f"{recipe.name}: {text}")


def check_option(name, _=None):
    check(name in options, f"CMakeLists.txt has no option {name}")


def module(name, **contents):
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(contents)


def execute(scope):
    exec(compile(recipe.read_text(), str(recipe), "exec"), scope)  # pylint: disable=exec-used
    return scope


def check_spack():
    """Directives are called in the class, methods by Spack: with all variants, and with none."""
    variants, versions, dependencies = set(), [], {}

    def depends_on(spec, type="", when=None):
        check(re.fullmatch(r"\w+(@[0-9.]+:)?", spec), f"depends_on: bad spec {spec}")
        check(when is None or when[1:] in variants, f"depends_on {spec}: no variant {when}")
        dependencies[spec.partition("@")[0]] = types.SimpleNamespace(prefix="/opt")

    module("spack")
    module("spack.package", depends_on=depends_on, license=lambda name: None,
           version=lambda name, sha256: versions.append((name, sha256)),
           variant=lambda name, default, description: variants.add(name))
    for name in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        module(name)
    module("spack_repo.builtin.build_systems.cmake", CMakePackage=type("CMakePackage", (), {}), generator=lambda name: None)
    package = execute({})["Apapi"]
    check(versions == [(version, checksum)], f"versions {versions}, not {version} with {checksum}")
    check(f"apapi-{version}.tar.gz" in package.url, f"url {package.url}")
    for on in (True, False):
        def satisfies(_, text, on=on):
            check(text[1:] in variants, f"satisfies: no variant {text}")
            return on

        made = package()
        made.spec = type("Spec", (dict,), {"satisfies": satisfies})(dependencies)
        made.define = check_option
        made.define_from_variant = lambda name, variant: (check_option(name), check(variant in variants, f"no variant {variant}"))
        check(len(made.cmake_args()) >= 2, "cmake_args")


def check_easybuild():
    scope = execute({"SHLIB_EXT": "so"})
    name = "{name}-{version}-{toolchain[name]}-{toolchain[version]}.eb".format(**scope)
    check(recipe.name == name, f"the file's name is not {name}")
    check(scope["version"] == version, f"version {scope['version']}, not {version}")
    check(scope["checksums"] == [checksum], f"checksums {scope['checksums']}, not {checksum}")
    for option in re.findall(r"-D(\w+)=", scope["configopts"]):
        check_option(option)
    for path in scope["sanity_check_paths"]["files"] + scope["sanity_check_paths"]["dirs"]:
        check((installed / path).exists(), f"sanity_check_paths: {path} is not installed")


{"spack": check_spack, "easybuild": check_easybuild}[kind]()
