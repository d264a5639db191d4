# The benchmarks run and print what they promise. How fast anything was is not judged; what they count is, where that can be said of any machine.
if(PLEAT_TESTS)
  find_package(Python3 COMPONENTS Interpreter QUIET)
  set(smoke ${CMAKE_CURRENT_SOURCE_DIR}/smoke.py)
  if(Python3_FOUND)
    add_test(NAME system-bench-adapt
      COMMAND ${Python3_EXECUTABLE} ${smoke} $<TARGET_FILE:bench_adapt> --repeats 1 --points 2000)
    set_tests_properties(system-bench-adapt PROPERTIES LABELS system TIMEOUT 120)
    add_test(NAME system-bench-agent
      COMMAND ${Python3_EXECUTABLE} ${smoke} ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/agent/measure.py
        --build ${CMAKE_BINARY_DIR} --repeats 1 --percent 2 --processes 80 --requests 1100)
    set_tests_properties(system-bench-agent PROPERTIES LABELS system TIMEOUT 240 ENVIRONMENT PYTHONDONTWRITEBYTECODE=1)
    add_test(NAME system-bench-cluster
      COMMAND ${Python3_EXECUTABLE} ${smoke} ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/cluster/measure.py
        --build ${CMAKE_BINARY_DIR} --repeats 1 --seconds 1 --state 1048576 --points 2000)
    set_tests_properties(system-bench-cluster PROPERTIES LABELS system TIMEOUT 300
      SKIP_REGULAR_EXPRESSION "clusters need")
    add_test(NAME system-bench-cluster-scale
      COMMAND ${Python3_EXECUTABLE} ${smoke} ${Python3_EXECUTABLE}
        ${CMAKE_CURRENT_SOURCE_DIR}/cluster/scale.py --build ${CMAKE_BINARY_DIR} --repeats 1 --seconds 1 --nodes 300 --jobs 30)
    set_tests_properties(system-bench-cluster-scale PROPERTIES LABELS system TIMEOUT 120)
    add_test(NAME system-bench-core
      COMMAND ${Python3_EXECUTABLE} ${smoke} $<TARGET_FILE:bench_core> --repeats 1)
    set_tests_properties(system-bench-core PROPERTIES LABELS system TIMEOUT 120)
    add_test(NAME system-bench-memory COMMAND ${Python3_EXECUTABLE} ${smoke} --no-goals
      $<TARGET_FILE:bench_memory> --repeats 1 --bytes 4194304)
    set_tests_properties(system-bench-memory PROPERTIES LABELS system TIMEOUT 120)
    add_test(NAME system-bench-recover
      COMMAND ${Python3_EXECUTABLE} ${smoke} $<TARGET_FILE:bench_recover> --repeats 1 --most 1000)
    set_tests_properties(system-bench-recover PROPERTIES LABELS system TIMEOUT 120)
    add_test(NAME system-bench-redistribute
      COMMAND ${Python3_EXECUTABLE} ${smoke} $<TARGET_FILE:bench_redistribute> --repeats 1 --largest 2000)
    set_tests_properties(system-bench-redistribute PROPERTIES LABELS system TIMEOUT 120)
    add_test(NAME system-bench-submit
      COMMAND ${Python3_EXECUTABLE} ${smoke} $<TARGET_FILE:bench_submit> --repeats 1 --jobs 20)
    set_tests_properties(system-bench-submit PROPERTIES LABELS system TIMEOUT 300)
    add_test(NAME system-bench-sweetspot
      COMMAND ${Python3_EXECUTABLE} ${smoke} $<TARGET_FILE:bench_sweetspot> --repeats 1)
    set_tests_properties(system-bench-sweetspot PROPERTIES LABELS system TIMEOUT 120)
    add_test(NAME system-bench-sim
      COMMAND ${Python3_EXECUTABLE} ${smoke} $<TARGET_FILE:bench_sim> --repeats 1 --most 20000)
    set_tests_properties(system-bench-sim PROPERTIES LABELS system TIMEOUT 120
      ENVIRONMENT "PLEAT_DATA=${CMAKE_SOURCE_DIR}/../shared/data")
  endif()
  if(Python3_FOUND AND PLEAT_MPI)
    add_test(NAME system-bench-arrays COMMAND ${Python3_EXECUTABLE} ${smoke} --met data_file
      $<TARGET_FILE:bench_arrays> --repeats 1 --largest 1000)
    set_tests_properties(system-bench-arrays PROPERTIES LABELS system TIMEOUT 120)
    foreach(data slabs particles)
      add_test(NAME system-bench-arrays-${data} COMMAND ${Python3_EXECUTABLE} ${smoke} --met data_file
        $<TARGET_FILE:bench_arrays> --repeats 1 --largest 1000 --data ${data})
      set_tests_properties(system-bench-arrays-${data} PROPERTIES LABELS system TIMEOUT 120)
    endforeach()
    add_test(NAME system-bench-checkpoint COMMAND ${Python3_EXECUTABLE} ${smoke} --no-goals
      $<TARGET_FILE:bench_checkpoint> --repeats 1 --largest 1048576)
    set_tests_properties(system-bench-checkpoint PROPERTIES LABELS system TIMEOUT 120)
    # MPICH's ranks give way while they wait, of which there are more than processors
    add_test(NAME system-bench-pause COMMAND ${Python3_EXECUTABLE} ${smoke}
      $<TARGET_FILE:bench_pause> --repeats 1 --largest 4194304)
    set_tests_properties(system-bench-pause PROPERTIES LABELS system TIMEOUT 180
      ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:test-app-yield>")
    add_test(NAME system-bench-resize COMMAND ${Python3_EXECUTABLE} ${smoke}
      $<TARGET_FILE:bench_resize> --repeats 1 --state 131072)
    set_tests_properties(system-bench-resize PROPERTIES LABELS system TIMEOUT 180
      ENVIRONMENT "LD_PRELOAD=$<TARGET_FILE:test-app-yield>")
  endif()
  if(Python3_FOUND AND TARGET bench_fold)
    add_test(NAME system-bench-fold COMMAND ${Python3_EXECUTABLE} ${smoke}
      $<TARGET_FILE:bench_fold> --repeats 1 --quick)
    set_tests_properties(system-bench-fold PROPERTIES LABELS system TIMEOUT 300)
    add_test(NAME system-bench-fold-evaluation
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/fold/smoke_page.py
      $<TARGET_FILE:bench_fold_evaluation>)
    set_tests_properties(system-bench-fold-evaluation PROPERTIES LABELS system TIMEOUT 300)
    set(live_pages virtual-malleability-live koala-malleable-live)
    if(TARGET bench_mix)
      list(APPEND live_pages job-mixes-live)
      add_test(NAME system-bench-mix COMMAND ${Python3_EXECUTABLE} ${smoke}
        $<TARGET_FILE:bench_mix> --repeats 1 --times 0.05)
      add_test(NAME system-bench-mix-ended COMMAND ${Python3_EXECUTABLE} ${smoke} --ended $<TARGET_FILE:bench_mix>)
      set_tests_properties(system-bench-mix system-bench-mix-ended PROPERTIES LABELS system TIMEOUT 180)
    endif()
    if(TARGET bench_demand_app)
      list(APPEND live_pages application-agent-live)
    endif()
    add_test(NAME system-bench-fold-live
      COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/fold/smoke_page.py
        $<TARGET_FILE:bench_fold_evaluation> ${live_pages})
    set_tests_properties(system-bench-fold-live PROPERTIES LABELS system TIMEOUT 300)
  endif()
  pleat_weigh_tests()
endif()
