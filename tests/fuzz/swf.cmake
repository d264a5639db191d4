pleat_fuzz(swf DEPS pleat-workload pleat-model pleat-base
  READER workload/swf_read.c workload/swf_lines.c workload/swf_scan.c workload/swf_columns.c
         workload/swf_write.c workload/app_text.c workload/app_text_write.c workload/decimal.c
         workload/convert.c model/workload.c model/workload_check.c)
