# What bench/cluster/scale.py has in place of applications.
add_executable(standin_app ${CMAKE_CURRENT_SOURCE_DIR}/cluster/standin_app.c)
target_link_libraries(standin_app PRIVATE pleat-shm)
set_target_properties(standin_app PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
