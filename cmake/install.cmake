# What 'cmake --install' puts where (GNUInstallDirs, any prefix, DESTDIR). An installed tree can be moved:
# pleat finds pleatd beside itself, pleatd finds pleat-agent so, and pkg-config files go by where they are.
include(GNUInstallDirs)

set(PLEAT_DEFAULT_MPI openmpi CACHE STRING "The MPI that pleat.pc stands for: openmpi or mpich")
set_property(CACHE PLEAT_DEFAULT_MPI PROPERTY STRINGS openmpi mpich)

install(TARGETS pleat pleatd pleat-agent pleat-pmi pleat-remote pleat-courier pleat-slurm pleat-gridengine RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

# ---- libpleat, once for each MPI that it was built for ----

set(PLEAT_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH PLEAT_PC_UP /${PLEAT_PC_DIR} /)
string(REGEX REPLACE "/$" "" PLEAT_PC_UP ${PLEAT_PC_UP})

# pleat_install_library(openmpi "Open MPI" ompi-c): the library and its pkg-config file
function(pleat_install_library PLEAT_PC_NAME PLEAT_PC_MPI_NAME PLEAT_PC_MPI)
  if(NOT TARGET pleat-${PLEAT_PC_NAME})
    return()
  endif()
  install(TARGETS pleat-${PLEAT_PC_NAME} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set(made ${CMAKE_BINARY_DIR}/packaging/pleat-${PLEAT_PC_NAME}.pc)
  configure_file(packaging/pkgconfig/libpleat.pc.in ${made} @ONLY)
  install(FILES ${made} DESTINATION ${PLEAT_PC_DIR})
endfunction()
pleat_install_library(openmpi "Open MPI" ompi-c)
pleat_install_library(mpich "MPICH" mpich)
# libpleat-loopback, libpleat-farewell, libpleat-early and libpleat-fold belong to the programs: nobody links with them
install(TARGETS pleat-loopback pleat-farewell LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/pleat)
if(TARGET pleat-early)
  install(TARGETS pleat-early LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/pleat)
endif()
if(TARGET pleat-slurm-library)
  install(TARGETS pleat-slurm-library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/pleat)
endif()
foreach(name openmpi mpich)
  if(TARGET pleat-try-${name}) # linked with libpleat: packaged with it
    install(TARGETS pleat-try-${name} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBDIR}/pleat)
  endif()
  if(TARGET pleat-fold-${name})
    install(TARGETS pleat-fold-${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/pleat)
  endif()
endforeach()
if(TARGET pleat-${PLEAT_DEFAULT_MPI})
  configure_file(packaging/pkgconfig/pleat.pc.in ${CMAKE_BINARY_DIR}/packaging/pleat.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/packaging/pleat.pc DESTINATION ${PLEAT_PC_DIR})
endif()
if(TARGET pleat-openmpi OR TARGET pleat-mpich)
  install(FILES include/pleat.h include/pleat-error.h include/pleat.f90 include/pleat.hpp include/pleat-data.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES apps/heat.c apps/heat.py apps/loop.c apps/matmul.c apps/common.c apps/common.h
      packaging/examples/Makefile packaging/examples/demo.mix
    DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)
endif()

# ---- processes that ask for processes ----

install(TARGETS pleat-process-library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/pleat-process.h include/pleat-process.hpp include/pleat-process.f90 DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(packaging/pkgconfig/pleat-process.pc.in ${CMAKE_BINARY_DIR}/packaging/pleat-process.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/packaging/pleat-process.pc DESTINATION ${PLEAT_PC_DIR})

# ---- the simulator for other programs, and the package for Python ----

install(TARGETS pleat-sim-library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/pleat-sim.h include/pleat-error.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(packaging/pkgconfig/pleat-sim.pc.in ${CMAKE_BINARY_DIR}/packaging/pleat-sim.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/packaging/pleat-sim.pc DESTINATION ${PLEAT_PC_DIR})
# Pure Python: it finds the libraries in the same tree, whichever version of Python runs it. Without an MPI pleat.sim works.
set(PLEAT_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the package for Python is installed, below the prefix")
install(DIRECTORY bindings/python/pleat DESTINATION ${PLEAT_PYTHON_DIR} FILES_MATCHING PATTERN "*.py" PATTERN "py.typed"
  PATTERN "__pycache__" EXCLUDE)
# pleat.sim finds its library by the way from it, so the tree can be moved
file(RELATIVE_PATH PLEAT_PYTHON_TO_LIB /${PLEAT_PYTHON_DIR}/pleat/sim /${CMAKE_INSTALL_LIBDIR})
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/packaging/library CONTENT "${PLEAT_PYTHON_TO_LIB}\n")
install(FILES ${CMAKE_BINARY_DIR}/packaging/library DESTINATION ${PLEAT_PYTHON_DIR}/pleat/sim)

# ---- for those who use it ----

# the unit has the program's path in it, which is known only now where --prefix is given
install(CODE "set(PLEAT_BINDIR \"${CMAKE_INSTALL_BINDIR}\")
  if(NOT IS_ABSOLUTE \"\${PLEAT_BINDIR}\")
    set(PLEAT_BINDIR \"\${CMAKE_INSTALL_PREFIX}/\${PLEAT_BINDIR}\")
  endif()
  configure_file(\"${CMAKE_SOURCE_DIR}/packaging/systemd/pleatd.service.in\"
    \"${CMAKE_BINARY_DIR}/packaging/pleatd.service\" @ONLY)")
install(FILES ${CMAKE_BINARY_DIR}/packaging/pleatd.service DESTINATION lib/systemd/user)
if(TARGET pleat-man)
  foreach(section 1 3 5 7 8)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
      FILES_MATCHING PATTERN "*.${section}")
  endforeach()
endif()
if(TARGET pleat-completion)
  set(completion ${CMAKE_BINARY_DIR}/completion)
  install(FILES ${completion}/pleat.bash
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME pleat)
  install(FILES ${completion}/_pleat DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${completion}/pleat.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(FILES
    docs/adding-a-policy.md docs/adding-a-runner.md docs/adding-a-site.md docs/admin-guide.md
    docs/architecture.md docs/commands.md docs/dependencies.md docs/first-job-on-slurm.md docs/installing.md
    docs/mpi-programmer.md docs/processes.md docs/protocol.md docs/resize-contract.md docs/security.md docs/simulation-from-python.md
    docs/user-guide.md docs/workload-models.md docs/demo.svg
    README.md LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/experiments docs/simulation-from-python DESTINATION ${CMAKE_INSTALL_DOCDIR})

# all that is installed, and nothing else
add_custom_target(pleat-product DEPENDS pleat pleatd pleat-agent pleat-pmi pleat-remote pleat-courier pleat-slurm pleat-gridengine pleat-loopback pleat-farewell)
if(TARGET pleat-early)
  add_dependencies(pleat-product pleat-early)
endif()
foreach(target pleat-sim-library pleat-process-library pleat-openmpi pleat-mpich pleat-try-openmpi pleat-try-mpich pleat-fold-openmpi pleat-fold-mpich pleat-slurm-library pleat-man pleat-completion)
  if(TARGET ${target})
    add_dependencies(pleat-product ${target})
  endif()
endforeach()
