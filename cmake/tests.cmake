# How much of the machine a test takes, and how long: scripts/test has ctest run what counts for 8 at a time (-j8), which is
# meant for two processors: 1 is a quarter of one. Most tests count for 2, since they wait for the half of their time. What a
# test takes is user and system time of all its processes (a cgroup tells it) over the time that it took.

# These wait for most of it, for batch systems and for time to pass, and count for 1: they took 0.1 to 0.35 of a processor.
set(pleat_waiting_tests
  agent-life app-death-while-saving chaos-disk cli-waiting
  daemon-archive daemon-escape daemon-far_terminal daemon-launches daemon-nodes daemon-outside daemon-recovery daemon-rescue
  daemon-saving daemon-silence daemon-sites daemon-upgrade
  gridengine-adapter gridengine-faults gridengine-replace gridengine-site gridengine-taken plain-classes
  processes-process_returning
  slurm-accounts slurm-adapter slurm-apart slurm-cluster slurm-controller slurm-controller_commands slurm-evolving slurm-faults
  slurm-folded_guests slurm-folded_hosts slurm-hosts slurm-replace slurm-replace_short slurm-reserved slurm-site)

# These compute all the time, some on both processors, and count for 4.
set(pleat_computing_tests agent-cycles chaos-campaign chaos-pages daemon-crowd daemon-python)

# These have more processes that compute, or that wait by computing, than there are processors: two of them at a time make one
# another late by minutes, so there is one at a time. They count for 4, and come first, so that there is always one of them while
# others fill the rest.
set(pleat_busy_tests
  agent-fold_harm agent-fold_mpi-changes agent-fold_pool agent-nodes bench-fold bench-fold-evaluation bench-fold-live chaos-steps daemon-fold_real daemon-folding
  fold-conformance-mpich fold-conformance-openmpi fold-groups-mpich fold-groups-openmpi fold-library-mpich
  fold-library-openmpi fold-real fold-threads-mpich fold-threads-openmpi unit-mailbox-agreement)

# Then the longest ones, since the last one would run alone: their seconds, about. (Of others ctest goes by what it has
# measured, once it has.)
set(pleat_long_tests
  slurm-replace_short=140 gridengine-faults=160 slurm-faults=190 chaos-steps=130 gridengine-adapter=116 daemon-spread=110 slurm-hosts=110
  agent-fold_pool=85 slurm-replace=80 gridengine-taken=75 slurm-taken=60 slurm-folded=55 bench-mix=50 daemon-folded_resize=45
  slurm-adapter=45 plain-classes=75 gridengine-site=63 plain=59 fold-real=58 bench-fold-evaluation=56 slurm-malleable=80 slurm-accounts=27 slurm-reserved=30
  daemon-far_terminal=55 daemon-silence=47 bench-pause=45 daemon-rescue=43 daemon-escape=40 slurm-site=20 daemon-fold_real=36 daemon-saving=36
  daemon-folding=35 daemon-parts=50 daemon-python=45 bench-fold=33 bench-fold-live=25 bench-resize=33 daemon-launches=33 daemon-checkpoint=32 daemon-relaunch=32
  chaos-campaign=31 fold-groups-mpich=31 fold-library-openmpi=31 agent-fold_mpi-changes=30 daemon-sites=28 daemon-too_few=26
  chaos-damage=25 fold-threads-mpich=25 fold-conformance-openmpi=25 daemon-outside=23 daemon-examples=23 daemon-asked=23
  fold-threads-openmpi=23 fold-conformance-mpich=22 fold-library-mpich=21 daemon-recovery=21 agent-cycles=20 agent-fold_harm=20 agent-nodes=22
  app-death-while-saving=20 app-mpich-relaunch-every-size=20 slurm-controller=20 daemon-checkpoint_times=19 slurm-cluster=18
  chaos-pages=18 daemon-bad_jobs=17 unit-mailbox-agreement=17 agent-life=16 fold-groups-openmpi=16 daemon-declared=16
  daemon-everyday=16 daemon-limit_signal=15 app-arrays-openmpi-deaths-in-growth=15 app-nodes-mpich-items-deaths-in-relaunch=15
  daemon-nodes=15 daemon-crowd=40 gridengine-replace=45 daemon-tcp=20 cli-waiting=14 daemon-job_options=14 pmi=14 readme=14 app-items-openmpi-deaths-in-shrink=14
  unit-core-random=14 chaos-disk=13 bench-cluster=25 daemon-parts_output=13 daemon-pty=13 sim-textbook=12
  app-nodes-mpich-arrays-deaths-in-relaunch=12 unit-fold-harm=12 daemon-adaptation=12 daemon-tasks=11 chaos-place=11
  daemon-not_now=11 unit-core-storm=10 app-copies-heat=10 app-heat=10 chaos-clock=10 daemon-starts=10 daemon-upgrade=10
  agent-tree=10 agent-warm=10)

