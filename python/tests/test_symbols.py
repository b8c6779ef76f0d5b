"""The extension module exports its entry point and nothing that other modules could be bound to."""

import ctypes
import sys

import pytest

from certus import _certus

# What `certus-lapack` defines for Clarabel's semidefinite cones.
FORTRAN = ["dgemm_", "dsyrk_", "dsyr2k_", "dpotrf_", "dpotrs_", "dsyevr_", "dgesdd_", "dgesvd_"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other platforms bind names to libraries")
def test_no_routine_of_blas_or_lapack_is_exported():
    module = ctypes.CDLL(_certus.__file__)
    assert hasattr(module, "PyInit__certus")
    # A lookup also sees the module's own dependencies, of which none is a BLAS library.
    assert [name for name in FORTRAN if hasattr(module, name)] == []
