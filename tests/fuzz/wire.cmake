pleat_fuzz(wire DEPS pleat-wire
  READER wire/reader.c wire/message.c wire/members.c)
