# SPDX-License-Identifier: BSD-3-Clause
# For a site's own repository, for Spack 1.0 or later: packages/apapi/package.py. `scripts/package source` makes the
# archive and a copy of this file with its checksum. The archive lies in the folder where spack runs, or on a mirror.
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Apapi(CMakePackage):
    """Energy and power of every Slurm job step, by the machine's own counters: a SPANK plugin, the commands atime and
    apapi, and a library."""

    manual_download = True
    url = f"file://{os.getcwd()}/apapi-0.1.0.tar.gz"

    license("BSD-3-Clause")

    version("0.1.0", sha256="@SHA256@")

    variant("papi", default=True, description="Read meters through PAPI, too")
    variant("slurm", default=True, description="Build the plugin for Slurm")

    depends_on("c", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("sqlite@3.38:")
    depends_on("papi@7:", when="+papi")
    # Use the Slurm that runs on the machine, as an external: the plugin works with one major.minor version only.
    depends_on("slurm@22.05:", when="+slurm")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("BUILD_TESTING", False),
            self.define_from_variant("WITH_PAPI", "papi"),
            self.define_from_variant("WITH_SLURM", "slurm"),
        ]
        if self.spec.satisfies("+papi"):
            args.append(self.define("PAPI_ROOT", self.spec["papi"].prefix))
        if self.spec.satisfies("+slurm"):
            args.append(self.define("Slurm_ROOT", self.spec["slurm"].prefix))
        return args
