# The MPI programs that know nothing of Pleat: by themselves, and those that stand for published ones folded, too.
if(TARGET app-send)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  foreach(part plain classes)
    if(part STREQUAL plain)
      set(name system-plain)
    else()
      set(name system-plain-${part})
    endif()
    add_test(NAME ${name} COMMAND ${PYTEST} -q -p no:cacheprovider ${CMAKE_CURRENT_LIST_DIR}/plain/test_${part}.py)
    set_tests_properties(${name} PROPERTIES LABELS system TIMEOUT 600
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
endif()
