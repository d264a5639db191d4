pleat_fuzz(spec DEPS pleat-wire pleat-model pleat-base
  READER wire/spec.c wire/spec_values.c wire/members.c model/spec.c model/sizes.c)
