pleat_fuzz(gridengine DEPS pleat-gridengine-base
  READER gridengine/xml.c gridengine/jobs.c gridengine/queue.c gridengine/state.c gridengine/ask_cluster.c)
