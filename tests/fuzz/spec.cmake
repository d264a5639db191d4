pleat_fuzz(spec DEPS pleat-wire pleat-model pleat-base
  READER wire/spec.c wire/members.c model/spec.c model/sizes.c)
