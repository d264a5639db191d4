/* spec.h - specs as JSON: what `submit` carries and the store keeps. docs/protocol.md lists the
 * members.
 */
#ifndef PLEAT_WIRE_SPEC_H
#define PLEAT_WIRE_SPEC_H

#include "model/spec.h"
#include "wire/message.h"

#define PLEAT_SPEC_STRINGS_MAX 65536 /* arguments, or environment variables */
#define PLEAT_SPEC_PATH_MAX 4095     /* bytes of a path or of a pattern for one */
#define PLEAT_SPEC_SCRIPT_MAX 262144 /* bytes of a batch script */
#define PLEAT_SPEC_PROGRAM_MAX 255   /* bytes of the name of --program */
#define PLEAT_SPEC_NOTIFY_MAX 8191   /* bytes of the command of --notify */
#define PLEAT_SPEC_UMASK 077         /* umask of a job whose spec has none */
#define PLEAT_SPEC_NAME_MAX 255      /* bytes of a name */
#define PLEAT_SPEC_TEXT_MAX 4095     /* bytes of a directory, or of a list of sizes */
#define PLEAT_SPEC_ARGV_MAX 524288   /* bytes of all arguments as JSON: half a line */

/* Reads and checks a spec: the members' types, job kinds, required strings. What depends on the
 * machine (does the job fit, does the site exist) is left to the core and the daemon. On success
 * *spec must be released with pleat_spec_finish. */
int pleat_spec_from_json(const json_t *object, struct pleat_spec *spec,
                         struct pleat_error *err) PLEAT_MUST_CHECK;

#endif
