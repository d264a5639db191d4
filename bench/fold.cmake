# What folding costs and brings, against the MPIs' own settings; and pages about published experiments that run here.
if(TARGET pleat-fold-openmpi AND PLEAT_TESTS) # it runs programs by fold-run, which is one of the tests'
  set(fold_dir ${CMAKE_SOURCE_DIR}/bench/fold)
  set(fold_apps ring halo alltoall send ep fourier nbody bt cg ft is lu mg mz sp sweep)
  set(mixes_dir ${CMAKE_SOURCE_DIR}/bench/mixes)
  set(mixes_apps dense filter heat sparse workers)
  add_library(bench-fold STATIC ${fold_dir}/cases.c ${fold_dir}/contest.c ${fold_dir}/machine.c
    ${fold_dir}/paired.c ${fold_dir}/progress.c ${fold_dir}/scratch.c ${fold_dir}/steady.c ${fold_dir}/trial.c
    ${fold_dir}/trial_command.c ${fold_dir}/trial_left.c
    ${CMAKE_SOURCE_DIR}/bench/options.c ${CMAKE_SOURCE_DIR}/bench/report.c ${CMAKE_SOURCE_DIR}/tests/support/marked.c)
  target_include_directories(bench-fold PUBLIC ${CMAKE_SOURCE_DIR}/bench
    PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(bench-fold PRIVATE
    BENCH_APPS="${CMAKE_BINARY_DIR}/apps" BENCH_FOLD_RUN="$<TARGET_FILE:fold-run>"
    BENCH_LIBRARY_OPENMPI="$<TARGET_FILE:pleat-fold-openmpi>"
    BENCH_PLEAT="$<TARGET_FILE:pleat>")
  target_link_libraries(bench-fold PUBLIC pleat-base m PRIVATE pleat-shm)
  add_dependencies(bench-fold fold-run pleat-fold-openmpi pleat pleatd pleat-agent pleat-loopback pleat-pmi)
  foreach(app ${fold_apps})
    add_dependencies(bench-fold app-${app})
  endforeach()
  if(TARGET pleat-fold-mpich)
    target_compile_definitions(bench-fold PRIVATE
      BENCH_MPICH_APPS="${CMAKE_BINARY_DIR}/apps/mpich"
      BENCH_LIBRARY_MPICH="$<TARGET_FILE:pleat-fold-mpich>")
    add_dependencies(bench-fold pleat-fold-mpich)
    foreach(app ${fold_apps})
      add_dependencies(bench-fold app-mpich-${app})
    endforeach()
  endif()
  add_executable(bench_fold ${fold_dir}/bench_fold.c ${fold_dir}/change.c ${fold_dir}/fold_call.c
    ${fold_dir}/fold_report.c ${fold_dir}/fold_rows.c ${fold_dir}/jobs.c ${fold_dir}/limits.c)
  pleat_find(jansson jansson)
  # workloads that run live, and simulated beside it
  add_library(bench-live STATIC ${fold_dir}/koala_jobs.c ${fold_dir}/koala_sim.c ${fold_dir}/live.c
    ${fold_dir}/virtual_feed.c ${fold_dir}/virtual_jobs.c ${fold_dir}/virtual_sim.c)
  target_link_libraries(bench-live PUBLIC bench-fold pleat-experiment PkgConfig::jansson)
  add_executable(bench_fold_evaluation ${fold_dir}/bench_fold_evaluation.c ${fold_dir}/arrivals.c
    ${fold_dir}/eval.c ${fold_dir}/eval_answers.c ${fold_dir}/eval_arrivals.c ${fold_dir}/eval_classes.c ${fold_dir}/eval_curves.c
    ${fold_dir}/eval_heuristics.c ${fold_dir}/eval_keep.c ${fold_dir}/eval_koala.c ${fold_dir}/eval_loads.c
    ${fold_dir}/eval_policies.c ${fold_dir}/eval_queues.c ${fold_dir}/eval_scaling.c ${fold_dir}/eval_virtual.c
    ${fold_dir}/koala_criteria.c ${fold_dir}/koala_figure.c ${fold_dir}/koala_page.c
    ${fold_dir}/loads.c ${fold_dir}/virtual_criteria.c ${fold_dir}/virtual_page.c
    ${fold_dir}/virtual_price.c)
  # job mixes, of programs that need ScaLAPACK and FFTW
  set(mixes_there TRUE)
  foreach(app ${mixes_apps})
    if(NOT TARGET app-${app})
      set(mixes_there FALSE)
      message(STATUS "bench mix and the page job-mixes-live are left out: no apps/${app}")
    endif()
  endforeach()
  if(mixes_there)
    target_sources(bench-live PRIVATE ${mixes_dir}/mixes_jobs.c ${mixes_dir}/mixes_sim.c)
    target_sources(bench_fold_evaluation PRIVATE ${mixes_dir}/eval_mixes.c ${mixes_dir}/eval_spots.c
      ${mixes_dir}/mixes_criteria.c ${mixes_dir}/mixes_page.c ${CMAKE_SOURCE_DIR}/bench/job.c
      ${CMAKE_SOURCE_DIR}/tests/system/app_job.c)
    target_include_directories(bench_fold_evaluation PRIVATE ${CMAKE_SOURCE_DIR}/tests ${CMAKE_SOURCE_DIR}/tests/system)
    target_link_libraries(bench_fold_evaluation PRIVATE pleat-shm)
    target_compile_definitions(bench_fold_evaluation PRIVATE BENCH_HAS_MIXES)
    add_executable(bench_mix ${mixes_dir}/bench_mix.c)
    target_link_libraries(bench_mix PRIVATE bench-live)
    set_target_properties(bench_mix PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    foreach(app ${mixes_apps})
      add_dependencies(bench-live app-${app})
    endforeach()
  endif()
  # an application that asks for processes
  if(TARGET app-flow)
    set(demand_dir ${CMAKE_SOURCE_DIR}/bench/demand)
    add_executable(bench_demand_app ${demand_dir}/app.c)
    target_include_directories(bench_demand_app PRIVATE ${CMAKE_SOURCE_DIR}/bench)
    target_link_libraries(bench_demand_app PRIVATE pleat-process-library)
    set_target_properties(bench_demand_app PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    target_sources(bench_fold_evaluation PRIVATE ${demand_dir}/demand_criteria.c ${demand_dir}/demand_live.c
      ${demand_dir}/demand_page.c ${demand_dir}/demand_policies.c ${demand_dir}/demand_sim.c ${demand_dir}/eval_demand.c)
    target_link_libraries(bench_fold_evaluation PRIVATE pleat-core pleat-policy)
    target_compile_definitions(bench_fold_evaluation PRIVATE BENCH_HAS_DEMAND
      BENCH_DEMAND_APP="$<TARGET_FILE:bench_demand_app>" BENCH_FLOW="$<TARGET_FILE:app-flow>"
      BENCH_PLEAT="$<TARGET_FILE:pleat>")
    add_dependencies(bench_fold_evaluation app-flow bench_demand_app)
  endif()
  target_link_libraries(bench_fold PRIVATE bench-fold)
  target_link_libraries(bench_fold_evaluation PRIVATE bench-live pleat-figure)
  foreach(mpi ompi:openmpi mpich:mpich)
    string(REGEX MATCH "(.*):(.*)" both ${mpi})
    if(TARGET pleat-fold-${CMAKE_MATCH_2})
      string(TOUPPER BENCH_MPI_TIME_${CMAKE_MATCH_2} timer)
      add_library(bench-mpi-time-${CMAKE_MATCH_2} MODULE ${fold_dir}/mpi_time.c)
      target_link_libraries(bench-mpi-time-${CMAKE_MATCH_2} PRIVATE PkgConfig::${CMAKE_MATCH_1})
      target_compile_definitions(bench-fold PRIVATE ${timer}="$<TARGET_FILE:bench-mpi-time-${CMAKE_MATCH_2}>")
      set_target_properties(bench-mpi-time-${CMAKE_MATCH_2} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
      add_dependencies(bench-fold bench-mpi-time-${CMAKE_MATCH_2})
      add_executable(bench_call_${CMAKE_MATCH_2} ${fold_dir}/bench_call.c
        ${CMAKE_SOURCE_DIR}/bench/report.c)
      target_include_directories(bench_call_${CMAKE_MATCH_2} PRIVATE ${CMAKE_SOURCE_DIR}/bench)
      target_link_libraries(bench_call_${CMAKE_MATCH_2} PRIVATE PkgConfig::${CMAKE_MATCH_1} dl)
      string(TOUPPER BENCH_CALL_${CMAKE_MATCH_2} command)
      target_compile_definitions(bench_fold PRIVATE BENCH_FOLD_RUN="$<TARGET_FILE:fold-run>"
        ${command}="env LD_PRELOAD=$<TARGET_FILE:pleat-fold-${CMAKE_MATCH_2}> $<TARGET_FILE:bench_call_${CMAKE_MATCH_2}>")
      set_target_properties(bench_call_${CMAKE_MATCH_2} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
      add_dependencies(bench_fold bench_call_${CMAKE_MATCH_2})
    endif()
  endforeach()
  set_target_properties(bench_fold bench_fold_evaluation PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
endif()
