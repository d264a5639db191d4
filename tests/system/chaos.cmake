# Everything dies: at every step, at random moments; disks, clocks and logs go wrong.
if(TARGET pleatd AND TARGET app-loop AND TARGET agent-ranks)
  find_program(PYTEST NAMES pytest-3 pytest REQUIRED)
  set(chaos_parts
    arrays clock damage disk lost_end many pages place steps)
  list(TRANSFORM chaos_parts PREPEND system/chaos/test_ OUTPUT_VARIABLE chaos_tests)
  list(TRANSFORM chaos_tests APPEND .py)
  pleat_must_list(system/chaos/test_*.py ${chaos_tests})
  foreach(part ${chaos_parts})
    add_test(NAME system-chaos-${part} COMMAND ${PYTEST} -q -p no:cacheprovider
      ${test_dir}/chaos/test_${part}.py)
    set_tests_properties(system-chaos-${part} PROPERTIES LABELS system TIMEOUT 600
      ENVIRONMENT "PLEAT_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  # anything dies, at any moment: a few of the kills of a long campaign
  set(kills 160)
  if(PLEAT_TEST_PATIENCE GREATER 2) # processes start slowly
    set(kills 80)
  endif()
  add_test(NAME system-chaos-campaign
    COMMAND ${test_dir}/chaos/campaign --kills ${kills} --build ${CMAKE_BINARY_DIR})
  set_tests_properties(system-chaos-campaign PROPERTIES LABELS system TIMEOUT 600
    ENVIRONMENT "PYTHONDONTWRITEBYTECODE=1")
endif()