# Whenever a program of Open MPI starts it looks for fabrics, by libfabric and by UCX, which takes it a fifth of a second each, and of a
# processor's time as well. Tests do without, but for those of what programs listen on. (OPENMPI in tests/support/clusters/pleat.py.)
set(pleat_fabric_tests daemon-security daemon-strangers)

# Limits of tests are there to end what hangs. A machine that is slow must not meet them.
set(PLEAT_TEST_PATIENCE 1 CACHE STRING "How many times as long as usual tests may take, a whole number (scripts/test sets it)")
mark_as_advanced(PLEAT_TEST_PATIENCE)

# Where processes start very slowly, one of two tests that differ by the MPI alone is not run: in turn the one with MPICH and the one
# with Open MPI (tests/support/patience.py does the same within a test of pytest).
function(pleat_thin_tests)
  get_property(tests DIRECTORY PROPERTY TESTS)
  set(other mpich)
  foreach(test ${tests})
    if(test MATCHES "-mpich")
      string(REPLACE mpich openmpi twin ${test})
      string(REPLACE -mpich "" nameless ${test}) # with Open MPI, too
      if(nameless IN_LIST tests)
        set(twin ${nameless})
      endif()
      if(twin IN_LIST tests)
        if(other STREQUAL mpich)
          set_tests_properties(${test} PROPERTIES DISABLED TRUE)
          set(other openmpi)
        else()
          set_tests_properties(${twin} PROPERTIES DISABLED TRUE)
          set(other mpich)
        endif()
      endif()
    endif()
  endforeach()
endfunction()

# Of all tests of the directory in which it is called; in the lists a test of the system is named without "system-".
function(pleat_weigh_tests)
  if(PLEAT_TEST_PATIENCE GREATER 2)
    pleat_thin_tests()
  endif()
  foreach(long_test ${pleat_long_tests})
    string(REGEX MATCH "(.*)=(.*)" both ${long_test})
    set(seconds_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
  get_property(tests DIRECTORY PROPERTY TESTS)
  foreach(test ${tests})
    string(REGEX REPLACE "^system-" "" name ${test})
    set(count 2)
    set(cost 0)
    if(DEFINED seconds_${name})
      set(cost ${seconds_${name}})
    endif()
    if(name IN_LIST pleat_waiting_tests)
      set(count 1)
    elseif(name IN_LIST pleat_busy_tests)
      set(count 4)
      math(EXPR cost "${cost} + 1000")
      set_tests_properties(${test} PROPERTIES RESOURCE_LOCK busy)
    elseif(name IN_LIST pleat_computing_tests OR NOT test MATCHES "^system-")
      set(count 4) # they compute, and do not wait
    endif()
    set_tests_properties(${test} PROPERTIES PROCESSORS ${count})
    if(test MATCHES "^system-" AND NOT name IN_LIST pleat_fabric_tests)
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "OMPI_MCA_mtl=^ofi" "OMPI_MCA_pml=ob1")
    endif()
    if(cost)
      set_tests_properties(${test} PROPERTIES COST ${cost})
    endif()
    if(PLEAT_TEST_PATIENCE GREATER 1)
      get_property(limit TEST ${test} PROPERTY TIMEOUT)
      if(limit)
        math(EXPR limit "${limit} * ${PLEAT_TEST_PATIENCE}")
        set_tests_properties(${test} PROPERTIES TIMEOUT ${limit})
      endif()
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT PLEAT_TEST_PATIENCE=${PLEAT_TEST_PATIENCE})
    endif()
  endforeach()
endfunction()
