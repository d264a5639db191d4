# What a profiled build is trained with (cmake/profile.cmake).
add_executable(pleat-train ${CMAKE_CURRENT_LIST_DIR}/sim/train.c ${CMAKE_CURRENT_LIST_DIR}/sim/cases.c
  ${CMAKE_CURRENT_LIST_DIR}/sim/bare.c)
target_link_libraries(pleat-train PRIVATE pleat-sim pleat-workload)
target_link_options(pleat-train PRIVATE -fprofile-generate)
