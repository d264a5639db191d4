pleat_fuzz(batch DEPS pleat-describe READER describe/batch.c describe/words.c)
