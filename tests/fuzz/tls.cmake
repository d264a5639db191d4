pleat_fuzz(tls DEPS pleat-wire pleat-base READER wire/tls.c)
