# The module for Python in one process, and the guide's examples of it. Programs that are resized: daemon/test_python.py.
if(TARGET pleat-python)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  foreach(part module guide)
    add_test(NAME system-python-${part} COMMAND ${PYTEST} -q -p no:cacheprovider ${test_dir}/python/test_${part}.py)
    set_tests_properties(system-python-${part} PROPERTIES LABELS system TIMEOUT 120
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONPATH=${CMAKE_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OPENBLAS_NUM_THREADS=1")
  endforeach()
endif()
pleat_must_list(system/python/test_*.py system/python/test_module.py system/python/test_guide.py
  system/python/test_sim.py system/python/test_sim_policies.py system/python/test_sim_page.py) # the last three: python_sim.cmake
