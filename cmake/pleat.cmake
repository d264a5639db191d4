find_package(PkgConfig REQUIRED)

# Finds a Debian library once, as an imported target PkgConfig::NAME.
macro(pleat_find name module)
  if(NOT TARGET PkgConfig::${name})
    pkg_check_modules(${name} REQUIRED IMPORTED_TARGET GLOBAL ${module})
  endif()
endmacro()

# pleat_library(FOLDER SOURCES a.c b.c DEPS pleat-base PkgConfig::X)
# One static library per folder of src/, named pleat-FOLDER; its headers are
# included by folder: #include "model/event.h".
function(pleat_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(pleat-${folder} STATIC ${arg_SOURCES})
  target_include_directories(pleat-${folder} PUBLIC
    ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(pleat-${folder} PUBLIC ${arg_DEPS})
  if(folder IN_LIST PLEAT_TUNED_FOLDERS AND PLEAT_TUNED)
    target_compile_options(pleat-${folder} PRIVATE ${PLEAT_TUNING})
    if(NOT pleat_profile STREQUAL "generate") # a build that counts has no use for it
      target_compile_options(pleat-${folder} PRIVATE -flto=auto -ffat-lto-objects)
    endif()
    pleat_profiled(pleat-${folder})
  endif()
endfunction()

# What runs at every event is put together across its files, and inlined far more than by default: a
# third faster (bench/README.md). The limits count when objects are made and again when programs are
# linked. Objects hold ordinary code, too: all but programs link that, in a tenth of the time.
# Whoever else links with these libraries gets none of it (tests/unit/tuning_test.py).
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT PLEAT_SANITIZE)
  set(PLEAT_TUNED ON)
  set(PLEAT_TUNING -fno-tree-vectorize -finline-limit=1000 --param=inline-unit-growth=300)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64") # records are too small for rep stos, or a call
    list(APPEND PLEAT_TUNING -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign)
  endif()
  set(PLEAT_TUNING "$<$<NOT:$<CONFIG:Debug>>:${PLEAT_TUNING}>")
  # only where it is not wanted: after -fno-lto, gcc takes no -flto=auto back
  add_link_options($<$<NOT:$<BOOL:$<TARGET_PROPERTY:PLEAT_LINKS_TUNED>>>:-fno-lto>)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/profile.cmake)

# Links a program, or what measures one, with what runs at every event put together.
function(pleat_link_tuned name)
  if(PLEAT_LTO AND PLEAT_TUNED)
    target_link_options(${name} PRIVATE -flto=auto ${PLEAT_TUNING})
    set_target_properties(${name} PROPERTIES PLEAT_LINKS_TUNED ON)
    set_property(GLOBAL APPEND PROPERTY PLEAT_LINKED_TUNED ${name})
  endif()
endfunction()

# Links a benchmark of what runs at every event. Tests only look whether it works: for them it is linked as
# other programs are, in a second, and says so itself when it measures.
function(pleat_link_benchmark name)
  if(PLEAT_BENCH_LTO)
    pleat_link_tuned(${name})
  endif()
  get_target_property(tuned ${name} PLEAT_LINKS_TUNED)
  if(NOT tuned)
    target_compile_definitions(${name} PRIVATE BENCH_UNTUNED)
  endif()
endfunction()

# pleat_program(NAME SOURCES ... DEPS ...): a program in build/bin.
function(pleat_program name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  pleat_link_tuned(${name})
endfunction()

# pleat_unit_test(NAME SOURCES ... DEPS ... LABEL unit|conformance): a cmocka program known to ctest.
function(pleat_unit_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;DEPS" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  pleat_find(cmocka cmocka)
  add_executable(test-${name} ${arg_SOURCES})
  target_link_libraries(test-${name} PRIVATE ${arg_DEPS} PkgConfig::cmocka)
  target_include_directories(test-${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests) # for support/
  set_target_properties(test-${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${arg_LABEL}-${name} COMMAND test-${name})
  set_tests_properties(${arg_LABEL}-${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT 300)
endfunction()

# pleat_fuzz(NAME TEST_SOURCES ... READER ... DEPS ...): tests/fuzz/NAME_fuzz.c, as a test on fixed
# mutated inputs (NAME_mutate_test.c), with any compiler; and under libFuzzer (PLEAT_FUZZ,
# scripts/fuzz), with the READER's sources compiled again, so that its code is covered whatever the
# flags of the libraries are. TEST_SOURCES: what the test needs that is in no library.
function(pleat_fuzz name)
  cmake_parse_arguments(arg "" "" "TEST_SOURCES;READER;DEPS" ${ARGN})
  set(folder ${CMAKE_SOURCE_DIR}/tests/fuzz)
  add_executable(test-fuzz-${name} ${folder}/${name}_mutate_test.c ${folder}/${name}_fuzz.c
    ${folder}/mutate.c ${arg_TEST_SOURCES})
  target_link_libraries(test-fuzz-${name} PRIVATE ${arg_DEPS})
  set_target_properties(test-fuzz-${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME unit-fuzz-${name} COMMAND test-fuzz-${name})
  set_tests_properties(unit-fuzz-${name} PROPERTIES LABELS unit TIMEOUT 300)
  if(PLEAT_FUZZ)
    list(TRANSFORM arg_READER PREPEND ${CMAKE_SOURCE_DIR}/src/)
    add_executable(fuzz-${name} ${folder}/fuzz_main.c ${folder}/${name}_fuzz.c ${arg_READER})
    target_compile_definitions(fuzz-${name} PRIVATE FUZZ_FUNCTION=pleat_fuzz_${name})
    target_compile_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
    target_link_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
    target_link_libraries(fuzz-${name} PRIVATE ${arg_DEPS})
    set_target_properties(fuzz-${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
  endif()
endfunction()
