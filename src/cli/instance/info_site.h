/* info_site.h - pleat info SITE. */
#ifndef PLEAT_CLI_INSTANCE_INFO_SITE_H
#define PLEAT_CLI_INSTANCE_INFO_SITE_H

/* Prints what is known of a site, and waits up to 5 s for what its batch system is being asked.
 * Returns the exit code. */
int pleat_info_site(const char *name);

#endif
