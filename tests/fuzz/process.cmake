pleat_fuzz(process DEPS pleat-process pleat-base READER process/head.c process/told.c)
