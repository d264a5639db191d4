# Profile-guided optimization (-DPLEAT_PROFILE=ON, gcc): a build of its own, in training/ below this one's directory,
# counts what is done at every event while the training program (bench/sim/train.c) runs; the same sources are then
# optimized for these counts. They depend on the sources and the compiler, not on the machine or on times, so the
# result can be reproduced. What it brings: bench/README.md.
set(PLEAT_PROFILE OFF CACHE STRING
  "ON: train, and optimize for that (gcc only; takes a minute longer). generate: build only what is trained")
set(PLEAT_PROFILE_DIR ${CMAKE_BINARY_DIR}/profile CACHE PATH "Where the counts of the training are")
mark_as_advanced(PLEAT_PROFILE_DIR)
set(PLEAT_TUNED_FOLDERS base model policy core sim)

if(PLEAT_PROFILE AND NOT PLEAT_TUNED)
  message(WARNING "PLEAT_PROFILE needs gcc, and no sanitizers: this build is not profiled")
  set(pleat_profile OFF)
elseif(PLEAT_PROFILE STREQUAL "generate")
  set(pleat_profile generate)
elseif(PLEAT_PROFILE)
  set(pleat_profile use)
  set(training ${CMAKE_BINARY_DIR}/training)
  set(pleat_profile_done ${PLEAT_PROFILE_DIR}/done)
  # names of counts begin below the build's directory
  set(counted "${PLEAT_PROFILE_DIR}/src#core#CMakeFiles#pleat-core.dir#core.c.gcda")
  file(GLOB_RECURSE trained CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/sim/*.[ch])
  foreach(folder ${PLEAT_TUNED_FOLDERS} config workload)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.[ch]
      ${CMAKE_SOURCE_DIR}/src/${folder}/*.def)
    list(APPEND trained ${sources})
  endforeach()
  add_custom_command(OUTPUT ${pleat_profile_done}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${PLEAT_PROFILE_DIR}
    COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${training} -G ${CMAKE_GENERATOR}
      -DPLEAT_PROFILE=generate -DPLEAT_PROFILE_DIR=${PLEAT_PROFILE_DIR}
      -DCMAKE_C_COMPILER=${CMAKE_C_COMPILER} -DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}
      -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -DCMAKE_C_FLAGS=${CMAKE_C_FLAGS}
      -DCMAKE_EXE_LINKER_FLAGS=${CMAKE_EXE_LINKER_FLAGS}
    COMMAND ${CMAKE_COMMAND} --build ${training} --target pleat-train
    COMMAND ${training}/bin/pleat-train
    COMMAND ${CMAKE_COMMAND} -E copy ${counted} ${pleat_profile_done}
    DEPENDS ${trained} COMMENT "Training" VERBATIM)
  add_custom_target(pleat-profile DEPENDS ${pleat_profile_done})
endif()

# -O3 pays where it is known what runs often: without the counts malleable jobs need 2 % more time by it. Both builds
# need it, since what is counted is code that has been inlined already.
if(pleat_profile)
  list(APPEND PLEAT_TUNING "$<$<NOT:$<CONFIG:Debug>>:-O3>")
endif()

# What makes an object of a folder that is trained count, or be optimized for the counts.
function(pleat_profiled target)
  set(names -fprofile-prefix-path=${CMAKE_BINARY_DIR})
  if(pleat_profile STREQUAL "generate")
    target_compile_options(${target} PRIVATE -fprofile-generate=${PLEAT_PROFILE_DIR} ${names})
  elseif(pleat_profile STREQUAL "use")
    # code that the training never ran is optimized as usual, not for size
    target_compile_options(${target} PRIVATE -fprofile-use=${PLEAT_PROFILE_DIR} ${names}
      -fprofile-partial-training -Wno-missing-profile)
    get_target_property(sources ${target} SOURCES)
    set_source_files_properties(${sources} PROPERTIES OBJECT_DEPENDS ${pleat_profile_done})
    add_dependencies(${target} pleat-profile)
  endif()
endfunction()
